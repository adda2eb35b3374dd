//! The resource: whom the tokens are for.

use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

/// The path of the MCP endpoint, and so the path of every [`ResourceUri`].
pub const MCP_PATH: &str = "/mcp";

/// The canonical URI of the MCP endpoint: the audience of every token (RFC 8707
/// section 2, RFC 9068 section 3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceUri {
    uri: Box<str>,
    origin: Box<str>,
}

/// Why a text is no resource URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidResource {
    /// Not an absolute URL.
    #[error("it is not an absolute URL")]
    NotAUrl,
    /// Plain http to another machine, or another scheme.
    #[error("it must be https (plain http is for loopback addresses only)")]
    NotHttps,
    /// Another path than `/mcp`, or a query, fragment or user name.
    #[error("it must end in {MCP_PATH} right after the host, with nothing behind it")]
    NotTheEndpoint,
    /// Upper case, a default port: spelled differently than clients will spell it.
    #[error("it is not in canonical form (lower-case host, no default port)")]
    NotCanonical,
}

impl ResourceUri {
    /// The URI, exactly as it stands in `aud`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.uri
    }

    /// `scheme://host[:port]` of the URI.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// `host[:port]` of the URI, as a `Host` header names it.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.origin.split_once("://").map_or(&*self.origin, |(_, authority)| authority)
    }

    /// Whether the URI names this machine only.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        Url::parse(&self.uri).is_ok_and(|url| is_loopback(&url))
    }

    /// Where the metadata of this resource is: the well-known segment stands
    /// between host and path (RFC 9728 section 3.1).
    #[must_use]
    pub fn metadata_url(&self) -> String {
        format!("{}/.well-known/oauth-protected-resource{MCP_PATH}", self.origin)
    }

    /// Whether a `resource` parameter (RFC 8707 section 2) means this resource.
    ///
    /// Deployed clients send the URI with a slash behind it, or the bare origin,
    /// or spell host and scheme in capitals. All of them mean the one resource
    /// there is; the token's audience is [`Self::as_str`] in any case, so none of
    /// them can end with a token that is refused.
    #[must_use]
    pub fn is_meant_by(&self, indicator: &str) -> bool {
        // In the raw text, because a parser drops tabs and the blanks around, reads `\` as
        // `/` and `https:host` as `https://host`, and folds `/x/../mcp` into `/mcp`.
        let Some((scheme, rest)) = indicator.split_once("://") else { return false };
        let is_plain = |letter: char| !letter.is_whitespace() && !letter.is_control();
        if !scheme.bytes().all(|byte| byte.is_ascii_alphabetic())
            || rest.starts_with('/')
            || !rest.chars().all(|letter| is_plain(letter) && letter != '\\')
        {
            return false;
        }
        let path = rest.find('/').map_or("", |slash| &rest[slash..]);
        Url::parse(indicator).is_ok_and(|url| {
            url.origin().ascii_serialization() == *self.origin
                && !rest[..rest.len() - path.len()].contains('@')
                && url.query().is_none()
                && url.fragment().is_none()
                && matches!(path.strip_suffix('/').unwrap_or(path), "" | MCP_PATH)
        })
    }
}

impl FromStr for ResourceUri {
    type Err = InvalidResource;

    fn from_str(text: &str) -> Result<Self, InvalidResource> {
        let url = Url::parse(text).map_err(|_| InvalidResource::NotAUrl)?;
        if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback(&url)) {
            return Err(InvalidResource::NotHttps);
        }
        let origin = url.origin().ascii_serialization();
        let has_extras = url.query().is_some()
            || url.fragment().is_some()
            || !url.username().is_empty()
            || url.password().is_some();
        if url.path() != MCP_PATH || has_extras {
            return Err(InvalidResource::NotTheEndpoint);
        }
        if text != format!("{origin}{MCP_PATH}") {
            return Err(InvalidResource::NotCanonical);
        }
        Ok(Self { uri: text.into(), origin: origin.into() })
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uri.fmt(formatter)
    }
}

/// Whether a URL's host is this machine: the loopback addresses and `localhost`
/// (RFC 8252 section 7.3, RFC 6761 section 6.3).
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
