//! The audit trail at rest: events under running numbers, the oldest dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::{Store, StoreError, decode, encode};
use crate::authorization_server::audit::{Actor, Event, What};
use crate::authorization_server::figures::Happening;
use crate::authorization_server::grant::GrantId;
use crate::clock::UnixTime;
use crate::metrics::Tally;

/// The names of the two trees.
pub(super) const OWN: &str = "audit";
pub(super) const STRANGERS: &str = "audit_of_strangers";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Two shelves: what strangers cause as often as they like fills its own.
pub(super) struct Trail {
    own: Shelf,
    strangers: Shelf,
    next: AtomicU64,
    happened: Arc<Tally<Happening>>,
}

/// Events of one sort, within bounds.
struct Shelf {
    tree: sled::Tree,
    length: AtomicUsize,
    most: usize,
    memory: Duration,
}

impl Trail {
    pub(super) fn open(
        own: sled::Tree,
        strangers: sled::Tree,
        happened: Arc<Tally<Happening>>,
    ) -> Result<Self, StoreError> {
        let own = Shelf::of(own, 10_000, 400 * DAY);
        let strangers = Shelf::of(strangers, 2_000, 30 * DAY);
        let next = own.end()?.max(strangers.end()?);
        Ok(Self { own, strangers, next: AtomicU64::new(next), happened })
    }
}

impl Shelf {
    fn of(tree: sled::Tree, most: usize, memory: Duration) -> Self {
        let length = AtomicUsize::new(tree.len());
        Self { tree, length, most, memory }
    }

    /// The number behind the last one.
    fn end(&self) -> Result<u64, StoreError> {
        let last = self.tree.last()?;
        let number =
            last.and_then(|(key, _)| Some(u64::from_be_bytes(key.as_ref().try_into().ok()?)));
        Ok(number.map_or(0, |number| number.saturating_add(1)))
    }

    fn append(&self, number: u64, event: &Event) -> Result<(), StoreError> {
        self.tree.insert(number.to_be_bytes(), encode(event)?)?;
        // Counted before it is compared, so that of many at once none is forgotten.
        let mut surplus =
            (self.length.fetch_add(1, Ordering::SeqCst) + 1).saturating_sub(self.most);
        while surplus > 0 && self.drop_oldest()? {
            surplus -= 1;
        }
        Ok(())
    }

    fn drop_oldest(&self) -> Result<bool, StoreError> {
        let dropped = self.tree.pop_min()?.is_some();
        if dropped {
            self.length.fetch_sub(1, Ordering::SeqCst);
        }
        Ok(dropped)
    }

    fn forget(&self, now: UnixTime) -> Result<(), StoreError> {
        while let Some((_, bytes)) = self.tree.first()? {
            let event: Event = decode(&bytes)?;
            if now.since(event.at) < self.memory || !self.drop_oldest()? {
                break;
            }
        }
        Ok(())
    }

    /// The newest events that `is_meant` picks, the newest first, with their numbers.
    fn newest(
        &self,
        most: usize,
        is_meant: impl Fn(&Event) -> bool,
    ) -> Result<Vec<(u64, Event)>, StoreError> {
        let mut found = Vec::new();
        for entry in self.tree.iter().rev() {
            if found.len() == most {
                break;
            }
            let (key, bytes) = entry?;
            let event: Event = decode(&bytes)?;
            if is_meant(&event) {
                let number = key.as_ref().try_into().map_or(0, u64::from_be_bytes);
                found.push((number, event));
            }
        }
        Ok(found)
    }
}

impl Store {
    /// Writes down what happened, to become durable with the change that it is part of.
    pub(crate) fn note(&self, event: &Event) -> Result<(), StoreError> {
        let trail = &self.0.trail;
        trail.happened.add(Happening::of(&event.what));
        let number = trail.next.fetch_add(1, Ordering::SeqCst);
        let part = if event.is_strangers() { &trail.strangers } else { &trail.own };
        part.append(number, event)
    }

    /// Writes down that a grant was ended just now. One that was over before is no news.
    pub(crate) fn note_end(&self, id: GrantId, by: Actor, now: UnixTime) -> Result<(), StoreError> {
        let event = self.look_at_grant(id, |grant| {
            let ended = grant.ended.filter(|ended| ended.at == now)?;
            let event = Event::new(now, by, What::Ended { reason: ended.reason });
            Some(event.of_user(&grant.terms.subject).of_client(&grant.terms.client).of_grant(id))
        });
        event.flatten().map_or(Ok(()), |event| self.note(&event))
    }

    /// The newest events that `is_meant` picks, the newest first: at most `most`, and at
    /// most `strangers` of those that strangers cause.
    pub(crate) fn newest_events(
        &self,
        most: usize,
        strangers: usize,
        is_meant: impl Fn(&Event) -> bool,
    ) -> Result<Vec<Event>, StoreError> {
        let mut events = self.0.trail.own.newest(most, &is_meant)?;
        events.extend(self.0.trail.strangers.newest(strangers, &is_meant)?);
        events.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
        events.truncate(most);
        Ok(events.into_iter().map(|(_, event)| event).collect())
    }

    /// Forgets events that are too old.
    pub(crate) fn forget_events(&self, now: UnixTime) -> Result<(), StoreError> {
        self.0.trail.own.forget(now)?;
        self.0.trail.strangers.forget(now)
    }
}
