//! `brain-mcp classify`: what the owner sees.

use std::fs;
use std::path::Path;
use std::process::Command;

use brain_mcp::admin::classify::{Format, Outcome, Outputs, classify};
use brain_mcp::clock::Clock;
use brain_mcp::vault::{Settings, Vault};

struct Printed {
    outcome: Outcome,
    answer: String,
    complaints: String,
}

fn print(root: &Path, paths: &[&str], format: Format) -> Printed {
    let settings = Settings::of(root);
    let vault = Vault::open(settings, Clock::system()).expect("a vault that opens");
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    let (mut answer, mut complaints) = (Vec::new(), Vec::new());
    let outputs = Outputs { answer: &mut answer, complaints: &mut complaints };
    let outcome = classify(&vault, &paths, format, outputs).expect("an answer");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Printed { outcome, answer: text(answer), complaints: text(complaints) }
}

fn repository(rules: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = Command::new("git").args(["init", "--quiet"]).current_dir(folder.path()).status();
    assert!(made.expect("git is installed").success());
    fs::create_dir_all(folder.path().join("wiki/people")).expect("a folder");
    fs::write(folder.path().join(".gitattributes"), rules).expect("a file");
    for path in ["a.md", "wiki/people/ann.md", "pay.private.md", ".private.md"] {
        fs::write(folder.path().join(path), "text").expect("a file");
    }
    folder
}

const RULES: &str = "wiki/people/** filter=git-crypt\n";

#[test]
fn the_table_names_each_page_its_class_and_its_rule() {
    let folder = repository(RULES);
    let printed = print(folder.path(), &[], Format::Table);
    assert_eq!(printed.outcome, Outcome::Answered);
    assert_eq!(printed.complaints, "");
    assert_eq!(
        printed.answer.lines().collect::<Vec<_>>(),
        [
            ".private.md         secret        the name .private.md",
            "a.md                ordinary      no rule",
            "pay.private.md      secret        the name pay.private.md",
            "wiki/people/ann.md  people        filter=git-crypt under wiki/people/",
        ]
    );
}

/// Design section 2: an array of `{"path","class","rule"}`.
#[test]
fn json_has_the_documented_form() {
    let folder = repository(RULES);
    let printed = print(folder.path(), &["wiki/people/ann.md", "a.md"], Format::Json);
    let pages: serde_json::Value = serde_json::from_str(&printed.answer).expect("JSON");
    assert_eq!(
        pages,
        serde_json::json!([
            { "path": "wiki/people/ann.md", "class": "people", "rule": "filter=git-crypt under wiki/people/" },
            { "path": "a.md", "class": "ordinary", "rule": "no rule" },
        ])
    );
}

#[test]
fn a_path_that_is_no_page_is_an_error() {
    let folder = repository(RULES);
    for path in ["b.md", "../a.md", ".gitattributes", "wiki"] {
        let printed = print(folder.path(), &[path, "a.md"], Format::Table);
        assert_eq!(printed.outcome, Outcome::PathMissing);
        assert_eq!(printed.complaints, format!("error: {path} is no page of this vault\n"));
        assert!(printed.answer.starts_with("a.md"), "{}", printed.answer);
    }
}

/// The owner sees git's ruling and, beside it, that it is not believed.
#[test]
fn doubt_is_shown_beside_the_ruling() {
    let folder = repository(&format!("{RULES}*.md a@b\n"));
    let printed = print(folder.path(), &["a.md"], Format::Table);
    assert_eq!(printed.answer, "a.md  ordinary      no rule, served as confidential\n");
    assert!(printed.complaints.starts_with("warning: git says: a@b"), "{}", printed.complaints);
    let printed = print(folder.path(), &["a.md"], Format::Json);
    assert!(printed.answer.contains("\"served_as\": \"confidential\""), "{}", printed.answer);
}

/// A file name is somebody else's text: it cannot write to the terminal.
#[test]
fn control_characters_of_names_are_not_printed() {
    let folder = repository(RULES);
    fs::write(folder.path().join("\u{1b}[31mred.md"), "text").expect("a file");
    let printed = print(folder.path(), &[], Format::Table);
    assert!(!printed.answer.contains('\u{1b}'), "{:?}", printed.answer);
}
