//! Keeps the index in step with the vault.
//!
//! A [`Shelf`] is the index of exactly one snapshot: each note lies in the part of
//! its class as that snapshot has it. It never changes; a change makes the next one.
//! Whoever asks brings the shelf in step first, so no request waits for a watcher to
//! see that a class has risen. The watcher only does the same work earlier.

mod build;
mod listeners;
mod note;
mod shelf;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::access::class::PageClass;
use crate::access::path::VaultPath;
use crate::search::index::{Batch, PartitionId};
use crate::vault::answers::Change;
use crate::vault::files::Root;
use crate::vault::fingerprint::{Identity, Inode};
use crate::vault::snapshot::{Keeper, ServedPage, Snapshot};
use crate::vault::survey::Stability;

use self::listeners::Listeners;

pub(super) use build::PageReader;
pub(super) use note::{CONFLICT_COPY, KeptLink, Note, with_parents};
pub(super) use shelf::{LastChange, Shelf, partition};

/// A checkout that takes longer is shown as far as it has come.
const LONGEST_MOTION: Duration = Duration::from_secs(10);

/// Which known files may have changed in place, beside what a snapshot shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Suspects<'a> {
    None,
    Paths(&'a HashSet<VaultPath>),
    All,
}

impl Suspects<'_> {
    fn is_empty(&self) -> bool {
        match self {
            Self::None => true,
            Self::Paths(paths) => paths.is_empty(),
            Self::All => false,
        }
    }

    fn include(&self, path: &VaultPath) -> bool {
        match self {
            Self::None => false,
            Self::Paths(paths) => paths.contains(path),
            Self::All => true,
        }
    }
}

/// Makes shelves.
pub(super) struct Catalog {
    root: Arc<Root>,
    reader: PageReader,
    /// `None` before the first.
    current: Mutex<Option<Arc<Shelf>>>,
    /// Every page that was looked at. Held while a shelf is made, so that requests at
    /// the same time share one.
    known: Mutex<HashMap<VaultPath, Known>>,
    in_motion_since: Mutex<Option<Instant>>,
    listeners: Listeners,
}

/// A page that was looked at.
#[derive(Clone, Copy, Debug)]
struct Known {
    class: PageClass,
    /// What a viewer must be open to in order to know of it: ciphertext is at least
    /// confidential, whatever the rules say.
    class_to_know: PageClass,
    inode: Inode,
    /// The file as it was read, unless a later change could have the same stamps.
    identity: Option<Identity>,
    is_indexed: bool,
    /// Tells contents apart where stamps may not; `None` if nobody needed it.
    content: Option<u64>,
}

impl Known {
    /// Whether a page that was read again is what it was.
    fn is_same_as(&self, other: &Self) -> bool {
        // Of a file that gave nothing and gives nothing still, nobody can tell more.
        let is_as_unreadable = !self.is_indexed && self.inode == other.inode;
        self.class_to_know == other.class_to_know
            && self.class == other.class
            && self.is_indexed == other.is_indexed
            && self.content == other.content
            && (self.content.is_some() || is_as_unreadable)
    }
}

impl Catalog {
    pub(super) fn new(root: Arc<Root>, reader: PageReader) -> Self {
        Self {
            root,
            reader,
            current: Mutex::default(),
            known: Mutex::default(),
            in_motion_since: Mutex::default(),
            listeners: Listeners::default(),
        }
    }

    /// Batches of changes from now on.
    pub(super) fn changes(&self) -> UnboundedReceiver<Arc<[Change]>> {
        self.listeners.add()
    }

    /// The index of a snapshot, or of a later one. `progress` is told how many pages
    /// of how many have been read.
    pub(super) fn shelf(
        &self,
        keeper: &Keeper,
        snapshot: &Arc<Snapshot>,
        suspects: Suspects<'_>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Arc<Shelf> {
        let is_late = |shelf: &Arc<Shelf>| shelf.of.begun >= snapshot.begun;
        let is_in_step = |shelf: &Arc<Shelf>| {
            is_late(shelf) && (!shelf.is_waiting || self.is_in_motion(&shelf.of))
        };
        if let Some(shelf) = self.current().filter(|_| suspects.is_empty()).filter(is_in_step) {
            return shelf;
        }
        let mut known = self.known();
        // Others may have made it meanwhile.
        let current = self.current();
        if let Some(made) = current.as_ref().filter(|it| suspects.is_empty() && is_in_step(it)) {
            return Arc::clone(made);
        }
        let snapshot = match &current {
            Some(made) if is_late(made) => Arc::clone(&made.of),
            _ => Arc::clone(snapshot),
        };
        let mut work = self.compare(&known, current.as_deref(), &snapshot, suspects);
        let mut is_waiting = false;
        let is_in_motion = current.is_some() && self.is_in_motion(&snapshot);
        if !is_in_motion && current.as_ref().is_some_and(|made| work.is_part_of_more(&made.of)) {
            work = self.compare(&known, current.as_deref(), &snapshot, Suspects::All);
        }
        if is_in_motion {
            // What is new waits until git is done, so that no half of a checkout is
            // shown. What has gone, or is another class now, does not wait.
            let found = work.to_read.len();
            work.to_read.retain(|path| {
                let before = known.get(path).map(|known| known.class);
                before.is_some() && before != snapshot.page(path).map(|page| page.class)
            });
            is_waiting = work.to_read.len() < found;
        }
        let next = self.make(keeper, &mut known, current.as_deref(), snapshot, work, progress);
        let next = Arc::new(Shelf { is_waiting, ..next });
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&next));
        next
    }

    /// Whether git is at work in the vault, and was not for too long: a lock that a
    /// crash has left behind must not keep new notes out for ever.
    fn is_in_motion(&self, snapshot: &Snapshot) -> bool {
        let mut since = self.in_motion_since.lock().unwrap_or_else(PoisonError::into_inner);
        if snapshot.stability == Stability::Settled {
            *since = None;
            return false;
        }
        since.get_or_insert_with(Instant::now).elapsed() < LONGEST_MOTION
    }

    /// What has to be done to the index for a snapshot.
    fn compare(
        &self,
        known: &HashMap<VaultPath, Known>,
        current: Option<&Shelf>,
        snapshot: &Snapshot,
        suspects: Suspects<'_>,
    ) -> Work {
        let has_changed = |path: &VaultPath, page: &ServedPage| {
            let is_as_before = known.get(path).is_some_and(|known| {
                known.class == page.class
                    && known.inode == page.inode
                    && (!suspects.include(path)
                        || known.identity.is_some() && known.identity == self.root.identity(page))
            });
            is_catalogued(page) && !is_as_before
        };
        let same_pages = current.is_some_and(|shelf| {
            !shelf.is_waiting && Arc::ptr_eq(&shelf.of.pages, &snapshot.pages)
        });
        if let Suspects::Paths(paths) = suspects
            && same_pages
        {
            let pages = paths.iter().filter_map(|path| Some((path, snapshot.page(path)?)));
            let changed = pages.filter(|(path, page)| has_changed(path, page));
            let to_read = changed.map(|(path, _)| path.clone()).collect();
            return Work { to_read, ..Work::default() };
        }
        let pages = snapshot.pages.iter().filter(|(path, page)| has_changed(path, page));
        let is_gone = |path: &&VaultPath| !snapshot.page(path).is_some_and(is_catalogued);
        Work {
            to_read: pages.map(|(path, _)| path.clone()).collect(),
            gone: known.keys().filter(is_gone).cloned().collect(),
        }
    }

    fn make(
        &self,
        keeper: &Keeper,
        known: &mut HashMap<VaultPath, Known>,
        previous: Option<&Shelf>,
        snapshot: Arc<Snapshot>,
        work: Work,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Shelf {
        let mut next = match previous {
            Some(previous) => Shelf { of: snapshot, ..previous.clone() },
            None => Shelf::empty(snapshot),
        };
        if work.gone.is_empty() && work.to_read.is_empty() {
            return next;
        }
        let begun = Timestamp::now();
        let mut batch = Batch::default();
        let mut before = HashMap::new();
        let mut skipped = (*next.skipped).clone();
        for path in work.gone.iter().chain(&work.to_read) {
            skipped.remove(path);
            let Some(was) = known.remove(path) else { continue };
            if was.is_indexed
                && let Some(part) = partition(was.class, self.reader.is_in_inbox(path))
            {
                batch.removed.push((part, path.as_str().into()));
            }
            before.insert(path, was);
        }
        let is_news = previous.is_some();
        let read = self.reader.read(&self.root, &next.of, &work.to_read, is_news, progress);
        if !keeper.confirms(&next.of) {
            // The rules may have changed before a page was read, so it may hold what its
            // class here does not fit, and be of that class again by the next snapshot.
            // It stays unknown, and is read again then.
            next.index = next.index.apply(batch);
            next.skipped = Arc::new(skipped);
            return next;
        }
        batch.added = read.segments;
        let mut unchanged = HashSet::new();
        let mut stamps = HashMap::new();
        for page in read.pages {
            if before.get(&page.path).is_some_and(|was| was.is_same_as(&page.known)) {
                unchanged.insert(page.path.clone());
            }
            stamps.extend(page.changed.map(|at| (page.path.clone(), at)));
            if let Some(reason) = page.skipped {
                skipped.insert(page.path.clone(), reason);
            }
            known.insert(page.path, page.known);
        }
        // What was only looked at again is no news: that it was may be for something hidden.
        let touched = work.gone.iter().chain(&work.to_read);
        let news = touched.filter(|path| !unchanged.contains(*path));
        let changes: Vec<Change> = news
            .map(|path| Change {
                path: path.clone(),
                before: before.get(path).map(|known| known.class_to_know),
                after: known.get(path).map(|known| known.class_to_know),
            })
            .collect();
        next.index = next.index.apply(batch);
        next.skipped = Arc::new(skipped);
        if is_news && !changes.is_empty() {
            self.date_changes(&mut next.last_changes, &changes, &stamps, begun);
            // Nobody listens for what has always been there.
            self.listeners.tell(&changes.into());
        }
        next
    }

    /// Takes down when the parts of the index that have changed did. `begun` is when the
    /// pages were about to be read: how long that took is the affair of all of them.
    fn date_changes(
        &self,
        last_changes: &mut BTreeMap<PartitionId, LastChange>,
        changes: &[Change],
        stamps: &HashMap<VaultPath, Timestamp>,
        begun: Timestamp,
    ) {
        for change in changes {
            // A page that has another class now need not have changed itself.
            let is_edit = change.before.is_none() || change.before == change.after;
            let stamp = stamps.get(&change.path).filter(|_| is_edit);
            let lag = stamp.map(|stamp| begun.duration_since(*stamp).as_millis());
            let lag = lag.map(|lag| u64::try_from(lag).unwrap_or(0));
            for class in [change.before, change.after].into_iter().flatten() {
                let in_inbox = self.reader.is_in_inbox(&change.path);
                let Some(part) = partition(class, in_inbox) else { continue };
                let last = last_changes
                    .entry(part)
                    .or_insert(LastChange { at: begun, lag_milliseconds: lag });
                let shortest = last.lag_milliseconds.into_iter().chain(lag).min();
                let lag = if last.at == begun { shortest } else { lag };
                *last = LastChange { at: begun, lag_milliseconds: lag };
            }
        }
    }

    /// Makes the index smaller and faster without changing what it holds, off the path
    /// of requests.
    pub(super) fn compact(&self) {
        loop {
            let _known = self.known();
            let Some(current) = self.current() else { return };
            let Some(index) = current.index.compacted() else { return };
            let next = Arc::new(Shelf { index, ..Shelf::clone(&current) });
            *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
        }
    }

    /// The last shelf that was made, in step or not.
    ///
    /// A poisoned lock holds a whole value all the same: it is only ever replaced.
    pub(super) fn current(&self) -> Option<Arc<Shelf>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// After a panic the pages that were being read are unknown, so they are read
    /// again; but the index may have them still.
    fn known(&self) -> MutexGuard<'_, HashMap<VaultPath, Known>> {
        self.known.lock().unwrap_or_else(|poisoned| {
            *self.current.lock().unwrap_or_else(PoisonError::into_inner) = None;
            self.known.clear_poison();
            let mut known = poisoned.into_inner();
            known.clear();
            known
        })
    }
}

/// What has to be done to the index.
#[derive(Debug, Default)]
struct Work {
    gone: Vec<VaultPath>,
    to_read: Vec<VaultPath>,
}

impl Work {
    /// Whether this may be the part that shows of a checkout or a sync. A file that is
    /// removed and made again often gets the inode that it had, so the rest may not show
    /// before the watcher tells; and a half must not be served until then.
    fn is_part_of_more(&self, before: &Snapshot) -> bool {
        before.stability == Stability::InMotion || self.gone.len() + self.to_read.len() > 1
    }
}

/// Whether the index knows of a page at all.
fn is_catalogued(page: &ServedPage) -> bool {
    page.class != PageClass::Secret
}
