//! What was refused lately and why: for the owner, because to the client absent and
//! forbidden are one answer.

use std::collections::{HashMap, VecDeque};
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
pub struct Refusals(Arc<Mutex<HashMap<String, VecDeque<Refused>>>>);

impl Refusals {
    /// How many are remembered of one user: no client of another pushes them out.
    const MOST: usize = 100;
    /// How many users there are at a time. A foreign issuer may have any number.
    const MOST_USERS: usize = 200;
    /// The longest text that is kept of what was asked, in characters.
    const LONGEST: usize = 200;

    /// Notes a refusal. One that repeats one of the last of its user is counted.
    pub fn note(&self, subject: &str, client: &str, asked: &str, reason: &str, at: UnixTime) {
        let asked: String = asked.chars().take(Self::LONGEST).collect();
        let mut by_user = self.lock();
        if !by_user.contains_key(subject) && by_user.len() >= Self::MOST_USERS {
            let last = |refused: &VecDeque<Refused>| refused.back().map(|refused| refused.at);
            let longest_ago = by_user.iter().min_by_key(|(_, refused)| last(refused));
            let longest_ago = longest_ago.map(|(user, _)| user.clone());
            longest_ago.map(|user| by_user.remove(&user));
        }
        let refused = by_user.entry(subject.to_owned()).or_default();
        let is_same = |other: &&mut Refused| {
            other.client == client && other.asked == asked && other.reason == reason
        };
        if let Some(same) = refused.iter_mut().rev().take(8).find(is_same) {
            same.times = same.times.saturating_add(1);
            same.at = at;
            return;
        }
        if refused.len() >= Self::MOST {
            make_room(refused);
        }
        let (subject, client, reason) = (subject.to_owned(), client.to_owned(), reason.to_owned());
        refused.push_back(Refused { subject, client, asked, reason, at, times: 1 });
    }

    /// The latest refusals of a user, the latest first.
    #[must_use]
    pub fn of(&self, subject: &str, most: usize) -> Vec<Refused> {
        let by_user = self.lock();
        let own = by_user.get(subject).into_iter().flat_map(|refused| refused.iter().rev());
        own.take(most).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Refused>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the oldest of those that one client got most often for one reason, so that a flood
/// pushes out itself.
fn make_room(refused: &mut VecDeque<Refused>) {
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    for it in refused.iter() {
        *counts.entry((&it.client, &it.reason)).or_default() += 1;
    }
    // Of kinds that are as frequent, that of the oldest.
    let count = |it: &Refused| counts.get(&(&*it.client, &*it.reason)).copied();
    let most = refused.iter().map(count).max().flatten();
    let oldest = refused.iter().position(|it| count(it) == most);
    oldest.map(|oldest| refused.remove(oldest));
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
        refusals.note("alice", "other", "b.md", "there is no such page", at(2));
        refusals.note("alice", "app", "a.md", "it lacks wiki:people", at(3));
        let [other, only] = &*refusals.of("alice", 10) else { panic!("two") };
        assert_eq!((only.times, only.at, other.times), (2, at(3), 1));
        for number in 0..2 * Refusals::MOST {
            refusals.note("alice", "app", &format!("{number:0300}"), &format!("{number}"), at(4));
        }
        assert_eq!(refusals.of("alice", 1_000).len(), Refusals::MOST);
        assert_eq!(refusals.of("alice", 7).len(), 7);
        assert!(refusals.of("alice", 7)[0].asked.len() <= Refusals::LONGEST);
    }

    /// A client that asks for a hundred pages that are not there hides neither what was
    /// refused to it before, nor what was refused to others.
    #[test]
    fn a_flood_pushes_out_itself() {
        let at = UnixTime::from_seconds;
        let refusals = Refusals::default();
        refusals.note("alice", "app", "bob.md", "it lacks wiki:people", at(1));
        refusals.note("alice", "other", "gone.md", "there is no such page", at(2));
        for number in 0..10 * Refusals::MOST {
            refusals.note("alice", "app", &format!("{number}"), "there is no such page", at(3));
        }
        let kept = refusals.of("alice", usize::MAX);
        assert_eq!(kept.len(), Refusals::MOST);
        for asked in ["bob.md", "gone.md"] {
            assert!(kept.iter().any(|refused| refused.asked == asked), "{asked}");
        }
        assert_eq!(kept[0].asked, format!("{}", 10 * Refusals::MOST - 1), "the latest is there");
    }

    /// Issue, Build 4: whatever the clients of others ask for, a user sees what was
    /// refused to their own; and there is a bound for all.
    #[test]
    fn one_user_pushes_out_nothing_of_another() {
        let at = UnixTime::from_seconds;
        let refusals = Refusals::default();
        refusals.note("bob", "app", "b.md", "there is no such page", at(2));
        for number in 0..10 * Refusals::MOST {
            refusals.note("alice", "app", &format!("{number}.md"), "no such page", at(3));
        }
        assert_eq!(refusals.of("bob", 10).len(), 1);
        for number in 0..2 * Refusals::MOST_USERS {
            refusals.note(&format!("user {number}"), "app", "a.md", "no such page", at(4));
        }
        assert_eq!(refusals.lock().len(), Refusals::MOST_USERS);
    }
}
