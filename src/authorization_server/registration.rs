//! Dynamic client registration (RFC 7591): what a client may say about itself, and
//! what it is told.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::AuthorizationServer;
use super::audit::{Actor, Event, What};
use super::client::{ClientAuthentication, ClientId, RegisteredClient, SecretMethod};
use super::client_metadata::{
    InvalidMetadata, is_given, must_allow_codes, presentable, redirect_uris, text,
};
use super::error::EndpointError;
use super::redirect_uri::{RedirectTarget, RedirectUri};
use super::store::clients::MetadataDigest;

/// What is left of a client's metadata once the rules have been applied. Whatever
/// else it sent is ignored (RFC 7591 section 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Metadata {
    name: Option<String>,
    redirect_uris: Vec<RedirectUri>,
    /// `None` for a public client.
    method: Option<SecretMethod>,
}

/// The answer (RFC 7591 section 3.2.1). Without nulls and empty strings, and with
/// the lists that clients demand back.
#[derive(Debug, Serialize)]
pub(crate) struct Registration {
    client_id: ClientId,
    client_id_issued_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    /// Zero: never. Required beside a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret_expires_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_name: Option<String>,
    redirect_uris: Vec<RedirectUri>,
    application_type: &'static str,
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
}

impl Metadata {
    const MAX_REDIRECT_URIS: usize = 10;

    /// Applies the rules to a request body.
    ///
    /// # Errors
    ///
    /// [`InvalidMetadata`]
    pub(crate) fn parse(body: &[u8]) -> Result<Self, InvalidMetadata> {
        let Ok(Value::Object(metadata)) = serde_json::from_slice(body) else {
            return Err(InvalidMetadata::Field("the body is not a JSON object"));
        };
        let redirect_uris = redirect_uris(&metadata, Self::MAX_REDIRECT_URIS)?;
        // RFC 7591 section 2 excludes this pair. We use neither.
        if is_given(&metadata, "jwks") && is_given(&metadata, "jwks_uri") {
            return Err(InvalidMetadata::Field("jwks and jwks_uri exclude each other"));
        }
        must_allow_codes(&metadata)?;
        let method = match text(&metadata, "token_endpoint_auth_method")? {
            // RFC 7591 says client_secret_basic if absent. But whoever leaves it out
            // mostly forgets the secret too, and PKCE protects it anyway.
            None | Some("none") => None,
            Some("client_secret_basic") => Some(SecretMethod::ClientSecretBasic),
            Some("client_secret_post") => Some(SecretMethod::ClientSecretPost),
            Some(_) => {
                return Err(InvalidMetadata::Field(
                    "token_endpoint_auth_method must be none, client_secret_basic or \
                     client_secret_post",
                ));
            }
        };
        let name = text(&metadata, "client_name")?.and_then(presentable);
        Ok(Self { name, redirect_uris, method })
    }

    /// What makes two registrations the same client. None for a client with a secret,
    /// which could not be told its secret again.
    fn digest(&self) -> Option<MetadataDigest> {
        if self.method.is_some() {
            return None;
        }
        let mut hasher = Sha256::new();
        let uris = self.redirect_uris.iter().map(RedirectUri::as_str);
        for part in [self.name.as_deref().unwrap_or_default()].into_iter().chain(uris) {
            hasher.update(part.len().to_be_bytes());
            hasher.update(part);
        }
        Some(hasher.finalize().into())
    }
}

impl AuthorizationServer {
    /// Registers a client, or finds the public one that said the same before.
    ///
    /// # Errors
    ///
    /// [`EndpointError`].
    pub(crate) async fn register(&self, body: &[u8]) -> Result<Registration, EndpointError> {
        let metadata = Metadata::parse(body)?;
        let rules = &self.settings().clients;
        if !metadata.redirect_uris.iter().any(|uri| rules.allows_place(&uri.target())) {
            return Err(EndpointError::NotAllowed);
        }
        let digest = metadata.digest();
        let secret = metadata.method.map(|method| (method, self.entropy().secret()));
        let authentication = match &secret {
            None => ClientAuthentication::None,
            Some((method, secret)) => ClientAuthentication::Secret {
                method: *method,
                digest: Sha256::digest(secret).into(),
            },
        };
        let name = BASE64_URL_SAFE_NO_PAD.encode(self.entropy().bytes::<16>());
        let client = RegisteredClient {
            id: ClientId::presented(&format!("bmc_{name}")),
            name: metadata.name,
            redirect_uris: metadata.redirect_uris,
            authentication,
            registered_at: self.clock().now(),
        };
        let policy = self.settings().client_policy();
        let is_waiting = self.is_waiting();
        let client = self
            .store()
            .change(move |store| {
                let kept = store.register_client(&client, digest, policy, is_waiting)?;
                // The same again is no news.
                if kept.as_ref() == Some(&client) {
                    let what = What::Registered { name: client.name.clone() };
                    let event = Event::new(client.registered_at, Actor::Stranger, what);
                    store.note(&event.of_client(&client.id))?;
                }
                Ok(kept)
            })
            .await?
            .ok_or(EndpointError::NoRoom)?;
        Ok(Registration::new(client, secret.map(|(_, secret)| secret)))
    }
}

impl Registration {
    fn new(client: RegisteredClient, secret: Option<String>) -> Self {
        let is_website = |uri: &RedirectUri| matches!(uri.target(), RedirectTarget::Website(_));
        let is_native = !client.redirect_uris.iter().all(is_website);
        Self {
            client_id: client.id,
            client_id_issued_at: client.registered_at.as_seconds(),
            client_secret_expires_at: secret.as_ref().map(|_| 0),
            client_secret: secret,
            client_name: client.name,
            redirect_uris: client.redirect_uris,
            // Derived, not echoed: deployed clients say web and mean loopback.
            application_type: if is_native { "native" } else { "web" },
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: match client.authentication {
                ClientAuthentication::None | ClientAuthentication::NoneOrPrivateKeyJwt { .. } => {
                    "none"
                }
                ClientAuthentication::Secret { method, .. } => method.as_str(),
                ClientAuthentication::PrivateKeyJwt { .. } => "private_key_jwt",
            },
        }
    }

    pub(crate) const fn client_id(&self) -> &ClientId {
        &self.client_id
    }
}
