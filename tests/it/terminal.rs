//! `brain-mcp search` and `brain-mcp stats`: what the owner sees.

use std::fs;
use std::process::{Command, Output};

use brain_mcp::admin::terminal::Paint;
use brain_mcp::admin::{search, stats};
use brain_mcp::vault::answers::{
    DateSource, IndexHealth, Modified, NoteHit, NoteSummary, Passage, QueryReading, SearchResults,
    SkipReason, TagCount, VaultStats, Watching,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::VaultBuilder;

fn moment() -> Timestamp {
    "2026-03-14T12:00:00Z".parse().unwrap()
}

fn results() -> SearchResults {
    let note = NoteSummary {
        path: "projects/heat pump.md".parse().unwrap(),
        title: "Heat \u{1b}[31mpump".to_owned(),
        tags: vec!["house".to_owned(), "work/2026".to_owned()],
        modified: Modified { at: moment(), source: DateSource::Frontmatter },
        size: 120,
        conflict_of: None,
    };
    let passage = Passage {
        text: "Die Wärmepumpe kostet".to_owned(),
        matches: std::iter::once(4..14).collect(),
        lines: Some(7..=8),
        headings: vec!["Offers".to_owned(), "First".to_owned()],
        anchor: Some("first".to_owned()),
    };
    SearchResults {
        hits: vec![NoteHit { note, score: Some(2.5), passage }],
        total: 3,
        has_more: true,
        reading: QueryReading {
            interpreted: "wärmepumpe".to_owned(),
            ignored: vec!["die".to_owned()],
            corrected: vec![("wärmpumpe".to_owned(), "wärmepumpe".to_owned())],
            unmatched: Vec::new(),
        },
    }
}

fn hits(results: &SearchResults, paint: Paint) -> String {
    let mut answer = Vec::new();
    search::write_hits(&mut answer, results, paint).unwrap();
    String::from_utf8(answer).unwrap()
}

#[test]
fn hits_are_readable() {
    assert_eq!(
        hits(&results(), Paint::Plain).lines().collect::<Vec<_>>(),
        [
            "no note has \"wärmpumpe\"; searched for \"wärmepumpe\" instead",
            "Heat \u{fffd}[31mpump  projects/heat pump.md:7  2026-03-14",
            "  Offers > First",
            "  Die Wärmepumpe kostet",
            "  #house #work/2026",
            "1 of 3 notes; --limit shows more.",
        ]
    );
    let coloured = hits(&results(), Paint::Coloured);
    assert!(coloured.contains("Die \u{1b}[1;33mWärmepumpe\u{1b}[0m kostet"), "{coloured:?}");
    let none = SearchResults { hits: Vec::new(), total: 0, has_more: false, ..results() };
    assert!(hits(&none, Paint::Plain).ends_with("No note matches wärmepumpe.\n"));
}

#[test]
fn hits_in_json_have_everything() {
    let json = search::as_json(&results());
    assert_eq!(json["hits"][0]["path"], "projects/heat pump.md");
    assert_eq!(json["hits"][0]["matches"], json!([[4, 14]]));
    assert_eq!(json["hits"][0]["lines"], json!([7, 8]));
    assert_eq!(json["hits"][0]["modified"], "2026-03-14T12:00:00Z");
    assert_eq!(json["hits"][0]["modified_from"], "frontmatter");
    assert_eq!(json["corrected"], json!([{ "typed": "wärmpumpe", "instead": "wärmepumpe" }]));
    assert_eq!((&json["total"], &json["has_more"]), (&json!(3), &json!(true)));
}

fn figures() -> VaultStats {
    let path = |text: &str| text.parse().unwrap();
    VaultStats {
        notes: 12,
        inbox_notes: 2,
        bytes: 34_567,
        folders: (0..20).map(|number| (format!("f{number}"), 20 - number)).collect(),
        top_tags: vec![TagCount { tag: "house".to_owned(), notes: 4 }],
        tags: 9,
        links: (7, 1),
        orphans: 3,
        invalid_frontmatter: 1,
        health: IndexHealth {
            files: 15,
            indexed: 14,
            skipped: vec![(path("a.md"), SkipReason::NotDownloaded)],
            conflict_copies: vec![(path("b (conflicted copy).md"), path("b.md"))],
            last_change: Some(moment()),
            lag_milliseconds: Some(40),
            watching: Some(Watching::Polling("too many folders".to_owned())),
            time_zone: "Europe/Vienna".to_owned(),
        },
    }
}

#[test]
fn figures_are_readable() {
    let mut answer = Vec::new();
    stats::write_stats(&mut answer, &figures(), Paint::Plain).unwrap();
    let text = String::from_utf8(answer).unwrap();
    for line in [
        "notes        12, 34.6 kB",
        "inbox        2",
        "links        7, and 1 that lead nowhere",
        "tags         9: #house 4",
        "indexed      14 of 15 files",
        "changes      by looking again and again: too many folders",
        "last change  2026-03-14T12:00:00Z, taken in after 40 ms",
        "skipped      a.md: it is not downloaded to this machine",
        "conflicts    b (conflicted copy).md, of b.md",
    ] {
        assert!(text.lines().any(|printed| printed == line), "{line:?} is not in\n{text}");
    }
    assert!(text.contains("f14 6, and 5 more"), "{text}");
    let json = stats::as_json(&figures());
    assert_eq!(json["folders"].as_array().map(Vec::len), Some(20));
    assert_eq!(json["health"]["polling_because"], "too many folders");
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_brain-mcp")).args(arguments).output().expect("it runs")
}

fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// Design section 2: 0 found, 1 nothing found; and each scope finds its own.
#[test]
fn a_real_vault_is_searched() {
    let vault = VaultBuilder::git(&[
        (".gitattributes", "closed/** filter=git-crypt\n"),
        ("house/heat pump.md", "# Heat pump\n\n## Offers\n\nTwo offers of a pump. #house\n"),
        ("closed/pump.md", "# The other pump\n"),
        ("pump.private.md", "pump\n"),
        ("inbox/pump.md", "pump\n"),
    ]);
    let root = vault.root().to_str().unwrap();
    let paths = |arguments: &[&str]| {
        let all = ["search", "--vault", root, "--inbox", "inbox", "--json"];
        let output = run(&[&all, arguments].concat());
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let hits = json["hits"].as_array().expect("hits");
        let mut paths: Vec<String> =
            hits.iter().map(|hit| hit["path"].as_str().expect("a path").to_owned()).collect();
        paths.sort();
        assert!(output.stderr.is_empty(), "{}", text_of(&output.stderr));
        (output.status.code(), paths)
    };
    let (open, closed) = ("house/heat pump.md".to_owned(), "closed/pump.md".to_owned());
    assert_eq!(paths(&["pump"]), (Some(0), vec![closed, open.clone()]));
    assert_eq!(paths(&["--scope", "wiki:read", "pump"]), (Some(0), vec![open]));
    assert_eq!(paths(&["--folder", "inbox", "pump"]), (Some(0), vec!["inbox/pump.md".to_owned()]));
    assert_eq!(paths(&["zeppelin"]), (Some(1), Vec::new()));

    let output = run(&["search", "--vault", root, "heat", "pump"]);
    assert_eq!(output.status.code(), Some(0));
    let text = text_of(&output.stdout);
    assert!(text.starts_with("Heat pump  house/heat pump.md:"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let output = run(&["search", "--vault", root, "zeppelin"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text_of(&output.stdout).starts_with("No note matches "));
}

#[test]
fn a_real_vault_is_counted() {
    let vault = VaultBuilder::plain(&[
        ("a.md", "# A\n\n[[b]] [[nowhere]] #house\n"),
        ("b.md", "# B\n"),
        ("c.md", "\0\u{1}\n"),
    ]);
    let root = vault.root().to_str().unwrap();
    let output = run(&["stats", "--vault", root, "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&json["notes"], &json["tags"]), (&json!(2), &json!(1)));
    assert_eq!(json["links"], json!({ "resolved": 1, "broken": 1 }));
    assert_eq!(json["health"]["skipped"], json!([{ "path": "c.md", "reason": "it is not text" }]));
    let output = run(&["stats", "--vault", root]);
    assert!(text_of(&output.stdout).contains("indexed      2 of 3 files"));
    let empty = VaultBuilder::plain(&[]);
    let output = run(&["stats", "--vault", empty.root().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
}

/// Word forms are one in the languages that the owner names, in all three forms.
#[test]
fn languages_reach_the_search() {
    let vault = VaultBuilder::plain(&[("a.md", "Zwei Häuser\n")]);
    let root = vault.root().to_str().unwrap();
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = format!("vault = {root:?}\n[search]\nlanguages = ['de', 'en']\n");
    fs::write(file.path(), text).expect("written");
    let found = |arguments: &[&str], variable: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_brain-mcp"));
        command.env("BRAIN_MCP_LANGUAGES", variable).arg("search").args(arguments).arg("haus");
        command.output().expect("it runs").status.code()
    };
    assert_eq!(found(&["--vault", root], ""), Some(1));
    assert_eq!(found(&["--vault", root, "--languages", "de"], ""), Some(0));
    assert_eq!(found(&["--vault", root], "german"), Some(0));
    assert_eq!(found(&["--config", file.path().to_str().unwrap()], ""), Some(0));
    assert_eq!(found(&["--vault", root, "--languages", "germn"], ""), Some(2));
}

/// Commands have no log: what keeps the vault from answering is told.
#[test]
fn a_vault_that_cannot_be_judged_says_why() {
    let vault = VaultBuilder::git(&[("a.md", "# A\n")]);
    let pipe = vault.root().join(".gitattributes");
    assert!(Command::new("mkfifo").arg(pipe).status().expect("it runs").success());
    let root = vault.root().to_str().unwrap();
    for arguments in [&["search", "--vault", root, "a"][..], &["stats", "--vault", root]] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2));
        let words = text_of(&output.stderr);
        assert!(words.contains("temporarily unavailable: the rule file "), "{words}");
        assert!(words.contains("is no regular file"), "{words}");
    }
}

/// Design section 2: 0 found, 1 nothing found, 2 a fault that is told.
#[test]
fn what_cannot_be_asked_is_a_fault() {
    let vault = VaultBuilder::plain(&[("a.md", "# A\n\nalpha\n")]);
    let root = vault.root().to_str().unwrap();
    for arguments in [
        &["search", "--vault", "no/such/folder", "x"][..],
        &["search", "--vault", root],
        &["search", "--vault", root, "--scope", "wiki:write", "x"],
        &["search", "--vault", root, "--scope", "wiki:all", "x"],
        &["stats", "--inbox", "inbox"],
        &["stats", "--vault", root, "--inbox", "../x"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}
