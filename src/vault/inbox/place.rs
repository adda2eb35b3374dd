//! The folder that a note goes into, found name by name without following a link.

use std::io;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use unicode_normalization::UnicodeNormalization as _;

use crate::access::class::{PageClass, is_private_name};
use crate::access::path::VaultPath;
use crate::access::permit::Viewer;
use crate::vault::inbox::WriteError;
use crate::vault::inbox::disk::sync_folder;
use crate::vault::inbox::name::{TakenNames, Variant, folder_name};
use crate::vault::snapshot::Snapshot;

/// A folder of the vault, parts of which are perhaps not there yet.
#[derive(Debug)]
pub(super) struct Place {
    /// The last folder on the way that is there.
    folder: Dir,
    /// What is in it, if it is the one that was looked for.
    names: TakenNames,
    /// The way to it, as the disk spells it.
    disk: Vec<String>,
    /// The folders that have to be made, in the spelling that they will have.
    missing: Vec<String>,
}

/// What of the disk the client that writes may know of.
pub(super) struct Sight<'a> {
    pub(super) viewer: &'a Viewer,
    pub(super) snapshot: &'a Snapshot,
}

impl Sight<'_> {
    /// Whether this is a page, and the client sees it. `disk` is its path.
    pub(super) fn has_page(&self, disk: &str) -> bool {
        self.class(disk).is_some_and(|class| self.viewer.may_see(class))
    }

    /// Whether this is a page that the client does not see.
    pub(super) fn hides_page(&self, disk: &str) -> bool {
        self.class(disk).is_some_and(|class| !self.viewer.may_see(class))
    }

    fn class(&self, disk: &str) -> Option<PageClass> {
        let path: VaultPath = disk.nfc().collect::<String>().parse().ok()?;
        self.snapshot.page(&path).map(|page| page.class)
    }

    /// Whether there is a page below this folder that the client sees.
    fn has_folder(&self, disk: &str) -> bool {
        let start = format!("{}/", disk.nfc().collect::<String>());
        let mut pages = self.snapshot.pages.iter();
        pages.any(|(path, page)| {
            path.as_str().starts_with(&start) && self.viewer.may_see(page.class)
        })
    }
}

impl Place {
    /// Looks for a folder below `root`. `segments` are composed names.
    ///
    /// # Errors
    ///
    /// [`WriteError::InTheWay`] if something is there that is no folder of the vault: a
    /// file, a link, another repository; or a folder whose name differs in letter case
    /// alone, if the client sees a page in it.
    pub(super) fn find<'a>(
        root: &Dir,
        segments: impl Iterator<Item = &'a str>,
        sight: &Sight<'_>,
    ) -> Result<Self, WriteError> {
        let folder = root.try_clone()?;
        let names = names_in(&folder)?;
        let mut place = Self { folder, names, disk: Vec::new(), missing: Vec::new() };
        for segment in segments {
            place.enter(segment, sight)?;
        }
        Ok(place)
    }

    fn enter(&mut self, segment: &str, sight: &Sight<'_>) -> Result<(), WriteError> {
        let safe = folder_name(segment);
        let here = &self.names;
        let spelling = here.spelling(segment).or_else(|| here.spelling(&safe)).map(str::to_owned);
        let is_seen = |name: &str| sight.has_folder(&self.disk_path(name));
        // A folder that is hidden must not change what is said of one that is seen.
        if !spelling.as_ref().is_some_and(|disk| is_seen(disk)) {
            let mut variants = here.variants(&safe);
            if variants.any(|it| matches!(it, Variant::There(disk) if is_seen(disk))) {
                return Err(WriteError::InTheWay);
            }
        }
        let Some(disk) = spelling else {
            if is_no_folder(&safe) {
                return Err(WriteError::InTheWay);
            }
            self.names = TakenNames::default();
            self.missing.push(safe);
            return Ok(());
        };
        // What is there is no folder, or is a link.
        let inner = self.folder.open_dir_nofollow(&disk).map_err(|_| WriteError::InTheWay)?;
        let names = names_in(&inner)?;
        // Another repository has other rules, and its pages are not served.
        if names.spelling(".git").is_some() || names.variants(".git").next().is_some() {
            return Err(WriteError::InTheWay);
        }
        (self.folder, self.names) = (inner, names);
        self.disk.push(disk);
        Ok(())
    }

    /// The names that are taken in the folder; none if it has yet to be made.
    pub(super) const fn names(&self) -> &TakenNames {
        &self.names
    }

    /// The folder itself; only where nothing is missing.
    pub(super) const fn folder(&self) -> &Dir {
        &self.folder
    }

    /// Where a file of this name is or will be, as the disk spells it.
    pub(super) fn disk_path(&self, name: &str) -> String {
        let folders = self.disk.iter().chain(&self.missing).map(|folder| &**folder);
        folders.chain([name]).collect::<Vec<_>>().join("/")
    }

    /// The same, composed, as it is served.
    pub(super) fn vault_path(&self, name: &str) -> Option<VaultPath> {
        self.disk_path(name).nfc().collect::<String>().parse().ok()
    }

    /// Makes the folders that are missing.
    pub(super) fn make(self) -> Result<MadePlace, WriteError> {
        let mut place = MadePlace { folder: self.folder, made: Vec::new() };
        for name in self.missing {
            match place.folder.create_dir(&name) {
                // Where letter case does not count: something that the client does not see.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(WriteError::InTheWay);
                }
                made => made?,
            }
            let inner = place.folder.open_dir_nofollow(&name);
            let parent = match inner {
                Ok(inner) => std::mem::replace(&mut place.folder, inner),
                Err(error) => return Err(error.into()),
            };
            place.made.push((parent, name));
        }
        Ok(place)
    }
}

/// A folder that is there. The ones that were made for it go again, unless they are
/// kept: a note that could not be written leaves nothing behind.
#[derive(Debug)]
pub(super) struct MadePlace {
    pub(super) folder: Dir,
    /// Each with the folder that it lies in, the outermost first.
    made: Vec<(Dir, String)>,
}

impl MadePlace {
    /// Keeps the folders, durably.
    pub(super) fn keep(mut self) -> io::Result<()> {
        for (parent, _) in self.made.drain(..) {
            sync_folder(&parent)?;
        }
        Ok(())
    }
}

impl Drop for MadePlace {
    fn drop(&mut self) {
        for (parent, name) in self.made.drain(..).rev() {
            // Somebody else may have put something there meanwhile; then it stays.
            let _ = parent.remove_dir(name);
        }
    }
}

/// Whether a folder of this name would be taken for a note, or hide all that is in it.
pub(super) fn is_no_folder(safe: &str) -> bool {
    VaultPath::is_page_name(safe) || is_private_name(safe)
}

fn names_in(folder: &Dir) -> io::Result<TakenNames> {
    let mut names = TakenNames::default();
    for entry in folder.entries()? {
        // A name that is not UTF-8 equals none that can be asked for.
        if let Ok(name) = entry?.file_name().into_string() {
            names.add(&name);
        }
    }
    Ok(names)
}
