//! An open note, as much of it as fits.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::notes::TITLE_CHARACTERS;
use super::{moment, shortened, single_line, source};
use crate::mcp::section::{Budget, Found, Lines, NoSuchPart, Part, Rest, excerpt, find};
use crate::vault::answers::OpenNote;
use crate::vault::markdown::Heading;

/// So many headings of a long note; if it has more, the deeper ones are left out.
const HEADINGS: usize = 80;
const HEADING_CHARACTERS: usize = 100;

/// A note, or a part of it.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::mcp) struct NotePart {
    path: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    /// Changes whenever the note does.
    #[serde(skip_serializing_if = "String::is_empty")]
    etag: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    modified: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    modified_from: String,
    /// First and last line of `content`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<u32>,
    /// Lines of the whole note.
    total_lines: u32,
    /// Headings of a long note.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outline: Vec<Section>,
    /// The text as it is written.
    #[serde(skip_serializing_if = "String::is_empty")]
    content: String,
    /// What is left out, and how to get it.
    #[serde(skip_serializing_if = "String::is_empty")]
    left_out: String,
    /// Where to go on; 0 if nothing is left out.
    #[serde(skip_serializing_if = "is_zero")]
    next_start_line: u32,
    /// Other headings of this name.
    #[serde(skip_serializing_if = "String::is_empty")]
    also: String,
    /// Why it could not be read.
    #[serde(skip_serializing_if = "String::is_empty")]
    error: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks this way")]
pub(in crate::mcp) const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A section in an outline.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct Section {
    /// 1 to 6.
    level: u8,
    heading: String,
    anchor: String,
    /// First and last.
    lines: [u32; 2],
    characters: usize,
}

impl NotePart {
    /// A note that could not be read. The path is the caller's own word for it.
    pub(in crate::mcp) fn failed(path: &str, reason: &str) -> Self {
        Self { path: shortened(path, 400), error: reason.to_owned(), ..Self::default() }
    }

    /// What is left of a budget behind it.
    pub(in crate::mcp) fn rest_of(&self, budget: Budget) -> Budget {
        budget.less(&self.content)
    }
}

/// The part of a note that is wanted, as far as the budget goes.
pub(in crate::mcp) fn part_of(
    note: &OpenNote,
    part: &Part,
    budget: Budget,
) -> Result<NotePart, NoSuchPart> {
    let lines = Lines::of(&note.text);
    let Found { lines: wanted, others } = find(&note.parsed, &lines, part)?;
    let is_long = *part == Part::Whole
        && (note.text.len() > budget.bytes || note.text.chars().nth(budget.characters).is_some());
    let outline = if is_long { outline(&note.parsed.headings, &lines) } else { Vec::new() };
    let taken: usize = outline.iter().map(|one| one.heading.len() + 40).sum();
    // The beginning gets at least half of it.
    let for_outline = taken.min(budget.characters / 2);
    let characters = budget.characters - for_outline;
    let excerpt = excerpt(&lines, &wanted, Budget { characters, ..budget });
    let (left_out, next_start_line) = left_out(&excerpt.rest, lines.count());
    Ok(NotePart {
        path: note.summary.path.to_string(),
        title: shortened(&note.summary.title, TITLE_CHARACTERS),
        etag: note.etag.clone(),
        modified: moment(note.summary.modified.at),
        modified_from: source(note.summary.modified.source).to_owned(),
        lines: vec![*excerpt.lines.start(), *excerpt.lines.end()],
        total_lines: lines.count(),
        outline,
        content: excerpt.text,
        left_out,
        next_start_line,
        also: also(&others),
        error: String::new(),
    })
}

fn outline(headings: &[Heading], lines: &Lines<'_>) -> Vec<Section> {
    let within = |level: u8| headings.iter().filter(move |heading| heading.level <= level);
    let level = (1..=6).rev().find(|level| within(*level).count() <= HEADINGS).unwrap_or(1);
    within(level)
        .take(HEADINGS)
        .map(|heading| Section {
            level: heading.level,
            heading: shortened(&heading.text, HEADING_CHARACTERS),
            anchor: heading.anchor.clone(),
            lines: [heading.line, heading.last_line],
            characters: lines.text(&(heading.line..=heading.last_line)).chars().count(),
        })
        .collect()
}

fn left_out(rest: &Rest, total: u32) -> (String, u32) {
    let how = |start: u32, end: u32| {
        let end = if end < total { format!(", end_line {end}") } else { String::new() };
        format!("go on with start_line {start}{end}")
    };
    match rest {
        Rest::Nothing => (String::new(), 0),
        Rest::Lines(lines) => {
            let (start, end) = (*lines.start(), *lines.end());
            (format!("Lines {start}-{end} are left out; {}.", how(start, end)), start)
        }
        Rest::EndOfLine { characters, behind } => {
            let cut = format!("The line is cut: it has {characters} characters");
            if behind.is_empty() {
                return (format!("{cut}; a larger max_chars shows more of it."), 0);
            }
            let (start, end) = (behind.start, behind.end - 1);
            let more = format!("a larger max_chars shows more of it, or {}", how(start, end));
            (format!("{cut}; {more}."), start)
        }
    }
}

/// The text of a page from a line on, as far as an answer can hold it.
pub(in crate::mcp) struct PageText {
    pub(in crate::mcp) content: String,
    /// What is left out, and how to get it; empty if nothing is.
    pub(in crate::mcp) left_out: String,
    /// Where to go on; 0 if nothing is left out.
    pub(in crate::mcp) next_start_line: u32,
}

/// The text of a note from a line on; 0 is the first as well. `how` says how to go on
/// from a line.
pub(in crate::mcp) fn page_text(
    text: &str,
    start_line: u32,
    most: usize,
    how: impl Fn(u32) -> String,
) -> PageText {
    let lines = Lines::of(text);
    let last = lines.count();
    if start_line > last.max(1) {
        let left_out = format!("The page has {last} lines.");
        return PageText { content: String::new(), left_out, next_start_line: 0 };
    }
    let budget = Budget { characters: most, bytes: most };
    let excerpt = excerpt(&lines, &(start_line.max(1)..=last), budget);
    let shown = *excerpt.lines.end();
    let (left_out, next_start_line) = match excerpt.rest {
        Rest::Nothing => (String::new(), 0),
        Rest::Lines(rest) => {
            let start = *rest.start();
            (format!("Lines {start}-{last} of {last} are left out; {}.", how(start)), start)
        }
        Rest::EndOfLine { characters, behind } => {
            let cut = format!("Line {shown} is cut: it has {characters} characters");
            if behind.is_empty() {
                (format!("{cut}."), 0)
            } else {
                let start = behind.start;
                (format!("{cut}; behind it, {}.", how(start)), start)
            }
        }
    };
    PageText { content: excerpt.text, left_out, next_start_line }
}

fn also(others: &[(String, u32)]) -> String {
    let others: Vec<String> =
        others.iter().take(10).map(|(anchor, line)| format!("#{anchor} (line {line})")).collect();
    if others.is_empty() {
        return String::new();
    }
    format!("The first of several sections with this heading; the others: {}.", others.join(", "))
}

/// A part as a model reads it.
pub(in crate::mcp) fn as_text(part: &NotePart) -> String {
    let path = single_line(&part.path);
    if !part.error.is_empty() {
        return format!("{path}: {}", part.error);
    }
    let mut text = path;
    if let [first, last] = *part.lines {
        let _ = write!(text, " (lines {first}-{last} of {})", part.total_lines);
    }
    text.push('\n');
    if !part.outline.is_empty() {
        text.push_str("Outline (lines, characters):\n");
        for Section { level, heading, lines: [first, last], characters, .. } in &part.outline {
            let indent = "  ".repeat(usize::from(level.saturating_sub(1)));
            let _ = writeln!(text, "{indent}- {heading} ({first}-{last}, {characters})");
        }
        text.push_str("The beginning:\n");
    }
    let _ = write!(text, "\n{}", part.content);
    for remark in [&part.left_out, &part.also] {
        if !remark.is_empty() {
            let _ = write!(text, "\n[{remark}]");
        }
    }
    text
}
