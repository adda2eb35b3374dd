//! Answers of the vault, made by hand.

use std::iter;

use jiff::Timestamp;

use crate::access::class::PageClass;
use crate::vault::answers::{
    DateSource, Modified, NoteHit, NoteSummary, OpenNote, Passage, QueryReading, SearchResults,
};
use crate::vault::markdown::{Block, Heading, Parsed};

pub(super) fn note(path: &str, title: &str, tags: &[&str]) -> NoteSummary {
    let at: Timestamp = "2026-03-14T12:00:00Z".parse().unwrap();
    NoteSummary {
        path: path.parse().unwrap(),
        title: title.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        modified: Modified { at, source: DateSource::Frontmatter },
        size: 1_234,
        conflict_of: None,
    }
}

pub(super) fn hit(note: NoteSummary, text: &str) -> NoteHit {
    let start = text.chars().position(|character| character == 'm').unwrap_or(0);
    let passage = Passage {
        text: text.to_owned(),
        matches: iter::once(start..start + 1).collect(),
        lines: Some(12..=14),
        headings: vec!["House".to_owned(), "Heating".to_owned(), "Offers".to_owned()],
        anchor: Some("offers".to_owned()),
    };
    NoteHit { note, score: Some(12.345_678), passage }
}

pub(super) fn results(hits: Vec<NoteHit>, total: usize) -> SearchResults {
    let has_more = total > hits.len();
    let reading = QueryReading { interpreted: "heat AND pump".to_owned(), ..Default::default() };
    SearchResults { hits, total, has_more, reading }
}

/// A note with these headings: level, text, anchor, first and last line.
pub(super) fn opened(text: &str, headings: &[(u8, &str, &str, u32, u32)]) -> OpenNote {
    let heading = |(level, text, anchor, line, last_line): &(u8, &str, &str, u32, u32)| Heading {
        level: *level,
        text: (*text).to_owned(),
        anchor: (*anchor).to_owned(),
        line: *line,
        last_line: *last_line,
    };
    let parsed = Parsed {
        headings: headings.iter().map(heading).collect(),
        blocks: vec![Block { id: "quote".to_owned(), line: 2, last_line: 3 }],
        ..Parsed::default()
    };
    OpenNote {
        summary: note("a/note.md", "Note", &["tag"]),
        class: PageClass::Ordinary,
        text: text.to_owned(),
        etag: "etag-1".to_owned(),
        parsed,
    }
}
