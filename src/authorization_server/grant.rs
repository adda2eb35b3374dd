//! A grant: one approval, by one user, of one client, for one resource.
//!
//! Every token hangs from a grant, and revoking anything is a state of the grant.
//! Its refresh tokens form a line of generations, of which one is current. What
//! happens when a token of some generation is presented is decided here, by a pure
//! function of the stored record and the time; checklist 5.4 has the reasons.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::client::ClientId;
use crate::clock::UnixTime;
use crate::contract::scope::{Scope, ScopeSet};

/// The name of a grant. Not a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct GrantId([u8; 16]);

/// A text that is not the name of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a grant")]
pub struct InvalidGrantId;

/// What the refresh rules measure against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefreshPolicy {
    /// How long a token that was just rotated out is still answered. Zero is the
    /// strict text of OAuth 2.1 section 4.3.1.
    pub(crate) grace: Duration,
    /// How long a refresh token lives unused.
    pub(crate) idle: Duration,
}

/// One approval and the state of its refresh tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Its name.
    pub id: GrantId,
    /// What was approved.
    pub terms: Terms,
    /// When the code was exchanged.
    pub created_at: UnixTime,
    /// Why the grant is over, if it is.
    pub ended: Option<Ended>,
    /// The line of refresh tokens.
    pub(crate) line: Line,
}

/// What the owner approved; never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The user who approved.
    pub subject: String,
    /// The client that was approved.
    pub client: ClientId,
    /// What it may do.
    pub scopes: ScopeSet,
    /// Where it may do it: the audience of its tokens.
    pub resource: String,
    /// When the grant ends, however often it is refreshed.
    pub ends_at: UnixTime,
    /// When `wiki:people` drops out.
    pub people_until: UnixTime,
}

/// The end of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// When.
    pub at: UnixTime,
    /// Why.
    pub reason: EndReason,
}

/// Why a grant was ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The client gave it back (RFC 7009).
    RevokedByClient,
    /// The code that made it was presented again.
    CodeReplayed,
    /// A refresh token was presented that its rightful holder no longer uses.
    RefreshTokenReused,
}

/// The refresh tokens of a grant: which generation is current, and what is needed
/// to judge the older ones. No token is stored, only digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// The generation of the current token.
    pub(crate) generation: u64,
    /// Digest of the current token's secret.
    current: Digest,
    /// Digest of the secret of the generation before.
    previous: Option<Digest>,
    /// When the current token was made.
    since: UnixTime,
    /// When the latest generations were rotated out, the latest first. The first
    /// equals `since` once there was a rotation.
    rotations: Vec<UnixTime>,
    /// Whether an access token of the current generation has reached the resource
    /// server: then the answer that carried it was not lost.
    pub(crate) is_seen: bool,
}

/// A keyed digest of a refresh token's secret.
pub(crate) type Digest = [u8; 32];

/// A refresh token whose tag is right, so that this server must have made it, with
/// the digest of its secret and of the secret that would follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Presented {
    pub(crate) generation: u64,
    pub(crate) digest: Digest,
    pub(crate) child: Digest,
}

/// What is to be done about a presented refresh token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was the current one: the line moves on, and the child is handed out.
    Rotate(Line),
    /// It was replaced, but the answer may have been lost or is still on its way to
    /// a parallel session: the same child is handed out again.
    Redeliver,
    /// It is not good any more.
    Refuse(Refusal),
    /// It is in the wrong hands, or was: the grant ends.
    Reuse,
}

/// Why a refresh token is refused without further consequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the grant was ended")]
    Ended,
    #[error("the grant has expired")]
    Expired,
    #[error("the refresh token was not used for too long")]
    Idle,
    #[error("nothing is left of the grant but what has expired")]
    Exhausted,
    #[error("the refresh token was replaced a moment ago, and its successor was used")]
    Overtaken,
    #[error("the refresh token is newer than the grant, which must come from a backup")]
    FromTheFuture,
    #[error("the refresh token does not fit the grant")]
    Mismatch,
}

impl GrantId {
    /// Takes fresh random bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes of the name.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
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
    #[must_use]
    pub fn scopes_at(&self, now: UnixTime) -> ScopeSet {
        if now < self.people_until { self.scopes } else { self.scopes.without(Scope::People) }
    }

    /// The latest end of a token that is issued with these scopes: it outlives
    /// neither the grant nor, if it has `wiki:people`, the time allowed for that.
    #[must_use]
    pub fn latest_end(&self, scopes: ScopeSet) -> UnixTime {
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
        let line = Line {
            generation: 0,
            current: first,
            previous: None,
            since: now,
            rotations: Vec::new(),
            is_seen: false,
        };
        Self { id, terms, created_at: now, ended: None, line }
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
        if scopes.is_empty() { Err(Refusal::Exhausted) } else { Ok(scopes) }
    }

    /// Ends the grant; the first reason stands.
    pub(crate) fn end(&mut self, at: UnixTime, reason: EndReason) {
        self.ended.get_or_insert(Ended { at, reason });
    }

    /// When nothing can come of the grant any more.
    pub(crate) fn is_over_since(&self, policy: RefreshPolicy) -> UnixTime {
        let natural = self.terms.ends_at.min(self.line.since + policy.idle);
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
        if now.since(self.line.since) >= policy.idle {
            return Verdict::Refuse(Refusal::Idle);
        }
        self.line.judge(presented, now, policy.grace)
    }
}

impl Line {
    /// The number of rotations whose times are remembered.
    const REMEMBERED: usize = 4;

    fn judge(&self, presented: &Presented, now: UnixTime, grace: Duration) -> Verdict {
        // With whole seconds, a grace of zero must not mean "within this second".
        let is_recent = |rotated: UnixTime| !grace.is_zero() && now.since(rotated) <= grace;
        let fits = |stored: &Digest| bool::from(stored.ct_eq(&presented.digest));
        let Some(age) = self.generation.checked_sub(presented.generation) else {
            return Verdict::Refuse(Refusal::FromTheFuture);
        };
        match age {
            0 if fits(&self.current) => Verdict::Rotate(self.rotated(presented.child, now)),
            0 => Verdict::Refuse(Refusal::Mismatch),
            1 if !self.previous.as_ref().is_some_and(fits) => Verdict::Refuse(Refusal::Mismatch),
            1 if is_recent(self.since) || !self.is_seen => Verdict::Redeliver,
            1 => Verdict::Reuse,
            // The loser of a fast double rotation, which will look into its store
            // again, is not a thief.
            _ if self.rotated_out(age).is_some_and(is_recent) => {
                Verdict::Refuse(Refusal::Overtaken)
            }
            _ => Verdict::Reuse,
        }
    }

    /// When the generation `age` steps before the current one was rotated out.
    fn rotated_out(&self, age: u64) -> Option<UnixTime> {
        let index = usize::try_from(age.checked_sub(1)?).ok()?;
        self.rotations.get(index).copied()
    }

    fn rotated(&self, child: Digest, now: UnixTime) -> Self {
        let rotations = [now].into_iter().chain(self.rotations.iter().copied());
        Self {
            generation: self.generation + 1,
            current: child,
            previous: Some(self.current),
            since: now,
            rotations: rotations.take(Self::REMEMBERED).collect(),
            is_seen: false,
        }
    }
}
