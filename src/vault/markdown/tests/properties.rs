//! What holds of any text.

use proptest::prelude::*;

use super::parsed;
use crate::trials;
use crate::vault::markdown::{Parsed, SpanKind};

/// What Markdown, YAML and Obsidian make much of.
const PIECES: &[&str] = &[
    "a",
    "word ",
    "é",
    "日本",
    "\u{301}",
    "🎉",
    "\u{a0}",
    " ",
    "  ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "#",
    "# ",
    "## ",
    "#tag",
    "===\n",
    "---\n",
    "---",
    "+++\n",
    "...\n",
    "- ",
    "* ",
    "1. ",
    "> ",
    "|",
    "|-|\n",
    "\\",
    "`",
    "```",
    "~~~\n",
    "$",
    "$$",
    "*",
    "**",
    "_",
    "~~",
    "[",
    "[[",
    "]",
    "]]",
    "](",
    "!",
    "(",
    ")",
    "<",
    ">",
    "<!--",
    "-->",
    "<div>",
    "%%",
    "^id",
    "[^1]",
    "[^1]: ",
    "[a]: b\n",
    "&amp;",
    "https://x.y",
    "title: ",
    "tags: [a, ",
    "{{x}}",
    "&a *a",
];

fn any_markdown(longest: usize) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..longest).prop_map(|pieces| pieces.concat())
}

/// What must be so whatever the text.
fn check(text: &str, note: &Parsed) {
    let lines = note.lines;
    let is_line = |line: u32| (1..=lines.max(1)).contains(&line);
    let bytes = &note.frontmatter.bytes;
    assert!(text.get(bytes.clone()).is_some());
    for span in &note.spans {
        let found = text.get(span.bytes.clone());
        assert!(found.is_some_and(|found| !found.is_empty()), "{:?} of {text:?}", span.bytes);
        assert!(bytes.is_empty() || span.bytes.start >= bytes.end, "frontmatter is searched");
    }
    let read: Vec<_> = note.spans.iter().filter(|span| span.kind != SpanKind::Aside).collect();
    assert!(read.windows(2).all(|pair| pair[0].bytes.end <= pair[1].bytes.start), "{text:?}");
    let is_aside = |at: usize| note.spans[at].kind == SpanKind::Aside;
    assert!((1..note.spans.len()).all(|at| !is_aside(at - 1) || is_aside(at)), "asides are last");
    assert!(note.tags.iter().all(|tag| is_line(tag.line) && !tag.tag.is_empty()));
    assert!(note.links.iter().all(|link| is_line(link.line)));
    assert!(note.blocks.iter().all(|block| is_line(block.line) && is_line(block.last_line)));
    for heading in &note.headings {
        assert!(is_line(heading.line) && is_line(heading.last_line), "{heading:?} of {text:?}");
        assert!(heading.line <= heading.last_line && (1..=6).contains(&heading.level));
    }
    let mut anchors: Vec<&str> = note.headings.iter().map(|heading| &*heading.anchor).collect();
    anchors.sort_unstable();
    assert!(anchors.windows(2).all(|pair| pair[0] != pair[1]), "{anchors:?}");
}

/// Every letter outside of the frontmatter is searched, whatever is around it.
/// Not searched are the numbers of lists, and names that are no text: the label of a
/// reference, an entity. These texts have none of them.
fn every_word_is_searched(text: &str, note: &Parsed) {
    let mut is_searched = vec![false; text.len()];
    for span in &note.spans {
        is_searched[span.bytes.clone()].fill(true);
    }
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < note.frontmatter.bytes.end) {
        assert!(!c.is_alphabetic() || is_searched[at], "{c:?} at {at} of {text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_a_note(text in any_markdown(40)) {
        check(&text, &parsed(&text));
    }

    #[test]
    fn words_are_searched(text in "([a-z0-9é日 #*_>%.\n-]|\\*\\*|\\[\\[|\\]\\]|%%|- |\n\n|> |`){0,80}") {
        every_word_is_searched(&text, &parsed(&text));
    }
}

#[test]
#[ignore = "takes minutes: the large budget"]
fn any_text_is_a_note_for_long() {
    let config = ProptestConfig { cases: 300_000, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&any_markdown(200), |text| {
        check(&text, &parsed(&text));
        Ok(())
    });
    result.expect("every text is a note");
}

/// Whether texts of that shape take time by their length only.
fn is_linear(shape: &str, length: usize) -> bool {
    trials::is_linear(length, |length| {
        let text = shape.repeat(length / shape.len());
        assert!(parsed(&text).lines > 0);
    })
}

/// Shapes on which some parser of Markdown or YAML has taken quadratic time.
const NASTY: &[&str] = &[
    "[",
    "[[",
    "![",
    "![[",
    "[[a|",
    "]",
    "]]",
    "[a](",
    "[a](<b",
    "[ (](",
    "[](",
    "*a _b ",
    "**a",
    "*_a[",
    "_",
    "~",
    "~~a",
    "`",
    "`a``",
    "$",
    "$a$$",
    "${",
    "<",
    "<!--",
    "<a ",
    "<?",
    "<!A",
    "&",
    "\\",
    "> ",
    ">",
    "- ",
    "1. ",
    "* a\n",
    "- a\n\n",
    "#",
    "# a\n",
    "#a ",
    "a\n===\n",
    "|",
    "|a",
    "|-",
    "a|b\n-|-\n",
    "[^1]",
    "[^1]: a\n",
    "[a]: b\n",
    "%%",
    "%% ",
    "^a ",
    "a ^a\n\n",
    "](a b.md)",
    "[a](b c.md) ",
    "\r",
    "\n",
    "\t",
    "    a\n",
    "```\n",
    "~~~a\n",
    "a",
    "https://a.b/#c ",
];

#[test]
fn nasty_shapes_take_linear_time() {
    let slow: Vec<_> = NASTY.iter().filter(|shape| !is_linear(shape, 20_000)).collect();
    assert!(slow.is_empty(), "{slow:?}");
}

#[test]
#[ignore = "takes minutes: pairs of nasty shapes"]
fn pairs_of_nasty_shapes_take_linear_time() {
    for one in NASTY {
        for other in NASTY {
            assert!(is_linear(&format!("{one}{other}"), 50_000), "{one:?} and {other:?}");
        }
    }
}
