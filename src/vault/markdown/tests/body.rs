//! Headings, tags, links, blocks and spans.

use super::{parsed, spans};
use crate::vault::markdown::{Link, LinkKind, SpanKind};

fn tags(text: &str) -> Vec<String> {
    parsed(text).tags.into_iter().map(|tag| tag.tag).collect()
}

/// Kind, target, anchor, what is shown.
fn links(text: &str) -> Vec<(LinkKind, String, Option<String>, String)> {
    let parts = |link: Link| (link.kind, link.target, link.anchor, link.text);
    parsed(text).links.into_iter().map(parts).collect()
}

fn check_links(rows: &[(&str, LinkKind, &str, Option<&str>, &str)]) {
    for (text, kind, target, anchor, shown) in rows {
        let expected =
            (*kind, (*target).to_owned(), anchor.map(str::to_owned), (*shown).to_owned());
        assert_eq!(links(text), [expected], "{text}");
    }
}

/// L34, L35: what is a tag and what is none.
#[test]
fn inline_tags() {
    for (text, expected) in [
        ("#one two (#three) #a/b-c_d", vec!["one", "three", "a/b-c_d"]),
        ("# Project #openclaw", vec!["openclaw"]),
        ("#Heading", vec!["Heading"]),
        ("# Heading", vec![]),
        ("fixes #14, #2024 #2024-01 #1/2", vec![]),
        ("#y1984 #4u", vec!["y1984", "4u"]),
        ("C# F#x irc://host/#room '#tags' \"#q\" foo#bar", vec![]),
        ("https://x.y/#z http://x/a#b <https://x/#c>", vec![]),
        ("[#no](x.md) [[#no]] [[a#no]] ![#no](y.png)", vec![]),
        ("`#no` $#no$ <b title=\"#no\">#no</b>", vec![]),
        ("```\n#no\n```\n\n    #no\n\n<div>\n#no\n</div>", vec![]),
        ("%%#no%% %% #no %% #yes <!-- #no -->\n\n%%\n#no\n\n- #no\n%%\n#too", vec!["yes", "too"]),
        ("100%% #yes", vec!["yes"]),
        ("#ffffff #dcddde80 #1a2 #add #beef #fff", vec!["add", "beef", "fff"]),
        ("**#bold** *#i* ~~#s~~ ==#m== a**#no**", vec!["bold", "i", "s", "m"]),
        ("\\#no \\\\ #yes", vec!["yes"]),
        (
            "- #a\n- [ ] #b\n> #c\n> #d\n\n|#e|x|\n|-|-|\n|#f|y #g|\n\n[^1]: #h",
            vec!["a", "b", "c", "d", "e", "f", "g", "h"],
        ),
        ("#日本 #Ümlaut #हिन्दी #🎉 #x。y", vec!["日本", "Ümlaut", "हिन्दी", "🎉", "x"]),
        ("a\u{a0}#nbsp\r\n#cr\r#lf", vec!["nbsp", "cr", "lf"]),
        ("#a/ #/b #a# #c,d #_ #-", vec!["a", "a", "c"]),
        ("##no ### #", vec![]),
        ("#snake_case_ #a_b_", vec!["snake_case_", "a_b_"]),
    ] {
        assert_eq!(tags(text), expected, "{text:?}");
    }
}

/// L37 and more: Markdown links in every form.
#[test]
fn markdown_links() {
    use LinkKind::{Embed, External, Markdown};
    check_links(&[
        ("[t](a.md)", Markdown, "a.md", None, "t"),
        ("[t](a.md \"title\")", Markdown, "a.md", None, "t"),
        ("[t](<a b.md> 'x')", Markdown, "a b.md", None, "t"),
        ("[t](My%20Note.md#A%20B)", Markdown, "My Note.md", Some("A B"), "t"),
        ("[t](a%2520b.md)", Markdown, "a%20b.md", None, "t"),
        ("[t](100%.md)", Markdown, "100%.md", None, "t"),
        ("[t](a%23b.md)", Markdown, "a#b.md", None, "t"),
        ("[t](%FF.md)", Markdown, "%FF.md", None, "t"),
        ("[t](/root/a.md)", Markdown, "/root/a.md", None, "t"),
        ("[t](#here)", Markdown, "", Some("here"), "t"),
        ("[t](my note.md)", Markdown, "my note.md", None, "t"),
        ("see [t](my note (1).md#b c) so", Markdown, "my note (1).md", Some("b c"), "t"),
        ("[*t* `c`][r]\n\n[r]: a.md 'x'", Markdown, "a.md", None, "t c"),
        ("[r]\n\n[R]: <a b.md>", Markdown, "a b.md", None, "r"),
        ("![t](a.md)", Embed, "a.md", None, "t"),
        ("![t](https://x.y/z.png)", External, "https://x.y/z.png", None, "t"),
        ("[t](https://x.y/#z)", External, "https://x.y/#z", None, "t"),
        ("[t](obsidian://open?x=y)", External, "obsidian://open?x=y", None, "t"),
        ("[t](//x.y/z)", External, "//x.y/z", None, "t"),
        ("[t](C:/x.md)", External, "C:/x.md", None, "t"),
        ("<me@x.y>", External, "mailto:me@x.y", None, "me@x.y"),
        ("<https://x.y>", External, "https://x.y", None, "https://x.y"),
        ("![t](data:image/png;base64,AAAA)", External, "data:image/png;base64", None, "t"),
    ]);
}

/// L39, L40, L41: wikilinks and embeds.
#[test]
fn wikilinks() {
    use LinkKind::{Embed, External, Wiki};
    check_links(&[
        ("[[Note]]", Wiki, "Note", None, "Note"),
        ("[[ a/Note.md | Shown ]]", Wiki, "a/Note.md", None, "Shown"),
        ("[[Note#H#I|s]]", Wiki, "Note", Some("H#I"), "s"),
        ("[[Note#^id]]", Wiki, "Note", Some("^id"), "Note#^id"),
        ("[[#H]]", Wiki, "", Some("H"), "#H"),
        ("|a|\n|-|\n|[[Note\\|s]]|", Wiki, "Note", None, "s"),
        ("[[My%20Note]]", Wiki, "My%20Note", None, "My%20Note"),
        ("[[Re: this]]", Wiki, "Re: this", None, "Re: this"),
        ("[[https://x.y]]", External, "https://x.y", None, "https://x.y"),
        ("![[Note#H|100]]", Embed, "Note", Some("H"), "100"),
        ("![[a.png]]", Embed, "a.png", None, "a.png"),
        ("# See [[Other]]", Wiki, "Other", None, "Other"),
        ("%% [[Note]] %%", Wiki, "Note", None, "Note"),
    ]);
    for none in [
        "`[[a]]` `[t](b.md)`",
        "```\n[[a]]\n```",
        "    [[a]]",
        "<!-- [[a]] -->",
        "[[]]",
        "[[a\nb]]",
        "---\nx: [a, b]\ny: \"[[c]]\"\n---\n",
        "\\[[a]]",
        "[ ] [x]",
        "[t](not a page)",
        "$[[a]]$",
    ] {
        assert_eq!(links(none), [], "{none:?}");
    }
    assert_eq!(links("[![alt](i.png)](a.md)").len(), 2);
}

/// L63: headings with their sections and GitHub's anchors.
#[test]
fn headings() {
    let text = "# A *b* `c`\ntext\n## Foo!\n\n```\n# code\n```\n## foo\n### Foo-1\n\nSet\next\n===\n\n\
        > ## In [a](b)\n\n## 🎉 Ünï_x\n###### Six ######\n";
    let found: Vec<_> = parsed(text)
        .headings
        .into_iter()
        .map(|heading| {
            (heading.level, heading.text, heading.anchor, heading.line, heading.last_line)
        })
        .collect();
    let expected = [
        (1, "A b c", "a-b-c", 1, 10),
        (2, "Foo!", "foo", 3, 7),
        (2, "foo", "foo-1", 8, 10),
        (3, "Foo-1", "foo-1-1", 9, 10),
        (1, "Set ext", "set-ext", 11, 18),
        (2, "In a", "in-a", 15, 16),
        (2, "🎉 Ünï_x", "-ünï_x", 17, 18),
        (6, "Six", "six", 18, 18),
    ];
    let expected = expected.map(|(level, text, anchor, line, last)| {
        (level, text.to_owned(), anchor.to_owned(), line, last)
    });
    assert_eq!(found, expected);
}

/// L8: lines are counted as an editor counts them.
#[test]
fn lines() {
    for (text, lines, last) in [
        ("", 0, None),
        ("\n", 1, None),
        ("# a\n# b", 2, Some(2)),
        ("# a\r\n# b\r\n", 2, Some(2)),
        ("# a\r# b\r", 2, Some(2)),
        ("# a\r\r\n\n# b\n", 4, Some(4)),
        ("\u{feff}# a\n# b\n", 2, Some(2)),
    ] {
        let note = parsed(text);
        assert_eq!(note.lines, lines, "{text:?}");
        assert_eq!(note.headings.last().map(|heading| heading.line), last, "{text:?}");
    }
}

#[test]
fn blocks_with_ids() {
    let found = |text: &str| -> Vec<(String, u32, u32)> {
        let blocks = parsed(text).blocks;
        blocks.into_iter().map(|block| (block.id, block.line, block.last_line)).collect()
    };
    for (text, expected) in [
        ("one\ntwo ^id-1\n\nx", vec![("id-1", 1, 2)]),
        ("- a ^a\n  - b **x** ^b\n- c", vec![("a", 1, 1), ("b", 2, 2)]),
        ("|a|\n|-|\n|b|\n\n^t\n", vec![("t", 1, 3)]),
        ("```\ncode ^no\n```\n\n^c", vec![("c", 1, 3)]),
        ("> q\n> r\n\n^q", vec![("q", 1, 2)]),
        ("text\n^own", vec![("own", 1, 2)]),
        ("x^2 a^b `^no` ^", vec![]),
        ("^alone", vec![]),
        ("a ^not last", vec![]),
        ("# H ^h", vec![("h", 1, 1)]),
    ] {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(id, line, last): (&str, u32, u32)| (id.to_owned(), line, last))
            .collect();
        assert_eq!(found(text), expected, "{text:?}");
    }
}

/// L32, L33: phrases go on over line breaks and emphasis; what is shown and what is linked
/// are both found. A picture within an address (L58) is aside, so that passages leave it
/// out; that it has no words is up to the analysis.
#[test]
fn spans_in_reading_order() {
    use SpanKind::{Aside, Code, Heading, Prose};
    for (text, expected) in [
        ("one\ntwo **will** self", vec![(Prose, "one\ntwo **will** self")]),
        ("> a\n> b\n\nc", vec![(Prose, "a\n> b"), (Prose, "c")]),
        ("# H *x*\ntext", vec![(Heading, "H *x"), (Prose, "text")]),
        ("a `b` c", vec![(Prose, "a "), (Code, "b"), (Prose, " c")]),
        ("```rs\na\n\nb\n```", vec![(Code, "a\n\nb\n"), (Aside, "rs")]),
        ("[s](t.md \"u\") v", vec![(Prose, "s"), (Prose, " v"), (Aside, "t.md \"u\"")]),
        ("a <https://x.y/z> b", vec![(Prose, "a "), (Prose, "https://x.y/z> b")]),
        ("[[Yellow fruit|Banana]]", vec![(Prose, "Banana"), (Aside, "Yellow fruit")]),
        ("[s][r]\n\n[r]: t.md", vec![(Prose, "s"), (Aside, "[r]: t.md")]),
        ("a &nbsp; b", vec![(Prose, "a "), (Prose, " b")]),
        ("a %%b%% c", vec![(Prose, "a "), (Prose, " c"), (Aside, "b")]),
        (
            "![p](data:image/png;base64,QUJD) q",
            vec![(Prose, "p"), (Prose, " q"), (Aside, "data:image/png;base64,QUJD")],
        ),
        ("a <b>c</b>", vec![(Prose, "a "), (Prose, "c"), (Aside, "<b>"), (Aside, "</b>")]),
        ("<div>\na\n</div>", vec![(Aside, "<div>\na\n</div>")]),
        ("$x$ y", vec![(Prose, "x"), (Prose, " y")]),
        ("apply_secrets my\\_x", vec![(Prose, "apply_secrets my\\_x")]),
        ("|a|b|\n|-|-|\n|c|d|", vec![(Prose, "a"), (Prose, "b"), (Prose, "c"), (Prose, "d")]),
    ] {
        assert_eq!(spans(text), expected, "{text:?}");
    }
}

/// Found by the long run of `any_text_is_a_note`: an address is shorter than what is
/// written where a backslash or an entity is.
#[test]
fn wikilinks_with_backslashes_and_entities_are_read() {
    for text in ["a[[\\#é|]]", "[[&amp;é|y]]", "[[\\&é\\&é|y]] é"] {
        assert_eq!(links(text).len(), 1, "{text}");
    }
}
