//! Bytes that are text in JSON, as WebAuthn writes them (section 5.1).

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

/// Bytes, in base64url without padding where they are text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Base64Url(pub(crate) Vec<u8>);

/// A text is no base64url.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not base64url")]
pub(crate) struct NotBase64Url;

impl TryFrom<String> for Base64Url {
    type Error = NotBase64Url;

    fn try_from(text: String) -> Result<Self, NotBase64Url> {
        BASE64_URL_SAFE_NO_PAD.decode(text).map(Self).map_err(|_| NotBase64Url)
    }
}

impl From<Base64Url> for String {
    fn from(bytes: Base64Url) -> Self {
        bytes.to_string()
    }
}

impl fmt::Display for Base64Url {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&BASE64_URL_SAFE_NO_PAD.encode(&self.0))
    }
}
