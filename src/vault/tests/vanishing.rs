//! The vault's folder goes and comes back; files that are there in name only.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{CONFIDENTIAL, Folder, HIDDEN, ORDINARY, UNAVAILABLE, assert_unavailable, git_in};
use crate::access::permit::ReadPermit;
use crate::vault::answers::SkipReason;
use crate::vault::files::NoBytes;
use crate::vault::{ReadError, Unavailable};

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").args([from, to]).status();
    assert!(copied.expect("cp").success());
}

/// The folder is removed and restored from elsewhere: until it is whole nothing is
/// served, and then everything is, as the rules there have it.
#[test]
fn a_restored_vault_is_served_without_a_restart() {
    let folder = Folder::repository();
    let vault = folder.open();
    assert_eq!(vault.class("open/a.md"), ORDINARY);
    let elsewhere = Folder::plain();
    copy(folder.path(), &elsewhere.at("copy"));
    fs::remove_dir_all(folder.path()).expect("a folder");
    assert_unavailable(&vault);
    fs::create_dir(folder.path()).expect("a folder");
    assert_unavailable(&vault);
    fs::remove_dir(folder.path()).expect("a folder");
    elsewhere.write("copy/.gitattributes", "open/** filter=git-crypt\n");
    copy(&elsewhere.at("copy"), folder.path());
    // Not lower than that: it may have the inode of a page about people that is gone.
    assert!(vault.class("open/a.md") >= CONFIDENTIAL);
    vault.wait_for_lowering();
    assert_eq!(vault.class("open/a.md"), CONFIDENTIAL);
    assert_eq!(vault.class("closed/b.md"), ORDINARY);
    folder.write("open/new.md", "text");
    assert_eq!(vault.read("open/new.md").expect("a page").text, "text");
}

/// A clone with newer commits has the commit that was checked out last, and is the same
/// vault. Another repository is not.
#[test]
fn a_new_clone_is_the_same_vault() {
    let folder = Folder::repository();
    let vault = folder.open();
    let elsewhere = Folder::plain();
    let (here, there) = (folder.path().to_path_buf(), elsewhere.at("clone"));
    git_in(&here, &["clone", "--quiet", ".", there.to_str().expect("UTF-8")]);
    fs::write(there.join("open/a.md"), "newer").expect("a file");
    git_in(&there, &["commit", "--quiet", "--all", "--message", "newer"]);
    fs::rename(&here, elsewhere.at("old")).expect("a name");
    let stranger = Folder::plain();
    stranger.git(&["init", "--quiet"]);
    stranger.write("open/a.md", "another");
    stranger.commit();
    copy(stranger.path(), &here);
    assert_unavailable(&vault);
    fs::remove_dir_all(&here).expect("a folder");
    fs::rename(&there, &here).expect("a name");
    assert_eq!(vault.read("open/a.md").expect("a page").text, "newer");
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
}

/// A folder without a repository: an empty one in its place is where its disk is not
/// mounted.
#[test]
fn a_plain_vault_comes_back() {
    let folder = Folder::plain();
    folder.write("vault/a.md", "text");
    let vault = super::open(&folder.at("vault")).expect("a vault");
    assert_eq!(vault.class("a.md"), ORDINARY);
    fs::rename(folder.at("vault"), folder.at("away")).expect("a name");
    assert_unavailable(&vault);
    fs::create_dir(folder.at("vault")).expect("a folder");
    assert_unavailable(&vault);
    folder.write("vault/a.md", "restored");
    assert_eq!(vault.read("a.md").expect("a page").text, "restored");
    // And the first one again.
    fs::remove_dir_all(folder.at("vault")).expect("a folder");
    fs::rename(folder.at("away"), folder.at("vault")).expect("a name");
    assert_eq!(vault.read("a.md").expect("a page").text, "text");
}

/// A link in the vault's place leads to another place than the one that was opened.
#[test]
fn a_link_in_the_place_of_the_vault_is_not_followed() {
    let folder = Folder::plain();
    folder.write("vault/a.md", "text");
    let vault = super::open(&folder.at("vault")).expect("a vault");
    fs::rename(folder.at("vault"), folder.at("away")).expect("a name");
    folder.write("other/a.md", "another");
    std::os::unix::fs::symlink("other", folder.at("vault")).expect("a link");
    assert_eq!(vault.read("a.md"), Err(UNAVAILABLE));
    assert_eq!(vault.read("missing.md"), Err(ReadError::Unavailable(Unavailable)));
    fs::remove_file(folder.at("vault")).expect("a link");
    fs::rename(folder.at("away"), folder.at("vault")).expect("a name");
    assert_eq!(vault.read("missing.md"), Err(HIDDEN));
}

fn why_not(vault: &super::OpenVault, path: &str) -> Option<SkipReason> {
    let parts = &vault.vault.0;
    let snapshot = parts.keeper.snapshot().expect("a snapshot");
    let page = path.parse().expect("a path");
    let class = snapshot.page(&page).expect("a page").class;
    let judged = crate::access::class::ClassifiedPath::judged(page, class);
    let permit: ReadPermit = super::everything().permit_read(judged).expect("a permit");
    parts.root.read_page(permit, &snapshot).err().and_then(NoBytes::skip_reason)
}

/// L53: a file with a size and without blocks is not read; a small one is, since file
/// systems may keep it elsewhere. L12: the reason is told.
#[test]
fn a_file_that_is_not_downloaded_is_not_read() {
    let folder = Folder::plain();
    for (name, size) in [("evicted.md", 100_000), ("small.md", 100), ("huge.md", 1 << 30)] {
        let file = fs::File::create(folder.at(name)).expect("a file");
        file.set_len(size).expect("a sparse file");
    }
    folder.write("whole.md", "x".repeat(100_000));
    let vault = folder.open();
    assert_eq!(why_not(&vault, "whole.md"), None);
    assert_eq!(why_not(&vault, "small.md"), None);
    assert_eq!(why_not(&vault, "evicted.md"), Some(SkipReason::NotDownloaded));
    assert_eq!(why_not(&vault, "huge.md"), Some(SkipReason::TooLarge));
    assert_eq!(vault.read("evicted.md"), Err(ReadError::NotText));
}

/// L12: the system's own words. Root can read everything.
#[test]
fn an_unreadable_file_has_a_reason() {
    let words = |number| NoBytes::Unreadable(number).skip_reason().map(|it| it.to_string());
    assert!(words(13).is_some_and(|words| words.contains("Permission denied (os error 13)")));
    assert!(words(5).is_some_and(|words| words.contains("os error 5")));
    assert_eq!(NoBytes::Replaced.skip_reason(), None);
}
