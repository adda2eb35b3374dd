//! What has been fetched and for how long it counts: one fetch for all who wait, none
//! while a failure is recent, none beyond the budget.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::DocumentError;
use super::budget::Budget;
use super::fetch::{Fetched, Web};
use super::url::DocumentUrl;
use crate::authorization_server::figures::DocumentFetch;
use crate::clock::{Clock, UnixTime};
use crate::metrics::Tally;

/// Documents of one kind, by URL. Cheap to clone.
#[derive(Clone)]
pub(super) struct Documents<T>(Arc<Inner<T>>);

struct Inner<T> {
    web: Web,
    clock: Clock,
    shared: Arc<Shared>,
    limit: usize,
    read: Read<T>,
    entries: Mutex<HashMap<DocumentUrl, Entry<T>>>,
}

/// What documents of all kinds have in common: bounds, and what came of their fetches.
pub(super) struct Shared {
    budget: Mutex<Budget>,
    in_flight: Semaphore,
    pub(super) outcomes: Tally<DocumentFetch>,
}

impl Default for Shared {
    fn default() -> Self {
        let in_flight = Semaphore::new(MAX_IN_FLIGHT);
        Self { budget: Mutex::default(), in_flight, outcomes: Tally::default() }
    }
}

/// Makes a value of the bytes of a document.
type Read<T> = fn(&[u8], &DocumentUrl, UnixTime) -> Result<T, DocumentError>;

struct Entry<T> {
    last: Option<Kept<T>>,
    failure: Option<Failure>,
    asked_at: UnixTime,
    /// Whether a user has approved the client. What strangers ask for does not push it
    /// out.
    is_approved: bool,
    /// Whether the next fetch has been paid for from the budget.
    is_paid: bool,
    /// Held during a fetch: a hundred who wait make one (checklist #115).
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// The last good document.
struct Kept<T> {
    value: T,
    fetched_at: UnixTime,
    fresh_until: UnixTime,
    entity_tag: Option<String>,
}

/// Remembered for a short time, and never in place of a document (checklist #114).
#[derive(Clone, Copy)]
struct Failure {
    error: DocumentError,
    count: u32,
    until: UnixTime,
    /// Since when the host has said, each time, that there is no such document.
    gone_since: Option<UnixTime>,
}

/// In whose interest a document is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// That of a client which a user has approved. Neither budget nor slots are shared
    /// with strangers, or one of them could keep the client out.
    Approved,
    /// Anybody's who sends a browser here.
    Stranger,
}

const MAX_ENTRIES: usize = 200;
const MAX_IN_FLIGHT: usize = 16;
/// After the first failure; doubled with each one more.
const FIRST_BACK_OFF: Duration = Duration::from_secs(5);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(5 * 60);
/// How long a stranger waits for a slot.
const LONGEST_QUEUE: Duration = Duration::from_secs(5);
/// How long a document must have been gone before that is believed: a slip of its host
/// must not disconnect everybody.
const GONE_FOR: Duration = Duration::from_secs(60 * 60);
/// How long the last document is used beyond its freshness while its host is out of
/// reach.
const STALE_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Between two looks for something that a fresh document has not.
const LOOK_AGAIN_PAUSE: Duration = Duration::from_secs(60);

impl<T: Clone + Send + 'static> Documents<T> {
    /// Documents of at most `limit` bytes, within shared bounds.
    pub(super) fn new(
        web: Web,
        clock: Clock,
        shared: Arc<Shared>,
        limit: usize,
        read: Read<T>,
    ) -> Self {
        let entries = Mutex::default();
        Self(Arc::new(Inner { web, clock, shared, limit, read, entries }))
    }

    /// The document as it is now, within its freshness.
    ///
    /// # Errors
    ///
    /// [`DocumentError`]; an older copy does not count.
    pub(super) async fn current(
        &self,
        url: &DocumentUrl,
        interest: Interest,
    ) -> Result<T, DocumentError> {
        if let Some(known) = self.0.known(url) {
            return known;
        }
        let (inner, url) = (Arc::clone(&self.0), url.clone());
        // In a task of its own: a browser that leaves must not undo the fetch that
        // others wait for.
        let fetch = tokio::spawn(async move {
            let Some(turn) = inner.turn(&url, interest) else {
                inner.shared.outcomes.add(DocumentFetch::OverBudget);
                return Err(DocumentError::Busy);
            };
            let _turn = turn.lock().await;
            if let Some(known) = inner.known(&url) {
                return known;
            }
            let value = inner.fetch(&url, interest).await;
            inner.shared.outcomes.add(DocumentFetch::of(value.as_ref().err()));
            value
        });
        fetch.await.unwrap_or(Err(DocumentError::Busy))
    }

    /// The same, or the last good one while its host is out of reach. What the host
    /// answers counts, also if it is that there is nothing any more.
    ///
    /// # Errors
    ///
    /// [`DocumentError`]
    pub(super) async fn current_or_last(
        &self,
        url: &DocumentUrl,
        interest: Interest,
    ) -> Result<T, DocumentError> {
        match self.current(url, interest).await {
            Err(error) if error.is_outage() => {
                let now = self.0.clock.now();
                let entries = self.0.entries();
                let last = entries.get(url).and_then(|entry| entry.last.as_ref());
                let last = last.filter(|kept| now < kept.fresh_until + STALE_FOR);
                last.map(|kept| kept.value.clone()).ok_or(error)
            }
            answer => answer,
        }
    }

    /// Whether the host has said for long enough that there is no such document.
    pub(super) fn is_gone(&self, url: &DocumentUrl) -> bool {
        let now = self.0.clock.now();
        let entries = self.0.entries();
        let failure = entries.get(url).and_then(|entry| entry.failure);
        let since = failure.and_then(|failure| failure.gone_since);
        since.is_some_and(|since| now.since(since) >= GONE_FOR)
    }

    /// Lets the next one who asks fetch anew, unless that has just been done.
    pub(super) fn look_again(&self, url: &DocumentUrl) {
        let now = self.0.clock.now();
        let mut entries = self.0.entries();
        if let Some(kept) = entries.get_mut(url).and_then(|entry| entry.last.as_mut())
            && now.since(kept.fetched_at) >= LOOK_AGAIN_PAUSE
        {
            kept.fresh_until = now;
        }
    }
}

impl<T: Clone> Inner<T> {
    fn entries(&self) -> MutexGuard<'_, HashMap<DocumentUrl, Entry<T>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What can be said without a fetch.
    fn known(&self, url: &DocumentUrl) -> Option<Result<T, DocumentError>> {
        let now = self.clock.now();
        let mut entries = self.entries();
        let entry = entries.get_mut(url)?;
        entry.asked_at = now;
        if let Some(failure) = entry.failure.filter(|failure| now < failure.until) {
            return Some(Err(failure.error));
        }
        let kept = entry.last.as_ref().filter(|kept| now < kept.fresh_until)?;
        Some(Ok(kept.value.clone()))
    }

    /// The lock of a URL. A stranger's first question is paid for here: what is not
    /// going to be fetched takes nobody's place.
    fn turn(&self, url: &DocumentUrl, interest: Interest) -> Option<Arc<tokio::sync::Mutex<()>>> {
        let now = self.clock.now();
        let is_approved = interest == Interest::Approved;
        let mut entries = self.entries();
        if let Some(entry) = entries.get_mut(url) {
            entry.is_approved |= is_approved;
            return Some(Arc::clone(&entry.turn));
        }
        if !is_approved && !self.spend(url, now) {
            return None;
        }
        if entries.len() >= MAX_ENTRIES {
            // Not one that is being fetched: its waiters would fetch twice.
            let idle = entries.iter().filter(|(_, entry)| Arc::strong_count(&entry.turn) == 1);
            let idle = idle.filter(|(_, entry)| !entry.is_approved);
            let oldest = idle.min_by_key(|(_, entry)| entry.asked_at).map(|(url, _)| url.clone());
            if let Some(oldest) = oldest {
                entries.remove(&oldest);
            }
        }
        let turn: Arc<tokio::sync::Mutex<()>> = Arc::default();
        let entry = Entry {
            last: None,
            failure: None,
            asked_at: now,
            is_approved,
            is_paid: true,
            turn: Arc::clone(&turn),
        };
        entries.insert(url.clone(), entry);
        Some(turn)
    }

    fn spend(&self, url: &DocumentUrl, now: UnixTime) -> bool {
        let mut budget = self.shared.budget.lock().unwrap_or_else(PoisonError::into_inner);
        budget.spend(url.host(), now)
    }

    async fn fetch(&self, url: &DocumentUrl, interest: Interest) -> Result<T, DocumentError> {
        let (entity_tag, is_paid) = {
            let mut entries = self.entries();
            let entry = entries.get_mut(url).ok_or(DocumentError::Busy)?;
            let last = entry.last.as_ref();
            let is_paid = std::mem::take(&mut entry.is_paid);
            (last.and_then(|kept| kept.entity_tag.clone()), is_paid)
        };
        let is_free = interest == Interest::Approved;
        if !is_free && !is_paid && !self.spend(url, self.clock.now()) {
            return Err(DocumentError::Busy);
        }
        let _slot = if is_free {
            None
        } else {
            match tokio::time::timeout(LONGEST_QUEUE, self.shared.in_flight.acquire()).await {
                Ok(Ok(slot)) => Some(slot),
                _ => return Err(DocumentError::Busy),
            }
        };
        let outcome = self.web.fetch(url.as_url(), self.limit, entity_tag.as_deref()).await;
        self.keep(url, outcome.map_err(DocumentError::Fetch))
    }

    fn keep(
        &self,
        url: &DocumentUrl,
        outcome: Result<Fetched, DocumentError>,
    ) -> Result<T, DocumentError> {
        let now = self.clock.now();
        let mut entries = self.entries();
        let Some(entry) = entries.get_mut(url) else { return Err(DocumentError::Busy) };
        let value = outcome.and_then(|Fetched { document, lifetime, entity_tag }| {
            let value = match (document, &entry.last) {
                (Some(bytes), _) => (self.read)(&bytes, url, now)?,
                (None, Some(kept)) => kept.value.clone(),
                // Nothing was said to be known, so nothing can be unchanged.
                (None, None) => return Err(DocumentError::Busy),
            };
            let fresh_until = now + lifetime;
            let kept = Kept { value: value.clone(), fetched_at: now, fresh_until, entity_tag };
            entry.last = Some(kept);
            entry.failure = None;
            Ok(value)
        });
        if let Err(error) = value {
            let count = entry.failure.map_or(0, |failure| failure.count);
            let back_off = FIRST_BACK_OFF * 2_u32.saturating_pow(count.min(8));
            let until = now + back_off.min(LONGEST_BACK_OFF);
            let before = entry.failure.and_then(|failure| failure.gone_since);
            let gone_since = error.is_withdrawal().then(|| before.unwrap_or(now));
            entry.failure = Some(Failure { error, count: count + 1, until, gone_since });
            tracing::info!(url = url.as_str(), reason = %error, "no client metadata document");
        }
        value
    }
}
