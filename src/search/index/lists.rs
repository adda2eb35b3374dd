//! What a segment knows of terms: a sorted dictionary and, for each term, the
//! documents that hold it.

use std::ops::Range;

use super::postings::{Postings, Skip};
use super::varint;

/// The dictionary and the streams that it points into. Nothing in here depends on
/// what a document carries.
#[derive(Debug, Default)]
pub(in crate::search) struct Lists {
    /// The terms in byte order, one behind the other; each is a namespace byte and a
    /// text.
    pub(super) terms: Vec<u8>,
    /// One for each term, in the same order, and one behind the last, whose starts are
    /// where everything ends.
    pub(super) entries: Vec<Entry>,
    /// The lists of documents; see [`Postings`] for their form.
    pub(super) postings: Vec<u8>,
    /// Where the terms stand in their documents: varints, each the distance to the one
    /// before it.
    pub(super) positions: Vec<u8>,
    /// Places in long lists where reading can begin.
    pub(super) skips: Vec<Skip>,
    /// For each document the numbers of its terms, ascending, as distances.
    pub(super) forward: Vec<u8>,
    /// Where each document begins in `forward`, and where the last ends.
    pub(super) forward_starts: Vec<u32>,
}

/// Where a term and its lists begin, and how many documents hold it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) term: u32,
    pub(super) postings: u32,
    pub(super) positions: u32,
    pub(super) skips: u32,
    pub(super) documents: u32,
}

impl Lists {
    /// The number of terms.
    pub(in crate::search) fn len(&self) -> u32 {
        as_u32(self.entries.len().saturating_sub(1))
    }

    /// The number of a term in the dictionary.
    pub(in crate::search) fn find(&self, namespace: u8, text: &str) -> Option<u32> {
        let number = self.lower_bound(namespace, text);
        let found = number < self.len() && self.term(number) == (namespace, text.as_bytes());
        found.then_some(number)
    }

    /// The number of the first term that is not below a text.
    pub(in crate::search) fn lower_bound(&self, namespace: u8, text: &str) -> u32 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.term(middle) < (namespace, text.as_bytes()) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// A term: its namespace and its text.
    pub(in crate::search) fn term(&self, number: u32) -> (u8, &[u8]) {
        let bounds = self.bounds(number, |entry| entry.term);
        match self.terms.get(bounds) {
            Some([namespace, text @ ..]) => (*namespace, text),
            Some([]) | None => (u8::MAX, &[]),
        }
    }

    /// The text of a term.
    pub(in crate::search) fn text(&self, number: u32) -> &str {
        std::str::from_utf8(self.term(number).1).unwrap_or_default()
    }

    /// How many documents hold a term, the deleted ones included.
    pub(in crate::search) fn documents_with(&self, number: u32) -> u32 {
        self.entries[number as usize].documents
    }

    /// The documents that hold a term.
    pub(in crate::search) fn postings(&self, number: u32) -> Postings<'_> {
        Postings::new(
            &self.postings[self.bounds(number, |entry| entry.postings)],
            &self.positions[self.bounds(number, |entry| entry.positions)],
            &self.skips[self.bounds(number, |entry| entry.skips)],
            self.documents_with(number),
        )
    }

    /// The numbers of the terms of a document, ascending.
    pub(in crate::search) fn terms_of(&self, document: u32) -> impl Iterator<Item = u32> + '_ {
        let document = document as usize;
        let mut at = self.forward_starts[document] as usize;
        let end = self.forward_starts[document + 1] as usize;
        let mut term = 0;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                term += varint::read(&self.forward, &mut at);
                term
            })
        })
    }

    /// How much memory all of it takes.
    pub(super) fn bytes(&self) -> usize {
        self.terms.len()
            + self.entries.len() * size_of::<Entry>()
            + self.postings.len()
            + self.positions.len()
            + self.skips.len() * size_of::<Skip>()
            + self.forward.len()
            + self.forward_starts.len() * size_of::<u32>()
    }

    fn bounds(&self, number: u32, start: impl Fn(&Entry) -> u32) -> Range<usize> {
        let number = number as usize;
        start(&self.entries[number]) as usize..start(&self.entries[number + 1]) as usize
    }
}

/// A size within a segment. Segments are closed long before 32 bits are too few.
pub(super) fn as_u32(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

impl Lists {
    pub(super) fn shrink_to_fit(&mut self) {
        self.terms.shrink_to_fit();
        self.entries.shrink_to_fit();
        self.postings.shrink_to_fit();
        self.positions.shrink_to_fit();
        self.skips.shrink_to_fit();
        self.forward.shrink_to_fit();
        self.forward_starts.shrink_to_fit();
    }
}
