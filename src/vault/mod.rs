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
//! - `inbox::disk` is the only code that writes, and only against a permit too.
//!
//! # Reading order
//!
//! `walk` and `git` (what there is) → `survey` (both together) → `judge` (what is
//! served) → `snapshot` (for how long) → `files`, `page`, `library`, [`inbox`].

pub mod answers;
mod attributes;
mod evidence;
mod files;
mod fingerprint;
mod git;
pub mod inbox;
mod judge;
mod library;
pub mod markdown;
mod page;
mod repository;
mod rules;
mod snapshot;
mod survey;
mod walk;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tracing::info;

use crate::access::class::{
    ClassifiedPath, GitAttributes, NameCase, PageClass, Ruling, class_in_doubt, judge,
};
use crate::access::inbox::{Inbox, InvalidInbox};
use crate::access::path::VaultPath;
use crate::access::permit::{Hidden, Viewer};
use crate::clock::Clock;
use crate::search::Query;
use crate::vault::answers::{
    Change, ListPlace, ListRequest, NoteLinks, NoteList, OpenNote, RelatedNote, SearchRequest,
    SearchResults, TagCount, VaultStats,
};
use crate::vault::files::{NoBytes, Root};
use crate::vault::library::{Question, Shelf};
use crate::vault::page::{Content, decode};
use crate::vault::snapshot::{Keeper, Snapshot};
use crate::vault::survey::Surveyor;

/// A request is started over this often when the vault changes under it.
const ATTEMPTS: usize = 4;

/// What a vault needs to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder. It need not be a git repository.
    pub root: PathBuf,
    /// The folder of notes that are not filed yet, relative to the root. They can be
    /// read, but are left out of search. Clients may write here and nowhere else;
    /// without it they cannot write.
    pub inbox: Option<String>,
}

/// A handle to an open vault. Cheap to clone. All methods block: call them off the
/// async threads.
#[derive(Clone)]
pub struct Vault(Arc<Parts>);

struct Parts {
    root: Arc<Root>,
    keeper: Keeper,
    shelf: Shelf,
    inbox: Option<Inbox>,
    /// Held by the one request that writes.
    writing: Mutex<()>,
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

/// A page that answers a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Where it is.
    pub path: VaultPath,
    /// Its title.
    pub title: String,
    /// The passage that matches, as plain text on one line.
    pub snippet: String,
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
        let unopened = |reason: &dyn fmt::Display| {
            OpenError(format!("the vault {} cannot be opened: {reason}", settings.root.display()))
        };
        let root = Arc::new(Root::open(&settings.root).map_err(|error| unopened(&error))?);
        let surveyor = Surveyor::new(Arc::clone(&root));
        let keeper = Keeper::new(surveyor, clock).map_err(|reason| unopened(&reason))?;
        let inbox = settings.inbox.as_deref().map(str::parse).transpose();
        let inbox = inbox.map_err(|error: InvalidInbox| unopened(&format!("inbox: {error}")))?;
        let (shelf, writing) = (Shelf::default(), Mutex::default());
        Ok(Self(Arc::new(Parts { root, keeper, shelf, inbox, writing })))
    }

    /// Reads one page for a viewer.
    ///
    /// # Errors
    ///
    /// [`ReadError`]; a text that is no path is [`ReadError::Hidden`] too.
    pub fn read_page(&self, viewer: &Viewer, path: &str) -> Result<Page, ReadError> {
        for _ in 0..ATTEMPTS {
            // First of all, so that what cannot be judged looks the same everywhere.
            let snapshot = self.snapshot()?;
            let path: VaultPath = path.parse().map_err(|_| Hidden)?;
            let Some(page) = snapshot.page(&path) else {
                info!(%path, subject = viewer.subject(), client = viewer.client(), "refused: no such page");
                return Err(Hidden.into());
            };
            let class = page.class;
            let permit = viewer
                .permit_read(ClassifiedPath::judged(path.clone(), class))
                .inspect_err(|_| log_refusal(viewer, &path, class))?;
            let read = self.0.root.read_page(permit, &snapshot);
            if read.as_ref().is_err_and(|reason| *reason == NoBytes::Replaced) {
                // The stamps may be too coarse to show it.
                self.0.keeper.fresh().ok_or(Unavailable)?;
            } else if self.0.keeper.confirms(&snapshot) {
                let content = read.map_or(Content::Binary, |read| decode(read.bytes));
                return open_content(viewer, path, class, content);
            }
        }
        Err(Unavailable.into())
    }

    /// The pages that match, best first, at most `limit`.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn search(
        &self,
        viewer: &Viewer,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Hit>, Unavailable> {
        let query = Query::parse(query);
        for _ in 0..ATTEMPTS {
            let snapshot = self.snapshot()?;
            let Some(query) = &query else { return Ok(Vec::new()) };
            let Parts { root, shelf, keeper, inbox, .. } = &*self.0;
            let question = Question { query, limit, without: inbox.as_ref() };
            let hits = library::search(root, shelf, &snapshot, viewer, &question);
            if keeper.confirms(&snapshot) {
                return Ok(hits);
            }
        }
        Err(Unavailable)
    }

    /// Searches with the full query language.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn search_notes(
        &self,
        _viewer: &Viewer,
        _request: &SearchRequest,
    ) -> Result<SearchResults, Unavailable> {
        Err(Unavailable)
    }

    /// Opens one note for a viewer.
    ///
    /// # Errors
    ///
    /// [`ReadError`]; a text that is no path is [`ReadError::Hidden`] too.
    pub fn open_note(&self, _viewer: &Viewer, _path: &str) -> Result<OpenNote, ReadError> {
        Err(Unavailable.into())
    }

    /// Lists notes. A folder that is absent or holds nothing visible has no notes.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn list_notes(
        &self,
        _viewer: &Viewer,
        _request: &ListRequest,
    ) -> Result<NoteList, Unavailable> {
        Err(Unavailable)
    }

    /// The tags that begin with `prefix` (letter case aside), most frequent first.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn tags(&self, _viewer: &Viewer, _prefix: &str) -> Result<Vec<TagCount>, Unavailable> {
        Err(Unavailable)
    }

    /// The notes that have a tag or one below it, the newest first.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn notes_with_tag(
        &self,
        _viewer: &Viewer,
        _tag: &str,
        _limit: usize,
        _after: Option<&ListPlace>,
    ) -> Result<NoteList, Unavailable> {
        Err(Unavailable)
    }

    /// The links from and to one note.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub fn links(&self, _viewer: &Viewer, _path: &str) -> Result<NoteLinks, ReadError> {
        Err(Unavailable.into())
    }

    /// The notes that have to do with one note, the closest first.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub fn related(
        &self,
        _viewer: &Viewer,
        _path: &str,
        _limit: usize,
    ) -> Result<Vec<RelatedNote>, ReadError> {
        Err(Unavailable.into())
    }

    /// What the vault consists of.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn stats(&self, _viewer: &Viewer) -> Result<VaultStats, Unavailable> {
        Err(Unavailable)
    }

    /// Paths that begin with `prefix`, or whose file name does, or its title: for
    /// completion while somebody types.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn complete_path(
        &self,
        _viewer: &Viewer,
        _prefix: &str,
        _limit: usize,
    ) -> Result<Vec<VaultPath>, Unavailable> {
        Err(Unavailable)
    }

    /// Batches of changes from now on. A receiver that is too slow is told that it has
    /// missed some.
    #[must_use]
    pub fn changes(&self) -> tokio::sync::broadcast::Receiver<Arc<[Change]>> {
        tokio::sync::broadcast::channel(1).1
    }

    /// What git's attributes make of every page. For the owner only: it names pages
    /// whatever their class.
    ///
    /// # Errors
    ///
    /// [`Unavailable`]; the reason is in the log.
    pub fn classification(&self) -> Result<Classification, Unavailable> {
        let snapshot = self.snapshot()?;
        let mut pages = Vec::new();
        for page in snapshot.pages.values() {
            let twins = page.twins.iter().map(|twin| (&twin.disk, &twin.ruling));
            for (disk, ruling) in [(&page.disk, &page.ruling)].into_iter().chain(twins) {
                let (path, ruling) = (disk.clone(), ruling.clone());
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

    fn snapshot(&self) -> Result<Arc<Snapshot>, Unavailable> {
        let snapshot = self.0.keeper.snapshot().ok_or(Unavailable)?;
        self.0.shelf.tidy(&snapshot);
        Ok(snapshot)
    }
}

/// Turns what was read into the answer. Ciphertext is at least confidential,
/// whatever the rules say.
fn open_content(
    viewer: &Viewer,
    path: VaultPath,
    class: PageClass,
    content: Content,
) -> Result<Page, ReadError> {
    match content {
        Content::Text(text) => Ok(Page { title: page::title(&path, &text), path, text }),
        Content::Binary => Err(ReadError::NotText),
        Content::Ciphertext => {
            let class = class.max(class_in_doubt(path.as_str()));
            if viewer.may_see(class) {
                Err(ReadError::Locked)
            } else {
                log_refusal(viewer, &path, class);
                Err(Hidden.into())
            }
        }
    }
}

/// The real reason, for the owner.
fn log_refusal(viewer: &Viewer, path: &VaultPath, class: PageClass) {
    info!(%path, %class, subject = viewer.subject(), client = viewer.client(), "refused: no scope for this class");
}
