//! The issuer: who signs the tokens.

use std::fmt;
use std::str::FromStr;

use url::Url;

use super::resource::is_loopback;

/// An issuer identifier (RFC 8414 section 2), kept and compared byte for byte.
///
/// It stays a string: URL types add a slash to a bare origin, and a client that
/// compares exactly would then refuse the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Issuer(Box<str>);

/// Why a text is no issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidIssuer {
    /// Not an absolute URL.
    #[error("it is not an absolute URL")]
    NotAUrl,
    /// Plain http to another machine, or another scheme.
    #[error("it must be https (plain http is for loopback addresses only)")]
    NotHttps,
    /// RFC 8414 section 2 forbids query and fragment; user information has no business here.
    #[error("it must have no query, fragment, user name or password")]
    HasExtras,
}

impl Issuer {
    /// The identifier as it was configured.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is `scheme://host[:port]` and nothing more. The embedded
    /// server demands it: clients guess endpoints at the root of the origin.
    #[must_use]
    pub fn is_bare_origin(&self) -> bool {
        Url::parse(&self.0).is_ok_and(|url| url.origin().ascii_serialization() == *self.0)
    }
}

impl FromStr for Issuer {
    type Err = InvalidIssuer;

    fn from_str(text: &str) -> Result<Self, InvalidIssuer> {
        let url = Url::parse(text).map_err(|_| InvalidIssuer::NotAUrl)?;
        if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback(&url)) {
            return Err(InvalidIssuer::NotHttps);
        }
        let has_user = !url.username().is_empty() || url.password().is_some();
        if url.query().is_some() || url.fragment().is_some() || has_user {
            return Err(InvalidIssuer::HasExtras);
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for Issuer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
