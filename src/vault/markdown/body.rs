//! Reads what is below the frontmatter: one pass over the parser's events.

use std::ops::Range;

use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
};

use crate::vault::markdown::anchors::Anchors;
use crate::vault::markdown::lines::Lines;
use crate::vault::markdown::runs::{Inline, is_block_id};
use crate::vault::markdown::spans::Spans;
use crate::vault::markdown::targets::{self, LONGEST, Target, beginning};
use crate::vault::markdown::{Block, Heading, Link, LinkKind, SpanKind, TagUse};

/// What notes use beyond `CommonMark`.
const DIALECT: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_WIKILINKS)
    .union(Options::ENABLE_MATH);

/// What was found in a body.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) tags: Vec<TagUse>,
    pub(super) headings: Vec<Heading>,
    pub(super) links: Vec<Link>,
    pub(super) blocks: Vec<Block>,
    pub(super) spans: Spans,
}

/// Reads `source` from the byte `from` on.
pub(super) fn read(source: &str, from: usize, lines: &Lines) -> Found {
    let mut reader = Reader::new(source, lines);
    let mut events = Parser::new_ext(&source[from..], DIALECT).into_offset_iter();
    for (event, bytes) in events.by_ref() {
        reader.take(event, from + bytes.start..from + bytes.end);
    }
    let definitions = events.reference_definitions();
    let mut places: Vec<Range<usize>> =
        definitions.iter().map(|(_, definition)| definition.span.clone()).collect();
    places.sort_by_key(|place| place.start);
    reader.finish(places.into_iter().map(|place| from + place.start..from + place.end))
}

struct Reader<'a> {
    source: &'a str,
    lines: &'a Lines,
    found: Found,
    anchors: Anchors,
    inline: Inline,
    heading: Option<OpenHeading>,
    links: Vec<OpenLink>,
    /// What is shown in the open heading or links.
    shown: String,
    is_in_code: bool,
    /// The block that was ended last, the outermost.
    block_before: Range<usize>,
    /// The headings whose sections are open, outermost first.
    open_sections: Vec<usize>,
}

struct OpenHeading {
    level: u8,
    start: usize,
    shown_from: usize,
}

struct OpenLink {
    target: Target,
    start: usize,
    shown_from: usize,
    address: Address,
    /// The end of what is shown so far.
    inner_end: usize,
}

/// Where the address of a link is written.
enum Address {
    /// Behind the text.
    Behind,
    /// Before the text: the bytes.
    Before(Range<usize>),
    /// In a definition, or it is the text itself.
    None,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, lines: &'a Lines) -> Self {
        Self {
            source,
            lines,
            found: Found::default(),
            anchors: Anchors::default(),
            inline: Inline::default(),
            heading: None,
            links: Vec::new(),
            shown: String::new(),
            is_in_code: false,
            block_before: 0..0,
            open_sections: Vec::new(),
        }
    }

    fn take(&mut self, event: Event<'a>, bytes: Range<usize>) {
        match event {
            Event::Text(text) => self.text(&text, bytes),
            Event::Start(tag) => self.start(tag, bytes),
            Event::End(tag) => self.end(tag, bytes),
            Event::SoftBreak | Event::HardBreak => {
                self.end_run();
                self.inline.begin_line();
                self.show(" ");
            }
            Event::Code(text) => {
                self.show(&text);
                self.add_inline(inner(self.source, bytes, '`'), SpanKind::Code);
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.show(&text);
                self.add_inline(inner(self.source, bytes, '$'), self.kind());
            }
            Event::InlineHtml(_) => self.add_inline(bytes, SpanKind::Aside),
            Event::Html(_) => self.found.spans.add(self.source, bytes, SpanKind::Aside),
            Event::FootnoteReference(_) => self.add_inline(bytes.end..bytes.end, SpanKind::Aside),
            Event::Rule => self.end_block(),
            Event::TaskListMarker(_) => {}
        }
    }

    fn text(&mut self, text: &CowStr<'a>, bytes: Range<usize>) {
        if self.is_in_code {
            self.found.spans.add(self.source, bytes, SpanKind::Code);
            return;
        }
        self.show(text);
        if !self.links.is_empty() {
            self.add_inline(bytes, self.kind());
        } else if text.len() == bytes.len() || text.contains(char::is_alphanumeric) {
            if !self.inline.extend(&bytes) {
                self.end_run();
                self.inline.begin_run(bytes);
            }
        } else {
            // `&nbsp;` and its like are no words.
            self.add_inline(bytes.end..bytes.end, SpanKind::Aside);
        }
    }

    fn start(&mut self, tag: Tag<'a>, bytes: Range<usize>) {
        match tag {
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough => self.end_run(),
            Tag::Link { link_type, dest_url, .. } => {
                self.start_link(link_type, &dest_url, bytes, LinkKind::Markdown);
            }
            Tag::Image { link_type, dest_url, .. } => {
                self.start_link(link_type, &dest_url, bytes, LinkKind::Embed);
            }
            Tag::Heading { level, .. } => {
                self.end_block();
                self.heading = Some(OpenHeading {
                    level: level_number(level),
                    start: bytes.start,
                    shown_from: self.shown.len(),
                });
            }
            Tag::CodeBlock(kind) => {
                self.end_block();
                self.is_in_code = true;
                if matches!(kind, CodeBlockKind::Fenced(_)) {
                    let language = language(self.source, bytes);
                    self.found.spans.add(self.source, language, SpanKind::Aside);
                }
            }
            _ => self.end_block(),
        }
    }

    fn end(&mut self, tag: TagEnd, bytes: Range<usize>) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.end_run(),
            TagEnd::Link | TagEnd::Image => self.end_link(bytes),
            TagEnd::Heading(_) => {
                self.end_block();
                self.end_heading();
                self.block_before = bytes;
            }
            _ => {
                self.end_block();
                self.is_in_code = false;
                self.block_before = bytes;
            }
        }
    }

    fn start_link(&mut self, how: LinkType, address: &str, bytes: Range<usize>, kind: LinkKind) {
        self.end_run();
        let bang = usize::from(kind == LinkKind::Embed);
        let (target, place) = match how {
            LinkType::WikiLink { has_pothole } => {
                let kind = if kind == LinkKind::Embed { kind } else { LinkKind::Wiki };
                let begin = bytes.start + bang + 2;
                // The address has lost its backslashes and entities, so its length says
                // nothing of what is written.
                let written = &self.source[begin..bytes.end];
                let written = begin..begin + written.find('|').unwrap_or(0);
                // In a table the bar has a backslash before it.
                let name = if has_pothole {
                    address.strip_suffix('\\').unwrap_or(address)
                } else {
                    address
                };
                let place = if has_pothole { Address::Before(written) } else { Address::None };
                (targets::of_wikilink(name, kind), place)
            }
            LinkType::Inline => (targets::of_address(address, kind), Address::Behind),
            LinkType::Email => {
                (targets::of_address(&format!("mailto:{address}"), kind), Address::None)
            }
            _ => (targets::of_address(address, kind), Address::None),
        };
        let inner_end = bytes.start + bang + 1;
        let (start, shown_from) = (bytes.start, self.shown.len());
        self.links.push(OpenLink { target, start, shown_from, address: place, inner_end });
    }

    fn end_link(&mut self, bytes: Range<usize>) {
        self.end_run();
        let Some(open) = self.links.pop() else { return };
        // Cut before anything else is done with it: links nest, and each has all the
        // text of those within it.
        let shown = self.shown.get(open.shown_from..).unwrap_or_default();
        let text = beginning(shown, LONGEST).trim().to_owned();
        let Target { kind, path, anchor } = open.target;
        let is_empty = path.is_empty() && anchor.is_none();
        let is_over_lines = kind == LinkKind::Wiki && path.contains(['\n', '\r']);
        if !is_empty && !is_over_lines {
            let line = self.lines.line_of(open.start);
            self.found.links.push(Link { kind, target: path, anchor, text, line });
        }
        let place = match open.address {
            Address::Behind => outer(self.source, open.inner_end..bytes.end),
            Address::Before(place) => place,
            Address::None => bytes.end..bytes.end,
        };
        self.found.spans.add(self.source, place, SpanKind::Aside);
        self.inline.interrupt(bytes.start);
        if let Some(outer) = self.links.last_mut() {
            outer.inner_end = bytes.end;
        } else if self.heading.is_none() {
            self.shown.clear();
        }
    }

    fn end_heading(&mut self) {
        let Some(open) = self.heading.take() else { return };
        let shown = self.shown.get(open.shown_from..).unwrap_or_default();
        let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        self.shown.clear();
        let line = self.lines.line_of(open.start);
        let headings = &mut self.found.headings;
        while let Some(section) =
            self.open_sections.pop_if(|section| headings[*section].level >= open.level)
        {
            let above = &mut headings[section];
            above.last_line = above.line.max(line.saturating_sub(1));
        }
        self.open_sections.push(self.found.headings.len());
        let anchor = self.anchors.next(&text);
        let last_line = self.lines.count().max(line);
        self.found.headings.push(Heading { level: open.level, text, anchor, line, last_line });
    }

    /// Adds what is no plain text of a line.
    fn add_inline(&mut self, bytes: Range<usize>, kind: SpanKind) {
        self.end_run();
        self.inline.interrupt(bytes.start);
        if let Some(link) = self.links.last_mut() {
            link.inner_end = link.inner_end.max(bytes.end);
        }
        self.found.spans.add(self.source, bytes, kind);
    }

    /// Adds the run of plain text that was collected.
    fn end_run(&mut self) {
        let kind = self.kind();
        self.inline.end_run(self.source, self.lines, kind, &mut self.found);
    }

    fn end_block(&mut self) {
        self.end_run();
        if let Some((id, own)) = self.inline.block_id(self.source) {
            let is_alone = is_block_id(&self.source[own.clone()]);
            let block = if is_alone { self.block_before.clone() } else { own };
            if !block.is_empty() {
                let line = self.lines.line_of(block.start);
                let text = self.source[block.clone()].trim_end();
                let last_line = self.lines.line_of(block.start + text.len().saturating_sub(1));
                self.found.blocks.push(Block { id: id.to_owned(), line, last_line });
            }
        }
        self.inline.begin_block();
        self.found.spans.end_block();
    }

    fn kind(&self) -> SpanKind {
        if self.heading.is_some() { SpanKind::Heading } else { SpanKind::Prose }
    }

    /// Remembers what is shown, where that is asked for. Of links it is cut, since they
    /// can be nested and each would have it all.
    fn show(&mut self, text: &str) {
        let is_wanted = match self.links.last() {
            Some(link) => self.shown.len() - link.shown_from < LONGEST,
            None => self.heading.is_some(),
        };
        if is_wanted {
            self.shown.push_str(text);
        }
    }

    fn finish(mut self, definitions: impl Iterator<Item = Range<usize>>) -> Found {
        self.end_block();
        for place in definitions {
            self.found.spans.add(self.source, place, SpanKind::Aside);
        }
        self.found
    }
}

/// What is between the signs around code or mathematics.
fn inner(source: &str, bytes: Range<usize>, sign: char) -> Range<usize> {
    let text = &source[bytes.clone()];
    let start = bytes.start + (text.len() - text.trim_start_matches(sign).len());
    start..(bytes.start + text.trim_end_matches(sign).len()).max(start)
}

/// The address in what follows the text of a link: `](<here> "title")`.
fn outer(source: &str, bytes: Range<usize>) -> Range<usize> {
    let text = &source[bytes.clone()];
    let start = bytes.start
        + (text.len() - text.trim_start_matches(['*', '_', '~', '`', '$', ']', '(', '<']).len());
    start..(bytes.start + text.trim_end_matches([')', '>']).len()).max(start)
}

/// What is written behind the fence of a code block.
fn language(source: &str, bytes: Range<usize>) -> Range<usize> {
    let text = &source[bytes.clone()];
    let text = &text[..text.find(['\n', '\r']).unwrap_or(text.len())];
    let language = text.trim_start_matches(['`', '~']).trim();
    let start = bytes.start + text.rfind(language).unwrap_or(text.len());
    start..start + language.len()
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
