//! Other people's notes, where they are at hand: what is read from them agrees with
//! what another reader counted, and where it does not, every single difference stands
//! in code, in an HTML comment or in a `%%` comment.

#![expect(clippy::disallowed_methods, reason = "the notes are read from an archive")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use brain_mcp::vault::markdown::{LinkKind, Parsed, SpanKind, parse};
use jiff::tz::TimeZone;

/// What is counted over a vault.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    notes: usize,
    longest: usize,
    frontmatter: usize,
    invalid: usize,
    with_tags_key: usize,
    with_null_tag: usize,
    with_aliases_key: usize,
    with_inline_tags: usize,
    with_tags_in_comments: usize,
    relative: usize,
    wikilinks: usize,
    with_heading: usize,
    embeds: usize,
    in_comments_or_code: usize,
    blocks: usize,
}

/// L15, and `data/README.md` beside this checkout.
#[test]
fn what_is_read_agrees_with_another_reader() {
    for (name, expected) in [
        (
            "til",
            Counts {
                notes: 1_873,
                longest: 164_216,
                // The other reader's second file has it as code: `#classify`.
                with_inline_tags: 1,
                relative: 1_952,
                // Tests of a shell: `[[ -n "$x" ]]`.
                in_comments_or_code: 46,
                ..Counts::default()
            },
        ),
        (
            "obsidian-hub",
            Counts {
                notes: 6_591,
                longest: 309_492,
                frontmatter: 6_560,
                invalid: 15,
                // 6,440 and the 15 that the other reader could not read; 6,441 with aliases,
                // of which one has another key.
                with_tags_key: 6_455,
                with_null_tag: 6_083,
                with_aliases_key: 6_455,
                // 3,587: in most the only one is `#placeholder/...` in a `%%` comment.
                with_inline_tags: 185,
                with_tags_in_comments: 3_396,
                relative: 4,
                // 38,899 and 3,492 embeds: as many, with those in HTML comments and in code.
                // Of all of them 3,659 have a heading.
                wikilinks: 22_772,
                with_heading: 3_658,
                embeds: 3_493,
                in_comments_or_code: 16_252,
                // 4,875 by a pattern that sees no code.
                blocks: 4_866,
            },
        ),
    ] {
        let Some(folder) = unpacked(name) else { continue };
        let mut counts = Counts::default();
        for text in notes(folder.path()) {
            counts.add(&text, &parse(&text, &TimeZone::UTC));
        }
        assert_eq!(counts, expected, "{name}");
    }
}

impl Counts {
    fn add(&mut self, text: &str, note: &Parsed) {
        self.notes += 1;
        self.longest = self.longest.max(text.len());
        let front = &note.frontmatter;
        self.frontmatter += usize::from(!front.bytes.is_empty());
        self.invalid += usize::from(front.error.is_some());
        let tags = front.values.get("tags");
        self.with_tags_key += usize::from(tags.is_some());
        let has_null = |value: &serde_json::Value| {
            value.as_array().is_some_and(|items| items.iter().any(serde_json::Value::is_null))
        };
        self.with_null_tag += usize::from(tags.is_some_and(has_null));
        self.with_aliases_key += usize::from(front.values.contains_key("aliases"));
        self.with_inline_tags += usize::from(note.tags.iter().any(|tag| !tag.is_in_frontmatter));
        self.with_tags_in_comments += usize::from(
            note.spans
                .iter()
                .filter(|span| span.kind == SpanKind::Aside)
                .any(|span| text[span.bytes.clone()].contains(" #placeholder/")),
        );
        for link in &note.links {
            let is_named = matches!(link.kind, LinkKind::Wiki | LinkKind::Embed);
            self.with_heading += usize::from(is_named && link.anchor.is_some());
            match link.kind {
                LinkKind::Markdown => self.relative += usize::from(!link.target.is_empty()),
                LinkKind::Wiki => self.wikilinks += 1,
                LinkKind::Embed => self.embeds += 1,
                LinkKind::External => {}
            }
        }
        self.blocks += note.blocks.len();
        self.look_for_lost_links(text, note);
    }

    /// Every `[[name]]` that was not read as a link stands where there are none.
    fn look_for_lost_links(&mut self, text: &str, note: &Parsed) {
        let mut kinds = vec![None; text.len()];
        for span in &note.spans {
            kinds[span.bytes.clone()].fill(Some(span.kind));
        }
        let mut read: HashMap<u32, usize> = HashMap::new();
        for link in &note.links {
            *read.entry(link.line).or_default() += 1;
        }
        let mut start = 0;
        for (line, number) in text.split_inclusive('\n').zip(1..) {
            let mut written = 0;
            for (at, _) in line.match_indices("[[") {
                match kinds[start + at] {
                    Some(SpanKind::Prose | SpanKind::Heading) => written += 1,
                    Some(SpanKind::Code | SpanKind::Aside) => self.in_comments_or_code += 1,
                    None => {}
                }
            }
            let read = read.get(&number).copied().unwrap_or_default();
            assert!(written <= read, "lost: {line}");
            start += line.len();
        }
    }
}

/// The folder of an archive, or `None` where it is not at hand.
fn unpacked(name: &str) -> Option<tempfile::TempDir> {
    let archive =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../shared/data/vaults/{name}.tar.xz"));
    if !archive.exists() {
        println!("skipped: {name} is not beside this checkout");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let tar = Command::new("tar").arg("-xJf").arg(&archive).arg("-C").arg(folder.path()).status();
    assert!(tar.unwrap().success());
    Some(folder)
}

/// The texts of all `.md` files, hidden folders included, as the other reader took them.
fn notes(root: &Path) -> Vec<String> {
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(String::from_utf8(fs::read(&path).unwrap()).unwrap());
            }
        }
    }
    found
}
