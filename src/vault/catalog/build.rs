//! Reads pages into segments of the index, on all cores.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::access::class::{ClassifiedPath, class_in_doubt};
use crate::access::inbox::Inbox;
use crate::access::path::VaultPath;
use crate::access::permit::IndexPermit;
use crate::search::analysis::{Analyzer, Language, Languages};
use crate::search::index::{PartitionId, Segment, Writer};
use crate::vault::analyzers::Analyzers;
use crate::vault::answers::SkipReason;
use crate::vault::catalog::note::{Keys, Note, document};
use crate::vault::catalog::{Known, partition};
use crate::vault::files::Root;
use crate::vault::fingerprint::{Identity, stamping_time};
use crate::vault::markdown::Parsed;
use crate::vault::page::{Content, decode};
use crate::vault::snapshot::{ServedPage, Snapshot};

/// So many pages make a thread worth its start.
const PAGES_A_THREAD: usize = 32;

/// How pages are read.
#[derive(Clone)]
pub(in crate::vault) struct PageReader {
    pub(in crate::vault) languages: Languages,
    pub(in crate::vault) zone: TimeZone,
    pub(in crate::vault) inbox: Option<Inbox>,
    pub(in crate::vault) analyzers: Analyzers,
    /// Reads a text; another one in a test of what happens if that breaks.
    pub(in crate::vault) parse: fn(&str, &TimeZone) -> Parsed,
}

/// What was read.
#[derive(Default)]
pub(super) struct Read {
    pub(super) segments: Vec<(PartitionId, Segment<Arc<Note>>)>,
    pub(super) pages: Vec<ReadPage>,
}

/// A page that was looked at.
pub(super) struct ReadPage {
    pub(super) path: VaultPath,
    pub(super) known: Known,
    pub(super) skipped: Option<SkipReason>,
    /// What the disk says of its last change.
    pub(super) changed: Option<Timestamp>,
}

impl PageReader {
    pub(super) fn is_in_inbox(&self, path: &VaultPath) -> bool {
        self.inbox.as_ref().is_some_and(|inbox| inbox.holds(path))
    }

    /// Reads pages. One that cannot be read costs only itself (L6). `is_again` says that
    /// some were read before, so that their contents have to be compared.
    pub(super) fn read(
        &self,
        root: &Root,
        snapshot: &Snapshot,
        paths: &[VaultPath],
        is_again: bool,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Read {
        let mut task = Task { reader: self, root, snapshot, is_again, breaking: HashSet::new() };
        loop {
            let (read, breaking) = task.read_all(paths, progress);
            if breaking.is_empty() {
                return read;
            }
            // Nobody knows in what state a panic has left a segment: text of the one note
            // might come to lie in another. So all is read again, without these notes.
            task.breaking.extend(breaking);
        }
    }
}

/// What is to be read, and how.
struct Task<'a> {
    reader: &'a PageReader,
    root: &'a Root,
    snapshot: &'a Snapshot,
    is_again: bool,
    /// Notes that make the program fail, which is a fault of the program.
    breaking: HashSet<VaultPath>,
}

impl Task<'_> {
    /// Reads pages on all cores. If reading some of them broke, these are named, and
    /// nothing else counts.
    fn read_all(
        &self,
        paths: &[VaultPath],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> (Read, Vec<VaultPath>) {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.min(paths.len().div_ceil(PAGES_A_THREAD)).max(1);
        let next = AtomicUsize::new(0);
        let all = Mutex::new((Read::default(), Vec::new()));
        let work = || {
            let mut desk = Desk::new(self);
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = paths.get(number) else { break };
                desk.read(path);
                progress(number + 1, paths.len());
            }
            let finished = desk.finish();
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            match finished {
                Ok(Read { segments, pages }) => {
                    all.0.segments.extend(segments);
                    all.0.pages.extend(pages);
                }
                Err(breaking) => all.1.extend(breaking),
            }
        };
        if threads == 1 {
            work();
        } else {
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(work);
                }
            });
        }
        all.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where one thread reads.
struct Desk<'a> {
    task: &'a Task<'a>,
    /// One for each language that notes were in.
    analyzers: BTreeMap<Language, Analyzer>,
    writer: Writer<Arc<Note>>,
    read: Read,
    /// Notes that broke here.
    breaking: Vec<VaultPath>,
}

impl<'a> Desk<'a> {
    fn new(task: &'a Task<'a>) -> Self {
        let (writer, read) = (Writer::default(), Read::default());
        Self { task, analyzers: BTreeMap::new(), writer, read, breaking: Vec::new() }
    }

    fn read(&mut self, path: &VaultPath) {
        let Task { root, snapshot, is_again, .. } = *self.task;
        let Some(page) = snapshot.page(path) else { return };
        let moment = stamping_time();
        let Ok(permit) = IndexPermit::for_page(ClassifiedPath::judged(path.clone(), page.class))
        else {
            return;
        };
        let mut known = Known {
            class: page.class,
            class_to_know: page.class,
            inode: page.inode,
            identity: None,
            is_indexed: false,
            content: None,
        };
        let mut changed = None;
        let skipped = match root.read_page(permit, snapshot) {
            Ok(read) => {
                known.identity = Some(read.identity).filter(|it| it.is_settled_at(moment));
                if is_again || known.identity.is_none() {
                    let mut hasher = DefaultHasher::new();
                    read.bytes.hash(&mut hasher);
                    known.content = Some(hasher.finish());
                }
                let (seconds, nanoseconds) = read.identity.changed();
                let nanoseconds = i32::try_from(nanoseconds).unwrap_or(0);
                changed = Timestamp::new(seconds, nanoseconds).ok();
                match decode(read.bytes) {
                    Content::Text(_) if self.task.breaking.contains(path) => {
                        Some(SkipReason::Unparsable)
                    }
                    Content::Text(text) => {
                        let identity = read.identity;
                        known.is_indexed = true;
                        let index = || self.index(path, page, identity, &text);
                        if catch_unwind(AssertUnwindSafe(index)).is_err() {
                            self.breaking.push(path.clone());
                        }
                        None
                    }
                    Content::Ciphertext => Some(SkipReason::Locked),
                    Content::Binary => Some(SkipReason::NotText),
                }
            }
            Err(reason) => reason.skip_reason(),
        };
        if skipped == Some(SkipReason::Locked) {
            known.class_to_know = page.class.max(class_in_doubt(path.as_str()));
        }
        self.read.pages.push(ReadPage { path: path.clone(), known, skipped, changed });
    }

    fn index(&mut self, path: &VaultPath, page: &ServedPage, identity: Identity, text: &str) {
        let reader = self.task.reader;
        let Some(part) = partition(page.class, reader.is_in_inbox(path)) else { return };
        let parsed = (reader.parse)(text, &reader.zone);
        let language =
            reader.languages.of_note(parsed.language.as_deref(), &text[parsed.body_start..]);
        let note = Arc::new(Note::new(path.clone(), &parsed, language, identity));
        let keys = Keys::of(&note);
        let document = document(&note, &keys, &parsed, text);
        let all = &reader.analyzers;
        let analyzer = self.analyzers.entry(language).or_insert_with(|| all.take(language));
        self.read.segments.extend(self.writer.add(part, analyzer, document));
    }

    /// What was read, or the notes that broke.
    fn finish(mut self) -> Result<Read, Vec<VaultPath>> {
        if !self.breaking.is_empty() {
            return Err(self.breaking);
        }
        self.read.segments.extend(self.writer.finish());
        for (language, analyzer) in self.analyzers {
            self.task.reader.analyzers.put_back(language, analyzer);
        }
        Ok(self.read)
    }
}
