//! Search sees what the viewer may see and nothing else.

use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::SystemTime;

use super::{Folder, everything, viewer};
use crate::clock::{Clock, UnixTime};
use crate::contract::scope::{Scope, ScopeSet};
use crate::search::analysis::{Language, Languages};
use crate::trials::computed;
use crate::vault::answers::{NoteHit, Passage, Passages, Relation, SearchRequest, Unmatched};
use crate::vault::{ReadError, Settings, Vault};

fn paths(hits: &[NoteHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.note.path.as_str()).collect()
}

#[test]
fn hits_are_pages_of_the_viewer() {
    let vault = Folder::repository().open_kept();
    let search = |scopes: &[Scope]| {
        let hits = vault.search(&viewer(scopes), "CANARY word", 10).expect("an answer");
        paths(&hits).join(" ")
    };
    assert_eq!(search(&[Scope::Read]), "open/a.md");
    assert_eq!(search(&[Scope::Confidential]), "closed/b.md");
    assert_eq!(search(&[Scope::People]), "wiki/people/ann.md");
    assert_eq!(search(&[Scope::Write]), "");
    assert_eq!(search(&[Scope::Read, Scope::Confidential]), "closed/b.md open/a.md");
    // A star is everything, by date.
    for (scopes, count) in [(&[Scope::Read][..], 1), (&[Scope::Write], 0)] {
        assert_eq!(vault.search(&viewer(scopes), "*", 10).map(|hits| hits.len()), Ok(count));
    }
    assert_eq!(vault.search(&everything(), "canary", 2).map(|hits| hits.len()), Ok(2));
}

/// A filter that nothing passes is named, so that a misspelt one is not taken for an
/// answer; what only a hidden page would pass is nothing.
#[test]
fn filters_that_nothing_passes_are_named() {
    let folder = Folder::repository();
    folder.write("open/a.md", "---\ntags: [house]\n---\nthe word canary\n");
    folder.write("closed/b.md", "---\ntags: [money]\n---\nthe word canary\n");
    let vault = folder.open_kept();
    let unmatched = |query: &str, folder: &str| {
        let request = SearchRequest {
            query: query.to_owned(),
            folder: folder.to_owned(),
            limit: 10,
            shown: Vec::new(),
            passages: Passages::None,
        };
        let found = vault.vault.search_notes(&viewer(&[Scope::Read]), &request).expect("an answer");
        found.reading.unmatched
    };
    let tag = |name: &str| Unmatched::Tag(name.to_owned());
    assert_eq!(unmatched("canary tag:house", "open"), []);
    assert_eq!(unmatched("canary tag:huose", ""), [tag("huose")]);
    assert_eq!(unmatched("canary tag:money", ""), [tag("money")]);
    for folder in ["opne", "closed", "nowhere/below"] {
        assert_eq!(unmatched("canary", folder), [Unmatched::Folder], "{folder}");
    }
    assert_eq!(unmatched("path:closed", ""), [Unmatched::Path("closed".to_owned())]);
    assert_eq!(unmatched("elephant tag:house path:open", "open"), []);
}

#[test]
fn a_hit_has_a_title_and_a_passage() {
    let vault = Folder::repository().open_kept();
    let hits = vault.search(&viewer(&[Scope::Read]), "canary", 10).expect("an answer");
    assert_eq!(hits[0].note.title, "About open/a.md");
    assert_eq!(hits[0].passage.text, "the word canary");
    assert_eq!(hits[0].passage.matches, vec![9..15]);
    assert_eq!(hits[0].passage.lines, Some(3..=3));
    assert_eq!(hits[0].passage.headings, ["About open/a.md"]);
}

/// L13: a passage shows nothing of the frontmatter. L62: its lines are the file's, and
/// its heading is that above the first match.
#[test]
fn a_passage_begins_behind_the_frontmatter() {
    let folder = Folder::plain();
    let head = "---\r\ntags: [zebra]\r\nsummary: about gnus\r\n---\r\n";
    folder.write("a.md", format!("{head}# Animals\r\n\r\nAll.\r\n## Gnus\r\n\r\nA gnu 🐘.\r\n"));
    let vault = folder.open_kept();
    let rows = [
        ("gnus 🐘", 7..=10, "gnus"),
        ("animals", 5..=10, "animals"),
        ("tag:zebra", 5..=10, "animals"),
    ];
    for (query, lines, heading) in rows {
        let hits = vault.search(&everything(), query, 10).expect("an answer");
        let passage = &hits[0].passage;
        assert!(!passage.text.contains("zebra"), "{query}: {passage:?}");
        assert_eq!(passage.lines, Some(lines), "{query}: {passage:?}");
        assert_eq!(passage.anchor.as_deref(), Some(heading), "{query}: {passage:?}");
    }
}

/// Issue, Build 2: a passage is made in the language of its note, as the index was, and
/// not in the first language of the vault.
#[test]
fn a_passage_shows_what_matches_in_the_language_of_its_note() {
    let folder = Folder::plain();
    let hay = "Stroh und Heu. ".repeat(40);
    let text = |head: &str| format!("{head}{hay}\n\nDie alten Häuser am Hang.\n");
    folder.write("german.md", text("---\nlang: de\n---\n"));
    folder.write("plain.md", text(""));
    let languages = Languages::new(vec![Language::English, Language::German]);
    let (clock, _) = Clock::manual(UnixTime::from_seconds(1_000_000));
    let settings = Settings { languages, ..Settings::of(folder.path()) };
    let vault = Vault::open(settings, clock).expect("a vault that opens");
    let request = SearchRequest {
        query: "Haus".to_owned(),
        folder: String::new(),
        limit: 10,
        shown: Vec::new(),
        passages: Passages::All,
    };
    let hits = vault.search_notes(&everything(), &request).expect("an answer").hits;
    // Without its language the other is an English note, and has no such word.
    assert_eq!(paths(&hits), ["german.md"]);
    let Passage { text, matches, .. } = &hits[0].passage;
    assert_eq!(matches.len(), 1, "{text}");
    let found: String = text.chars().skip(matches[0].start).take(matches[0].len()).collect();
    assert_eq!(found, "Häuser");
}

/// Reasons are words that somebody can read, not the stems that the index has.
#[test]
fn related_notes_share_words_as_they_are_written() {
    let folder = Folder::plain();
    folder.write("a.md", "Kanban-boards are managed; colanders are not.");
    folder.write("b.md", "A kanban-board managing colanders.");
    for number in 0..30 {
        folder.write(&format!("{number}.md"), format!("other {number} straw"));
    }
    let vault = folder.open_kept();
    let related = vault.vault.related(&everything(), "a.md", 5).expect("an answer");
    let [Relation::SharedWords(words)] = &*related[0].reasons else { panic!("{related:?}") };
    for word in ["kanban", "managed", "colanders"] {
        assert!(words.iter().any(|shared| shared == word), "{words:?}");
    }
}

/// How long `work` computes on this thread, in nanoseconds.
fn time(work: impl FnOnce()) -> u64 {
    let begun = computed();
    work();
    computed() - begun
}

/// Eight times as much may take twenty times as long; quadratic would be sixty-four
/// times. The least of three tries counts, since caches and other programs disturb.
fn assert_linear(what: &str, time: impl Fn(u32) -> u64) {
    let least = |number| (0..3).map(|_| time(number)).min().unwrap_or_default();
    let (short, long) = (least(2_000).max(10_000_000), least(16_000));
    assert!(long < short * 20, "{what}: {short} ns, then {long} ns");
}

/// Writes the part of a note with a number.
type Shape = fn(u32) -> String;

/// L59: a note has as many headings, tags and links as somebody likes to put into it,
/// and costs no more than its length.
#[test]
fn a_note_of_any_shape_is_indexed_in_linear_time() {
    let shapes: [(&str, Shape); 5] = [
        ("headings", |number| format!("## S{number}\n\ntext\n\n")),
        ("tags", |number| format!("#t{number} ")),
        ("levels of a tag", |_| "a/".to_owned()),
        ("links", |number| format!("[[n{number}]] ")),
        ("blocks", |number| format!("text ^b{number}\n\n")),
    ];
    for (what, shape) in shapes {
        assert_linear(what, |number| {
            let folder = Folder::plain();
            let text: String = (0..number).map(shape).collect();
            folder.write("long.md", format!("#a/{text}"));
            let vault = folder.open_kept();
            time(|| {
                let stats = vault.vault.stats(&everything()).expect("an answer");
                assert_eq!(stats.notes, 1);
            })
        });
    }
}

/// L60: what links mean is looked up, not searched for in every note.
#[test]
fn links_are_resolved_in_linear_time() {
    assert_linear("linked notes", |number| {
        let folder = Folder::plain();
        let number = number / 8;
        for note in 0..number {
            let next = (note + 1) % number;
            folder.write(
                &format!("{}/n{note}.md", note % 7),
                format!("[[n{next}]] [a](../{note}.md)"),
            );
        }
        let vault = folder.open_kept();
        vault.vault.build_index(&|_, _| ()).expect("an index");
        let mut links = (0, 0);
        let taken = time(|| links = vault.vault.stats(&everything()).expect("an answer").links);
        let number = usize::try_from(number).expect("few");
        assert_eq!(links, (number, number));
        taken
    });
}

/// L54: a conflict copy does not stand beside its original, unless it is asked for or
/// there is no original to see.
#[test]
fn a_conflict_copy_is_found_only_without_its_original() {
    let folder = Folder::repository();
    for name in ["garden", "garden (conflicted copy 2024-05-17)", "lone (conflicted copy)"] {
        folder.write(&format!("open/{name}.md"), "a hedgehog");
    }
    let vault = folder.open();
    let reader = viewer(&[Scope::Read]);
    let found = |query: &str| {
        let hits = vault.search(&reader, query, 10).expect("an answer");
        paths(&hits).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found("hedgehog"), ["open/garden.md", "open/lone (conflicted copy).md"]);
    assert_eq!(found("hedgehog path:conflicted").len(), 2);
    folder.remove("open/garden.md");
    assert_eq!(found("hedgehog").len(), 2);
}

#[expect(clippy::disallowed_methods, reason = "the test's own file")]
fn set_modified(path: &Path, time: SystemTime) {
    let file = fs::File::options().write(true).open(path).expect("a page");
    file.set_modified(time).expect("it is ours");
}

/// Non-interference: the answers are those of the same vault without hidden pages.
#[test]
fn hidden_pages_have_no_influence() {
    let whole = Folder::repository();
    for number in 0..20 {
        whole.write(&format!("open/{number}.md"), format!("# Page {number}\n\ncanary {number}"));
        whole.write(&format!("closed/{number}.md"), "# canary\n\ncanary canary");
        whole.write(&format!("{number}.private.md"), "# canary\n");
    }
    let reduced = Folder::repository();
    for number in 0..20 {
        reduced.write(&format!("open/{number}.md"), format!("# Page {number}\n\ncanary {number}"));
    }
    for hidden in ["closed", "wiki"] {
        fs::remove_dir_all(reduced.at(hidden)).expect("a folder");
    }
    reduced.remove("c.private.md");
    for page in (0..20).map(|number| format!("open/{number}.md")).chain(["open/a.md".to_owned()]) {
        let same = fs::metadata(whole.at(&page)).and_then(|it| it.modified()).expect("a time");
        set_modified(&reduced.at(&page), same);
    }
    let reader = viewer(&[Scope::Read]);
    let (whole, reduced) = (whole.open(), reduced.open());
    for query in ["canary", "1", "page", "about", "absent"] {
        for limit in [0, 1, 3, 100] {
            assert_eq!(whole.search(&reader, query, limit), reduced.search(&reader, query, limit));
        }
    }
    for path in ["closed/1.md", "1.private.md", "closed", "open/1.md", "wiki/people/ann.md"] {
        assert_eq!(whole.vault.read_page(&reader, path), reduced.vault.read_page(&reader, path));
    }
}

/// Row 3: what is kept in memory of a page goes with its leave to be seen.
#[test]
fn a_page_that_is_raised_changed_or_gone_is_found_no_more() {
    let folder = Folder::repository();
    let vault = folder.open();
    let reader = viewer(&[Scope::Read]);
    let found = |query: &str| vault.search(&reader, query, 10).expect("an answer").len();
    assert_eq!((found("canary"), found("canary")), (1, 1));
    folder.write("open/a.md", "# Other\n\nthe word hamster");
    assert_eq!((found("canary"), found("hamster")), (0, 1));
    folder.write(".gitattributes", "*.md filter=git-crypt\n");
    assert_eq!(found("hamster"), 0);
    let confidential = vault.search(&viewer(&[Scope::Confidential]), "hamster", 10);
    assert_eq!(confidential.map(|hits| hits.len()), Ok(1));
    folder.remove("open/a.md");
    assert_eq!(vault.search(&everything(), "hamster", 10), Ok(Vec::new()));
}

/// A file that was changed a moment ago may change again without another stamp.
#[test]
fn changes_within_one_tick_are_all_found() {
    let folder = Folder::repository();
    let vault = folder.open();
    for number in 100..200 {
        let word = format!("hamster{number}");
        folder.write("open/a.md", &word);
        let found = vault.search(&everything(), &word, 10).expect("an answer");
        assert_eq!(paths(&found), ["open/a.md"]);
    }
}

/// Requests at the same time share one rebuild, and all get the same answer.
#[test]
fn many_requests_at_once_agree() {
    let folder = Folder::repository();
    let vault = folder.open();
    folder.write(".gitattributes", "open/** filter=git-crypt\n");
    let start = Barrier::new(16);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                start.wait();
                let reader = viewer(&[Scope::Read]);
                let read = vault.vault.read_page(&reader, "open/a.md");
                assert_eq!(read, Err(super::HIDDEN));
            });
        }
    });
}

#[test]
fn titles_come_from_frontmatter_then_heading_then_name() {
    let folder = Folder::plain();
    let pages = [
        ("a.md", "---\ntags: [x]\ntitle: From above # note\n---\n# Heading\n", "From above"),
        ("b.md", "---\ntitle: \"In: quotes\"\n---\ntext", "In: quotes"),
        (
            "c.md",
            "---\ntitle: [a, list]\n---\n## Two\n\n```\n# code\n```\n\n# The *one* `x`\n",
            "The one x",
        ),
        ("d.md", "Under\nlined\n=====\n", "Under lined"),
        ("e note.md", "no heading, but \\# this\n", "e note"),
        ("f.md", "---\ntitle: never closed\n", "f"),
        ("g.md", "#\n\n# Second\n", "Second"),
    ];
    for (path, text, _) in pages {
        folder.write(path, text);
    }
    let vault = folder.open();
    for (path, _, title) in pages {
        assert_eq!(vault.read(path).map(|page| page.title), Ok(title.to_owned()), "{path}");
    }
}

/// All eight sets of the reading scopes, over every page.
#[test]
fn scopes_add_up() {
    let vault = Folder::repository().open_kept();
    let pages = [
        ("open/a.md", Some(Scope::Read)),
        ("closed/b.md", Some(Scope::Confidential)),
        ("wiki/people/ann.md", Some(Scope::People)),
        ("c.private.md", None),
    ];
    for bits in 0..8 {
        let scopes: ScopeSet = [Scope::Read, Scope::Confidential, Scope::People]
            .into_iter()
            .enumerate()
            .filter_map(|(place, scope)| (bits >> place & 1 == 1).then_some(scope))
            .collect();
        let reader = crate::access::permit::Viewer::for_tests(scopes);
        for (path, scope) in pages {
            let read = vault.vault.read_page(&reader, path);
            assert_eq!(
                !matches!(read, Err(ReadError::Hidden(_))),
                scope.is_some_and(|scope| scopes.contains(scope)),
                "{path} with {scopes}"
            );
        }
    }
}
