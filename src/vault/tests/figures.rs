//! How long looking at a vault takes. Not a test: it prints figures, and changes the
//! vault that `BRAIN_MCP_MEASURED_VAULT` names.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::vault::files::Root;
use crate::vault::snapshot::Keeper;
use crate::vault::survey::Surveyor;

#[expect(clippy::disallowed_methods, reason = "the measurement, not the program, is told so")]
fn measured_vault() -> Option<PathBuf> {
    std::env::var_os("BRAIN_MCP_MEASURED_VAULT").map(PathBuf::from)
}

fn rest() {
    std::thread::sleep(Duration::from_millis(2_300));
}

/// `cargo test --release --lib figures -- --ignored --nocapture`
#[test]
#[ignore = "prints figures about the vault that BRAIN_MCP_MEASURED_VAULT names"]
fn surveys_and_requests() {
    let Some(root) = measured_vault() else { return };
    let _ = fs::remove_dir_all(root.join("measured"));
    rest();
    let mut keeper = None;
    let begun = Instant::now();
    {
        let root = Arc::new(Root::open(&root).expect("a folder"));
        keeper.replace(Keeper::new(Surveyor::new(root), Clock::system()).expect("a vault"));
    }
    report("first survey", begun);
    let keeper = keeper.expect("it was made");
    let time = |what: &str, change: &dyn Fn(&Path)| {
        rest();
        let before = keeper.snapshot().expect("a snapshot");
        change(&root);
        let begun = Instant::now();
        let after = keeper.snapshot().expect("a snapshot");
        report(what, begun);
        assert!(!Arc::ptr_eq(&before, &after), "{what}: nothing was noticed");
        let begun = Instant::now();
        assert!(keeper.snapshot().is_some());
        report("  once more at once", begun);
    };
    let save = |root: &Path, name: &str| {
        fs::write(root.join("measured/temporary"), "# Saved\n").expect("a file");
        fs::rename(root.join("measured/temporary"), root.join(name)).expect("a name");
    };
    time("a new folder", &|root| {
        fs::create_dir(root.join("measured")).expect("a folder");
    });
    time("a new page", &|root| {
        fs::write(root.join("measured/new.md"), "# New\n").expect("a file");
    });
    time("a save by rename", &|root| save(root, "measured/new.md"));
    time("a new page in a large folder", &|root| {
        fs::write(root.join("wiki/measured.md"), "# New\n").expect("a file");
    });
    time("a save by rename in a large folder", &|root| save(root, "wiki/measured.md"));
    time("5,000 new pages", &|root| {
        fs::create_dir(root.join("measured/many")).expect("a folder");
        for number in 0..5_000 {
            fs::write(root.join(format!("measured/many/{number}.md")), "# New\n").expect("a file");
        }
    });
    let is_repository = root.join(".git").exists();
    if is_repository {
        time("a changed rule", &|root| {
            let rules = "*.md brain-class=people\n";
            fs::write(root.join("measured/.gitattributes"), rules).expect("a file");
        });
        time("a commit of one page", &|root| {
            super::git_in(root, &["add", "measured/new.md"]);
            super::git_in(root, &["commit", "--quiet", "--message", "one"]);
        });
        super::git_in(&root, &["reset", "--quiet", "HEAD~1"]);
    }
    requests("requests", &keeper);
    for number in 0..1_000 {
        let folder = root.join(format!("measured/folders/{number}"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("page.md"), "text").expect("a file");
    }
    time("1,000 new folders", &|root| {
        fs::write(root.join("measured/last.md"), "").expect("a file");
    });
    requests("requests with 1,000 more folders", &keeper);
    fs::remove_dir_all(root.join("measured")).expect("it was made here");
    fs::remove_file(root.join("wiki/measured.md")).expect("it was made here");
}

fn requests(what: &str, keeper: &Keeper) {
    const ROUNDS: u32 = 200;
    rest();
    assert!(keeper.snapshot().is_some());
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        let snapshot = keeper.snapshot().expect("a snapshot");
        assert!(keeper.confirms(&snapshot));
    }
    println!("{what}: {:?} each", begun.elapsed() / ROUNDS);
}

fn report(what: &str, begun: Instant) {
    println!("{what}: {:?}", begun.elapsed());
}
