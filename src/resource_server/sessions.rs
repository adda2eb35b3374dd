//! Whose MCP session is whose.
//!
//! The revisions before 2026-07-28 have sessions, and the session's id travels in
//! headers and logs. So it must be worthless to anybody but its owner: with
//! another's token it names no session at all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::watch;

use super::verify::VerifiedToken;

/// Idle sessions end after this long. The library's five minutes cut running
/// calls and open streams, and clients then meet a 404 that many do not survive.
const KEEP_ALIVE: Duration = Duration::from_secs(12 * 60 * 60);

/// Sessions that one owner may have open. A client that forgets to close them
/// loses its oldest.
const PER_OWNER: usize = 8;

/// The sessions of an MCP service, with their owners. Cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    manager: Arc<LocalSessionManager>,
    book: Arc<Mutex<Book>>,
}

#[derive(Default)]
struct Book {
    owners: HashMap<SessionId, Entry>,
    opened: u64,
}

struct Entry {
    owner: Owner,
    position: u64,
    /// The token that the session was last used with.
    latest: watch::Sender<VerifiedToken>,
}

/// Who opened a session or a stream. Not the token itself: a refresh must not end a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    subject: Box<str>,
    client: Box<str>,
}

impl Sessions {
    /// No sessions yet.
    #[must_use]
    pub fn new() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(KEEP_ALIVE);
        Self { manager: Arc::new(manager), book: Arc::default() }
    }

    /// The library's half, for the MCP service.
    #[must_use]
    pub fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    /// How many there are. Blocks.
    pub(super) fn count(&self) -> usize {
        self.manager.sessions.blocking_read().len()
    }

    /// Whether this caller opened the session with this id. If so, the session now
    /// stands on this token.
    pub(super) fn belongs_to(&self, id: &str, token: &VerifiedToken) -> bool {
        let book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = book.owners.get(id).filter(|entry| entry.owner == Owner::of(token))
        else {
            return false;
        };
        entry.latest.send_replace(token.clone());
        true
    }

    /// The latest token of a session.
    pub(super) fn latest_token(&self, id: &str) -> Option<watch::Receiver<VerifiedToken>> {
        let book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.owners.get(id).map(|entry| entry.latest.subscribe())
    }

    /// Writes a new session down. Until then it is nobody's; its id has not left
    /// the process yet.
    pub(super) async fn opened(&self, id: &str, token: &VerifiedToken) {
        let owner = Owner::of(token);
        let surplus = {
            let alive = self.manager.sessions.read().await;
            let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
            // Sessions that ended by themselves are forgotten here.
            book.owners.retain(|id, _| alive.contains_key(id));
            book.insert(id.into(), token);
            book.take_surplus(&owner)
        };
        for id in surplus {
            if let Err(error) = self.manager.close_session(&id).await {
                tracing::warn!(%error, "an old session did not close");
            }
        }
    }
}

impl Default for Sessions {
    fn default() -> Self {
        Self::new()
    }
}

impl Book {
    fn insert(&mut self, id: SessionId, token: &VerifiedToken) {
        self.opened += 1;
        let (latest, _) = watch::channel(token.clone());
        let entry = Entry { owner: Owner::of(token), position: self.opened, latest };
        self.owners.insert(id, entry);
    }

    /// The owner's sessions beyond the cap, oldest first; they are struck out.
    fn take_surplus(&mut self, owner: &Owner) -> Vec<SessionId> {
        let mut theirs: Vec<_> = self
            .owners
            .iter()
            .filter(|(_, entry)| entry.owner == *owner)
            .map(|(id, entry)| (entry.position, id.clone()))
            .collect();
        theirs.sort_unstable_by_key(|(position, _)| *position);
        let surplus = theirs.len().saturating_sub(PER_OWNER);
        theirs.truncate(surplus);
        theirs.into_iter().map(|(_, id)| id).inspect(|id| drop(self.owners.remove(id))).collect()
    }
}

impl Owner {
    pub(super) fn of(token: &VerifiedToken) -> Self {
        Self { subject: token.subject().into(), client: token.client().into() }
    }
}
