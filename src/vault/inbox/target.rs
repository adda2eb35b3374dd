//! Where a note is to go: what the client asked for → a name in a folder.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::access::class::{PageClass, is_private_name};
use crate::access::inbox::Inbox;
use crate::access::path::VaultPath;
use crate::access::permit::Viewer;
use crate::vault::Unavailable;
use crate::vault::fingerprint::since_epoch;
use crate::vault::inbox::name::{NoteName, Variant, folder_name};
use crate::vault::inbox::place::{Place, Sight, is_no_folder};
use crate::vault::inbox::{NoteToWrite, WriteError, WriteMode};
use crate::vault::survey::Prospect;

/// The most folders below the inbox: more are a mistake.
const DEEPEST: usize = 8;

/// The highest number behind a title.
const MOST_NUMBERS: usize = 999;

/// The longest name that a disk holds, in bytes.
const LONGEST_ON_DISK: usize = 255;

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
    /// How many of the folders lead to the inbox, and are not the client's word.
    inbox_depth: usize,
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
        let inbox_depth = inbox.segments().count();
        let target = match (&*note.path, note.title.trim()) {
            ("", "") => return Err(WriteError::Nameless),
            ("", title) => {
                let name = NoteName::of_title(title);
                Self { folders: way.collect(), name, given: None, inbox_depth }
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
                    inbox_depth,
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

    /// Whether the client may name a note at this place, by the rules alone: before the
    /// disk is looked at, so that nothing on the way shows in the answer. A place that
    /// the client does not name tells nothing; [`Self::choose`] judges it.
    ///
    /// # Errors
    ///
    /// [`WriteError::NotOpen`], [`WriteError::Secret`], [`WriteError::InTheWay`].
    pub(super) fn check(
        &self,
        viewer: &Viewer,
        judge: impl Fn(&[String]) -> Result<Vec<Prospect>, Unavailable>,
    ) -> Result<(), WriteError> {
        let Some(given) = &self.given else { return Ok(()) };
        let safe: Vec<String> = self.folders().map(folder_name).collect();
        // What is there may have the name as it was given, if a disk can hold that.
        let is_possible = self.folders().all(|folder| folder.len() <= LONGEST_ON_DISK);
        let folders = [&safe, if is_possible { &self.folders } else { &safe }];
        let names = [given, &self.name.plain()];
        let paths = folders
            .into_iter()
            .flat_map(|folders| names.map(|name| format!("{}/{name}", folders.join("/"))));
        let prospects = judge(&paths.collect::<Vec<_>>())?;
        let strictest = prospects.iter().map(|prospect| prospect.class).max();
        if strictest.is_none_or(|class| class == PageClass::Secret) {
            return Err(WriteError::Secret);
        }
        if prospects.iter().any(|prospect| !viewer.may_see(prospect.class)) {
            return Err(WriteError::NotOpen);
        }
        if safe[self.inbox_depth..].iter().any(|folder| is_no_folder(folder)) {
            return Err(WriteError::InTheWay);
        }
        Ok(())
    }

    /// Chooses the name in a folder. `judge` says what the rules make of names there.
    pub(super) fn choose(
        &self,
        sight: &Sight<'_>,
        note: &NoteToWrite,
        place: &Place,
        judge: impl Fn(&[String]) -> Result<Vec<Prospect>, Unavailable>,
    ) -> Result<Choice, WriteError> {
        let viewer = sight.viewer;
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
                true if place.names().spelling(&marked).is_some() => Err(WriteError::Busy),
                true => Ok(Choice::New { name: marked, prospect: of_marked }),
                false => Err(WriteError::NotOpen),
            };
        }
        let folder = Neighbours { sight, place, judge: &judge };
        if is_by_title {
            let marked = Choice::New { name: marked, prospect: of_marked };
            return self.free(&folder, of_plain, marked);
        }
        for (name, prospect) in [(&given, of_given), (&plain, of_plain)] {
            match folder.standing(name)? {
                Standing::Free => {}
                Standing::Hidden => return Err(WriteError::NotOpen),
                Standing::There(disk) if note.mode == WriteMode::Append => {
                    return Ok(Choice::Old { disk, prospect });
                }
                Standing::There(_) | Standing::Taken => return Err(WriteError::Taken),
            }
        }
        Ok(Choice::New { name: plain, prospect: of_plain })
    }

    /// The first name that is free. One that would be of a class that the client does
    /// not see counts as taken, whatever there is. `marked` is what a write gets at a
    /// place that is not open.
    fn free<J>(
        &self,
        folder: &Neighbours<'_, J>,
        of_plain: Prospect,
        marked: Choice,
    ) -> Result<Choice, WriteError>
    where
        J: Fn(&[String]) -> Result<Vec<Prospect>, Unavailable>,
    {
        for number in 1..=MOST_NUMBERS {
            let name = self.name.numbered(number);
            match folder.standing(&name)? {
                Standing::Free => {}
                Standing::Hidden => return Ok(marked),
                Standing::There(_) | Standing::Taken => continue,
            }
            let prospect = match number {
                1 => of_plain,
                _ => folder.prospect(&name)?,
            };
            if folder.sight.viewer.may_see(prospect.class) {
                return Ok(Choice::New { name, prospect });
            }
        }
        Err(WriteError::Taken)
    }
}

/// How a name stands in a folder, as far as the client may know.
enum Standing {
    Free,
    /// Something of this very name is there, spelt like this by the disk.
    There(String),
    /// A page that the client sees has this name in other letter case.
    Taken,
    /// A page of this very name is there that is stricter than the rules for its path.
    Hidden,
}

/// The names in the folder that a note goes into.
struct Neighbours<'a, J> {
    sight: &'a Sight<'a>,
    place: &'a Place,
    judge: &'a J,
}

impl<J: Fn(&[String]) -> Result<Vec<Prospect>, Unavailable>> Neighbours<'_, J> {
    /// Pages that the client does not see count only by their very name: then nothing
    /// can be done, for they are not overwritten.
    fn standing(&self, name: &str) -> Result<Standing, Unavailable> {
        let disk = self.place.names().spelling(name);
        let at = |name: &str| self.place.disk_path(name);
        if let Some(disk) = disk.filter(|disk| self.sight.has_page(&at(disk))) {
            return Ok(Standing::There(disk.to_owned()));
        }
        for variant in self.place.names().variants(name) {
            let counts = match variant {
                Variant::There(disk) => self.sight.has_page(&at(disk)),
                Variant::Evicted(name) => self.sight.viewer.may_see(self.prospect(name)?.class),
            };
            if counts {
                return Ok(Standing::Taken);
            }
        }
        Ok(match disk {
            None => Standing::Free,
            Some(disk) if self.sight.hides_page(&at(disk)) => Standing::Hidden,
            Some(disk) => Standing::There(disk.to_owned()),
        })
    }

    /// What the rules make of a name here.
    fn prospect(&self, name: &str) -> Result<Prospect, Unavailable> {
        (self.judge)(&[name.to_owned()])?.pop().ok_or(Unavailable)
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
