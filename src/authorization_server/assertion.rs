//! A client that signs: `private_key_jwt` (RFC 7523 section 2.2 and 3), for clients whose
//! metadata document offers nothing less.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jsonwebtoken::Algorithm;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::AuthorizationServer;
use super::client::{ClientKeys, RegisteredClient};
use crate::clock::UnixTime;
use crate::jose::compact::{Audience, CompactJws, IsThere, NotAJwt, NumericDate};

/// `client_assertion_type` (RFC 7523 section 2.2).
pub(super) const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// What a client may sign with: no shared secrets, no `none` (RFC 8725 section 3.1).
const ALGORITHMS: [Algorithm; 5] =
    [Algorithm::ES256, Algorithm::ES384, Algorithm::RS256, Algorithm::PS256, Algorithm::EdDSA];
/// The names of [`ALGORITHMS`], as they are published.
pub(super) const ALGORITHM_NAMES: [&str; 5] = ["ES256", "ES384", "RS256", "PS256", "EdDSA"];

/// How far a client's clock may run ahead of ours.
const SKEW: Duration = Duration::from_secs(60);
/// An assertion proves who calls now; one that is good for longer is a password.
const LONGEST_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// Why an assertion proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AssertionFault {
    #[error(transparent)]
    NotAJwt(#[from] NotAJwt),
    #[error("it has critical extensions")]
    CriticalExtension,
    #[error("its algorithm is not accepted")]
    Algorithm,
    #[error("the client's keys cannot be had")]
    NoKeys,
    #[error("its signature is not by one of the client's keys")]
    Signature,
    #[error("iss and sub are not the client's name")]
    Client,
    #[error("it is not for this server")]
    Audience,
    #[error("it has expired, is from the future, or is good for too long")]
    Time,
    #[error("it was used before")]
    Replayed,
    #[error("the client has too many of them in use")]
    TooMany,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: String,
    #[serde(default)]
    crit: IsThere,
}

/// RFC 7523 section 3; `jti` is required, or a replay could not be told.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    exp: NumericDate,
    iat: Option<NumericDate>,
    nbf: Option<NumericDate>,
    jti: String,
}

/// Assertions that were used and have not expired. In memory: to replay one after a
/// restart, a thief needs the code or refresh token that came with it as well, and both
/// are spent.
#[derive(Debug, Default)]
pub(super) struct UsedAssertions(Mutex<HashMap<Digest, HashMap<Digest, UnixTime>>>);

type Digest = [u8; 32];

impl UsedAssertions {
    /// A bound on memory, for each client, of which a user has approved every one.
    const MOST: usize = 2_000;

    /// Forgets those that have expired.
    pub(super) fn sweep(&self, now: UnixTime) {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, used| {
            used.retain(|_, until| now < *until);
            !used.is_empty()
        });
    }

    /// Notes a use.
    ///
    /// # Errors
    ///
    /// [`AssertionFault::Replayed`] if it is not the first.
    fn spend(
        &self,
        client: &str,
        id: &str,
        until: UnixTime,
        now: UnixTime,
    ) -> Result<(), AssertionFault> {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let used = used.entry(Sha256::digest(client).into()).or_default();
        if used.len() >= Self::MOST {
            used.retain(|_, until| now < *until);
        }
        if used.len() >= Self::MOST {
            return Err(AssertionFault::TooMany);
        }
        match used.insert(Sha256::digest(id).into(), until) {
            None => Ok(()),
            Some(_) => Err(AssertionFault::Replayed),
        }
    }
}

/// The name of the client that an assertion claims to be from, before anything of it is
/// believed: `client_id` may be absent beside it (RFC 7521 section 4.2).
pub(super) fn claimed_client(assertion: &str) -> Result<String, NotAJwt> {
    let claims: Claims = CompactJws::parse(assertion)?.claims()?;
    Ok(claims.sub)
}

impl AuthorizationServer {
    /// Judges an assertion of a client with these keys, and spends it.
    ///
    /// # Errors
    ///
    /// [`AssertionFault`]
    pub(super) async fn check_assertion(
        &self,
        client: &RegisteredClient,
        approved_keys: &ClientKeys,
        assertion: &str,
    ) -> Result<(), AssertionFault> {
        let token = CompactJws::parse(assertion)?;
        let header: Header = token.header()?;
        if header.crit.0 {
            return Err(AssertionFault::CriticalExtension);
        }
        let algorithm: Algorithm = header.alg.parse().map_err(|_| AssertionFault::Algorithm)?;
        if !ALGORITHMS.contains(&algorithm) {
            return Err(AssertionFault::Algorithm);
        }
        let claims: Claims = token.claims()?;
        let name = client.id.as_str();
        if claims.iss != name || claims.sub != name {
            return Err(AssertionFault::Client);
        }
        // The issuer is what RFC 7523bis wants; the token endpoint is what clients of
        // RFC 7523 send.
        let issuer = self.settings().issuer.as_str();
        let token_endpoint = format!("{issuer}/token");
        let audience = claims.aud.only();
        if !audience.is_some_and(|audience| audience == issuer || audience == token_endpoint) {
            return Err(AssertionFault::Audience);
        }
        let now = self.clock().now();
        let expires_at = UnixTime::from_seconds(claims.exp.0);
        let is_early = |date: &NumericDate| date.0 > (now + SKEW).as_seconds();
        if expires_at <= now
            || expires_at > now + LONGEST_LIFETIME + SKEW
            || claims.nbf.as_ref().is_some_and(is_early)
            || claims.iat.as_ref().is_some_and(is_early)
        {
            return Err(AssertionFault::Time);
        }
        // What costs a fetch comes after all that costs nothing.
        let keys = self.current_keys(client, approved_keys).await;
        let ring = self.client_documents().keys(&keys, &header.kid).await;
        let ring = ring.map_err(|error| match error {
            outage if outage.is_outage() => AssertionFault::NoKeys,
            // The client's own host says that it has no such keys.
            _ => AssertionFault::Signature,
        })?;
        if !ring.verifies(&token, &header.kid, algorithm) {
            return Err(AssertionFault::Signature);
        }
        // Last: only an assertion that is good can be used up.
        self.0.used_assertions.spend(name, &claims.jti, expires_at, now)
    }
}

#[cfg(test)]
mod tests {
    use super::{AssertionFault, UsedAssertions};
    use crate::clock::UnixTime;

    /// RFC 7523 section 3: a `jti` is remembered until it has expired, and no longer.
    #[test]
    fn used_assertions_are_forgotten_with_their_time() {
        let (now, later) = (UnixTime::from_seconds(10), UnixTime::from_seconds(70));
        let used = UsedAssertions::default();
        used.spend("a", "1", later, now).expect("the first");
        used.sweep(UnixTime::from_seconds(69));
        assert_eq!(used.spend("a", "1", later, now), Err(AssertionFault::Replayed));
        used.sweep(later);
        assert!(used.0.lock().expect("no panic").is_empty());
    }
}
