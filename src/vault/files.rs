//! The only code that opens pages.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use crate::access::permit::OpenPermit;
use crate::vault::answers::SkipReason;
use crate::vault::evidence::{CIPHERTEXT_MARK, is_ciphertext};
use crate::vault::fingerprint::{Identity, Inode};
use crate::vault::snapshot::{ServedPage, Snapshot};

/// The largest page that is read.
pub(super) const LARGEST_PAGE: u64 = 16 * 1024 * 1024;

/// The largest file that some file system keeps beside its blocks, in the folder or in
/// the inode.
const LARGEST_INLINE: u64 = 4096;

/// The vault's folder, held as a capability: nothing outside can be reached from it.
#[derive(Debug)]
pub(super) struct Root {
    /// Another one only after the path has led elsewhere and the surveyor has taken that
    /// for the same vault.
    folder: Mutex<Arc<Dir>>,
    path: PathBuf,
    /// The devices whose file systems tell how many blocks a file has.
    counting_devices: Mutex<BTreeSet<u64>>,
}

/// The bytes of a page, and which file they came from.
#[derive(Debug)]
pub(super) struct PageBytes {
    pub(super) bytes: Vec<u8>,
    pub(super) identity: Identity,
}

/// Why a page gave no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoBytes {
    /// The file is not the one that was judged: saved anew, removed, or swapped.
    Replaced,
    /// Larger than [`LARGEST_PAGE`].
    TooLarge,
    /// A cloud drive has only its name here. Reading would wait for the network.
    NotDownloaded,
    /// The disk refuses, with this error number.
    Unreadable(i32),
}

impl NoBytes {
    /// The reason in the terms of the index's health (L12); `None` if the next look will tell.
    pub(super) fn skip_reason(self) -> Option<SkipReason> {
        match self {
            Self::Replaced => None,
            Self::TooLarge => Some(SkipReason::TooLarge),
            Self::NotDownloaded => Some(SkipReason::NotDownloaded),
            Self::Unreadable(number) => {
                Some(SkipReason::Unreadable(io::Error::from_raw_os_error(number).to_string()))
            }
        }
    }
}

impl Root {
    /// Opens the folder.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let folder = Dir::open_ambient_dir(&path, ambient_authority())?;
        let root =
            Self { folder: Mutex::new(Arc::new(folder)), path, counting_devices: Mutex::default() };
        root.learn_counting(&fs::symlink_metadata(&root.path)?);
        Ok(root)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder itself, for listing names.
    pub(super) fn folder(&self) -> Arc<Dir> {
        Arc::clone(&self.folder.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The folder that the path leads to now, if that is not the one that is open: the
    /// vault was removed and restored, or its disk was mounted again.
    ///
    /// # Errors
    ///
    /// The path leads nowhere, or through a link.
    pub(super) fn successor(&self) -> io::Result<Option<Dir>> {
        let metadata = fs::symlink_metadata(&self.path)?;
        let here = Identity::of(&metadata).inode;
        if inode_of(&self.folder())? == here {
            return Ok(None);
        }
        if self.path.canonicalize()? != self.path {
            return Err(io::Error::other("the path leads through a link"));
        }
        let folder = Dir::open_ambient_dir(&self.path, ambient_authority())?;
        if inode_of(&folder)? != here {
            return Err(io::Error::other("the folder was replaced by another"));
        }
        Ok(Some(folder))
    }

    /// Goes on with another folder. Everything that is known of the old one is void.
    pub(super) fn go_on_with(&self, folder: Dir) {
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(folder);
    }

    fn learn_counting(&self, metadata: &Metadata) {
        if metadata.blocks() > 0 {
            self.counting_devices().insert(metadata.dev());
        }
    }

    fn counting_devices(&self) -> std::sync::MutexGuard<'_, BTreeSet<u64>> {
        self.counting_devices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a file has a size but nothing on this machine (L53).
    ///
    /// A file system may keep a small file elsewhere than in blocks, and some never count
    /// blocks at all. So only a file counts that is too large for the one, on a device
    /// that has told of blocks before. On a disk of this machine that is a file of nothing
    /// but holes, which is no text.
    fn is_evicted(&self, metadata: &Metadata) -> bool {
        self.learn_counting(metadata);
        metadata.blocks() == 0
            && metadata.len() > LARGEST_INLINE
            && self.counting_devices().contains(&metadata.dev())
    }

    /// Whether an open folder is the one that the path means now.
    pub(super) fn holds(&self, folder: &Dir, relative: &str) -> bool {
        let now = std::fs::symlink_metadata(self.path.join(relative));
        now.is_ok_and(|now| inode_of(folder).is_ok_and(|opened| opened == Identity::of(&now).inode))
    }

    /// What the disk stamps on a page, without opening it; `None` if it is not the
    /// file that was judged.
    ///
    /// A folder on the way that has become a link would be followed here. That shows
    /// in the snapshot's fingerprint before anything is answered.
    pub(super) fn identity(&self, page: &ServedPage) -> Option<Identity> {
        let metadata = std::fs::symlink_metadata(self.path.join(&*page.disk)).ok()?;
        let identity = Identity::of(&metadata);
        (metadata.is_file() && identity.inode == page.inode).then_some(identity)
    }

    /// Reads the page that the permit is for.
    ///
    /// Each folder on the way is opened without following links, so a folder that
    /// becomes a link between two steps leads nowhere. Opening does not wait, in case
    /// the page has become a FIFO.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that opens pages")]
    pub(super) fn read_page(
        &self,
        permit: impl OpenPermit,
        snapshot: &Snapshot,
    ) -> Result<PageBytes, NoBytes> {
        let page = snapshot.page(&permit.into_path()).ok_or(NoBytes::Replaced)?;
        let (folders, name) = page.disk.rsplit_once('/').unwrap_or(("", &*page.disk));
        let root = self.folder();
        let mut opened = None;
        for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
            let here = opened.as_ref().unwrap_or(&*root);
            opened = Some(here.open_dir_nofollow(folder).map_err(|error| no_bytes(&error))?);
        }
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let file = opened
            .as_ref()
            .unwrap_or(&*root)
            .open_with(name, &options)
            .map_err(|error| no_bytes(&error))?
            .into_std();
        let metadata = file.metadata().map_err(|error| no_bytes(&error))?;
        let identity = Identity::of(&metadata);
        if !metadata.is_file() || identity.inode != page.inode {
            return Err(NoBytes::Replaced);
        }
        if metadata.len() > LARGEST_PAGE {
            // Whether it is ciphertext decides who may know that it is there.
            let mut bytes = Vec::new();
            let mark = file.take(CIPHERTEXT_MARK.len() as u64).read_to_end(&mut bytes);
            mark.map_err(|error| no_bytes(&error))?;
            let is_ciphertext = is_ciphertext(&bytes);
            return is_ciphertext.then_some(PageBytes { bytes, identity }).ok_or(NoBytes::TooLarge);
        }
        if self.is_evicted(&metadata) {
            return Err(NoBytes::NotDownloaded);
        }
        // One byte more than there should be, so that the end shows without growing.
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
        file.take(LARGEST_PAGE + 1).read_to_end(&mut bytes).map_err(|error| no_bytes(&error))?;
        if bytes.len() as u64 > LARGEST_PAGE {
            return Err(NoBytes::TooLarge);
        }
        Ok(PageBytes { bytes, identity })
    }
}

/// What a page gives that was removed, or has become a link, a folder or a socket. Any
/// other error will not be better at the next try.
fn no_bytes(error: &io::Error) -> NoBytes {
    use rustix::io::Errno;
    let gone = [
        Errno::NOENT,
        Errno::NOTDIR,
        Errno::ISDIR,
        Errno::LOOP,
        Errno::NXIO,
        Errno::NODEV,
        Errno::STALE,
    ];
    match error.raw_os_error() {
        Some(number) if !gone.iter().any(|gone| gone.raw_os_error() == number) => {
            NoBytes::Unreadable(number)
        }
        _ => NoBytes::Replaced,
    }
}

fn inode_of(folder: &Dir) -> io::Result<Inode> {
    let metadata = folder.dir_metadata()?;
    Ok(Inode {
        device: cap_fs_ext::MetadataExt::dev(&metadata),
        number: cap_fs_ext::MetadataExt::ino(&metadata),
    })
}
