//! Makes one segment out of several, without the documents that have been deleted.

use super::lists::{Entry, Lists, as_u32};
use super::partition::Part;
use super::postings::{POSTINGS_BETWEEN_SKIPS, Skip};
use super::segment::{Documents, Segment};
use super::varint;

/// Stands for a document or a term that is not taken over.
const NOWHERE: u32 = u32::MAX;

/// The documents of all parts in one segment.
pub(super) fn merged<P: Clone>(parts: &[Part<P>]) -> Segment<P> {
    let mut documents = Documents::default();
    let mut payloads = Vec::new();
    let mut sources = Vec::with_capacity(parts.len());
    for part in parts {
        let segment = part.segment();
        let mut new_numbers = Vec::with_capacity(segment.documents() as usize);
        for document in 0..segment.documents() {
            if part.is_deleted(document) {
                new_numbers.push(NOWHERE);
                continue;
            }
            new_numbers.push(as_u32(payloads.len()));
            let length = segment.lengths()[document as usize];
            let title_length = segment.title_lengths()[document as usize];
            documents.add(segment.key(document), length, title_length);
            payloads.push(segment.payload(document).clone());
        }
        let lists = segment.lists();
        sources.push(Source {
            lists,
            documents: new_numbers,
            terms: vec![NOWHERE; lists.len() as usize],
            next: 0,
        });
    }
    documents.shrink_to_fit();
    let mut lists = Lists::default();
    lists.postings.reserve_exact(sources.iter().map(|source| source.lists.postings.len()).sum());
    lists.positions.reserve_exact(sources.iter().map(|source| source.lists.positions.len()).sum());
    while let Some(term) = sources.iter().filter_map(Source::term).min() {
        merge_term(&mut lists, &mut sources, term);
    }
    lists.entries.push(end_of(&lists));
    merge_forward(&mut lists, &sources);
    lists.shrink_to_fit();
    Segment::new(lists, documents, payloads)
}

/// A segment that is taken over.
struct Source<'p> {
    lists: &'p Lists,
    /// The new number of each document.
    documents: Vec<u32>,
    /// The new number of each term, as far as they have been taken over.
    terms: Vec<u32>,
    /// The next term.
    next: u32,
}

impl<'p> Source<'p> {
    fn term(&self) -> Option<(u8, &'p [u8])> {
        (self.next < self.lists.len()).then(|| self.lists.term(self.next))
    }
}

/// Takes over the lists of a term from all sources that are at it.
fn merge_term(lists: &mut Lists, sources: &mut [Source<'_>], term: (u8, &[u8])) {
    let number = as_u32(lists.entries.len());
    let mut entry = end_of(lists);
    let mut last = 0;
    for source in sources.iter_mut().filter(|source| source.term() == Some(term)) {
        let mut postings = source.lists.postings(source.next);
        while postings.advance() {
            let document = source.documents[postings.document() as usize];
            if document == NOWHERE {
                continue;
            }
            if entry.documents > 0 && entry.documents.is_multiple_of(POSTINGS_BETWEEN_SKIPS) {
                lists.skips.push(Skip {
                    document: last,
                    posting: as_u32(lists.postings.len()) - entry.postings,
                    positions: as_u32(lists.positions.len()) - entry.positions,
                });
            }
            let shape = postings.shape();
            let mut at = lists.postings.len();
            lists.postings.resize(at + shape.length(document - last) as usize, 0);
            shape.put(document - last, &mut lists.postings, &mut at);
            lists.positions.extend_from_slice(postings.position_bytes());
            entry.documents += 1;
            last = document;
        }
        source.terms[source.next as usize] = number;
        source.next += 1;
    }
    // A term that only deleted documents had is gone; no document refers to it.
    if entry.documents > 0 {
        lists.terms.push(term.0);
        lists.terms.extend_from_slice(term.1);
        lists.entries.push(entry);
    }
}

/// The order of terms is the same in all segments, so the lists stay sorted.
fn merge_forward(lists: &mut Lists, sources: &[Source<'_>]) {
    for source in sources {
        for (document, _) in source.documents.iter().enumerate().filter(|(_, new)| **new != NOWHERE)
        {
            lists.forward_starts.push(as_u32(lists.forward.len()));
            let mut previous = 0;
            for term in source.lists.terms_of(as_u32(document)) {
                let term = source.terms[term as usize];
                varint::write(&mut lists.forward, term - previous);
                previous = term;
            }
        }
    }
    lists.forward_starts.push(as_u32(lists.forward.len()));
}

fn end_of(lists: &Lists) -> Entry {
    Entry {
        term: as_u32(lists.terms.len()),
        postings: as_u32(lists.postings.len()),
        positions: as_u32(lists.positions.len()),
        skips: as_u32(lists.skips.len()),
        documents: 0,
    }
}
