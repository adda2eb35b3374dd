//! What a snapshot rests on, in a form that is compared at every request.
//!
//! Rule files are compared byte for byte. Folders and git's index are compared by
//! what the file system stamps on them; such a stamp is coarse, so it is believed
//! only once it has grown old (git does the same with entries of its index).

use std::fs::{self, FileType, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{File, OpenOptions};
use jiff::Timestamp;

/// The largest rule file that git reads.
const LARGEST_RULE_FILE: u64 = 100 * 1024 * 1024;

/// Two changes closer together than this may get one stamp: kernels count in ticks
/// of up to 10 ms.
const TICK: Duration = Duration::from_millis(100);

/// The same for file systems that stamp in whole seconds, or in pairs of them.
const COARSE_TICK: Duration = Duration::from_millis(2100);

/// What the file system stamps on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) inode: Inode,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Which file it is, whatever its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Inode {
    pub(super) device: u64,
    pub(super) number: u64,
}

impl Identity {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            inode: Inode { device: metadata.dev(), number: metadata.ino() },
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// In bytes.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// When its content was changed, in seconds and nanoseconds. It can be set by hand.
    pub(super) const fn modified(&self) -> (i64, i64) {
        self.modified
    }

    /// When anything about it was changed. It cannot be set by hand.
    pub(super) const fn changed(&self) -> (i64, i64) {
        self.changed
    }

    /// When the content was last modified, as the file system has it.
    pub(super) fn modified_at(&self) -> Timestamp {
        as_timestamp(self.modified)
    }

    /// Whether a change after `moment` would have got another stamp than this one.
    /// The time of the last change cannot be set by hand, unlike that of the last
    /// modification.
    pub(super) fn is_settled_at(&self, moment: SystemTime) -> bool {
        let (stamped, tick) = self.stamp();
        moment.duration_since(UNIX_EPOCH).is_ok_and(|now| stamped + tick <= now)
    }

    /// When the file was changed, and how coarse the stamp is that says so.
    fn stamp(&self) -> (Duration, Duration) {
        let (seconds, nanoseconds) = self.changed;
        let tick = if nanoseconds == 0 { COARSE_TICK } else { TICK };
        let stamped = Duration::new(
            u64::try_from(seconds).unwrap_or(0),
            u32::try_from(nanoseconds).unwrap_or(0),
        );
        (stamped, tick)
    }

    /// How long it takes from `moment` until the file has not been touched for a
    /// while. A stamp from the future says nothing.
    fn rests_in(&self, moment: SystemTime) -> Option<Duration> {
        let (stamped, tick) = self.stamp();
        let age = moment.duration_since(UNIX_EPOCH).ok()?.checked_sub(stamped)?;
        tick.checked_sub(age).filter(|left| !left.is_zero())
    }
}

/// A file system may hold any number; times that no calendar has are none.
fn as_timestamp((seconds, nanoseconds): (i64, i64)) -> Timestamp {
    let nanoseconds = i32::try_from(nanoseconds).unwrap_or(0);
    Timestamp::new(seconds, nanoseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// The present moment, for comparison with stamps.
#[expect(
    clippy::disallowed_methods,
    reason = "file systems stamp with the real time, which no test moves"
)]
pub(super) fn stamping_time() -> SystemTime {
    SystemTime::now()
}

/// The same as a number that grows.
pub(super) fn since_epoch() -> Duration {
    stamping_time().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// How closely a path is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// A rule file in a folder above the vault: every byte. A link is not followed, as
    /// git has it.
    TreeFile,
    /// The same in a folder whose stamps are watched as well.
    InnerTreeFile,
    /// A rule file elsewhere: every byte, through links.
    OutsideFile,
    /// A file of settings: the same, but it holds no rules.
    Settings,
    /// A file too large to compare: its stamps.
    Stamps,
    /// A folder of the vault: the same. It tells of pages that come and go.
    Folder,
    /// Only whether it is there, and whether it is the same one.
    Presence,
}

impl Watch {
    const fn is_of_rules(self) -> bool {
        matches!(self, Self::TreeFile | Self::InnerTreeFile | Self::OutsideFile)
    }
}

/// What was seen at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Nothing,
    Text(Arc<[u8]>, Identity),
    Stamped(Identity),
    Present(Inode),
    Strange(Strange),
}

impl Seen {
    fn is_settled_at(&self, moment: SystemTime) -> bool {
        match self {
            Self::Stamped(identity) => identity.is_settled_at(moment),
            Self::Nothing | Self::Text(..) | Self::Present(_) | Self::Strange(_) => true,
        }
    }
}

/// What is no plain readable file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strange {
    Directory,
    Link,
    Special,
    TooLarge,
    Unreadable,
}

/// All that a snapshot rests on.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Fingerprint(Vec<(PathBuf, Watch, Seen)>);

impl Fingerprint {
    /// Adds a path as it is now.
    pub(super) fn look(&mut self, path: PathBuf, watch: Watch) {
        let seen = observe(&path, watch);
        self.0.push((path, watch, seen));
    }

    /// Adds a folder as it was before it was read.
    pub(super) fn remember(&mut self, path: PathBuf, identity: Identity) {
        self.0.push((path, Watch::Folder, Seen::Stamped(identity)));
    }

    /// Adds what another one has seen.
    pub(super) fn extend(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// Whether everything is as it was. It must be settled.
    ///
    /// A rule file that was not there is not looked for: the stamps of its folder tell.
    /// Before anything is released, [`Self::rules_still_hold`] looks for all of them.
    pub(super) fn still_holds(&self) -> bool {
        let told_by_folder =
            |watch: Watch, seen: &Seen| watch == Watch::InnerTreeFile && *seen == Seen::Nothing;
        self.0
            .iter()
            .filter(|(_, watch, seen)| !told_by_folder(*watch, seen))
            .all(|(path, watch, seen)| observe(path, *watch) == *seen)
    }

    /// Whether all that classes rest on is as it was. Pages may have come and gone: a
    /// page that has been judged stays judged, for reading compares its inode.
    pub(super) fn rules_still_hold(&self) -> bool {
        self.rules().all(|(path, watch, seen)| observe(path, *watch) == *seen)
    }

    /// Whether every later change would show. `moment` is when looking began.
    pub(super) fn is_settled_at(&self, moment: SystemTime) -> bool {
        self.0.iter().all(|(_, _, seen)| seen.is_settled_at(moment))
    }

    /// The same of what classes rest on.
    pub(super) fn rules_are_settled_at(&self, moment: SystemTime) -> bool {
        self.rules().all(|(_, _, seen)| seen.is_settled_at(moment))
    }

    fn rules(&self) -> impl Iterator<Item = &(PathBuf, Watch, Seen)> {
        self.0.iter().filter(|(_, watch, _)| *watch != Watch::Folder)
    }

    /// What was seen in the rule files.
    pub(super) fn rule_files(&self) -> impl Iterator<Item = (&PathBuf, &Seen)> {
        self.0
            .iter()
            .filter(|(_, watch, _)| watch.is_of_rules())
            .map(|(path, _, seen)| (path, seen))
    }

    /// The rule files that are there, and everything that was seen of those outside of
    /// the work tree.
    pub(super) fn present_rules(&self) -> Self {
        let counts = |watch: Watch, seen: &Seen| {
            watch == Watch::OutsideFile || (watch.is_of_rules() && *seen != Seen::Nothing)
        };
        Self(self.0.iter().filter(|(_, watch, seen)| counts(*watch, seen)).cloned().collect())
    }

    /// Whether the rules and settings cannot have been others for a moment since
    /// `moment`, when looking began: a file that was there had old stamps, and so has
    /// now the folder of one that was not. Folders below the vault are left out.
    pub(super) fn was_steady_since(&self, moment: SystemTime) -> bool {
        self.0.iter().all(|(path, watch, seen)| match (watch, seen) {
            (_, Seen::Text(_, identity)) => identity.is_settled_at(moment),
            (Watch::TreeFile | Watch::OutsideFile, Seen::Nothing) => {
                let folder = path.ancestors().skip(1).find_map(|it| fs::metadata(it).ok());
                folder.is_some_and(|folder| Identity::of(&folder).is_settled_at(moment))
            }
            _ => true,
        })
    }

    /// How long to wait for a rule file that somebody seems to be writing: it was
    /// touched just now, and is empty or ends within a line. Many editors cut a file
    /// to nothing before they write it anew.
    pub(super) fn unfinished_for(&self, moment: SystemTime) -> Option<Duration> {
        let waits = self.rule_files().filter_map(|(_, seen)| match seen {
            Seen::Text(bytes, identity) if !bytes.ends_with(b"\n") => identity.rests_in(moment),
            _ => None,
        });
        waits.max()
    }

    /// What was in a file that is compared byte for byte.
    pub(super) fn text(&self, path: &Path) -> Option<&[u8]> {
        self.0.iter().find_map(|(watched, _, seen)| match seen {
            Seen::Text(bytes, _) if watched == path => Some(&**bytes),
            _ => None,
        })
    }

    /// Whether there is something at a watched path.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|(watched, _, seen)| watched == path && *seen != Seen::Nothing)
    }
}

fn observe(path: &PathBuf, watch: Watch) -> Seen {
    let metadata = match watch {
        Watch::OutsideFile | Watch::Settings => fs::metadata(path),
        Watch::TreeFile
        | Watch::InnerTreeFile
        | Watch::Stamps
        | Watch::Folder
        | Watch::Presence => fs::symlink_metadata(path),
    };
    let metadata = match metadata {
        Ok(metadata) => metadata,
        Err(error) => return absent_or_unreadable(&error),
    };
    match watch {
        Watch::Stamps | Watch::Folder => Seen::Stamped(Identity::of(&metadata)),
        Watch::Presence => Seen::Present(Identity::of(&metadata).inode),
        Watch::TreeFile | Watch::InnerTreeFile | Watch::OutsideFile | Watch::Settings => {
            strange(metadata.file_type(), metadata.len())
                .map_or_else(|| read(path, watch), Seen::Strange)
        }
    }
}

fn strange(file_type: FileType, size: u64) -> Option<Strange> {
    if file_type.is_dir() {
        Some(Strange::Directory)
    } else if file_type.is_symlink() {
        Some(Strange::Link)
    } else if file_type.is_fifo() || !file_type.is_file() {
        Some(Strange::Special)
    } else {
        (size > LARGEST_RULE_FILE).then_some(Strange::TooLarge)
    }
}

/// Opened without waiting, because the file may have become a FIFO since it was
/// looked at.
#[expect(clippy::disallowed_methods, reason = "a rule file, not a page")]
fn read(path: &PathBuf, watch: Watch) -> Seen {
    let follow = match watch {
        Watch::OutsideFile | Watch::Settings => FollowSymlinks::Yes,
        _ => FollowSymlinks::No,
    };
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(follow);
    let opened = File::open_ambient_with(path, &options, ambient_authority())
        .map(File::into_std)
        .and_then(|file| file.metadata().map(|metadata| (file, metadata)));
    let (file, metadata) = match opened {
        Ok(opened) => opened,
        Err(error) => return absent_or_unreadable(&error),
    };
    if let Some(strange) = strange(metadata.file_type(), metadata.len()) {
        return Seen::Strange(strange);
    }
    let mut bytes = Vec::new();
    match file.take(LARGEST_RULE_FILE).read_to_end(&mut bytes) {
        Ok(_) => Seen::Text(bytes.into(), Identity::of(&metadata)),
        Err(_) => Seen::Strange(Strange::Unreadable),
    }
}

fn absent_or_unreadable(error: &io::Error) -> Seen {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Seen::Nothing,
        _ => Seen::Strange(Strange::Unreadable),
    }
}
