//! Lists the vault: which folders and pages the disk has. Opens no page.

use std::fs;
use std::io;

use cap_fs_ext::{DirExt as _, MetadataExt as _};
use cap_std::fs::{Dir, Metadata};

use crate::access::class::is_private_name;
use crate::access::path::VaultPath;
use crate::vault::files::Root;
use crate::vault::fingerprint::{Identity, Inode};

/// Deeper folders are not entered: each level holds a file descriptor.
const DEEPEST: usize = 100;

/// Names that `git mergetool` gives to the versions that it asks about.
pub(super) const MERGE_LEFTOVERS: [&str; 3] = ["_BASE_", "_LOCAL_", "_REMOTE_"];

/// What the disk has.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) folders: Vec<Folder>,
    pub(super) pages: Vec<FoundPage>,
    /// Files such as `.private.md`: hidden, so no pages, but secret by their name,
    /// and so is every page that is a hard link to one.
    pub(super) private_dot_files: Vec<(String, Inode)>,
}

/// A folder that was read.
#[derive(Debug)]
pub(super) struct Folder {
    /// As the disk spells it; empty for the vault itself.
    pub(super) relative: String,
    /// Its stamps from before it was read.
    pub(super) identity: Identity,
    pub(super) reading: Reading,
}

/// Whether a folder let itself be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Done,
    /// It has no pages for us, so nothing hangs on its rules, which cannot be read
    /// either: the `lost+found` of a disk, say.
    Denied,
}

/// A file that may be a page.
#[derive(Debug)]
pub(super) struct FoundPage {
    pub(super) path: VaultPath,
    /// As the disk spells it.
    pub(super) disk: String,
    pub(super) inode: Inode,
}

impl Walk {
    /// The folders whose rules may decide about a page.
    pub(super) fn folders_with_rules(&self) -> impl Iterator<Item = &str> {
        let readable = self.folders.iter().filter(|folder| folder.reading == Reading::Done);
        readable.map(|folder| &*folder.relative)
    }
}

/// Walks the whole vault. Links are never followed.
///
/// # Errors
///
/// The vault itself cannot be read. A folder below that cannot be read has no pages.
pub(super) fn walk(root: &Root) -> io::Result<Walk> {
    let mut walk = Walk::default();
    walk.enter(root, root.folder(), String::new(), 0)?;
    Ok(walk)
}

impl Walk {
    fn enter(
        &mut self,
        root: &Root,
        folder: &Dir,
        relative: String,
        depth: usize,
    ) -> io::Result<()> {
        let identity = Identity::of(&fs::symlink_metadata(root.path().join(&relative))?);
        // Remembered even if it cannot be read or is skipped: that may change.
        let number = self.folders.len();
        let reading = Reading::Denied;
        self.folders.push(Folder { relative: relative.clone(), identity, reading });
        // git goes by the path and pages by the handle: they must be one folder.
        let opened = inode_of(&folder.dir_metadata()?);
        if opened != identity.inode {
            return Err(io::Error::other("the folder was replaced by another"));
        }
        let mut names = Vec::new();
        for entry in folder.entries()? {
            let entry = entry?;
            // A name that is not UTF-8 cannot be asked for.
            if let Ok(name) = entry.file_name().into_string() {
                names.push((name, entry));
            }
        }
        if folder.symlink_metadata(".gitattributes").is_err_and(|error| is_denied(&error)) {
            return Ok(());
        }
        self.folders[number].reading = Reading::Done;
        // Another repository has other rules.
        if depth > 0 && names.iter().any(|(name, _)| name.eq_ignore_ascii_case(".git")) {
            return Ok(());
        }
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        for (name, entry) in names {
            let hidden = name.starts_with('.');
            if hidden && !is_private_page(&name) {
                continue;
            }
            let Ok(metadata) = entry.metadata() else { continue };
            let inode = inode_of(&metadata);
            let disk =
                if relative.is_empty() { name.clone() } else { format!("{relative}/{name}") };
            if metadata.is_dir() && !hidden && depth < DEEPEST {
                if let Ok(inner) = folder.open_dir_nofollow(&name) {
                    // It cannot be read, so its pages cannot be served either.
                    let _ = self.enter(root, &inner, disk, depth + 1);
                }
            } else if metadata.is_file() && hidden {
                self.private_dot_files.push((disk, inode));
            } else if metadata.is_file()
                && !is_leftover(&name)
                && let Ok(path) = disk.parse()
            {
                self.pages.push(FoundPage { path, disk, inode });
            }
        }
        Ok(())
    }
}

fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

fn inode_of(metadata: &Metadata) -> Inode {
    Inode { device: metadata.dev(), number: metadata.ino() }
}

fn is_private_page(name: &str) -> bool {
    is_private_name(name) && VaultPath::is_page_name(name)
}

/// Other droppings of editors (`#x.md#`, `x.md~`, `4913`, `x.bak`) do not end like a
/// page, or are hidden.
fn is_leftover(name: &str) -> bool {
    MERGE_LEFTOVERS.iter().any(|mark| name.contains(mark))
}
