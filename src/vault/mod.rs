//! The folder of notes: which pages there are, what class each has now, and what
//! is in them.
//!
//! Every question is asked by a [`Viewer`]; the answer is computed from the pages
//! that this viewer may see and from nothing else.
//!
//! # Invariants
//!
//! - Classes are the installed git's ruling at the moment of the request. A
//!   `snapshot` holds them; its `fingerprint` of everything that they rest on is
//!   compared before it is used, and again before what was read is released.
//! - In doubt a class rises. It is lowered late, and never while git is at work.
//! - What cannot be judged at all is [`Unavailable`], for everybody and every path.
//! - `files` is the only code that opens pages, and only against a permit.
//! - Questions about many pages are put to a `view`, which gives out only what its
//!   viewer may see, and are answered from the index of exactly one snapshot.
//! - `inbox::disk` is the only code that writes, and only against a permit too.
//!
//! # Reading order
//!
//! `walk` and `git` (what there is) → `rulings`, `survey` (both together) → `judge` (what is
//! served) → `snapshot` (for how long) → `files`, `page`, [`markdown`] (what is in a page)
//! → `catalog` (the index of a snapshot) → `view`, `library`, `questions` (what is asked)
//! → `watch`, `follow` (what happens meanwhile), [`inbox`].

mod analyzers;
pub mod answers;
mod attempts;
mod attributes;
mod catalog;
mod dates;
mod evidence;
pub mod figures;
mod files;
mod fingerprint;
mod follow;
mod git;
pub mod inbox;
mod judge;
mod library;
pub mod links;
pub mod markdown;
mod names;
mod page;
mod questions;
mod reading;
mod repository;
mod rules;
mod rulings;
mod snapshot;
mod survey;
mod view;
mod walk;
mod watch;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use jiff::tz::TimeZone;

use crate::access::class::{GitAttributes, NameCase, PageClass, Ruling, judge};
use crate::access::inbox::{Inbox, InvalidInbox};
use crate::access::path::VaultPath;
use crate::access::permit::{Hidden, Viewer};
use crate::clock::Clock;
use crate::refusals::Refusals;
use crate::vault::analyzers::Analyzers;
use crate::vault::catalog::{Catalog, PageReader};
use crate::vault::dates::CommitDates;
use crate::vault::files::Root;
use crate::vault::reading::Opened;
use crate::vault::snapshot::Keeper;
use crate::vault::survey::Surveyor;
use crate::vault::watch::Watcher;

pub use crate::search::analysis::{Language, Languages};

/// What a vault needs to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder. It need not be a git repository.
    pub root: PathBuf,
    /// The folder of notes that are not filed yet, relative to the root. They can be
    /// read, but are left out of search. Clients may write here and nowhere else;
    /// without it they cannot write.
    pub inbox: Option<String>,
    /// The languages that the notes are in; the first is that of notes which do not say.
    pub languages: Languages,
    /// Where the owner is told what was refused and why.
    pub refusals: Refusals,
}

impl Settings {
    /// A folder without an inbox, with notes in the usual language.
    #[must_use]
    pub fn of(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            inbox: None,
            languages: Languages::default(),
            refusals: Refusals::default(),
        }
    }
}

/// A handle to an open vault. Cheap to clone. All methods block: call them off the
/// async threads.
#[derive(Clone)]
pub struct Vault(Arc<Parts>);

struct Parts {
    root: Arc<Root>,
    keeper: Keeper,
    catalog: Catalog,
    reader: PageReader,
    /// Held by the one request that writes.
    writing: Mutex<()>,
    dates: Mutex<Option<Arc<CommitDates>>>,
    /// Set when the vault is followed. Dropped first of all that its thread uses.
    watcher: OnceLock<Watcher>,
    refusals: Refusals,
    clock: Clock,
}

/// A page as it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where it is.
    pub path: VaultPath,
    /// Its title: from the frontmatter, else the first heading, else the file name.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// Why a page was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Absent or forbidden; nobody can tell which.
    #[error(transparent)]
    Hidden(#[from] Hidden),
    /// The viewer may see it, but git-crypt is locked on this machine.
    #[error("the page is locked on this machine")]
    Locked,
    /// The viewer may see it, but it is not text, or too large.
    #[error("the page is not readable text")]
    NotText,
    /// Nothing can be served now, whoever asks and whatever for.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// The vault cannot answer at the moment: its rules cannot be judged or its folder
/// is gone. Said to everybody alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the vault is temporarily unavailable")]
pub struct Unavailable;

/// Why a vault was not opened: a plain message that says what to change.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(pub String);

/// What git's attributes make of the vault, for its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classification {
    /// Every page and every hidden file that is secret by its name, sorted by path.
    pub pages: Vec<ClassifiedPage>,
    /// Why git's answer is not believed; empty if it is.
    pub warnings: Vec<String>,
}

/// What git's attributes make of one page, and what is made of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifiedPage {
    /// The path, as the disk spells it.
    pub path: String,
    /// The ruling by attributes and name alone.
    pub ruling: Ruling,
    /// The class that clients are judged by: never lower than the ruling's.
    pub served_as: PageClass,
}

/// Only where it is: its parts hold names and text of hidden pages.
impl fmt::Debug for Vault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Vault").field(&self.0.root.path()).finish()
    }
}

impl Vault {
    /// Opens a vault.
    ///
    /// # Errors
    ///
    /// [`OpenError`], in words for the owner.
    pub fn open(settings: Settings, clock: Clock) -> Result<Self, OpenError> {
        Self::open_with(settings, clock, markdown::parse)
    }

    /// The same with something else that reads texts for the index.
    fn open_with(
        settings: Settings,
        clock: Clock,
        parse: fn(&str, &TimeZone) -> markdown::Parsed,
    ) -> Result<Self, OpenError> {
        let unopened = |reason: &dyn fmt::Display| {
            OpenError(format!("the vault {} cannot be opened: {reason}", settings.root.display()))
        };
        let root = Arc::new(Root::open(&settings.root).map_err(|error| unopened(&error))?);
        let surveyor = Surveyor::new(Arc::clone(&root));
        let keeper = Keeper::new(surveyor, clock.clone()).map_err(|reason| unopened(&reason))?;
        let inbox = settings.inbox.as_deref().map(str::parse::<Inbox>).transpose();
        let inbox = inbox.map_err(|error: InvalidInbox| unopened(&format!("inbox: {error}")))?;
        let reader = PageReader {
            languages: settings.languages,
            zone: TimeZone::system(),
            inbox,
            analyzers: Analyzers::default(),
            parse,
        };
        let catalog = Catalog::new(Arc::clone(&root), reader.clone());
        Ok(Self(Arc::new(Parts {
            watcher: OnceLock::new(),
            root,
            keeper,
            catalog,
            reader,
            writing: Mutex::default(),
            dates: Mutex::default(),
            refusals: settings.refusals,
            clock,
        })))
    }

    /// Reads one page for a viewer.
    ///
    /// # Errors
    ///
    /// [`ReadError`]; a text that is no path is [`ReadError::Hidden`] too.
    pub fn read_page(&self, viewer: &Viewer, path: &str) -> Result<Page, ReadError> {
        let Opened { path, text, .. } = reading::open(&self.0, viewer, path)?;
        Ok(Page { title: page::title(&path, &text), path, text })
    }

    /// Why nothing can be answered, as far as is known. For the owner only: it names
    /// files.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.0.keeper.trouble()
    }

    /// What git's attributes make of every page. For the owner only: it names pages
    /// whatever their class.
    ///
    /// # Errors
    ///
    /// [`Unavailable`]; [`Self::trouble`] has the reason.
    pub fn classification(&self) -> Result<Classification, Unavailable> {
        let snapshot = self.0.keeper.snapshot().ok_or(Unavailable)?;
        let mut pages = Vec::new();
        for page in snapshot.pages.values() {
            let twins = page.twins.iter().map(|twin| (&twin.disk, &twin.ruling));
            for (disk, ruling) in [(&page.disk, &page.ruling)].into_iter().chain(twins) {
                let (path, ruling) = (disk.to_string(), Ruling::clone(ruling));
                pages.push(ClassifiedPage { path, ruling, served_as: page.class });
            }
        }
        let of_dot_file = |path: &String| {
            let ruling = judge(path, &GitAttributes::NONE, NameCase::Exact);
            ClassifiedPage { path: path.clone(), served_as: ruling.class, ruling }
        };
        pages.extend(snapshot.private_dot_files.iter().map(of_dot_file));
        pages.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Classification { pages, warnings: snapshot.doubts.clone() })
    }
}
