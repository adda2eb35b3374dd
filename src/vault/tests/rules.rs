//! gitattributes.md section 6.1: what happens to the rules.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::{
    CONFIDENTIAL, Folder, ORDINARY, OpenVault, PEOPLE, RULES, assert_in_doubt, assert_unavailable,
};
use crate::vault::evidence::CIPHERTEXT_MARK;

/// After a repair everything is as before, once lowering has waited.
#[track_caller]
fn assert_recovers(vault: &OpenVault) {
    vault.wait_for_lowering();
    assert_eq!(vault.class("open/a.md"), ORDINARY);
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    assert_eq!(vault.class("wiki/people/ann.md"), PEOPLE);
}

/// The "next request": a rule takes effect without restart, in every place
/// where git looks for rules.
#[test]
fn a_new_rule_counts_at_the_next_request() {
    let places = [".gitattributes", "open/.gitattributes", ".git/info/attributes", "global"];
    for place in places {
        let folder = Folder::repository();
        folder.git(&["config", "core.attributesFile", &folder.at("global").to_string_lossy()]);
        let vault = folder.open();
        assert_eq!(vault.class("open/a.md"), ORDINARY, "{place}");
        // The vault's own rule file has said `!filter` of everything.
        folder.write(".gitattributes", "");
        folder.write(place, "*.md filter=git-crypt\n");
        assert_eq!(vault.class("open/a.md"), CONFIDENTIAL, "{place}");
    }
}

#[test]
fn a_new_setting_counts_at_the_next_request() {
    let folder = Folder::repository();
    folder.write(".gitattributes", "");
    folder.write("elsewhere", "*.md filter=git-crypt\n");
    folder.write("included", "[core]\nattributesFile = elsewhere\n");
    let vault = folder.open();
    folder.git(&["config", "include.path", "../included"]);
    assert_eq!(vault.class("open/a.md"), CONFIDENTIAL);
}

/// Row 5: ciphertext in the last commit or in the index outlives the rule.
#[test]
fn stored_ciphertext_keeps_a_page_confidential() {
    let folder = Folder::repository();
    let ciphertext = [CIPHERTEXT_MARK, b"nonce-nonce-text"].concat();
    for path in ["open/was.md", "wiki/people/was.md"] {
        folder.write(path, &ciphertext);
    }
    folder.write(".gitattributes", "");
    folder.commit();
    for path in ["open/was.md", "wiki/people/was.md"] {
        folder.write(path, "plain text");
    }
    let vault = folder.open();
    assert_eq!(vault.class("open/was.md"), CONFIDENTIAL);
    assert_eq!(vault.class("wiki/people/was.md"), PEOPLE);
    assert_eq!(vault.class("open/a.md"), ORDINARY);
    // Staged as plain text, but committed as ciphertext; then committed as well.
    folder.git(&["add", "--all"]);
    vault.wait_for_lowering();
    assert_eq!(vault.class("open/was.md"), CONFIDENTIAL);
    folder.commit();
    assert_eq!(vault.class("open/was.md"), CONFIDENTIAL);
    vault.wait_for_lowering();
    assert_eq!(vault.class("open/was.md"), ORDINARY);
}

/// The same where there are so many blobs that two processes read them.
#[test]
fn stored_ciphertext_is_found_among_thousands() {
    let folder = Folder::repository();
    let is_locked = |number: usize| number % 97 == 5;
    for number in 0..1500 {
        let start: &[u8] = if is_locked(number) { CIPHERTEXT_MARK } else { b"plain " };
        let text = [start, number.to_string().as_bytes()].concat();
        folder.write(&format!("many/{number:04}.md"), text);
    }
    folder.write(".gitattributes", "");
    folder.commit();
    for number in (0..1500).filter(|number| is_locked(*number)) {
        folder.write(&format!("many/{number:04}.md"), "plain text");
    }
    let vault = folder.open();
    for number in 0..1500 {
        let class = if is_locked(number) { CONFIDENTIAL } else { ORDINARY };
        assert_eq!(vault.class(&format!("many/{number:04}.md")), class, "{number}");
    }
}

/// Row 10: a checkout writes the looser rules first, while the index is locked.
#[test]
fn nothing_is_lowered_while_git_is_at_work() {
    let folder = Folder::repository();
    let vault = folder.open();
    folder.write(".git/index.lock", "");
    folder.write(".gitattributes", "");
    vault.wait_for_lowering();
    vault.wait_for_lowering();
    assert_eq!(vault.class("wiki/people/ann.md"), PEOPLE);
    // A page that comes up meanwhile may be older than the rules.
    folder.write("open/new.md", "text");
    assert_eq!(vault.class("open/new.md"), CONFIDENTIAL);
    let late = folder.open();
    assert_eq!(late.class("open/a.md"), CONFIDENTIAL);
    folder.remove(".git/index.lock");
    assert_eq!(vault.class("wiki/people/ann.md"), PEOPLE);
    vault.wait_for_lowering();
    assert_eq!(vault.class("wiki/people/ann.md"), ORDINARY);
    assert_eq!(vault.class("open/new.md"), ORDINARY);
}

/// Row 10: a tool that replaces files by removing and making them, without a lock.
#[test]
fn a_page_that_comes_back_at_once_is_not_a_new_one() {
    let folder = Folder::repository();
    let vault = folder.open();
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    folder.remove("closed/b.md");
    assert_eq!(vault.class("closed/b.md"), None);
    folder.write(".gitattributes", "");
    folder.write("closed/b.md", "text");
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    vault.wait_for_lowering();
    assert_eq!(vault.class("closed/b.md"), ORDINARY);
}

/// Row 11: a rule that no request has met yet is not forgotten while the file that
/// it stands in is written anew.
#[test]
fn an_empty_rule_file_is_given_time_to_be_written() {
    let folder = Folder::repository();
    let vault = folder.open();
    assert_eq!(vault.class("open/a.md"), ORDINARY);
    let rules = format!("{RULES}open/a.md filter=git-crypt\n");
    folder.write(".gitattributes", &rules);
    folder.write("open/a.md", "canary");
    folder.write(".gitattributes", "");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(30));
            folder.write(".gitattributes", &rules);
        });
        assert_eq!(vault.class("open/a.md"), CONFIDENTIAL);
    });
}

/// A rule that names a folder does not go with it when the folder is renamed. The
/// owner gets the same wait, and the same line in the log, as if the rule had gone.
#[test]
fn a_file_under_another_name_is_not_a_new_one() {
    let folder = Folder::repository();
    folder.write("open/old.md", "text");
    let vault = folder.open();
    assert_eq!(vault.class("wiki/people/ann.md"), PEOPLE);
    let rename = |from: &str, to: &str| {
        std::fs::rename(folder.at(from), folder.at(to)).expect("renamed");
    };
    rename("wiki/people", "wiki/persons");
    rename("closed/b.md", "open/b.md");
    rename("c.private.md", "open/a.md");
    rename("open/old.md", "open/new.md");
    assert_eq!(vault.class("wiki/persons/ann.md"), PEOPLE);
    assert_eq!(vault.class("open/b.md"), CONFIDENTIAL);
    assert_eq!(vault.class("open/a.md"), None);
    assert_eq!(vault.class("open/new.md"), ORDINARY);
    vault.wait_for_lowering();
    for path in ["wiki/persons/ann.md", "open/b.md", "open/a.md"] {
        assert_eq!(vault.class(path), ORDINARY, "{path}");
    }
    // Into a protected folder it is raised at once.
    rename("open/new.md", "closed/new.md");
    assert_eq!(vault.class("closed/new.md"), CONFIDENTIAL);
}

/// Row 11: a rule file that is cut to nothing and written anew byte by byte.
#[test]
fn a_half_written_rule_file_lowers_nothing() {
    let folder = Folder::repository();
    let vault = folder.open();
    for length in (0..=RULES.len()).step_by(5).chain([RULES.len()]) {
        folder.write(".gitattributes", &RULES[..length]);
        let closed = vault.class("closed/b.md");
        assert!(closed >= CONFIDENTIAL, "{length}");
        assert_eq!(vault.class("wiki/people/ann.md"), PEOPLE, "{length}");
    }
    assert_recovers(&vault);
}

/// Two surveys that agree must lie apart; a rule that comes back starts anew.
#[test]
fn lowering_takes_two_surveys_that_agree() {
    let folder = Folder::repository();
    let vault = folder.open();
    folder.write(".gitattributes", "");
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    vault.hands.advance(std::time::Duration::from_secs(1));
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    folder.write(".gitattributes", RULES);
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    folder.write(".gitattributes", "");
    vault.hands.advance(std::time::Duration::from_secs(60));
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    vault.wait_for_lowering();
    assert_eq!(vault.class("closed/b.md"), ORDINARY);
}

/// Row 12: a rule file that is deleted still counts while the index has it.
#[test]
fn a_deleted_rule_file_counts_from_the_index() {
    let folder = Folder::repository();
    let vault = folder.open();
    folder.remove(".gitattributes");
    vault.wait_for_lowering();
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    folder.git(&["rm", "--quiet", "--cached", ".gitattributes"]);
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    // Row 13: gone for good, and nothing was ever encrypted.
    folder.commit();
    vault.wait_for_lowering();
    assert_eq!(vault.class("closed/b.md"), ORDINARY);
}

/// Row 14, what git reads without a word.
#[test]
fn an_odd_rule_file_puts_every_page_in_doubt() {
    let odd: [&dyn Fn(&Folder); 5] = [
        &|folder| folder.write(".gitattributes", b"\xff\xfe*\0 \0f\0"),
        &|folder| folder.write(".gitattributes", b"*.md filter=git-crypt\0\n"),
        &|folder| folder.write(".gitattributes", "<<<<<<< ours\n>>>>>>> theirs\n"),
        &|folder| {
            folder.remove(".gitattributes");
            fs::create_dir(folder.at(".gitattributes")).expect("a folder");
        },
        &|folder| {
            folder.remove(".gitattributes");
            symlink("open/a.md", folder.at(".gitattributes")).expect("a link");
        },
    ];
    for spoil in odd {
        let folder = Folder::repository();
        let vault = folder.open();
        spoil(&folder);
        assert_in_doubt(&vault);
        // Not lowered by waiting, and the same at the first look.
        vault.wait_for_lowering();
        assert_in_doubt(&vault);
        assert_in_doubt(&folder.open());
        let broken = folder.at(".gitattributes");
        if broken.is_dir() && !broken.is_symlink() {
            fs::remove_dir(&broken).expect("a folder");
        } else {
            fs::remove_file(&broken).expect("a file");
        }
        folder.write(".gitattributes", RULES);
        assert_in_doubt(&vault);
        assert_recovers(&vault);
    }
}

/// Row 14, what git cannot be asked about.
#[test]
fn an_impossible_rule_file_stops_everything() {
    let impossible: [&dyn Fn(&Folder); 3] = [
        &|folder| {
            let made = Command::new("mkfifo").arg(folder.at("open/.gitattributes")).status();
            assert!(made.expect("mkfifo").success());
        },
        &|folder| {
            let file = fs::File::create(folder.at("open/.gitattributes")).expect("a file");
            file.set_len(101 * 1024 * 1024).expect("a sparse file");
        },
        &|folder| folder.write("open/.gitattributes", [CIPHERTEXT_MARK, b"rest"].concat()),
    ];
    for spoil in impossible {
        let folder = Folder::repository();
        let vault = folder.open();
        spoil(&folder);
        assert_unavailable(&vault);
        folder.remove("open/.gitattributes");
        assert_recovers(&vault);
    }
}

/// Row 14: `*` rules have encrypted the rule file itself, on the disk or in the index.
#[test]
fn an_encrypted_rule_file_does_not_open() {
    let folder = Folder::repository();
    folder.write(".gitattributes", [CIPHERTEXT_MARK, b"rest"].concat());
    let error = super::open(folder.path()).err().expect("refused");
    assert!(error.contains("git-crypt") && error.contains(".gitattributes"), "{error}");
    folder.commit();
    folder.remove(".gitattributes");
    let error = super::open(folder.path()).err().expect("refused");
    assert!(error.contains(".gitattributes is encrypted"), "{error}");
}

/// Row 15: a rule that git drops, in each of the ways that it complains about.
#[test]
fn a_dropped_rule_puts_every_page_in_doubt() {
    let long = format!("*.md filter=git-crypt {}\n", "x".repeat(2048));
    let bad = ["*.md filter=git-crypt a@b\n", "!open/** filter=git-crypt\n", &*long];
    let folder = Folder::repository();
    let vault = folder.open();
    for rules in bad {
        folder.write(".gitattributes", format!("{RULES}{rules}"));
        assert_in_doubt(&vault);
        let warnings = vault.vault.classification().expect("an answer").warnings;
        assert!(warnings.iter().any(|warning| warning.starts_with("git says:")), "{warnings:?}");
        folder.write(".gitattributes", RULES);
        assert_recovers(&vault);
    }
    // In a folder without a single page, too.
    folder.write("empty/.gitattributes", "[attr]nested filter=git-crypt\n");
    assert_in_doubt(&vault);
}

/// Row 16: a merge that waits for its end.
#[test]
fn a_merge_in_progress_puts_every_page_in_doubt() {
    let folder = Folder::repository();
    let vault = folder.open();
    folder.write(".git/MERGE_HEAD", folder.git(&["rev-parse", "HEAD"]));
    assert_in_doubt(&vault);
    folder.remove(".git/MERGE_HEAD");
    assert_recovers(&vault);
}
