//! Hits of a search, so written that they fit the answer.

use std::fmt::Write as _;

use rmcp::model::{CallToolResult, ContentBlock, Resource};
use schemars::JsonSchema;
use serde::Serialize;

use super::{count, date, hashed, length, moment, shortened, single_line, source};
use crate::access::path::VaultPath;
use crate::mcp::tools::answer;
use crate::mcp::uri::VaultUri;
use crate::vault::answers::{NoteHit, NoteSummary, QueryReading, SearchResults, Unmatched};

pub(in crate::mcp) use self::cut::cut;
use self::shape::{SHAPES, Shape};

mod cut;
mod shape;

/// The longest answer to a search with the default limit, in bytes, less what the
/// protocol puts around it: the whole stays under 8,000.
pub(in crate::mcp) const DEFAULT_BYTES: usize = 7_600;

/// The longest answer to a search with a larger limit: clients refuse answers of more
/// than 25,000 tokens (L61).
pub(in crate::mcp) const MOST_BYTES: usize = 24_000;

/// The longest answer with so many hits, where so many are the default.
pub(in crate::mcp) const fn most_bytes(limit: usize, default: u32) -> usize {
    if limit > default as usize { MOST_BYTES } else { DEFAULT_BYTES }
}

/// Why nothing is found by its meaning (L28).
pub(in crate::mcp) const SEMANTIC: &str = "off: no model";

/// What `search_notes` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct SearchAnswer<'a> {
    /// How many notes match in all.
    total: usize,
    /// Best first.
    hits: Vec<HitEntry<'a>>,
    /// How the query was read.
    interpreted: String,
    /// Words without weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
    /// Words that no note has, and what was searched for instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    corrected: Vec<Correction>,
    /// If nothing matches: filters that no note passes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unmatched: Vec<String>,
    /// Whether meaning was searched too.
    semantic: &'static str,
    /// Gives the next hits.
    #[serde(skip_serializing_if = "String::is_empty")]
    next_cursor: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Correction {
    typed: String,
    instead: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HitEntry<'a> {
    path: &'a str,
    title: String,
    /// Headings above the passage, outermost first, less one that is the title.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headings: Vec<String>,
    /// Of the innermost heading.
    #[serde(skip_serializing_if = "str::is_empty")]
    anchor: &'a str,
    /// Lines of the passage in the file: first, last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<u32>,
    #[serde(skip_serializing_if = "String::is_empty")]
    snippet: String,
    /// Matches: start and end, in characters of `snippet`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    matches: Vec<[usize; 2]>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: &'a [String],
    modified: &'a str,
    /// frontmatter, commit or file.
    modified_from: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    score: Option<f64>,
    /// The note that it is a conflict copy of.
    #[serde(skip_serializing_if = "str::is_empty")]
    conflict_of: &'a str,
}

/// An answer that fits `most` bytes, with the first hits of `results`, and how many
/// those are. `cursor` makes the cursor behind so many of them; it is asked only if
/// there are more.
pub(in crate::mcp) fn fitting(
    vault: &str,
    results: &SearchResults,
    most: usize,
    cursor: impl Fn(usize) -> Option<String>,
) -> CallToolResult {
    let dates: Vec<Dates> = results.hits.iter().map(Dates::of).collect();
    let page = Page { vault, results, dates: &dates };
    let mut shown = results.hits.len();
    // What each hit takes in the last shape, once that is known to be too much.
    let mut smallest: Option<Vec<usize>> = None;
    loop {
        let next = if shown < results.hits.len() || results.has_more {
            Next::from(cursor(shown))
        } else {
            Next::None
        };
        let around = length(&page.written(0, SHAPES[0], &next));
        let fits = |hits: &[usize]| around + hits.iter().sum::<usize>() <= most;
        let may_fit = smallest.as_ref().is_none_or(|hits| fits(&hits[..shown]));
        if may_fit || shown <= 1 {
            // Each shape takes less than the one before it.
            let larger = SHAPES.partition_point(|shape| !fits(&page.sizes(shown, *shape)));
            if larger < SHAPES.len() || shown <= 1 {
                return page.written(shown, SHAPES[larger.min(SHAPES.len() - 1)], &next);
            }
            smallest = Some(page.sizes(shown, SHAPES[SHAPES.len() - 1]));
        }
        // Paths and titles alone are too long.
        shown = shown * 3 / 4;
    }
}

/// What a hit takes at least: its path stands in an answer twice, and what is around it
/// takes more than this.
pub(in crate::mcp) fn least_bytes(note: &NoteSummary) -> usize {
    2 * note.path.as_str().len() + 170
}

/// When a note was changed last, as it is written.
struct Dates {
    moment: String,
    date: String,
}

impl Dates {
    fn of(hit: &NoteHit) -> Self {
        let modified = hit.note.modified;
        Self { moment: moment(modified.at), date: date(modified) }
    }
}

enum Next {
    None,
    Cursor(String),
    TooMany,
}

impl Next {
    fn cursor(&self) -> &str {
        match self {
            Self::Cursor(cursor) => cursor,
            Self::None | Self::TooMany => "",
        }
    }
}

impl From<Option<String>> for Next {
    fn from(cursor: Option<String>) -> Self {
        cursor.map_or(Self::TooMany, Self::Cursor)
    }
}

/// Results that are being written down.
struct Page<'r> {
    vault: &'r str,
    results: &'r SearchResults,
    /// Of each hit.
    dates: &'r [Dates],
}

impl Page<'_> {
    /// The bytes that each of the first hits takes in an answer, at most.
    fn sizes(&self, shown: usize, shape: Shape) -> Vec<usize> {
        let size = |(place, hit): (usize, &NoteHit)| {
            let entry = self.entry(place, hit, shape);
            let mut line = String::new();
            self.push_line(&mut line, place, &entry);
            let resource = self.link(place, hit, shape).map(ContentBlock::resource_link);
            // The marks around the line make up for the commas.
            length(&entry) + length(&line) + resource.map_or(0, |resource| length(&resource))
        };
        self.results.hits[..shown].iter().enumerate().map(size).collect()
    }

    fn written(&self, shown: usize, shape: Shape, next: &Next) -> CallToolResult {
        let hits = &self.results.hits[..shown];
        let entries: Vec<HitEntry> =
            hits.iter().enumerate().map(|(place, hit)| self.entry(place, hit, shape)).collect();
        let text = self.as_text(&entries, next);
        let QueryReading { interpreted, ignored, corrected, unmatched } = &self.results.reading;
        let correction = |(typed, instead): &(String, String)| Correction {
            typed: shortened(typed, WORD_CHARACTERS),
            instead: shortened(instead, WORD_CHARACTERS),
        };
        let ignored = ignored.iter().take(WORDS);
        let structure = SearchAnswer {
            total: self.results.total,
            hits: entries,
            interpreted: shortened(interpreted, INTERPRETED_CHARACTERS),
            ignored: ignored.map(|word| shortened(word, WORD_CHARACTERS)).collect(),
            corrected: corrected.iter().take(WORDS).map(correction).collect(),
            unmatched: unmatched.iter().take(WORDS).map(sentence).collect(),
            semantic: SEMANTIC,
            next_cursor: next.cursor().to_owned(),
        };
        let mut result = answer(&structure, text);
        let links = hits.iter().enumerate();
        let links = links.filter_map(|(place, hit)| self.link(place, hit, shape));
        result.content.extend(links.map(ContentBlock::resource_link));
        result
    }

    fn entry<'h>(&'h self, place: usize, hit: &'h NoteHit, shape: Shape) -> HitEntry<'h> {
        HitEntry::of(hit, &self.dates[place], shape, shape.snippet(place))
    }

    fn link(&self, place: usize, hit: &NoteHit, shape: Shape) -> Option<Resource> {
        let uri = || VaultUri::of_note(self.vault, hit.note.path.as_str()).to_string();
        let title = || shortened(&hit.note.title, shape.title / 2);
        shape.has_link(place).then(|| Resource::new(uri(), title()))
    }

    fn as_text(&self, entries: &[HitEntry<'_>], next: &Next) -> String {
        let QueryReading { interpreted, ignored, corrected, unmatched } = &self.results.reading;
        let mut text = match self.results.total {
            0 => "No note matches".to_owned(),
            total => count(total, "note matches", "notes match"),
        };
        let _ = write!(text, " ({})", shortened(interpreted, INTERPRETED_CHARACTERS));
        if !ignored.is_empty() {
            let words: Vec<String> =
                ignored.iter().take(WORDS).map(|word| shortened(word, WORD_CHARACTERS)).collect();
            let _ = write!(text, "; ignored: {}", words.join(" "));
        }
        for (typed, instead) in corrected.iter().take(WORDS) {
            let (typed, instead) =
                (shortened(typed, WORD_CHARACTERS), shortened(instead, WORD_CHARACTERS));
            let _ = write!(text, "; no note has {typed}, searched for {instead}");
        }
        text.push_str(".\n");
        for filter in unmatched.iter().take(WORDS) {
            let _ = writeln!(text, "{}", sentence(filter));
        }
        for (place, entry) in entries.iter().enumerate() {
            self.push_line(&mut text, place, entry);
        }
        match next {
            Next::None => {}
            Next::Cursor(_) => text.push_str("There are more: ask again with next_cursor.\n"),
            Next::TooMany => {
                text.push_str("There are more: make the query narrower to see them.\n");
            }
        }
        text
    }

    /// Appends what the text says of a hit.
    fn push_line(&self, text: &mut String, place: usize, entry: &HitEntry<'_>) {
        let _ = write!(text, "{}. {} | {}", place + 1, entry.title, single_line(entry.path));
        if let [first, last] = *entry.lines {
            let _ = if first == last {
                write!(text, ":{first}")
            } else {
                write!(text, ":{first}-{last}")
            };
        }
        if !entry.headings.is_empty() {
            let _ = write!(text, " | {}", entry.headings.join(" > "));
        }
        let _ = write!(text, " | {}", self.dates[place].date);
        if !entry.tags.is_empty() {
            let _ = write!(text, " | {}", hashed(entry.tags));
        }
        let _ = write!(text, "\n   {}\n", single_line(&entry.snippet));
    }
}

/// A query of 4 KiB need not come back whole.
const INTERPRETED_CHARACTERS: usize = 300;
const WORDS: usize = 12;
const WORD_CHARACTERS: usize = 40;
const HEADING_CHARACTERS: usize = 80;
const SENTENCE_CHARACTERS: usize = 120;

fn sentence(filter: &Unmatched) -> String {
    shortened(&filter.to_string(), SENTENCE_CHARACTERS)
}

impl<'a> HitEntry<'a> {
    fn of(hit: &'a NoteHit, dates: &'a Dates, shape: Shape, snippet: usize) -> Self {
        let NoteHit { note, score, passage } = hit;
        let (snippet, matches) = cut(passage, snippet);
        // One that is the title says nothing new.
        let above = passage.headings.iter().filter(|heading| **heading != note.title);
        let hidden = above.clone().count().saturating_sub(shape.headings);
        let headings = above.skip(hidden);
        let anchor = passage.anchor.as_deref();
        let lines = passage.lines.as_ref();
        Self {
            path: note.path.as_str(),
            title: shortened(&note.title, shape.title),
            headings: headings.map(|text| shortened(text, HEADING_CHARACTERS)).collect(),
            anchor: anchor.filter(|it| it.len() <= HEADING_CHARACTERS).unwrap_or_default(),
            lines: lines.map_or_else(Vec::new, |lines| vec![*lines.start(), *lines.end()]),
            snippet,
            matches: matches.into_iter().map(|found| [found.start, found.end]).collect(),
            tags: &note.tags[..note.tags.len().min(shape.tags)],
            modified: &dates.moment,
            modified_from: source(note.modified.source),
            // A thousandth tells two notes apart as well as seven digits do.
            score: score.map(|score| (f64::from(score) * 1_000.0).round() / 1_000.0),
            conflict_of: note.conflict_of.as_ref().map(VaultPath::as_str).unwrap_or_default(),
        }
    }
}
