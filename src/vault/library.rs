//! Answers questions about many pages, from the pages that a viewer may see.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::access::class::PageClass;
use crate::access::inbox::Inbox;
use crate::access::path::VaultPath;
use crate::access::permit::{ReadPermit, Viewer};
use crate::search::{Folded, Query, Relevance};
use crate::vault::Hit;
use crate::vault::files::Root;
use crate::vault::fingerprint::{Identity, stamping_time};
use crate::vault::page::{Content, decode, title};
use crate::vault::snapshot::Snapshot;

/// How much text is kept in memory, counted once as it is and once folded.
const LARGEST_SHELF: usize = 128 * 1024 * 1024;

/// A page as it is searched.
#[derive(Debug)]
struct Document {
    title: String,
    text: String,
    folded_title: Folded,
    folded_text: Folded,
}

impl Document {
    fn of(path: &VaultPath, text: String) -> Self {
        let title = title(path, &text);
        let (folded_title, folded_text) = (Folded::of(&title), Folded::of(&text));
        Self { title, text, folded_title, folded_text }
    }

    fn bytes(&self) -> usize {
        self.title.len() + self.text.len() + self.folded_title.bytes() + self.folded_text.bytes()
    }
}

/// The documents of unchanged files, so that a second search need not read them.
///
/// They hold text of pages of every class, so they go when their page does, or
/// when its class rises or its file is replaced (gitattributes.md 6.1, row 3).
#[derive(Debug, Default)]
pub(super) struct Shelf(Mutex<Documents>);

#[derive(Debug, Default)]
struct Documents {
    kept: HashMap<VaultPath, Kept>,
    bytes: usize,
    /// When the snapshot was begun that all of them agree with.
    tidied: Option<Instant>,
}

#[derive(Debug)]
struct Kept {
    identity: Identity,
    class: PageClass,
    document: Arc<Document>,
}

/// The pages that match, best first, at most `limit`.
pub(super) fn search(
    root: &Root,
    shelf: &Shelf,
    snapshot: &Snapshot,
    viewer: &Viewer,
    question: &Question<'_>,
) -> Vec<Hit> {
    let mut found: Vec<(Relevance, VaultPath, Arc<Document>)> = Vec::new();
    for page in snapshot.classified() {
        let path = page.path().clone();
        if question.without.is_some_and(|inbox| inbox.holds(&path)) {
            continue;
        }
        let Ok(permit) = viewer.permit_read(page) else { continue };
        let Some(document) = shelf.document(root, snapshot, permit, &path) else { continue };
        let relevance = question.query.relevance(&document.folded_title, &document.folded_text);
        found.extend(relevance.map(|relevance| (relevance, path, document)));
    }
    found.sort_by(|(one, one_path, _), (other, other_path, _)| {
        one.cmp(other).then_with(|| one_path.cmp(other_path))
    });
    found
        .into_iter()
        .take(question.limit)
        .map(|(_, path, document)| Hit {
            path,
            title: document.title.clone(),
            snippet: question.query.snippet(&document.text),
        })
        .collect()
}

/// What is looked for, and how much of it is wanted.
#[derive(Debug)]
pub(super) struct Question<'a> {
    pub(super) query: &'a Query,
    pub(super) limit: usize,
    /// A folder whose pages do not count.
    pub(super) without: Option<&'a Inbox>,
}

impl Shelf {
    /// Forgets what a snapshot no longer vouches for.
    pub(super) fn tidy(&self, snapshot: &Snapshot) {
        let mut documents = self.documents();
        if documents.tidied == Some(snapshot.begun) {
            return;
        }
        documents.tidied = Some(snapshot.begun);
        documents.kept.retain(|path, kept| {
            snapshot
                .page(path)
                .is_some_and(|page| page.class <= kept.class && page.inode == kept.identity.inode)
        });
        documents.bytes = documents.kept.values().map(|kept| kept.document.bytes()).sum();
    }

    /// The document that a permit is for; `None` if it has no text.
    fn document(
        &self,
        root: &Root,
        snapshot: &Snapshot,
        permit: ReadPermit,
        path: &VaultPath,
    ) -> Option<Arc<Document>> {
        let page = snapshot.page(path)?;
        let identity = root.identity(page);
        if let Some(document) = identity.and_then(|identity| self.kept(path, identity)) {
            return Some(document);
        }
        // Before it is read, so that a later change gets a later stamp.
        let moment = stamping_time();
        let read = root.read_page(permit, snapshot).ok()?;
        let Content::Text(text) = decode(read.bytes) else {
            self.forget(path);
            return None;
        };
        let document = Arc::new(Document::of(path, text));
        if read.identity.is_settled_at(moment) {
            let kept = Kept {
                identity: read.identity,
                class: page.class,
                document: Arc::clone(&document),
            };
            self.keep(snapshot, path, kept);
        }
        Some(document)
    }

    fn kept(&self, path: &VaultPath, identity: Identity) -> Option<Arc<Document>> {
        let documents = self.documents();
        let kept = documents.kept.get(path).filter(|kept| kept.identity == identity)?;
        Some(Arc::clone(&kept.document))
    }

    fn keep(&self, snapshot: &Snapshot, path: &VaultPath, kept: Kept) {
        self.forget(path);
        let mut documents = self.documents();
        let bytes = documents.bytes + kept.document.bytes();
        // A request that was overtaken by another must not bring back what that one
        // has tidied away.
        if documents.tidied == Some(snapshot.begun) && bytes <= LARGEST_SHELF {
            documents.bytes = bytes;
            documents.kept.insert(path.clone(), kept);
        }
    }

    fn forget(&self, path: &VaultPath) {
        let mut documents = self.documents();
        if let Some(kept) = documents.kept.remove(path) {
            documents.bytes -= kept.document.bytes();
        }
    }

    /// What a panic left is at worst a wrong sum, which the next tidying puts right.
    fn documents(&self) -> MutexGuard<'_, Documents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
