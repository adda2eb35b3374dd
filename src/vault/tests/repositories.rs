//! gitattributes.md section 6.1: where the repository is, and how it is set up.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::vault::evidence::CIPHERTEXT_MARK;

use super::{
    CONFIDENTIAL, Folder, HIDDEN, ORDINARY, PEOPLE, UNAVAILABLE, assert_in_doubt,
    assert_unavailable,
};

/// Row 18: a linked work tree has the rules of the common folder.
#[test]
fn a_linked_work_tree_reads_the_common_rules() {
    let folder = Folder::repository();
    let linked = Folder::plain();
    folder.git(&["worktree", "add", "--quiet", &linked.at("tree").to_string_lossy()]);
    let vault = super::open(&linked.at("tree")).expect("a vault");
    assert_eq!(vault.class("open/a.md"), ORDINARY);
    folder.write(".git/info/attributes", "open/** filter=git-crypt\n");
    assert_eq!(vault.class("open/a.md"), CONFIDENTIAL);
    // The same file, but it names another place.
    linked.write("tree/.git", "gitdir: /nowhere\n");
    assert_eq!(vault.read("open/a.md"), Err(UNAVAILABLE));
}

/// Row 19: rules of folders above the vault count, up to the top of the repository.
#[test]
fn a_vault_inside_a_repository_has_its_rules() {
    let folder = Folder::repository();
    folder.write("notes/deep/wiki/people/bob.md", "text");
    folder.write("notes/deep/x.md", "text");
    folder.write("notes/.gitattributes", "people/** filter=git-crypt\n");
    let vault = super::open(&folder.at("notes/deep")).expect("a vault");
    assert_eq!(vault.class("x.md"), ORDINARY);
    folder.write("notes/.gitattributes", "*.md filter=git-crypt\n");
    assert_eq!(vault.class("x.md"), CONFIDENTIAL);
    // The folder for people is the vault's, not the repository's.
    assert_eq!(vault.class("wiki/people/bob.md"), PEOPLE);
}

/// A folder that is only called `.git` makes no repository, to git neither. It may
/// become one, and a damaged repository is not taken for a folder without rules.
#[test]
fn a_folder_without_a_repository_in_it_may_be_called_git() {
    let folder = Folder::plain();
    folder.write(".git/in.md", "hidden");
    folder.write(".gitattributes", "closed/** filter=git-crypt\n");
    folder.write("closed/a.md", "word");
    let vault = folder.open();
    assert_eq!(vault.class("closed/a.md"), ORDINARY);
    assert_eq!(vault.class(".git/in.md"), None);
    folder.git(&["init", "--quiet"]);
    assert_eq!(vault.class("closed/a.md"), CONFIDENTIAL);

    let damaged = Folder::repository();
    damaged.remove(".git/HEAD");
    let error = super::open(damaged.path()).err().expect("refused");
    assert!(error.contains("not a git repository"), "{error}");
}

/// Row 20: what is no usable repository is refused with a reason.
#[test]
fn an_unusable_repository_does_not_open() {
    let bare = Folder::plain();
    bare.git(&["init", "--quiet", "--bare"]);
    let error = super::open(bare.path()).err().expect("refused");
    assert!(error.contains("work tree"), "{error}");

    let broken = Folder::plain();
    broken.write(".git", "gitdir: nowhere\n");
    let error = super::open(broken.path()).err().expect("refused");
    assert!(error.contains("not a git repository"), "{error}");

    assert!(super::open(&bare.at("missing")).is_err());

    let foreign = Folder::repository();
    if std::os::unix::fs::chown(foreign.path(), Some(12345), None).is_ok() {
        let error = super::open(foreign.path()).err().expect("refused");
        assert!(error.contains("dubious ownership"), "{error}");
    } else {
        eprintln!("skipped: only root can give a folder away");
    }
}

/// Row 21: rules that are read from a tree instead of the disk.
#[test]
fn an_attribute_tree_puts_every_page_in_doubt() {
    let folder = Folder::repository();
    let vault = folder.open();
    folder.git(&["config", "attr.tree", "HEAD"]);
    assert_in_doubt(&vault);
}

/// Row 21: variables of our own environment do not reach git. A test cannot set them
/// for itself, so it runs another one with them.
#[test]
fn variables_for_git_change_nothing() {
    let program = std::env::current_exe().expect("the test program");
    let output = Command::new(program)
        .args(["--exact", "vault::tests::disk::each_class_opens_with_its_own_scope_only"])
        .env("GIT_DIR", "/nowhere")
        .env("GIT_WORK_TREE", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere")
        .env("GIT_ATTR_SOURCE", "HEAD~7")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.attributesFile")
        .env("GIT_CONFIG_VALUE_0", "/nowhere")
        .output()
        .expect("the test program runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

/// git judges paths by the rules of the work tree, wherever its `.git` is.
#[test]
fn a_vault_outside_of_its_work_tree_does_not_open() {
    let (folder, elsewhere) = (Folder::repository(), Folder::plain());
    let vault = folder.open();
    assert_eq!(vault.class("open/a.md"), ORDINARY);
    let place = elsewhere.path().to_str().expect("UTF-8");
    folder.git(&["config", "core.worktree", place]);
    assert_unavailable(&vault);
    let error = super::open(folder.path()).err().expect("it does not open");
    assert!(error.contains("core.worktree"), "{error}");
}

/// A vault may come with its `.git` from elsewhere. Its settings say what counts, and
/// must not start programs.
#[test]
fn settings_of_the_repository_start_no_program() {
    let folder = Folder::repository();
    folder.write(".git/program", "#!/bin/sh\ntouch \"$(dirname \"$0\")/started\"\n");
    let program = folder.at(".git/program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("it is ours");
    let program = program.to_str().expect("UTF-8");
    for key in ["core.fsmonitor", "core.sshCommand", "filter.git-crypt.process"] {
        folder.git(&["config", key, program]);
    }
    let _ = fs::remove_file(folder.at(".git/started"));
    let vault = folder.open();
    assert_eq!(vault.class("open/a.md"), ORDINARY);
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    assert!(!folder.at(".git/started").exists());
}

/// Row 23: rules of folders that are not checked out count.
#[test]
fn a_sparse_checkout_keeps_its_rules() {
    let folder = Folder::repository();
    folder.write("closed/.gitattributes", "deep/** filter=git-crypt\n");
    folder.write("closed/deep/x.md", "text");
    folder.write(".gitattributes", "");
    folder.commit();
    folder.git(&["sparse-checkout", "set", "--no-cone", "/closed/deep/"]);
    assert!(!folder.at("closed/.gitattributes").exists());
    assert_eq!(folder.open().class("closed/deep/x.md"), CONFIDENTIAL);
}

/// Letter case counts as git counts it.
#[test]
fn ignorecase_folds_the_people_folder() {
    let folder = Folder::repository();
    folder.write("Wiki/People/eve.md", "text");
    folder.write(".gitattributes", "*.md filter=git-crypt\n");
    let vault = folder.open();
    assert_eq!(vault.class("Wiki/People/eve.md"), CONFIDENTIAL);
    folder.git(&["config", "core.ignorecase", "true"]);
    assert_eq!(vault.class("Wiki/People/eve.md"), PEOPLE);
}

/// Where names are the same without their letter case, the disk may spell a file otherwise
/// than git's index does: ciphertext there is evidence all the same.
#[test]
fn stored_ciphertext_counts_for_a_file_in_other_letter_case() {
    let folder = Folder::repository();
    folder.write(".gitattributes", "");
    folder.write("open/was.md", [CIPHERTEXT_MARK, b"nonce-nonce-text"].concat());
    folder.commit();
    folder.remove("open/was.md");
    folder.write("Open/Was.md", "plain text");
    assert_eq!(folder.open().class("Open/Was.md"), ORDINARY);
    folder.git(&["config", "core.ignorecase", "true"]);
    assert_eq!(folder.open().class("Open/Was.md"), CONFIDENTIAL);
}

#[test]
fn a_vault_whose_folder_is_gone_is_unavailable() {
    let folder = Folder::repository();
    let vault = folder.open();
    let moved = folder.path().with_extension("moved");
    fs::rename(folder.path(), &moved).expect("a rename");
    assert_unavailable(&vault);
    // Another folder in its place is not the one that was opened.
    fs::create_dir(folder.path()).expect("a folder");
    folder.git(&["init", "--quiet"]);
    folder.write("open/a.md", "another");
    assert!(vault.read("open/a.md").is_err());
    fs::remove_dir_all(folder.path()).expect("a folder");
    fs::rename(&moved, folder.path()).expect("a rename");
    assert_eq!(vault.read("open/missing.md"), Err(HIDDEN));
}
