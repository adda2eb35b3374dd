//! No answer is larger than clients take (L61), whatever the vault holds.

use std::fs;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use rmcp::model::GetPromptRequestParams;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::{tool_request, viewer};
use crate::clock::Clock;
use crate::contract::scope::ScopeSet;
use crate::entropy::Entropy;
use crate::mcp::service::McpServer;
use crate::mcp::toolset::Toolset;
use crate::mcp::vaults::Vaults;
use crate::resource_server::verify::VerifiedToken;
use crate::vault::{Settings, Vault};

/// A server over a vault with a book in it, and a hub that a hundred notes with long
/// names link to.
fn library(toolsets: &[Toolset]) -> (McpServer, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("book.md"), book()).unwrap();
    fs::write(folder.path().join("line.md"), "word ".repeat(20_000)).unwrap();
    fs::write(folder.path().join("short.md"), "a\n".repeat(50_000)).unwrap();
    fs::write(folder.path().join("odd.md"), "\u{1}\"\\".repeat(20_000)).unwrap();
    fs::write(folder.path().join("heads.md"), heads()).unwrap();
    fs::write(folder.path().join("long.md"), long()).unwrap();
    let links: Vec<String> = (0..100).map(|number| format!("[[{}]]\n", name(number))).collect();
    fs::write(folder.path().join("hub.md"), format!("# Hub\n\n{}", links.concat())).unwrap();
    for number in 0..100 {
        let text = format!("# A note with a long title {number}\n\nOne line leads to [[hub]].\n");
        let text = format!("{text}\n{}", "heat pump and other words ".repeat(40));
        fs::write(folder.path().join(format!("{}.md", name(number))), text).unwrap();
    }
    let vault = Vault::open(Settings::of(folder.path()), Clock::system()).expect("a vault");
    let toolsets = toolsets.iter().copied().collect();
    (McpServer::new(Vaults::single(vault), toolsets, Entropy::seeded(1)), folder)
}

fn book() -> String {
    "A line of a book with a \"quotation\" in it, and a few more words.\n".repeat(4_000)
}

/// A note with long headings.
fn heads() -> String {
    let note = |number| format!("# {number} {}\n\ntext\n", "\u{754c}".repeat(100));
    (0..80).map(note).collect::<Vec<_>>().concat()
}

/// A note with lines that no answer can hold.
fn long() -> String {
    format!("first\n{}\nlast but one\n{}", "\u{754c}\" ".repeat(30_000), "end ".repeat(20_000))
}

fn name(number: usize) -> String {
    format!("a note with rather a long name, as people write them who like names {number}")
}

/// What a tool answers to the owner, as bytes.
async fn called(server: &McpServer, tool: &str, arguments: Value) -> String {
    let mut request = tool_request(tool, &arguments);
    request.extensions_mut().insert(VerifiedToken::unsigned("ann", "client", ScopeSet::ALL));
    let response = server.clone().into_http(Arc::default()).oneshot(request).await.unwrap();
    let body = to_bytes(Body::new(response.into_body()), usize::MAX).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

fn structure(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["structuredContent"].clone()
}

#[tokio::test]
async fn no_tool_answers_more_than_clients_take() {
    let (server, _folder) = library(&Toolset::ALL);
    let hub = json!({ "path": "hub.md" });
    let rows = [
        ("search", json!({ "query": "heat pump" }), 8_000),
        ("search", json!({ "query": "heat pump", "limit": 50 }), 25_000),
        ("search_notes", json!({ "query": "heat pump" }), 8_000),
        ("search_notes", json!({ "query": "heat pump", "limit": 100 }), 25_000),
        ("read_page", json!({ "path": "book.md" }), 48_000),
        ("read_page", json!({ "path": "line.md" }), 48_000),
        ("read_page", json!({ "path": "short.md" }), 48_000),
        ("read_page", json!({ "path": "odd.md" }), 48_000),
        ("fetch", json!({ "id": "book.md" }), 48_000),
        ("fetch", json!({ "id": "short.md" }), 48_000),
        ("fetch", json!({ "id": "odd.md" }), 48_000),
        ("read_note", json!({ "path": "book.md", "max_chars": 36_000 }), 48_000),
        ("read_note", json!({ "path": "short.md", "max_chars": 36_000 }), 48_000),
        ("read_note", json!({ "path": "heads.md", "max_chars": 36_000 }), 48_000),
        ("read_note", json!({ "paths": ["heads.md", "odd.md"], "max_chars": 36_000 }), 48_000),
        ("read_note", json!({ "path": "book.md" }), 25_000),
        ("list_notes", json!({}), 25_000),
        ("get_backlinks", hub.clone(), 8_000),
        ("get_note_metadata", hub.clone(), 25_000),
        ("find_related_notes", hub, 25_000),
        ("list_tags", json!({}), 8_000),
        ("vault_stats", json!({}), 8_000),
    ];
    for (tool, arguments, most) in rows {
        let answer = called(&server, tool, arguments.clone()).await;
        assert!(answer.len() <= most, "{tool} {arguments}: {}", answer.len());
        let _ = structure(&answer);
    }
}

/// Whoever follows what an answer says of the rest has read all of it.
#[tokio::test]
async fn what_is_left_out_can_be_read_all_the_same() {
    let (server, _folder) = library(&[Toolset::Pages, Toolset::Notes]);
    for (tool, name) in [("path", "book.md"), ("path", "long.md"), ("paths", "long.md")] {
        let read_note = tool == "paths";
        let mut text = String::new();
        let (mut line, mut character) = (1, 0);
        while line > 0 {
            let arguments = json!({ tool: name, "start_line": line, "start_char": character });
            let tool = if read_note { "read_note" } else { "read_page" };
            let page = structure(&called(&server, tool, arguments).await);
            let page = if read_note { page["notes"][0].clone() } else { page };
            text.push_str(page["content"].as_str().unwrap());
            line = page["next_start_line"].as_u64().unwrap_or_default();
            character = page["next_start_char"].as_u64().unwrap_or_default();
            let within =
                if character > 0 { format!(", start_char {character}") } else { String::new() };
            let left_out = page["left_out"].as_str().unwrap_or_default();
            let says_how = left_out.ends_with(&format!("go on with start_line {line}{within}."));
            assert!(line == 0 && left_out.is_empty() || says_how, "{left_out}");
        }
        assert!(text == if name == "long.md" { long() } else { book() }, "{name}");
    }

    let (mut links, mut cursor) = (0, String::new());
    loop {
        let arguments = json!({ "path": "hub.md", "cursor": cursor });
        let page = structure(&called(&server, "get_backlinks", arguments).await);
        assert_eq!(page["total_backlinks"], 100);
        links += page["backlinks"].as_array().unwrap().len();
        cursor = page["next_cursor"].as_str().unwrap_or_default().to_owned();
        if cursor.is_empty() {
            break;
        }
    }
    assert_eq!(links, 100);
}

#[tokio::test]
async fn resources_and_prompts_end_somewhere() {
    let (server, _folder) = library(&[Toolset::Pages, Toolset::Notes]);
    let read = server.resource(&viewer("ann"), "vault://notes/book.md").await.unwrap();
    let read = serde_json::to_value(&read).unwrap();
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!((240_000..257_000).contains(&text.len()), "{}", text.len());
    let end = text.lines().last().unwrap();
    assert!(end.starts_with("[Lines ") && end.contains("read_note goes on with"), "{end}");
    let small = server.resource(&viewer("ann"), "vault://notes/hub.md").await.unwrap();
    let small = serde_json::to_value(&small).unwrap();
    assert!(!small["contents"][0]["text"].as_str().unwrap().contains("left out"));

    let mut request = GetPromptRequestParams::new("find_connections");
    let arguments = json!({ "note_path": "hub.md" });
    request.arguments = arguments.as_object().cloned();
    let prompt = server.prompt(&viewer("ann"), request).await.unwrap();
    let bytes = serde_json::to_string(&prompt).unwrap().len();
    assert!(bytes < 8_000, "{bytes}");
}

/// A note that is named several times in one request is read once.
#[tokio::test]
async fn a_note_is_read_once_in_a_request() {
    let (server, _folder) = library(&Toolset::ALL);
    let mut paths = vec!["book.md", " book.md ", "vault://notes/book.md"];
    paths.extend(["hub.md"; 30]);
    paths.push("line.md");
    let read = called(&server, "read_note", json!({ "path": "book.md", "paths": paths })).await;
    let notes = structure(&read)["notes"].clone();
    let read: Vec<&str> =
        notes.as_array().unwrap().iter().map(|note| note["path"].as_str().unwrap()).collect();
    assert_eq!(read, ["book.md", "hub.md", "line.md"]);
}

/// What `call` says when it refuses.
fn refused(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

/// What is no order is said so, with those that there are.
#[tokio::test]
async fn an_order_that_there_is_not_is_refused() {
    let (server, _folder) = library(&Toolset::ALL);
    let text = refused(&called(&server, "list_notes", json!({ "sort": "bogus" })).await);
    assert_eq!(text, "There is no such order. sort is path, title, newest or oldest.");
    for sort in ["", "path", "Title", "newest", "modified", "oldest"] {
        let _ = structure(&called(&server, "list_notes", json!({ "sort": sort })).await);
    }
}

/// A folder without a visible note is told in words that do not say whether it exists.
#[tokio::test]
async fn a_folder_without_notes_is_told_in_the_same_words_whether_it_exists() {
    let (server, folder) = library(&Toolset::ALL);
    fs::create_dir_all(folder.path().join("empty")).unwrap();
    fs::create_dir_all(folder.path().join("Trips/Rome")).unwrap();
    fs::write(folder.path().join("Trips/Rome/plan.md"), "# Plan\n").unwrap();
    for folder in ["nope", "empty"] {
        let answer = called(&server, "list_notes", json!({ "folder": folder })).await;
        assert_eq!(structure(&answer)["total"], 0);
        assert!(answer.contains("0 notes. No visible note is under this folder."), "{answer}");
    }
    for folder in ["Trips", "trips", "/TRIPS/rome/"] {
        let answer = called(&server, "list_notes", json!({ "folder": folder })).await;
        assert_eq!(structure(&answer)["total"], 1, "{folder}: {answer}");
    }
    let flat = called(&server, "list_notes", json!({ "folder": "trips", "recursive": false }));
    let flat = flat.await;
    assert!(flat.contains("0 notes. No visible note is directly in this folder."), "{flat}");
}

/// Arguments that do not fit are answered in our own words.
#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_in_plain_words() {
    let (server, _folder) = library(&Toolset::ALL);
    let rows = [
        ("read_note", json!({ "path": 5 }), "5 is no text."),
        ("read_note", json!({ "path": "a.md", "start_line": "x" }), "\"x\" is no whole number."),
        ("search_by_tag", json!({}), "missing field `tag`."),
    ];
    for (tool, arguments, why) in rows {
        let text = refused(&called(&server, tool, arguments).await);
        assert_eq!(text, format!("The arguments do not fit {tool}: {why}"));
    }
}

/// L36: a tag can be asked for as the answers write it, blanks included.
#[tokio::test]
async fn tags_can_be_used_as_they_are_shown() {
    let (server, folder) = library(&Toolset::ALL);
    let text = "---\ntags: [Nested Folder, plain]\n---\n# Tagged\n";
    fs::write(folder.path().join("tagged.md"), text).unwrap();
    let shown = called(&server, "search_notes", json!({ "query": "tagged" })).await;
    assert!(shown.contains("tag:\\\"Nested Folder\\\" #plain"), "{shown}");
    for tag in ["tag:\"Nested Folder\"", "\"Nested Folder\"", "Nested Folder", "tag:plain"] {
        let found = structure(&called(&server, "search_by_tag", json!({ "tag": tag })).await);
        assert_eq!(found["total"], 1, "{tag}");
    }
    let query = json!({ "query": "tag:\"Nested Folder\"" });
    assert_eq!(structure(&called(&server, "search_notes", query).await)["total"], 1);
}
