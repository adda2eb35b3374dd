//! Reads the plain text within a block: tags, comments, block ids, and the links that
//! only people take for links.

use std::ops::Range;

use memchr::{memchr3_iter, memrchr};

use crate::vault::markdown::body::Found;
use crate::vault::markdown::lines::Lines;
use crate::vault::markdown::spans::Mark;
use crate::vault::markdown::tags::tag_at;
use crate::vault::markdown::targets;
use crate::vault::markdown::{Link, LinkKind, SpanKind, TagUse};

/// Where the reader is within a block.
#[derive(Debug)]
pub(super) struct Inline {
    /// The text that is collected; empty if there is none. It is one piece of source.
    run: Range<usize>,
    /// Whether it begins a line of the block.
    begins_line: bool,
    /// Whether the next text does.
    is_at_line_start: bool,
    /// Where the text of the block begins.
    block_start: Option<usize>,
    /// The text that the block ends in so far.
    tail: Range<usize>,
    /// The comment that is open: it counts as one when it is closed.
    comment: Option<Comment>,
}

/// What was there when a comment was opened.
#[derive(Clone, Copy, Debug)]
struct Comment {
    spans: Mark,
    tags: usize,
}

impl Default for Inline {
    fn default() -> Self {
        Self {
            run: 0..0,
            begins_line: false,
            is_at_line_start: true,
            block_start: None,
            tail: 0..0,
            comment: None,
        }
    }
}

impl Inline {
    /// Adds a text to the run, if it follows it.
    pub(super) fn extend(&mut self, bytes: &Range<usize>) -> bool {
        let follows = !self.run.is_empty() && self.run.end == bytes.start;
        if follows {
            self.run.end = bytes.end;
        }
        follows
    }

    /// Begins a run. The one before was ended.
    pub(super) fn begin_run(&mut self, bytes: Range<usize>) {
        self.block_start.get_or_insert(bytes.start);
        self.begins_line = self.is_at_line_start;
        self.is_at_line_start = false;
        self.run = bytes;
    }

    /// Something else than plain text stands at `byte`.
    pub(super) fn interrupt(&mut self, byte: usize) {
        self.block_start.get_or_insert(byte);
        self.is_at_line_start = false;
        self.tail = 0..0;
    }

    pub(super) fn begin_line(&mut self) {
        self.is_at_line_start = true;
    }

    pub(super) fn begin_block(&mut self) {
        self.is_at_line_start = true;
        self.block_start = None;
        self.tail = 0..0;
    }

    /// The id at the end of the block that ends here, and the bytes of the block.
    pub(super) fn block_id<'a>(&self, source: &'a str) -> Option<(&'a str, Range<usize>)> {
        let text = source[self.tail.clone()].trim_end();
        let caret = memrchr(b'^', text.as_bytes())?;
        let is_apart = text[..caret].chars().next_back().is_none_or(char::is_whitespace);
        let start = self.block_start.filter(|_| is_apart && is_block_id(&text[caret..]))?;
        // With the caret alone in its run, what is before it is known from the source.
        let is_apart = caret > 0
            || self.tail.start == start
            || source[..self.tail.start].ends_with(char::is_whitespace);
        is_apart.then(|| (&text[caret + 1..], start..self.tail.start + text.len()))
    }

    /// Reads the run, adds it to the spans, and forgets it.
    pub(super) fn end_run(
        &mut self,
        source: &str,
        lines: &Lines,
        kind: SpanKind,
        found: &mut Found,
    ) {
        if self.run.is_empty() {
            return;
        }
        let run = std::mem::replace(&mut self.run, 0..0);
        self.tail = run.clone();
        let text = &source[run.clone()];
        let mut from = run.start;
        let mut has_links = false;
        for sign in memchr3_iter(b'#', b'%', b']', text.as_bytes()) {
            let at = run.start + sign;
            match text.as_bytes()[sign] {
                b'#' => self.tag(source, at, &run, lines, found),
                b'%' if at >= from && text[sign + 1..].starts_with('%') => {
                    from = self.turn_comment(source, from..at, kind, found);
                }
                b']' => has_links |= text[sign + 1..].starts_with('('),
                _ => {}
            }
        }
        found.spans.add(source, from..run.end, kind);
        if has_links {
            for (start, label, address) in targets::with_blanks(text) {
                let target = targets::of_address(address, LinkKind::Markdown);
                if target.kind == LinkKind::Markdown {
                    found.links.push(Link {
                        kind: target.kind,
                        target: target.path,
                        anchor: target.anchor,
                        text: targets::kept(label),
                        line: lines.line_of(run.start + start),
                    });
                }
            }
        }
    }

    /// Ends the text before a `%%` and opens or closes a comment there. Where the text
    /// goes on.
    fn turn_comment(
        &mut self,
        source: &str,
        before: Range<usize>,
        kind: SpanKind,
        found: &mut Found,
    ) -> usize {
        let behind = before.end + 2;
        found.spans.add(source, before, kind);
        match self.comment.take() {
            None => {
                let spans = found.spans.mark();
                self.comment = Some(Comment { spans, tags: found.tags.len() });
            }
            Some(comment) => {
                found.spans.put_aside_since(comment.spans);
                found.tags.truncate(comment.tags);
            }
        }
        behind
    }

    /// Adds the tag at a `#`, if it is one: at the start of a line, behind a blank or
    /// behind `(`, whatever emphasis it is in (L34).
    fn tag(&self, source: &str, at: usize, run: &Range<usize>, lines: &Lines, found: &mut Found) {
        let begins = at == run.start;
        let before = &source[self.block_start.unwrap_or(run.start).min(at)..at];
        let before = before.trim_end_matches(['*', '_', '~', '=']).chars().next_back();
        let may_begin = (begins && self.begins_line)
            || before.is_none_or(|before| before.is_whitespace() || before == '(');
        if !may_begin || (begins && source[..at].ends_with('\\')) {
            return;
        }
        if let Some(tag) = tag_at(&source[at + 1..run.end]) {
            let line = lines.line_of(at);
            found.tags.push(TagUse { tag: tag.to_owned(), line, is_in_frontmatter: false });
        }
    }
}

/// Whether a text is the id of a block: `^` with Latin letters, digits and dashes.
pub(super) fn is_block_id(text: &str) -> bool {
    let of_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    text.strip_prefix('^').is_some_and(|id| !id.is_empty() && id.bytes().all(of_id))
}
