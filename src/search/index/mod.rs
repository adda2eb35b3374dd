//! The index: which documents hold which terms, kept apart by partition.
//!
//! An [`Index`] never changes; [`Index::apply`] makes the next one, which shares with
//! it whatever has not changed. Each partition has a few *segments* and, for each of
//! them, the documents that have been deleted since it was made. Every number that
//! comes out of an index is a sum of integers over the partitions that were asked for,
//! and counts no deleted document: it is as if there were no others.
//!
//! # Reading order
//!
//! `document`, `builder` (a segment in the making), `segment` and `lists` (what
//! becomes of it), `partition` (segments less the deleted), `merge`, `writer`.

use std::sync::Arc;

mod builder;
mod document;
mod interner;
mod lists;
mod merge;
mod partition;
mod postings;
mod segment;
mod turning;
mod varint;
mod writer;

pub use document::{Document, Field, Namespace, PartitionId, PartitionSet};
pub use segment::Segment;
pub use writer::Writer;

pub(in crate::search) use document::{WHOLE_TITLES, WORDS};
pub(in crate::search) use lists::Lists;
pub(in crate::search) use partition::Part;
pub(in crate::search) use postings::Postings;

use partition::Partition;

/// The documents of all partitions at one moment. A clone is cheap.
#[derive(Debug)]
pub struct Index<P> {
    partitions: [Arc<Partition<P>>; PartitionId::COUNT],
}

/// What changes from one index to the next, all at once.
#[derive(Debug)]
pub struct Batch<P> {
    /// Documents that go, by partition and key. One that is not there is no fault.
    pub removed: Vec<(PartitionId, Box<str>)>,
    /// Documents that come. One whose key is already in the same partition replaces
    /// it; one that moves from another partition must be named in `removed`.
    pub added: Vec<(PartitionId, Segment<P>)>,
}

/// Sums over the partitions that are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of documents.
    pub documents: u64,
    /// The number of their words.
    pub words: u64,
    /// The number of the words of their titles.
    pub title_words: u64,
}

impl<P> Default for Index<P> {
    fn default() -> Self {
        Self { partitions: std::array::from_fn(|_| Arc::new(Partition::default())) }
    }
}

impl<P> Clone for Index<P> {
    fn clone(&self) -> Self {
        Self { partitions: self.partitions.clone() }
    }
}

impl<P> Default for Batch<P> {
    fn default() -> Self {
        Self { removed: Vec::new(), added: Vec::new() }
    }
}

impl<P: Clone> Index<P> {
    /// The index after a change. Small segments are merged on the way, which takes a
    /// few milliseconds at most; the larger ones wait for [`compacted`](Self::compacted).
    #[must_use]
    pub fn apply(&self, batch: Batch<P>) -> Self {
        let mut next = self.clone();
        for (partition, key) in &batch.removed {
            let partition = next.partition_mut(*partition);
            partition.remove(key);
        }
        let mut added: [Vec<Segment<P>>; PartitionId::COUNT] = std::array::from_fn(|_| Vec::new());
        for (partition, segment) in batch.added {
            added[partition.index()].push(segment);
        }
        for (partition, segments) in next.partitions.iter_mut().zip(added) {
            if !segments.is_empty() {
                Arc::make_mut(partition).add(segments);
            }
        }
        for (before, after) in self.partitions.iter().zip(&mut next.partitions) {
            if !Arc::ptr_eq(before, after) {
                Arc::make_mut(after).merge_small();
            }
        }
        next
    }

    /// The same documents in fewer segments, without the traces of deleted ones; `None`
    /// if that is not worth its work. One step takes some tenths of a second at most;
    /// there may be more to do after it.
    #[must_use]
    pub fn compacted(&self) -> Option<Self> {
        let mut next = self.clone();
        let worked = next.partitions.iter_mut().any(|partition| match partition.compacted() {
            Some(compacted) => {
                *partition = Arc::new(compacted);
                true
            }
            None => false,
        });
        worked.then_some(next)
    }

    fn partition_mut(&mut self, partition: PartitionId) -> &mut Partition<P> {
        Arc::make_mut(&mut self.partitions[partition.index()])
    }
}

impl<P> Index<P> {
    /// Counts what there is.
    #[must_use]
    pub fn statistics(&self, visible: PartitionSet) -> Statistics {
        self.parts(visible).map(Part::statistics).fold(Statistics::default(), |sum, part| {
            Statistics {
                documents: sum.documents + part.documents,
                words: sum.words + part.words,
                title_words: sum.title_words + part.title_words,
            }
        })
    }

    /// The document with a key.
    #[must_use]
    pub fn get(&self, visible: PartitionSet, key: &str) -> Option<&P> {
        self.parts(visible)
            .find_map(|part| part.find(key).map(|document| part.segment().payload(document)))
    }

    /// All documents, by key.
    pub fn documents(&self, visible: PartitionSet) -> impl Iterator<Item = (&str, &P)> {
        let mut queue: std::collections::BinaryHeap<_> =
            self.parts(visible).filter_map(|part| segment::ByKey::first(part)).collect();
        std::iter::from_fn(move || {
            let mut next = queue.peek_mut()?;
            let item = next.item();
            if !next.advance() {
                std::collections::binary_heap::PeekMut::pop(next);
            }
            Some(item)
        })
    }

    /// The documents that have a keyword, by key.
    #[must_use]
    pub fn by_keyword(
        &self,
        visible: PartitionSet,
        namespace: Namespace,
        text: &str,
    ) -> Vec<(&str, &P)> {
        let mut found = Vec::new();
        for part in self.parts(visible) {
            let segment = part.segment();
            let Some(term) = segment.lists().find(namespace.byte(), text) else { continue };
            let mut postings = segment.lists().postings(term);
            while postings.advance() {
                let document = postings.document();
                if !part.is_deleted(document) {
                    found.push((segment.key(document), segment.payload(document)));
                }
            }
        }
        found.sort_unstable_by_key(|(key, _)| *key);
        found
    }

    /// The keywords that begin with a text, in byte order, each with the number of the
    /// documents that have it.
    #[must_use]
    pub fn keywords(
        &self,
        visible: PartitionSet,
        namespace: Namespace,
        prefix: &str,
    ) -> Vec<(&str, usize)> {
        let mut found = Vec::new();
        for part in self.parts(visible) {
            let lists = part.segment().lists();
            for number in lists.lower_bound(namespace.byte(), prefix)..lists.len() {
                let (byte, text) = lists.term(number);
                if byte != namespace.byte() || !text.starts_with(prefix.as_bytes()) {
                    break;
                }
                match part.documents_with(number) as usize {
                    0 => {}
                    documents => found.push((lists.text(number), documents)),
                }
            }
        }
        found.sort_unstable();
        found.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        found
    }

    /// About how much memory the index takes, payloads aside.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.parts(PartitionSet::ALL).map(Part::bytes).sum()
    }

    /// How many segments there are.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.parts(PartitionSet::ALL).count()
    }

    /// What there is to look at, in no order that means anything.
    pub(in crate::search) fn parts(&self, visible: PartitionSet) -> impl Iterator<Item = &Part<P>> {
        self.partitions
            .iter()
            .enumerate()
            .filter(move |(partition, _)| visible.has_index(*partition))
            .flat_map(|(_, partition)| partition.parts())
    }
}
