//! The header and the claims of an access token as they came: read, not yet believed.

use serde::Deserialize;
use serde_json::Value;

use crate::contract::claims::ACCESS_TOKEN_TYPE;
use crate::jose::compact::{Audience, IsThere, NumericDate};

/// The members of the JOSE header that decide. `kid` is required: without it a
/// verifier would try keys until one fits.
#[derive(Deserialize)]
pub(super) struct RawHeader {
    pub(super) alg: String,
    pub(super) typ: String,
    pub(super) kid: String,
    #[serde(default)]
    pub(super) crit: IsThere,
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
