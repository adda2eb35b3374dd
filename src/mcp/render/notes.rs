//! Notes in a list.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::{date, hashed, moment, shortened, single_line, source};
use crate::vault::answers::NoteSummary;

/// The most characters of a title; some notes have their first paragraph there.
pub(in crate::mcp) const TITLE_CHARACTERS: usize = 120;

/// The most tags of a note in a list.
const TAGS: usize = 12;

/// A note in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct NoteEntry {
    /// Where it is.
    pub(in crate::mcp) path: String,
    /// Its title.
    title: String,
    /// Its tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// When it was last changed.
    modified: String,
    /// How that is known: frontmatter, commit or file.
    modified_from: &'static str,
    /// Bytes.
    size: u64,
    /// The note that it is a conflict copy of.
    #[serde(skip_serializing_if = "String::is_empty")]
    conflict_of: String,
}

impl NoteEntry {
    /// A note as lists show it.
    pub(in crate::mcp) fn of(note: &NoteSummary) -> Self {
        Self {
            path: note.path.to_string(),
            title: shortened(&note.title, TITLE_CHARACTERS),
            tags: note.tags.iter().take(TAGS).cloned().collect(),
            modified: moment(note.modified.at),
            modified_from: source(note.modified.source),
            size: note.size,
            conflict_of: note.conflict_of.as_ref().map(ToString::to_string).unwrap_or_default(),
        }
    }
}

/// One line of a list: `- Title | path | date | #tags`.
pub(in crate::mcp) fn line(note: &NoteSummary) -> String {
    let mut line = format!(
        "- {} | {} | {}",
        shortened(&note.title, TITLE_CHARACTERS),
        single_line(note.path.as_str()),
        date(note.modified)
    );
    if !note.tags.is_empty() {
        let _ = write!(line, " | {}", hashed(note.tags.iter().take(TAGS)));
    }
    if let Some(original) = &note.conflict_of {
        let _ = write!(line, " | conflict copy of {}", single_line(original.as_str()));
    }
    line
}
