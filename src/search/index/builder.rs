//! A segment in the making.
//!
//! Documents are written down one after the other in a compact form; closing the
//! segment turns them around, into lists by term. Since the size of each list is
//! counted along the way, it is written to its place at once, and what has been turned
//! around is given back: closing takes hardly more memory than there is already.

use super::document::{Document, Field, WHOLE_TITLES, WORDS};
use super::interner::Interner;
use super::lists::{Entry, Lists, as_u32};
use super::postings::{POSTINGS_BETWEEN_SKIPS, Shape, Skip};
use super::segment::{Documents, Segment};
use super::varint;
use crate::search::analysis::Analyzer;

/// The documents are written down in pieces of about this size.
const CHUNK: usize = 256 << 10;

/// Between texts that do not belong together lie so many positions that nothing is
/// adjacent across them.
const GAP: u32 = 8;

/// Collects documents until they are made a [`Segment`].
pub(super) struct SegmentBuilder<P> {
    interner: Interner,
    terms: Vec<TermSize>,
    chunks: Vec<Vec<u8>>,
    chunk_bytes: usize,
    documents: Documents,
    payloads: Vec<P>,
    scratch: Scratch,
}

/// How long the lists of a term will be.
#[derive(Clone, Copy, Debug, Default)]
struct TermSize {
    documents: u32,
    last_document: u32,
    postings: u32,
    positions: u32,
}

/// What the making of one document needs, kept for the next.
#[derive(Default)]
struct Scratch {
    /// The term in the upper half, the position in the lower.
    tokens: Vec<u64>,
    keywords: Vec<u32>,
    positions: Vec<u8>,
    /// The terms of the document, and their postings.
    shapes: Vec<(u32, Shape)>,
    whole: String,
}

/// How far the positions of a document have come.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// The next position.
    next: u32,
    /// The number of words so far.
    words: u32,
    last: Option<Field>,
}

impl<P> SegmentBuilder<P> {
    pub(super) fn new() -> Self {
        Self {
            interner: Interner::new(),
            terms: Vec::new(),
            chunks: Vec::new(),
            chunk_bytes: 0,
            documents: Documents::default(),
            payloads: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// About how much memory it takes, payloads aside.
    pub(super) fn bytes(&self) -> usize {
        let terms = self.interner.bytes() + self.terms.len() * size_of::<TermSize>();
        self.chunk_bytes + self.documents.bytes() + terms
    }

    /// Adds a document.
    pub(super) fn add(&mut self, analyzer: &mut Analyzer, document: Document<'_, P>) {
        self.scratch.tokens.clear();
        self.scratch.keywords.clear();
        let mut reach = Reach::default();
        let is_title = |field: &&(Field, &str)| field.0 == Field::Title;
        // Titles come first, so that a position alone tells whether it is in the title.
        for (field, text) in document.fields.iter().filter(is_title) {
            self.add_text(analyzer, *field, text, &mut reach);
        }
        let title_length = reach.next;
        // What a heading says of the title again is no second word of the text: counted
        // once and with its own share, titles help; counted twice, they mislead.
        let titles: Vec<&str> = document.fields.iter().filter(is_title).map(|it| it.1).collect();
        let is_repeated =
            |field: &&(Field, &str)| field.0 == Field::Heading && titles.contains(&field.1);
        let texts = document.fields.iter().filter(|field| !is_title(field));
        for (field, text) in texts.filter(|field| !is_repeated(field)) {
            self.add_text(analyzer, *field, text, &mut reach);
        }
        for (namespace, text) in &document.keywords {
            let term = self.interner.intern(namespace.byte(), text.as_bytes());
            self.scratch.keywords.push(term);
        }
        self.scratch.keywords.sort_unstable();
        self.scratch.keywords.dedup();
        // A keyword stands nowhere; it gets the first position that is not in the title.
        let keywords = self.scratch.keywords.iter();
        let stand_ins = keywords.map(|term| u64::from(*term) << 32 | u64::from(title_length));
        self.scratch.tokens.extend(stand_ins);
        self.scratch.tokens.sort_unstable();
        self.write_down(title_length);
        self.documents.add(document.key, reach.words, title_length);
        self.payloads.push(document.payload);
    }

    fn add_text(&mut self, analyzer: &mut Analyzer, field: Field, text: &str, reach: &mut Reach) {
        let runs_on = field == Field::Body && reach.last == Some(Field::Body);
        let base = match reach.last {
            None => 0,
            Some(_) if runs_on => reach.next,
            Some(_) => reach.next.saturating_add(GAP),
        };
        let is_name = matches!(field, Field::Title | Field::Alias | Field::Name);
        let Self { interner, scratch, .. } = self;
        let Scratch { tokens, whole, .. } = scratch;
        whole.clear();
        let mut next = base;
        analyzer.analyze(text, &mut |token| {
            let position = base.saturating_add(token.position);
            let term = interner.intern_noted(WORDS, token.term.as_bytes(), token.memo);
            tokens.push(u64::from(term) << 32 | u64::from(position));
            next = next.max(position.saturating_add(1));
            if !token.is_extra {
                reach.words = reach.words.saturating_add(1);
                if is_name {
                    whole.push_str(token.term);
                    whole.push(' ');
                }
            }
        });
        if next > base {
            *reach = Reach { next, last: Some(field), ..*reach };
        }
        if !whole.is_empty() {
            let term = interner.intern(WHOLE_TITLES, whole.trim_end().as_bytes());
            scratch.keywords.push(term);
        }
    }

    /// Appends the document whose tokens are sorted: the number of its terms, and for
    /// each its distance to the one before, how often it occurs, and its positions.
    fn write_down(&mut self, title_length: u32) {
        let Self { chunks, terms, scratch, .. } = self;
        terms.resize(self.interner.len(), TermSize::default());
        if chunks.last().is_none_or(|chunk| chunk.len() >= CHUNK) {
            chunks.push(Vec::with_capacity(CHUNK + CHUNK / 8));
        }
        let Some(chunk) = chunks.last_mut() else { return };
        let start = chunk.len();
        let document = as_u32(self.payloads.len());
        let groups = || scratch.tokens.chunk_by(|left, right| left >> 32 == right >> 32);
        varint::write(chunk, as_u32(groups().count()));
        let mut previous = 0;
        for group in groups() {
            let term = upper(group[0]);
            let mut shape =
                Shape { frequency: as_u32(group.len()), in_title: 0, position_bytes: 0 };
            scratch.positions.clear();
            if let [token] = group
                && lower(*token) >= title_length
            {
                // As most words of a text: nothing has to be put together first.
                let position = lower(*token);
                shape.position_bytes = varint::length(position);
                varint::write(chunk, term - previous);
                varint::write(chunk, 1 << 1);
                varint::write(chunk, shape.position_bytes);
                varint::write(chunk, position);
                previous = term;
                scratch.shapes.push((term, shape));
                continue;
            }
            let mut last = 0;
            for token in group {
                let position = lower(*token);
                shape.in_title += u32::from(position < title_length);
                varint::write(&mut scratch.positions, position - last);
                last = position;
            }
            shape.position_bytes = as_u32(scratch.positions.len());
            varint::write(chunk, term - previous);
            varint::write(chunk, shape.frequency << 1 | u32::from(shape.in_title > 0));
            if shape.in_title > 0 {
                varint::write(chunk, shape.in_title);
            }
            varint::write(chunk, shape.position_bytes);
            chunk.extend_from_slice(&scratch.positions);
            previous = term;
            scratch.shapes.push((term, shape));
        }
        // Each of these is somewhere else in memory. Looked at before anything else is done,
        // the processor waits for many of them at once.
        let sizes = scratch.shapes.iter().map(|(term, _)| terms[*term as usize].documents);
        std::hint::black_box(sizes.fold(0, |all, size| all | size));
        for (term, shape) in scratch.shapes.drain(..) {
            let size = &mut terms[term as usize];
            size.postings += shape.length(document - size.last_document);
            size.positions += shape.position_bytes;
            size.documents += 1;
            size.last_document = document;
        }
        self.chunk_bytes += chunk.len() - start;
    }

    /// Makes the segment.
    pub(super) fn finish(self) -> Segment<P> {
        let Self { interner, terms, chunks, mut documents, mut payloads, .. } = self;
        let mut turning = Turning::new(&interner, &terms);
        drop((interner, terms));
        for chunk in chunks {
            let mut at = 0;
            while at < chunk.len() {
                turning.turn(&chunk, &mut at);
            }
        }
        let mut lists = turning.lists;
        lists.forward_starts.push(as_u32(lists.forward.len()));
        lists.shrink_to_fit();
        documents.shrink_to_fit();
        payloads.shrink_to_fit();
        Segment::new(lists, documents, payloads)
    }
}

/// Turns what was written down by document into lists by term.
struct Turning {
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
    /// Where the lists begin, and how many documents are written.
    first: Entry,
    /// Where the next posting and its positions go.
    posting: u32,
    position: u32,
    last_document: u32,
}

impl Turning {
    /// Makes the dictionary, and room for the lists.
    fn new(interner: &Interner, terms: &[TermSize]) -> Self {
        let mut order: Vec<u32> = (0..as_u32(interner.len())).collect();
        order.sort_unstable_by_key(|number| interner.term(*number));
        let mut lists = Lists::default();
        let mut cursors = vec![Cursor::default(); order.len()];
        let mut entry = Entry::default();
        for (place, number) in (0..).zip(&order) {
            let size = terms[*number as usize];
            lists.terms.extend_from_slice(interner.term(*number));
            lists.entries.push(Entry { documents: size.documents, ..entry });
            let (posting, position) = (entry.postings, entry.positions);
            cursors[*number as usize] =
                Cursor { place, first: entry, posting, position, last_document: 0 };
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
        let done = cursor.first.documents;
        if done > 0 && done.is_multiple_of(POSTINGS_BETWEEN_SKIPS) {
            let skip = done / POSTINGS_BETWEEN_SKIPS - 1;
            lists.skips[(cursor.first.skips + skip) as usize] = Skip {
                document: cursor.last_document,
                posting: cursor.posting - cursor.first.postings,
                positions: cursor.position - cursor.first.positions,
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
        cursor.first.documents += 1;
        cursor.last_document = document;
        of_document.push(cursor.place);
    }
}

const fn upper(token: u64) -> u32 {
    (token >> 32) as u32
}

#[expect(clippy::cast_possible_truncation, reason = "the half that is wanted")]
const fn lower(token: u64) -> u32 {
    token as u32
}
