//! Lists the vault: which folders and pages the disk has. Opens no page.
//!
//! What a folder holds is read once and kept for as long as its stamps are the same:
//! every name that comes, goes or leads to another file changes them. Stamps that were
//! young when the folder was read are not believed, for a change within one tick of the
//! kernel's clock would not show.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use cap_fs_ext::{DirExt as _, MetadataExt as _};
use cap_std::fs::{Dir, Metadata};

use crate::access::class::is_private_name;
use crate::access::path::VaultPath;
use crate::vault::files::Root;
use crate::vault::fingerprint::{Identity, Inode};
use crate::vault::names::is_leftover;

/// Deeper folders are not entered: each level may hold a file descriptor.
const DEEPEST: usize = 100;

/// What the disk has.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// Each behind the folder that it is in, and those in one folder by their names.
    pub(super) folders: Vec<Folder>,
}

/// A folder that was looked at.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    /// As the disk spells it; empty for the vault itself.
    pub(super) relative: Arc<str>,
    pub(super) listing: Arc<Listing>,
}

/// What one folder holds, without what is in the folders below.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listing {
    /// Its stamps from before it was read.
    pub(super) identity: Identity,
    pub(super) reading: Reading,
    /// By their names.
    pub(super) pages: Vec<FoundPage>,
    /// Files such as `.private.md`: hidden, so no pages, but secret by their name,
    /// and so is every page that is a hard link to one.
    pub(super) private_dot_files: Vec<(String, Inode)>,
    /// What is a page by its name only.
    pub(super) oddities: Vec<Oddity>,
    /// The names of the folders in it that are entered.
    folders: Vec<String>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundPage {
    pub(super) path: VaultPath,
    /// As the disk spells it.
    pub(super) disk: Arc<str>,
    pub(super) inode: Inode,
}

/// Something with the name of a page that is never opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Oddity {
    pub(super) path: VaultPath,
    /// As the disk spells it.
    pub(super) disk: Arc<str>,
    pub(super) kind: OddityKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OddityKind {
    /// A symbolic link, wherever it leads: none is followed.
    Link,
    /// A FIFO, a socket or a device.
    Special,
}

/// What the folders of a vault held when they were read last.
#[derive(Debug, Default)]
pub(super) struct Listings(HashMap<Arc<str>, Known>);

#[derive(Debug)]
struct Known {
    listing: Arc<Listing>,
    endurance: Endurance,
}

/// Whether a listing is right for as long as the stamps of its folder are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endurance {
    Lasting,
    Momentary,
}

impl Listings {
    /// Reads a folder anew at the next walk, whatever its stamps say.
    pub(super) fn forget(&mut self, folder: &str) {
        self.0.remove(folder);
    }
}

impl Walk {
    /// The folders whose rules may decide about a page.
    pub(super) fn folders_with_rules(&self) -> impl Iterator<Item = &str> {
        let readable = |folder: &&Folder| folder.listing.reading == Reading::Done;
        self.folders.iter().filter(readable).map(|folder| &*folder.relative)
    }

    /// Hidden files that are secret by their names.
    pub(super) fn private_dot_files(&self) -> impl Iterator<Item = &(String, Inode)> {
        self.folders.iter().flat_map(|folder| &folder.listing.private_dot_files)
    }

    /// What is a page by its name only.
    pub(super) fn oddities(&self) -> impl Iterator<Item = &Oddity> {
        self.folders.iter().flat_map(|folder| &folder.listing.oddities)
    }
}

/// Walks the whole vault. Links are never followed. `moment` is when looking began.
///
/// # Errors
///
/// The vault itself cannot be read. A folder below that cannot be read has no pages.
pub(super) fn walk(root: &Root, listings: &mut Listings, moment: SystemTime) -> io::Result<Walk> {
    let folder = root.folder();
    let before = std::mem::take(listings);
    let mut walker =
        Walker { root, moment, before, known: Listings::default(), walk: Walk::default() };
    walker.enter(&Place::top(&folder), Arc::default(), 0)?;
    *listings = walker.known;
    Ok(walker.walk)
}

struct Walker<'a> {
    root: &'a Root,
    moment: SystemTime,
    before: Listings,
    known: Listings,
    walk: Walk,
}

impl Walker<'_> {
    fn enter(&mut self, place: &Place<'_>, relative: Arc<str>, depth: usize) -> io::Result<()> {
        let path = self.root.path().join(&*relative);
        let identity = Identity::of(&fs::symlink_metadata(path)?);
        let known = self.before.0.remove(&relative);
        let lasts = |known: &Known| {
            known.endurance == Endurance::Lasting && known.listing.identity == identity
        };
        let (known, result) = match known {
            Some(known) if lasts(&known) => (known, Ok(())),
            outdated => self.read(place, &relative, identity, depth, outdated),
        };
        let listing = Arc::clone(&known.listing);
        // Remembered even if it cannot be read or is skipped: that may change.
        self.walk
            .folders
            .push(Folder { relative: Arc::clone(&relative), listing: Arc::clone(&listing) });
        self.known.0.insert(Arc::clone(&relative), known);
        for name in &listing.folders {
            // It cannot be read, so its pages cannot be served either.
            let _ = self.enter(&place.below(name), join(&relative, name).into(), depth + 1);
        }
        result
    }

    /// Reads a folder. One that cannot be read holds nothing, until the next walk.
    fn read(
        &self,
        place: &Place<'_>,
        relative: &str,
        identity: Identity,
        depth: usize,
        outdated: Option<Known>,
    ) -> (Known, io::Result<()>) {
        let mut listing = Listing::nothing(identity);
        let result = listing.fill(place, relative, depth);
        let is_whole = matches!(result, Ok(Omissions::None));
        let endurance = if is_whole && identity.is_settled_at(self.moment) {
            Endurance::Lasting
        } else {
            Endurance::Momentary
        };
        // One that says the same stays the same, so that what hangs on it need not be
        // made anew.
        let listing = outdated
            .map(|known| known.listing)
            .filter(|before| **before == listing)
            .unwrap_or_else(|| Arc::new(listing));
        (Known { listing, endurance }, result.map(|_| ()))
    }
}

/// Whether something in a folder could not be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Omissions {
    None,
    Some,
}

impl Listing {
    const fn nothing(identity: Identity) -> Self {
        Self {
            identity,
            reading: Reading::Denied,
            pages: Vec::new(),
            private_dot_files: Vec::new(),
            oddities: Vec::new(),
            folders: Vec::new(),
        }
    }

    /// The names of what is in it and counts.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let pages = self.pages.iter().map(|page| page.disk.rsplit('/').next().unwrap_or_default());
        pages.chain(self.folders.iter().map(|name| &**name))
    }

    fn fill(&mut self, place: &Place<'_>, relative: &str, depth: usize) -> io::Result<Omissions> {
        let folder = place.open()?;
        // git goes by the path and pages by the handle: they must be one folder.
        if inode_of(&folder.dir_metadata()?) != self.identity.inode {
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
            return Ok(Omissions::None);
        }
        self.reading = Reading::Done;
        // Another repository has other rules.
        if depth > 0 && names.iter().any(|(name, _)| name.eq_ignore_ascii_case(".git")) {
            return Ok(Omissions::None);
        }
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let mut omissions = Omissions::None;
        for (name, entry) in names {
            let hidden = name.starts_with('.');
            if hidden && !is_private_page(&name) {
                continue;
            }
            let Ok(metadata) = entry.metadata() else {
                omissions = Omissions::Some;
                continue;
            };
            let inode = inode_of(&metadata);
            if metadata.is_dir() && !hidden && depth < DEEPEST {
                self.folders.push(name);
            } else if metadata.is_file() && hidden {
                self.private_dot_files.push((join(relative, &name), inode));
            } else if metadata.is_file() && !is_leftover(&name) {
                let disk = join(relative, &name);
                if let Ok(path) = disk.parse() {
                    self.pages.push(FoundPage { path, disk: disk.into(), inode });
                }
            } else if !metadata.is_dir() && !hidden && !is_leftover(&name) {
                let disk = join(relative, &name);
                let kind =
                    if metadata.is_symlink() { OddityKind::Link } else { OddityKind::Special };
                if let Ok(path) = disk.parse() {
                    self.oddities.push(Oddity { path, disk: disk.into(), kind });
                }
            }
        }
        Ok(omissions)
    }
}

/// A folder on the way of a walk. It is opened when something in it has to be read,
/// from the folder above and without following links.
struct Place<'a> {
    way: Way<'a>,
    opened: OnceCell<Dir>,
}

enum Way<'a> {
    Top(&'a Dir),
    Below(&'a Place<'a>, &'a str),
}

impl<'a> Place<'a> {
    const fn top(folder: &'a Dir) -> Self {
        Self { way: Way::Top(folder), opened: OnceCell::new() }
    }

    const fn below(&'a self, name: &'a str) -> Self {
        Self { way: Way::Below(self, name), opened: OnceCell::new() }
    }

    fn open(&self) -> io::Result<&Dir> {
        match (&self.way, self.opened.get()) {
            (Way::Top(folder), _) => Ok(folder),
            (_, Some(opened)) => Ok(opened),
            (Way::Below(above, name), None) => {
                let opened = above.open()?.open_dir_nofollow(name)?;
                Ok(self.opened.get_or_init(|| opened))
            }
        }
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
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
