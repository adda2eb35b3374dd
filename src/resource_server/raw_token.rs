//! The parts of an access token as they came: read, not yet believed.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::contract::claims::ACCESS_TOKEN_TYPE;

/// A JWT in the compact form (RFC 7515 section 7.1), cut at its dots.
pub(super) struct RawToken<'a> {
    /// Header and payload with the dot between them: what was signed.
    pub(super) message: &'a str,
    /// The signature, in base64url.
    pub(super) signature: &'a str,
    /// The header, readable before anything is verified: it says by what to verify.
    pub(super) header: RawHeader,
    payload: &'a str,
}

/// The token is not three parts, or one of them cannot be read.
pub(super) struct NotAJwt;

impl<'a> RawToken<'a> {
    /// Cuts a token and reads its header.
    pub(super) fn parse(token: &'a str) -> Result<Self, NotAJwt> {
        let (message, signature) = token.rsplit_once('.').ok_or(NotAJwt)?;
        let (header, payload) = message.split_once('.').ok_or(NotAJwt)?;
        if payload.contains('.') {
            return Err(NotAJwt);
        }
        Ok(Self { message, signature, header: decode(header)?, payload })
    }

    /// Reads the claims. For after the signature.
    pub(super) fn claims(&self) -> Result<RawClaims, NotAJwt> {
        decode(self.payload)
    }
}

/// The members of the JOSE header that decide. `kid` is required: without it a
/// verifier would try keys until one fits.
#[derive(Deserialize)]
pub(super) struct RawHeader {
    pub(super) alg: String,
    pub(super) typ: String,
    pub(super) kid: String,
    pub(super) crit: Option<Value>,
}

impl RawHeader {
    /// Whether this is an access token: `at+jwt` or `application/at+jwt` (RFC 9068
    /// section 4), in any letter case since it is a media type (RFC 7515 section 4.1.9).
    pub(super) fn is_of_access_token(&self) -> bool {
        let typ = self.typ.to_ascii_lowercase();
        typ.strip_prefix("application/").unwrap_or(&typ) == ACCESS_TOKEN_TYPE
    }
}

/// The claims as they came (RFC 9068 section 2.2). Those without a default are
/// required; `scope` may be absent and opens nothing then. `gid` and `gen` are the
/// embedded server's own; a foreign issuer may mean anything by them.
#[derive(Deserialize)]
pub(super) struct RawClaims {
    pub(super) iss: String,
    pub(super) sub: String,
    pub(super) aud: Audience,
    pub(super) client_id: String,
    pub(super) jti: String,
    pub(super) iat: NumericDate,
    pub(super) exp: NumericDate,
    pub(super) nbf: Option<NumericDate>,
    #[serde(default)]
    pub(super) scope: String,
    #[serde(default)]
    pub(super) gid: Value,
    #[serde(default, rename = "gen")]
    pub(super) generation: Value,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Audience {
    One(String),
    Many(Vec<String>),
}

/// Seconds since the epoch (RFC 7519 section 2). A fraction is legal, and cut off:
/// never to the token's advantage by more than a second.
#[derive(Deserialize)]
#[serde(try_from = "serde_json::Number")]
pub(super) struct NumericDate(pub(super) u64);

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

fn decode<T: DeserializeOwned>(part: &str) -> Result<T, NotAJwt> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(part).map_err(|_| NotAJwt)?;
    serde_json::from_slice(&bytes).map_err(|_| NotAJwt)
}
