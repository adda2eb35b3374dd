//! Which test shows which of the 149 requirements of the authorization server.
//!
//! `tests/checklist.tsv` has the requirements. A test shows one by saying `Checklist 12`
//! (or `Checklist 12, 13`) in its doc comment. `tests/checklist.md` is made of both.

#![expect(clippy::disallowed_methods, reason = "source files are no pages")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::tidy::rust_files;

const LAST: u32 = 149;

/// What is true of a requirement, besides the tests that name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The tests show it.
    Shown,
    /// The tests show what we do instead, and the note says why.
    Deviation,
    /// The tests show a part, and the note says what is missing.
    Partly,
    /// Nothing shows it yet, and the note says what is missing.
    Open,
    /// It does not apply, and the note says why.
    NotApplicable,
}

struct Requirement {
    state: State,
    title: String,
    note: String,
}

/// A test that is missing makes this one fail, and so does a word that is out of date:
/// an open requirement that has a test, or one that is shown and has none.
#[test]
fn each_requirement_has_a_test_or_a_reason() {
    let requirements = requirements();
    let shown = tests_by_number();
    let mut faults = Vec::new();
    for number in shown.keys().filter(|number| !requirements.contains_key(number)) {
        faults.push(format!("there is no requirement {number}: {:?}", shown[number]));
    }
    for number in 1..=LAST {
        let Some(requirement) = requirements.get(&number) else {
            faults.push(format!("{number} is not in the list"));
            continue;
        };
        let is_tested = shown.contains_key(&number);
        let wants_test =
            matches!(requirement.state, State::Shown | State::Deviation | State::Partly);
        if wants_test && !is_tested {
            faults.push(format!("{number} ({}) has no test", requirement.title));
        }
        if !wants_test && is_tested {
            let state = requirement.state;
            faults.push(format!("{number} is {state:?} and has tests: {:?}", shown[&number]));
        }
        if (requirement.state == State::Shown) != requirement.note.is_empty() {
            faults.push(format!("{number}: what is not simply shown has a note, and only that"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let count = |state| requirements.values().filter(|it| it.state == state).count();
    println!("{} open, {} shown in part", count(State::Open), count(State::Partly));

    let table = table(&requirements, &shown);
    let path = Path::new("tests/checklist.md");
    if fs::read_to_string(path).unwrap_or_default() != table {
        fs::write(path, table).expect("the table");
        panic!("tests/checklist.md was out of date and has been written anew; commit it");
    }
}

/// The words are counted only where they stand for a whole number of the list.
#[test]
fn references_are_read_as_they_are_written() {
    for (doc, expected) in [
        ("Checklist 12: one.", &[12][..]),
        ("Checklist 12, 13: two.", &[12, 13]),
        ("Checklist 12, 13, B05: two and a client's.", &[12, 13]),
        ("B05, Checklist 7; and (Checklist 8).", &[7, 8]),
        ("Checklist 5.4 is a section, and Checklist #9 is no form of ours.", &[]),
        ("the checklist, 12 times", &[]),
        ("Checklist 40", &[40]),
    ] {
        assert_eq!(references(doc), expected, "{doc}");
    }
}

fn requirements() -> BTreeMap<u32, Requirement> {
    let text = fs::read_to_string("tests/checklist.tsv").expect("the list");
    let mut requirements = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default().to_owned();
        let number = next().parse().unwrap_or_else(|_| panic!("no number: {line}"));
        let state = match &*next() {
            "shown" => State::Shown,
            "deviation" => State::Deviation,
            "partly" => State::Partly,
            "open" => State::Open,
            "none" => State::NotApplicable,
            other => panic!("{number}: no state: {other}"),
        };
        let requirement = Requirement { state, title: next(), note: next() };
        assert!(!requirement.title.is_empty(), "{number} has no title");
        assert!(requirements.insert(number, requirement).is_none(), "{number} is there twice");
    }
    requirements
}

/// File and name of the tests that name each number.
fn tests_by_number() -> BTreeMap<u32, Vec<String>> {
    let mut by_number: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for folder in ["src", "tests/it"] {
        let mut files = rust_files(Path::new(folder));
        files.sort();
        for (path, text) in files {
            for (name, doc) in documented_tests(&text) {
                for number in references(&doc) {
                    by_number.entry(number).or_default().push(format!("`{path}` {name}"));
                }
            }
        }
    }
    by_number
}

/// The tests of a file, with their doc comments in one line.
fn documented_tests(text: &str) -> Vec<(String, String)> {
    let mut tests = Vec::new();
    let (mut doc, mut is_test) = (String::new(), false);
    for line in text.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            doc = format!("{doc} {}", words.trim());
        } else if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some((_, signature)) = line.split_once("fn ") {
            if is_test {
                let name = signature.split('(').next().unwrap_or_default();
                tests.push((name.to_owned(), doc.clone()));
            }
            (doc, is_test) = (String::new(), false);
        } else if line.is_empty() {
            (doc, is_test) = (String::new(), false);
        }
    }
    tests
}

fn references(doc: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for mut rest in doc.split("Checklist ").skip(1) {
        loop {
            let digits = rest.chars().take_while(char::is_ascii_digit).count();
            let (number, behind) = rest.split_at(digits);
            // `5.4` is a section of the text around the list.
            let mut next = behind.chars();
            let is_section =
                next.next() == Some('.') && next.next().is_some_and(|c| c.is_ascii_digit());
            let Ok(number) = number.parse() else { break };
            if is_section {
                break;
            }
            numbers.push(number);
            let Some(more) = behind.strip_prefix(", ") else { break };
            rest = more;
        }
    }
    numbers
}

fn table(requirements: &BTreeMap<u32, Requirement>, shown: &BTreeMap<u32, Vec<String>>) -> String {
    let mut table = String::from(
        "# The requirements and their tests\n\n\
         Written by the test `each_requirement_has_a_test_or_a_reason`; what is not found by it \
         stands in `checklist.tsv`.\n\n\
         | number | requirement | state | tests |\n|---|---|---|---|\n",
    );
    for (number, Requirement { state, title, note }) in requirements {
        let state = match state {
            State::Shown => "shown".to_owned(),
            State::Deviation => format!("deviation: {note}"),
            State::Partly => format!("in part: {note}"),
            State::Open => format!("**open**: {note}"),
            State::NotApplicable => format!("does not apply: {note}"),
        };
        let tests = shown.get(number).map(|tests| tests.join("<br>")).unwrap_or_default();
        writeln!(table, "| {number} | {title} | {state} | {tests} |").expect("a text");
    }
    table
}
