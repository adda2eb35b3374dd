//! When a commit last changed each file: a clone stamps every file with the time of the
//! clone, which says nothing about the note (L57).
//!
//! A commit's date is that of a file only while the file is what was committed. No
//! program of the repository may run to find that out, so the file is not compared: git's
//! index holds the stamps that a file had when git last saw that it was what the index
//! has. A file that still has them is unchanged, unless it was stamped when the index was
//! written or later (git's "racily clean"). One that has other stamps may be unchanged
//! all the same; then it goes without the date, as one that was changed does.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::access::path::VaultPath;
use crate::vault::fingerprint::Identity;
use crate::vault::git::{Git, GitError};

/// Older commits are not looked at.
const MOST_COMMITS: &str = "--max-count=100000";

/// What `git log` may do: no program of the repository, no renames, no guesses.
const LOG: [&str; 12] = [
    "log",
    // A merge is named for the files that are like none of its parents.
    "-c",
    "--name-only",
    // For merges `--relative` would be ignored; without it all paths begin at the top.
    "--no-relative",
    "--no-renames",
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-notes",
    "-z",
    // The time stands behind a slash, with which no path begins. What stands between
    // it and the first path is another thing for merges.
    "--format=/%ct",
    MOST_COMMITS,
];

/// When each page was last committed, in seconds since the epoch; nothing if the commit
/// does not tell.
type Times = HashMap<Box<str>, Option<i64>>;

/// The dates of one commit and index. Made and refreshed off the path of requests: it
/// runs git several times. Copies share what has not changed, which is nearly always all.
#[derive(Clone, Debug)]
pub(super) struct CommitDates {
    git: Arc<Git>,
    head: String,
    times: Arc<Times>,
    index: Option<Identity>,
    /// The stamps of the files that are in the index as in the commit.
    stamps: Arc<HashMap<Box<str>, Stamps>>,
}

/// What git's index holds of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamps {
    changed: (i64, i64),
    modified: (i64, i64),
    /// The last 32 bits of each.
    inode: u32,
    size: u32,
}

impl CommitDates {
    /// Reads the dates of the repository that a vault is in. `None` if there is none, or
    /// it has no commit.
    pub(super) fn read(root: &Path) -> Result<Option<Self>, GitError> {
        let git = Arc::new(Git::find(root)?);
        let Some(head) = head(&git) else { return Ok(None) };
        let times = Arc::new(times(&git, &head)?);
        let mut dates = Self { git, head, times, index: None, stamps: Arc::default() };
        dates.read_stamps()?;
        Ok(Some(dates))
    }

    /// Reads what has changed since; only new commits, if they follow those that are
    /// known. Says whether anything has.
    pub(super) fn refresh(&mut self) -> Result<bool, GitError> {
        let Some(head) = head(&self.git) else { return Ok(false) };
        let has_moved = head != self.head;
        if has_moved {
            let follows = ["merge-base", "--is-ancestor", &self.head, &head];
            if self.git.ask(&follows, Vec::new()).is_ok() {
                let newer = times(&self.git, &format!("{}..{head}", self.head))?;
                Arc::make_mut(&mut self.times).extend(newer);
            } else {
                self.times = Arc::new(times(&self.git, &head)?);
            }
            self.head = head;
        }
        let index = self.index_file()?;
        if !has_moved && self.index.is_some() && self.index == identity(&index) {
            return Ok(false);
        }
        self.read_stamps()?;
        Ok(true)
    }

    /// When the last commit changed a file that is as it was committed. `disk` is its path
    /// as the disk spells it, `now` are the stamps that it has.
    pub(super) fn of(&self, disk: &str, now: &Identity) -> Option<Timestamp> {
        let stamps = self.stamps.get(disk).filter(|stamps| **stamps == Stamps::of(now))?;
        // Written at the same moment as the index or later, it may have changed since
        // within one tick of the clock.
        let index = self.index.as_ref()?;
        if stamps.modified >= index.modified() {
            return None;
        }
        Timestamp::from_second((*self.times.get(disk)?)?).ok()
    }

    fn index_file(&self) -> Result<PathBuf, GitError> {
        let file = self.git.text(&["rev-parse", "--git-path", "index"])?;
        Ok(self.git.folder().join(file))
    }

    fn read_stamps(&mut self) -> Result<(), GitError> {
        let file = self.index_file()?;
        // Before it is read: a newer one is read again.
        self.index = identity(&file);
        let listing = self.git.ask_patiently(&["ls-files", "--debug", "-z"])?;
        let arguments =
            ["diff-index", "--cached", "--name-only", "--relative", "--no-renames", "-z", "HEAD"];
        let staged = self.git.ask_patiently(&arguments)?;
        let staged: HashSet<&[u8]> = staged.split(|byte| *byte == 0).collect();
        let mut stamps = parse_stamps(&listing);
        stamps.retain(|path, _| !staged.contains(path.as_bytes()));
        self.stamps = Arc::new(stamps);
        Ok(())
    }
}

impl Stamps {
    #[expect(clippy::cast_possible_truncation, reason = "git keeps as much")]
    fn of(identity: &Identity) -> Self {
        Self {
            changed: identity.changed(),
            modified: identity.modified(),
            inode: identity.inode.number as u32,
            size: identity.size() as u32,
        }
    }
}

fn head(git: &Git) -> Option<String> {
    git.text(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ok()
}

fn identity(file: &Path) -> Option<Identity> {
    fs::metadata(file).ok().map(|metadata| Identity::of(&metadata))
}

/// The time of the newest commit of a range that changed each page.
fn times(git: &Git, range: &str) -> Result<Times, GitError> {
    let above = git.text(&["rev-parse", "--show-prefix"])?;
    let mut arguments = LOG.to_vec();
    arguments.extend([range, "--"]);
    if !above.is_empty() {
        arguments.push(".");
    }
    Ok(parse_log(&git.ask_patiently(&arguments)?, &above))
}

/// Reads `/time`, then paths, again and again, with NULs between them: one or several,
/// and a line end before the first path of what is no merge. `above` is the folder of
/// the repository that the paths count from.
fn parse_log(output: &[u8], above: &str) -> Times {
    let mut times = Times::new();
    let mut time = None;
    for field in output.split(|byte| *byte == 0) {
        if let Some(begun) = field.strip_prefix(b"/") {
            time = std::str::from_utf8(begun).ok().and_then(|time| time.parse().ok());
            continue;
        }
        let path = field.strip_prefix(b"\n").unwrap_or(field);
        if let Ok(path) = std::str::from_utf8(path)
            && let Some(path) = path.strip_prefix(above)
            && VaultPath::is_page_name(path)
            && !times.contains_key(path)
        {
            times.insert(path.into(), time);
        }
    }
    times
}

/// Reads `path<NUL>` and five lines about it, again and again.
fn parse_stamps(listing: &[u8]) -> HashMap<Box<str>, Stamps> {
    let mut stamps: HashMap<Box<str>, Stamps> = HashMap::new();
    let mut fields = listing.split(|byte| *byte == 0);
    let mut path = fields.next().unwrap_or_default();
    for field in fields {
        let mut lines = field.splitn(6, |byte| *byte == b'\n');
        let facts: Vec<&str> =
            lines.by_ref().take(5).filter_map(|line| std::str::from_utf8(line).ok()).collect();
        if let Ok(name) = std::str::from_utf8(path)
            && VaultPath::is_page_name(name)
            && let Some(found) = parse_facts(&facts)
        {
            // Twice there while a merge waits for its end: then it is nobody's state.
            let is_unmerged = stamps.insert(name.into(), found).is_some();
            if is_unmerged {
                stamps.remove(name);
            }
        }
        path = lines.next().unwrap_or_default();
    }
    stamps
}

fn parse_facts(lines: &[&str]) -> Option<Stamps> {
    let value = |line: &str, name: &str| {
        let rest = line.split_once(name)?.1;
        Some(rest.split('\t').next()?.trim().to_owned())
    };
    let time = |line: &str, name: &str| {
        let time = value(line, name)?;
        let (seconds, nanoseconds) = time.split_once(':')?;
        Some((seconds.parse().ok()?, nanoseconds.parse().ok()?))
    };
    let [changed, modified, file, _, size] = lines else { return None };
    Some(Stamps {
        changed: time(changed, "ctime:")?,
        modified: time(modified, "mtime:")?,
        inode: value(file, "ino:")?.parse().ok()?,
        size: value(size, "size:")?.parse().ok()?,
    })
}
