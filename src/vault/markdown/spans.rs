//! Collects what is searched: as few and as long stretches as their kinds allow.

use std::ops::Range;

use crate::vault::markdown::{Span, SpanKind};

/// The longest gap of line ends, indentation and emphasis that a span goes on over.
const LONGEST_GAP: usize = 80;

/// The spans of a note, in the making.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// What is read.
    text: Vec<Span>,
    /// What is only found.
    asides: Vec<Span>,
    /// Whether the next text may go on the span before.
    is_open: bool,
}

/// A place among the spans.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(usize);

impl Spans {
    /// Adds a stretch of text. It goes on the span before if that is of its kind and
    /// block, and nothing but layout and markup lies between.
    pub(super) fn add(&mut self, source: &str, bytes: Range<usize>, kind: SpanKind) {
        if bytes.is_empty() {
            return;
        }
        if kind == SpanKind::Aside {
            self.add_aside(source, bytes);
            return;
        }
        match self.text.last_mut() {
            Some(last)
                if self.is_open
                    && last.kind == kind
                    && last.bytes.end <= bytes.start
                    && is_layout(&source.as_bytes()[last.bytes.end..bytes.start]) =>
            {
                last.bytes.end = bytes.end;
            }
            _ => self.text.push(Span { bytes, kind }),
        }
        self.is_open = true;
    }

    /// Ends the block: what comes next is a span of its own.
    pub(super) fn end_block(&mut self) {
        self.is_open = false;
    }

    /// The place where the next span will begin.
    pub(super) fn mark(&mut self) -> Mark {
        self.end_block();
        Mark(self.text.len())
    }

    /// Puts aside what was added since a mark.
    pub(super) fn put_aside_since(&mut self, mark: Mark) {
        let aside = self.text.drain(mark.0..).map(|span| Span { kind: SpanKind::Aside, ..span });
        self.asides.extend(aside);
        self.is_open = false;
    }

    /// All of them, those aside last.
    pub(super) fn finish(mut self) -> Vec<Span> {
        self.text.append(&mut self.asides);
        self.text.shrink_to_fit();
        self.text
    }

    fn add_aside(&mut self, source: &str, bytes: Range<usize>) {
        match self.asides.last_mut() {
            Some(last)
                if last.bytes.end <= bytes.start
                    && is_layout(&source.as_bytes()[last.bytes.end..bytes.start]) =>
            {
                last.bytes.end = bytes.end;
            }
            _ => self.asides.push(Span { bytes, kind: SpanKind::Aside }),
        }
    }
}

/// Whether nothing that is read stands there. `_` counts as text, because it is a part
/// of names.
fn is_layout(gap: &[u8]) -> bool {
    let of_layout =
        |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'>' | b'*' | b'~' | b'\\');
    gap.len() <= LONGEST_GAP && gap.iter().all(of_layout)
}
