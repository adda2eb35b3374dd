//! Closing a segment: what was written down by document becomes lists by term.

use super::interner::Interner;
use super::lists::{Entry, Lists, as_u32};
use super::postings::{POSTINGS_BETWEEN_SKIPS, Shape, Skip};
use super::varint;

/// How long the lists of a term will be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TermSize {
    pub(super) documents: u32,
    pub(super) last_document: u32,
    pub(super) postings: u32,
    pub(super) positions: u32,
}

/// Turns what was written down by document into lists by term.
pub(super) struct Turning {
    lists: Lists,
    cursors: Vec<Cursor>,
    of_document: Vec<u32>,
    /// Those of the document that is turned: the term, and where its positions begin.
    postings: Vec<(u32, Shape, usize)>,
}

/// How far the lists of a term are written: all that a posting needs in one place.
#[derive(Clone, Copy, Default)]
struct Cursor {
    /// The place in the dictionary.
    place: u32,
    /// Where the next posting and its positions go.
    posting: u32,
    position: u32,
    last_document: u32,
    /// How many documents are written.
    done: u32,
}

impl Turning {
    /// Makes the dictionary, and room for the lists.
    pub(super) fn new(interner: &Interner, terms: &[TermSize]) -> Self {
        let order = sorted(interner);
        let mut lists = Lists::default();
        let mut cursors = vec![Cursor::default(); terms.len()];
        let mut entry = Entry::default();
        for (place, number) in (0..).zip(order) {
            let size = terms[number as usize];
            lists.terms.extend_from_slice(interner.term(number));
            lists.entries.push(Entry { documents: size.documents, ..entry });
            let (posting, position) = (entry.postings, entry.positions);
            cursors[number as usize] =
                Cursor { place, posting, position, last_document: 0, done: 0 };
            entry.term = as_u32(lists.terms.len());
            entry.postings += size.postings;
            entry.positions += size.positions;
            entry.skips += size.documents.saturating_sub(1) / POSTINGS_BETWEEN_SKIPS;
        }
        lists.entries.push(entry);
        lists.postings = vec![0; entry.postings as usize];
        lists.positions = vec![0; entry.positions as usize];
        let nothing = Skip { document: 0, posting: 0, positions: 0 };
        lists.skips = vec![nothing; entry.skips as usize];
        Self { lists, cursors, of_document: Vec::new(), postings: Vec::new() }
    }

    /// Takes documents, one behind the other.
    pub(super) fn turn_all(&mut self, chunk: &[u8]) {
        let mut at = 0;
        while at < chunk.len() {
            self.turn(chunk, &mut at);
        }
    }

    /// The lists, when all documents were taken.
    pub(super) fn finish(self) -> Lists {
        let Self { mut lists, .. } = self;
        lists.forward_starts.push(as_u32(lists.forward.len()));
        lists.shrink_to_fit();
        lists
    }

    /// Takes the document that begins at a place.
    fn turn(&mut self, chunk: &[u8], at: &mut usize) {
        let document = as_u32(self.lists.forward_starts.len());
        self.of_document.clear();
        self.postings.clear();
        let mut term = 0;
        for _ in 0..varint::read(chunk, at) {
            term += varint::read(chunk, at);
            let frequency = varint::read(chunk, at);
            let in_title = if frequency & 1 == 0 { 0 } else { varint::read(chunk, at) };
            let position_bytes = varint::read(chunk, at);
            let shape = Shape { frequency: frequency >> 1, in_title, position_bytes };
            self.postings.push((term, shape, *at));
            *at += position_bytes as usize;
        }
        self.look_over();
        let postings = std::mem::take(&mut self.postings);
        for (term, shape, start) in &postings {
            let positions = &chunk[*start..start + shape.position_bytes as usize];
            self.place(document, *term, *shape, positions);
        }
        self.postings = postings;
        self.of_document.sort_unstable();
        self.lists.forward_starts.push(as_u32(self.lists.forward.len()));
        let mut previous = 0;
        for place in &self.of_document {
            varint::write(&mut self.lists.forward, place - previous);
            previous = *place;
        }
    }

    /// Has the processor fetch where the postings of a document go, all at a time: each is
    /// somewhere else, and one after the other it would wait for each.
    fn look_over(&self) {
        let Self { lists, cursors, postings, .. } = self;
        let byte = |bytes: &[u8], at: u32| bytes.get(at as usize).copied().unwrap_or_default();
        let places = postings.iter().map(|(term, ..)| cursors[*term as usize].posting);
        std::hint::black_box(places.fold(0, |all, place| all | place));
        let bytes = postings.iter().map(|(term, ..)| {
            let Cursor { posting, position, .. } = cursors[*term as usize];
            byte(&lists.postings, posting) | byte(&lists.positions, position)
        });
        std::hint::black_box(bytes.fold(0, |all, byte| all | byte));
    }

    fn place(&mut self, document: u32, term: u32, shape: Shape, positions: &[u8]) {
        let Self { lists, cursors, of_document, .. } = self;
        let cursor = &mut cursors[term as usize];
        if cursor.done > 0 && cursor.done.is_multiple_of(POSTINGS_BETWEEN_SKIPS) {
            let first = lists.entries[cursor.place as usize];
            let skip = cursor.done / POSTINGS_BETWEEN_SKIPS - 1;
            lists.skips[(first.skips + skip) as usize] = Skip {
                document: cursor.last_document,
                posting: cursor.posting - first.postings,
                positions: cursor.position - first.positions,
            };
        }
        let mut at = cursor.posting as usize;
        shape.put(document - cursor.last_document, &mut lists.postings, &mut at);
        cursor.posting = as_u32(at);
        let start = cursor.position as usize;
        let places = &mut lists.positions[start..start + positions.len()];
        match (&mut *places, positions) {
            // Most terms occur once: that is less than a call.
            ([place], [byte]) => *place = *byte,
            ([first, second], [one, other]) => (*first, *second) = (*one, *other),
            _ => places.copy_from_slice(positions),
        }
        cursor.position += shape.position_bytes;
        cursor.done += 1;
        cursor.last_document = document;
        of_document.push(cursor.place);
    }
}

/// The numbers of all terms in the byte order of the terms. Most pairs differ in their
/// first eight bytes, which lie side by side here.
fn sorted(interner: &Interner) -> impl Iterator<Item = u32> {
    let beginning = |number| {
        let term = interner.term(number);
        let mut first = [0; 8];
        let length = term.len().min(first.len());
        first[..length].copy_from_slice(&term[..length]);
        u64::from_be_bytes(first)
    };
    let numbers = 0..as_u32(interner.len());
    let mut order: Vec<(u64, u32)> = numbers.map(|number| (beginning(number), number)).collect();
    order.sort_unstable_by(|left, right| {
        let rest = || interner.term(left.1).cmp(interner.term(right.1));
        left.0.cmp(&right.0).then_with(rest)
    });
    order.into_iter().map(|(_, number)| number)
}
