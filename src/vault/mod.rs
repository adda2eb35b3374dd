//! The folder of notes: which pages there are, what class each has now, and what
//! is in them.
//!
//! Every question is asked by a [`Viewer`]; the answer is computed from the pages
//! that this viewer may see and from nothing else.

use std::path::PathBuf;

use crate::access::path::VaultPath;
use crate::access::permit::{Hidden, Viewer};

/// What a vault needs to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder. It need not be a git repository.
    pub root: PathBuf,
}

/// A handle to an open vault. Cheap to clone. All methods block: call them off the
/// async threads.
#[derive(Clone, Debug)]
pub struct Vault {
    _settings: Settings,
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

impl Vault {
    /// Opens a vault.
    ///
    /// # Errors
    ///
    /// [`OpenError`], in words for the owner.
    pub fn open(settings: Settings) -> Result<Self, OpenError> {
        Ok(Self { _settings: settings })
    }

    /// Reads one page for a viewer.
    ///
    /// # Errors
    ///
    /// [`ReadError`]; a text that is no path is [`ReadError::Hidden`] too.
    pub fn read_page(&self, _viewer: &Viewer, _path: &str) -> Result<Page, ReadError> {
        Err(ReadError::Unavailable(Unavailable))
    }

    /// The pages that match, best first, at most `limit`.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn search(
        &self,
        _viewer: &Viewer,
        _query: &str,
        _limit: usize,
    ) -> Result<Vec<Hit>, Unavailable> {
        Err(Unavailable)
    }
}
