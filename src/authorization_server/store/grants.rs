//! Grants at rest, and in memory for the question that every request asks.

use std::collections::{HashMap, HashSet};
use std::sync::{MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use super::{STEP, Store, StoreError, decode, encode};
use crate::authorization_server::client::ClientId;
use crate::authorization_server::family::RefreshPolicy;
use crate::authorization_server::grant::{EndReason, Grant, GrantId, Terms};
use crate::clock::UnixTime;

/// All grants, written through to the disk: whoever changes one has begun a change
/// with [`Store::begin`], writes the record, then replaces it here.
pub(super) struct LiveGrants(RwLock<HashMap<GrantId, Grant>>);

impl LiveGrants {
    pub(super) fn load(tree: &sled::Tree) -> Result<Self, StoreError> {
        let mut by_id = HashMap::new();
        for bytes in tree.iter().values() {
            let grant: Grant = decode(&bytes?)?;
            by_id.insert(grant.id, grant);
        }
        Ok(Self(RwLock::new(by_id)))
    }

    pub(super) fn replace(&self, mut grant: Grant) {
        let mut by_id = self.write();
        // An access token may have been seen between the look and the change.
        if let Some(known) = by_id.get(&grant.id)
            && known.family.generation == grant.family.generation
        {
            grant.family.is_seen |= known.family.is_seen;
        }
        by_id.insert(grant.id, grant);
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<GrantId, Grant>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<GrantId, Grant>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Looks at a grant in memory, without copying it.
    pub(crate) fn look_at_grant<T>(
        &self,
        id: GrantId,
        look: impl FnOnce(&Grant) -> T,
    ) -> Option<T> {
        let by_id = self.0.live_grants.read();
        by_id.get(&id).map(look)
    }

    /// The grant of that name. Answers from memory.
    pub(crate) fn grant(&self, id: GrantId) -> Option<Grant> {
        self.look_at_grant(id, Grant::clone)
    }

    /// The grants that `is_meant` picks, in no order. Answers from memory.
    pub(crate) fn grants_where(&self, is_meant: impl Fn(&Grant) -> bool) -> Vec<Grant> {
        let by_id = self.0.live_grants.read();
        by_id.values().filter(|grant| is_meant(grant)).cloned().collect()
    }

    /// How many grants `is_meant` picks. Answers from memory.
    pub(crate) fn count_grants(&self, is_meant: impl Fn(&Grant) -> bool) -> usize {
        self.0.live_grants.read().values().filter(|grant| is_meant(grant)).count()
    }

    /// Those of the clients that have a grant which is remembered, alive or over.
    pub(super) fn with_grants<'a>(&self, clients: &'a [ClientId]) -> HashSet<&'a ClientId> {
        let mut without: HashSet<&ClientId> = clients.iter().collect();
        let by_id = self.0.live_grants.read();
        for grant in by_id.values() {
            without.remove(&grant.terms.client);
        }
        clients.iter().filter(|client| !without.contains(client)).collect()
    }

    /// Lets `decide` look at a grant and change it. Nobody else changes a grant
    /// between the look and the write, and the write is one record.
    pub(crate) fn change_grant<T>(
        &self,
        id: GrantId,
        decide: impl FnOnce(&mut Grant) -> T,
    ) -> Result<Option<T>, StoreError> {
        let order = self.begin();
        self.change_grant_in(&order, id, decide)
    }

    /// The same for whoever has begun a change already.
    pub(super) fn change_grant_in<T>(
        &self,
        _order: &MutexGuard<'_, ()>,
        id: GrantId,
        decide: impl FnOnce(&mut Grant) -> T,
    ) -> Result<Option<T>, StoreError> {
        let Some(before) = self.grant(id) else { return Ok(None) };
        let mut after = before.clone();
        let outcome = decide(&mut after);
        if after != before {
            self.0.trees.grants.insert(id.as_bytes(), encode(&after)?)?;
            self.0.live_grants.replace(after);
        }
        Ok(Some(outcome))
    }

    /// Ends all access whose terms `is_meant` picks: living grants, and codes that could
    /// still become grants (checklist #64). Answers how many grants those were.
    pub(crate) fn end_access_where(
        &self,
        is_meant: impl Fn(&Terms) -> bool,
        now: UnixTime,
        reason: EndReason,
    ) -> Result<usize, StoreError> {
        let order = self.begin();
        self.end_access_in(&order, is_meant, now, reason)
    }

    /// The same for whoever has begun a change already.
    pub(super) fn end_access_in(
        &self,
        order: &MutexGuard<'_, ()>,
        is_meant: impl Fn(&Terms) -> bool,
        now: UnixTime,
        reason: EndReason,
    ) -> Result<usize, StoreError> {
        self.withdraw_codes_in(order, &is_meant)?;
        let by_id = self.0.live_grants.read();
        let is_over = |grant: &Grant| grant.ended.is_some();
        let meant: Vec<GrantId> = by_id
            .values()
            .filter(|grant| !is_over(grant) && is_meant(&grant.terms))
            .map(|grant| grant.id)
            .collect();
        drop(by_id);
        for id in &meant {
            self.change_grant_in(order, *id, |grant| grant.end(now, reason))?;
        }
        Ok(meant.len())
    }

    /// Notes in memory that an access token of this generation has arrived.
    /// Answers whether that is news, to be kept with [`Self::keep_seen`].
    pub(crate) fn note_seen(&self, id: GrantId, generation: u64) -> bool {
        let mut by_id = self.0.live_grants.write();
        match by_id.get_mut(&id) {
            Some(grant) if grant.family.generation == generation && !grant.family.is_seen => {
                grant.family.is_seen = true;
                true
            }
            _ => false,
        }
    }

    /// Writes what [`Self::note_seen`] noted. Without waiting for the disk: should
    /// it be lost in a crash, a late retry is answered that might have been refused.
    pub(crate) fn keep_seen(&self, id: GrantId) -> Result<(), StoreError> {
        let _order = self.begin();
        if let Some(grant) = self.grant(id) {
            self.0.trees.grants.insert(id.as_bytes(), encode(&grant)?)?;
        }
        Ok(())
    }

    /// Forgets grants that have been over for as long as `memory`.
    pub(crate) fn forget_grants(
        &self,
        policy: RefreshPolicy,
        now: UnixTime,
        memory: Duration,
    ) -> Result<(), StoreError> {
        // What is over stays over, so nothing can change between the look and the removal.
        let is_forgotten = |grant: &Grant| grant.is_over_since(policy) + memory <= now;
        let by_id = self.0.live_grants.read();
        let forgotten: Vec<GrantId> =
            by_id.values().filter(|grant| is_forgotten(grant)).map(|grant| grant.id).collect();
        drop(by_id);
        for ids in forgotten.chunks(STEP) {
            let _order = self.begin();
            for id in ids {
                self.0.trees.grants.remove(id.as_bytes())?;
            }
            // Apart from the above: requests wait while the memory is locked, and must
            // not wait for the disk.
            let mut by_id = self.0.live_grants.write();
            for id in ids {
                by_id.remove(id);
            }
        }
        Ok(())
    }
}
