//! Redirect URIs: where an answer may go.

#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::contract::resource::is_loopback;

/// A redirect URI that a client registered, or one that matches it.
///
/// There are two ways to make one: the registration rules, and a match with what
/// was registered. So whatever holds one may send a browser there.
///
/// ```compile_fail,E0423
/// # use brain_mcp::authorization_server::redirect_uri::RedirectUri;
/// let forged = RedirectUri("https://attacker.example/".into());
/// ```
///
/// Read back from the store by the registration rules too, so that no stored text, and
/// no other one, is a way around them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct RedirectUri(Box<str>);

/// Why a text was not registered as a redirect URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRedirectUri {
    /// Longer than [`RedirectUri::MAX_BYTES`].
    #[error("it is too long")]
    TooLong,
    /// A character that no URI has: control characters, blanks, non-ASCII, `\`, `*`; or
    /// a `%` that escapes nothing, or that hides a part of the host.
    #[error("it has a character that a redirect URI must not have")]
    ForbiddenCharacter,
    /// Not an absolute URI.
    #[error("it is not an absolute URI")]
    NotAbsolute,
    /// A scheme that a browser would run or read instead of passing it on.
    #[error("its scheme is not allowed")]
    ForbiddenScheme,
    /// Plain http to another machine.
    #[error("plain http is for loopback addresses only")]
    PlainHttp,
    /// A fragment (OAuth 2.1 section 2.3).
    #[error("it has a fragment")]
    HasFragment,
    /// A user name or password.
    #[error("it has a user name or password")]
    HasUserInfo,
    /// `.` or `..` as a segment: two readers may resolve it to two places.
    #[error("it has a dot segment")]
    HasDotSegment,
}

/// What kind of place a redirect URI is; the consent page tells the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTarget {
    /// A web site, by its `host[:port]`.
    Website(String),
    /// A program on the machine of the browser, by its `host[:port]`.
    ThisComputer(String),
    /// An app that has claimed a scheme.
    App(String),
}

impl RedirectUri {
    /// The longest URI, in bytes.
    pub const MAX_BYTES: usize = 2048;

    /// Schemes that a browser runs, opens as a document, or resolves by itself.
    const OF_THE_BROWSER: [&str; 15] = [
        "javascript",
        "data",
        "vbscript",
        "file",
        "blob",
        "about",
        "filesystem",
        "view-source",
        "chrome",
        "edge",
        "resource",
        "mhtml",
        "ms-its",
        "intent",
        "wyciwyg",
    ];

    /// Schemes by which the answer would leave the device for a host or a person that
    /// the consent page does not name, because it takes them for an app's.
    #[rustfmt::skip]
    const OFF_THE_DEVICE: [&str; 42] = [
        "ws", "wss", "ftp", "ftps", "sftp", "tftp", "smb", "nfs", "afp", "dav", "davs", "ldap",
        "ldaps", "ssh", "telnet", "rsync", "git", "svn", "gopher", "rtsp", "mms", "irc", "ircs",
        "imap", "imaps", "pop", "news", "nntp", "webcal", "webcals", "vnc", "rdp", "xmpp", "sip",
        "sips", "callto", "facetime", "mailto", "sms", "smsto", "tel", "fax",
    ];

    /// Applies the registration rules: https to anywhere, http to loopback, and
    /// private-use schemes in any form, for deployed clients use `cursor://…` and
    /// `com.example:/callback` alike (RFC 8252 section 7).
    ///
    /// # Errors
    ///
    /// [`InvalidRedirectUri`], which names the rule.
    pub fn register(text: &str) -> Result<Self, InvalidRedirectUri> {
        if text.len() > Self::MAX_BYTES {
            return Err(InvalidRedirectUri::TooLong);
        }
        // Printable ASCII only: a URL parser drops tabs and newlines and maps `\` to
        // `/`, so what was checked would not be what the browser follows.
        if !text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\*<>\"`{}|^".contains(&byte)) {
            return Err(InvalidRedirectUri::ForbiddenCharacter);
        }
        // In the text: the parser decodes a host, so that `%61.example` would be one more
        // spelling of `a.example`, and drops an empty user name.
        let authority = authority(text);
        if !is_escaped_rightly(text) || authority.is_some_and(|part| part.contains('%')) {
            return Err(InvalidRedirectUri::ForbiddenCharacter);
        }
        let url = Url::parse(text).map_err(|_| InvalidRedirectUri::NotAbsolute)?;
        if is_forbidden(url.scheme()) || is_wrapper(&url) {
            return Err(InvalidRedirectUri::ForbiddenScheme);
        }
        if text.contains('#') {
            return Err(InvalidRedirectUri::HasFragment);
        }
        if !url.username().is_empty() || authority.is_some_and(|part| part.contains('@')) {
            return Err(InvalidRedirectUri::HasUserInfo);
        }
        match url.scheme() {
            "http" if !is_loopback(&url) => return Err(InvalidRedirectUri::PlainHttp),
            // `https:example.org`, `https:/x` and `https:///x` parse, but not
            // everywhere alike.
            "http" | "https" if authority.is_none_or(str::is_empty) => {
                return Err(InvalidRedirectUri::NotAbsolute);
            }
            _ => {}
        }
        let path = text.split_once(':').map_or(text, |(_, behind_scheme)| behind_scheme);
        let path = path.split_once('?').map_or(path, |(before_query, _)| before_query);
        let is_dots = |segment: &str| {
            let plain = segment.to_ascii_lowercase().replace("%2e", ".");
            plain == "." || plain == ".."
        };
        if path.split('/').any(is_dots) {
            return Err(InvalidRedirectUri::HasDotSegment);
        }
        Ok(Self(text.into()))
    }

    /// Compares a presented URI with this registered one.
    ///
    /// Byte for byte (OAuth 2.1 section 2.3.1), with one exception: for http to a
    /// loopback address the port is free, since native apps take any port they get
    /// (RFC 8252 section 7.3), and an empty path equals `/`. Host spellings never
    /// cross: `localhost` is not `127.0.0.1`.
    pub(super) fn match_presented(&self, presented: &str) -> Option<Self> {
        if *self.0 == *presented {
            return Some(self.clone());
        }
        let registered = Loopback::parse(&self.0)?;
        // The presented spelling must itself be one that could have been registered.
        let candidate = Self::register(presented).ok()?;
        (Loopback::parse(presented)? == registered).then_some(candidate)
    }

    /// The URI as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What kind of place this is.
    #[must_use]
    pub fn target(&self) -> RedirectTarget {
        let Ok(url) = Url::parse(&self.0) else {
            return RedirectTarget::App(self.0.to_string());
        };
        match url.scheme() {
            "http" | "https" => {
                let authority = url.authority().to_owned();
                if is_loopback(&url) {
                    RedirectTarget::ThisComputer(authority)
                } else {
                    RedirectTarget::Website(authority)
                }
            }
            scheme => RedirectTarget::App(scheme.to_owned()),
        }
    }

    /// The URI with response parameters added to its query. What it brought along
    /// is kept, except parameters of the same names: a registered `?state=x` must
    /// not become a second `state` (checklist #19).
    #[must_use]
    pub fn with_parameters(&self, parameters: &[(&str, &str)]) -> String {
        let (base, query) = match self.0.split_once('?') {
            Some((base, query)) => (base, query),
            None => (&*self.0, ""),
        };
        let kept = query.split('&').filter(|pair| {
            let name = form_urlencoded::parse(pair.as_bytes()).next();
            name.is_some_and(|(name, _)| !parameters.iter().any(|(added, _)| *added == name))
        });
        let added =
            form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        let parts: Vec<&str> = kept.chain([&*added]).filter(|part| !part.is_empty()).collect();
        format!("{base}?{}", parts.join("&"))
    }
}

impl TryFrom<String> for RedirectUri {
    type Error = InvalidRedirectUri;

    fn try_from(text: String) -> Result<Self, InvalidRedirectUri> {
        Self::register(&text)
    }
}

/// For the log.
impl fmt::Display for RedirectTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Website(authority) | Self::ThisComputer(authority) => authority.fmt(formatter),
            Self::App(scheme) => write!(formatter, "{scheme}:"),
        }
    }
}

impl fmt::Display for RedirectUri {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Whether the URI wraps another one that a browser would follow or run, as
/// `jar:https://…` and `feed:javascript:…` do.
fn is_wrapper(url: &Url) -> bool {
    Url::parse(url.path()).is_ok_and(|inner| {
        matches!(inner.scheme(), "http" | "https") || is_forbidden(inner.scheme())
    })
}

fn is_forbidden(scheme: &str) -> bool {
    RedirectUri::OF_THE_BROWSER.contains(&scheme) || RedirectUri::OFF_THE_DEVICE.contains(&scheme)
}

/// Whether each `%` stands before two hexadecimal digits (RFC 3986 section 2.1).
fn is_escaped_rightly(text: &str) -> bool {
    let is_hex = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    text.split('%').skip(1).all(|rest| {
        let rest = rest.as_bytes();
        is_hex(rest.first()) && is_hex(rest.get(1))
    })
}

/// What stands between `//` and the path, in the spelling of the text.
fn authority(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(':')?;
    rest.strip_prefix("//")?.split(['/', '?', '#']).next()
}

/// The parts of a loopback http URI that must agree; the port is not among them.
#[derive(PartialEq, Eq)]
struct Loopback<'a> {
    host: &'a str,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Loopback<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        if url.scheme() != "http" || !is_loopback(&url) {
            return None;
        }
        // From the text, not from the parsed URL: the comparison is of spellings.
        let rest = text.strip_prefix("http://")?;
        let (place, query) = match rest.split_once('?') {
            Some((place, query)) => (place, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match place.find('/') {
            Some(end) => place.split_at(end),
            None => (place, "/"),
        };
        let host = match authority.rfind(':') {
            Some(colon) if !authority[colon..].contains(']') => &authority[..colon],
            _ => authority,
        };
        Some(Self { host, path, query })
    }
}
