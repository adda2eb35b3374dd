use std::iter;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::values::{hit, note, opened, results};
use crate::mcp::render::hits::{DEFAULT_BYTES, MOST_BYTES, cut, fitting};
use crate::mcp::render::{shortened, single_line};
use crate::mcp::tools::backlinks::LinksAnswer;
use crate::mcp::tools::find_related_notes;
use crate::mcp::tools::note_metadata::MetadataAnswer;
use crate::mcp::tools::vault_stats;
use crate::vault::answers::{
    Backlink, ForwardLink, IndexHealth, NoteHit, NoteLinks, Passage, RelatedNote, Relation,
    SkipReason, TagCount, VaultStats, Watching,
};
use crate::vault::markdown::LinkKind;

/// What the protocol puts around a result: the envelope, an id, the server's name.
const ENVELOPE: usize = 400;

fn length(result: &CallToolResult) -> usize {
    serde_json::to_string(result).unwrap().len()
}

fn structure(result: &CallToolResult) -> &Value {
    result.structured_content.as_ref().unwrap()
}

fn shown(result: &CallToolResult) -> usize {
    structure(result)["hits"].as_array().unwrap().len()
}

fn many(number: usize, path: &str, title: &str, text: &str) -> Vec<NoteHit> {
    let tags = ["house", "house/heating", "offers", "2026", "a-rather-long-tag/with-levels"];
    (0..number).map(|index| hit(note(&format!("{path}-{index}.md"), title, &tags), text)).collect()
}

#[test]
fn a_hit_says_where_it_is_and_why_it_was_found() {
    let hits = vec![hit(note("projects/heat pump.md", "Heat\npump", &["house"]), "the mild one")];
    let result = fitting("", &results(hits, 1), DEFAULT_BYTES, |_| panic!("no more"));
    let modified = structure(&result)["hits"][0]["modified"].clone();
    let expected = json!({
        "total": 1,
        "hits": [{
            "path": "projects/heat pump.md",
            "title": "Heat pump",
            "headings": ["House", "Heating", "Offers"],
            "anchor": "offers",
            "lines": [12, 14],
            "snippet": "the mild one",
            "matches": [[4, 5]],
            "tags": ["house"],
            "modified": modified,
            "modified_from": "frontmatter",
            "score": 12.346,
        }],
        "interpreted": "heat AND pump",
        // L28: which arms ran.
        "semantic": "off: no model",
    });
    assert_eq!(structure(&result), &expected);
    let content = serde_json::to_value(&result.content).unwrap();
    assert_eq!(content[1]["type"], "resource_link");
    assert_eq!(content[1]["uri"], "vault://notes/projects/heat%20pump.md");
    let text = content[0]["text"].as_str().unwrap();
    let line = "1. Heat pump | projects/heat pump.md:12-14 | House > Heating > Offers | 2026-03-1";
    assert!(text.starts_with("1 note matches (heat AND pump).\n"), "{text}");
    assert!(text.contains(line), "{text}");
    assert!(text.contains("#house\n   the mild one\n"), "{text}");
}

/// L61: ten hits stay under 8,000 bytes, whatever they hold, and none is dropped while
/// its snippet can be shortened.
#[test]
fn a_default_answer_stays_under_eight_thousand_bytes() {
    let long = "words of a text with many words in it, ".repeat(20);
    let rows = [
        (many(10, "notes/short", "Short", "a match"), 10),
        (many(10, "projects/house/heating/offers-of-2026", "The offers of the year", &long), 10),
        (many(10, "p/ü", &"T".repeat(500), &"ü\"\\\n".repeat(200)), 10),
        (many(10, &"知識/暖房".repeat(4), "暖房の見積もり", &"熱ポンプ".repeat(90)), 1),
        (many(10, &"a/".repeat(200), "Deep", &long), 1),
    ];
    for (number, (hits, least)) in rows.into_iter().enumerate() {
        let result = fitting("", &results(hits, 40), DEFAULT_BYTES, |_| Some("c".repeat(400)));
        let bytes = length(&result) + ENVELOPE;
        assert!(bytes < 8_000, "row {number}: {bytes}");
        assert!(shown(&result) >= least, "row {number}: {}", shown(&result));
        assert_eq!(structure(&result)["next_cursor"].as_str().unwrap().len(), 400);
        // Where paths are long, only the first ones have a link, which says the path again.
        let links = result.content.len() - 1;
        let (all, first) = (shown(&result), shown(&result).min(3));
        assert!(links == all || number > 0 && links == first, "row {number}: {links}");
    }
}

/// Long paths leave little room. What is left goes to the first hits.
#[test]
fn the_first_hits_have_the_longest_snippets() {
    let long = "words of a text with many words in it, ".repeat(20);
    let path = "02 - Community Expansions/02.05 All Community Expansions/Plugins/a-plugin";
    let result = fitting(
        "",
        &results(many(10, path, "A plugin of the community", &long), 40),
        DEFAULT_BYTES,
        |_| Some("c".repeat(200)),
    );
    let hits = structure(&result)["hits"].as_array().unwrap();
    let lengths: Vec<usize> =
        hits.iter().map(|hit| hit["snippet"].as_str().unwrap().chars().count()).collect();
    assert_eq!(lengths.len(), 10);
    // They end between words.
    assert!(lengths[2] >= 110 && lengths[9] >= 55, "{lengths:?}");
}

/// L61: larger answers have a cap, and a cursor for the rest.
#[test]
fn a_large_answer_is_cut_with_a_cursor_behind_what_it_shows() {
    let long = "words of a text with many words in it, ".repeat(20);
    let hits = many(100, "projects/house/heating/offers-of-2026", "The offers", &long);
    let asked = std::cell::Cell::new(0);
    let result = fitting("", &results(hits, 100), MOST_BYTES, |shown| {
        asked.set(shown);
        Some("cursor".to_owned())
    });
    assert!(length(&result) <= MOST_BYTES);
    assert_eq!(asked.get(), shown(&result));
    assert!((20..100).contains(&asked.get()), "{}", asked.get());
    assert_eq!(structure(&result)["next_cursor"], "cursor");
}

#[test]
fn where_no_cursor_goes_on_the_text_says_what_does() {
    let result = fitting("", &results(many(2, "a", "A", "m"), 9), DEFAULT_BYTES, |_| None);
    assert!(structure(&result)["next_cursor"].is_null());
    let text = serde_json::to_value(&result.content[0]).unwrap()["text"].to_string();
    assert!(text.contains("make the query narrower"), "{text}");
}

#[test]
fn how_a_query_was_read_is_told_but_not_at_any_length() {
    let mut found = results(Vec::new(), 0);
    found.reading.interpreted = "x".repeat(4_096);
    found.reading.ignored = vec!["the".to_owned(); 500];
    found.reading.corrected = vec![("plumer".to_owned(), "plumber".to_owned()); 100];
    let result = fitting("", &found, DEFAULT_BYTES, |_| None);
    assert!(length(&result) < 5_000, "{}", length(&result));
    let text = serde_json::to_value(&result.content[0]).unwrap()["text"].to_string();
    assert!(text.starts_with("\"No note matches (xxx"), "{text}");
    assert!(text.contains("; ignored: the the "), "{text}");
    assert!(text.contains("; no note has plumer, searched for plumber"), "{text}");
}

/// L29: a passage is cut between characters, and its matches move with it.
#[test]
fn matches_stay_where_they_are_when_a_passage_is_cut() {
    let text = format!("{}härte🍅 {}", "vor ".repeat(60), "nach ".repeat(60));
    let start = 240;
    let passage =
        Passage { text, matches: iter::once(start..start + 6).collect(), ..Passage::default() };
    for most in [6, 10, 40, 200, 480, 600] {
        let (cut, matches) = cut(&passage, most);
        let characters: Vec<char> = cut.chars().collect();
        assert!(characters.len() <= most + 2, "{most}");
        let [found] = &*matches else { panic!("{most}: {matches:?}") };
        let word: String = characters[found.clone()].iter().collect();
        assert_eq!(word, "härte🍅", "{most}: {cut}");
    }
    let (text, matches) = cut(&Passage::default(), 10);
    assert!(text.is_empty() && matches.is_empty());
}

/// A title cannot pass for a line of ours.
#[test]
fn single_lines_have_no_control_characters() {
    assert_eq!(single_line("a\r\n# b\u{0}\u{1b}[31m\u{2028}c\u{202e}d \t e"), "a # b [31m c d e");
    assert_eq!(shortened("äöü", 2), "äö…");
    assert_eq!(shortened("äö", 2), "äö");
    let nasty = note("a.md", "T\n2. Forged | b.md\u{7}", &["x\ny"]);
    let line = crate::mcp::render::notes::line(&nasty);
    assert!(!line.contains('\n') && !line.contains('\u{7}'), "{line}");
}

#[test]
fn metadata_has_everything_but_the_text_and_ends_somewhere() {
    let mut note = opened("# A\n", &[(1, "A", "a", 1, 1)]);
    let values = &mut note.parsed.frontmatter.values;
    values.insert("created".to_owned(), json!("2026-03-14"));
    values.insert("big".to_owned(), json!("x".repeat(10_000)));
    values.insert("nothing".to_owned(), Value::Null);
    note.parsed.frontmatter.error = Some("line 3: a tab".to_owned());
    let answer = serde_json::to_value(MetadataAnswer::of(&note)).unwrap();
    assert_eq!(answer["frontmatter"], json!({ "created": "2026-03-14", "nothing": null }));
    assert_eq!(answer["left_out"], json!(["1 entries of the frontmatter"]));
    assert_eq!(answer["frontmatter_error"], "line 3: a tab");
    assert_eq!(answer["class"], "ordinary");
    assert_eq!(answer["path"], "a/note.md");
    assert_eq!(answer["headings"][0]["lines"], json!([1, 1]));
}

#[test]
fn links_are_told_with_their_lines() {
    let forward = |target: &str, note: Option<&str>| ForwardLink {
        kind: LinkKind::Wiki,
        target: target.to_owned(),
        text: target.to_owned(),
        anchor: Some("h".to_owned()),
        line: 3,
        note: note.map(|path| path.parse().unwrap()),
    };
    let forward = vec![forward("Pump", Some("a/Pump.md")), forward("Nowhere", None)];
    let answer = LinksAnswer::of(&NoteLinks { forward, back: Vec::new() }, None).0;
    let expected = "0 links to it\n2 links from it\n- line 3: Pump#h -> a/Pump.md\n\
        - line 3: Nowhere#h";
    assert_eq!(answer.as_text(), expected);
    assert!(serde_json::to_value(&answer).unwrap()["links"][1]["note"].is_null());
}

/// L61: a hub with a thousand links to it is no larger answer than others.
#[test]
fn links_of_a_hub_are_cut() {
    let back = |number: u32| Backlink {
        path: format!("notes/of/some/folder/note-{number}.md").parse().unwrap(),
        title: "A note with a link".to_owned(),
        line: number,
        context: "words around [[Hub]] ".repeat(10),
    };
    let mut back: Vec<Backlink> = (0..1_000).map(back).collect();
    back.sort_by(|one, other| one.path.cmp(&other.path));
    let links = NoteLinks { forward: Vec::new(), back };
    let (mut seen, mut place) = (0, None);
    loop {
        let (answer, next) = LinksAnswer::of(&links, place.as_ref());
        let result = crate::mcp::tools::answer(&answer, answer.as_text());
        let bytes = length(&result) + ENVELOPE;
        assert!(bytes < 8_000, "{bytes}");
        let shown = structure(&result)["backlinks"].as_array().unwrap();
        assert!(shown.len() >= 5, "{}", shown.len());
        let first = links.back[seen].line;
        assert_eq!(shown[0]["line"], first);
        let part = format!("1000 links to it, {}", if seen == 0 { "the first" } else { "" });
        assert!(answer.as_text().starts_with(&part), "{}", answer.as_text());
        seen += shown.len();
        place = next;
        if place.is_none() {
            break;
        }
    }
    assert_eq!(seen, 1_000);
}

#[test]
fn related_notes_say_why() {
    let reasons = vec![
        Relation::Links,
        Relation::SharedTag("house".to_owned()),
        Relation::SharedLink("hub.md".parse().unwrap()),
        Relation::SharedWords(vec!["sole".to_owned(), "brine".to_owned()]),
    ];
    let related = [RelatedNote { note: note("a.md", "A", &[]), score: 0.5, reasons }];
    let text = find_related_notes::as_text(&related);
    let why = "one links to the other; both have #house; both have to do with hub.md; \
        both use sole, brine";
    assert!(text.ends_with(why), "{text}");
}

#[test]
fn stats_name_what_is_not_searched_and_why() {
    let stats = VaultStats {
        notes: 3,
        inbox_notes: 1,
        bytes: 99,
        folders: vec![("a".to_owned(), 2), (String::new(), 1)],
        top_tags: vec![TagCount { tag: "x".to_owned(), notes: 2 }],
        tags: 1,
        links: (4, 1),
        orphans: 1,
        invalid_frontmatter: 0,
        health: IndexHealth {
            files: 5,
            indexed: 4,
            skipped: vec![("b.md".parse().unwrap(), SkipReason::NotDownloaded)],
            conflict_copies: Vec::new(),
            last_change: None,
            lag_milliseconds: None,
            watching: Some(Watching::Polling("no inotify watches are left".to_owned())),
            time_zone: "Europe/Berlin".to_owned(),
        },
    };
    let text = vault_stats::as_text(&stats);
    let expected = "3 notes, 1 in the inbox; 5 links, 1 of them broken; 1 note without links.\n\
        - a: 2\n- (no folder): 1\n1 tag: #x\nIndexed 4 of 5 files.\n\
        - not b.md: it is not downloaded to this machine\n\
        Changes are found by polling: no inotify watches are left";
    assert_eq!(text, expected);
    let answer = serde_json::to_value(vault_stats::StatsAnswer::of(&stats)).unwrap();
    assert_eq!(answer["index"]["watching"], "polling: no inotify watches are left");
    assert_eq!(answer["broken_links"], 1);
    assert!(answer["index"]["lag_ms"].is_null());
}
