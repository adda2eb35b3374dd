//! Opens the database, and refuses to go on with one that has lost its contents.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;

use super::durability::Durability;
use super::grants::LiveGrants;
use super::{Inner, OpenError, Store, StoreError, Trees};

/// Where sled lives below the data directory.
const DATABASE: &str = "database";
/// Outside the database on purpose: see [`confirm_contents`].
const MARKER: &str = "database.initialized";
const LOCK: &str = "lock";
/// A record that every database of ours has.
const SENTINEL: &[u8] = b"sentinel";
const CACHE_BYTES: u64 = 32 * 1024 * 1024;

impl Store {
    /// Opens the store below `data_directory`, which is created if need be.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub(crate) fn open(data_directory: &Path) -> Result<Self, OpenError> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(data_directory)
            .map_err(at(data_directory))?;
        let lock = lock(data_directory)?;
        let directory = data_directory.join(DATABASE);
        remove_unfinished_snapshots(&directory)?;
        let database = sled::Config::new()
            .path(&directory)
            .cache_capacity(CACHE_BYTES)
            .open()
            .map_err(StoreError::from)?;
        let log = directory.join("db");
        let file = File::options().read(true).write(true).open(&log).map_err(at(&log))?;
        let durability = Durability::new(database.clone(), file);
        confirm_contents(data_directory, &database, &durability)?;
        let tree = |name: &str| database.open_tree(name).map_err(StoreError::from);
        let trees = Trees {
            clients: tree("clients")?,
            client_digests: tree("client_digests")?,
            codes: tree("codes")?,
            grants: tree("grants")?,
            users: tree("users")?,
            sessions: tree("sessions")?,
            choices: tree("choices")?,
        };
        let live_grants = LiveGrants::load(&trees.grants)?;
        Ok(Self(Arc::new(Inner { trees, live_grants, durability, _lock: lock })))
    }
}

/// Takes the data directory for this process. A lock of ours and not only sled's,
/// because files are removed before sled opens.
fn lock(data_directory: &Path) -> Result<File, OpenError> {
    let path = data_directory.join(LOCK);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(at(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(data_directory.to_owned())),
        Err(TryLockError::Error(source)) => Err(OpenError::Io { path, source }),
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

/// sled can open a damaged database as an empty one without any error. An empty one
/// would accept used codes and revoked tokens no more than a fresh one, but it would
/// also have forgotten the owner, and the next visitor could set a password. So a
/// record inside and a marker outside must agree.
fn confirm_contents(
    data_directory: &Path,
    database: &sled::Db,
    durability: &Durability,
) -> Result<(), OpenError> {
    let marker = data_directory.join(MARKER);
    let is_marked = marker.try_exists().map_err(at(&marker))?;
    let has_sentinel = database.contains_key(SENTINEL).map_err(StoreError::from)?;
    if is_marked && !has_sentinel {
        return Err(OpenError::Emptied(data_directory.to_owned()));
    }
    if !has_sentinel {
        database.insert(SENTINEL, b"brain-mcp").map_err(StoreError::from)?;
        durability.wait()?;
    }
    if !is_marked {
        // Only after the sentinel is on the disk: the other order would turn a crash
        // in between into a refusal to start.
        write_private_file(&marker, b"")?;
    }
    Ok(())
}

/// Writes a file that only this user can read, and returns when it is on the disk
/// under its name. The name must be free.
pub(crate) fn write_private_file(path: &Path, contents: &[u8]) -> Result<(), OpenError> {
    // Under another name first: a crash must not leave half a file under this one.
    let unfinished = path.with_extension("unfinished");
    let write = || -> io::Result<()> {
        let mut file = File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&unfinished)?;
        file.write_all(contents)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)?;
        sync_directory(path)
    };
    write().map_err(at(path))
}

#[expect(clippy::disallowed_methods, reason = "a directory of our own, opened to sync it")]
fn sync_directory(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())
}

pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> OpenError {
    let path = path.to_owned();
    move |source| OpenError::Io { path, source }
}
