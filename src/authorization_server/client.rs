//! Clients: the applications that ask for access.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::client_document::url::DocumentUrl;
use super::redirect_uri::RedirectUri;
use crate::clock::UnixTime;

/// The name of a client. Made by the registration endpoint, never by the client
/// itself, and never starting with `https://`: those names belong to clients that
/// publish their own metadata document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientId(Box<str>);

impl ClientId {
    /// Takes a presented name as it is; whether a client of that name exists is for
    /// the store to say.
    #[must_use]
    pub fn presented(text: &str) -> Self {
        Self(text.into())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// How a client proves at the token endpoint that it is itself (RFC 7591 section 2,
/// `token_endpoint_auth_method`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuthentication {
    /// A public client: it has no secret, and PKCE is what protects it.
    None,
    /// A secret, of which only this SHA-256 digest is kept. Sent with HTTP Basic or
    /// in the body; deployed clients mix the two up, so both are read.
    Secret {
        /// The method that was registered, for the registration answer.
        method: SecretMethod,
        /// SHA-256 of the secret.
        digest: [u8; 32],
    },
    /// Whatever the client likes: it may sign like [`Self::PrivateKeyJwt`], or prove
    /// nothing like a public client. Documents that have to suit every server say so.
    NoneOrPrivateKeyJwt {
        /// Where the public keys are.
        keys: ClientKeys,
    },
    /// A signature by one of the keys that the client's metadata document names
    /// (RFC 7523 section 2.2). Only for clients with such a document.
    PrivateKeyJwt {
        /// Where the public keys are.
        keys: ClientKeys,
    },
}

impl ClientAuthentication {
    /// Where the keys are, for a client that signs or may sign.
    #[must_use]
    pub const fn keys(&self) -> Option<&ClientKeys> {
        match self {
            Self::PrivateKeyJwt { keys } | Self::NoneOrPrivateKeyJwt { keys } => Some(keys),
            Self::None | Self::Secret { .. } => None,
        }
    }
}

/// Where a client's public keys are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientKeys {
    /// In the metadata document itself: a JWK Set (RFC 7517 section 5).
    Inline(String),
    /// At a URL of their own.
    Url(String),
}

/// Where a client said that it would put its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretMethod {
    /// `client_secret_basic`
    ClientSecretBasic,
    /// `client_secret_post`
    ClientSecretPost,
}

impl SecretMethod {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
        }
    }
}

/// A client that has registered, or has published what it would have registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredClient {
    /// Its name on the wire.
    pub id: ClientId,
    /// What it calls itself; not verified, and shown as such.
    pub name: Option<String>,
    /// Where the answer may go. Never empty.
    pub redirect_uris: Vec<RedirectUri>,
    /// How it authenticates.
    pub authentication: ClientAuthentication,
    /// When it registered, or when its document was fetched.
    pub registered_at: UnixTime,
}

impl RegisteredClient {
    /// The host that vouches for the client, if it publishes its own metadata document;
    /// with the port, if that is not 443.
    #[must_use]
    pub fn document_host(&self) -> Option<String> {
        DocumentUrl::parse(self.id.as_str()).ok().map(|url| url.authority())
    }

    /// What the client is, apart from what it calls itself: where answers may go and how
    /// it proves who it is. A published document may change under its name, and a user's
    /// consent is to what it said then (CIMD section 6.3).
    #[must_use]
    pub fn character(&self) -> [u8; 32] {
        let authentication = serde_json::to_string(&self.authentication).unwrap_or_default();
        let uris = self.redirect_uris.iter().map(RedirectUri::as_str);
        let hash_part = |hash: Sha256, part: &str| {
            // The length first, so that two lists of parts never read alike.
            hash.chain_update(part.len().to_be_bytes()).chain_update(part)
        };
        uris.chain([&*authentication]).fold(Sha256::new(), hash_part).finalize().into()
    }

    /// The registered redirect URI that `presented` matches, in the presented
    /// spelling, or nothing.
    ///
    /// This is the only way from a request's text to a place that a browser is sent
    /// to (OAuth 2.1 section 2.3.5).
    #[must_use]
    pub fn matching_redirect_uri(&self, presented: &str) -> Option<RedirectUri> {
        self.redirect_uris.iter().find_map(|registered| registered.match_presented(presented))
    }
}
