//! Parts of a note: a section, a block, some lines, and as much as fits.
//!
//! Parts are cut from the file, so that their line numbers are the file's (L62).

use std::fmt;
use std::ops::RangeInclusive;

use crate::mcp::budget::Budget;
use crate::vault::markdown::{Heading, Parsed};

/// A text by its lines, as editors count them: they end with a line feed, a carriage
/// return, or both (L8).
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Counts the lines.
    pub(super) fn of(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let ends_line = |position: usize| match bytes[position] {
            b'\n' => true,
            b'\r' => bytes.get(position + 1) != Some(&b'\n'),
            _ => false,
        };
        let behind = (0..bytes.len()).filter(|position| ends_line(*position)).map(|end| end + 1);
        let starts = std::iter::once(0).chain(behind).filter(|start| *start < bytes.len());
        Self { text, starts: starts.collect() }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }

    /// These lines, counted from 1, with their ends.
    pub(super) fn text(&self, lines: &RangeInclusive<u32>) -> &'a str {
        &self.text[self.start(*lines.start())..self.start(lines.end().saturating_add(1))]
    }

    fn start(&self, line: u32) -> usize {
        let index = (line as usize).saturating_sub(1);
        self.starts.get(index).copied().unwrap_or(self.text.len())
    }
}

/// Which part of a note is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// The section under a heading, named in whatever way (L63).
    Section(String),
    /// The block with this id.
    Block(String),
    /// From one line to another; 0 is the last one.
    Lines(u32, u32),
    /// From within one line to the end of another; 0 is the last one.
    Rest(Start, u32),
}

/// Where reading begins, or goes on. Both count from 1; 0 is the first as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) line: u32,
    pub(super) character: u32,
}

impl Start {
    pub(super) const fn of_line(line: u32) -> Self {
        Self { line, character: 0 }
    }

    /// How many characters of the line come before it.
    pub(super) const fn skipped(self) -> usize {
        self.character.saturating_sub(1) as usize
    }
}

/// As the arguments that say it.
impl fmt::Display for Start {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "start_line {}", self.line.max(1))?;
        if self.character > 1 {
            write!(formatter, ", start_char {}", self.character)?;
        }
        Ok(())
    }
}

/// A part that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its lines; empty (`1..=0`) in an empty note.
    pub(super) lines: RangeInclusive<u32>,
    /// So many characters of the first line do not belong to it.
    pub(super) skipped: usize,
    /// Anchors and lines of other headings that were named as well.
    pub(super) others: Vec<(String, u32)>,
}

/// The note has no such part; in words for somebody who may read it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct NoSuchPart(String);

/// Finds a part.
pub(super) fn find(parsed: &Parsed, lines: &Lines<'_>, part: &Part) -> Result<Found, NoSuchPart> {
    let last = lines.count();
    let only = |lines| Ok(Found { lines, skipped: 0, others: Vec::new() });
    match part {
        Part::Whole => only(1..=last),
        Part::Lines(first, _) if *first > last.max(1) => {
            Err(NoSuchPart(format!("The note has {last} lines.")))
        }
        Part::Lines(first, end) => {
            let first = (*first).max(1);
            let end = if *end == 0 { last } else { (*end).min(last) };
            only(first..=end.max(first.min(last)))
        }
        Part::Rest(start, end) => {
            let found = find(parsed, lines, &Part::Lines(start.line.max(1), *end))?;
            Ok(Found { skipped: start.skipped(), ..found })
        }
        Part::Block(id) => {
            let wanted = id.trim().trim_start_matches(['#', '^']);
            let block = parsed.blocks.iter().find(|block| block.id.eq_ignore_ascii_case(wanted));
            match block {
                Some(block) => only(block.line..=block.last_line),
                None => Err(NoSuchPart("The note has no block with this id.".to_owned())),
            }
        }
        Part::Section(name) => {
            let found = headings_named(&parsed.headings, name);
            let Some((first, others)) = found.split_first() else {
                return Err(NoSuchPart(no_such_heading(&parsed.headings)));
            };
            let others = others.iter().map(|other| (other.anchor.clone(), other.line)).collect();
            Ok(Found { lines: first.line..=first.last_line, skipped: 0, others })
        }
    }
}

/// How many headings an error names.
const HEADINGS_NAMED: usize = 20;

fn no_such_heading(headings: &[Heading]) -> String {
    if headings.is_empty() {
        return "The note has no headings. Read it by lines.".to_owned();
    }
    let names: Vec<_> = headings.iter().take(HEADINGS_NAMED).map(|one| &*one.text).collect();
    let more = headings.len().saturating_sub(HEADINGS_NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("The note has no such heading. It has: {}{more}.", names.join(", "))
}

/// The headings that a text means, in the order of the note: by text with or without
/// `#`, by anchor, by a path of headings, and if nothing else fits by letters and
/// digits alone, so that emoji, markup and punctuation may be left out.
fn headings_named<'a>(headings: &'a [Heading], name: &str) -> Vec<&'a Heading> {
    let name = name.trim();
    let bare = name.trim_start_matches('#');
    let level = name.len() - bare.len();
    let bare = bare.trim();
    let mut found = named(headings, bare, words, Some(bare));
    if found.is_empty() {
        found = named(headings, bare, letters, None);
    }
    // `## Offers` means a heading of the second level, if there is one.
    if found.iter().any(|heading| usize::from(heading.level) == level) {
        found.retain(|heading| usize::from(heading.level) == level);
    }
    found
}

/// The headings whose text is this one in some form, or else that have this anchor, or
/// else that lie at this path.
fn named<'a>(
    headings: &'a [Heading],
    name: &str,
    form: impl Fn(&str) -> String,
    anchor: Option<&str>,
) -> Vec<&'a Heading> {
    // Once for each text: both a note and a name may be long.
    let forms: Vec<String> = headings.iter().map(|heading| form(&heading.text)).collect();
    let wanted = form(name);
    let is_named = |(_, form): &(&Heading, &String)| !wanted.is_empty() && **form == wanted;
    let by_text: Vec<_> =
        headings.iter().zip(&forms).filter(is_named).map(|(heading, _)| heading).collect();
    if !by_text.is_empty() {
        return by_text;
    }
    let by_anchor: Vec<_> =
        headings.iter().filter(|heading| anchor == Some(&*heading.anchor)).collect();
    if !by_anchor.is_empty() {
        return by_anchor;
    }
    let steps = name.split('>').map(|step| form(step.trim().trim_start_matches('#').trim()));
    by_path(headings, &forms, &steps.collect::<Vec<_>>())
}

/// The headings behind `A > B`: each step lies somewhere under the one before.
fn by_path<'a>(headings: &'a [Heading], forms: &[String], steps: &[String]) -> Vec<&'a Heading> {
    let Some((last, above)) = steps.split_last() else { return Vec::new() };
    if above.is_empty() || steps.iter().any(String::is_empty) {
        return Vec::new();
    }
    let mut found = Vec::new();
    // The headings that the next one may lie under, the outermost first: no more than
    // there are levels, however many headings there are.
    let mut open: Vec<(u8, &String)> = Vec::new();
    for (heading, form) in headings.iter().zip(forms) {
        while open.pop_if(|(level, _)| *level >= heading.level).is_some() {}
        if form == last {
            let mut wanted = above.iter().rev().peekable();
            for (_, form) in open.iter().rev() {
                wanted.next_if(|step| step == form);
            }
            if wanted.peek().is_none() {
                found.push(heading);
            }
        }
        open.push((heading.level, form));
    }
    found
}

/// A text by its words, letter case aside.
fn words(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// A text by its letters and digits, letter case aside, tags of HTML left out.
fn letters(text: &str) -> String {
    let mut is_tag = false;
    let mut letters = String::new();
    for character in text.chars() {
        match character {
            '<' => is_tag = true,
            '>' => is_tag = false,
            letter if letter.is_alphanumeric() && !is_tag => letters.extend(letter.to_lowercase()),
            _ => {}
        }
    }
    letters
}

/// As much of a part as fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The text, as it is written.
    pub(super) text: String,
    /// The lines that it comes from.
    pub(super) lines: RangeInclusive<u32>,
    /// What was left out.
    pub(super) rest: Rest,
}

/// What of a part was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    Nothing,
    /// These lines.
    Lines(RangeInclusive<u32>),
    /// The end of a line that is too long by itself, and the lines behind it.
    EndOfLine {
        /// Where to go on.
        next: Start,
        /// Which characters of the line are shown, counted from 1.
        shown: RangeInclusive<usize>,
        /// How many the line has.
        characters: usize,
        /// The last line of the part.
        end: u32,
    },
}

/// Takes whole lines from the beginning of a part, as far as the budget goes. Of a line
/// that is longer than all of it, some characters, so that reading gets on.
pub(super) fn excerpt(
    lines: &Lines<'_>,
    part: &RangeInclusive<u32>,
    skipped: usize,
    budget: Budget,
) -> Excerpt {
    let (first, end) = (*part.start(), *part.end());
    let mut text = String::new();
    let mut left = budget;
    for line in first..=end {
        let whole = lines.text(&(line..=line));
        let content = if line == first { behind(whole, skipped) } else { whole };
        if left.holds(content) {
            text.push_str(content);
            left = left.less(content);
        } else if line > first {
            let rest = Rest::Lines(line..=end);
            return Excerpt { text, lines: first..=line - 1, rest };
        } else {
            let text = beginning(content, budget);
            let last = skipped + text.chars().count();
            let characters = whole.chars().count();
            if last == characters {
                let rest = if line < end { Rest::Lines(line + 1..=end) } else { Rest::Nothing };
                return Excerpt { text: text.to_owned(), lines: line..=line, rest };
            }
            let character = u32::try_from(last + 1).unwrap_or(u32::MAX);
            let rest = Rest::EndOfLine {
                next: Start { line, character },
                shown: skipped + 1..=last,
                characters,
                end,
            };
            return Excerpt { text: text.to_owned(), lines: line..=line, rest };
        }
    }
    Excerpt { text, lines: part.clone(), rest: Rest::Nothing }
}

/// What of a line is behind so many characters.
fn behind(line: &str, skipped: usize) -> &str {
    line.char_indices().nth(skipped).map_or("", |(start, _)| &line[start..])
}

/// As much as the budget holds, and one character at least.
fn beginning(text: &str, budget: Budget) -> &str {
    let mut left = budget.bytes;
    let mut end = 0;
    for (number, (start, character)) in text.char_indices().enumerate() {
        let bytes = (budget.written)(character);
        if number > 0 && (number >= budget.characters || bytes > left) {
            break;
        }
        left = left.saturating_sub(bytes);
        end = start + character.len_utf8();
    }
    &text[..end]
}
