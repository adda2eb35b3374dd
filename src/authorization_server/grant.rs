//! A grant: one approval, by one user, of one client, for one resource.
//!
//! Every token hangs from a grant, and revoking anything is a state of the grant.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::client::ClientId;
use super::family::{Digest, Family, Presented, RefreshPolicy, Refusal, Verdict};
use super::redirect_uri::RedirectUri;
use crate::clock::UnixTime;
use crate::contract::scope::{Scope, ScopeSet};

/// The name of a grant. Not a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct GrantId([u8; 16]);

/// A text that is not the name of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a grant")]
pub(crate) struct InvalidGrantId;

/// One approval and the state of its refresh tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grant {
    /// Its name.
    pub(crate) id: GrantId,
    /// What was approved.
    pub(crate) terms: Terms,
    /// When the code was exchanged.
    pub(crate) created_at: UnixTime,
    /// Why the grant is over, if it is.
    pub(crate) ended: Option<Ended>,
    /// What the user has left of the approved scopes since, if not all.
    #[serde(default)]
    pub(crate) narrowed_to: Option<ScopeSet>,
    /// Its refresh tokens.
    pub(crate) family: Family,
}

/// What the owner approved; never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Terms {
    /// The user who approved.
    pub(crate) subject: String,
    /// The client that was approved.
    pub(crate) client: ClientId,
    /// Where the code went. Nothing in grants of older versions.
    #[serde(default)]
    pub(crate) redirect_uri: Option<RedirectUri>,
    /// What it may do.
    pub(crate) scopes: ScopeSet,
    /// Where it may do it: the audience of its tokens.
    pub(crate) resource: String,
    /// When the grant ends, however often it is refreshed.
    pub(crate) ends_at: UnixTime,
    /// When `wiki:people` drops out.
    pub(crate) people_until: UnixTime,
}

/// The end of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// When.
    pub(crate) at: UnixTime,
    /// Why.
    pub(crate) reason: EndReason,
}

/// Why a grant was ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The user took it back on the account page.
    RevokedByUser,
    /// The user changed the password and took everything back with it.
    PasswordChanged,
    /// The client gave it back (RFC 7009).
    RevokedByClient,
    /// The code that made it was presented again.
    CodeReplayed,
    /// The client's host took its metadata document away.
    ClientWithdrawn,
    /// Whoever sits at the terminal took it back.
    RevokedByOperator,
    /// The client was removed at the terminal.
    ClientRemoved,
    /// The server was restored from a backup, which cannot know what was revoked since.
    Restored,
    /// A refresh token was presented that its rightful holder no longer uses.
    RefreshTokenReused,
}

impl EndReason {
    /// The reason in words, as they go behind "it ended because".
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::RevokedByUser => "you disconnected it",
            Self::PasswordChanged => "you changed your password",
            Self::RevokedByClient => "the app signed out",
            Self::ClientWithdrawn => "its maker took the app back",
            Self::RevokedByOperator => "it was revoked at the server's terminal",
            Self::ClientRemoved => "the app was removed at the server's terminal",
            Self::Restored => "the server was restored from a backup",
            Self::CodeReplayed => "its sign-in code was used twice",
            Self::RefreshTokenReused => "a token that it had replaced was used again",
        }
    }
}

impl GrantId {
    /// Takes fresh random bytes.
    pub(crate) const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes of the name.
    pub(crate) const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for GrantId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&BASE64_URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl FromStr for GrantId {
    type Err = InvalidGrantId;

    fn from_str(text: &str) -> Result<Self, InvalidGrantId> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidGrantId)?;
        bytes.try_into().map(Self).map_err(|_| InvalidGrantId)
    }
}

impl From<GrantId> for String {
    fn from(id: GrantId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for GrantId {
    type Error = InvalidGrantId;

    fn try_from(text: String) -> Result<Self, InvalidGrantId> {
        text.parse()
    }
}

impl Terms {
    /// What is left of the scopes at this moment: `wiki:people` is time-boxed.
    pub(crate) fn scopes_at(&self, now: UnixTime) -> ScopeSet {
        if now < self.people_until { self.scopes } else { self.scopes.without(Scope::People) }
    }

    /// The latest end of a token that is issued with these scopes: it outlives
    /// neither the grant nor, if it has `wiki:people`, the time allowed for that.
    pub(crate) fn latest_end(&self, scopes: ScopeSet) -> UnixTime {
        if scopes.contains(Scope::People) {
            self.ends_at.min(self.people_until)
        } else {
            self.ends_at
        }
    }
}

impl Grant {
    /// A new grant, with the digest of its first refresh token.
    pub(crate) fn new(id: GrantId, terms: Terms, first: Digest, now: UnixTime) -> Self {
        let family = Family::new(first, now);
        Self { id, terms, created_at: now, ended: None, narrowed_to: None, family }
    }

    /// What the grant gives at this moment, or why it gives nothing.
    pub(crate) fn scopes_at(&self, now: UnixTime) -> Result<ScopeSet, Refusal> {
        if self.ended.is_some() {
            return Err(Refusal::Ended);
        }
        if now >= self.terms.ends_at {
            return Err(Refusal::Expired);
        }
        let scopes = self.terms.scopes_at(now);
        let scopes = self.narrowed_to.map_or(scopes, |left| scopes.intersection(left));
        if scopes.is_empty() { Err(Refusal::Exhausted) } else { Ok(scopes) }
    }

    /// Takes away all scopes but these, for good: what is to come back has to be asked
    /// for and approved again. A grant that nothing is left of is ended.
    pub(crate) fn narrow(&mut self, left: ScopeSet, now: UnixTime) {
        let before = self.narrowed_to.unwrap_or(self.terms.scopes);
        let after = before.intersection(left);
        if after.is_empty() {
            self.end(now, EndReason::RevokedByUser);
        } else if after != self.terms.scopes {
            self.narrowed_to = Some(after);
        }
    }

    /// Ends the grant; the first reason stands.
    pub(crate) fn end(&mut self, at: UnixTime, reason: EndReason) {
        self.ended.get_or_insert(Ended { at, reason });
    }

    /// When nothing can come of the grant any more.
    pub(crate) fn is_over_since(&self, policy: RefreshPolicy) -> UnixTime {
        let natural = self.terms.ends_at.min(self.family.idle_end(policy));
        self.ended.map_or(natural, |ended| natural.min(ended.at))
    }

    /// Judges a refresh token of this grant.
    pub(crate) fn judge(
        &self,
        presented: &Presented,
        now: UnixTime,
        policy: RefreshPolicy,
    ) -> Verdict {
        if let Err(refusal) = self.scopes_at(now) {
            return Verdict::Refuse(refusal);
        }
        self.family.judge(presented, now, policy)
    }
}
