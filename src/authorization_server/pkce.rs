//! Proof Key for Code Exchange (RFC 7636), S256 only.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// What a code was bound to when it was asked for.
///
/// `plain` has no representation here: a challenge that equals its verifier
/// protects from nobody who can see requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodeChallenge(Box<str>);

/// Why there is no usable challenge in a request. The wire answer is
/// `invalid_request` for all of them (RFC 7636 section 4.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCodeChallenge {
    /// OAuth 2.1 section 4.1.1: required.
    #[error("code_challenge is missing")]
    Missing,
    /// An absent method means `plain` (RFC 7636 section 4.3).
    #[error("code_challenge_method must be S256")]
    NotS256,
    /// A SHA-256 digest has 43 characters of base64url.
    #[error("code_challenge is not 43 characters of base64url")]
    Malformed,
}

/// The verifier does not fit the challenge, whichever way: the wire answer is
/// `invalid_grant` (RFC 7636 section 4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the code verifier does not fit the challenge")]
pub struct PkceMismatch;

impl CodeChallenge {
    /// Reads the two parameters of an authorization request.
    ///
    /// # Errors
    ///
    /// [`InvalidCodeChallenge`].
    pub fn from_request(
        challenge: Option<&str>,
        method: Option<&str>,
    ) -> Result<Self, InvalidCodeChallenge> {
        let challenge = challenge.ok_or(InvalidCodeChallenge::Missing)?;
        if method != Some("S256") {
            return Err(InvalidCodeChallenge::NotS256);
        }
        let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if challenge.len() != 43 || !challenge.bytes().all(is_base64url) {
            return Err(InvalidCodeChallenge::Malformed);
        }
        Ok(Self(challenge.into()))
    }

    /// Checks that `verifier` is the secret that this challenge was made from.
    ///
    /// Length and alphabet come first (RFC 7636 section 4.1): they are what keeps a
    /// verifier unguessable.
    ///
    /// # Errors
    ///
    /// [`PkceMismatch`], and nothing finer.
    pub fn verify(&self, verifier: &str) -> Result<(), PkceMismatch> {
        let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if !(43..=128).contains(&verifier.len()) || !verifier.bytes().all(is_unreserved) {
            return Err(PkceMismatch);
        }
        let derived = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        // In constant time although the challenge is public: the rule is easier to
        // keep without exceptions.
        if bool::from(derived.as_bytes().ct_eq(self.0.as_bytes())) {
            Ok(())
        } else {
            Err(PkceMismatch)
        }
    }
}
