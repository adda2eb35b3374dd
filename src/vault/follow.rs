//! Follows the disk in the background, so that requests seldom find work to do.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tracing::{info, warn};

use crate::access::path::VaultPath;
use crate::vault::answers::Watching;
use crate::vault::catalog::Suspects;
use crate::vault::dates::CommitDates;
use crate::vault::survey::Stability;
use crate::vault::watch::{Batch, Watcher};
use crate::vault::{Parts, Unavailable, Vault};

/// While git is at work in the vault, it is looked at again after this.
const MOTION_PAUSE: Duration = Duration::from_millis(100);

/// How often at most, for a lock that git has left behind stays for ever: for longer
/// than the index waits for git.
const MOTION_LOOKS: usize = 120;

/// A class that waits is looked at no more often than this, whatever the clock does.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

impl Vault {
    /// Builds the index and follows the disk from now on, on threads that end with the
    /// last handle. Without this every question looks at every file first.
    pub fn follow(&self) {
        let vault = Arc::downgrade(&self.0);
        let started = Watcher::start(self.0.root.path(), move |batch| take_in(&vault, &batch));
        match started {
            Ok(watcher) => {
                let _ = self.0.watcher.set(watcher);
                // The first batch may have come before.
                self.0.watch_folders();
            }
            Err(error) => warn!(%error, "the vault cannot be watched"),
        }
    }

    /// Builds the index now. `progress` is told how many pages of how many have been
    /// read.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn build_index(&self, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<(), Unavailable> {
        let snapshot = self.0.keeper.snapshot().ok_or(Unavailable)?;
        self.0.catalog.shelf(&self.0.keeper, &snapshot, Suspects::None, progress);
        Ok(())
    }

    /// Takes a page into the index that we have written: whoever listens for changes
    /// is told, even where the disk tells nothing.
    pub(super) fn take_in(&self, path: &VaultPath) {
        // The keeper has said why. The next question takes it in.
        let Some(snapshot) = self.0.keeper.snapshot() else { return };
        self.0.catalog.shelf(
            &self.0.keeper,
            &snapshot,
            Suspects::Paths(&HashSet::from([path.clone()])),
            &|_, _| (),
        );
    }

    /// Whether changes on the disk are noticed without looking.
    pub(super) fn is_followed(&self) -> bool {
        self.0.watcher.get().is_some()
    }

    /// How changes on the disk are noticed; `None` if nobody waits for them.
    pub(super) fn watching(&self) -> Option<Watching> {
        self.0.watcher.get().map(Watcher::state)
    }
}

/// Brings the index in step with the disk.
fn take_in(vault: &Weak<Parts>, batch: &Batch) {
    for _ in 0..MOTION_LOOKS {
        let Some(parts) = vault.upgrade() else { return };
        if parts.take_in(batch) == Stability::Settled {
            return;
        }
        drop(parts);
        // Git does not tell when it is done, and nobody watches its folder.
        thread::sleep(MOTION_PAUSE);
    }
}

impl Parts {
    fn take_in(&self, batch: &Batch) -> Stability {
        // The keeper has said why.
        let Some(snapshot) = self.keeper.snapshot() else { return Stability::Settled };
        let paths = pages_of(batch);
        let suspects = paths.as_ref().map_or(Suspects::All, Suspects::Paths);
        self.catalog.shelf(&self.keeper, &snapshot, suspects, &|_, _| ());
        self.catalog.compact();
        self.watch_folders();
        self.refresh_dates();
        snapshot.stability
    }

    /// Tells the watcher which folders there are, and when a class may be lowered that
    /// waits for it: nothing happens on the disk then.
    fn watch_folders(&self) {
        if let (Some(watcher), Some(snapshot)) = (self.watcher.get(), self.keeper.snapshot()) {
            watcher.keep(snapshot.folders.iter().cloned());
            // Both are whole seconds of one clock, so the time left is never too short.
            let due = snapshot.look_again.map(|due| due.since(self.clock.now()));
            watcher.look_at(due.map(|left| Instant::now() + left.max(SHORTEST_WAIT)));
        }
    }

    /// Reads what git knows of the pages' dates. Takes a while the first time.
    fn refresh_dates(&self) {
        let known = self.dates.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let read = match known {
            None => CommitDates::read(self.root.path()),
            Some(known) => {
                let mut dates = CommitDates::clone(&known);
                dates.refresh().map(|has_changed| has_changed.then_some(dates))
            }
        };
        match read {
            Ok(Some(dates)) => {
                let dates = Some(Arc::new(dates));
                *self.dates.lock().unwrap_or_else(PoisonError::into_inner) = dates;
            }
            Ok(None) => {}
            Err(error) => info!(%error, "git does not tell when notes were committed"),
        }
    }
}

/// The pages that a batch is about; `None` if it may be about any. A folder is named
/// when it has only now come to be watched: what is in it may have changed before.
fn pages_of(batch: &Batch) -> Option<HashSet<VaultPath>> {
    let Batch::Paths(names) = batch else { return None };
    let pages = names.iter().filter(|name| VaultPath::is_page_name(name));
    let pages: HashSet<VaultPath> = pages.filter_map(|name| name.parse().ok()).collect();
    (pages.len() == names.len()).then_some(pages)
}
