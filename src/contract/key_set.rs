//! The public keys, as a document.

use std::fmt;
use std::sync::Arc;

/// A JWK Set (RFC 7517 section 5) in its published form: JSON text that holds
/// public halves only.
///
/// Text and not keys, on purpose: the resource server gets from the embedded
/// server exactly what it would get from a URL, and no type by which it could
/// name a private key.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKeySet(Arc<str>);

impl PublicKeySet {
    /// Wraps the JSON text of a key set. It is parsed by whoever verifies with it.
    #[must_use]
    pub fn from_json(json: &str) -> Self {
        Self(json.into())
    }

    /// The JSON text.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PublicKeySet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PublicKeySet({} bytes)", self.0.len())
    }
}
