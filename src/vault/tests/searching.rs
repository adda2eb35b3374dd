//! Search sees what the viewer may see and nothing else.

use std::fs;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::{Folder, everything, viewer};
use crate::contract::scope::{Scope, ScopeSet};
use crate::vault::{Hit, ReadError};

/// Stamps younger than this are not believed.
const TICK: Duration = Duration::from_millis(100);

fn paths(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.path.as_str()).collect()
}

#[test]
fn hits_are_pages_of_the_viewer() {
    let vault = Folder::repository().open_kept();
    let search = |scopes: &[Scope]| {
        let hits = vault.vault.search(&viewer(scopes), "CANARY word", 10).expect("an answer");
        paths(&hits).join(" ")
    };
    assert_eq!(search(&[Scope::Read]), "open/a.md");
    assert_eq!(search(&[Scope::Confidential]), "closed/b.md");
    assert_eq!(search(&[Scope::People]), "wiki/people/ann.md");
    assert_eq!(search(&[Scope::Write]), "");
    assert_eq!(search(&[Scope::Read, Scope::Confidential]), "closed/b.md open/a.md");
    assert_eq!(vault.vault.search(&everything(), " ", 10), Ok(Vec::new()));
    assert_eq!(vault.vault.search(&everything(), "canary", 2).map(|hits| hits.len()), Ok(2));
}

#[test]
fn a_hit_has_a_title_and_a_passage() {
    let vault = Folder::repository().open_kept();
    let hits = vault.vault.search(&viewer(&[Scope::Read]), "canary", 10).expect("an answer");
    assert_eq!(hits[0].title, "About open/a.md");
    assert_eq!(hits[0].snippet, "# About open/a.md the word canary");
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
    let reader = viewer(&[Scope::Read]);
    let (whole, reduced) = (whole.open(), reduced.open());
    for query in ["canary", "1", "page", "about", "absent"] {
        for limit in [0, 1, 3, 100] {
            assert_eq!(
                whole.vault.search(&reader, query, limit),
                reduced.vault.search(&reader, query, limit)
            );
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
    let found = |query: &str| vault.vault.search(&reader, query, 10).expect("an answer").len();
    // Old enough to be kept.
    thread::sleep(Duration::from_millis(150));
    assert_eq!((found("canary"), found("canary")), (1, 1));
    folder.write("open/a.md", "# Other\n\nthe word hamster");
    assert_eq!((found("canary"), found("hamster")), (0, 1));
    let is_kept = || format!("{:?}", vault.vault.0.shelf).contains("hamster");
    thread::sleep(Duration::from_millis(150));
    assert_eq!((found("hamster"), is_kept()), (1, true));
    folder.write(".gitattributes", "*.md filter=git-crypt\n");
    assert_eq!((found("hamster"), is_kept()), (0, false));
    vault.vault.search(&everything(), "hamster", 10).expect("an answer");
    folder.remove("open/a.md");
    assert_eq!(vault.vault.search(&everything(), "hamster", 10), Ok(Vec::new()));
    assert!(!is_kept());
}

/// A file that was changed a moment ago may change again without another stamp, so its
/// text is not kept yet.
#[test]
fn a_text_is_kept_only_once_its_file_is_at_rest() {
    let folder = Folder::repository();
    let vault = folder.open();
    let find = |word: &str| vault.vault.search(&everything(), word, 10).expect("an answer").len();
    let is_kept = |word: &str| format!("{:?}", vault.vault.0.shelf).contains(word);
    // On a busy machine a try may take so long that the file is at rest already.
    let found_young = (0..100).find_map(|number| {
        let word = format!("hamster{number}");
        let written = Instant::now();
        folder.write("open/a.md", &word);
        let seen = (find(&word), is_kept(&word));
        (written.elapsed() < TICK).then_some((word, seen))
    });
    let (word, seen) = found_young.expect("a moment of quiet");
    assert_eq!(seen, (1, false));
    thread::sleep(Duration::from_millis(150));
    assert_eq!((find(&word), is_kept(&word)), (1, true));
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
