//! Classes of pages against real repositories: cases written by hand, and what the
//! attribute oracle generates where it is at hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use brain_mcp::access::path::VaultPath;
use brain_mcp::admin::classify::{Format, Outcome, Outputs, classify};
use brain_mcp::clock::Clock;
use brain_mcp::vault::{Settings, Vault};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Each case takes a repository and a vault over it.
#[derive(Deserialize)]
struct Case {
    name: String,
    rules: BTreeMap<String, String>,
    expect: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Expected {
    vaults: Vec<ExpectedVault>,
}

#[derive(Deserialize)]
struct ExpectedVault {
    name: String,
    pages: Vec<ClassOfPage>,
}

#[derive(Deserialize)]
struct ClassOfPage {
    path: String,
    class: String,
}

/// The classes that `classify --json` prints.
fn classes(root: &Path) -> BTreeMap<String, String> {
    let settings = Settings::of(root);
    let vault = Vault::open(settings, Clock::system()).expect("a vault that opens");
    let (mut answer, mut complaints) = (Vec::new(), Vec::new());
    let outputs = Outputs { answer: &mut answer, complaints: &mut complaints };
    let outcome = classify(&vault, &[], Format::Json, outputs).expect("an answer");
    assert_eq!(outcome, Outcome::Answered);
    let pages: Vec<ClassOfPage> = serde_json::from_slice(&answer).expect("an array of pages");
    pages.into_iter().map(|page| (page.path, page.class)).collect()
}

fn write(root: &Path, path: impl AsRef<Path>, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, text).expect("a file");
}

#[expect(clippy::disallowed_methods, reason = "what a test expects is no page")]
fn read_json<T: DeserializeOwned>(file: &Path) -> T {
    serde_json::from_slice(&fs::read(file).expect("a file")).expect("the form that is known")
}

fn run(command: &mut Command) {
    let output = command.output().expect("a program that is installed");
    assert!(output.status.success(), "{command:?}: {output:?}");
}

#[test]
fn cases_written_by_hand() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/attributes/cases.json");
    let cases: Vec<Case> = read_json(&file);
    assert!(cases.len() >= 12);
    for case in cases {
        let folder = tempfile::tempdir().expect("a temporary folder");
        run(Command::new("git").args(["init", "--quiet"]).current_dir(folder.path()));
        for (place, rules) in &case.rules {
            write(folder.path(), Path::new(place).join(".gitattributes"), rules);
        }
        for path in case.expect.keys() {
            write(folder.path(), path, "text");
        }
        assert_eq!(classes(folder.path()), case.expect, "{}", case.name);
    }
}

/// Compares every vault below `folder` with what the oracle expects of it.
fn compare(folder: &Path) {
    let expected: Expected = read_json(&folder.join("expected.json"));
    assert!(!expected.vaults.is_empty());
    let mut differences = Vec::new();
    for vault in expected.vaults {
        let found = classes(&folder.join(&vault.name));
        // The oracle also names files that do not end like a page.
        for page in vault.pages.iter().filter(|page| VaultPath::is_page_name(&page.path)) {
            if found.get(&page.path) != Some(&page.class) {
                let found = found.get(&page.path);
                differences.push(format!(
                    "{}: {} is {found:?}, not {}",
                    vault.name, page.path, page.class
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{} differences: {differences:#?}", differences.len());
}

/// The folder of the oracle, which is no part of this repository.
fn oracle() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/tools/attr-oracle");
    let found = folder.join("gen.py").exists() && folder.join("cases.json").exists();
    if !found {
        eprintln!("skipped: there is no attribute oracle beside this repository");
    }
    found.then_some(folder)
}

#[test]
fn the_cases_of_the_oracle() {
    let Some(oracle) = oracle() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    run(Command::new("python3")
        .arg(oracle.join("gen.py"))
        .arg("--lay")
        .arg(oracle.join("cases.json"))
        .arg("--out")
        .arg(folder.path()));
    compare(folder.path());
}

#[test]
fn two_hundred_vaults_of_the_oracle() {
    let Some(oracle) = oracle() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    run(Command::new("python3")
        .arg(oracle.join("gen.py"))
        .args(["--count", "200", "--seed", "7", "--out"])
        .arg(folder.path()));
    compare(folder.path());
}
