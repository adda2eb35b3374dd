//! The refresh tokens of a grant: a family, of which one generation is current.
//!
//! What happens when a token of some generation is presented is decided here, by a
//! pure function of what is stored and the time; checklist 5.4 has the reasons.

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::clock::UnixTime;

/// What the refresh rules measure against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefreshPolicy {
    /// How long a token that was just rotated out is still answered. Zero is the
    /// strict text of OAuth 2.1 section 4.3.1.
    pub(crate) grace: Duration,
    /// How long a refresh token lives unused.
    pub(crate) idle: Duration,
}

/// Which generation is current, and what is needed to judge the older ones. No
/// token is stored, only digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Family {
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
    /// It was the current one: the family moves on, and the child is handed out.
    Rotate(Family),
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

impl Family {
    /// The number of rotations whose times are remembered.
    const REMEMBERED: usize = 4;

    /// A family with the digest of its first token.
    pub(crate) const fn new(first: Digest, now: UnixTime) -> Self {
        Self {
            generation: 0,
            current: first,
            previous: None,
            since: now,
            rotations: Vec::new(),
            is_seen: false,
        }
    }

    /// When the current token dies if it is not used.
    pub(crate) fn idle_end(&self, policy: RefreshPolicy) -> UnixTime {
        self.since + policy.idle
    }

    /// When the current token was made.
    pub(crate) const fn renewed_at(&self) -> UnixTime {
        self.since
    }

    /// Judges a token of this family, which is alive.
    pub(crate) fn judge(
        &self,
        presented: &Presented,
        now: UnixTime,
        policy: RefreshPolicy,
    ) -> Verdict {
        if now >= self.idle_end(policy) {
            return Verdict::Refuse(Refusal::Idle);
        }
        // With whole seconds, a grace of zero must not mean "within this second".
        let is_recent =
            |rotated: UnixTime| !policy.grace.is_zero() && now.since(rotated) <= policy.grace;
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
