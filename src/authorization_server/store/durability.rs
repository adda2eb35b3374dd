//! Makes changes survive a power cut.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::StoreError;

/// Brings what was written onto the disk.
///
/// sled's own `flush` hands the log to the kernel without an `fsync`, which
/// survives a killed process but not a lost power supply; so the file that holds the
/// log is synced through a handle of ours. Whoever waits meanwhile is served by the
/// next sync together: under load, many requests share one.
pub(super) struct Durability {
    database: sled::Db,
    file: File,
    requested: AtomicU64,
    // The highest request that the disk has; locked while a sync runs.
    synced: Mutex<u64>,
}

impl Durability {
    pub(super) fn new(database: sled::Db, file: File) -> Self {
        Self { database, file, requested: AtomicU64::new(0), synced: Mutex::new(0) }
    }

    /// Returns when everything that this thread has written is on the disk.
    pub(super) fn wait(&self) -> Result<(), StoreError> {
        // Drawn after the writes: a sync that starts later covers them.
        let ticket = self.requested.fetch_add(1, Ordering::SeqCst) + 1;
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if *synced >= ticket {
            return Ok(());
        }
        let covered = self.requested.load(Ordering::SeqCst);
        self.database.flush()?;
        self.file.sync_data().map_err(StoreError::Sync)?;
        *synced = covered;
        Ok(())
    }
}
