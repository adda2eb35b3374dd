//! Bearer token → verified token.
use crate::clock::UnixTime;
use crate::contract::scope::ScopeSet;

/// Evidence that a token was checked: issuer, audience, type, algorithm,
/// signature, times, and that its grant is alive. Made only in this module.
#[derive(Clone, Debug)]
pub struct VerifiedToken {
    subject: Box<str>,
    client: Box<str>,
    scopes: ScopeSet,
    expires_at: UnixTime,
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
}
