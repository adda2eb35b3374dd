//! Tests of what is read from a note.

mod body;
mod frontmatter;
mod properties;

use jiff::tz::TimeZone;

use crate::vault::markdown::{LinkKind, Parsed, SpanKind, parse};

fn parsed(text: &str) -> Parsed {
    parse(text, &TimeZone::UTC)
}

/// What is searched of a text, with its kind.
fn spans(text: &str) -> Vec<(SpanKind, &str)> {
    parsed(text).spans.into_iter().map(|span| (span.kind, &text[span.bytes])).collect()
}

#[test]
fn a_note_is_read_in_one_pass() {
    let text = "\u{feff}---\ntitle: A b\ntags: [x, \"#y\"]\ndate: 2024-05-17\n---\n\
        # H #openclaw\n\nsome *prose* `code` [l](a%20b.md#s \"t\") [[w|x]] #tag ^id\n\n\
        ```\ncode #x\n```\n<!-- c -->\n";
    let note = parsed(text);
    assert_eq!(note.title.as_deref(), Some("A b"));
    let tags: Vec<(&str, u32)> = note.tags.iter().map(|tag| (&*tag.tag, tag.line)).collect();
    assert_eq!(tags, [("x", 3), ("y", 3), ("openclaw", 6), ("tag", 8)]);
    assert_eq!(note.headings[0].anchor, "h-openclaw");
    let kinds: Vec<LinkKind> = note.links.iter().map(|link| link.kind).collect();
    assert_eq!(kinds, [LinkKind::Markdown, LinkKind::Wiki]);
    assert_eq!(note.links[0].target, "a b.md");
    assert_eq!(note.links[0].anchor.as_deref(), Some("s"));
    assert_eq!(note.blocks[0].id, "id");
    assert_eq!(note.date, Some("2024-05-17T00:00:00Z".parse().expect("a moment")));
    assert_eq!(note.lines, 13);
    assert_eq!(spans(text).last(), Some(&(SpanKind::Aside, "<!-- c -->\n")));
}
