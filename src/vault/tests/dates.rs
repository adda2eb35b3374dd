//! When files were last committed (L57).

use std::fs;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;

use super::Folder;
use crate::vault::dates::CommitDates;
use crate::vault::fingerprint::Identity;

fn date(folder: &Folder, dates: &CommitDates, path: &str) -> Option<i64> {
    let metadata = fs::symlink_metadata(folder.at(path)).expect("a file");
    dates.of(path, &Identity::of(&metadata)).map(Timestamp::as_second)
}

/// Commits everything at a time of our choice. The files are older than the index.
fn commit_at(folder: &Folder, seconds: i64) {
    thread::sleep(Duration::from_millis(30));
    folder.git(&["add", "--all"]);
    folder.git(&["-c", "core.hooksPath=/nowhere", "commit", "--quiet", "--message", "x"]);
    // git takes the time from the environment only, or from the commit itself.
    let raw = folder.git(&["cat-file", "commit", "HEAD"]);
    let dated: Vec<String> = raw
        .lines()
        .map(|line| match line.split_once("> ") {
            Some((who, _)) if line.starts_with("author") || line.starts_with("committer") => {
                format!("{who}> {seconds} +0000")
            }
            _ => line.to_owned(),
        })
        .collect();
    folder.write(".git/dated", format!("{}\n", dated.join("\n")));
    let id = folder.git(&["hash-object", "-t", "commit", "-w", ".git/dated"]);
    folder.git(&["update-ref", "HEAD", &id]);
}

/// L57: the date is that of the last commit that changed the file, and new commits add
/// to it.
#[test]
fn the_last_commit_that_changed_a_file_dates_it() {
    let folder = Folder::plain();
    folder.git(&["init", "--quiet"]);
    folder.write("a.md", "one");
    folder.write("folder/b \u{fc}.md", "one");
    commit_at(&folder, 1_000_000_000);
    folder.write("a.md", "two");
    commit_at(&folder, 1_100_000_000);
    let mut dates = CommitDates::read(folder.path()).expect("dates").expect("a commit");
    assert_eq!(date(&folder, &dates, "a.md"), Some(1_100_000_000));
    assert_eq!(date(&folder, &dates, "folder/b \u{fc}.md"), Some(1_000_000_000));
    assert_eq!(dates.refresh().ok(), Some(false));

    folder.write("folder/c.md", "new");
    commit_at(&folder, 1_200_000_000);
    assert_eq!(dates.refresh().ok(), Some(true));
    assert_eq!(date(&folder, &dates, "folder/c.md"), Some(1_200_000_000));
    assert_eq!(date(&folder, &dates, "a.md"), Some(1_100_000_000));

    // History that is written anew.
    folder.git(&["reset", "--quiet", "--soft", "HEAD~2"]);
    commit_at(&folder, 1_300_000_000);
    assert_eq!(dates.refresh().ok(), Some(true));
    assert_eq!(date(&folder, &dates, "a.md"), Some(1_300_000_000));
    assert_eq!(date(&folder, &dates, "folder/b \u{fc}.md"), Some(1_000_000_000));
}

/// L57: a file that is not what was committed has no such date, whether it is the same
/// size, staged, or new.
#[test]
fn a_changed_file_has_no_date_of_a_commit() {
    let folder = Folder::plain();
    folder.git(&["init", "--quiet"]);
    for path in ["same.md", "staged.md", "kept.md"] {
        folder.write(path, "one");
    }
    commit_at(&folder, 1_000_000_000);
    folder.write("same.md", "two");
    folder.write("staged.md", "more");
    folder.git(&["add", "staged.md"]);
    folder.write("new.md", "new");
    let dates = CommitDates::read(folder.path()).expect("dates").expect("a commit");
    assert_eq!(date(&folder, &dates, "same.md"), None);
    assert_eq!(date(&folder, &dates, "staged.md"), None);
    assert_eq!(date(&folder, &dates, "new.md"), None);
    assert_eq!(date(&folder, &dates, "kept.md"), Some(1_000_000_000));
}

/// L57: a vault below the top of its repository has paths of its own.
#[test]
fn a_vault_inside_a_repository_is_dated() {
    let folder = Folder::plain();
    folder.git(&["init", "--quiet"]);
    folder.write("notes/a.md", "one");
    folder.write("outside.md", "one");
    commit_at(&folder, 1_000_000_000);
    let dates = CommitDates::read(&folder.at("notes")).expect("dates").expect("a commit");
    let identity = Identity::of(&fs::metadata(folder.at("notes/a.md")).expect("a file"));
    assert_eq!(dates.of("a.md", &identity).map(Timestamp::as_second), Some(1_000_000_000));
}

/// L57: a merge that resolved a conflict dates what it resolved, and takes no other note
/// its date, wherever in the repository the vault is.
#[test]
fn a_merge_that_resolved_a_conflict_loses_no_dates() {
    let folder = Folder::plain();
    folder.git(&["init", "--quiet"]);
    for path in ["notes/both.md", "notes/kept.md", "outside.md"] {
        folder.write(path, "one");
    }
    commit_at(&folder, 1_000_000_000);
    let trunk = folder.git(&["symbolic-ref", "--short", "HEAD"]);
    folder.git(&["checkout", "--quiet", "-b", "side"]);
    for path in ["notes/both.md", "outside.md", "notes/side.md"] {
        folder.write(path, "the side");
    }
    commit_at(&folder, 1_100_000_000);
    folder.git(&["checkout", "--quiet", &trunk]);
    folder.write("notes/both.md", "the trunk");
    folder.write("outside.md", "the trunk");
    commit_at(&folder, 1_200_000_000);
    // Without the part that fails: the conflict.
    folder.git(&["merge", "--quiet", "--no-commit", "--strategy-option", "ours", "side"]);
    folder.write("notes/both.md", "both of them");
    folder.write("outside.md", "both of them");
    commit_at(&folder, 1_300_000_000);
    folder.write("notes/new.md", "new");
    commit_at(&folder, 1_400_000_000);

    let expected = [
        ("both.md", 1_300_000_000),
        ("kept.md", 1_000_000_000),
        ("side.md", 1_100_000_000),
        ("new.md", 1_400_000_000),
    ];
    for (root, above) in [(folder.at("notes"), ""), (folder.path().to_path_buf(), "notes/")] {
        let dates = CommitDates::read(&root).expect("dates").expect("a commit");
        for (path, seconds) in expected {
            let path = format!("{above}{path}");
            let metadata = fs::symlink_metadata(root.join(&path)).expect("a file");
            let date = dates.of(&path, &Identity::of(&metadata)).map(Timestamp::as_second);
            assert_eq!(date, Some(seconds), "{path} in {}", root.display());
        }
    }
}

/// A branch without a commit has no dates.
#[test]
fn a_repository_without_a_commit_has_no_dates() {
    let folder = Folder::plain();
    folder.git(&["init", "--quiet"]);
    assert!(CommitDates::read(folder.path()).expect("an answer").is_none());
}

/// `cargo test --release --lib dates::figures -- --ignored --nocapture`
#[test]
#[ignore = "prints figures"]
fn figures_of_dates() {
    use std::fmt::Write as _;
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let folder = Folder::plain();
    folder.git(&["init", "--quiet"]);
    let mut stream = String::new();
    for commit in 0..20_000 {
        let _ = write!(
            stream,
            "commit refs/heads/main\ncommitter T <t@example.org> {} +0000\ndata 1\nx\n",
            1_000_000_000 + commit
        );
        let files = if commit == 0 { 0..50_000 } else { commit..commit + 3 };
        for file in files {
            let _ = write!(
                stream,
                "M 100644 inline folder{}/note number {file}.md\ndata 6\n{commit:06}\n",
                file % 100
            );
        }
    }
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .expect("git");
    import.stdin.take().expect("a pipe").write_all(stream.as_bytes()).expect("it reads");
    assert!(import.wait().expect("it ends").success());
    folder.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    folder.git(&["reset", "--quiet", "--hard"]);
    thread::sleep(Duration::from_millis(30));
    folder.git(&["update-index", "--refresh"]);
    let begun = std::time::Instant::now();
    let mut dates = CommitDates::read(folder.path()).expect("dates").expect("a commit");
    println!("50,000 files, 20,000 commits: {:?}", begun.elapsed());
    folder.write("new.md", "x");
    commit_at(&folder, 1_500_000_000);
    let begun = std::time::Instant::now();
    assert_eq!(dates.refresh().ok(), Some(true));
    println!("one commit more: {:?}", begun.elapsed());
}
