//! The index of one snapshot, and what goes with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::access::class::PageClass;
use crate::access::path::VaultPath;
use crate::search::index::{Index, PartitionId, PartitionSet};
use crate::vault::answers::SkipReason;
use crate::vault::catalog::note::Note;
use crate::vault::snapshot::Snapshot;

/// The index of one snapshot.
#[derive(Clone)]
pub(in crate::vault) struct Shelf {
    pub(super) of: Arc<Snapshot>,
    pub(super) index: Index<Arc<Note>>,
    /// The pages that are not in the index.
    pub(super) skipped: Arc<BTreeMap<VaultPath, SkipReason>>,
    pub(super) last_changes: BTreeMap<PartitionId, LastChange>,
    /// Whether something that is new waits for git to be done.
    pub(super) is_waiting: bool,
}

/// When something in a part of the index was last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::vault) struct LastChange {
    pub(in crate::vault) at: Timestamp,
    /// From the disk's stamp on the file until then; `None` if there is no file any more.
    pub(in crate::vault) lag_milliseconds: Option<u64>,
}

impl Shelf {
    pub(super) fn empty(of: Arc<Snapshot>) -> Self {
        Self {
            of,
            index: Index::default(),
            skipped: Arc::default(),
            last_changes: BTreeMap::new(),
            is_waiting: false,
        }
    }

    /// The snapshot that it agrees with.
    pub(in crate::vault) const fn of(&self) -> &Arc<Snapshot> {
        &self.of
    }

    pub(in crate::vault) const fn index(&self) -> &Index<Arc<Note>> {
        &self.index
    }

    pub(in crate::vault) fn skipped(&self) -> impl Iterator<Item = (&VaultPath, &SkipReason)> {
        self.skipped.iter()
    }

    /// Whether a page is ciphertext.
    pub(in crate::vault) fn is_locked(&self, path: &VaultPath) -> bool {
        self.skipped.get(path) == Some(&SkipReason::Locked)
    }

    /// The last change in some parts of the index.
    pub(in crate::vault) fn last_change(&self, visible: PartitionSet) -> Option<LastChange> {
        let changes = self.last_changes.iter().filter(|(part, _)| visible.has(**part));
        changes.map(|(_, change)| *change).max()
    }
}

/// The part of the index in which pages of a class lie; `None` if nothing of the class
/// is ever indexed.
pub(in crate::vault) fn partition(class: PageClass, in_inbox: bool) -> Option<PartitionId> {
    let number = match class {
        PageClass::Ordinary => 0,
        PageClass::Confidential => 1,
        PageClass::People => 2,
        PageClass::Secret => return None,
    };
    PartitionId::new(if in_inbox { number + 3 } else { number })
}
