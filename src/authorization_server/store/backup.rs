//! Records on their way out of the database and into a new one.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::audit::{OWN, STRANGERS};
use super::durability::Durability;
use super::opening::{DATABASE, SENTINEL, open_database};
use super::outdated::refused_client;
use super::passkeys::StoredPasskey;
use super::users::User;
use super::{OpenError, Store, StoreError, approvals, clients, decode, encode};
use crate::authorization_server::audit::{Actor, Event, What};
use crate::authorization_server::data_directory::{DataDirectory, at};
use crate::authorization_server::grant::{EndReason, Grant};
use crate::clock::UnixTime;

/// What a backup keeps. Whoever adds a tree decides about it here or below.
pub(crate) const KEPT: [&str; 9] = [
    "users",
    "passkeys",
    "clients",
    "client_digests",
    "approvals",
    "grants",
    "choices",
    OWN,
    STRANGERS,
];

/// What lets somebody in, and must not come back: these trees are not kept.
#[cfg(test)]
pub(crate) const LEFT_OUT: [&str; 3] = ["codes", "sessions", "setup_links"];

/// Where the database goes that a restore replaces. What the one before has replaced stays
/// where it is: it may be the only one that was never restored.
const REPLACED: &str = "database.replaced";

/// One record of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) tree: &'static str,
    pub(crate) key: Vec<u8>,
    pub(crate) value: Vec<u8>,
}

/// Why a record of a file is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnfitRecord {
    /// This version cannot read it, or it is under a key that is not its own.
    Unreadable,
    /// It is from after the backup.
    Later,
}

/// Clocks are set back now and then.
const SLACK: Duration = Duration::from_secs(24 * 60 * 60);

impl Record {
    /// A record of a tree that is kept, if this version can read it and it can have been in
    /// a backup of that moment.
    pub(crate) fn checked(
        tree: &str,
        key: Vec<u8>,
        value: Vec<u8>,
        made_at: UnixTime,
    ) -> Result<Self, UnfitRecord> {
        let tree = KEPT.into_iter().find(|kept| *kept == tree).ok_or(UnfitRecord::Unreadable)?;
        let date = date_of(tree, &key, &value).ok_or(UnfitRecord::Unreadable)?;
        if date > made_at + SLACK {
            return Err(UnfitRecord::Later);
        }
        Ok(Self { tree, key, value })
    }

    /// The record as it comes back: a grant is over.
    fn restored(&self, now: UnixTime) -> Result<Vec<u8>, StoreError> {
        // One that the rules refuse is removed at the next start.
        if self.tree != "grants" || refused_client(self.tree, &self.value).is_some() {
            return Ok(self.value.clone());
        }
        let mut grant: Grant = decode(&self.value)?;
        grant.end(now, EndReason::Restored);
        encode(&grant)
    }
}

/// When a record was last changed, as far as it tells; nothing if it cannot be read, or not
/// be found again under this key.
fn date_of(tree: &str, key: &[u8], value: &[u8]) -> Option<UnixTime> {
    const UNDATED: UnixTime = UnixTime::from_seconds(0);
    let is_digest = key.len() == 32;
    match tree {
        "users" => {
            let user: User = decode(value).ok()?;
            (key == user.name.as_bytes()).then_some(user.created_at)
        }
        "passkeys" => {
            let passkey: StoredPasskey = decode(value).ok()?;
            (key == passkey.key().as_bytes()).then_some(passkey.added_at)
        }
        "clients" => {
            let refused = refused_client(tree, value).map(|client| (client, UNDATED));
            let (client, date) = refused.or_else(|| clients::name_and_date(value))?;
            (key == client.as_str().as_bytes()).then_some(date)
        }
        "approvals" => (is_digest && approvals::is_readable(value)).then_some(UNDATED),
        "client_digests" => (is_digest && std::str::from_utf8(value).is_ok()).then_some(UNDATED),
        // Only saves clicks: one that cannot be read counts as none.
        "choices" => is_digest.then_some(UNDATED),
        "grants" if refused_client(tree, value).is_some() => Some(UNDATED),
        "grants" => {
            let grant: Grant = decode(value).ok()?;
            (key == grant.id.as_bytes()).then_some(grant.created_at)
        }
        _ => {
            let event: Event = decode(value).ok()?;
            let number = u64::from_be_bytes(key.try_into().ok()?);
            // The next ones have to come behind it.
            (number <= u64::MAX / 2).then_some(event.at)
        }
    }
}

impl Store {
    /// All records that a backup keeps, as they are at one moment: nobody changes what is
    /// made of several while they are read.
    pub(crate) fn records(&self) -> Result<Vec<Record>, StoreError> {
        let _order = self.begin();
        let mut records = Vec::new();
        for tree in KEPT {
            for entry in &self.0.database.open_tree(tree)? {
                let (key, value) = entry?;
                records.push(Record { tree, key: key.to_vec(), value: value.to_vec() });
            }
        }
        Ok(records)
    }

    /// All trees that there are.
    #[cfg(test)]
    pub(crate) fn tree_names(&self) -> std::collections::BTreeSet<String> {
        let names = self.0.database.tree_names().into_iter();
        let names = names.map(|name| String::from_utf8(name.to_vec()).expect("a text"));
        // The one that sled always has; ours keeps the sentinel there.
        names.filter(|name| name != "__sled__default").collect()
    }

    /// Puts a database of these records, all grants ended, in the place of the one that is
    /// there, if any, and keeps that one beside it.
    ///
    /// # Errors
    ///
    /// [`OpenError`]
    #[expect(clippy::disallowed_methods, reason = "the database's own file, opened to sync it")]
    pub(crate) fn restore(
        home: &DataDirectory,
        records: &[Record],
        now: UnixTime,
        made_at: UnixTime,
    ) -> Result<(), OpenError> {
        let directory = home.path().join(DATABASE);
        if home.is_restoring()? {
            // The last try did not come to its end; what it replaced is safe already.
            remove(&directory)?;
        } else if directory.exists() {
            let replaced = unused(&home.path().join(REPLACED));
            fs::rename(&directory, &replaced).map_err(at(&directory))?;
        }
        home.begin_restore()?;
        home.make_private(DATABASE)?;
        let database = open_database(&directory)?;
        for record in records {
            let tree = database.open_tree(record.tree).map_err(StoreError::from)?;
            tree.insert(&*record.key, record.restored(now)?).map_err(StoreError::from)?;
        }
        let trail = database.open_tree(OWN).map_err(StoreError::from)?;
        let last = records.iter().filter(|it| [OWN, STRANGERS].contains(&it.tree));
        let last =
            last.filter_map(|it| Some(u64::from_be_bytes(it.key[..].try_into().ok()?))).max();
        let number = last.map_or(0, |last| last.saturating_add(1));
        let event = Event::new(now, Actor::Operator, What::Restored { made_at });
        trail.insert(number.to_be_bytes(), encode(&event)?).map_err(StoreError::from)?;
        database.insert(SENTINEL, b"brain-mcp").map_err(StoreError::from)?;
        let log = directory.join("db");
        let file = File::options().read(true).write(true).open(&log).map_err(at(&log))?;
        Durability::new(database, file).wait()?;
        Ok(())
    }
}

/// The path, with a number behind it if something is there.
fn unused(path: &Path) -> PathBuf {
    let numbered = |number: u32| PathBuf::from(format!("{}.{number}", path.display()));
    let mut names = std::iter::once(path.to_owned()).chain((2..=u32::MAX).map(numbered));
    names.find(|name| !name.exists()).unwrap_or_else(|| path.to_owned())
}

fn remove(directory: &Path) -> Result<(), OpenError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(at(directory)(error)),
        _ => Ok(()),
    }
}
