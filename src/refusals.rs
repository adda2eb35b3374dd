//! What was refused lately and why: for the owner, because to the client absent and
//! forbidden are one answer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::UnixTime;

/// One refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The user in whose name was asked.
    pub subject: String,
    /// The client that asked.
    pub client: String,
    /// For what, as the client named it.
    pub asked: String,
    /// The real reason, as the end of a sentence: "it lacks wiki:people".
    pub reason: String,
    /// When it was asked last.
    pub at: UnixTime,
    /// How often in a row.
    pub times: u32,
}

/// The latest refusals, in memory. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Refusals(Arc<Mutex<VecDeque<Refused>>>);

impl Refusals {
    /// How many are remembered, for all users together.
    const MOST: usize = 500;
    /// The longest text that is kept of what was asked, in characters.
    const LONGEST: usize = 200;

    /// Notes a refusal. One that repeats the last of its user is counted.
    pub fn note(&self, subject: &str, client: &str, asked: &str, reason: &str, at: UnixTime) {
        let asked: String = asked.chars().take(Self::LONGEST).collect();
        let mut refused = self.lock();
        let is_same = |other: &&mut Refused| {
            other.subject == subject
                && other.client == client
                && other.asked == asked
                && other.reason == reason
        };
        if let Some(same) = refused.iter_mut().rev().take(8).find(is_same) {
            same.times = same.times.saturating_add(1);
            same.at = at;
            return;
        }
        if refused.len() >= Self::MOST {
            refused.pop_front();
        }
        let (subject, client, reason) = (subject.to_owned(), client.to_owned(), reason.to_owned());
        refused.push_back(Refused { subject, client, asked, reason, at, times: 1 });
    }

    /// The latest refusals of a user, the latest first.
    #[must_use]
    pub fn of(&self, subject: &str, most: usize) -> Vec<Refused> {
        let refused = self.lock();
        let own = refused.iter().rev().filter(|refused| refused.subject == subject);
        own.take(most).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Refused>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Refusals;
    use crate::clock::UnixTime;

    #[test]
    fn repeated_refusals_are_counted_and_old_ones_forgotten() {
        let at = UnixTime::from_seconds;
        let refusals = Refusals::default();
        refusals.note("alice", "app", "a.md", "it lacks wiki:people", at(1));
        refusals.note("bob", "app", "b.md", "there is no such page", at(2));
        refusals.note("alice", "app", "a.md", "it lacks wiki:people", at(3));
        let [only] = &*refusals.of("alice", 10) else { panic!("one") };
        assert_eq!((only.times, only.at), (2, at(3)));
        for number in 0..2 * Refusals::MOST {
            refusals.note("alice", "app", &format!("{number:0300}"), &format!("{number}"), at(4));
        }
        assert_eq!(refusals.of("bob", 10).len(), 0);
        assert_eq!(refusals.of("alice", 7).len(), 7);
        assert!(refusals.of("alice", 7)[0].asked.len() <= Refusals::LONGEST);
    }
}
