//! A segment: documents that were put into an index together, and never change.

use std::cmp::{Ordering, Reverse};

use super::lists::{Lists, as_u32};
use super::partition::Part;

/// Some documents with their dictionary, lists and payloads.
#[derive(Debug)]
pub struct Segment<P> {
    lists: Lists,
    documents: Documents,
    payloads: Vec<P>,
    /// The documents in the order of their keys.
    by_key: Vec<u32>,
}

/// What is known of each document, apart from its terms and its payload.
#[derive(Debug, Default)]
pub(super) struct Documents {
    /// The keys, one behind the other.
    keys: String,
    /// Where each key ends.
    key_ends: Vec<u32>,
    /// The number of words of each document.
    lengths: Vec<u32>,
    /// How many positions its title takes: what stands before is in the title.
    title_lengths: Vec<u32>,
}

impl<P> Segment<P> {
    /// The numbers of the documents are the places in `documents` and `payloads`, which
    /// are of the same length.
    pub(super) fn new(lists: Lists, documents: Documents, payloads: Vec<P>) -> Self {
        let mut by_key: Vec<u32> = (0..as_u32(payloads.len())).collect();
        by_key.sort_unstable_by_key(|document| documents.key(*document));
        Self { lists, documents, payloads, by_key }
    }

    /// The number of documents, deleted ones included.
    #[must_use]
    pub fn documents(&self) -> u32 {
        as_u32(self.payloads.len())
    }

    /// About how much memory it takes, payloads aside.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lists.bytes() + self.documents.bytes() + self.by_key.len() * size_of::<u32>()
    }

    pub(in crate::search) fn lists(&self) -> &Lists {
        &self.lists
    }

    pub(in crate::search) fn payload(&self, document: u32) -> &P {
        &self.payloads[document as usize]
    }

    pub(in crate::search) fn key(&self, document: u32) -> &str {
        self.documents.key(document)
    }

    /// The number of words of each document.
    pub(in crate::search) fn lengths(&self) -> &[u32] {
        &self.documents.lengths
    }

    /// How many positions the title of each document takes.
    pub(in crate::search) fn title_lengths(&self) -> &[u32] {
        &self.documents.title_lengths
    }

    /// The documents with a key; of these at most one is not deleted.
    pub(super) fn with_key<'s>(&'s self, key: &'s str) -> impl Iterator<Item = u32> + 's {
        let first = self.by_key.partition_point(|document| self.key(*document) < key);
        self.by_key[first..].iter().copied().take_while(move |document| self.key(*document) == key)
    }
}

impl Documents {
    pub(super) fn add(&mut self, key: &str, length: u32, title_length: u32) {
        self.keys.push_str(key);
        self.key_ends.push(as_u32(self.keys.len()));
        self.lengths.push(length);
        self.title_lengths.push(title_length);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.keys.shrink_to_fit();
        self.key_ends.shrink_to_fit();
        self.lengths.shrink_to_fit();
        self.title_lengths.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        self.keys.len() + self.lengths.len() * 3 * size_of::<u32>()
    }

    fn key(&self, document: u32) -> &str {
        let document = document as usize;
        let start = document.checked_sub(1).map_or(0, |before| self.key_ends[before]);
        &self.keys[start as usize..self.key_ends[document] as usize]
    }
}

/// Walks through the documents of a segment that are not deleted, by key.
pub(super) struct ByKey<'i, P> {
    part: &'i Part<P>,
    /// The place in the order of keys, behind that of the document.
    next: usize,
    document: u32,
}

impl<'i, P> ByKey<'i, P> {
    /// At the first key, if there is one.
    pub(super) fn first(part: &'i Part<P>) -> Option<Self> {
        let mut walk = Self { part, next: 0, document: 0 };
        walk.advance().then_some(walk)
    }

    /// To the next key; `false` at the end.
    pub(super) fn advance(&mut self) -> bool {
        let rest = self.part.segment().by_key.get(self.next..).unwrap_or_default();
        let found = rest.iter().position(|document| !self.part.is_deleted(*document));
        if let Some(passed) = found {
            self.document = rest[passed];
            self.next += passed + 1;
        }
        found.is_some()
    }

    pub(super) fn item(&self) -> (&'i str, &'i P) {
        let segment = self.part.segment();
        (segment.key(self.document), segment.payload(self.document))
    }
}

/// The greatest in a heap is the one with the smallest key.
impl<P> Ord for ByKey<'_, P> {
    fn cmp(&self, other: &Self) -> Ordering {
        Reverse(self.item().0).cmp(&Reverse(other.item().0))
    }
}

impl<P> PartialOrd for ByKey<'_, P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for ByKey<'_, P> {
    fn eq(&self, other: &Self) -> bool {
        self.item().0 == other.item().0
    }
}

impl<P> Eq for ByKey<'_, P> {}
