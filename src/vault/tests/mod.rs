//! Small real repositories, and vaults over them.

mod breaking;
mod dates;
mod disk;
mod figures;
mod following;
mod inbox;
mod incremental;
mod locked;
mod meaning;
mod race;
mod repositories;
mod rules;
mod searching;
mod vanishing;
mod watching;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::access::class::PageClass;
use crate::access::permit::{Hidden, Viewer};
use crate::clock::{Clock, ManualClock, UnixTime};
use crate::contract::scope::{Scope, ScopeSet};
use crate::vault::answers::{NoteHit, Passages, SearchRequest};
use crate::vault::{Page, ReadError, Settings, Unavailable, Vault};

/// The usual rules: people and one folder are encrypted, the rule file is not.
const RULES: &str = "* !filter\n.gitattributes !filter !diff\nwiki/people/** filter=git-crypt\nclosed/** filter=git-crypt\n";

/// A folder on disk, and whatever vaults are opened over it.
struct Folder {
    temporary: TempDir,
}

impl Folder {
    fn plain() -> Self {
        Self { temporary: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A repository with [`RULES`] and a page of each class, committed.
    fn repository() -> Self {
        let folder = Self::plain();
        folder.git(&["init", "--quiet"]);
        folder.write(".gitattributes", RULES);
        for path in ["open/a.md", "closed/b.md", "wiki/people/ann.md", "c.private.md"] {
            folder.write(path, format!("# About {path}\n\nthe word canary\n"));
        }
        folder.commit();
        folder
    }

    fn path(&self) -> &Path {
        self.temporary.path()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.at(path)).expect("a file that was there");
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(self.path(), arguments)
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "state"]);
    }

    fn open(&self) -> OpenVault {
        open(self.path()).expect("a vault that opens")
    }

    /// Opens a vault over a folder that nothing more is done to.
    fn open_kept(self) -> OpenVault {
        let mut vault = self.open();
        vault.folder = Some(self.temporary);
        vault
    }
}

fn git_in(folder: &Path, arguments: &[&str]) -> String {
    // A hook that runs the tests would point git at its own repository.
    let foreign = std::env::vars_os().map(|(name, _)| name);
    let foreign = foreign.filter(|name| name.to_string_lossy().starts_with("GIT_"));
    let mut git = Command::new("git");
    for name in foreign {
        git.env_remove(name);
    }
    let output = git
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.org"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("git is installed");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn open(root: &Path) -> Result<OpenVault, String> {
    let (clock, hands) = Clock::manual(UnixTime::from_seconds(1_000_000));
    let settings = Settings::of(root);
    match Vault::open(settings, clock) {
        Ok(vault) => Ok(OpenVault { vault, hands, folder: None }),
        Err(error) => Err(error.to_string()),
    }
}

/// A vault and the hands of its clock.
struct OpenVault {
    vault: Vault,
    hands: ManualClock,
    /// Removed with the vault, if nobody else keeps it.
    folder: Option<TempDir>,
}

impl OpenVault {
    /// Reads with every scope.
    fn read(&self, path: &str) -> Result<Page, ReadError> {
        self.vault.read_page(&everything(), path)
    }

    fn search(
        &self,
        viewer: &Viewer,
        query: &str,
        limit: usize,
    ) -> Result<Vec<NoteHit>, Unavailable> {
        let (query, folder) = (query.to_owned(), String::new());
        let request =
            SearchRequest { query, folder, limit, shown: Vec::new(), passages: Passages::All };
        self.vault.search_notes(viewer, &request).map(|found| found.hits)
    }

    /// The class that a page is served as, found by trying each scope alone.
    #[track_caller]
    fn class(&self, path: &str) -> Option<PageClass> {
        let scopes = [
            (Scope::Read, PageClass::Ordinary),
            (Scope::Confidential, PageClass::Confidential),
            (Scope::People, PageClass::People),
        ];
        let mut classes = scopes.into_iter().filter_map(|(scope, class)| {
            let read = self.vault.read_page(&viewer(&[scope]), path);
            assert_ne!(read, Err(UNAVAILABLE), "{path}");
            (read != Err(HIDDEN)).then_some(class)
        });
        let class = classes.next();
        assert_eq!(classes.next(), None, "{path} is seen with two scopes");
        class
    }

    /// Lets time pass, with a request before and after, until a lowering is through.
    fn wait_for_lowering(&self) {
        let _ = self.read("missing.md");
        self.hands.advance(Duration::from_secs(4));
        let _ = self.read("missing.md");
    }
}

/// Every page is at least as strict as its place could make it.
#[track_caller]
fn assert_in_doubt(vault: &OpenVault) {
    assert_eq!(vault.class("open/a.md"), CONFIDENTIAL);
    assert_eq!(vault.class("closed/b.md"), CONFIDENTIAL);
    assert_eq!(vault.class("wiki/people/ann.md"), PEOPLE);
    assert_eq!(vault.class("c.private.md"), None);
}

/// The same answer for every path and everybody.
#[track_caller]
fn assert_unavailable(vault: &OpenVault) {
    for path in ["open/a.md", "closed/b.md", "c.private.md", "missing.md", "../x", ""] {
        assert_eq!(vault.read(path), Err(UNAVAILABLE), "{path}");
        assert_eq!(vault.vault.read_page(&viewer(&[]), path), Err(UNAVAILABLE), "{path}");
    }
    assert!(vault.search(&everything(), "canary", 10).is_err());
    assert!(vault.search(&everything(), "", 10).is_err());
}

fn viewer(scopes: &[Scope]) -> Viewer {
    Viewer::for_tests(scopes.iter().copied().collect())
}

fn everything() -> Viewer {
    Viewer::for_tests(ScopeSet::ALL)
}

const HIDDEN: ReadError = ReadError::Hidden(Hidden);
const UNAVAILABLE: ReadError = ReadError::Unavailable(Unavailable);
const CONFIDENTIAL: Option<PageClass> = Some(PageClass::Confidential);
const ORDINARY: Option<PageClass> = Some(PageClass::Ordinary);
const PEOPLE: Option<PageClass> = Some(PageClass::People);
