//! The claims of an access token (RFC 9068 section 2.2).

use serde::{Deserialize, Serialize};

use super::scope::ScopeSet;

/// The media type of an access token, as its `typ` header says it (RFC 9068
/// section 2.1). It keeps any other JWT from passing for an access token.
pub const ACCESS_TOKEN_TYPE: &str = "at+jwt";

/// What the embedded authorization server puts into an access token.
///
/// This is the writing side. The resource server reads tokens with a type of its
/// own that takes nothing for granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessTokenClaims {
    /// Issuer.
    pub iss: String,
    /// The user.
    pub sub: String,
    /// The one resource that the token is for.
    pub aud: String,
    /// The client that the token was issued to.
    pub client_id: String,
    /// When it was issued, in seconds since the epoch.
    pub iat: u64,
    /// When it stops being valid, in seconds since the epoch.
    pub exp: u64,
    /// A name for this token, never used twice.
    pub jti: String,
    /// What it opens.
    pub scope: ScopeSet,
    /// The grant that it hangs from (private claim).
    pub gid: String,
    /// The generation of the refresh token that it was issued with (private claim).
    #[serde(rename = "gen")]
    pub generation: u64,
}
