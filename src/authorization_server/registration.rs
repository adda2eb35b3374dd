//! Dynamic client registration (RFC 7591): what a client may say about itself, and
//! what it is told.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::AuthorizationServer;
use super::client::{ClientAuthentication, ClientId, RegisteredClient, SecretMethod};
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
    /// All redirect URIs together. Stored records have to be small, and no deployed
    /// client comes near.
    const MAX_REDIRECT_BYTES: usize = 4096;
    const MAX_NAME_CHARACTERS: usize = 100;

    /// Applies the rules to a request body.
    ///
    /// # Errors
    ///
    /// `invalid_redirect_uri` or `invalid_client_metadata`.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, EndpointError> {
        let Ok(Value::Object(metadata)) = serde_json::from_slice(body) else {
            return Err(EndpointError::Metadata("the body is not a JSON object"));
        };
        let redirect_uris = redirect_uris(&metadata)?;
        // RFC 7591 section 2 excludes this pair. We use neither.
        if is_given(&metadata, "jwks") && is_given(&metadata, "jwks_uri") {
            return Err(EndpointError::Metadata("jwks and jwks_uri exclude each other"));
        }
        // What we do not support is left out, and the answer says so; but a client
        // that names only such things would never work.
        must_include(&metadata, "grant_types", "authorization_code")
            .map_err(|()| EndpointError::Metadata("grant_types must have authorization_code"))?;
        must_include(&metadata, "response_types", "code")
            .map_err(|()| EndpointError::Metadata("response_types must have code"))?;
        let method = match text(&metadata, "token_endpoint_auth_method")? {
            // RFC 7591 says client_secret_basic if absent. But whoever leaves it out
            // mostly forgets the secret too, and PKCE protects it anyway.
            None | Some("none") => None,
            Some("client_secret_basic") => Some(SecretMethod::ClientSecretBasic),
            Some("client_secret_post") => Some(SecretMethod::ClientSecretPost),
            Some(_) => {
                return Err(EndpointError::Metadata(
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
        let client = self
            .store()
            .change(move |store| store.register_client(&client, digest, policy))
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
                ClientAuthentication::None => "none",
                ClientAuthentication::Secret { method, .. } => method.as_str(),
            },
        }
    }

    pub(crate) const fn client_id(&self) -> &ClientId {
        &self.client_id
    }
}

fn redirect_uris(metadata: &Map<String, Value>) -> Result<Vec<RedirectUri>, EndpointError> {
    let Some(Value::Array(values)) = metadata.get("redirect_uris") else {
        return Err(EndpointError::RedirectUris("redirect_uris must be a list of URIs"));
    };
    if values.is_empty() {
        return Err(EndpointError::RedirectUris("there must be at least one"));
    }
    if values.len() > Metadata::MAX_REDIRECT_URIS {
        return Err(EndpointError::RedirectUris("there are more than ten"));
    }
    let mut uris: Vec<RedirectUri> = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let Value::String(text) = value else {
            return Err(EndpointError::RedirectUris("redirect_uris must be a list of URIs"));
        };
        let uri = RedirectUri::register(text)
            .map_err(|fault| EndpointError::RedirectUri { position: index + 1, fault })?;
        if !uris.contains(&uri) {
            uris.push(uri);
        }
    }
    let bytes: usize = uris.iter().map(|uri| uri.as_str().len()).sum();
    if bytes > Metadata::MAX_REDIRECT_BYTES {
        return Err(EndpointError::RedirectUris("together they are too long"));
    }
    Ok(uris)
}

/// A text field. Null and the empty string are the same as nothing.
fn text<'a>(
    metadata: &'a Map<String, Value>,
    name: &'static str,
) -> Result<Option<&'a str>, EndpointError> {
    match metadata.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(&**text).filter(|text| !text.is_empty())),
        Some(_) => Err(EndpointError::Metadata("a text field holds something else")),
    }
}

fn is_given(metadata: &Map<String, Value>, name: &str) -> bool {
    metadata.get(name).is_some_and(|value| !value.is_null() && *value != "")
}

/// Checks that a list, if it is given, has the one thing that we need in it.
fn must_include(metadata: &Map<String, Value>, name: &str, needed: &str) -> Result<(), ()> {
    match metadata.get(name) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(values)) if values.is_empty() => Ok(()),
        Some(Value::Array(values)) if values.iter().any(|value| value == needed) => Ok(()),
        Some(_) => Err(()),
    }
}

/// A name that can be shown to a person: without characters that hide, reorder or
/// break lines, so that a client cannot write into the page around its name.
fn presentable(name: &str) -> Option<String> {
    let is_deceptive = |character: char| {
        character.is_control()
            || matches!(character,
                '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{180E}' | '\u{3164}' | '\u{FEFF}'
                | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
                | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
    };
    let visible: String = name.chars().filter(|character| !is_deceptive(*character)).collect();
    let words: Vec<&str> = visible.split_whitespace().collect();
    let mut name = words.join(" ");
    if let Some((end, _)) = name.char_indices().nth(Metadata::MAX_NAME_CHARACTERS) {
        name.truncate(end);
        name.push('…');
    }
    (!name.is_empty()).then_some(name)
}
