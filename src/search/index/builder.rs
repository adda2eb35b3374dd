//! A segment in the making.
//!
//! Documents are written down one after the other in a compact form; closing the
//! segment turns them around, into lists by term. Since the size of each list is
//! counted along the way, it is written to its place at once, and what has been turned
//! around is given back: closing takes hardly more memory than there is already.

use super::document::{Document, Field, WHOLE_TITLES, WORDS};
use super::interner::Interner;
use super::lists::as_u32;
use super::postings::Shape;
use super::segment::{Documents, Segment};
use super::turning::{TermSize, Turning};
use super::varint;
use crate::search::analysis::{Analyzer, Numbering};

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

/// Takes the terms of one text.
struct Numbered<'a> {
    interner: &'a mut Interner,
    tokens: &'a mut Vec<u64>,
    /// The position of its first word.
    base: u32,
    next: u32,
    words: u32,
}

impl Numbering for Numbered<'_> {
    fn owner(&self) -> u32 {
        self.interner.owner()
    }

    fn number(&mut self, term: &str) -> u32 {
        self.interner.intern(WORDS, term.as_bytes())
    }

    #[inline]
    fn take(&mut self, number: u32, position: u32, is_extra: bool) {
        let position = self.base.saturating_add(position);
        self.tokens.push(u64::from(number) << 32 | u64::from(position));
        self.next = self.next.max(position.saturating_add(1));
        self.words += u32::from(!is_extra);
    }
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
        if is_name {
            self.add_whole_title(analyzer, text);
        }
        let Self { interner, scratch, .. } = self;
        let tokens = &mut scratch.tokens;
        let mut numbered = Numbered { interner, tokens, base, next: base, words: 0 };
        analyzer.number(text, &mut numbered);
        let Numbered { next, words, .. } = numbered;
        reach.words = reach.words.saturating_add(words);
        if next > base {
            *reach = Reach { next, last: Some(field), ..*reach };
        }
    }

    /// Adds the words of a title, together, as a term.
    fn add_whole_title(&mut self, analyzer: &mut Analyzer, text: &str) {
        let Self { interner, scratch: Scratch { keywords, whole, .. }, .. } = self;
        whole.clear();
        analyzer.analyze(text, &mut |token| {
            if !token.is_extra {
                whole.push_str(token.term);
                whole.push(' ');
            }
        });
        if !whole.is_empty() {
            keywords.push(interner.intern(WHOLE_TITLES, whole.trim_end().as_bytes()));
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
            turning.turn_all(&chunk);
        }
        let lists = turning.finish();
        documents.shrink_to_fit();
        payloads.shrink_to_fit();
        Segment::new(lists, documents, payloads)
    }
}

const fn upper(token: u64) -> u32 {
    (token >> 32) as u32
}

#[expect(clippy::cast_possible_truncation, reason = "the half that is wanted")]
const fn lower(token: u64) -> u32 {
    token as u32
}
