//! Tests of what links mean, as tables.

use super::*;

struct Vault(Vec<VaultPath>);

impl Vault {
    fn of(paths: &[&str]) -> Self {
        Self(paths.iter().map(|path| path.parse().expect("a path")).collect())
    }
}

impl Notes for Vault {
    fn at(&self, path_key: &str) -> Vec<VaultPath> {
        self.0.iter().filter(|path| super::path_key(path) == path_key).cloned().collect()
    }

    fn named(&self, name_key: &str) -> Vec<VaultPath> {
        let has_name = |path: &&VaultPath| name_keys(path).iter().any(|key| key == name_key);
        self.0.iter().filter(has_name).cloned().collect()
    }
}

fn link(kind: LinkKind, target: &str) -> Link {
    Link { kind, target: target.to_owned(), anchor: None, text: String::new(), line: 1 }
}

/// Each row: the note with the link, its target, the note that is meant.
fn check(kind: LinkKind, notes: &[&str], rows: &[(&str, &str, Option<&str>)]) {
    let vault = Vault::of(notes);
    for (from, target, expected) in rows {
        let from: VaultPath = from.parse().expect("a path");
        let link = link(kind, target);
        let found = resolve(&link, &from, &vault);
        assert_eq!(found.as_ref().map(VaultPath::as_str), *expected, "{target} in {from}");
        // What a link means is among what its keys find.
        if let Some(found) = found {
            let names = name_keys(&found);
            assert!(link_keys(&link, &from).iter().any(|key| names.contains(key)), "{target}");
        }
    }
}

/// L39: of equal base names the exact path wins, then the own folder, then the shortest
/// path text; an ancestor's folder counts for nothing.
#[test]
fn wikilinks_with_several_notes_of_a_name() {
    let all = ["Note.md", "zzzz/Note.md", "a/b/Note.md", "b/Note.md"];
    check(
        LinkKind::Wiki,
        &all,
        &[
            ("zzzz/Other.md", "Note", Some("Note.md")),
            ("a/b/Other.md", "b/Note", Some("b/Note.md")),
            ("Other.md", "a/b/Note", Some("a/b/Note.md")),
        ],
    );
    check(
        LinkKind::Wiki,
        &all[1..],
        &[
            ("zzzz/Other.md", "Note", Some("zzzz/Note.md")),
            ("a/b/Other.md", "Note", Some("a/b/Note.md")),
            ("zzzz/deep/Other.md", "Note", Some("b/Note.md")),
            ("Other.md", "Note", Some("b/Note.md")),
        ],
    );
    check(LinkKind::Wiki, &all[1..3], &[("Other.md", "Note", Some("a/b/Note.md"))]);
    check(LinkKind::Wiki, &["y/N.md", "x/N.md"], &[("Other.md", "N", Some("x/N.md"))]);
}

#[test]
fn wikilinks_by_path_suffix_and_relative() {
    check(
        LinkKind::Wiki,
        &["a/b/Note.md", "a/Top.md", "Root.md"],
        &[
            ("Root.md", "b/Note", Some("a/b/Note.md")),
            ("Root.md", "/a/b/Note", Some("a/b/Note.md")),
            ("Root.md", "c/Note", None),
            ("a/b/Note.md", "../Top", Some("a/Top.md")),
            ("a/b/Note.md", "./Top", None),
            ("a/b/Note.md", "../../Root", Some("Root.md")),
            ("a/b/Note.md", "../../../Root", None),
            ("Root.md", "xNote", None),
            ("Root.md", "ote", None),
            ("Root.md", "b/", None),
        ],
    );
}

/// L40, L42: letter case and composition do not matter; where two notes differ in case
/// alone, the spelling decides.
#[test]
fn names_are_compared_folded() {
    check(
        LinkKind::Wiki,
        &["Café Notes.md", "log.md", "Log.md", "ΟΔΟΣ.md"],
        &[
            ("log.md", "cafe\u{301} notes", Some("Café Notes.md")),
            ("log.md", "CAFÉ NOTES.MD", Some("Café Notes.md")),
            ("log.md", "Log", Some("Log.md")),
            ("Log.md", "log", Some("log.md")),
            ("Log.md", "LOG", Some("Log.md")),
            ("Log.md", "οδος", Some("ΟΔΟΣ.md")),
        ],
    );
}

/// L40, L41: `note` and `note.md` are one; attachments and other schemes lead nowhere.
#[test]
fn extensions_and_what_is_no_note() {
    let notes = ["a/Note.md", "v1.2.md", "Plain.txt", "twice.md", "x/twice.txt", "odd.md.md"];
    for kind in [LinkKind::Wiki, LinkKind::Embed] {
        check(
            kind,
            &notes,
            &[
                ("v1.2.md", "Note.md", Some("a/Note.md")),
                ("v1.2.md", "Note", Some("a/Note.md")),
                ("a/Note.md", "v1.2", Some("v1.2.md")),
                ("a/Note.md", "plain", Some("Plain.txt")),
                ("a/Note.md", "plain.txt", Some("Plain.txt")),
                ("x/Other.md", "twice", Some("twice.md")),
                ("a/Note.md", "twice", Some("twice.md")),
                ("a/Note.md", "odd.md", Some("odd.md.md")),
                ("a/Note.md", "Note.png", None),
                ("a/Note.md", "", Some("a/Note.md")),
            ],
        );
    }
    check(LinkKind::External, &notes, &[("a/Note.md", "https://Note", None)]);
}

/// L37, L38: relative to the note, from the root, then by a base name that is unique.
#[test]
fn markdown_links() {
    let notes = ["Note.md", "a/Note.md", "a/My Note.md", "b/100%.md", "a/x/Deep.md", "README.md"];
    check(
        LinkKind::Markdown,
        &notes,
        &[
            ("a/x/Deep.md", "../Note.md", Some("a/Note.md")),
            ("a/x/Deep.md", "/Note.md", Some("Note.md")),
            ("a/My Note.md", "Note.md", Some("a/Note.md")),
            ("a/x/Deep.md", "a/Note.md", Some("a/Note.md")),
            ("README.md", "My Note.md", Some("a/My Note.md")),
            ("README.md", "100%.md", Some("b/100%.md")),
            ("b/100%.md", "Note.md", Some("Note.md")),
            ("b/100%.md", "Deep", Some("a/x/Deep.md")),
            ("b/100%.md", "x/Deep.md", Some("a/x/Deep.md")),
            ("b/100%.md", "../../out.md", None),
            ("README.md", "img/Note.png", None),
            ("README.md", "a/", None),
        ],
    );
    let twice = ["a/N.md", "b/N.md", "c/Other.md"];
    check(LinkKind::Markdown, &twice, &[("c/Other.md", "N.md", None)]);
}

#[test]
fn keys_of_links() {
    let from: VaultPath = "a/Note.md".parse().expect("a path");
    let keys = |kind, target| link_keys(&link(kind, target), &from);
    assert_eq!(keys(LinkKind::Wiki, "b/My Note"), ["my note"]);
    assert_eq!(keys(LinkKind::Markdown, "../My%20Note.md"), ["my%20note.md"]);
    assert_eq!(keys(LinkKind::Wiki, ""), ["note.md"]);
    for none in ["..", "b/", "."] {
        assert!(keys(LinkKind::Markdown, none).is_empty(), "{none}");
    }
    assert!(keys(LinkKind::External, "https://x/Note").is_empty());
}
