//! A partition: segments, less the documents of them that have been deleted.

use std::sync::Arc;

use super::Statistics;
use super::merge;
use super::segment::Segment;

/// As many segments of about the same size are merged into one.
const MERGED_AT_ONCE: usize = 8;

/// What is up to this size, in bytes, is of the smallest kind; each kind is
/// [`MERGED_AT_ONCE`] times as large as the one before.
const SMALLEST: usize = 16 << 10;

/// What a change may merge on its way: about two milliseconds of work.
const MOST_ON_THE_WAY: usize = 512 << 10;

/// No segment is made larger than this by merging, so that a merge never takes long,
/// nor much memory.
pub(super) const LARGEST: usize = 32 << 20;

/// The documents of a partition.
#[derive(Debug)]
pub(super) struct Partition<P> {
    parts: Vec<Part<P>>,
}

/// A segment, less some of its documents.
#[derive(Debug)]
pub(in crate::search) struct Part<P> {
    segment: Arc<Segment<P>>,
    deleted: Option<Arc<Deleted>>,
    statistics: Statistics,
}

/// The documents of a segment that are no longer there, and what they count for.
#[derive(Clone, Debug)]
struct Deleted {
    /// A bit for each document of the segment.
    documents: Vec<u64>,
    /// For each term of the segment how many of these documents hold it.
    documents_with: Vec<u32>,
}

impl<P> Default for Partition<P> {
    fn default() -> Self {
        Self { parts: Vec::new() }
    }
}

impl<P> Clone for Partition<P> {
    fn clone(&self) -> Self {
        Self { parts: self.parts.clone() }
    }
}

impl<P> Clone for Part<P> {
    fn clone(&self) -> Self {
        Self {
            segment: Arc::clone(&self.segment),
            deleted: self.deleted.clone(),
            statistics: self.statistics,
        }
    }
}

impl<P> Partition<P> {
    pub(super) fn parts(&self) -> &[Part<P>] {
        &self.parts
    }

    /// Deletes a document, if it is there.
    pub(super) fn remove(&mut self, key: &str) {
        for place in 0..self.parts.len() {
            if let Some(document) = self.parts[place].find(key) {
                self.parts[place].delete(document);
                if self.parts[place].statistics.documents == 0 {
                    self.parts.swap_remove(place);
                }
                return;
            }
        }
    }

    /// Adds segments. A document whose key was there already takes the other's place.
    pub(super) fn add(&mut self, segments: Vec<Segment<P>>) {
        if !self.parts.is_empty() {
            for segment in &segments {
                (0..segment.documents()).for_each(|document| self.remove(segment.key(document)));
            }
        }
        let segments = segments.into_iter().filter(|segment| segment.documents() > 0);
        self.parts.extend(segments.map(Part::new));
    }
}

impl<P: Clone> Partition<P> {
    /// Merges what is cheap to merge.
    pub(super) fn merge_small(&mut self) {
        while let Some(due) = self.due(MOST_ON_THE_WAY) {
            self.merge(&due);
        }
    }

    /// The same documents in fewer segments, if that is worth its work.
    pub(super) fn compacted(&self) -> Option<Self> {
        let due = self.due(LARGEST)?;
        let mut next = self.clone();
        next.merge(&due);
        Some(next)
    }

    /// The places of segments that should become one, which is not larger than
    /// `largest`.
    fn due(&self, largest: usize) -> Option<Vec<usize>> {
        let sizes: Vec<usize> = self.parts.iter().map(Part::live_bytes).collect();
        let mut kinds: Vec<Vec<usize>> = Vec::new();
        for (place, size) in sizes.iter().enumerate() {
            let kind = kind_of(*size);
            kinds.resize_with(kinds.len().max(kind + 1), Vec::new);
            kinds[kind].push(place);
        }
        let together = kinds.into_iter().filter(|places| places.len() >= MERGED_AT_ONCE);
        let fits = |places: &Vec<usize>| {
            places.iter().map(|place| sizes[*place]).sum::<usize>() <= largest
        };
        // A third of a segment that is dead is a third of the work of each query.
        let wasteful =
            |place: &usize| self.parts[*place].is_a_third_deleted() && sizes[*place] <= largest;
        together
            .map(|mut places| {
                places.truncate(MERGED_AT_ONCE);
                places
            })
            .find(fits)
            .or_else(|| (0..self.parts.len()).find(wasteful).map(|place| vec![place]))
    }

    /// Replaces the segments at these places, which ascend, by one.
    fn merge(&mut self, places: &[usize]) {
        let sources: Vec<Part<P>> =
            places.iter().rev().map(|place| self.parts.swap_remove(*place)).collect();
        self.parts.push(Part::new(merge::merged(&sources)));
    }
}

impl<P> Part<P> {
    fn new(segment: Segment<P>) -> Self {
        let sum = |lengths: &[u32]| lengths.iter().copied().map(u64::from).sum();
        let statistics = Statistics {
            documents: u64::from(segment.documents()),
            words: sum(segment.lengths()),
            title_words: sum(segment.title_lengths()),
        };
        Self { segment: Arc::new(segment), deleted: None, statistics }
    }

    pub(in crate::search) fn segment(&self) -> &Segment<P> {
        &self.segment
    }

    /// What is there, deleted documents aside.
    pub(in crate::search) fn statistics(&self) -> Statistics {
        self.statistics
    }

    pub(in crate::search) fn is_deleted(&self, document: u32) -> bool {
        self.deleted_bits()
            .get(document as usize / 64)
            .is_some_and(|bits| bits >> (document % 64) & 1 == 1)
    }

    /// A bit for each document that is deleted; empty if none is.
    pub(in crate::search) fn deleted_bits(&self) -> &[u64] {
        self.deleted.as_ref().map_or(&[], |deleted| &deleted.documents)
    }

    /// How many documents hold a term of the segment, deleted ones aside.
    pub(in crate::search) fn documents_with(&self, term: u32) -> u32 {
        let deleted =
            self.deleted.as_ref().map_or(0, |deleted| deleted.documents_with[term as usize]);
        self.segment.lists().documents_with(term) - deleted
    }

    /// The document with a key, if it is not deleted.
    pub(in crate::search) fn find(&self, key: &str) -> Option<u32> {
        self.segment.with_key(key).find(|document| !self.is_deleted(*document))
    }

    /// About how much memory it takes, payloads aside.
    pub(super) fn bytes(&self) -> usize {
        let deleted = self.deleted.as_ref().map_or(0, |deleted| {
            size_of_val(&*deleted.documents) + size_of_val(&*deleted.documents_with)
        });
        self.segment.bytes() + deleted
    }

    fn delete(&mut self, document: u32) {
        let lists = self.segment.lists();
        let deleted = self.deleted.get_or_insert_with(|| {
            Arc::new(Deleted {
                documents: vec![0; self.segment.documents().div_ceil(64) as usize],
                documents_with: vec![0; lists.len() as usize],
            })
        });
        let deleted = Arc::make_mut(deleted);
        deleted.documents[document as usize / 64] |= 1 << (document % 64);
        for term in lists.terms_of(document) {
            deleted.documents_with[term as usize] += 1;
        }
        self.statistics.documents -= 1;
        self.statistics.words -= u64::from(self.segment.lengths()[document as usize]);
        self.statistics.title_words -= u64::from(self.segment.title_lengths()[document as usize]);
    }

    /// About how large the segment were without its deleted documents.
    fn live_bytes(&self) -> usize {
        let all = u64::from(self.segment.documents()).max(1);
        let live = self.segment.bytes() as u64 * self.statistics.documents / all;
        usize::try_from(live).unwrap_or(usize::MAX)
    }

    fn is_a_third_deleted(&self) -> bool {
        let all = u64::from(self.segment.documents());
        (all - self.statistics.documents) * 3 >= all && self.deleted.is_some()
    }
}

/// Segments of one kind are about of one size.
fn kind_of(bytes: usize) -> usize {
    let mut kind = 0;
    let mut most = SMALLEST;
    while bytes > most {
        kind += 1;
        most = most.saturating_mul(MERGED_AT_ONCE);
    }
    kind
}
