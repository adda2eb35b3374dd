//! Which key signs, which come next, and which are still believed: states and times,
//! without keys, files or a clock.
//!
//! ```text
//!  next ──(published long enough)──► current ──(rotation)──► retained ──(last token dead)──► gone
//!    └──────────────┴───────────────────┴──► revoked: believed by nobody from then on
//! ```

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::UnixTime;

/// How long whoever fetches the key set may keep it. Also the `max-age` of its answer.
pub(crate) const KEY_SET_MAX_AGE: Duration = Duration::from_secs(300);

/// How long a key is published before it signs, so that everybody who keeps the key
/// set for a while has it by then (checklist #134): the time of the caches, and an hour
/// for those that take it less exactly.
const LEAD: Duration = Duration::from_secs(KEY_SET_MAX_AGE.as_secs() + 60 * 60);

/// How long a key is believed after the last token that it signed has expired.
const LEEWAY: Duration = Duration::from_secs(60);

/// How long a revoked key is still named to the owner. Nothing is left of it but its name.
const NAMED_FOR: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// What the owner has decided about rotation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyPolicy {
    /// How long a key signs; for ever if absent.
    pub(crate) rotate_after: Option<Duration>,
    /// How long an access token lives.
    pub(crate) token: Duration,
}

/// What a key is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyState {
    /// Published, and does not sign yet.
    Next,
    /// Signs.
    Current,
    /// Signs no more; tokens that it signed may still be alive.
    Retained,
    /// Withdrawn by the owner: tokens that it signed are dead.
    Revoked,
}

/// A key as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) kid: String,
    pub(super) state: KeyState,
    pub(super) created_at: UnixTime,
    /// When it came into its state. Files of older versions have not noted it.
    #[serde(default)]
    since: Option<UnixTime>,
    /// The longest life of a token that it may have signed, in seconds. Kept here,
    /// because the setting may have been lowered since.
    #[serde(default)]
    signed_for: u64,
    /// The private half under seal; nothing of a revoked key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sealed: Option<String>,
}

/// All keys. Once [`Ring::keep_up`] has been called, one is current and one is next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ring(pub(super) Vec<Record>);

/// A key that was drawn and sealed, and has no state yet.
pub(super) struct Drawn {
    pub(super) kid: String,
    pub(super) sealed: String,
}

/// Why a key keeps its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotPossible {
    /// Not every reader of the key set may have it yet.
    #[error(
        "the next key has not been published for long enough; it can sign in {} s", .0.as_secs()
    )]
    TooEarly(Duration),
    /// There is no such key, or it is revoked already.
    #[error("there is no such key")]
    NoSuchKey,
}

impl Record {
    fn new(drawn: Drawn, state: KeyState, now: UnixTime) -> Self {
        let Drawn { kid, sealed } = drawn;
        Self { kid, state, created_at: now, since: Some(now), signed_for: 0, sealed: Some(sealed) }
    }

    /// When it came into its state.
    pub(super) fn since(&self) -> UnixTime {
        self.since.unwrap_or(self.created_at)
    }

    fn enter(&mut self, state: KeyState, now: UnixTime) {
        self.state = state;
        self.since = Some(now);
    }

    fn is_gone(&self, now: UnixTime) -> bool {
        match self.state {
            KeyState::Next | KeyState::Current => false,
            KeyState::Retained => {
                now >= self.since() + Duration::from_secs(self.signed_for) + LEEWAY
            }
            KeyState::Revoked => now >= self.since() + NAMED_FOR,
        }
    }
}

impl Ring {
    /// Brings all keys into the states that they should have now. `draw` makes a key if
    /// one is needed.
    pub(super) fn keep_up(
        &mut self,
        now: UnixTime,
        policy: KeyPolicy,
        mut draw: impl FnMut() -> Drawn,
    ) {
        self.0.retain(|key| !key.is_gone(now));
        if self.find(KeyState::Current).is_none() {
            // The very first start: nobody keeps a key set that it could be missing from.
            self.0.push(Record::new(draw(), KeyState::Current, now));
        }
        let is_due = |current: &Record| {
            policy.rotate_after.is_some_and(|span| now.since(current.since()) >= span)
        };
        if self.find(KeyState::Current).is_some_and(is_due) {
            // One that is not ready yet is taken at the next turn.
            let _too_early = self.rotate(now);
        }
        if self.find(KeyState::Next).is_none() {
            self.0.push(Record::new(draw(), KeyState::Next, now));
        }
        for key in self.0.iter_mut().filter(|key| key.state == KeyState::Current) {
            key.signed_for = key.signed_for.max(policy.token.as_secs());
        }
    }

    /// Lets the next key sign and retires the present one.
    pub(super) fn rotate(&mut self, now: UnixTime) -> Result<(), NotPossible> {
        let next = self.find(KeyState::Next).ok_or(NotPossible::TooEarly(LEAD))?;
        let left = LEAD.saturating_sub(now.since(next.created_at));
        if !left.is_zero() {
            return Err(NotPossible::TooEarly(left));
        }
        self.promote(KeyState::Retained, now);
        Ok(())
    }

    /// Takes a key out at once. If it is the one that signs, the next one takes over,
    /// however young it is: a reader that does not have it yet fetches it, which is
    /// better than to believe a thief.
    pub(super) fn revoke(&mut self, kid: &str, now: UnixTime) -> Result<(), NotPossible> {
        let known = self.0.iter_mut().find(|key| key.kid == kid);
        let key = known.filter(|key| key.state != KeyState::Revoked);
        let key = key.ok_or(NotPossible::NoSuchKey)?;
        key.sealed = None;
        if key.state == KeyState::Current {
            self.promote(KeyState::Revoked, now);
        } else {
            key.enter(KeyState::Revoked, now);
        }
        Ok(())
    }

    /// The next key becomes the current one, and that one `fate`.
    fn promote(&mut self, fate: KeyState, now: UnixTime) {
        for key in &mut self.0 {
            match key.state {
                KeyState::Current => key.enter(fate, now),
                KeyState::Next => key.enter(KeyState::Current, now),
                KeyState::Retained | KeyState::Revoked => {}
            }
        }
    }

    pub(super) fn find(&self, state: KeyState) -> Option<&Record> {
        self.0.iter().find(|key| key.state == state)
    }
}
