//! What the authorization server remembers: sled, and nothing else knows of it.
//!
//! Everything here blocks, so the rest of the server comes in through two doors
//! that leave the async threads: [`Store::read`], and [`Store::change`], which
//! answers only when the change would survive a power cut.
//!
//! One file a kind of record adds methods to [`Store`]. The rules that all of them
//! keep, because sled 0.34 punishes whoever does not:
//!
//! - what belongs together is changed in one transaction, whose closure has no
//!   effects of its own, for it may run twice;
//! - a single use is decided by the result of that transaction;
//! - records stay small (about a kilobyte): large ones become files that are never
//!   collected;
//! - codes, tokens and secrets come in as digests.

pub(crate) mod approvals;
mod audit;
pub(crate) mod backup;
pub(crate) mod choices;
pub(crate) mod clients;
pub(crate) mod codes;
mod durability;
pub(crate) mod grants;
mod opening;
mod outdated;
pub(crate) mod passkeys;
mod record;
pub(crate) mod sessions;
pub(crate) mod setup_links;
#[cfg(test)]
mod tests;
pub(crate) mod users;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::audit::Trail;
use self::durability::Durability;
use self::grants::LiveGrants;
use self::record::{decode, encode};
use super::data_directory::DataDirectory;

/// How many records are removed at once when what has expired is swept out. Whoever wants
/// to change something waits for so many at most.
const STEP: usize = 200;

/// A handle to the database. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Store(Arc<Inner>);

struct Inner {
    database: sled::Db,
    trees: Trees,
    live_grants: LiveGrants,
    /// How many there are: the database would have to look at each to know.
    clients: AtomicUsize,
    trail: Trail,
    changes: Mutex<()>,
    durability: Durability,
    // Dropped last, so that nobody else opens too early.
    _home: Arc<DataDirectory>,
}

/// One tree a kind of record.
struct Trees {
    clients: sled::Tree,
    client_digests: sled::Tree,
    codes: sled::Tree,
    grants: sled::Tree,
    users: sled::Tree,
    sessions: sled::Tree,
    choices: sled::Tree,
    approvals: sled::Tree,
    setup_links: sled::Tree,
    passkeys: sled::Tree,
}

/// The store could not do what it was asked to. Never the client's fault.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database itself.
    #[error("the database failed")]
    Database(#[from] sled::Error),
    /// The disk, when a change was to be made durable.
    #[error("the database file could not be synced")]
    Sync(#[source] io::Error),
    /// The disk failed earlier; what it holds since then is unknown.
    #[error("the disk failed before; restart the server once the cause is removed")]
    SyncFailedBefore,
    /// A record that this version cannot read.
    #[error("a stored record is unreadable")]
    Record(#[source] serde_json::Error),
    /// A record of a format that this version does not know.
    #[error("a stored record has format {0}, which this version does not know")]
    Format(u32),
    /// The work was cut short, because the process is ending or the work panicked.
    #[error("the work was interrupted")]
    Interrupted,
}

/// Why the data directory could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Creating, reading or writing below the data directory.
    #[error("cannot use {path}")]
    Io {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The data directory cannot be made, or nothing can be written to it.
    #[error(
        "the data directory {path} cannot be used: {reason}; let this user write there, or choose \
         another with --data-dir DIR"
    )]
    NoDirectory {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// sled opens in one process only.
    #[error(
        "the data directory {0} is in use by another brain-mcp; stop that one, or give this one \
         another with --data-dir DIR"
    )]
    InUse(PathBuf),
    /// A restore was begun and not ended.
    #[error(
        "a restore of {0} did not come to its end; run `brain-mcp restore FILE --replace` again"
    )]
    RestoreUnfinished(PathBuf),
    /// The marker file says that there was a database; what opened is empty.
    #[error(
        "the database in {0} has lost its contents; restore a backup, or remove the whole data \
         directory to start anew"
    )]
    Emptied(PathBuf),
    /// The secret files are missing while the database is there.
    #[error("{0} is missing although the data directory has been used; restore it from a backup")]
    SecretLost(PathBuf),
    /// A secret file that does not hold what it should.
    #[error("{0} is damaged; restore it from a backup")]
    SecretDamaged(PathBuf),
    /// The embedded server's endpoints are at the root of the issuer.
    #[error("the issuer {0} must be a bare origin, without a path or a slash at the end")]
    IssuerNotAnOrigin(String),
    /// Nothing could be fetched over https.
    #[error("the certificates of this system cannot be read")]
    Certificates(#[from] reqwest::Error),
    /// Reading what is there.
    #[error("the database cannot be read")]
    Store(#[from] StoreError),
}

impl Store {
    /// Begins a change that has to look before it writes: while the guard lives,
    /// nobody else changes anything that is kept in memory too.
    fn begin(&self) -> MutexGuard<'_, ()> {
        self.0.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the store without changing anything.
    ///
    /// # Errors
    ///
    /// Whatever `question` says, or [`StoreError::Interrupted`].
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        tokio::task::spawn_blocking(move || question(&store))
            .await
            .map_err(|_| StoreError::Interrupted)?
    }

    /// Changes the store and waits until the change is on the disk: nothing that a
    /// client learns of may be lost, and nothing that it used up may come back.
    ///
    /// # Errors
    ///
    /// Whatever `work` says, or that the disk could not be reached. The change may
    /// then have happened or not, and the client must not be told that it did.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read(move |store| {
            let outcome = work(store)?;
            store.0.durability.wait()?;
            Ok(outcome)
        })
        .await
    }
}
