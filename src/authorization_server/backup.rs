//! Backups: all that is worth keeping, in one file, and how it comes back.
//!
//! A backup is old when it is needed: what was revoked since must not come back to life,
//! and tokens that have been replaced since must not be good again. So after a restore
//! nobody is let in by anything from before it: all grants are over (they stay listed),
//! the signing keys are new, and neither codes, sessions nor setup links are kept at all.
//! That is also why the master secret is not in the file: nothing that comes back depends
//! on it. It is another one after a restore, so that browsers which were known by a password
//! that has been changed since are not known again by the old one.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::administration::AdministrationError;
use super::audit::{Actor, What};
use super::data_directory::DataDirectory;
use super::secrets::MasterSecret;
use super::signing_key::SigningKeys;
use super::store::Store;
use super::store::backup::{Record, UnfitRecord};
use super::{AuthorizationServer, OpenError, Settings};
use crate::clock::{Clock, UnixTime};
use crate::contract::issuer::Issuer;
use crate::entropy::Entropy;

/// Raised when older versions could not read the file.
const VERSION: u32 = 1;

/// The end of the year 9999, beyond which no date can be shown.
const LATEST: UnixTime = UnixTime::from_seconds(253_402_207_200);

/// How far the clock of the machine that made a backup may have run ahead of ours.
const SKEW: Duration = Duration::from_secs(24 * 60 * 60);

/// The contents of a backup.
#[derive(Debug)]
pub struct Backup {
    made_at: UnixTime,
    issuer: Issuer,
    records: Vec<Record>,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    brain_mcp_backup: u32,
    made_at: UnixTime,
    issuer: String,
    records: usize,
}

/// A line for each record.
#[derive(Serialize, Deserialize)]
struct Line {
    tree: String,
    key: String,
    value: String,
}

/// The last line: SHA-256 of all bytes before it.
#[derive(Serialize, Deserialize)]
struct Foot {
    sha256: String,
}

/// Why a file is no backup that can be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBackup {
    /// It is something else.
    #[error("the file is no backup of brain-mcp")]
    Foreign,
    /// It was made by a newer version.
    #[error("the backup has version {0}, which this brain-mcp does not know; use a newer one")]
    Version(u32),
    /// Its checksum or its length is wrong.
    #[error("the backup is damaged or not whole")]
    Damaged,
    /// A record in it is none of ours.
    #[error("the backup holds a record that this brain-mcp cannot read")]
    Record,
    /// No clock says such a time, or something in it is from after it was made.
    #[error("the backup was not made at the time that stands in it")]
    Time,
}

/// Why nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// There is something already.
    #[error(
        "there is data in {0} already; --replace puts the backup in its place, and keeps the \
         old database beside it"
    )]
    Occupied(String),
    /// It was made later than now.
    #[error("the backup was made later than this computer's clock says that it is; set the clock")]
    FromTheFuture,
    /// A server runs, or the files cannot be written.
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl Backup {
    /// When it was made.
    #[must_use]
    pub const fn made_at(&self) -> UnixTime {
        self.made_at
    }

    /// The issuer that it was made at.
    #[must_use]
    pub const fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// Reads a file, whole and checked to its last record: nothing is begun with one that
    /// cannot be restored.
    ///
    /// # Errors
    ///
    /// [`InvalidBackup`]
    pub fn read(bytes: &[u8]) -> Result<Self, InvalidBackup> {
        let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let head: Head = serde_json::from_slice(first).map_err(|_| InvalidBackup::Foreign)?;
        if head.brain_mcp_backup != VERSION {
            return Err(InvalidBackup::Version(head.brain_mcp_backup));
        }
        if head.made_at > LATEST {
            return Err(InvalidBackup::Time);
        }
        let whole = bytes.strip_suffix(b"\n").ok_or(InvalidBackup::Damaged)?;
        let end = whole.iter().rposition(|byte| *byte == b'\n').ok_or(InvalidBackup::Damaged)?;
        let (body, last) = whole.split_at(end + 1);
        let foot: Foot = serde_json::from_slice(last).map_err(|_| InvalidBackup::Damaged)?;
        if foot.sha256 != checksum(body) {
            return Err(InvalidBackup::Damaged);
        }
        let lines = body.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty());
        let records: Vec<Record> = lines
            .map(|line| {
                let line: Line =
                    serde_json::from_slice(line).map_err(|_| InvalidBackup::Damaged)?;
                let decode =
                    |text| BASE64_STANDARD.decode(text).map_err(|_| InvalidBackup::Damaged);
                let (key, value) = (decode(line.key)?, decode(line.value)?);
                Record::checked(&line.tree, key, value, head.made_at).map_err(|unfit| match unfit {
                    UnfitRecord::Unreadable => InvalidBackup::Record,
                    UnfitRecord::Later => InvalidBackup::Time,
                })
            })
            .collect::<Result<_, _>>()?;
        if records.len() != head.records {
            return Err(InvalidBackup::Damaged);
        }
        let issuer = head.issuer.parse().map_err(|_| InvalidBackup::Foreign)?;
        Ok(Self { made_at: head.made_at, issuer, records })
    }

    fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = Vec::new();
        let mut line = |value: Vec<u8>| {
            bytes.extend_from_slice(&value);
            bytes.push(b'\n');
        };
        line(serde_json::to_vec(&Head {
            brain_mcp_backup: VERSION,
            made_at: self.made_at,
            issuer: self.issuer.to_string(),
            records: self.records.len(),
        })?);
        for record in &self.records {
            line(serde_json::to_vec(&Line {
                tree: record.tree.to_owned(),
                key: BASE64_STANDARD.encode(&record.key),
                value: BASE64_STANDARD.encode(&record.value),
            })?);
        }
        let foot = serde_json::to_vec(&Foot { sha256: checksum(&bytes) })?;
        bytes.extend_from_slice(&foot);
        bytes.push(b'\n');
        Ok(bytes)
    }
}

fn checksum(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(Sha256::digest(bytes))
}

impl AuthorizationServer {
    /// The bytes of a backup of this moment. Requests go on meanwhile; what belongs
    /// together is in it together or not at all.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn backup(&self) -> Result<Vec<u8>, AdministrationError> {
        let (made_at, issuer) = (self.clock().now(), self.settings().issuer.clone());
        self.note_now(Actor::Operator, What::BackupMade).await?;
        let written = self.store().read(move |store| {
            let records = store.records()?;
            Ok(Backup { made_at, issuer, records }.write())
        });
        written.await?.map_err(|error| AdministrationError::Failed(error.to_string()))
    }

    /// Makes the data directory what it was when the backup was made, but that all access
    /// has ended. Blocks.
    ///
    /// A crash in the middle leaves a directory that no server starts on until a restore
    /// has come to its end; what was there before is in `database.replaced`.
    ///
    /// # Errors
    ///
    /// [`RestoreError`]
    pub fn restore(
        settings: &Settings,
        backup: &Backup,
        replaces: bool,
        clock: &Clock,
        entropy: &Entropy,
    ) -> Result<(), RestoreError> {
        let now = clock.now();
        if backup.made_at > now + SKEW {
            return Err(RestoreError::FromTheFuture);
        }
        let home = DataDirectory::claim(&settings.data_dir)?;
        if home.is_initialized()? && !replaces {
            return Err(RestoreError::Occupied(settings.data_dir.display().to_string()));
        }
        Store::restore(&home, &backup.records, now, backup.made_at)?;
        let home = Arc::new(home);
        let master = MasterSecret::replace(&home, entropy)?;
        let policy = settings.key_policy();
        SigningKeys::replace(Arc::clone(&home), &master, entropy, now, policy)?;
        home.mark_initialized()?;
        home.end_restore()?;
        Ok(())
    }
}
