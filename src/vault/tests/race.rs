//! gitattributes.md section 6.1, row 9: the disk changes while pages are read.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::{Folder, ORDINARY, viewer};
use crate::contract::scope::Scope;

const CANARY: &str = "the canary";

/// The page is harmless, gets a protecting rule, and only then the canary. Who reads
/// with the ordinary scope never sees it, however the steps fall.
#[test]
fn a_canary_written_after_its_rule_never_comes_out() {
    let folder = Folder::repository();
    let vault = folder.open();
    let ends = AtomicBool::new(false);
    let served = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let reader = viewer(&[Scope::Read]);
                while !ends.load(Ordering::SeqCst) {
                    if let Ok(page) = vault.vault.read_page(&reader, "open/a.md") {
                        assert!(!page.text.contains(CANARY));
                        served.fetch_add(1, Ordering::SeqCst);
                    }
                    let hits = vault.vault.search(&reader, CANARY, 10).unwrap_or_default();
                    assert!(hits.iter().all(|hit| !hit.snippet.contains(CANARY)));
                }
            });
        }
        for round in 0..1000 {
            one_swap(&folder, round);
            if round % 50 == 0 {
                // Lets the readers see an ordinary page in between.
                vault.hands.advance(std::time::Duration::from_secs(10));
                thread::sleep(std::time::Duration::from_millis(150));
            }
        }
        ends.store(true, Ordering::SeqCst);
    });
    assert!(served.into_inner() > 0, "nothing was ever served, so nothing was tested");
    vault.wait_for_lowering();
    assert_eq!(vault.class("open/a.md"), ORDINARY);
}

/// Protects, writes the canary, takes it away, opens again; each in one of the ways
/// that editors and git have.
fn one_swap(folder: &Folder, round: usize) {
    let nested = "open/.gitattributes";
    match round % 3 {
        0 => {
            folder.write(nested, "*.md filter=git-crypt\n");
            folder.write("open/a.md", CANARY);
            folder.write("open/a.md", "harmless");
            folder.remove(nested);
        }
        1 => {
            folder.write("open/rules", "*.md filter=git-crypt\n");
            fs::rename(folder.at("open/rules"), folder.at(nested)).expect("a rename");
            folder.write("open/page", CANARY);
            fs::rename(folder.at("open/page"), folder.at("open/a.md")).expect("a rename");
            folder.write("open/page", "harmless");
            fs::rename(folder.at("open/page"), folder.at("open/a.md")).expect("a rename");
            folder.remove(nested);
        }
        _ => {
            folder.write("wiki/people/ann.md", CANARY);
            folder.remove("open/a.md");
            symlink("../wiki/people/ann.md", folder.at("open/a.md")).expect("a link");
            folder.remove("open/a.md");
            folder.write("open/a.md", "harmless");
        }
    }
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
