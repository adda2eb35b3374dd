//! gitattributes.md section 6.1, row 9: the disk changes while pages are read.

use std::fs::rename;
use std::ops::Range;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::{Folder, viewer};
use crate::contract::scope::Scope;

/// Ten vaults of a hundred pages: a thousand swaps in all.
const VAULTS: usize = 10;
const ROUNDS: usize = 100;
const CANARY: &str = "canary";
const PROTECTED: &str = "closed/** filter=git-crypt\nwiki/** filter=git-crypt\n";

/// How the rule file is written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rewrite {
    /// By another file that takes its place.
    Renamed,
    /// Cut to nothing, then written.
    InPlace,
}

/// A rule file that is cut to nothing counts as meant so after 100 ms. A writer that was
/// kept waiting for longer than this has perhaps shown that vault, and nothing tells it
/// from one without rules.
const STALL: Duration = Duration::from_millis(50);

/// A thousand harmless pages get a protecting rule each, and only then a canary, or
/// become a link to one. Who reads with the ordinary scope meanwhile never sees it.
#[test]
fn a_canary_written_after_its_rule_never_comes_out() {
    let rewrites = [Rewrite::Renamed, Rewrite::InPlace].into_iter().cycle().take(VAULTS);
    let served: usize = rewrites.map(swap_while_reading).sum();
    assert!(served > VAULTS * ROUNDS / 2, "too little was served to have been a test");
}

/// Swaps each page of one vault once. Returns how often a page was served.
fn swap_while_reading(rewrite: Rewrite) -> usize {
    let folder = Folder::repository();
    for round in 0..ROUNDS {
        folder.write(&page(round), "harmless");
    }
    folder.write(".gitattributes", PROTECTED);
    folder.write("closed/canary.md", CANARY);
    folder.remove("open/a.md");
    let vault = folder.open();
    let reader = viewer(&[Scope::Read]);
    let (current, reads, served) = <(AtomicUsize, AtomicUsize, AtomicUsize)>::default();
    // What came out, with the time of the request; and when a writer was kept waiting.
    let (leaks, stalls) =
        <(Mutex<Vec<(Range<Instant>, String)>>, Mutex<Vec<Range<Instant>>>)>::default();
    let leak = |began: Instant, what: String| {
        leaks.lock().unwrap().push((began..Instant::now(), what));
    };
    let read_pages = || {
        while current.load(Ordering::SeqCst) < ROUNDS {
            let path = page(current.load(Ordering::SeqCst));
            let began = Instant::now();
            if let Ok(page) = vault.vault.read_page(&reader, &path) {
                if page.text != "harmless" {
                    leak(began, format!("{path}: {}", page.text));
                }
                served.fetch_add(1, Ordering::SeqCst);
            }
            reads.fetch_add(1, Ordering::SeqCst);
        }
    };
    let search_pages = || {
        while current.load(Ordering::SeqCst) < ROUNDS {
            let began = Instant::now();
            let hits = vault.search(&reader, CANARY, 10).unwrap_or_default();
            if !hits.is_empty() {
                leak(began, format!("{hits:?}"));
            }
            thread::sleep(Duration::from_millis(2));
        }
    };
    thread::scope(|scope| {
        let readers = [scope.spawn(read_pages), scope.spawn(search_pages)];
        let mut rules = PROTECTED.to_owned();
        for round in 0..ROUNDS {
            let seen = reads.load(Ordering::SeqCst);
            while reads.load(Ordering::SeqCst) == seen {
                if readers.iter().any(thread::ScopedJoinHandle::is_finished) {
                    // One has failed: let the other end, so that the test does.
                    current.store(ROUNDS, Ordering::SeqCst);
                    return;
                }
                thread::yield_now();
            }
            // So that the writes fall on ever other steps of a read.
            thread::sleep(Duration::from_micros((round * 37 % 500) as u64));
            if round % 25 == 0 {
                folder.remove(&page(round));
                symlink("../closed/canary.md", folder.at(&page(round))).expect("a link");
            } else {
                rules = format!("{rules}{} filter=git-crypt\n", page(round));
                let began = Instant::now();
                match rewrite {
                    Rewrite::Renamed => {
                        folder.write(".new", &rules);
                        rename(folder.at(".new"), folder.at(".gitattributes")).expect("a name");
                    }
                    Rewrite::InPlace => folder.write(".gitattributes", &rules),
                }
                if rewrite == Rewrite::InPlace && began.elapsed() > STALL {
                    stalls.lock().unwrap().push(began..Instant::now());
                }
                folder.write(&page(round), CANARY);
            }
            current.store(round + 1, Ordering::SeqCst);
        }
    });
    let stalls = stalls.into_inner().unwrap();
    for (request, what) in leaks.into_inner().unwrap() {
        let meets = |stall: &Range<Instant>| request.start < stall.end && stall.start < request.end;
        assert!(stalls.iter().any(meets), "{rewrite:?}: {what}");
    }
    served.into_inner()
}

fn page(round: usize) -> String {
    format!("race/{round}.md")
}

/// Two folders trade names while pages are read, and one of them brings its own rule
/// along with what that rule protects. Whatever was judged under a name, the protected
/// page never comes out. One swap a vault: after the first, both names are guarded.
#[test]
fn folders_that_trade_names_give_nothing_out() {
    for round in 0..40 {
        let folder = Folder::repository();
        folder.write("one/page.md", "harmless");
        folder.write("two/.gitattributes", "* filter=git-crypt\n");
        folder.write("two/page.md", CANARY);
        let vault = folder.open();
        let reader = viewer(&[Scope::Read]);
        let (is_over, served) = <(AtomicUsize, AtomicUsize)>::default();
        let read = || {
            while is_over.load(Ordering::SeqCst) == 0 {
                for path in ["one/page.md", "two/page.md"] {
                    if let Ok(page) = vault.vault.read_page(&reader, path) {
                        assert_eq!(page.text, "harmless", "{path}");
                        served.fetch_add(1, Ordering::SeqCst);
                    }
                }
                let hits = vault.search(&reader, CANARY, 10).unwrap_or_default();
                assert!(
                    hits.iter().all(|hit| hit.note.path.as_str().starts_with("open/")),
                    "{hits:?}"
                );
            }
        };
        let swap = |from: &str, to: &str| {
            rename(folder.at(from), folder.at(to)).expect("a name for a name");
        };
        thread::scope(|scope| {
            let reading = scope.spawn(read);
            while served.load(Ordering::SeqCst) < 3 && !reading.is_finished() {
                thread::yield_now();
            }
            // At ever other distances from the steps of a reader.
            thread::sleep(Duration::from_micros(round * 97 % 4_000));
            swap("one", "aside");
            swap("two", "one");
            swap("aside", "two");
            thread::sleep(Duration::from_millis(30));
            is_over.store(1, Ordering::SeqCst);
        });
    }
}

/// A sync tool that brings page after page does not keep the others from being read.
#[test]
fn a_vault_that_is_written_to_without_pause_is_served() {
    let folder = Folder::repository();
    let vault = folder.open();
    let reader = viewer(&[Scope::Read]);
    let is_over = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            // Faster than a survey, but not so fast that the vault becomes another one.
            for number in (0..2_000).take_while(|_| is_over.load(Ordering::SeqCst) == 0) {
                folder.write(&format!("incoming/{number}.md"), "text");
                thread::sleep(Duration::from_millis(2));
            }
        });
        for round in 0..20 {
            let page = vault.vault.read_page(&reader, "open/a.md");
            let hits = vault.search(&reader, "canary", 10);
            if round == 19 || page.is_err() || hits.is_err() {
                is_over.store(1, Ordering::SeqCst);
            }
            assert!(page.is_ok() && hits.is_ok(), "{round}: {page:?} {hits:?}");
        }
    });
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
        folder.write(".gitattributes", "");
        folder.write(".gitattributes", "*.md filter=git-crypt\n");
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

/// A rule file that somebody writes again and again makes nothing unavailable: neither
/// what is asked of visible notes nor their text.
#[test]
fn rules_that_are_written_all_the_time_are_waited_for() {
    let folder = Folder::repository();
    let vault = folder.open();
    let reader = viewer(&[Scope::Read]);
    let is_over = AtomicBool::new(false);
    // On a busy machine to judge the rules takes longer, and a vault that never rests may
    // well be unavailable.
    folder.write("closed/.gitattributes", "# first\n");
    let begun = Instant::now();
    let _ = vault.vault.read_page(&reader, "open/a.md");
    let pause = (begun.elapsed() * 3).max(Duration::from_millis(30));
    let (asked, refused) = thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !is_over.load(Ordering::SeqCst) {
                number += 1;
                folder.write("closed/.gitattributes", format!("# {number}\n"));
                thread::sleep(pause);
            }
        });
        let begun = Instant::now();
        let (mut asked, mut refused) = (0, 0);
        while begun.elapsed() < Duration::from_secs(4) {
            asked += 2;
            refused += usize::from(vault.search(&reader, CANARY, 10).is_err());
            refused += usize::from(vault.vault.read_page(&reader, "open/a.md").is_err());
        }
        is_over.store(true, Ordering::SeqCst);
        (asked, refused)
    });
    assert!(asked > 10, "{asked} are too few to tell");
    assert_eq!(refused, 0, "of {asked}");
}
