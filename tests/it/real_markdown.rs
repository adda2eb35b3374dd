//! Other people's notes, where they are at hand: what is read from them agrees with
//! what another reader counted, and where it does not, every single difference stands
//! in code, in an HTML comment or in a `%%` comment.

#![expect(clippy::disallowed_methods, reason = "the notes are read from an archive")]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use brain_mcp::vault::markdown::{Link, LinkKind, Parsed, SpanKind, parse};
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
    other: OtherReader,
}

/// What the reader of `data/README.md` counts: patterns over a text without its
/// frontmatter, without what is between two fences and without what is between two
/// backticks in a line.
#[derive(Debug, Default, PartialEq, Eq)]
struct OtherReader {
    /// Of the form `[[...]]` without `!`, and with it.
    wikilinks: usize,
    embeds: usize,
    with_alias: usize,
    with_heading: usize,
    /// Where these stand according to us: in text, where each is a link for us too, in
    /// comments of HTML and of Obsidian, and in code.
    in_text: usize,
    in_comments: usize,
    in_code: usize,
    /// Links that we have beyond these: what lies between two backticks or fences that
    /// belong to different pieces of code is lost to the patterns.
    ours_beyond: usize,
    /// Files with `#...` that has a letter in it, and those of them in which we find no
    /// tag, by where all of these stand.
    with_inline_tags: usize,
    tags_only_in_comments: usize,
    tags_only_elsewhere: usize,
    /// `^id` at the end of a line.
    blocks: usize,
    /// `[...](...)` without `!`, and those of them that are no URL and no anchor.
    markdown_links: usize,
    relative: usize,
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
                other: OtherReader {
                    with_inline_tags: 2,
                    tags_only_elsewhere: 1,
                    markdown_links: 4_070,
                    relative: 1_952,
                    ..OtherReader::default()
                },
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
                with_inline_tags: 185,
                with_tags_in_comments: 3_396,
                relative: 4,
                wikilinks: 22_772,
                with_heading: 3_658,
                embeds: 3_493,
                in_comments_or_code: 16_252,
                // 4,875 by a pattern that knows no indented code.
                blocks: 4_866,
                other: OtherReader {
                    // Together 42,391, of which 26,264 are links for us too. We have one
                    // more: 22,772 and 3,493.
                    wikilinks: 38_899,
                    embeds: 3_492,
                    in_text: 26_264,
                    in_comments: 16_126,
                    in_code: 1,
                    ours_beyond: 1,
                    with_alias: 23_470,
                    with_heading: 3_659,
                    // All but 185. In most the only one is `#placeholder/...` in a comment, and
                    // nine have anchors or `[#13](https://...)`, whose letters are the address's.
                    with_inline_tags: 3_587,
                    tags_only_in_comments: 3_393,
                    tags_only_elsewhere: 9,
                    blocks: 4_875,
                    // Not told of this vault; most are URLs.
                    markdown_links: 37_640,
                    relative: 9,
                },
            },
        ),
    ] {
        let Some(folder) = unpacked(name) else { continue };
        let mut counts = Counts::default();
        for text in notes(folder.path()) {
            let note = parse(&text, &TimeZone::UTC);
            counts.add(&text, &note);
            counts.other.add(&text, &note);
        }
        assert_eq!(counts, expected, "{name}");
    }
}

/// The numbers of notes, links, broken links, tags and invalid blocks that the program
/// tells; a link is broken if and only if no file has the end of its path.
#[test]
fn what_is_counted_agrees_with_the_names_of_files() {
    // Of the 6,591 files of obsidian-hub 20 are in `.github`, which is hidden.
    for (name, notes, resolved, broken, tags, invalid) in
        [("til", 1_873, 1_948, 4, 1, 0), ("obsidian-hub", 6_571, 25_971, 225, 51, 15)]
    {
        let Some(folder) = unpacked(name) else { continue };
        let mut stats = Command::new(env!("CARGO_BIN_EXE_brain-mcp"));
        let output =
            stats.args(["stats", "--json", "--vault"]).arg(folder.path()).output().unwrap();
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let figures = ["notes", "tags", "invalid_frontmatter"].map(|figure| &told[figure]);
        assert_eq!(figures, [notes, tags, invalid], "{name}");
        assert_eq!(told["links"], serde_json::json!({ "resolved": resolved, "broken": broken }));

        let files: Vec<(String, String)> = files(folder.path())
            .into_iter()
            .map(|path| {
                let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
                let path = path.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned();
                (path, text)
            })
            .filter(|(path, _)| !path.split('/').any(|part| part.starts_with('.')))
            .collect();
        let mut ends = HashSet::new();
        for (path, _) in &files {
            let path = path.to_lowercase();
            for path in [&*path, path.strip_suffix(".md").unwrap_or(&path)] {
                ends.insert(path.to_owned());
                ends.extend(path.match_indices('/').map(|(at, _)| path[at + 1..].to_owned()));
            }
        }
        let (mut leading, mut lost) = (0, 0);
        for (_, text) in &files {
            for link in parse(text, &TimeZone::UTC).links {
                if link.kind == LinkKind::External || link.target.is_empty() {
                    continue;
                }
                let target = link.target.to_lowercase();
                let end = target.trim_start_matches("../").trim_start_matches("./");
                let leads = ends.contains(end.trim_start_matches('/').trim());
                *(if leads { &mut leading } else { &mut lost }) += 1;
            }
        }
        assert_eq!((leading, lost), (resolved, broken), "{name}");
    }
}

/// A text without what the other reader leaves out, and where each byte of it was.
struct Stripped {
    text: String,
    places: Vec<usize>,
}

impl Stripped {
    fn of(text: &str) -> Self {
        let mut stripped = Self { text: text.to_owned(), places: (0..text.len()).collect() };
        if text.starts_with("---\n") || text.starts_with("---\r\n") {
            let close = text[3..].match_indices("\n---").map(|(at, _)| at + 3);
            let end_of =
                |at: usize| text[at + 4..].find('\n').map_or(text.len(), |end| at + 5 + end);
            let mut closes = close.filter(|at| text[at + 4..end_of(*at)].trim().is_empty());
            if let Some(at) = closes.next() {
                stripped.cut(std::slice::from_ref(&(0..end_of(at))));
            }
        }
        let text = stripped.text.clone();
        let mut fenced = Vec::new();
        let mut from = 0;
        while let Some(start) = text[from..].find("```").map(|at| from + at) {
            let Some(end) = text[start + 3..].find("```").map(|at| start + 6 + at) else { break };
            fenced.push(start..end);
            from = end;
        }
        stripped.cut(&fenced);
        let text = stripped.text.clone();
        let mut quoted = Vec::new();
        let mut from = 0;
        while let Some(start) = text[from..].find('`').map(|at| from + at) {
            let line = text[start..].find('\n').map_or(text.len(), |end| start + end);
            match text[start + 1..line].find('`') {
                Some(at) => {
                    quoted.push(start..start + 2 + at);
                    from = start + 2 + at;
                }
                None => from = start + 1,
            }
        }
        stripped.cut(&quoted);
        stripped
    }

    fn cut(&mut self, ranges: &[Range<usize>]) {
        for range in ranges.iter().rev() {
            self.text.replace_range(range.clone(), "");
            self.places.drain(range.clone());
        }
    }
}

impl OtherReader {
    fn add(&mut self, text: &str, note: &Parsed) {
        let stripped = Stripped::of(text);
        let mut kinds = vec![None; text.len()];
        for span in &note.spans {
            kinds[span.bytes.clone()].fill(Some(span.kind));
        }
        let kind_at = |at: usize| kinds[stripped.places[at]];
        let before = self.in_text;
        for (at, inner) in wikilinks(&stripped.text) {
            let is_embed = stripped.text[..at].ends_with('!');
            *(if is_embed { &mut self.embeds } else { &mut self.wikilinks }) += 1;
            self.with_alias += usize::from(inner.contains('|'));
            let name = inner.split('|').next().unwrap_or_default();
            self.with_heading += usize::from(name.contains('#'));
            *(match kind_at(at) {
                // The brackets themselves are not searched.
                Some(SpanKind::Prose | SpanKind::Heading) | None => &mut self.in_text,
                Some(SpanKind::Aside) => &mut self.in_comments,
                Some(SpanKind::Code) => &mut self.in_code,
            }) += 1;
        }
        let is_named = |link: &&Link| matches!(link.kind, LinkKind::Wiki | LinkKind::Embed);
        let ours = note.links.iter().filter(is_named).count();
        let in_text = self.in_text - before;
        assert!(ours >= in_text, "lost: {text}");
        self.ours_beyond += ours - in_text;
        let tags: Vec<_> = tags(&stripped.text).map(kind_at).collect();
        self.with_inline_tags += usize::from(!tags.is_empty());
        if !tags.is_empty() && note.tags.iter().all(|tag| tag.is_in_frontmatter) {
            let is_aside = tags.iter().all(|kind| *kind == Some(SpanKind::Aside));
            *(if is_aside {
                &mut self.tags_only_in_comments
            } else {
                &mut self.tags_only_elsewhere
            }) += 1;
        }
        self.blocks += stripped.text.lines().filter(|line| ends_with_id(line)).count();
        for address in markdown_links(&stripped.text) {
            self.markdown_links += 1;
            let has_scheme = address.split_once(':').is_some_and(|(scheme, _)| {
                scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                    && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
            });
            let is_relative = !has_scheme
                && !address.starts_with('#')
                && !address.starts_with(char::is_whitespace);
            self.relative += usize::from(is_relative);
        }
    }
}

/// `\[\[([^\[\]\n]+)\]\]`: where it begins, and what is inside.
fn wikilinks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let pairs = text.as_bytes().windows(2).enumerate().filter(|(_, pair)| pair == b"[[");
    pairs.filter_map(|(at, _)| {
        let inner = &text[at + 2..];
        let inner = &inner[..inner.find(['[', ']', '\n'])?];
        let is_closed = text[at + 2 + inner.len()..].starts_with("]]");
        (is_closed && !inner.is_empty()).then_some((at, inner))
    })
}

/// `(?:^|[\s(])#[^\s#]*[A-Za-z]`: where the `#` is.
fn tags(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices('#').map(|(at, _)| at).filter(|at| {
        let before = text[..*at].chars().next_back();
        let word = text[at + 1..].split(|c: char| c.is_whitespace() || c == '#').next();
        before.is_none_or(|c| c.is_whitespace() || c == '(')
            && word.is_some_and(|word| word.contains(|c: char| c.is_ascii_alphabetic()))
    })
}

/// `(?:^|\s)\^[A-Za-z0-9-]+[ \t]*$`
fn ends_with_id(line: &str) -> bool {
    let word = line.trim_end_matches([' ', '\t']).rsplit(char::is_whitespace).next();
    let id = word.and_then(|word| word.strip_prefix('^'));
    let is_id = |id: &str| id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    id.is_some_and(|id| !id.is_empty() && is_id(id))
}

/// `(?<!!)\[[^\]]*\]\(([^)]+)\)`: the addresses.
fn markdown_links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find('[').map(|at| from + at) {
        from = at + 1;
        if text[..at].ends_with('!') {
            continue;
        }
        let Some(close) = text[from..].find(']').map(|close| from + close) else { break };
        let Some(address) = text[close + 1..].strip_prefix('(') else { continue };
        let Some(end) = address.find(')').filter(|end| *end > 0) else { continue };
        found.push(&address[..end]);
        from = close + 2 + end + 1;
    }
    found
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
    files(root).iter().map(|path| String::from_utf8(fs::read(path).unwrap()).unwrap()).collect()
}

/// All `.md` files, those in hidden folders too.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found
}
