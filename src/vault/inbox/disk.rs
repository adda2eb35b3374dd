//! The only code of the product that writes into a vault.
//!
//! A note is written under a hidden name beside its place, made durable, and then
//! given its name in one step. Whenever the program dies, there is the whole old note,
//! the whole new one, or none.

use std::fs::{File, Permissions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{PermissionsExt as _, fchown};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cap_std::fs::{Dir, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{Mode, OFlags, RenameFlags, openat, renameat_with};
use rustix::io::Errno;

use crate::access::path::VaultPath;
use crate::access::permit::WritePermit;

/// How our temporary names begin and end. They are hidden, end as every tool knows
/// what is to be ignored, and have one length whatever the note is called (L45, L55).
const TEMPORARY_START: &str = ".brain-mcp-";
const TEMPORARY_END: &str = ".tmp";

/// How long to wait for another server that writes into the same vault.
const PATIENCE: Duration = Duration::from_secs(5);

/// The mode of a new note, before the user's mask: as every other program has it.
const NEW_FILE: u32 = 0o666;

/// Keeps other servers from writing into the vault, until it goes.
#[derive(Debug)]
pub(super) struct Turn {
    /// The lock goes with it.
    _vault: File,
    is_exclusive: Exclusive,
}

/// Whether the file system has locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exclusive {
    Yes,
    Unknown,
}

impl Turn {
    /// Waits for a turn. `None` if somebody else has not ended theirs in time.
    pub(super) fn take(root: &Dir) -> io::Result<Option<Self>> {
        // Opened anew: the lock belongs to what was opened, and goes when that does.
        let vault = open_to_read(root)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let is_exclusive = match vault.try_lock() {
                Ok(()) => Exclusive::Yes,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(5));
                    continue;
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                // Such as a network drive. No note is overwritten there either.
                Err(TryLockError::Error(_)) => Exclusive::Unknown,
            };
            return Ok(Some(Self { _vault: vault, is_exclusive }));
        }
    }

    /// Removes what a server has left in a folder that was killed while it wrote.
    pub(super) fn tidy(&self, folder: &Dir) -> io::Result<()> {
        if self.is_exclusive == Exclusive::Unknown {
            return Ok(());
        }
        for entry in folder.entries()? {
            let name = entry?.file_name();
            if name.to_str().is_some_and(is_temporary) {
                folder.remove_file(name)?;
            }
        }
        Ok(())
    }
}

/// A note that has all its text and no name yet.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    folder: &'a Dir,
    temporary: String,
}

/// What became of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Published {
    Done,
    /// There is something of that name.
    Taken,
}

impl<'a> Draft<'a> {
    /// Writes a new note, as far as its name.
    pub(super) fn new(folder: &'a Dir, text: &str) -> io::Result<Self> {
        let (draft, file) = Self::open(folder, NEW_FILE)?;
        draft.fill(file, text)
    }

    /// Writes what is to take the place of a note, with its owner and permissions.
    ///
    /// # Errors
    ///
    /// Also if the new file could not be what the old one is: it belongs to somebody
    /// else, or has another name that would go on meaning the old text.
    pub(super) fn in_place_of(folder: &'a Dir, name: &str, text: &str) -> io::Result<Self> {
        let old = folder.symlink_metadata(name)?;
        if old.nlink() != 1 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        // Closed to everybody else until it has the permissions of the note.
        let (draft, file) = Self::open(folder, 0o600)?;
        let new = file.metadata()?;
        let (uid, gid) = {
            use std::os::unix::fs::MetadataExt as _;
            (new.uid(), new.gid())
        };
        if (uid, gid) != (old.uid(), old.gid()) {
            fchown(&file, Some(old.uid()), Some(old.gid()))?;
        }
        file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
        draft.fill(file, text)
    }

    #[expect(clippy::disallowed_methods, reason = "a new file, not a page")]
    fn open(folder: &'a Dir, mode: u32) -> io::Result<(Self, File)> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        loop {
            let temporary = temporary_name();
            match folder.open_with(&temporary, &options) {
                Ok(file) => return Ok((Self { folder, temporary }, file.into_std())),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn fill(self, mut file: File, text: &str) -> io::Result<Self> {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(self)
    }

    /// Gives a new note its name. Whatever has that name stays.
    pub(super) fn publish(self, permit: WritePermit) -> io::Result<Published> {
        let path = permit.into_path();
        let name = path.file_name();
        let published = match self.rename_to_free(name) {
            // Not every file system can; every other one has hard links.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.link_to(name),
            renamed => renamed.map_err(io::Error::from),
        };
        match published {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Ok(Published::Taken);
            }
            Err(error) => return Err(error),
        }
        let folder = self.folder;
        drop(self);
        sync_folder(folder)?;
        Ok(Published::Done)
    }

    /// Takes the place of the note that it was written for. `disk` is that note's name
    /// as the disk spells it.
    pub(super) fn replace(self, permit: WritePermit, disk: &str) -> io::Result<VaultPath> {
        self.folder.rename(&self.temporary, self.folder, disk)?;
        let folder = self.folder;
        drop(self);
        sync_folder(folder)?;
        Ok(permit.into_path())
    }

    fn rename_to_free(&self, name: &str) -> Result<(), Errno> {
        renameat_with(self.folder, &self.temporary, self.folder, name, RenameFlags::NOREPLACE)
    }

    /// The second name goes when the draft does.
    fn link_to(&self, name: &str) -> io::Result<()> {
        self.folder.hard_link(&self.temporary, self.folder, name)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // It is gone already if it was given a name.
        let _ = self.folder.remove_file(&self.temporary);
    }
}

/// Makes the names in a folder durable.
pub(super) fn sync_folder(folder: &Dir) -> io::Result<()> {
    match open_to_read(folder)?.sync_all() {
        // Some network drives keep folders elsewhere, and say so like this.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// Opens a folder anew. The handle that paths are resolved by is good for nothing else
/// (`O_PATH`).
fn open_to_read(folder: &Dir) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(File::from(openat(folder, ".", flags, Mode::empty())?))
}

/// A name that no running program of ours has given yet.
fn temporary_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed) & 0xffff_ffff;
    format!("{TEMPORARY_START}{:08x}{number:08x}{TEMPORARY_END}", process::id())
}

fn is_temporary(name: &str) -> bool {
    let inner = name.strip_prefix(TEMPORARY_START).and_then(|it| it.strip_suffix(TEMPORARY_END));
    inner.is_some_and(|it| it.len() == 16 && it.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use std::io;

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::{Draft, is_temporary, temporary_name};

    /// A drive that cannot rename without replacing: the same comes of a second name.
    #[test]
    fn where_there_is_no_such_rename_a_link_does_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("a folder");
        let read = |name| {
            #[expect(clippy::disallowed_methods, reason = "the test looks at what was written")]
            dir.read_to_string(name)
        };
        let draft = Draft::new(&dir, "first").expect("a draft");
        draft.link_to("a.md").expect("a note");
        drop(draft);
        let draft = Draft::new(&dir, "second").expect("a draft");
        let taken = draft.link_to("a.md").expect_err("it is taken");
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        drop(draft);
        assert_eq!(read("a.md").expect("a note"), "first");
        assert_eq!(dir.entries().expect("names").count(), 1);
    }

    /// L45, L55: temporary names have one length, and every tool ignores them.
    #[test]
    fn temporary_names_are_ours_and_short() {
        let names = [temporary_name(), temporary_name()];
        assert_ne!(names[0], names[1]);
        for name in &names {
            assert!(is_temporary(name) && name.starts_with('.') && name.len() == 31, "{name}");
        }
        for name in [".brain-mcp-.tmp", ".brain-mcp-0123456789abcdeg.tmp", "x.tmp"] {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
