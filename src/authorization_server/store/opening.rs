//! Opens the database, and refuses to go on with one that has lost its contents.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::audit::{OWN, STRANGERS, Trail};
use super::durability::Durability;
use super::grants::LiveGrants;
use super::{Inner, OpenError, Store, StoreError, Trees, outdated};
use crate::authorization_server::data_directory::{DataDirectory, at};
use crate::authorization_server::figures::Happening;
use crate::clock::UnixTime;
use crate::metrics::Tally;

/// Where sled lives below the data directory.
pub(super) const DATABASE: &str = "database";
/// A record that every database of ours has.
pub(super) const SENTINEL: &[u8] = b"sentinel";
const CACHE_BYTES: u64 = 32 * 1024 * 1024;

impl Store {
    /// Opens the database in the data directory, which everything else that belongs
    /// there must be in already: this completes the set-up. What is written down as having
    /// happened is counted in `happened`.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    #[expect(clippy::disallowed_methods, reason = "the database's own file, opened to sync it")]
    pub(crate) fn open(
        home: Arc<DataDirectory>,
        happened: Arc<Tally<Happening>>,
        now: UnixTime,
    ) -> Result<Self, OpenError> {
        let directory = home.path().join(DATABASE);
        home.make_private(DATABASE)?;
        remove_unfinished_snapshots(&directory)?;
        let database = open_database(&directory)?;
        let log = directory.join("db");
        let file = File::options().read(true).write(true).open(&log).map_err(at(&log))?;
        let durability = Durability::new(database.clone(), file);
        confirm_contents(&home, &database, &durability)?;
        let tree = |name: &str| database.open_tree(name).map_err(StoreError::from);
        let trees = Trees {
            clients: tree("clients")?,
            client_digests: tree("client_digests")?,
            codes: tree("codes")?,
            grants: tree("grants")?,
            users: tree("users")?,
            sessions: tree("sessions")?,
            choices: tree("choices")?,
            approvals: tree("approvals")?,
            setup_links: tree("setup_links")?,
            passkeys: tree("passkeys")?,
        };
        let removed = outdated::remove(&trees)?;
        let live_grants = LiveGrants::load(&trees.grants)?;
        let trail = Trail::open(tree(OWN)?, tree(STRANGERS)?, happened)?;
        let clients = AtomicUsize::new(trees.clients.len());
        let store = Self(Arc::new(Inner {
            database,
            trees,
            live_grants,
            clients,
            trail,
            changes: Mutex::new(()),
            durability,
            _home: home,
        }));
        store.mourn(removed, now)?;
        Ok(store)
    }
}

/// Opens sled, whose lock can outlive a database that was just closed in this very
/// process: it finishes in the background. Another process it cannot be, for the
/// data directory is ours.
pub(super) fn open_database(directory: &Path) -> Result<sled::Db, StoreError> {
    let configuration = sled::Config::new().path(directory).cache_capacity(CACHE_BYTES);
    let give_up = Instant::now() + Duration::from_secs(2);
    loop {
        match configuration.open() {
            // What a lock that is not free looks like.
            Err(sled::Error::Io(error))
                if error.kind() == io::ErrorKind::Other && Instant::now() < give_up =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            opened => return Ok(opened?),
        }
    }
}

/// A kill at the wrong moment leaves `snap.N.generating` behind, and if it is cut
/// short every later start fails with a corruption error. Its predecessor `snap.N`
/// is still there and must never be touched.
fn remove_unfinished_snapshots(directory: &Path) -> Result<(), OpenError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(at(directory)(error)),
    };
    for entry in entries {
        let path = entry.map_err(at(directory))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            fs::remove_file(&path).map_err(at(&path))?;
        }
    }
    Ok(())
}

/// sled can open a damaged database as an empty one without any error. That one
/// would have forgotten the owner, and the next visitor could set a password. So a
/// record inside and a marker outside must agree.
fn confirm_contents(
    home: &DataDirectory,
    database: &sled::Db,
    durability: &Durability,
) -> Result<(), OpenError> {
    if !database.contains_key(SENTINEL).map_err(StoreError::from)? {
        if home.is_initialized()? {
            return Err(OpenError::Emptied(home.path().to_owned()));
        }
        database.insert(SENTINEL, b"brain-mcp").map_err(StoreError::from)?;
        durability.wait()?;
    }
    // Only after the sentinel is on the disk: the other order would turn a crash in
    // between into a refusal to start.
    home.mark_initialized()
}
