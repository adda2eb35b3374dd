//! `brain-mcp search` and `brain-mcp stats`: what the owner sees.

use std::process::{Command, Output};

use brain_mcp::admin::terminal::Paint;
use brain_mcp::admin::{search, stats};
use brain_mcp::vault::answers::{
    DateSource, IndexHealth, Modified, NoteHit, NoteSummary, Passage, QueryReading, SearchResults,
    SkipReason, TagCount, VaultStats, Watching,
};
use jiff::Timestamp;
use serde_json::json;

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
            watching: Watching::Polling("too many folders".to_owned()),
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
