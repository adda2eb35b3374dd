//! Pages that git-crypt has locked: with its bytes, and with the real program.

use std::process::Command;

use super::{CONFIDENTIAL, Folder, HIDDEN, PEOPLE, everything, viewer};
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
        hits.iter().map(|hit| hit.note.path.to_string()).collect::<Vec<_>>().join(" ")
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
