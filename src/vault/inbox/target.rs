//! Where a note is to go: what the client asked for → a name in a folder.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::access::class::{PageClass, is_private_name};
use crate::access::inbox::Inbox;
use crate::access::path::VaultPath;
use crate::access::permit::Viewer;
use crate::vault::Unavailable;
use crate::vault::fingerprint::since_epoch;
use crate::vault::inbox::name::{NoteName, TakenNames};
use crate::vault::inbox::{NoteToWrite, WriteError, WriteMode};
use crate::vault::survey::Prospect;

/// The most folders below the inbox: more are a mistake.
const DEEPEST: usize = 8;

/// The highest number behind a title.
const MOST_NUMBERS: usize = 999;

/// What percent-encoding would make of a path that leaves a folder (L46). Nobody calls
/// a note so; a client that encodes its path would get one of the wrong name.
const ENCODED: [&str; 4] = ["%2e", "%2f", "%5c", "%00"];

/// Where a note is to go, as far as that follows from the request alone.
#[derive(Debug)]
pub(super) struct Target {
    folders: Vec<String>,
    name: NoteName,
    /// The name as it was given, if a path was.
    given: Option<String>,
}

/// Where it does go.
#[derive(Debug)]
pub(super) enum Choice {
    /// A name that was free.
    New { name: String, prospect: Prospect },
    /// Something of that very name is there, spelt like this by the disk.
    Old { disk: String, prospect: Prospect },
}

impl Target {
    /// # Errors
    ///
    /// [`WriteError::Nameless`], [`WriteError::Outside`], [`WriteError::Secret`].
    pub(super) fn of(note: &NoteToWrite, inbox: &Inbox) -> Result<Self, WriteError> {
        let way = inbox.segments().map(str::to_owned);
        let target = match (&*note.path, note.title.trim()) {
            ("", "") => return Err(WriteError::Nameless),
            ("", title) => {
                Self { folders: way.collect(), name: NoteName::of_title(title), given: None }
            }
            (path, _) => {
                let path = composed(path).ok_or(WriteError::Outside)?;
                let inside = inbox.inside(&path).ok_or(WriteError::Outside)?;
                let (folders, given) = inside.rsplit_once('/').unwrap_or(("", inside));
                let inner = folders.split('/').filter(|folder| !folder.is_empty());
                if inner.clone().count() > DEEPEST {
                    return Err(WriteError::Outside);
                }
                Self {
                    folders: way.chain(inner.map(str::to_owned)).collect(),
                    name: NoteName::of_segment(given),
                    given: Some(given.to_owned()),
                }
            }
        };
        let given = target.given.iter().chain(&target.folders);
        if given.chain([&target.name.plain()]).any(|name| is_private_name(name)) {
            return Err(WriteError::Secret);
        }
        Ok(target)
    }

    /// The folders on the way, from the vault down.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(|folder| &**folder)
    }

    /// Chooses the name. `judge` says what the rules make of names in the folder.
    pub(super) fn choose(
        &self,
        viewer: &Viewer,
        note: &NoteToWrite,
        taken: &TakenNames,
        judge: impl Fn(&[String]) -> Result<Vec<Prospect>, Unavailable>,
    ) -> Result<Choice, WriteError> {
        let plain = self.name.plain();
        // What was given may be there although we would not call a note so.
        let given = self.given.clone().unwrap_or_else(|| plain.clone());
        let marked = self.name.marked(&mark(note));
        let [of_plain, of_given, of_marked] =
            three(&judge(&[plain.clone(), given.clone(), marked.clone()])?)?;
        if of_plain.class.max(of_given.class) == PageClass::Secret {
            return Err(WriteError::Secret);
        }
        let is_by_title = self.given.is_none() && note.mode == WriteMode::Create;
        if !viewer.may_see(of_plain.class) || !viewer.may_see(of_given.class) {
            return match is_by_title {
                true if taken.has(&marked) => Err(WriteError::Busy),
                true => Ok(Choice::New { name: marked, prospect: of_marked }),
                false => Err(WriteError::NotOpen),
            };
        }
        if is_by_title {
            return self.free(viewer, taken, judge, of_plain);
        }
        let there = [(&given, of_given), (&plain, of_plain)]
            .into_iter()
            .find_map(|(name, prospect)| Some((taken.spelling(name)?, prospect)));
        match (note.mode, there) {
            (WriteMode::Append, Some((disk, prospect))) => {
                Ok(Choice::Old { disk: disk.to_owned(), prospect })
            }
            (WriteMode::Create, Some(_)) => Err(WriteError::Taken),
            (WriteMode::Create | WriteMode::Append, None) if taken.has(&plain) => {
                Err(WriteError::Taken)
            }
            (WriteMode::Create | WriteMode::Append, None) => {
                Ok(Choice::New { name: plain, prospect: of_plain })
            }
        }
    }

    /// The first name that is free. One that would be of a class that the client does
    /// not see counts as taken, whatever there is.
    fn free(
        &self,
        viewer: &Viewer,
        taken: &TakenNames,
        judge: impl Fn(&[String]) -> Result<Vec<Prospect>, Unavailable>,
        of_plain: Prospect,
    ) -> Result<Choice, WriteError> {
        for number in 1..=MOST_NUMBERS {
            let name = self.name.numbered(number);
            if taken.has(&name) {
                continue;
            }
            let prospect = match number {
                1 => of_plain,
                _ => judge(std::slice::from_ref(&name))?.pop().ok_or(Unavailable)?,
            };
            if viewer.may_see(prospect.class) {
                return Ok(Choice::New { name, prospect });
            }
        }
        Err(WriteError::Taken)
    }
}

/// A path of a note as it is served; `None` if it is none.
fn composed(path: &str) -> Option<String> {
    let lower = path.to_ascii_lowercase();
    if ENCODED.iter().any(|encoded| lower.contains(encoded)) || path.contains('\\') {
        return None;
    }
    // Without an ending it is a note all the same.
    let path = path.parse().or_else(|_| format!("{path}.md").parse());
    path.ok().map(|path: VaultPath| path.as_str().to_owned())
}

/// What makes a name one of its kind without a look at the names that there are.
fn mark(note: &NoteToWrite) -> String {
    let mut digest = Sha256::new();
    digest.update(since_epoch().as_nanos().to_le_bytes());
    digest.update(&note.content);
    digest.finalize().iter().take(4).fold(String::new(), |mut mark, byte| {
        let _ = write!(mark, "{byte:02x}");
        mark
    })
}

fn three(prospects: &[Prospect]) -> Result<[Prospect; 3], Unavailable> {
    prospects.try_into().map_err(|_| Unavailable)
}
