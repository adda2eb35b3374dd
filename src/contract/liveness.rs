//! The one question that a signature cannot answer: is the grant still alive?

use super::scope::ScopeSet;

/// What a token says about the grant that it hangs from.
#[derive(Clone, Copy, Debug)]
pub struct GrantReference<'a> {
    /// The `gid` claim.
    pub grant: &'a str,
    /// The `gen` claim.
    pub generation: u64,
    /// The `sub` claim.
    pub subject: &'a str,
    /// The `client_id` claim.
    pub client: &'a str,
}

/// Knows which grants are alive. Asked on every request, so that a revoked grant
/// ends with the next call and not with its last access token.
pub trait GrantLiveness: Send + Sync {
    /// The scopes that the grant still gives, or nothing if it is unknown,
    /// revoked, expired, or belongs to another subject or client.
    ///
    /// Also the signal that the tokens of this generation have arrived, which the
    /// refresh rules need to tell a lost answer from a stolen token. It must
    /// answer from memory: it is on the path of every request.
    fn live_scopes(&self, reference: GrantReference<'_>) -> Option<ScopeSet>;
}
