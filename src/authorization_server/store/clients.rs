//! Registered clients at rest.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{STEP, Store, StoreError, decode, encode};
use crate::authorization_server::client::{ClientId, RegisteredClient};
use crate::authorization_server::grant::{EndReason, Terms};
use crate::clock::UnixTime;

/// SHA-256 of the metadata of a public client: who registers the same again gets the
/// same name (checklist #98).
pub(crate) type MetadataDigest = [u8; 32];

/// When registrations are removed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientPolicy {
    /// A client that no user has approved lives this long.
    pub(crate) unused: Duration,
    /// One that was approved, and has no grant that is remembered, lives this long.
    pub(crate) inactive: Duration,
    /// The most clients there may be.
    pub(crate) limit: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredClient {
    client: RegisteredClient,
    digest: Option<MetadataDigest>,
    last_used_at: UnixTime,
    was_approved: bool,
}

/// The name of a stored client and when it was last used, if it can be read.
pub(super) fn name_and_date(bytes: &[u8]) -> Option<(ClientId, UnixTime)> {
    let stored: StoredClient = decode(bytes).ok()?;
    Some((stored.client.id, stored.last_used_at))
}

impl Store {
    /// The client of that name.
    pub(crate) fn client(&self, id: &ClientId) -> Result<Option<RegisteredClient>, StoreError> {
        Ok(self.stored_client(id)?.map(|stored| stored.client))
    }

    /// Keeps a client, or answers with the one that registered the same before.
    /// Nothing is kept and `None` answered if there are too many, all in use. One that
    /// `is_waiting` for a user's answer is in use.
    pub(crate) fn register_client(
        &self,
        client: &RegisteredClient,
        digest: Option<MetadataDigest>,
        policy: ClientPolicy,
        is_waiting: impl Fn(&ClientId) -> bool,
    ) -> Result<Option<RegisteredClient>, StoreError> {
        // Two equal registrations a second apart happen; they must not race.
        let _order = self.begin();
        let now = client.registered_at;
        if let Some(digest) = digest
            && let Some(id) = self.0.trees.client_digests.get(digest)?
            && let Some(mut known) = self.stored_client_by_key(&id)?
        {
            known.last_used_at = now;
            self.write_client(&known)?;
            return Ok(Some(known.client));
        }
        if !self.make_room(policy, is_waiting)? {
            return Ok(None);
        }
        let stored =
            StoredClient { client: client.clone(), digest, last_used_at: now, was_approved: false };
        self.write_client(&stored)?;
        if let Some(digest) = digest {
            // After the client: a digest without a client is only a missed match.
            self.0.trees.client_digests.insert(digest, client.id.as_str())?;
        }
        Ok(Some(stored.client))
    }

    /// Notes that a user has approved the client. One that publishes its own metadata
    /// comes into the store by this, as it was approved.
    pub(crate) fn note_approval(
        &self,
        user: &str,
        client: &RegisteredClient,
        now: UnixTime,
    ) -> Result<(), StoreError> {
        let _order = self.begin();
        let mut stored = match self.stored_client(&client.id)? {
            Some(stored) => stored,
            None if client.document_host().is_some() => StoredClient {
                client: client.clone(),
                digest: None,
                last_used_at: now,
                was_approved: true,
            },
            // Removed since it asked.
            None => return Ok(()),
        };
        if client.document_host().is_some() {
            stored.client = client.clone();
            self.note_character(user, client)?;
        }
        stored.last_used_at = now;
        stored.was_approved = true;
        self.write_client(&stored)
    }

    /// How many clients there are.
    pub(crate) fn count_clients(&self) -> usize {
        self.0.clients.load(Ordering::SeqCst)
    }

    /// All clients, each with when it was last used and whether a user has approved it.
    pub(crate) fn all_clients(
        &self,
    ) -> Result<Vec<(RegisteredClient, UnixTime, bool)>, StoreError> {
        let mut clients = Vec::new();
        for bytes in self.0.trees.clients.iter().values() {
            let StoredClient { client, last_used_at, was_approved, .. } = decode(&bytes?)?;
            clients.push((client, last_used_at, was_approved));
        }
        Ok(clients)
    }

    /// Forgets a client and ends all access that it has. Answers how many grants ended, or
    /// nothing if there is no such client.
    pub(crate) fn withdraw_client(
        &self,
        id: &ClientId,
        now: UnixTime,
    ) -> Result<Option<usize>, StoreError> {
        let order = self.begin();
        let Some(stored) = self.stored_client(id)? else { return Ok(None) };
        let is_its_own = |terms: &Terms| terms.client == *id;
        let ended = self.end_access_in(&order, is_its_own, now, EndReason::ClientRemoved)?;
        self.remove_client(&stored)?;
        Ok(Some(ended))
    }

    /// Removes clients that have outlived their purpose (checklist #99): none that a
    /// user's grant, dead or alive, is remembered of, and none that waits for an answer.
    ///
    /// Whoever wants to change something waits for [`STEP`] of them at most.
    pub(crate) fn forget_clients(
        &self,
        now: UnixTime,
        policy: ClientPolicy,
        is_waiting: impl Fn(&ClientId) -> bool,
    ) -> Result<(), StoreError> {
        let is_stale = |stored: &StoredClient| {
            let lifetime = if stored.was_approved { policy.inactive } else { policy.unused };
            now.since(stored.last_used_at) >= lifetime
        };
        let mut stale = Vec::new();
        for bytes in self.0.trees.clients.iter().values() {
            let stored: StoredClient = decode(&bytes?)?;
            if is_stale(&stored) {
                stale.push(stored.client.id);
            }
        }
        for ids in stale.chunks(STEP) {
            let _order = self.begin();
            let in_use = self.with_grants(ids);
            for id in ids.iter().filter(|id| !in_use.contains(*id) && !is_waiting(id)) {
                // It may have been used since the look.
                if let Some(stored) = self.stored_client(id)?.filter(is_stale) {
                    self.remove_client(&stored)?;
                }
            }
        }
        self.forget_approvals()
    }

    /// If there are too many clients, removes the oldest that was never approved and that
    /// does not wait for an answer (checklist #100). Answers whether there is room.
    fn make_room(
        &self,
        policy: ClientPolicy,
        is_waiting: impl Fn(&ClientId) -> bool,
    ) -> Result<bool, StoreError> {
        if self.count_clients() < policy.limit {
            return Ok(true);
        }
        let mut unused: Vec<StoredClient> = Vec::new();
        for bytes in self.0.trees.clients.iter().values() {
            let stored: StoredClient = decode(&bytes?)?;
            if !stored.was_approved {
                unused.push(stored);
            }
        }
        unused.sort_by_key(|stored| stored.last_used_at);
        match unused.iter().find(|stored| !is_waiting(&stored.client.id)) {
            Some(victim) => self.remove_client(victim).map(|()| true),
            None => Ok(false),
        }
    }

    fn remove_client(&self, stored: &StoredClient) -> Result<(), StoreError> {
        if let Some(digest) = stored.digest {
            self.0.trees.client_digests.remove(digest)?;
        }
        if self.0.trees.clients.remove(stored.client.id.as_str())?.is_some() {
            self.0.clients.fetch_sub(1, Ordering::SeqCst);
        }
        Ok(())
    }

    fn write_client(&self, stored: &StoredClient) -> Result<(), StoreError> {
        let id = stored.client.id.as_str();
        if self.0.trees.clients.insert(id, encode(stored)?)?.is_none() {
            self.0.clients.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }

    fn stored_client(&self, id: &ClientId) -> Result<Option<StoredClient>, StoreError> {
        self.stored_client_by_key(id.as_str().as_bytes())
    }

    fn stored_client_by_key(&self, key: &[u8]) -> Result<Option<StoredClient>, StoreError> {
        self.0.trees.clients.get(key)?.map(|bytes| decode(&bytes)).transpose()
    }
}
