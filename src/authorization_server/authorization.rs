//! One authorization, from the request to the owner's answer.
//!
//! The states are types, and each transition consumes the one before: no endpoint
//! can issue a code for a request that nobody was shown.

use super::client::RegisteredClient;
use super::pkce::CodeChallenge;
use super::redirect_uri::RedirectUri;
use crate::clock::UnixTime;
use crate::contract::scope::ScopeSet;

/// A request that has been checked: its client is known, its redirect URI is one of
/// that client's, and its challenge is usable.
#[derive(Clone, Debug)]
pub struct AuthorizationRequest {
    /// Who asks.
    pub client: RegisteredClient,
    /// Where the answer goes, in the spelling of the request.
    pub redirect_uri: RedirectUri,
    /// Returned unchanged (OAuth 2.1 section 4.1.2).
    pub state: Option<String>,
    /// What the code will be bound to.
    pub challenge: CodeChallenge,
    /// What is asked for. Never empty: a request that names no scope of ours is
    /// offered all of them.
    pub requested: ScopeSet,
}

/// What the owner answered on the consent page.
#[derive(Clone, Copy, Debug)]
pub struct Approval {
    /// What was ticked.
    pub scopes: ScopeSet,
    /// When the grant ends, however often it is refreshed.
    pub ends_at: UnixTime,
    /// When `wiki:people` drops out of the grant. Only means something if it is
    /// among the scopes.
    pub people_until: UnixTime,
}

/// The owner ticked something that was not asked for, or nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidApproval {
    /// Only a forged form can do that.
    #[error("more scopes were ticked than were asked for")]
    Widened,
    /// The same as a refusal (checklist #145).
    #[error("no scope was ticked")]
    Nothing,
}

/// A request that the signed-in owner has allowed, perhaps in part. Only this
/// becomes a code.
#[derive(Debug)]
pub struct ApprovedAuthorization {
    request: AuthorizationRequest,
    subject: String,
    approval: Approval,
}

impl AuthorizationRequest {
    /// Takes the owner's answer. `subject` is the signed-in user.
    ///
    /// # Errors
    ///
    /// [`InvalidApproval`].
    pub(super) fn approve(
        self,
        subject: &str,
        approval: Approval,
    ) -> Result<ApprovedAuthorization, InvalidApproval> {
        if !approval.scopes.is_subset(self.requested) {
            return Err(InvalidApproval::Widened);
        }
        if approval.scopes.is_empty() {
            return Err(InvalidApproval::Nothing);
        }
        Ok(ApprovedAuthorization { request: self, subject: subject.to_owned(), approval })
    }
}

impl ApprovedAuthorization {
    /// The request that was allowed.
    #[must_use]
    pub const fn request(&self) -> &AuthorizationRequest {
        &self.request
    }

    /// The user who allowed it.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// What was allowed.
    #[must_use]
    pub const fn approval(&self) -> Approval {
        self.approval
    }
}
