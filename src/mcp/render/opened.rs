//! An open note, as much of it as fits.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::notes::TITLE_CHARACTERS;
use super::{moment, shortened, single_line, source};
use crate::mcp::budget::Budget;
use crate::mcp::section::{Found, Lines, NoSuchPart, Part, Rest, Start, excerpt, find};
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
    /// The same within that line.
    #[serde(skip_serializing_if = "is_zero")]
    next_start_char: u32,
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

impl Section {
    /// About how many bytes it takes in an answer, in its structure and in its text.
    const fn size(&self) -> usize {
        2 * self.heading.len() + self.anchor.len() + 140
    }
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
        budget.less(&self.content).less_bytes(self.outline.iter().map(Section::size).sum())
    }
}

/// The part of a note that is wanted, as far as the budget goes.
pub(in crate::mcp) fn part_of(
    note: &OpenNote,
    part: &Part,
    budget: Budget,
) -> Result<NotePart, NoSuchPart> {
    let lines = Lines::of(&note.text);
    let Found { lines: wanted, skipped, others } = find(&note.parsed, &lines, part)?;
    let is_long = *part == Part::Whole && !budget.holds(&note.text);
    // The beginning gets at least half of it.
    let mut room = budget.bytes / 2;
    let mut outline = if is_long { outline(&note.parsed.headings, &lines) } else { Vec::new() };
    let mut fits =
        |one: &Section| room.checked_sub(one.size()).inspect(|left| room = *left).is_some();
    let shown = outline.iter().map_while(|one| fits(one).then_some(())).count();
    outline.truncate(shown);
    let taken: usize = outline.iter().map(|one| one.heading.len() + 40).sum();
    let for_outline = taken.min(budget.characters / 2);
    let left = budget.less_bytes(outline.iter().map(Section::size).sum());
    let left = Budget { characters: budget.characters - for_outline, ..left };
    let excerpt = excerpt(&lines, &wanted, skipped, left);
    let (left_out, next) = left_out(&excerpt.rest, lines.count());
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
        next_start_line: next.line,
        next_start_char: next.character,
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

/// In words, and where to go on; there is no line 0.
fn left_out(rest: &Rest, total: u32) -> (String, Start) {
    let how = |start: Start, end: u32| {
        let end = if end < total { format!(", end_line {end}") } else { String::new() };
        format!("go on with {start}{end}")
    };
    match rest {
        Rest::Nothing => (String::new(), Start::default()),
        Rest::Lines(lines) => {
            let (start, end) = (*lines.start(), *lines.end());
            let next = Start::of_line(start);
            (format!("Lines {start}-{end} are left out; {}.", how(next, end)), next)
        }
        Rest::EndOfLine { next, end, .. } => {
            (format!("{}; {}.", cut(rest), how(*next, *end)), *next)
        }
    }
}

/// Says that a line is cut.
fn cut(rest: &Rest) -> String {
    let Rest::EndOfLine { next, shown, characters, .. } = rest else { return String::new() };
    let (first, last) = (shown.start(), shown.end());
    format!("Line {} has {characters} characters, of which {first}-{last} are shown", next.line)
}

/// The text of a page from a place on, as far as an answer can hold it.
pub(in crate::mcp) struct PageText {
    pub(in crate::mcp) content: String,
    /// What is left out, and how to get it; empty if nothing is.
    pub(in crate::mcp) left_out: String,
    /// Where to go on; line 0 if nothing is left out.
    pub(in crate::mcp) next: Start,
}

/// The text of a note from a place on. `how` says how to go on from one.
pub(in crate::mcp) fn page_text(
    text: &str,
    start: Start,
    budget: Budget,
    how: impl Fn(Start) -> String,
) -> PageText {
    let lines = Lines::of(text);
    let last = lines.count();
    if start.line > last.max(1) {
        let left_out = format!("The page has {last} lines.");
        return PageText { content: String::new(), left_out, next: Start::default() };
    }
    let excerpt = excerpt(&lines, &(start.line.max(1)..=last), start.skipped(), budget);
    let (left_out, next) = match &excerpt.rest {
        Rest::Nothing => (String::new(), Start::default()),
        Rest::Lines(rest) => {
            let next = Start::of_line(*rest.start());
            (format!("Lines {}-{last} of {last} are left out; {}.", next.line, how(next)), next)
        }
        Rest::EndOfLine { next, .. } => (format!("{}; {}.", cut(&excerpt.rest), how(*next)), *next),
    };
    PageText { content: excerpt.text, left_out, next }
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
