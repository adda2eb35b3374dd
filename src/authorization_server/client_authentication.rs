//! Who calls the token endpoint (OAuth 2.1 section 2.4).

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::AuthorizationServer;
use super::assertion::{ASSERTION_TYPE, AssertionFault, claimed_client};
use super::client::{ClientAuthentication, ClientId, RegisteredClient};
use super::endpoints::log::about_app;
use super::error::{EndpointError, InvalidClient};
use super::form::{Form, decode_component};
use crate::peer::Peer;

#[cfg(test)]
mod tests;

/// A client that has proved what it registered to prove. For a public client that is
/// nothing but its name; PKCE and rotation do the rest.
#[derive(Clone, Debug)]
pub(crate) struct AuthenticatedClient(RegisteredClient);

/// What a request says about its client.
#[derive(Debug, PartialEq, Eq)]
struct Credentials {
    client: String,
    proof: Proof,
}

/// By what the client wants to be believed.
#[derive(Debug, PartialEq, Eq)]
enum Proof {
    /// Its name.
    Nothing,
    /// Every reading of the secret that was sent. More than one for HTTP Basic:
    /// RFC 6749 section 2.3.1 wants it percent-encoded, and half of the deployed
    /// clients send it as it is.
    Secret(Vec<Zeroizing<String>>),
    /// A signed assertion (RFC 7523 section 2.2).
    Assertion(String),
}

impl AuthenticatedClient {
    pub(crate) const fn id(&self) -> &ClientId {
        &self.0.id
    }
}

impl AuthorizationServer {
    /// Identifies and authenticates the client of a request.
    ///
    /// # Errors
    ///
    /// `invalid_client`, or `invalid_request` for a request that contradicts itself, or
    /// [`EndpointError::TooMany`].
    pub(crate) async fn authenticate(
        &self,
        headers: &HeaderMap,
        form: &Form,
        peer: Peer,
    ) -> Result<AuthenticatedClient, EndpointError> {
        let has_genuine_token = self.let_ask(form, peer)?;
        let credentials = Credentials::from_request(headers, form)?;
        let client = self.client(ClientId::presented(&credentials.client)).await?;
        let client = client.ok_or(InvalidClient::Unknown)?;
        about_app(&client.id);
        let is_guess = !has_genuine_token && credentials.proof != Proof::Nothing;
        if is_guess {
            // Counted before it is judged, so that many at once gain nothing.
            self.limits().wrong_secret(&client.id, peer)?;
        }
        self.believe(&client, &credentials.proof).await?;
        if is_guess {
            self.limits().proved(&client.id, peer);
        }
        Ok(AuthenticatedClient(client))
    }

    /// Counts a request of somebody who has proved nothing yet, or who has a genuine
    /// refresh token: that one counts for its grant, since it may well come from an
    /// address that others use up (oauth-clients B19). Answers whether it has one.
    fn let_ask(&self, form: &Form, peer: Peer) -> Result<bool, EndpointError> {
        let shown = form.value("refresh_token").or_else(|| form.value("token"));
        let genuine = shown.and_then(|text| self.refresh_token_keys().read(text).ok());
        match &genuine {
            Some(token) => self.limits().refresh(token.grant())?,
            None => self.limits().token(peer)?,
        }
        Ok(genuine.is_some())
    }

    /// Judges what the client sent to prove itself.
    async fn believe(&self, client: &RegisteredClient, proof: &Proof) -> Result<(), EndpointError> {
        let judged = match (&client.authentication, proof) {
            (
                ClientAuthentication::None | ClientAuthentication::NoneOrPrivateKeyJwt { .. },
                Proof::Nothing,
            ) => Ok(()),
            (ClientAuthentication::Secret { digest, .. }, Proof::Secret(readings)) => {
                let fits = |secret: &Zeroizing<String>| {
                    bool::from(Sha256::digest(secret.as_bytes()).as_slice().ct_eq(digest))
                };
                let is_right = readings.iter().any(fits);
                is_right.then_some(()).ok_or(InvalidClient::SecretWrong)
            }
            (ClientAuthentication::Secret { .. }, _) => Err(InvalidClient::SecretMissing),
            // Who need not sign but does must do it right.
            (
                ClientAuthentication::PrivateKeyJwt { keys }
                | ClientAuthentication::NoneOrPrivateKeyJwt { keys },
                Proof::Assertion(assertion),
            ) => match self.check_assertion(client, keys, assertion).await {
                Err(AssertionFault::NoKeys) => return Err(EndpointError::ClientKeys),
                judged => judged.map_err(InvalidClient::from),
            },
            (ClientAuthentication::PrivateKeyJwt { .. }, _) => Err(InvalidClient::AssertionMissing),
            (_, Proof::Secret(_)) => Err(InvalidClient::SecretUnexpected),
            (ClientAuthentication::None, Proof::Assertion(_)) => Err(InvalidClient::Unsupported),
        };
        Ok(judged?)
    }
}

impl Credentials {
    fn from_request(headers: &HeaderMap, form: &Form) -> Result<Self, EndpointError> {
        let mut lines = headers.get_all(AUTHORIZATION).iter();
        let header = lines.next();
        if lines.next().is_some() {
            return Err(EndpointError::SeveralAuthentications);
        }
        let in_body = form.value("client_secret");
        if form.value("client_assertion").is_some() || form.value("client_assertion_type").is_some()
        {
            if header.is_some() || in_body.is_some() {
                return Err(EndpointError::SeveralAuthentications);
            }
            return Self::from_assertion(form);
        }
        let Some(header) = header else {
            let client = form.required("client_id")?.to_owned();
            let secret = in_body.map(|secret| Zeroizing::new(secret.to_owned()));
            let proof = secret.map_or(Proof::Nothing, |secret| Proof::Secret(vec![secret]));
            return Ok(Self { client, proof });
        };
        let credentials = Self::from_basic(header.as_bytes())?;
        let names_another = form.value("client_id").is_some_and(|id| id != credentials.client);
        if in_body.is_some() || names_another {
            return Err(EndpointError::SeveralAuthentications);
        }
        Ok(credentials)
    }

    fn from_assertion(form: &Form) -> Result<Self, EndpointError> {
        if form.required("client_assertion_type")? != ASSERTION_TYPE {
            return Err(InvalidClient::Unsupported.into());
        }
        let assertion = form.required("client_assertion")?.to_owned();
        let claimed = claimed_client(&assertion).map_err(AssertionFault::from);
        let claimed = claimed.map_err(InvalidClient::from)?;
        if form.value("client_id").is_some_and(|id| id != claimed) {
            return Err(InvalidClient::from(AssertionFault::Client).into());
        }
        Ok(Self { client: claimed, proof: Proof::Assertion(assertion) })
    }

    fn from_basic(header: &[u8]) -> Result<Self, InvalidClient> {
        let header = str::from_utf8(header).map_err(|_| InvalidClient::Header)?;
        let (scheme, encoded) = header.split_once(' ').ok_or(InvalidClient::Header)?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return Err(InvalidClient::Unsupported);
        }
        let decoded = BASE64_STANDARD.decode(encoded.trim()).map(Zeroizing::new);
        let decoded = decoded.map_err(|_| InvalidClient::Header)?;
        let text = str::from_utf8(&decoded).map_err(|_| InvalidClient::Header)?;
        let (client, secret) = text.split_once(':').ok_or(InvalidClient::Header)?;
        let unescaped = |text: &str| decode_component(text.as_bytes()).ok();
        // The names that this server gives are the same in both readings.
        let client = unescaped(client).unwrap_or_else(|| client.to_owned());
        let mut secrets = Vec::new();
        // A stray header with an empty secret comes from public clients too.
        if !secret.is_empty() {
            secrets.extend(unescaped(secret).filter(|other| other != secret).map(Zeroizing::new));
            secrets.push(Zeroizing::new(secret.to_owned()));
        }
        let proof = if secrets.is_empty() { Proof::Nothing } else { Proof::Secret(secrets) };
        Ok(Self { client, proof })
    }
}
