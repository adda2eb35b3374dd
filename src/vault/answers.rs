//! What the vault answers, in types of its own.
//!
//! Whatever stands in here was computed for one viewer, from the pages that this
//! viewer may see.

use std::fmt;
use std::ops::{Range, RangeInclusive};

use jiff::Timestamp;

use crate::access::class::PageClass;
use crate::access::path::VaultPath;
use crate::vault::markdown::{LinkKind, Parsed};

/// A note as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteSummary {
    /// Where it is.
    pub path: VaultPath,
    /// Its title: from the frontmatter, else the first heading, else the file name.
    pub title: String,
    /// Its tags, as they are first written, without `#`, each once.
    pub tags: Vec<String>,
    /// When it was last changed.
    pub modified: Modified,
    /// The size of the file in bytes.
    pub size: u64,
    /// The note of which this file is a conflict copy that a sync tool has left, if
    /// that is visible too.
    pub conflict_of: Option<VaultPath>,
}

/// When a note was last changed, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Modified {
    /// The moment. Of a date without a time: its beginning in the server's time zone.
    pub at: Timestamp,
    /// Where that comes from.
    pub source: DateSource,
}

/// Where the date of a note comes from (L57).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DateSource {
    /// `updated`, `modified`, `date` or `created` in the frontmatter.
    Frontmatter,
    /// The last commit that changed the file.
    Commit,
    /// The file system.
    File,
}

/// Which notes to search, and for what.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The full query language.
    pub query: String,
    /// Only notes in and below this folder; empty for all. Naming the inbox here
    /// searches it.
    pub folder: String,
    /// At most so many notes.
    pub limit: usize,
    /// Notes that an earlier page of the same search has shown: [`shown_mark`] of
    /// their paths. They are left out, whatever has changed in between.
    pub shown: Vec<u64>,
    /// Which of them get their passages.
    pub passages: Passages,
}

/// Which of the notes that were found get their passages: for each a file is read.
#[derive(Clone, Copy, Debug)]
pub enum Passages {
    /// None.
    None,
    /// All.
    All,
    /// All, and there are no more notes than fit an answer.
    Fitting {
        /// So many bytes there are for all notes. The first is never left out.
        bytes: usize,
        /// What a note takes at least, whatever its passage is.
        least: fn(&NoteSummary) -> usize,
    },
}

/// What stands for a path in [`SearchRequest::shown`].
#[must_use]
pub fn shown_mark(path: &VaultPath) -> u64 {
    // FNV-1a: it need not be secret, only the same everywhere.
    path.as_str().bytes().fold(0xcbf2_9ce4_8422_2325, |mark, byte| {
        (mark ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// One page of search results.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResults {
    /// The notes, best first.
    pub hits: Vec<NoteHit>,
    /// How many notes match in all, those shown before included.
    pub total: usize,
    /// Whether there are more to show.
    pub has_more: bool,
    /// How the query was read.
    pub reading: QueryReading,
}

/// How a query was read, in words for the model that wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryReading {
    /// The query in its normal form, such as `heat AND pump NOT tag:draft`.
    pub interpreted: String,
    /// Words that were left out of scoring, because they are in every text.
    pub ignored: Vec<String>,
    /// What was searched for instead of words that no note has: (typed, instead).
    pub corrected: Vec<(String, String)>,
    /// If nothing matches, the filters that no visible note passes by itself.
    pub unmatched: Vec<Unmatched>,
}

/// A filter that no visible note passes. Whether a hidden one does makes no difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmatched {
    /// The folder that is searched.
    Folder,
    /// A tag.
    Tag(String),
    /// A part of a path.
    Path(String),
}

impl fmt::Display for Unmatched {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder => write!(formatter, "No visible note is under this folder."),
            Self::Tag(tag) => write!(formatter, "No visible note has the tag \"{tag}\"."),
            Self::Path(path) => write!(formatter, "No visible path contains \"{path}\"."),
        }
    }
}

/// A note that answers a query.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteHit {
    /// The note.
    pub note: NoteSummary,
    /// How well it answers: larger is better; comparable within one answer only.
    /// `None` where notes are listed by date.
    pub score: Option<f32>,
    /// Where it answers best.
    pub passage: Passage,
}

/// A passage of a note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// The text on one line.
    pub text: String,
    /// What matches in it, counted in characters (Unicode scalar values) of `text`.
    pub matches: Vec<Range<usize>>,
    /// The lines of the file that it comes from, counted from 1.
    pub lines: Option<RangeInclusive<u32>>,
    /// The headings above it, the outermost first.
    pub headings: Vec<String>,
    /// The anchor of the innermost of them, as GitHub makes it.
    pub anchor: Option<String>,
}

/// A note that is open: its text and everything that can be read from it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenNote {
    /// What lists show of it.
    pub summary: NoteSummary,
    /// Its class.
    pub class: PageClass,
    /// Its text, as it is written.
    pub text: String,
    /// Changes whenever the text does.
    pub etag: String,
    /// What parsing found.
    pub parsed: Parsed,
}

/// Which notes to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRequest {
    /// Only notes in this folder; empty for the vault itself. Naming the inbox
    /// lists it.
    pub folder: String,
    /// Those of the folders below as well.
    pub is_recursive: bool,
    /// In which order.
    pub order: ListOrder,
    /// At most so many.
    pub limit: usize,
    /// Only those behind this place in the order.
    pub after: Option<ListPlace>,
}

/// How notes are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    /// By path.
    Path,
    /// By title, letter case aside.
    Title,
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
}

/// A place in a list that stays where it is while notes come and go.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ListPlace {
    /// What the list is sorted by: a title, or a time in nanoseconds; empty for paths.
    pub key: String,
    /// The path of the last note that was shown.
    pub path: String,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteList {
    /// The notes.
    pub notes: Vec<NoteSummary>,
    /// How many there are in all.
    pub total: usize,
    /// Where to go on; `None` at the end.
    pub next: Option<ListPlace>,
}

/// A tag with the number of notes that have it or a tag below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagCount {
    /// The tag in the spelling that most of its notes use, without `#`.
    pub tag: String,
    /// The number of notes.
    pub notes: usize,
}

/// The links of one note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteLinks {
    /// From it, in the order of its text.
    pub forward: Vec<ForwardLink>,
    /// To it, by path and line.
    pub back: Vec<Backlink>,
}

/// A link from a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardLink {
    /// What kind of link it is.
    pub kind: LinkKind,
    /// The target as it is written, without the anchor.
    pub target: String,
    /// What is shown for it.
    pub text: String,
    /// The heading or block behind `#`.
    pub anchor: Option<String>,
    /// The line, counted from 1.
    pub line: u32,
    /// The note that it leads to; `None` if no visible note is meant.
    pub note: Option<VaultPath>,
}

/// A link to a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlink {
    /// The note that has the link.
    pub path: VaultPath,
    /// The title of that note.
    pub title: String,
    /// The line of the link, counted from 1.
    pub line: u32,
    /// That line, shortened.
    pub context: String,
}

/// A note that has to do with another.
#[derive(Clone, Debug, PartialEq)]
pub struct RelatedNote {
    /// The note.
    pub note: NoteSummary,
    /// Larger is closer; comparable within one answer only.
    pub score: f32,
    /// Why, the strongest first.
    pub reasons: Vec<Relation>,
}

/// Why two notes are related.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The one links to the other.
    Links,
    /// Both link to this note, or it links to both.
    SharedLink(VaultPath),
    /// Both have this tag.
    SharedTag(String),
    /// Both use these words, which few others use.
    SharedWords(Vec<String>),
}

/// What a vault consists of, as far as the viewer may see.
#[derive(Clone, Debug, PartialEq)]
pub struct VaultStats {
    /// Notes outside the inbox.
    pub notes: usize,
    /// Notes in the inbox.
    pub inbox_notes: usize,
    /// Their size in bytes, the inbox left out.
    pub bytes: u64,
    /// Notes by top-level folder (empty name: the vault itself), most first.
    pub folders: Vec<(String, usize)>,
    /// The most frequent tags.
    pub top_tags: Vec<TagCount>,
    /// How many different tags there are.
    pub tags: usize,
    /// Links between notes: those that lead somewhere, and those that do not.
    pub links: (usize, usize),
    /// Notes without links from or to other notes.
    pub orphans: usize,
    /// Notes whose frontmatter cannot be read.
    pub invalid_frontmatter: usize,
    /// How well the index agrees with the disk.
    pub health: IndexHealth,
}

/// How well the index agrees with the disk, as far as the viewer may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexHealth {
    /// Files that are notes by their names.
    pub files: usize,
    /// Those that can be searched.
    pub indexed: usize,
    /// Those that cannot, with the reason.
    pub skipped: Vec<(VaultPath, SkipReason)>,
    /// Copies that a sync tool has left: (copy, original).
    pub conflict_copies: Vec<(VaultPath, VaultPath)>,
    /// When a change to a visible note was last taken in.
    pub last_change: Option<Timestamp>,
    /// How long that took, from the file's stamp on, in milliseconds.
    pub lag_milliseconds: Option<u64>,
    /// How changes are noticed; `None` if nobody waits for them.
    pub watching: Option<Watching>,
    /// The time zone in which dates without a zone are read.
    pub time_zone: String,
}

/// How changes on the disk are noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watching {
    /// The system tells.
    Events,
    /// By looking again and again, for this reason.
    Polling(String),
}

/// Why a file is not searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// Its bytes are no text.
    #[error("it is not text")]
    NotText,
    /// git-crypt is locked on this machine.
    #[error("it is encrypted and locked on this machine")]
    Locked,
    /// A symbolic link: none is followed, for it may lead anywhere.
    #[error("it is a symbolic link, and none is followed")]
    Link,
    /// A FIFO, a socket or a device.
    #[error("it is no file")]
    NotAFile,
    /// Larger than the limit.
    #[error("it is too large")]
    TooLarge,
    /// A cloud drive has only the name on this machine (L53).
    #[error("it is not downloaded to this machine")]
    NotDownloaded,
    /// Reading it makes the program fail, which is our fault.
    #[error("the program cannot read it, which is a fault of the program")]
    Unparsable,
    /// The system refuses, in its words.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// What has changed in the vault, for those who wait for it. Whether a viewer may
/// know of a change is decided by [`Viewer::may_see`](crate::access::permit::Viewer::may_see)
/// with both classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The page.
    pub path: VaultPath,
    /// Its class before; `None` if it was not there.
    pub before: Option<PageClass>,
    /// Its class now; `None` if it is gone.
    pub after: Option<PageClass>,
}
