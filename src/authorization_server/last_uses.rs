//! When apps came last.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::grant::{Grant, GrantId};
use crate::clock::UnixTime;

/// When each grant was last used, since the start; a use is no reason to write.
#[derive(Debug, Default)]
pub(super) struct LastUses(Mutex<HashMap<GrantId, UnixTime>>);

impl LastUses {
    pub(super) fn note(&self, id: GrantId, now: UnixTime) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, now);
    }

    /// Forgets the grants that are no longer known.
    pub(super) fn forget_unless(&self, is_known: impl Fn(&GrantId) -> bool) {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uses.retain(|id, _| is_known(id));
    }

    /// The last use; at least as late as the last renewal of the tokens.
    pub(super) fn of(&self, grant: &Grant) -> UnixTime {
        let uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = uses.get(&grant.id).copied();
        noted.map_or(grant.family.renewed_at(), |noted| noted.max(grant.family.renewed_at()))
    }
}
