//! `Authorization` header → bearer token.

use std::fmt;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;

/// A token as the client sent it: well-formed, and nothing else is known about it.
pub struct BearerToken(Box<str>);

/// Why there is no token to judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoBearerToken {
    /// No credentials, or those of another scheme.
    #[error("the request carries no bearer token")]
    Absent,
    /// More than one `Authorization` header, or one that is not
    /// `Bearer b64token` (RFC 6750 section 2.1).
    #[error("the Authorization header is malformed")]
    Malformed,
    /// Longer than [`BearerToken::MAX_BYTES`].
    #[error("the token is too long")]
    TooLong,
}

impl BearerToken {
    /// The longest token that is looked at. Ours have about 700 bytes, those of
    /// large identity providers up to 4 KiB.
    pub const MAX_BYTES: usize = 8 * 1024;

    /// Finds the token of a request.
    ///
    /// Only the header is read. A token in the query ends up in logs and browser
    /// histories, so it is ignored there, and a form body is no MCP message
    /// (OAuth 2.1 section 5.1, checklist #138, R10).
    ///
    /// # Errors
    ///
    /// [`NoBearerToken`].
    pub fn from_headers(headers: &HeaderMap) -> Result<Self, NoBearerToken> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let Some(value) = values.next() else { return Err(NoBearerToken::Absent) };
        if values.next().is_some() {
            return Err(NoBearerToken::Malformed);
        }
        let text = value.to_str().map_err(|_| NoBearerToken::Malformed)?.trim();
        let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
        // The scheme is compared without case (RFC 9110 section 11.1, T23).
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(NoBearerToken::Absent);
        }
        Self::parse(token.trim_start())
    }

    /// The token as text, for the verifier only.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    fn parse(token: &str) -> Result<Self, NoBearerToken> {
        if token.is_empty() {
            // Clients that have lost their token send the bare scheme. They must
            // learn to sign in, which only a 401 tells them (B02).
            return Err(NoBearerToken::Absent);
        }
        if token.len() > Self::MAX_BYTES {
            return Err(NoBearerToken::TooLong);
        }
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
        let body = token.trim_end_matches('=');
        if body.is_empty() || !body.bytes().all(legal) {
            return Err(NoBearerToken::Malformed);
        }
        Ok(Self(token.into()))
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("BearerToken(…)")
    }
}
