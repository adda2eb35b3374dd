//! What git has stored of each page: ciphertext is evidence of a class, whatever the
//! rules say now.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::{self, BufReader, Read as _};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use unicode_normalization::UnicodeNormalization as _;

use crate::access::class::NameCase;
use crate::access::path::VaultPath;
use crate::search::query::path_key;
use crate::vault::fingerprint::Identity;
use crate::vault::git::{Git, GitError};

/// How a file begins that git-crypt has encrypted.
pub(super) const CIPHERTEXT_MARK: &[u8] = b"\0GITCRYPT\0";

/// Fewer blobs than these are read sooner than a second process is started.
const WORTH_TWO_PROCESSES: usize = 1000;

/// So many blobs are remembered for each file, before those of the past are forgotten.
const MOST_PER_FILE: usize = 3;

/// Whether bytes begin like ciphertext of git-crypt.
pub(super) fn is_ciphertext(bytes: &[u8]) -> bool {
    bytes.starts_with(CIPHERTEXT_MARK)
}

/// What is known of the blobs of the repository. Each is read once, and the index and
/// the commit are listed once for each state that they are in.
#[derive(Debug, Default)]
pub(super) struct Blobs {
    /// Whether the blob of an object id is ciphertext. One that git does not have
    /// counts as if it were.
    encrypted: HashMap<Box<str>, bool>,
    staged: Option<Staged>,
    committed: Option<Committed>,
    last_tree: Option<String>,
    /// The two of them together.
    stored: Option<Arc<Stored>>,
}

/// The index in one state.
#[derive(Debug)]
struct Staged {
    /// `None` if its stamps do not tell it from every later one.
    index: Option<Identity>,
    listing: Listing,
}

/// One commit.
#[derive(Debug)]
struct Committed {
    tree: String,
    listing: Listing,
}

/// What is to be known of a list of files.
#[derive(Debug, Default)]
struct Listing {
    encrypted: Vec<String>,
    rule_files: Vec<String>,
}

/// A path that git has stored, and the blob that it has for it.
#[derive(Debug)]
struct StoredFile<'a> {
    path: &'a str,
    blob: &'a str,
    kind: Kind,
}

/// What a stored file is on the disk. git reads rules from the target of a link, too,
/// when only the index has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Regular,
    Other,
}

/// What git has stored, as far as it concerns classes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    /// The paths with ciphertext in the index or in the current commit, composed.
    encrypted: BTreeSet<String>,
    /// The same without their letter case, where names are the same without it.
    folded: Option<BTreeSet<String>>,
    /// The rule files in the index, relative to the vault.
    staged_rules: Vec<String>,
}

impl Stored {
    /// Whether there is ciphertext under this path.
    pub(super) fn is_encrypted(&self, path: &str) -> bool {
        match &self.folded {
            Some(folded) => folded.contains(&path_key(path)),
            None => self.encrypted.contains(path),
        }
    }

    /// The rule files that are ciphertext: git falls back to them when the disk has
    /// none.
    pub(super) fn encrypted_rule_files(&self) -> impl Iterator<Item = &str> {
        self.encrypted.iter().map(|path| &**path).filter(|path| is_rule_file(path))
    }

    /// The rule files that git reads from its index when the disk has none. Those in
    /// hidden folders are about nothing of ours.
    pub(super) fn staged_rules(&self) -> &[String] {
        &self.staged_rules
    }
}

/// Where the index is, and which rule files above the vault it may have.
#[derive(Debug)]
pub(super) struct IndexPlace<'a> {
    pub(super) file: Option<&'a Path>,
    /// Relative to the vault.
    pub(super) rules_above: Vec<String>,
    /// Whether names that differ in letter case are the same: the disk may then spell a
    /// file otherwise than the index does.
    pub(super) case: NameCase,
}

impl Blobs {
    /// Reads what has not been read before. `moment` is when looking at the vault began.
    pub(super) fn stored(
        &mut self,
        git: &Git,
        index: &IndexPlace<'_>,
        moment: SystemTime,
    ) -> Result<Arc<Stored>, GitError> {
        let index_is_known = self.read_index(git, index, moment)?;
        let commit_is_known = self.read_commit(git)?;
        let stored = match self.stored.take() {
            Some(kept) if index_is_known && commit_is_known => kept,
            kept => {
                let stored = self.combine(index.case);
                kept.filter(|kept| **kept == stored).unwrap_or_else(|| Arc::new(stored))
            }
        };
        self.stored = Some(Arc::clone(&stored));
        Ok(stored)
    }

    /// The tree of the commit that was listed last.
    pub(super) fn tree(&self) -> Option<&str> {
        self.last_tree.as_deref()
    }

    /// Lists everything anew the next time.
    pub(super) fn forget_lists(&mut self) {
        self.staged = None;
        self.committed = None;
    }

    fn combine(&self, case: NameCase) -> Stored {
        let staged = self.staged.as_ref().map(|staged| &staged.listing);
        let committed = self.committed.as_ref().map(|committed| &committed.listing);
        let all = staged.into_iter().chain(committed).flat_map(|listing| &listing.encrypted);
        let encrypted: BTreeSet<String> = all.map(|path| path.nfc().collect()).collect();
        let folded = || encrypted.iter().map(|path| path_key(path)).collect();
        Stored {
            folded: (case == NameCase::Folded).then(folded),
            encrypted,
            staged_rules: staged.map(|listing| listing.rule_files.clone()).unwrap_or_default(),
        }
    }

    /// Lists the index, unless it is the one that was listed before. Says whether it is.
    fn read_index(
        &mut self,
        git: &Git,
        place: &IndexPlace<'_>,
        moment: SystemTime,
    ) -> Result<bool, GitError> {
        let index = place.file.and_then(identity_of_file);
        let is_known = |staged: &Staged| staged.index.is_some() && staged.index == index;
        if self.staged.as_ref().is_some_and(is_known) {
            return Ok(true);
        }
        self.staged = None;
        let answer = git.ask(&["ls-files", "--stage", "-z"], Vec::new())?;
        // `100644 ID stage<TAB>path`
        let mut listing = self.read_listing(git, &answer.output, 1)?;
        if !place.rules_above.is_empty() {
            let mut arguments = vec!["--literal-pathspecs", "ls-files", "-z", "--"];
            arguments.extend(place.rules_above.iter().map(|path| &**path));
            let answer = git.ask(&arguments, Vec::new())?;
            let above = answer.output.split(|byte| *byte == 0).filter(|path| !path.is_empty());
            listing.rule_files.extend(above.map(|path| String::from_utf8_lossy(path).into_owned()));
        }
        // What was listed is the index of those stamps only if it still has them.
        let index = index.filter(|index| {
            index.is_settled_at(moment) && place.file.and_then(identity_of_file) == Some(*index)
        });
        self.staged = Some(Staged { index, listing });
        Ok(false)
    }

    /// Lists the current commit, unless it is the one that was listed before. Says
    /// whether it is.
    fn read_commit(&mut self, git: &Git) -> Result<bool, GitError> {
        let tree = match git.text(&["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]) {
            Ok(tree) => tree,
            // A branch without a commit. A damaged one shows in the next question.
            Err(GitError::Failed { .. }) => return Ok(self.committed.take().is_none()),
            Err(error) => return Err(error),
        };
        if self.committed.as_ref().is_some_and(|commit| commit.tree == tree) {
            return Ok(true);
        }
        let answer = git.ask(&["ls-tree", "-r", "-z", &tree], Vec::new())?;
        // `100644 blob ID<TAB>path`
        let listing = self.read_listing(git, &answer.output, 2)?;
        self.last_tree = Some(tree.clone());
        self.committed = Some(Committed { tree, listing });
        Ok(false)
    }

    /// Finds out which files of a list are ciphertext.
    fn read_listing(
        &mut self,
        git: &Git,
        output: &[u8],
        column_of_blob: usize,
    ) -> Result<Listing, GitError> {
        let files = stored_files(output, column_of_blob);
        let regular = || files.iter().filter(|file| file.kind == Kind::Regular);
        let is_unknown = |blob: &&str| !self.encrypted.contains_key(*blob);
        let unknown: BTreeSet<&str> = regular().map(|file| file.blob).filter(is_unknown).collect();
        if !unknown.is_empty() {
            self.encrypted.extend(read_blobs(git, &unknown)?);
        }
        // A vault that has been followed for years remembers no more than a new one.
        if self.encrypted.len() > MOST_PER_FILE * files.len().max(WORTH_TWO_PROCESSES) {
            let present: HashSet<&str> = files.iter().map(|file| file.blob).collect();
            self.encrypted.retain(|blob, _| present.contains(&**blob));
        }
        let is_encrypted =
            |file: &&StoredFile<'_>| self.encrypted.get(file.blob).copied().unwrap_or(true);
        let path = |file: &StoredFile<'_>| file.path.to_owned();
        Ok(Listing {
            encrypted: regular().filter(is_encrypted).map(path).collect(),
            rule_files: files.iter().filter(|file| may_rule_pages(file.path)).map(path).collect(),
        })
    }
}

/// The files that are named like a page or a rule file.
fn stored_files(listing: &[u8], column_of_blob: usize) -> Vec<StoredFile<'_>> {
    let file = |line| {
        let (facts, path) = std::str::from_utf8(line).ok()?.split_once('\t')?;
        let blob = facts.split(' ').nth(column_of_blob)?;
        let kind = if facts.starts_with("100") { Kind::Regular } else { Kind::Other };
        let counts = VaultPath::is_page_name(path) || is_rule_file(path);
        counts.then_some(StoredFile { path, blob, kind })
    };
    listing.split(|byte| *byte == 0).filter_map(file).collect()
}

/// Whether a rule file may decide about a page: none of a hidden folder does.
fn may_rule_pages(path: &str) -> bool {
    let is_hidden = |folders: &str| folders.split('/').any(|folder| folder.starts_with('.'));
    is_rule_file(path) && !path.rsplit_once('/').is_some_and(|(folders, _)| is_hidden(folders))
}

/// The stamps of a file; `None` if it is none, or a link, whose stamps say nothing.
fn identity_of_file(path: &Path) -> Option<Identity> {
    let metadata = fs::symlink_metadata(path).ok()?;
    metadata.is_file().then(|| Identity::of(&metadata))
}

fn is_rule_file(path: &str) -> bool {
    path.rsplit('/').next() == Some(".gitattributes")
}

/// Reads how each blob begins. Git inflates each to its end, which is most of the time
/// that a large vault takes to open, so it does so on two processors at once.
fn read_blobs(git: &Git, blobs: &BTreeSet<&str>) -> Result<HashMap<Box<str>, bool>, GitError> {
    let blobs: Vec<&str> = blobs.iter().copied().collect();
    let (first, second) = if blobs.len() < WORTH_TWO_PROCESSES {
        (&*blobs, &[][..])
    } else {
        blobs.split_at(blobs.len() / 2)
    };
    let (first, second) = thread::scope(|scope| {
        let other = (!second.is_empty()).then(|| scope.spawn(|| read_some_blobs(git, second)));
        let first = read_some_blobs(git, first);
        let second = other.map(|other| other.join().unwrap_or_else(|it| resume_unwind(it)));
        (first, second)
    });
    let mut read = first?;
    read.extend(second.transpose()?.unwrap_or_default());
    if read.len() == blobs.len() { Ok(read) } else { Err(GitError::Garbled("cat-file")) }
}

fn read_some_blobs(git: &Git, blobs: &[&str]) -> Result<HashMap<Box<str>, bool>, GitError> {
    let mut input = blobs.join("\n").into_bytes();
    input.push(b'\n');
    git.read_blobs(input, |output| parse_blobs(BufReader::with_capacity(1 << 16, output)))
}

/// Reads `ID blob SIZE<LF>…<LF>` for each blob, and keeps only how it begins.
fn parse_blobs(mut output: impl io::BufRead) -> io::Result<HashMap<Box<str>, bool>> {
    let mut encrypted = HashMap::new();
    let mut header = String::new();
    while output.read_line(&mut header)? > 0 {
        let mut words = header.split_whitespace();
        let id = words.next().unwrap_or_default().into();
        match (words.next(), words.next().and_then(|size| size.parse::<u64>().ok())) {
            (Some("missing"), _) => {
                encrypted.insert(id, true);
            }
            (Some(_), Some(size)) => {
                let mut start = Vec::new();
                let mark = CIPHERTEXT_MARK.len() as u64;
                output.by_ref().take(size.min(mark)).read_to_end(&mut start)?;
                // And the line end behind the blob.
                let rest = size + 1 - start.len() as u64;
                io::copy(&mut output.by_ref().take(rest), &mut io::sink())?;
                encrypted.insert(id, is_ciphertext(&start));
            }
            _ => return Err(io::Error::from(io::ErrorKind::InvalidData)),
        }
        header.clear();
    }
    Ok(encrypted)
}
