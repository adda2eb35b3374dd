//! Bearer token → verified token.

use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::Algorithm;

use super::bearer::BearerToken;
use super::key_source::{KeySource, KeysUnavailable};
use super::raw_token::{RawClaims, RawHeader};
use crate::clock::{Clock, UnixTime};
use crate::contract::claims::ACCESS_TOKEN_TYPE;
use crate::contract::issuer::Issuer;
use crate::contract::liveness::{GrantLiveness, GrantReference};
use crate::contract::resource::ResourceUri;
use crate::contract::scope::ScopeSet;
use crate::jose::compact::{CompactJws, NotAJwt};

/// Evidence that a token was checked: issuer, audience, type, algorithm,
/// signature, times, and that its grant is alive. Made only in this module.
///
/// ```compile_fail,E0451
/// # use brain_mcp::resource_server::verify::VerifiedToken;
/// # use brain_mcp::{clock::UnixTime, contract::scope::ScopeSet};
/// let forged = VerifiedToken {
///     subject: "owner".into(),
///     client: "c".into(),
///     grant: "g".into(),
///     generation: 0,
///     scopes: ScopeSet::ALL,
///     expires_at: UnixTime::from_seconds(u64::MAX),
///     key: "k".into(),
/// };
/// ```
#[derive(Clone, Debug)]
pub struct VerifiedToken {
    subject: Box<str>,
    client: Box<str>,
    grant: Box<str>,
    generation: u64,
    scopes: ScopeSet,
    expires_at: UnixTime,
    /// The name of the key that signed it.
    key: Box<str>,
}

impl VerifiedToken {
    /// The `sub` claim.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The `client_id` claim.
    #[must_use]
    pub fn client(&self) -> &str {
        &self.client
    }

    /// What it opens: the `scope` claim, less what the grant has lost since.
    #[must_use]
    pub const fn scopes(&self) -> ScopeSet {
        self.scopes
    }

    /// When it stops being valid. An open stream ends no later.
    #[must_use]
    pub const fn expires_at(&self) -> UnixTime {
        self.expires_at
    }

    fn grant_reference(&self) -> GrantReference<'_> {
        GrantReference {
            grant: &self.grant,
            generation: self.generation,
            subject: &self.subject,
            client: &self.client,
        }
    }

    /// A token that nobody signed, for the tests of other modules.
    #[cfg(test)]
    pub(crate) fn unsigned(subject: &str, client: &str, scopes: ScopeSet) -> Self {
        Self {
            subject: subject.into(),
            client: client.into(),
            grant: "".into(),
            generation: 0,
            scopes,
            expires_at: UnixTime::from_seconds(u64::MAX),
            key: "".into(),
        }
    }

    /// A token whose time is over.
    #[cfg(test)]
    pub(crate) fn expired() -> Self {
        let token = Self::unsigned("owner", "client", ScopeSet::ALL);
        Self { expires_at: UnixTime::from_seconds(0), ..token }
    }
}

/// Why a token was refused. For the log: to the caller all but the last are one
/// `invalid_token`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not a JWT in the compact form, or a header or payload that cannot be read.
    #[error("it is not a JWT with the required claims")]
    NotAJwt,
    /// `typ` is not that of an access token: an ID token, say.
    #[error("its type is not {ACCESS_TOKEN_TYPE}")]
    WrongType,
    /// `alg` is not on the list of the issuer.
    #[error("its algorithm is not accepted")]
    WrongAlgorithm,
    /// It has critical header parameters, none of which we know (RFC 7515 section 4.1.11).
    #[error("it has critical extensions")]
    CriticalExtension,
    /// `kid` names no key of the issuer.
    #[error("its key is not one of the issuer's")]
    UnknownKey,
    /// The signature is not the key's.
    #[error("its signature is wrong")]
    WrongSignature,
    /// `iss` is another issuer.
    #[error("it comes from another issuer")]
    WrongIssuer,
    /// `aud` is not exactly our resource.
    #[error("it is for another audience")]
    WrongAudience,
    /// A claim is there but makes no sense: an empty subject, say.
    #[error("one of its claims is empty")]
    EmptyClaim,
    /// `exp` has passed.
    #[error("it has expired")]
    Expired,
    /// `iat` or `nbf` is in the future.
    #[error("it is from the future")]
    NotYetValid,
    /// The grant is revoked, expired, or not this client's.
    #[error("its grant is no longer alive")]
    GrantEnded,
    /// Nothing can be said about the token.
    #[error(transparent)]
    KeysUnavailable(#[from] KeysUnavailable),
}

impl TokenError {
    /// Whether the token was never one of the issuer: nothing that a client who keeps to the
    /// rules could have.
    pub(super) const fn is_forgery(self) -> bool {
        match self {
            Self::NotAJwt
            | Self::WrongType
            | Self::WrongAlgorithm
            | Self::CriticalExtension
            | Self::UnknownKey
            | Self::WrongSignature => true,
            Self::WrongIssuer
            | Self::WrongAudience
            | Self::EmptyClaim
            | Self::Expired
            | Self::NotYetValid
            | Self::GrantEnded
            | Self::KeysUnavailable(_) => false,
        }
    }
}

impl From<NotAJwt> for TokenError {
    fn from(_: NotAJwt) -> Self {
        Self::NotAJwt
    }
}

/// How far another machine's clock may run ahead of ours (checklist #139).
const SKEW: Duration = Duration::from_secs(60);

/// Judges access tokens by RFC 9068 section 4.
pub struct TokenVerifier {
    issuer: Issuer,
    resource: ResourceUri,
    key_source: KeySource,
    liveness: Arc<dyn GrantLiveness>,
    clock: Clock,
}

impl TokenVerifier {
    /// A verifier of the tokens that `issuer` signs for `resource`.
    #[must_use]
    pub fn new(
        issuer: Issuer,
        resource: ResourceUri,
        key_source: KeySource,
        liveness: Arc<dyn GrantLiveness>,
        clock: Clock,
    ) -> Self {
        Self { issuer, resource, key_source, liveness, clock }
    }

    /// Checks a token.
    ///
    /// # Errors
    ///
    /// [`TokenError`].
    pub async fn verify(&self, token: &BearerToken) -> Result<VerifiedToken, TokenError> {
        let (claims, key) = self.authentic_claims(token.as_str()).await?;
        self.check_parties(&claims)?;
        let expires_at = self.check_times(&claims)?;
        let presented = VerifiedToken {
            subject: claims.sub.into(),
            client: claims.client_id.into(),
            grant: claims.gid.as_str().unwrap_or_default().into(),
            generation: claims.generation.as_u64().unwrap_or_default(),
            scopes: ScopeSet::parse_known(&claims.scope),
            expires_at,
            key,
        };
        let live =
            self.liveness.live_scopes(presented.grant_reference()).ok_or(TokenError::GrantEnded)?;
        Ok(VerifiedToken { scopes: presented.scopes.intersection(live), ..presented })
    }

    /// Whether a token that was good still is, with all that it opened. For
    /// streams that outlive their request (checklist #140).
    #[must_use]
    pub fn still_stands(&self, token: &VerifiedToken) -> bool {
        self.clock.now() < token.expires_at
            && self.key_source.still_has(&token.key)
            && self
                .liveness
                .live_scopes(token.grant_reference())
                .is_some_and(|live| token.scopes.is_subset(live))
    }

    /// How long a token has left.
    pub(super) fn time_left(&self, token: &VerifiedToken) -> Duration {
        token.expires_at.since(self.clock.now())
    }

    /// The payload, once type, algorithm, key and signature are right, and the key's name.
    async fn authentic_claims(&self, token: &str) -> Result<(RawClaims, Box<str>), TokenError> {
        let token = CompactJws::parse(token)?;
        let header: RawHeader = token.header()?;
        if header.crit.0 {
            return Err(TokenError::CriticalExtension);
        }
        if !header.is_of_access_token() {
            return Err(TokenError::WrongType);
        }
        let algorithm: Algorithm = header.alg.parse().map_err(|_| TokenError::WrongAlgorithm)?;
        if !self.key_source.algorithms().contains(&algorithm) {
            return Err(TokenError::WrongAlgorithm);
        }
        let ring = self.key_source.ring_for(&header.kid, &self.clock).await?;
        if !ring.knows(&header.kid) {
            return Err(TokenError::UnknownKey);
        }
        if !ring.verifies(&token, &header.kid, algorithm) {
            return Err(TokenError::WrongSignature);
        }
        Ok((token.claims()?, header.kid.into()))
    }

    fn check_parties(&self, claims: &RawClaims) -> Result<(), TokenError> {
        if claims.iss != self.issuer.as_str() {
            return Err(TokenError::WrongIssuer);
        }
        if claims.aud.only() != Some(self.resource.as_str()) {
            return Err(TokenError::WrongAudience);
        }
        if claims.sub.is_empty() || claims.client_id.is_empty() || claims.jti.is_empty() {
            return Err(TokenError::EmptyClaim);
        }
        Ok(())
    }

    /// When the token ends, if it is valid now. `exp` has no leeway: it is cheap
    /// for a client to refresh a minute early and nothing else ends a token.
    fn check_times(&self, claims: &RawClaims) -> Result<UnixTime, TokenError> {
        let now = self.clock.now();
        let latest = (now + SKEW).as_seconds();
        if claims.iat.0 > latest || claims.nbf.as_ref().is_some_and(|begin| begin.0 > latest) {
            return Err(TokenError::NotYetValid);
        }
        let expires_at = UnixTime::from_seconds(claims.exp.0);
        if expires_at <= now { Err(TokenError::Expired) } else { Ok(expires_at) }
    }
}

/// The liveness of foreign grants: their issuer alone knows when they end, and
/// says so by the lifetime of its tokens.
#[derive(Clone, Copy, Debug)]
pub struct ForeignGrants;

impl GrantLiveness for ForeignGrants {
    fn live_scopes(&self, _reference: GrantReference<'_>) -> Option<ScopeSet> {
        Some(ScopeSet::ALL)
    }
}
