//! Frontmatter in every form that people have.

use serde_json::json;

use super::{parsed, spans};
use crate::vault::markdown::{Parsed, SpanKind};

fn front_tags(note: &Parsed) -> Vec<&str> {
    let of_front = note.tags.iter().filter(|tag| tag.is_in_frontmatter);
    of_front.map(|tag| tag.tag.as_str()).collect()
}

/// L8, L9, L10: line ends of every kind, a byte order mark, both closers, and a closer
/// at the end of the file.
#[test]
fn every_fence_is_found() {
    for text in [
        "---\ntitle: T\n---\nbody",
        "---\r\ntitle: T\r\n---\r\nbody",
        "---\rtitle: T\r---\rbody",
        "---\ntitle: T\r\n---\rbody",
        "\u{feff}---\ntitle: T\n---\nbody",
        "--- \ntitle: T\n...\nbody",
        "---\ntitle: T\n---",
        "---\r\ntitle: T\r\n...",
        "+++\ntitle = \"T\"\n+++\nbody",
        "\u{feff}+++\r\ntitle = 'T'\r\n+++",
    ] {
        let note = parsed(text);
        assert_eq!(note.title.as_deref(), Some("T"), "{text:?}");
        assert_eq!(note.frontmatter.error, None, "{text:?}");
        let searched: Vec<&str> = spans(text).into_iter().map(|(_, text)| text).collect();
        let body: &[&str] = if text.ends_with("body") { &["body"] } else { &[] };
        assert_eq!(searched, body, "L13: frontmatter is no prose, {text:?}");
    }
}

#[test]
fn what_is_no_block() {
    for text in
        ["---\ntitle: T\n", "--\ntitle: T\n--\n", "text\n---\ntitle: T\n---\n", "+++\n---\n"]
    {
        let note = parsed(text);
        assert!(note.frontmatter.bytes.is_empty(), "{text:?}");
        assert_eq!(note.title, None, "{text:?}");
    }
    let empty = parsed("---\n---\n# T\n");
    assert_eq!((empty.frontmatter.bytes, empty.frontmatter.error), (0..8, None));
    assert_eq!(empty.title.as_deref(), Some("T"));
}

/// L1: a letterhead between two rules is text, and so is a lone scalar or a list.
#[test]
fn a_letterhead_is_text() {
    for head in [
        "Acme Corp\nMain Street 5\n",
        "Acme Corp\nPhone: 555\nMain Street 5\n",
        "- a\n- b\n",
        "word\n",
        "Acme\nMain Street 5\n12345 Town\n\nDate: 2024-05-17\n",
        "# A heading\n",
    ] {
        let text = format!("---\n{head}---\nbody\n");
        let note = parsed(&text);
        assert!(note.frontmatter.bytes.is_empty() && note.frontmatter.error.is_some(), "{head:?}");
        let words: String = spans(&text).into_iter().map(|(_, text)| text).collect();
        for word in head.split_whitespace().filter(|word| word.len() > 1) {
            assert!(words.contains(word), "{word} of {head:?} in {words:?}");
        }
    }
}

/// L2: of two blocks the first counts, and the second stays text.
#[test]
fn the_first_of_two_blocks_wins() {
    let text = "---\ntitle: One\n---\n---\ntitle: Two\n---\nbody";
    assert_eq!(parsed(text).title.as_deref(), Some("One"));
    assert!(spans(text).iter().any(|(_, span)| span.contains("Two")));
}

/// L4, L6, L7, L14, L15: whatever stands in tags gives texts or nothing.
#[test]
fn tags_in_every_form() {
    let rows: [(&str, &[&str]); 22] = [
        ("tags: [a, b/c]", &["a", "b/c"]),
        ("tags:\n- a\n-\n- b", &["a", "b"]),
        ("tags:\n  - \n", &[]),
        ("tags: a, b c", &["a", "b", "c"]),
        ("tag: '#one'", &["one"]),
        ("Tags: [One]\n", &["One"]),
        ("KEYWORDS: machine learning, x", &["machine learning", "x"]),
        ("keywords: [machine learning]", &["machine learning"]),
        ("tags: [2024, true, 2024-01-01, null, 1.5]", &["2024", "true", "2024-01-01", "1.5"]),
        ("tags: 2024", &["2024"]),
        ("tags:", &[]),
        ("tags: {a: b}", &[]),
        ("tags: '[\"svelte\"'", &["svelte"]),
        ("tags: ['[\"svelte\"', '\"x\"]']", &["svelte", "x"]),
        ("tags: ['#a #b', '#c/']", &["a", "b", "c"]),
        ("tags: [[a, b], [c]]", &["a", "b", "c"]),
        ("tags: [日本, Ümlaut]", &["日本", "Ümlaut"]),
        ("tags: &t [a]\nkeywords: *t", &["a", "a"]),
        ("tags:\n- @name\n- b", &["@name", "b"]),
        ("tags: [a\ntitle: x", &["a"]),
        ("tags: \"\"", &[]),
        ("tags: '#'", &[]),
    ];
    for (block, expected) in rows {
        let note = parsed(&format!("---\n{block}\n---\n"));
        assert_eq!(front_tags(&note), expected, "{block:?}");
    }
    let lines: Vec<u32> =
        parsed("---\nx: b\ntags:\n- a\n\n- b\n---\n").tags.iter().map(|tag| tag.line).collect();
    assert_eq!(lines, [4, 6]);
    assert_eq!(front_tags(&parsed("+++\ntags = ['a', 'b c']\n+++\n")), ["a", "b c"]);
}

/// L5: dates, times and moments come back as ISO texts.
#[test]
fn dates_are_texts() {
    let block = "a: 2026-04-14\nb: 2026-04-14 10:20:30\nc: 2026-4-1T1:02:03.5Z\nd: 12:30\n\
        e: 2001-12-14t21:59:43.10-05:00\nf: 2001-12-14 21:59:43.10 -5\ng: 2026-04\nh: 20260414";
    let note = parsed(&format!("---\n{block}\n---\n"));
    assert_eq!(
        serde_json::Value::from(note.frontmatter.values),
        json!({
            "a": "2026-04-14", "b": "2026-04-14T10:20:30", "c": "2026-04-01T01:02:03.5Z", "d": "12:30",
            "e": "2001-12-14T21:59:43.10-05:00", "f": "2001-12-14T21:59:43.10-05:00", "g": "2026-04",
            "h": 20_260_414,
        })
    );
    let toml =
        parsed("+++\na = 2026-04-14\nb = 2026-04-14T10:20:30Z\nc = 10:20:30\nd = inf\n+++\n");
    assert_eq!(
        serde_json::Value::from(toml.frontmatter.values),
        json!({
            "a": "2026-04-14", "b": "2026-04-14T10:20:30Z", "c": "10:20:30", "d": "inf",
        })
    );
}

#[test]
fn scalars_keep_what_json_would_lose() {
    let block = "a: 007\nb: 123456789012345678901234567890\nc: .inf\nd: 0x1F\ne: '1'\nf: !!str 1\n\
        g: -1.5e3\nh: yes\ni: ~\nj: True\nk: 1.2.3\nl: +\nm: 18446744073709551615";
    let note = parsed(&format!("---\n{block}\n---\n"));
    assert_eq!(
        serde_json::Value::from(note.frontmatter.values),
        json!({
            "a": "007", "b": "123456789012345678901234567890", "c": ".inf", "d": 31, "e": "1", "f": "1",
            "g": -1500.0, "h": "yes", "i": null, "j": true, "k": "1.2.3", "l": "+",
            "m": 18_446_744_073_709_551_615_u64,
        })
    );
}

/// The date of a note: of its last change before that of its making.
#[test]
fn dates_of_notes() {
    let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(2));
    for (block, expected) in [
        ("date: 2024-05-17", Some("2024-05-16T22:00:00Z")),
        ("date: 2024-05-17\nupdated: 2024-06-01T10:00", Some("2024-06-01T08:00:00Z")),
        ("Created: 2024-05-17 10:00:00Z", Some("2024-05-17T10:00:00Z")),
        ("created: \"[[2024-05-17]]\"", Some("2024-05-16T22:00:00Z")),
        ("modified: 2024-05-17T10:00:00-05:00", Some("2024-05-17T15:00:00Z")),
        ("date: soon", None),
        ("date: 2024-13-45", None),
        ("date: {{date}}", None),
        ("date:", None),
    ] {
        let note = crate::vault::markdown::parse(&format!("---\n{block}\n---\n"), &zone);
        assert_eq!(note.date.map(|date| date.to_string()).as_deref(), expected, "{block}");
    }
}

/// L11, L12, L15: where the block is no YAML, what can be made out line by line counts,
/// and the error is told.
#[test]
fn broken_blocks_are_read_line_by_line() {
    let rows = [
        ("title: a: b", "a: b"),
        ("title: | pipes & more", "| pipes & more"),
        ("title: \"Quoted\" and more", "Quoted"),
        ("x: *none\ntitle: Anchors", "Anchors"),
        ("title: {{title}}\nx: {{y}}", "{{title}}"),
        ("title: @name", "@name"),
        ("author:\n- @name\ntitle: T", "T"),
        ("\ttitle: x\ntitle: Tabs", "Tabs"),
    ];
    for (block, title) in rows {
        let text =
            format!("---\n{block}\ntags: [a, b]\ndate: 2024-05-17\naliases:\n- X\n---\nbody");
        let note = parsed(&text);
        assert_eq!(note.title.as_deref(), Some(title), "{block:?}");
        assert!(note.frontmatter.error.is_some(), "{block:?}");
        assert_eq!(front_tags(&note), ["a", "b"], "{block:?}");
        assert_eq!(note.aliases, ["X"], "{block:?}");
        assert!(note.date.is_some(), "{block:?}");
        assert_eq!(spans(&text), [(SpanKind::Prose, "body")], "{block:?}");
    }
    let toml = parsed("+++\ntitle = Unquoted words\ntags = ['a', 'b']\n+++\n");
    assert_eq!(toml.title.as_deref(), Some("Unquoted words"));
    assert_eq!(front_tags(&toml), ["a", "b"]);
}

#[test]
fn a_key_twice_counts_once() {
    let note = parsed("---\ntags: [a]\ntitle: T\ntags:\ntitle: U\n---\n");
    assert_eq!((note.title.as_deref(), front_tags(&note)), (Some("U"), vec!["a"]));
    assert_eq!(note.frontmatter.error.as_deref(), Some("the key `tags` is there twice"));
}

/// L13: the title is that of the frontmatter, else the first heading of the first level.
#[test]
fn titles_aliases_and_language() {
    for (text, title) in [
        ("---\nTitle: 2024\n---\n# H\n", Some("2024")),
        ("---\ntitle: >\n  two\n  lines\n---\n", Some("two lines")),
        ("---\ntitle: [a]\n---\n## Two\n# One *x*\n", Some("One x")),
        ("---\ntitle:\n---\n#\n\nSet\n===\n", Some("Set")),
        ("text", None),
    ] {
        assert_eq!(parsed(text).title.as_deref(), title, "{text:?}");
    }
    let note = parsed("---\nalias: One, Two\naliases:\n-\n- 3\nlang: de\n---\n");
    assert_eq!(note.aliases, ["3", "One", "Two"]);
    assert_eq!(note.language.as_deref(), Some("de"));
}

/// An alias bomb, deep nesting and a dump of a megabyte cost no more than their length.
#[test]
fn hostile_blocks_are_bounded() {
    let level = |level: usize| {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        format!("a{level}: &a{level} [{below}]\n")
    };
    let bomb = (1..40).map(level).collect::<Vec<_>>().concat();
    let rows = [
        format!("a0: &a0 [x, y]\n{bomb}title: T\n"),
        format!("title: T\nx: {}\n", "[".repeat(100_000)),
        format!("title: T\nx: {}{}\n", "[".repeat(5_000), "]".repeat(5_000)),
        format!("title: T\n{}", "- ".repeat(50_000)),
        format!("title: T\nx: {}\n", "{a: ".repeat(30_000)),
        format!("title: T\nx: &x {}\n{}", "y".repeat(100_000), "z: *x\n".repeat(10_000)),
        format!("title: T\n{}", "key: value\n".repeat(100_000)),
        format!("title: T\nx: {}\n", "word ".repeat(200_000)),
        format!("title: T\ntags: [{}]\n", "\"\\u0061\", ".repeat(20_000)),
        format!("title: T\n{}", "? ".repeat(50_000)),
        format!("title: T\n{}", "!!x ".repeat(50_000)),
    ];
    for block in rows {
        let note = parsed(&format!("---\n{block}\n---\nbody"));
        assert_eq!(note.title.as_deref(), Some("T"), "{}", &block[..80]);
        assert!(serde_json::to_string(&note.frontmatter.values).expect("JSON").len() < 4_000_000);
    }
}
