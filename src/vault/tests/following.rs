//! A vault that is followed: what is new shows, what is hidden does not.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use super::{Folder, OpenVault, everything, viewer};
use crate::access::class::PageClass;
use crate::contract::scope::Scope;

const PATIENCE: Duration = Duration::from_secs(20);

fn followed(folder: &Folder) -> OpenVault {
    let vault = folder.open();
    vault.vault.follow();
    vault
}

fn count(vault: &OpenVault, word: &str) -> usize {
    vault.search(&everything(), word, 10).map_or(0, |hits| hits.len())
}

#[track_caller]
fn wait_for(vault: &OpenVault, word: &str) -> Duration {
    let begun = Instant::now();
    while count(vault, word) == 0 {
        assert!(begun.elapsed() < PATIENCE, "{word} is not found");
        thread::sleep(Duration::from_millis(5));
    }
    begun.elapsed()
}

/// A crash of git leaves its lock behind. New notes wait for it, but not for ever, and
/// nothing else need happen for them to be seen.
#[test]
fn a_lock_that_git_left_behind_does_not_keep_new_notes_out() {
    let folder = Folder::repository();
    let vault = followed(&folder);
    wait_for(&vault, "canary");
    folder.write(".git/index.lock", "");
    folder.write("open/new.md", "hamster");
    folder.write("open/a.md", "gerbil");
    let took = wait_for(&vault, "hamster");
    assert!(took < Duration::from_secs(15), "{took:?}");
    wait_for(&vault, "gerbil");
    // Later ones do not wait again.
    folder.write("open/later.md", "guineapig");
    assert!(wait_for(&vault, "guineapig") < Duration::from_secs(5));
}

/// What is told of the last change is of visible pages: a hidden edit leaves no trace,
/// and a visible one does.
#[test]
fn the_last_change_is_that_of_a_visible_page() {
    let folder = Folder::repository();
    let vault = followed(&folder);
    wait_for(&vault, "canary");
    let reader = viewer(&[Scope::Read]);
    let mut news = vault.vault.changes();
    let stats = || vault.vault.stats(&reader).expect("an answer");
    for number in 0..20 {
        folder.write("closed/b.md", format!("hamster{number}"));
        folder.write(&format!("closed/sub{number}/c.md"), "hamster");
        folder.write("c.private.md", format!("hamster{number}"));
        wait_for(&vault, &format!("hamster{number}"));
    }
    let health = stats().health;
    assert_eq!((health.last_change, health.lag_milliseconds), (None, None));
    while let Ok(batch) = news.try_recv() {
        let visible = batch.iter().find(|change| {
            [change.before, change.after].into_iter().flatten().any(|class| reader.may_see(class))
        });
        assert!(visible.is_none(), "{visible:?}");
    }
    folder.write("open/a.md", "gerbil");
    wait_for(&vault, "gerbil");
    let health = stats().health;
    assert!(health.last_change.is_some());
    assert!(health.lag_milliseconds.is_some_and(|lag| lag < 10_000), "{health:?}");
    let before = stats();
    folder.write("closed/b.md", "dormouse");
    wait_for(&vault, "dormouse");
    assert_eq!(stats(), before);
}

/// A page that is opened to more readers is announced when it is, although nothing
/// happens on the disk at that time and nobody asks.
#[test]
fn a_lowered_class_is_announced_by_itself() {
    let folder = Folder::repository();
    let vault = followed(&folder);
    wait_for(&vault, "canary");
    let mut news = vault.vault.changes();
    folder.write(".gitattributes", super::RULES.replace("closed/** filter=git-crypt\n", ""));
    // Time for the watcher to see the rules and begin to wait.
    thread::sleep(Duration::from_secs(1));
    vault.hands.advance(Duration::from_secs(4));
    let begun = Instant::now();
    let change = loop {
        let batch = news.try_recv().ok();
        let batch = batch.into_iter().flat_map(|batch| batch.to_vec());
        if let Some(change) = batch.into_iter().find(|change| change.path.as_str() == "closed/b.md")
        {
            break change;
        }
        assert!(begun.elapsed() < PATIENCE, "nobody is told");
        thread::sleep(Duration::from_millis(20));
    };
    let classes = (change.before, change.after);
    assert_eq!(classes, (Some(PageClass::Confidential), Some(PageClass::Ordinary)));
}

/// Two servers on one vault do not get in each other's way.
#[test]
fn two_vaults_over_one_folder_both_follow_it() {
    let folder = Folder::repository();
    let (one, other) = (followed(&folder), followed(&folder));
    for round in 0..5 {
        folder.write("open/a.md", format!("hamster{round}"));
        wait_for(&one, &format!("hamster{round}"));
        wait_for(&other, &format!("hamster{round}"));
    }
}

/// The folder goes away under a followed vault and comes back: nothing is answered
/// meanwhile, and nothing has to be started again.
#[test]
fn a_folder_that_comes_back_is_followed_again() {
    let folder = Folder::plain();
    folder.write("vault/a.md", "hamster");
    let vault = super::open(&folder.at("vault")).expect("a vault");
    vault.vault.follow();
    wait_for(&vault, "hamster");
    fs::rename(folder.at("vault"), folder.at("away")).expect("a name");
    let begun = Instant::now();
    while vault.search(&everything(), "hamster", 10).is_ok_and(|hits| !hits.is_empty()) {
        assert!(begun.elapsed() < PATIENCE, "a vault that is gone is answered from");
    }
    fs::write(folder.at("away/b.md"), "gerbil").expect("written");
    fs::rename(folder.at("away"), folder.at("vault")).expect("a name");
    wait_for(&vault, "hamster");
    wait_for(&vault, "gerbil");
    folder.write("vault/c.md", "dormouse");
    wait_for(&vault, "dormouse");
}
