//! Pages that git-crypt has locked: with its bytes, and with the real program.

use std::process::Command;

use super::{CONFIDENTIAL, Folder, HIDDEN, PEOPLE, everything, viewer};
use crate::access::class::PageClass;
use crate::contract::scope::Scope;
use crate::vault::ReadError;
use crate::vault::evidence::CIPHERTEXT_MARK;

/// Row 1: a page that is ciphertext gives nothing, and says so only to those who may
/// see it.
#[test]
fn ciphertext_is_locked_or_hidden() {
    let folder = Folder::repository();
    let locked = [CIPHERTEXT_MARK, b"\x01twelve-bytes"].concat();
    for path in ["open/a.md", "closed/b.md", "wiki/people/new.md"] {
        folder.write(path, &locked);
    }
    let vault = folder.open();
    for (path, scope) in [
        // No rule protects the first and the last, but ciphertext is evidence.
        ("open/a.md", Scope::Confidential),
        ("closed/b.md", Scope::Confidential),
        ("wiki/people/new.md", Scope::People),
    ] {
        let others = [Scope::Read, Scope::Confidential, Scope::People];
        for other in others.into_iter().filter(|other| *other != scope) {
            assert_eq!(vault.vault.read_page(&viewer(&[other]), path), Err(HIDDEN), "{path}");
        }
        assert_eq!(vault.read(path), Err(ReadError::Locked), "{path}");
    }
    assert_eq!(vault.search(&everything(), "twelve", 10), Ok(Vec::new()));
}

/// A repository with two keys of the real git-crypt, or a word about why not.
fn encrypted() -> Option<Folder> {
    if Command::new("git-crypt").arg("--version").output().is_err() {
        assert!(!is_required(), "git-crypt is not installed, and this run must have it");
        eprintln!("skipped: git-crypt is not installed");
        return None;
    }
    let folder = Folder::plain();
    folder.git(&["init", "--quiet"]);
    git_crypt(&folder, &["init"]);
    git_crypt(&folder, &["init", "--key-name", "work"]);
    folder.write(
        ".gitattributes",
        "wiki/people/** filter=git-crypt diff=git-crypt\nwork/** filter=git-crypt-work diff=git-crypt-work\n",
    );
    for path in ["open.md", "wiki/people/ann.md", "work/plan.md"] {
        folder.write(path, format!("# {path}\n\ncanary of {path}\n"));
    }
    folder.commit();
    folder.git(&["config", "user.name", "Test"]);
    let keys = folder.at(".git/exported");
    std::fs::create_dir(&keys).expect("a folder");
    git_crypt(&folder, &["export-key", ".git/exported/default"]);
    git_crypt(&folder, &["export-key", "--key-name", "work", ".git/exported/work"]);
    Some(folder)
}

#[expect(clippy::disallowed_methods, reason = "the test, not the program, is told so")]
fn is_required() -> bool {
    std::env::var_os("BRAIN_MCP_REQUIRE_GIT_CRYPT").is_some_and(|value| value == "1")
}

fn git_crypt(folder: &Folder, arguments: &[&str]) {
    let output = Command::new("git-crypt")
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("git-crypt is installed");
    assert!(output.status.success(), "git-crypt {arguments:?}: {output:?}");
}

/// Rows 1, 2 and 3: unlocked, half locked, locked, and unlocked again.
#[test]
fn real_keys_open_and_close_pages() {
    let Some(folder) = encrypted() else { return };
    let vault = folder.open();
    let hits = || {
        let hits = vault.search(&everything(), "canary", 10).expect("an answer");
        let mut paths: Vec<_> = hits.iter().map(|hit| hit.note.path.to_string()).collect();
        paths.sort();
        paths.join(" ")
    };
    let classes = || (vault.class("wiki/people/ann.md"), vault.class("work/plan.md"));
    assert_eq!(classes(), (PEOPLE, CONFIDENTIAL));
    assert_eq!(hits(), "open.md wiki/people/ann.md work/plan.md");

    git_crypt(&folder, &["lock"]);
    assert_eq!(classes(), (PEOPLE, CONFIDENTIAL));
    assert_eq!(vault.read("wiki/people/ann.md"), Err(ReadError::Locked));
    assert!(vault.read("work/plan.md").is_ok(), "another key, which is not locked");
    assert_eq!(hits(), "open.md work/plan.md");

    git_crypt(&folder, &["lock", "--key-name", "work"]);
    assert_eq!(classes(), (PEOPLE, CONFIDENTIAL));
    assert_eq!(vault.read("work/plan.md"), Err(ReadError::Locked));
    assert_eq!(hits(), "open.md");
    assert_eq!(folder.open().read("work/plan.md"), Err(ReadError::Locked));

    git_crypt(&folder, &["unlock", ".git/exported/default"]);
    assert!(vault.read("wiki/people/ann.md").expect("a page").text.contains("canary"));
    assert_eq!(hits(), "open.md wiki/people/ann.md");
    assert_eq!(classes(), (PEOPLE, CONFIDENTIAL));

    // Row 5, with real ciphertext: without its rule the page is what git has stored.
    folder.write(".gitattributes", "");
    vault.wait_for_lowering();
    assert_eq!(classes(), (PEOPLE, CONFIDENTIAL));
}

/// Row 4: a page that was stored before its rule is protected all the same.
#[test]
fn a_page_stored_in_clear_has_the_class_of_its_rule() {
    let Some(folder) = encrypted() else { return };
    folder.write("late/x.md", "text");
    folder.commit();
    folder.write("late/.gitattributes", "*.md filter=git-crypt diff=git-crypt\n");
    assert_eq!(folder.open().class("late/x.md"), CONFIDENTIAL);
}

/// Design section 5: in a folder that is no repository no rule says so, but ciphertext
/// is at least confidential. Who may not see it hears of no change of it.
#[test]
fn ciphertext_in_a_plain_folder_has_no_news_for_readers() {
    let locked = |number: u8| [CIPHERTEXT_MARK, b"\x01twelve-bytes", &[number]].concat();
    let folder = Folder::plain();
    folder.write("wiki/people/ann.md", locked(0));
    folder.write("note.md", "# Note\n");
    folder.write("plan (conflicted copy 2024-01-01).md", "# Plan\n\nhamster\n");
    folder.write("plan.md", "# Plan\n\nhamster\n");
    let vault = folder.open();
    let reader = viewer(&[Scope::Read]);
    let stats = || vault.vault.stats(&reader).expect("an answer");
    let copy = "plan (conflicted copy 2024-01-01).md";
    let original =
        |viewer| vault.vault.open_note(viewer, copy).expect("a note").summary.conflict_of;
    assert_eq!(stats().notes, 3);
    assert!(original(&reader).is_some());
    let mut news = vault.vault.changes();
    folder.write("plan.md", locked(1));
    folder.write("wiki/people/ann.md", locked(2));
    folder.write("new.md", locked(3));
    assert_eq!(stats().notes, 2);
    let mut told: Vec<_> = std::iter::from_fn(|| news.try_recv().ok()).collect::<Vec<_>>().concat();
    told.sort_by(|one, other| one.path.cmp(&other.path));
    let told: Vec<_> = told.iter().map(|it| (it.path.as_str(), it.before, it.after)).collect();
    let [ordinary, confidential, people] =
        [PageClass::Ordinary, PageClass::Confidential, PageClass::People].map(Some);
    let expected = [
        ("new.md", None, confidential),
        ("plan.md", ordinary, confidential),
        ("wiki/people/ann.md", people, people),
    ];
    assert_eq!(told, expected);
    let owner = everything();
    assert_eq!(original(&reader), None);
    assert_eq!(original(&owner).map(|path| path.to_string()).as_deref(), Some("plan.md"));
    let copies = |viewer| vault.vault.stats(viewer).expect("an answer").health.conflict_copies;
    assert_eq!((copies(&reader).len(), copies(&owner).len()), (0, 1));
    // No trace in the health of the index, either.
    let before = stats();
    folder.write("new.md", locked(4));
    assert_eq!(stats(), before);
}

/// A file that is too large to be read is still no page for whoever may not see it.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test makes files larger")]
fn ciphertext_of_any_size_is_hidden() {
    let folder = Folder::plain();
    for (path, start) in [("locked.md", CIPHERTEXT_MARK), ("open.md", b"# Large")] {
        folder.write(path, start);
        let file = std::fs::File::options().append(true).open(folder.at(path)).expect("a file");
        file.set_len(17 << 20).expect("a sparse file");
    }
    let vault = folder.open();
    let reader = viewer(&[Scope::Read]);
    assert_eq!(vault.vault.read_page(&reader, "locked.md"), Err(HIDDEN));
    assert_eq!(vault.read("locked.md"), Err(ReadError::Locked));
    assert_eq!(vault.vault.read_page(&reader, "open.md"), Err(ReadError::NotText));
    let skipped = |viewer| vault.vault.stats(viewer).expect("an answer").health.skipped.len();
    assert_eq!((skipped(&reader), skipped(&everything())), (1, 2));
}
