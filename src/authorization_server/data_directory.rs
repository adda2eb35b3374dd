//! The data directory: taken by one process, readable by one user.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::store::OpenError;

const LOCK: &str = "lock";
/// Says that the directory was completely set up once.
const MARKER: &str = "initialized";

/// Says that a restore has begun and not ended.
const RESTORING: &str = "restoring";

/// A data directory that this process has to itself for as long as the value lives.
#[derive(Debug)]
pub(crate) struct DataDirectory {
    path: PathBuf,
    _lock: File,
}

impl DataDirectory {
    /// Takes the directory, and makes it if need be.
    ///
    /// # Errors
    ///
    /// [`OpenError::InUse`] if another process has it, [`OpenError::NoDirectory`],
    /// [`OpenError::Io`].
    #[expect(clippy::disallowed_methods, reason = "a lock file of our own, not a page")]
    pub(crate) fn claim(path: &Path) -> Result<Self, OpenError> {
        let unusable = |reason| OpenError::NoDirectory { path: path.to_owned(), reason };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(unusable)?;
        let lock_path = path.join(LOCK);
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&lock_path)
            .map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => Err(OpenError::Io { path: lock_path, source }),
        }
    }

    /// Whether that directory was completely set up before, whoever has it now.
    pub(crate) fn is_initialized_at(path: &Path) -> bool {
        path.join(MARKER).exists()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the directory was completely set up before: what is missing from it
    /// now has been lost.
    pub(crate) fn is_initialized(&self) -> Result<bool, OpenError> {
        let marker = self.path.join(MARKER);
        marker.try_exists().map_err(at(&marker))
    }

    /// Notes that everything is there. Comes last: a crash before it only means that
    /// the set-up goes on at the next start.
    pub(crate) fn mark_initialized(&self) -> Result<(), OpenError> {
        if self.is_initialized()? { Ok(()) } else { self.write(MARKER, b"") }
    }

    /// Whether a restore was begun and has not come to its end.
    pub(crate) fn is_restoring(&self) -> Result<bool, OpenError> {
        let mark = self.path.join(RESTORING);
        mark.try_exists().map_err(at(&mark))
    }

    /// Notes that what is in here is not whole until [`Self::end_restore`].
    pub(crate) fn begin_restore(&self) -> Result<(), OpenError> {
        self.write(RESTORING, b"")
    }

    /// Notes that everything is whole again.
    pub(crate) fn end_restore(&self) -> Result<(), OpenError> {
        let mark = self.path.join(RESTORING);
        fs::remove_file(&mark).map_err(at(&mark))?;
        self.sync().map_err(at(&mark))
    }

    /// Writes a file that only this user can read, and returns when it is on the
    /// disk under its name.
    #[expect(clippy::disallowed_methods, reason = "a file of our own, not a page")]
    pub(crate) fn write(&self, name: &str, contents: &[u8]) -> Result<(), OpenError> {
        let path = self.path.join(name);
        // Under another name first: a crash must not leave half a file under this one.
        let unfinished = self.path.join(format!("{name}.unfinished"));
        let write = || -> io::Result<()> {
            // Whatever an earlier crash left there may have another mode.
            match fs::remove_file(&unfinished) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file =
                File::options().create_new(true).write(true).mode(0o600).open(&unfinished)?;
            file.write_all(contents)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)?;
            self.sync()
        };
        write().map_err(at(&path))
    }

    /// Makes a directory in here that only its owner can enter. The data directory
    /// itself may have been there before, and open to all.
    pub(crate) fn make_private(&self, name: &str) -> Result<(), OpenError> {
        const MODE: u32 = 0o700;
        let path = self.path.join(name);
        let make = || -> io::Result<()> {
            fs::DirBuilder::new().recursive(true).mode(MODE).create(&path)?;
            if fs::metadata(&path)?.permissions().mode() & 0o777 != MODE {
                fs::set_permissions(&path, fs::Permissions::from_mode(MODE))?;
            }
            Ok(())
        };
        make().map_err(at(&path))
    }

    /// Reads a file; `None` if it is not there and never was.
    ///
    /// # Errors
    ///
    /// [`OpenError::SecretLost`] if it is gone.
    #[expect(clippy::disallowed_methods, reason = "a file of our own, not a page")]
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, OpenError> {
        let path = self.path.join(name);
        match fs::read(&path) {
            Ok(contents) => Ok(Some(contents)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if self.is_initialized()? {
                    Err(OpenError::SecretLost(path))
                } else {
                    Ok(None)
                }
            }
            Err(error) => Err(at(&path)(error)),
        }
    }

    /// Makes the names in the directory durable.
    #[expect(clippy::disallowed_methods, reason = "a directory of our own, opened to sync it")]
    fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

/// Names the path that an error is about.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> OpenError {
    let path = path.to_owned();
    move |source| OpenError::Io { path, source }
}
