//! The only code that opens pages.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cap_fs_ext::{
    DirExt as _, FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _,
    OpenOptionsSyncExt as _,
};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use crate::access::permit::ReadPermit;
use crate::vault::fingerprint::Identity;
use crate::vault::snapshot::{ServedPage, Snapshot};

/// The largest page that is read.
pub(super) const LARGEST_PAGE: u64 = 16 * 1024 * 1024;

/// The vault's folder, held as a capability: nothing outside can be reached from it.
#[derive(Debug)]
pub(super) struct Root {
    folder: Dir,
    path: PathBuf,
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
    /// Too large, or the disk refuses.
    Unreadable,
}

impl Root {
    /// Opens the folder.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let folder = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self { folder, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder itself, for listing names.
    pub(super) const fn folder(&self) -> &Dir {
        &self.folder
    }

    /// Whether an open folder is the one that the path means now.
    pub(super) fn holds(&self, folder: &Dir, relative: &str) -> bool {
        let now = std::fs::symlink_metadata(self.path.join(relative));
        now.is_ok_and(|now| {
            folder.dir_metadata().is_ok_and(|opened| {
                let now = Identity::of(&now).inode;
                (opened.dev(), opened.ino()) == (now.device, now.number)
            })
        })
    }

    /// What the disk stamps on a page, without opening it; `None` if it is not the
    /// file that was judged.
    ///
    /// A folder on the way that has become a link would be followed here. That shows
    /// in the snapshot's fingerprint before anything is answered.
    pub(super) fn identity(&self, page: &ServedPage) -> Option<Identity> {
        let metadata = std::fs::symlink_metadata(self.path.join(&page.disk)).ok()?;
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
        permit: ReadPermit,
        snapshot: &Snapshot,
    ) -> Result<PageBytes, NoBytes> {
        let page = snapshot.page(&permit.into_path()).ok_or(NoBytes::Replaced)?;
        let (folders, name) = page.disk.rsplit_once('/').unwrap_or(("", &page.disk));
        let mut opened = None;
        for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
            let here = opened.as_ref().unwrap_or(&self.folder);
            opened = Some(here.open_dir_nofollow(folder).map_err(|error| no_bytes(&error))?);
        }
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let file = opened
            .as_ref()
            .unwrap_or(&self.folder)
            .open_with(name, &options)
            .map_err(|error| no_bytes(&error))?
            .into_std();
        let metadata = file.metadata().map_err(|error| no_bytes(&error))?;
        let identity = Identity::of(&metadata);
        if !metadata.is_file() || identity.inode != page.inode {
            return Err(NoBytes::Replaced);
        }
        let mut bytes = Vec::new();
        file.take(LARGEST_PAGE + 1).read_to_end(&mut bytes).map_err(|error| no_bytes(&error))?;
        if bytes.len() as u64 > LARGEST_PAGE {
            return Err(NoBytes::Unreadable);
        }
        Ok(PageBytes { bytes, identity })
    }
}

/// No permission will not be better at the next try. The rest is what a page that
/// was removed, or has become a link or a socket, gives.
fn no_bytes(error: &io::Error) -> NoBytes {
    if error.kind() == io::ErrorKind::PermissionDenied {
        NoBytes::Unreadable
    } else {
        NoBytes::Replaced
    }
}
