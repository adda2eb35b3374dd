//! What git has stored of each page: ciphertext is evidence of a class, whatever the
//! rules say now.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, BufReader, Read as _};

use unicode_normalization::UnicodeNormalization as _;

use crate::access::path::VaultPath;
use crate::vault::git::{Git, GitError};

/// How a file begins that git-crypt has encrypted.
pub(super) const CIPHERTEXT_MARK: &[u8] = b"\0GITCRYPT\0";

/// Whether bytes begin like ciphertext of git-crypt.
pub(super) fn is_ciphertext(bytes: &[u8]) -> bool {
    bytes.starts_with(CIPHERTEXT_MARK)
}

/// What is known of the blobs of the repository. Each is read once.
#[derive(Debug, Default)]
pub(super) struct Blobs {
    /// Whether the blob of an object id is ciphertext. One that git does not have
    /// counts as if it were.
    encrypted: HashMap<String, bool>,
    committed: Option<Committed>,
}

/// The files of one commit.
#[derive(Debug)]
struct Committed {
    tree: String,
    files: Vec<StoredFile>,
}

/// A path that git has stored, and the blob that it has for it.
#[derive(Clone, Debug)]
struct StoredFile {
    path: String,
    blob: String,
}

/// The paths with ciphertext in the index or in the current commit, composed.
#[derive(Debug, Default)]
pub(super) struct EncryptedPaths(BTreeSet<String>);

impl EncryptedPaths {
    pub(super) fn contains(&self, path: &str) -> bool {
        self.0.contains(path)
    }

    /// The rule files that are ciphertext: git falls back to them when the disk has
    /// none.
    pub(super) fn rule_files(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|path| &**path).filter(|path| is_rule_file(path))
    }
}

impl Blobs {
    /// Reads what has not been read before.
    pub(super) fn encrypted_paths(&mut self, git: &Git) -> Result<EncryptedPaths, GitError> {
        let staged = staged_files(git)?;
        self.read_commit(git)?;
        let committed = self.committed.as_ref().map_or(&[][..], |commit| &commit.files);
        let files: Vec<&StoredFile> = staged.iter().chain(committed).collect();
        let known: BTreeMap<&str, bool> = files
            .iter()
            .filter_map(|file| self.encrypted.get_key_value(&file.blob))
            .map(|(blob, encrypted)| (&**blob, *encrypted))
            .collect();
        let unknown: BTreeSet<&str> =
            files.iter().map(|file| &*file.blob).filter(|blob| !known.contains_key(blob)).collect();
        let fresh = if unknown.is_empty() { HashMap::new() } else { read_blobs(git, &unknown)? };
        let is_encrypted =
            |blob: &str| known.get(blob).or_else(|| fresh.get(blob)).copied().unwrap_or(true);
        let paths = files
            .iter()
            .filter(|file| is_encrypted(&file.blob))
            .map(|file| file.path.nfc().collect())
            .collect();
        self.encrypted.extend(fresh);
        Ok(EncryptedPaths(paths))
    }

    /// Lists the current commit, unless it is the one that was listed before.
    fn read_commit(&mut self, git: &Git) -> Result<(), GitError> {
        let tree = match git.text(&["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]) {
            Ok(tree) => tree,
            // A branch without a commit. A damaged one shows in the next question.
            Err(GitError::Failed { .. }) => {
                self.committed = None;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if self.committed.as_ref().is_none_or(|commit| commit.tree != tree) {
            let answer = git.ask(&["ls-tree", "-r", "-z", &tree], Vec::new())?;
            // `100644 blob ID<TAB>path`
            let files = stored_files(&answer.output, 2);
            self.committed = Some(Committed { tree, files });
        }
        Ok(())
    }
}

fn staged_files(git: &Git) -> Result<Vec<StoredFile>, GitError> {
    let answer = git.ask(&["ls-files", "--stage", "-z"], Vec::new())?;
    // `100644 ID stage<TAB>path`
    Ok(stored_files(&answer.output, 1))
}

/// The regular files that are named like a page or a rule file.
fn stored_files(listing: &[u8], column_of_blob: usize) -> Vec<StoredFile> {
    let file = |line: &[u8]| {
        let (facts, path) = std::str::from_utf8(line).ok()?.split_once('\t')?;
        let blob = facts.split(' ').nth(column_of_blob)?;
        let counts =
            facts.starts_with("100") && (VaultPath::is_page_name(path) || is_rule_file(path));
        counts.then(|| StoredFile { path: path.to_owned(), blob: blob.to_owned() })
    };
    listing.split(|byte| *byte == 0).filter_map(file).collect()
}

fn is_rule_file(path: &str) -> bool {
    path.rsplit('/').next() == Some(".gitattributes")
}

fn read_blobs(git: &Git, blobs: &BTreeSet<&str>) -> Result<HashMap<String, bool>, GitError> {
    let mut input: Vec<u8> = Vec::new();
    for blob in blobs {
        input.extend_from_slice(blob.as_bytes());
        input.push(b'\n');
    }
    let read =
        git.read_blobs(input, |output| parse_blobs(BufReader::with_capacity(1 << 16, output)))?;
    if read.len() == blobs.len() { Ok(read) } else { Err(GitError::Garbled("cat-file")) }
}

/// Reads `ID blob SIZE<LF>…<LF>` for each blob, and keeps only how it begins.
fn parse_blobs(mut output: impl io::BufRead) -> io::Result<HashMap<String, bool>> {
    let mut encrypted = HashMap::new();
    let mut header = String::new();
    while output.read_line(&mut header)? > 0 {
        let mut words = header.split_whitespace();
        let id = words.next().unwrap_or_default().to_owned();
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
