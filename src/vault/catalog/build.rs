//! Reads pages into segments of the index, on all cores.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::access::class::{ClassifiedPath, PageClass, class_in_doubt};
use crate::access::inbox::Inbox;
use crate::access::path::VaultPath;
use crate::access::permit::IndexPermit;
use crate::search::analysis::{Analyzer, Language, Languages};
use crate::search::index::{PartitionId, Segment, Writer};
use crate::vault::analyzers::Analyzers;
use crate::vault::answers::SkipReason;
use crate::vault::catalog::note::{Keys, Note, document};
use crate::vault::catalog::{Known, Skipped, partition};
use crate::vault::files::Root;
use crate::vault::fingerprint::{Identity, stamping_time};
use crate::vault::markdown;
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
    pub(super) skipped: Option<Skipped>,
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
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.min(paths.len().div_ceil(PAGES_A_THREAD)).max(1);
        let next = AtomicUsize::new(0);
        let all = Mutex::new(Read::default());
        let work = || {
            let mut desk = Desk::new(self, root, snapshot, is_again);
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = paths.get(number) else { break };
                desk.read(path);
                progress(number + 1, paths.len());
            }
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            let Read { segments, pages } = desk.finish();
            all.segments.extend(segments);
            all.pages.extend(pages);
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
    reader: &'a PageReader,
    root: &'a Root,
    snapshot: &'a Snapshot,
    is_again: bool,
    /// One for each language that notes were in.
    analyzers: BTreeMap<Language, Analyzer>,
    writer: Writer<Arc<Note>>,
    read: Read,
}

impl<'a> Desk<'a> {
    fn new(reader: &'a PageReader, root: &'a Root, snapshot: &'a Snapshot, is_again: bool) -> Self {
        let (writer, read) = (Writer::default(), Read::default());
        Self { reader, root, snapshot, is_again, analyzers: BTreeMap::new(), writer, read }
    }

    fn read(&mut self, path: &VaultPath) {
        let Some(page) = self.snapshot.page(path) else { return };
        let moment = stamping_time();
        let Ok(permit) = IndexPermit::for_page(ClassifiedPath::judged(path.clone(), page.class))
        else {
            return;
        };
        let mut known = Known {
            class: page.class,
            inode: page.inode,
            identity: None,
            is_indexed: false,
            content: None,
        };
        let mut changed = None;
        let skipped = match self.root.read_page(permit, self.snapshot) {
            Ok(read) => {
                known.identity = Some(read.identity).filter(|it| it.is_settled_at(moment));
                if self.is_again || known.identity.is_none() {
                    let mut hasher = DefaultHasher::new();
                    read.bytes.hash(&mut hasher);
                    known.content = Some(hasher.finish());
                }
                let (seconds, nanoseconds) = read.identity.changed();
                let nanoseconds = i32::try_from(nanoseconds).unwrap_or(0);
                changed = Timestamp::new(seconds, nanoseconds).ok();
                match decode(read.bytes) {
                    Content::Text(text) => {
                        let identity = read.identity;
                        let indexed = catch_unwind(AssertUnwindSafe(|| {
                            self.index(path, page, identity, &text);
                        }));
                        known.is_indexed = indexed.is_ok();
                        indexed.err().map(|_| SkipReason::Unparsable)
                    }
                    Content::Ciphertext => Some(SkipReason::Locked),
                    Content::Binary => Some(SkipReason::NotText),
                }
            }
            Err(reason) => reason.skip_reason(),
        };
        let skipped =
            skipped.map(|reason| Skipped { class: class_to_know(path, page, &reason), reason });
        self.read.pages.push(ReadPage { path: path.clone(), known, skipped, changed });
    }

    fn index(&mut self, path: &VaultPath, page: &ServedPage, identity: Identity, text: &str) {
        let Some(part) = partition(page.class, self.reader.is_in_inbox(path)) else { return };
        let parsed = markdown::parse(text, &self.reader.zone);
        let language = self.reader.languages.of_note(parsed.language.as_deref());
        let note = Arc::new(Note::new(path.clone(), &parsed, language, identity));
        let keys = Keys::of(&note);
        let document = document(&note, &keys, &parsed, text);
        let all = &self.reader.analyzers;
        let analyzer = self.analyzers.entry(language).or_insert_with(|| all.take(language));
        self.read.segments.extend(self.writer.add(part, analyzer, document));
    }

    fn finish(mut self) -> Read {
        self.read.segments.extend(self.writer.finish());
        for (language, analyzer) in self.analyzers {
            self.reader.analyzers.put_back(language, analyzer);
        }
        self.read
    }
}

/// Ciphertext is at least confidential, whatever the rules say.
fn class_to_know(path: &VaultPath, page: &ServedPage, reason: &SkipReason) -> PageClass {
    match reason {
        SkipReason::Locked => page.class.max(class_in_doubt(path.as_str())),
        _ => page.class,
    }
}
