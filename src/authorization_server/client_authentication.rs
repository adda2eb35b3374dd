//! Who calls the token endpoint (OAuth 2.1 section 2.4).

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::AuthorizationServer;
use super::client::{ClientAuthentication, ClientId, RegisteredClient};
use super::error::{EndpointError, InvalidClient};
use super::form::{Form, decode_component};

/// A client that has proved what it registered to prove. For a public client that is
/// nothing but its name; PKCE and rotation do the rest.
#[derive(Clone, Debug)]
pub(crate) struct AuthenticatedClient(RegisteredClient);

/// What a request says about its client.
#[derive(Debug, PartialEq, Eq)]
struct Credentials {
    client: String,
    /// Every reading of the secret that was sent. More than one for HTTP Basic:
    /// RFC 6749 section 2.3.1 wants it percent-encoded, and half of the deployed
    /// clients send it as it is.
    secrets: Vec<Zeroizing<String>>,
}

impl AuthenticatedClient {
    pub(crate) const fn id(&self) -> &ClientId {
        &self.0.id
    }

    /// Judges what the client sent to prove itself.
    fn check(client: RegisteredClient, credentials: &Credentials) -> Result<Self, InvalidClient> {
        match &client.authentication {
            ClientAuthentication::None if credentials.secrets.is_empty() => Ok(Self(client)),
            ClientAuthentication::None => Err(InvalidClient::SecretUnexpected),
            ClientAuthentication::Secret { .. } if credentials.secrets.is_empty() => {
                Err(InvalidClient::SecretMissing)
            }
            ClientAuthentication::Secret { digest, .. } => {
                let fits = |secret: &Zeroizing<String>| {
                    bool::from(Sha256::digest(secret.as_bytes()).as_slice().ct_eq(digest))
                };
                if credentials.secrets.iter().any(fits) {
                    Ok(Self(client))
                } else {
                    Err(InvalidClient::SecretWrong)
                }
            }
        }
    }
}

impl AuthorizationServer {
    /// Identifies and authenticates the client of a request.
    ///
    /// # Errors
    ///
    /// `invalid_client`, or `invalid_request` for a request that contradicts itself.
    pub(crate) async fn authenticate(
        &self,
        headers: &HeaderMap,
        form: &Form,
    ) -> Result<AuthenticatedClient, EndpointError> {
        let credentials = Credentials::from_request(headers, form)?;
        let client = self.client(ClientId::presented(&credentials.client)).await?;
        let client = client.ok_or(InvalidClient::Unknown)?;
        Ok(AuthenticatedClient::check(client, &credentials)?)
    }
}

impl Credentials {
    fn from_request(headers: &HeaderMap, form: &Form) -> Result<Self, EndpointError> {
        if form.value("client_assertion").is_some() || form.value("client_assertion_type").is_some()
        {
            return Err(InvalidClient::Unsupported.into());
        }
        let mut lines = headers.get_all(AUTHORIZATION).iter();
        let header = lines.next();
        if lines.next().is_some() {
            return Err(EndpointError::SeveralAuthentications);
        }
        let in_body = form.value("client_secret");
        let Some(header) = header else {
            let client = form.required("client_id")?.to_owned();
            let secrets = in_body.map(|secret| Zeroizing::new(secret.to_owned()));
            return Ok(Self { client, secrets: secrets.into_iter().collect() });
        };
        let credentials = Self::from_basic(header.as_bytes())?;
        let names_another = form.value("client_id").is_some_and(|id| id != credentials.client);
        if in_body.is_some() || names_another {
            return Err(EndpointError::SeveralAuthentications);
        }
        Ok(credentials)
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
        Ok(Self { client, secrets })
    }
}
