//! What can be read from the text of a note, in one pass.

mod anchors;
mod body;
mod frontmatter;
pub(in crate::vault) mod lines;
mod runs;
mod spans;
mod tags;
mod targets;

#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use self::lines::Lines;

/// Reads a note. Dates without a zone are read in `zone`.
///
/// Any text is a note: what is not understood is prose. The time is linear in the
/// length of the text.
#[must_use]
pub fn parse(text: &str, zone: &TimeZone) -> Parsed {
    let lines = Lines::of(text);
    let head = frontmatter::read(text, &lines, zone);
    let from = head.frontmatter.bytes.end.max(frontmatter::start_of(text));
    let found = body::read(text, from, &lines);
    let first_heading = || {
        let is_title = |heading: &&Heading| heading.level == 1 && !heading.text.is_empty();
        found.headings.iter().find(is_title).map(|heading| heading.text.clone())
    };
    let mut tags = head.tags;
    tags.extend(found.tags);
    Parsed {
        title: head.title.or_else(first_heading),
        aliases: head.aliases,
        frontmatter: head.frontmatter,
        tags,
        headings: found.headings,
        links: found.links,
        blocks: found.blocks,
        spans: found.spans.finish(),
        date: head.date,
        language: head.language,
        lines: lines.count(),
        body_start: from,
    }
}

/// Reads only what is below the frontmatter, from this byte on, and of that only what is
/// needed to show a part of it: the same as [`parse`] has of it.
pub(in crate::vault) fn parse_body(text: &str, from: usize) -> Body {
    let lines = Lines::of(text);
    let found = body::read(text, from, &lines);
    Body { lines, headings: found.headings, spans: found.spans.finish() }
}

/// What is below the frontmatter.
pub(in crate::vault) struct Body {
    /// Of the whole text.
    pub(in crate::vault) lines: Lines,
    /// See [`Parsed::headings`].
    pub(in crate::vault) headings: Vec<Heading>,
    /// See [`Parsed::spans`].
    pub(in crate::vault) spans: Vec<Span>,
}

/// What a note holds, apart from where it lies and who may see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// From the frontmatter, else the first heading of the first level.
    pub title: Option<String>,
    /// Other names, from `aliases` or `alias`.
    pub aliases: Vec<String>,
    /// The frontmatter.
    pub frontmatter: Frontmatter,
    /// Every use of a tag, in the order of the text.
    pub tags: Vec<TagUse>,
    /// The headings, in the order of the text.
    pub headings: Vec<Heading>,
    /// The links, in the order of the text.
    pub links: Vec<Link>,
    /// Blocks with an id (`^id` at their end).
    pub blocks: Vec<Block>,
    /// What is searched, in reading order: prose first, addresses and comments last.
    pub spans: Vec<Span>,
    /// When the note says that it was last changed, else made. Of a bare date: its
    /// beginning in the time zone that was given to the parser.
    pub date: Option<Timestamp>,
    /// `lang` or `language` in the frontmatter.
    pub language: Option<String>,
    /// The number of lines of the file.
    pub lines: u32,
    /// The byte at which the text begins, behind frontmatter and byte order mark.
    pub body_start: usize,
}

/// The block of data at the top of a note.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frontmatter {
    /// Its entries, as JSON has them; dates as ISO 8601 texts. Empty if there is none.
    pub values: serde_json::Map<String, serde_json::Value>,
    /// Why it could not be read whole. What could be read line by line is in `values`.
    pub error: Option<String>,
    /// The bytes of the file that it takes, fences included; empty if there is none.
    pub bytes: Range<usize>,
}

/// A tag where it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagUse {
    /// Without `#`, as it is written, `/` between its levels.
    pub tag: String,
    /// The line, counted from 1.
    pub line: u32,
    /// Whether it stands in the frontmatter.
    pub is_in_frontmatter: bool,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its text, without markup.
    pub text: String,
    /// The anchor, as GitHub makes it, unique in the note.
    pub anchor: String,
    /// Its line, counted from 1.
    pub line: u32,
    /// The last line of its section: up to the next heading of its level or above.
    pub last_line: u32,
}

/// What kind of link it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// `[text](target.md)`, also by reference.
    Markdown,
    /// `[[target]]`.
    Wiki,
    /// `![[target]]` or `![text](target)`.
    Embed,
    /// To another scheme than a file: `https:`, `mailto:`.
    External,
}

/// A link where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What kind of link it is.
    pub kind: LinkKind,
    /// The target, URL-decoded once, without the anchor; empty for a link within the
    /// note.
    pub target: String,
    /// The heading or `^block` behind `#`.
    pub anchor: Option<String>,
    /// What is shown for it.
    pub text: String,
    /// The line, counted from 1.
    pub line: u32,
}

/// A block with an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The id, without `^`.
    pub id: String,
    /// Its first line, counted from 1.
    pub line: u32,
    /// Its last line.
    pub last_line: u32,
}

/// A stretch of the file that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The bytes of the text.
    pub bytes: Range<usize>,
    /// What stands there.
    pub kind: SpanKind,
}

/// What stands in a [`Span`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Text of a heading.
    Heading,
    /// Running text.
    Prose,
    /// Code, in a block or a line.
    Code,
    /// The address of a link, HTML, a comment: found, but part of no phrase.
    Aside,
}
