//! gitattributes.md section 6.1: what the disk may try.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::{CONFIDENTIAL, Folder, HIDDEN, ORDINARY, PEOPLE, everything, viewer};
use crate::access::permit::Viewer;
use crate::contract::scope::Scope;
use crate::vault::ReadError;
use crate::vault::answers::SkipReason;

fn make_fifo(path: &std::path::Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

#[test]
fn each_class_opens_with_its_own_scope_only() {
    let vault = Folder::repository().open_kept();
    assert_eq!(vault.class("open/a.md"), ORDINARY);
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    assert_eq!(vault.class("wiki/people/ann.md"), PEOPLE);
    assert_eq!(vault.class("c.private.md"), None);
    let page = vault.read("open/a.md").expect("an ordinary page");
    assert_eq!(page.title, "About open/a.md");
    assert!(page.text.contains("canary"));
}

/// Row 6: a link is no page, wherever it points.
#[test]
fn a_linked_page_is_missing() {
    let folder = Folder::repository();
    symlink("../wiki/people/ann.md", folder.at("open/people.md")).expect("a link");
    symlink("/etc/passwd", folder.at("open/passwd.md")).expect("a link");
    symlink("../.git/config", folder.at("open/config.md")).expect("a link");
    symlink("nowhere.md", folder.at("open/dangling.md")).expect("a link");
    symlink("loop.md", folder.at("open/loop.md")).expect("a link");
    let vault = folder.open();
    for name in ["people", "passwd", "config", "dangling", "loop", "missing"] {
        assert_eq!(vault.read(&format!("open/{name}.md")), Err(HIDDEN), "{name}");
    }
    assert_eq!(vault.search(&everything(), "root", 10), Ok(Vec::new()));
}

/// Row 7: a linked folder is not entered, and its rules are not read.
#[test]
fn a_linked_folder_is_missing() {
    let outside = Folder::plain();
    outside.write(".gitattributes", "* filter=git-crypt a@b\n");
    outside.write("x.md", "canary");
    let folder = Folder::repository();
    symlink(outside.path(), folder.at("out")).expect("a link");
    symlink("wiki/people", folder.at("in")).expect("a link");
    let vault = folder.open();
    assert_eq!(vault.read("out/x.md"), Err(HIDDEN));
    assert_eq!(vault.read("in/ann.md"), Err(HIDDEN));
    // The bad rule in there has put nothing in doubt.
    assert_eq!(vault.class("open/a.md"), ORDINARY);
}

/// Row 8: both names of one file get the higher class.
#[test]
fn a_hard_link_is_as_strict_as_the_stricter_name() {
    let folder = Folder::repository();
    fs::hard_link(folder.at("wiki/people/ann.md"), folder.at("open/x.md")).expect("a link");
    fs::hard_link(folder.at("c.private.md"), folder.at("open/y.md")).expect("a link");
    folder.write("open/.z.private.md", "canary");
    fs::hard_link(folder.at("open/.z.private.md"), folder.at("open/z.md")).expect("a link");
    let vault = folder.open();
    assert_eq!(vault.class("open/x.md"), PEOPLE);
    assert_eq!(vault.class("open/y.md"), None);
    assert_eq!(vault.class("open/z.md"), None);
}

/// A folder that is closed to us, such as the `lost+found` of a disk, has no pages
/// here, and is no reason to serve nothing. Root can read everything.
#[test]
fn a_folder_that_cannot_be_read_is_missing() {
    let folder = Folder::repository();
    folder.write("lost/x.md", "canary");
    let set_mode = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(folder.at("lost"), permissions).expect("it is ours");
    };
    let vault = folder.open();
    assert_eq!(vault.class("lost/x.md"), ORDINARY);
    // Neither names nor files; names only; files only.
    for mode in [0o000, 0o400, 0o100] {
        set_mode(mode);
        if fs::read_dir(folder.at("lost")).is_ok() && mode == 0 {
            break;
        }
        assert_eq!(vault.class("lost/x.md"), None, "{mode:o}");
        assert_eq!(vault.class("open/a.md"), ORDINARY, "{mode:o}");
        assert_eq!(vault.class("wiki/people/ann.md"), PEOPLE, "{mode:o}");
    }
    set_mode(0o700);
    assert_eq!(vault.class("lost/x.md"), ORDINARY);
}

/// Row 17: another repository inside has other rules, and is not served.
#[test]
fn a_nested_repository_is_missing() {
    let folder = Folder::repository();
    folder.write("sub/x.md", "canary");
    super::git_in(&folder.at("sub"), &["init", "--quiet"]);
    folder.write("pointer/x.md", "canary");
    folder.write("pointer/.git", "gitdir: ../elsewhere\n");
    let vault = folder.open();
    assert_eq!(vault.read("sub/x.md"), Err(HIDDEN));
    assert_eq!(vault.read("pointer/x.md"), Err(HIDDEN));
    // And one that becomes a repository while we run.
    folder.write("later/x.md", "text");
    assert_eq!(vault.class("later/x.md"), ORDINARY);
    super::git_in(&folder.at("later"), &["init", "--quiet"]);
    assert_eq!(vault.read("later/x.md"), Err(HIDDEN));
}

/// Row 24: only the disk's own spelling is a page.
#[test]
fn another_letter_case_is_missing() {
    let vault = Folder::repository().open_kept();
    assert_eq!(vault.read("WIKI/People/Ann.md"), Err(HIDDEN));
    assert_eq!(vault.read("Open/a.md"), Err(HIDDEN));
}

/// Row 25: names are one in either normalization form; two that become one are as
/// strict as the stricter.
#[test]
fn names_are_compared_composed() {
    let folder = Folder::repository();
    folder.write("cafe\u{301}.md", "decomposed");
    folder.write("re\u{301}.md", "decomposed");
    folder.write("r\u{e9}.md", "composed");
    folder.write(
        ".gitattributes",
        format!("{RULES}r\u{e9}.md filter=git-crypt\n", RULES = super::RULES),
    );
    let vault = folder.open();
    assert_eq!(vault.class("caf\u{e9}.md"), ORDINARY);
    assert_eq!(vault.class("cafe\u{301}.md"), ORDINARY);
    assert_eq!(vault.class("r\u{e9}.md"), CONFIDENTIAL);
    assert_eq!(vault.read("r\u{e9}.md").expect("a page").text, "decomposed");
}

/// Row 25: with `core.precomposeunicode` the rules are asked about composed names.
#[test]
fn names_are_composed_for_git_where_git_composes() {
    let folder = Folder::repository();
    folder.write("cafe\u{301}.md", "decomposed");
    folder.write(".gitattributes", "caf\u{e9}.md filter=git-crypt\n");
    let vault = folder.open();
    assert_eq!(vault.class("caf\u{e9}.md"), ORDINARY);
    folder.git(&["config", "core.precomposeunicode", "true"]);
    assert_eq!(vault.class("caf\u{e9}.md"), CONFIDENTIAL);
}

/// Rows 26 and 27: what is no path is missing like a missing page.
#[test]
fn a_text_that_is_no_path_is_missing() {
    let vault = Folder::repository().open_kept();
    for path in [
        "",
        "/",
        "..",
        "../a.md",
        "open/../open/a.md",
        "open//a.md",
        "open/a.md/",
        "..%2fa.md",
        "%252e%252e/a.md",
        "..%5ca.md",
        "open/a.md%00",
        "open/a.md\0",
        "file:///open/a.md",
        "open\\a.md",
        "C:open/a.md",
        "open/a.md::$DATA",
        "OPEN~1/a.md",
        "open/a.md.",
        "CON.md",
        "NUL",
        "\\\\host\\share\\a.md",
        ".git/config",
    ] {
        assert_eq!(vault.read(path), Err(HIDDEN), "{path:?}");
    }
}

/// Rows 28, 29 and 32: what is no page is missing.
#[test]
fn hidden_files_and_leftovers_are_missing() {
    let folder = Folder::repository();
    let names = [
        ".git/x.md",
        ".git-crypt/x.md",
        ".obsidian/x.md",
        ".trash/x.md",
        ".stversions/x.md",
        ".smart-env/x.md",
        ".hidden.md",
        "open/.x.md.swp",
        "open/x.md~",
        "open/.#x.md",
        "open/#x.md#",
        "open/4913",
        "open/x.md.tmp",
        "open/x.md.bak",
        "open/x.md.orig",
        "open/x_BASE_12.md",
        "open/x_LOCAL_12.md",
        "open/x_REMOTE_12.md",
        "open/x.canvas",
        "open/x.base",
        "open/x.excalidraw",
        "open/x.png",
        ".obsidian/workspace.json",
    ];
    for name in names {
        folder.write(name, "canary leftovers");
    }
    let vault = folder.open();
    for name in names {
        assert_eq!(vault.read(name), Err(HIDDEN), "{name}");
    }
    assert_eq!(vault.search(&everything(), "leftovers", 10), Ok(Vec::new()));
}

/// Rows 30 and 31: copies that lost their exact name stay secret.
#[test]
fn copies_of_secret_pages_are_secret() {
    let folder = Folder::repository();
    let names = [
        "salary.private 2.md",
        "salary.private copy.md",
        "x.private.sync-conflict-1.md",
        "x.private (conflicted copy).md",
        "x.private.md/inside.md",
        "X.PRIVATE.MD",
    ];
    for name in names {
        folder.write(name, "canary");
    }
    let vault = folder.open();
    for name in names {
        assert_eq!(vault.read(name), Err(HIDDEN), "{name}");
    }
}

/// Row 35: a FIFO does not hang, and a huge page is not read.
#[test]
fn only_regular_files_of_a_sensible_size_are_read() {
    let folder = Folder::repository();
    make_fifo(&folder.at("open/fifo.md"));
    let huge = fs::File::create(folder.at("open/huge.md")).expect("a file");
    huge.set_len(1 << 30).expect("a sparse file");
    let vault = folder.open();
    assert_eq!(vault.read("open/fifo.md"), Err(HIDDEN));
    assert_eq!(vault.read("open/huge.md"), Err(ReadError::NotText));
    // A page that turns into a FIFO.
    folder.remove("open/a.md");
    make_fifo(&folder.at("open/a.md"));
    assert_eq!(vault.read("open/a.md"), Err(HIDDEN));
}

/// Row 1, its second half: what holds many NULs is no text. Other encodings are, and
/// so is a text with a stray one (L6).
#[test]
fn texts_in_old_encodings_are_decoded() {
    let folder = Folder::repository();
    folder.write("open/nul.md", b"a\0b");
    folder.write("open/bom.md", b"\xef\xbb\xbf# Title\n");
    folder.write("open/wide.md", b"\xff\xfe#\0 \0\xe9\0");
    folder.write("open/old.md", b"caf\xe9 \x93quoted\x94");
    folder.write("open/wide-nul.md", b"\xff\xfea\0\0\0b\0");
    folder.write("open/unmarked.md", b"w\0i\0d\0e\0 \0t\0e\0x\0t\0");
    folder.write("open/stray.md", b"one stray \0 in a line");
    folder.write("open/old-nul.md", b"caf\xe9 in a long line, and \0");
    let vault = folder.open();
    for path in ["open/nul.md", "open/wide-nul.md", "open/unmarked.md", "open/old-nul.md"] {
        assert_eq!(vault.read(path), Err(ReadError::NotText), "{path}");
    }
    assert_eq!(vault.read("open/stray.md").expect("a page").text, "one stray \u{fffd} in a line");
    assert_eq!(vault.read("open/bom.md").expect("a page").text, "# Title\n");
    assert_eq!(vault.read("open/wide.md").expect("a page").title, "é");
    assert_eq!(vault.read("open/old.md").expect("a page").text, "café “quoted”");
}

#[test]
fn a_page_saved_by_renaming_stays_readable() {
    let folder = Folder::repository();
    let vault = folder.open();
    for round in 0..20 {
        let text = format!("round {round}");
        folder.write("open/new", &text);
        fs::rename(folder.at("open/new"), folder.at("open/a.md")).expect("a rename");
        assert_eq!(vault.read("open/a.md").expect("a page").text, text);
    }
    folder.remove("open/a.md");
    assert_eq!(vault.read("open/a.md"), Err(HIDDEN));
}

/// A folder without a repository has ordinary and secret pages only.
#[test]
fn a_plain_folder_needs_no_rules() {
    let folder = Folder::plain();
    folder.write(".gitattributes", "* filter=git-crypt\n");
    folder.write("wiki/people/ann.md", "text");
    folder.write("x.private.md", "text");
    let vault = folder.open();
    assert_eq!(vault.class("wiki/people/ann.md"), ORDINARY);
    assert_eq!(vault.class("x.private.md"), None);
    // It becomes a repository: the rules count from then on, for good.
    folder.git(&["init", "--quiet"]);
    assert_eq!(vault.class("wiki/people/ann.md"), PEOPLE);
    fs::rename(folder.at(".git"), folder.at("moved")).expect("a rename");
    assert_eq!(vault.read("wiki/people/ann.md"), Err(super::UNAVAILABLE));
    assert_eq!(vault.read("missing.md"), Err(super::UNAVAILABLE));
}

/// L12: what has the name of a note and cannot be one is named with the reason, to those
/// who might read a note there.
#[test]
fn links_and_pipes_are_told_of_to_those_who_might_read_there() {
    let folder = Folder::repository();
    for path in ["open/link.md", "closed/link.md", "link.private.md"] {
        symlink("/etc/hostname", folder.at(path)).expect("a link");
    }
    let made = Command::new("mkfifo").arg(folder.at("open/pipe.md")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let vault = folder.open();
    let skipped = |viewer: Viewer| {
        let health = vault.vault.stats(&viewer).expect("an answer").health;
        assert_eq!(health.files, health.indexed + health.skipped.len());
        let skipped = health.skipped.into_iter();
        skipped.map(|(path, reason)| (path.to_string(), reason)).collect::<Vec<_>>()
    };
    let open = [("open/link.md", SkipReason::Link), ("open/pipe.md", SkipReason::NotAFile)];
    let closed = ("closed/link.md", SkipReason::Link);
    let named = |(path, reason): (&str, SkipReason)| (path.to_owned(), reason);
    let all: Vec<_> = [closed].into_iter().chain(open.clone()).map(named).collect();
    assert_eq!(skipped(viewer(&[Scope::Read])), open.clone().map(named));
    assert_eq!(skipped(everything()), all);
    // A rule that is taken away does not open what was closed: nobody waits for links.
    folder.write(".gitattributes", "");
    assert_eq!(skipped(viewer(&[Scope::Read])), open.map(named));
    folder.remove("open/link.md");
    assert_eq!(skipped(viewer(&[Scope::Read])).len(), 1);
    assert_eq!(vault.read("open/link.md"), Err(HIDDEN));
}
