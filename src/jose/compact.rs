//! The parts of a signed token as they came: read, not yet believed.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};

/// A JWT in the compact form (RFC 7515 section 7.1), cut at its dots.
#[derive(Clone, Copy, Debug)]
pub struct CompactJws<'a> {
    /// Header and payload with the dot between them: what was signed.
    pub message: &'a str,
    /// The signature, in base64url.
    pub signature: &'a str,
    header: &'a str,
    payload: &'a str,
}

/// The token is not three parts, or one of them cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a JWT with the required members")]
pub struct NotAJwt;

impl<'a> CompactJws<'a> {
    /// Cuts a token.
    ///
    /// # Errors
    ///
    /// [`NotAJwt`] if it has not exactly three parts.
    pub fn parse(token: &'a str) -> Result<Self, NotAJwt> {
        let (message, signature) = token.rsplit_once('.').ok_or(NotAJwt)?;
        let (header, payload) = message.split_once('.').ok_or(NotAJwt)?;
        if payload.contains('.') {
            return Err(NotAJwt);
        }
        Ok(Self { message, signature, header, payload })
    }

    /// Reads the header. Before anything is verified: it says by what to verify.
    ///
    /// # Errors
    ///
    /// [`NotAJwt`]
    pub fn header<T: DeserializeOwned>(&self) -> Result<T, NotAJwt> {
        decode(self.header)
    }

    /// Reads the claims. For after the signature.
    ///
    /// # Errors
    ///
    /// [`NotAJwt`]
    pub fn claims<T: DeserializeOwned>(&self) -> Result<T, NotAJwt> {
        decode(self.payload)
    }
}

/// The audience of a token: one or several (RFC 7519 section 4.1.3).
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Audience {
    /// A string.
    One(String),
    /// A list.
    Many(Vec<String>),
}

impl Audience {
    /// The only audience. A token that is good elsewhere too could be replayed here
    /// by whoever received it there.
    #[must_use]
    pub fn only(&self) -> Option<&str> {
        match self {
            Self::One(audience) => Some(audience),
            Self::Many(audiences) => match audiences.as_slice() {
                [audience] => Some(audience),
                _ => None,
            },
        }
    }
}

/// Seconds since the epoch (RFC 7519 section 2). A fraction is legal, and cut off:
/// never to the token's advantage by more than a second.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "serde_json::Number")]
pub struct NumericDate(pub u64);

impl TryFrom<serde_json::Number> for NumericDate {
    type Error = &'static str;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be within the range in which neither happens"
    )]
    fn try_from(number: serde_json::Number) -> Result<Self, Self::Error> {
        const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
        if let Some(seconds) = number.as_u64() {
            return Ok(Self(seconds));
        }
        match number.as_f64() {
            Some(seconds) if (0.0..LARGEST_EXACT).contains(&seconds) => Ok(Self(seconds as u64)),
            _ => Err("not a date"),
        }
    }
}

/// Whether a member is there, whatever stands in it. An [`Option`] would take null for
/// nothing, and `crit` must not be there at all (RFC 7515 section 4.1.11).
#[derive(Clone, Copy, Debug, Default)]
pub struct IsThere(pub bool);

impl<'de> Deserialize<'de> for IsThere {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self(true))
    }
}

fn decode<T: DeserializeOwned>(part: &str) -> Result<T, NotAJwt> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(part).map_err(|_| NotAJwt)?;
    serde_json::from_slice(&bytes).map_err(|_| NotAJwt)
}
