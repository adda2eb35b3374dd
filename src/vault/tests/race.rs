//! gitattributes.md section 6.1, row 9: the disk changes while pages are read.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::{Folder, viewer};
use crate::contract::scope::Scope;

const ROUNDS: usize = 1000;
const CANARY: &str = "canary";

/// A thousand harmless pages get a protecting rule each, and only then a canary, or
/// become a link to one. Who reads with the ordinary scope meanwhile never sees it.
#[test]
fn a_canary_written_after_its_rule_never_comes_out() {
    let folder = Folder::repository();
    for round in 0..ROUNDS {
        folder.write(&page(round), "harmless");
    }
    folder.write(".gitattributes", "closed/** filter=git-crypt\n");
    folder.write("closed/canary.md", CANARY);
    let vault = folder.open();
    let reader = viewer(&[Scope::Read]);
    let (current, reads, served) = <(AtomicUsize, AtomicUsize, AtomicUsize)>::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            while current.load(Ordering::SeqCst) < ROUNDS {
                let path = page(current.load(Ordering::SeqCst));
                if let Ok(page) = vault.vault.read_page(&reader, &path) {
                    assert_eq!(page.text, "harmless", "{path}");
                    served.fetch_add(1, Ordering::SeqCst);
                }
                reads.fetch_add(1, Ordering::SeqCst);
            }
        });
        scope.spawn(|| {
            while current.load(Ordering::SeqCst) < ROUNDS {
                let hits = vault.vault.search(&reader, CANARY, 10).unwrap_or_default();
                let leaked = hits.iter().find(|hit| hit.snippet.contains(CANARY));
                assert!(leaked.is_none_or(|hit| hit.path.as_str() == "open/a.md"), "{leaked:?}");
            }
        });
        for round in 0..ROUNDS {
            let seen = reads.load(Ordering::SeqCst);
            while reads.load(Ordering::SeqCst) == seen {
                thread::yield_now();
            }
            // So that the writes fall on ever other steps of a read.
            thread::sleep(Duration::from_micros((round * 37 % 500) as u64));
            if round % 50 == 0 {
                folder.remove(&page(round));
                symlink("../closed/canary.md", folder.at(&page(round))).expect("a link");
            } else {
                // The page before stays protected: the clock stands, so nothing is lowered.
                folder.write(".gitattributes", format!("{} filter=git-crypt\n", page(round)));
                folder.write(&page(round), CANARY);
            }
            current.store(round + 1, Ordering::SeqCst);
        }
    });
    assert!(served.into_inner() > ROUNDS / 2, "too little was served to have been a test");
}

fn page(round: usize) -> String {
    format!("race/{round}.md")
}

/// What was read is released only if the rules are still those that it was read by.
#[test]
fn a_snapshot_is_not_confirmed_after_a_change() {
    let folder = Folder::repository();
    let vault = folder.open();
    let keeper = &vault.vault.0.keeper;
    let changes: [&dyn Fn(); 5] = [
        &|| folder.write(".gitattributes", "*.md filter=git-crypt\n"),
        &|| folder.write("open/.gitattributes", "*.md filter=git-crypt\n"),
        &|| folder.write(".git/info/attributes", "*.md filter=git-crypt\n"),
        &|| folder.commit(),
        &|| folder.write(".git/index.lock", ""),
    ];
    for change in changes {
        let used = keeper.snapshot().expect("a snapshot");
        assert!(keeper.confirms(&used));
        change();
        assert!(!keeper.confirms(&used));
        // Even if it is undone: what was read may come from in between.
        let used = keeper.snapshot().expect("a snapshot");
        let rules = fs::read(folder.at(".gitattributes")).expect("a file");
        folder.write(".gitattributes", "");
        thread::sleep(Duration::from_millis(20));
        folder.write(".gitattributes", rules);
        assert!(!keeper.confirms(&used));
    }
}

/// Stamps of the file system are believed only once they are old: a second change
/// within one tick of the kernel's clock would not show.
#[test]
fn a_young_snapshot_is_not_believed() {
    let folder = Folder::repository();
    let vault = folder.open();
    let keeper = &vault.vault.0.keeper;
    folder.write("open/new.md", "text");
    let young = keeper.snapshot().expect("a snapshot");
    let next = keeper.snapshot().expect("a snapshot");
    assert!(!Arc::ptr_eq(&young, &next));
    assert!(keeper.confirms(&young));
    thread::sleep(Duration::from_millis(150));
    let old = keeper.snapshot().expect("a snapshot");
    assert!(Arc::ptr_eq(&old, &keeper.snapshot().expect("a snapshot")));
}

/// The same in one thread, so that every single step is followed by a read.
#[test]
fn the_request_after_the_rule_is_refused() {
    let folder = Folder::repository();
    let vault = folder.open();
    let reader = viewer(&[Scope::Read]);
    for round in 0..50 {
        vault.wait_for_lowering();
        assert!(vault.vault.read_page(&reader, "open/a.md").is_ok(), "{round}");
        // The same length as before: only the bytes tell.
        folder.write(".gitattributes", RULES_THAT_PROTECT);
        assert_eq!(vault.vault.read_page(&reader, "open/a.md"), Err(super::HIDDEN), "{round}");
        folder.write(".gitattributes", RULES_THAT_DO_NOT);
    }
}

const RULES_THAT_PROTECT: &str = "*.md filter=git-crypt\n";
const RULES_THAT_DO_NOT: &str = "*.nd filter=git-crypt\n";
