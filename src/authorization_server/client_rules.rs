//! Which clients may come, as the operator chose.

use subtle::ConstantTimeEq as _;

use sha2::{Digest as _, Sha256};

use super::client_document::url::DocumentUrl;
use super::grant::Terms;
use super::redirect_uri::{RedirectTarget, RedirectUri};

/// Rules for clients that nobody here has met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRules {
    /// Whether a client may be named by the URL of its own metadata document.
    pub documents: bool,
    /// Who may register.
    pub registration: Registration,
    /// If not empty: only clients of these hosts. `localhost` stands for programs on the
    /// user's own computer, and a name that ends with a colon (`cursor:`) for apps that
    /// have claimed this scheme.
    pub allowed: Vec<String>,
    /// Hosts in the operator's own network whose documents may be fetched although their
    /// addresses are not public.
    pub private_hosts: Vec<String>,
}

/// Who may register at `/register`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registration {
    /// Everybody, as MCP clients expect.
    Open,
    /// Whoever has the initial access token (RFC 7591 section 3), of which this is the
    /// SHA-256 digest.
    WithToken([u8; 32]),
    /// Nobody; the metadata does not name the endpoint.
    Off,
}

impl Default for ClientRules {
    fn default() -> Self {
        Self {
            documents: true,
            registration: Registration::Open,
            allowed: Vec::new(),
            private_hosts: Vec::new(),
        }
    }
}

impl Registration {
    /// Registration for whoever has this token.
    #[must_use]
    pub fn with_token(token: &str) -> Self {
        Self::WithToken(Sha256::digest(token).into())
    }

    /// Whether a request with this initial access token, or none, may register.
    pub(super) fn admits(&self, token: Option<&str>) -> bool {
        match self {
            Self::Open => true,
            Self::WithToken(digest) => {
                token.is_some_and(|token| Sha256::digest(token).as_slice().ct_eq(digest).into())
            }
            Self::Off => false,
        }
    }
}

impl ClientRules {
    /// Whether a client that was let in before still is: the rules may have changed since.
    pub(super) fn still_let_in(&self, terms: &Terms) -> bool {
        let id = terms.client.as_str();
        if DocumentUrl::is_meant_by(id) {
            let is_allowed = |url: DocumentUrl| self.allows_document_of(url.host());
            return self.documents && DocumentUrl::parse(id).is_ok_and(is_allowed);
        }
        let is_allowed = |uri: &RedirectUri| self.allows_place(&uri.target());
        self.allowed.is_empty() || terms.redirect_uri.as_ref().is_some_and(is_allowed)
    }

    /// Whether a document of this host may be fetched.
    pub(super) fn allows_document_of(&self, host: &str) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|allowed| allowed == host)
    }

    /// Whether a client that anybody may have registered can have its answers there.
    pub(super) fn allows_place(&self, place: &RedirectTarget) -> bool {
        let is_allowed = |name: &str| self.allowed.iter().any(|allowed| allowed == name);
        self.allowed.is_empty()
            || match place {
                RedirectTarget::Website(authority) => {
                    let host = authority.rsplit_once(':').map_or(&**authority, |(host, _)| host);
                    is_allowed(authority) || is_allowed(host)
                }
                RedirectTarget::ThisComputer(_) => is_allowed("localhost"),
                RedirectTarget::App(scheme) => is_allowed(&format!("{scheme}:")),
            }
    }
}
