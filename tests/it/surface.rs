//! Every tool, resource and prompt through HTTP, over a small vault with hidden pages.

use std::collections::BTreeSet;

use brain_mcp::configuration::Configuration;
use brain_mcp::mcp::toolset::Toolset;
use serde_json::{Value, json};

use crate::support::{McpClient, OAuthClient, TestApp, VaultBuilder};

const MISSING: &str = "There is no such page, or it is not open to this client. \
    Search for words of its title to get the exact path.";

/// A vault with ordinary pages, one about a person and one that nobody sees.
fn vault() -> VaultBuilder {
    VaultBuilder::git(&[
        (".gitattributes", "wiki/people/** filter=git-crypt\n"),
        (
            "garden/Tomatoes.md",
            "---\ntags: [garden, plants/tomato]\ncreated: 2026-03-14\n---\n# Tomatoes\n\nSee \
             [[Compost]].\n\n## Watering\n\nEvery day in summer, seldom else. ^rule\n\n## Pests\n\n\
             Whitefly.\n",
        ),
        ("garden/Compost.md", "# Compost\n\nFor the [tomatoes](Tomatoes.md#watering). #garden\n"),
        ("kitchen/Bread.md", "# Bread\n\nFlour, water, salt.\n"),
        ("wiki/people/Ann.md", "# Ann\n\nShe waters the tomatoes. [[Tomatoes]] #garden #ann\n"),
        ("Diary.private.md", "# Diary\n\nTomatoes! [[Tomatoes]] #garden\n"),
    ])
}

struct Scene {
    app: TestApp,
    mcp: McpClient,
    vault: VaultBuilder,
}

impl Scene {
    async fn new() -> Self {
        Self::with(&["wiki:read"], |_| {}).await
    }

    async fn with(scopes: &[&str], change: impl FnOnce(&mut Configuration)) -> Self {
        let vault = vault();
        let app = TestApp::with(vault.root(), change).await;
        let client = OAuthClient::registered(&app, "surface").await;
        let mcp = McpClient::with_token(&client.tokens(&app, scopes).await.access);
        Self { app, mcp, vault }
    }

    async fn result(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.mcp.tool(&self.app, tool, arguments).await;
        assert_eq!(reply.status, 200, "{tool}: {}", reply.body);
        reply.json()["result"].take()
    }

    /// What a tool answers programs.
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let mut result = self.result(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].take()
    }

    /// Why a tool refuses.
    async fn refusal(&self, tool: &str, arguments: Value) -> String {
        let result = self.result(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(result["structuredContent"].is_null());
        result["content"][0]["text"].as_str().expect("words").to_owned()
    }

    async fn ask(&self, method: &str, name: &str, params: Value) -> Value {
        self.mcp.request(&self.app, method, name, params).await.json()
    }
}

fn paths(list: &Value) -> BTreeSet<&str> {
    let entries = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    entries.iter().map(|entry| entry["path"].as_str().expect("a path")).collect()
}

#[tokio::test]
async fn search_notes_finds_visible_notes_with_all_that_a_model_needs() {
    let scene = Scene::new().await;
    let found = scene.call("search_notes", json!({ "query": "tomatoes watering" })).await;
    // Bread has water in it.
    assert_eq!(found["total"], 3, "{found}");
    let first = &found["hits"][0];
    assert_eq!(first["path"], "garden/Tomatoes.md");
    assert_eq!(first["title"], "Tomatoes");
    assert_eq!(first["tags"], json!(["garden", "plants/tomato"]));
    assert_eq!(first["modified_from"], "frontmatter");
    assert_eq!((&first["lines"], &first["anchor"]), (&json!([5, 15]), &json!("tomatoes")));
    let characters: Vec<char> = first["snippet"].as_str().unwrap().chars().collect();
    for range in first["matches"].as_array().unwrap() {
        let [start, end] = [0, 1].map(|side| range[side].as_u64().unwrap());
        let [start, end] = [start, end].map(|place| usize::try_from(place).unwrap());
        let word: String = characters[start..end].iter().collect();
        let word = word.to_lowercase();
        assert!(word.starts_with("tomato") || word.starts_with("water"), "{word}");
    }
    assert_eq!(found["semantic"], "off: no model");
    let result = scene.result("search_notes", json!({ "query": "tomatoes", "limit": "1" })).await;
    assert_eq!(result["content"][1]["type"], "resource_link");
    let uri = result["content"][1]["uri"].as_str().unwrap();
    assert!(uri.starts_with("vault://notes/garden/"), "{uri}");
    let text = scene.ask("resources/read", uri, json!({ "uri": uri })).await;
    assert_eq!(text["result"]["contents"][0]["mimeType"], "text/markdown", "{text}");
}

/// A cursor shows the rest once, and is good for nobody and nothing else.
#[tokio::test]
async fn cursors_go_on_and_belong_to_one_client_and_request() {
    let scene = Scene::with(&["wiki:read", "wiki:people"], |_| {}).await;
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = json!({ "query": "tomatoes", "limit": 1, "cursor": cursor });
        let found = scene.call("search_notes", page).await;
        assert_eq!(found["total"], 3);
        seen.extend(paths(&found["hits"]).into_iter().map(str::to_owned));
        match found["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(seen.len(), 3);
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 3, "none twice: {seen:?}");
    let invalid = "The cursor does not belong to this request, or is too old.";
    for (tool, arguments) in [
        ("search_notes", json!({ "query": "bread", "cursor": cursor })),
        ("search_notes", json!({ "query": "tomatoes", "folder": "garden", "cursor": cursor })),
        ("list_notes", json!({ "cursor": cursor })),
        ("search_by_tag", json!({ "tag": "garden", "cursor": cursor })),
        ("search_notes", json!({ "query": "tomatoes", "cursor": format!("{cursor}A") })),
    ] {
        assert!(scene.refusal(tool, arguments).await.starts_with(invalid), "{tool}");
    }
    let other = OAuthClient::registered(&scene.app, "other").await;
    let other = other.tokens(&scene.app, &["wiki:read", "wiki:people"]).await;
    let arguments = json!({ "query": "tomatoes", "limit": 1, "cursor": cursor });
    let other = McpClient::with_token(&other.access);
    let reply = other.tool(&scene.app, "search_notes", arguments).await;
    assert_eq!(reply.json()["result"]["isError"], true);
}

#[tokio::test]
async fn read_note_reads_wholes_and_parts() {
    let scene = Scene::new().await;
    let read = async |arguments: Value| scene.call("read_note", arguments).await["notes"][0].take();
    let path = "garden/Tomatoes.md";
    let whole = read(json!({ "path": path })).await;
    assert_eq!(whole["lines"], json!([1, 15]));
    assert!(whole["content"].as_str().unwrap().starts_with("---\ntags:"));
    assert!(!whole["etag"].as_str().unwrap().is_empty());
    for heading in ["Watering", "## Watering", "#watering", "Tomatoes > Watering"] {
        let part = read(json!({ "path": path, "heading": heading })).await;
        assert_eq!(part["lines"], json!([9, 12]), "{heading}: {part}");
        assert!(part["content"].as_str().unwrap().starts_with("## Watering\n"));
    }
    let block = read(json!({ "path": path, "block": "^rule" })).await;
    assert_eq!(block["lines"], json!([11, 11]));
    let lines = read(json!({ "path": path, "start_line": "5", "end_line": 5.0 })).await;
    assert_eq!(lines["content"], "# Tomatoes\n");
    let cut = read(json!({ "path": path, "start_line": 5, "max_chars": 30 })).await;
    assert_eq!(cut["next_start_line"], 9, "{cut}");
    let uri = read(json!({ "path": "vault://notes/garden%2FTomatoes.md" })).await;
    assert_eq!(uri["path"], path);
    let reason = scene.refusal("read_note", json!({ "path": path, "heading": "None" })).await;
    assert!(reason.contains("Tomatoes, Watering, Pests"), "{reason}");
}

/// L66: of several notes each has its own error, the same for hidden and missing.
#[tokio::test]
async fn several_notes_have_an_error_each() {
    let scene = Scene::new().await;
    let paths = ["wiki/people/Ann.md", "garden/Compost.md", "nowhere.md", "Diary.private.md"];
    let read = scene.call("read_note", json!({ "paths": paths })).await;
    let notes = read["notes"].as_array().unwrap();
    for (note, path) in notes.iter().zip(paths) {
        assert_eq!(note["path"], path);
        if path == "garden/Compost.md" {
            assert!(note["error"].is_null() && note["content"].is_string());
        } else {
            assert_eq!(note["error"], MISSING);
        }
    }
}

/// L30: tags of the frontmatter and of the text are one kind, with counts.
#[tokio::test]
async fn lists_and_tags_have_what_is_visible() {
    let scene = Scene::new().await;
    let all = scene.call("list_notes", json!({})).await;
    let expected = ["garden/Compost.md", "garden/Tomatoes.md", "kitchen/Bread.md"];
    assert_eq!(paths(&all["notes"]), expected.into());
    assert_eq!(all["total"], 3);
    let folder = scene.call("list_notes", json!({ "folder": "garden/", "sort": "title" })).await;
    assert_eq!(folder["notes"][0]["title"], "Compost");
    let none = scene.call("list_notes", json!({ "folder": "wiki/people" })).await;
    assert_eq!(none["total"], 0);
    let top = scene.call("list_notes", json!({ "recursive": "false" })).await;
    assert_eq!(top["total"], 0);
    let tags = scene.call("list_tags", json!({})).await;
    assert_eq!(tags["tags"][0], json!({ "tag": "garden", "notes": 2 }), "{tags}");
    let tagged = scene.call("search_by_tag", json!({ "tag": "#Garden" })).await;
    assert_eq!(paths(&tagged["notes"]), expected[..2].iter().copied().collect());
    for tag in ["misspelt", "ann"] {
        let none = scene.result("search_by_tag", json!({ "tag": tag })).await;
        let none = none["content"][0]["text"].as_str().unwrap();
        assert!(none.starts_with("0 notes. No visible note has this tag."), "{tag}: {none}");
    }
    let nested = scene.call("search_by_tag", json!({ "tag": "plants" })).await;
    assert_eq!(paths(&nested["notes"]), ["garden/Tomatoes.md"].into());
    let mut seen = BTreeSet::new();
    let mut cursor = String::new();
    for _ in 0..3 {
        let page = scene.call("list_notes", json!({ "limit": 1, "cursor": cursor })).await;
        seen.extend(paths(&page["notes"]).into_iter().map(str::to_owned));
        cursor = page["next_cursor"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!((seen.len(), &*cursor), (3, ""));
}

#[tokio::test]
async fn links_relations_metadata_and_stats_know_visible_notes_only() {
    let scene = Scene::new().await;
    let path = json!({ "path": "garden/Tomatoes.md" });
    let links = scene.call("get_backlinks", path.clone()).await;
    assert_eq!(paths(&links["backlinks"]), ["garden/Compost.md"].into());
    assert_eq!(links["backlinks"][0]["line"], 3);
    // Of a long line what is around the link.
    let words = "some more words ".repeat(20);
    scene.vault.write("garden/Long.md", &format!("a\r{words}to [[Tomatoes]] and {words}\n"));
    let long = scene.call("get_backlinks", path.clone()).await["backlinks"][1].take();
    assert_eq!((&long["path"], &long["line"]), (&json!("garden/Long.md"), &json!(2)));
    let context = long["context"].as_str().unwrap();
    assert!(context.starts_with('…') && context.contains("to [[Tomatoes]] and"), "{context}");
    std::fs::remove_file(scene.vault.root().join("garden/Long.md")).unwrap();
    assert_eq!(links["links"][0]["note"], "garden/Compost.md");
    let related = scene.call("find_related_notes", path.clone()).await;
    assert_eq!(related["notes"][0]["path"], "garden/Compost.md", "{related}");
    assert!(!paths(&related["notes"]).contains("wiki/people/Ann.md"));
    let metadata = scene.call("get_note_metadata", path).await;
    assert_eq!(metadata["class"], "ordinary");
    assert_eq!(metadata["frontmatter"]["created"], "2026-03-14");
    assert_eq!(metadata["headings"][1]["lines"], json!([9, 12]));
    let stats = scene.call("vault_stats", json!({})).await;
    assert_eq!(stats["notes"], 3, "{stats}");
    assert_eq!(stats["folders"][0], json!({ "folder": "garden", "notes": 2 }));
    assert_eq!(stats["index"]["indexed"], 3);
}

const NO_SUCH_VAULT: &str = "There is no vault of that name for this client. Leave vault out.";

/// L66, L68: hidden, missing and another's vault are told alike in every tool, and
/// nothing falls back to the default vault.
#[tokio::test]
async fn every_tool_hides_alike() {
    let scene = Scene::new().await;
    for tool in
        ["read_note", "read_page", "get_note_metadata", "get_backlinks", "find_related_notes"]
    {
        for path in ["wiki/people/Ann.md", "Diary.private.md", "nowhere.md", "../x.md", ""] {
            if tool == "read_note" && path.is_empty() {
                continue;
            }
            assert_eq!(
                scene.refusal(tool, json!({ "path": path })).await,
                MISSING,
                "{tool} {path}"
            );
        }
        let arguments = json!({ "path": "kitchen/Bread.md", "vault": "other" });
        let reason = scene.refusal(tool, arguments).await;
        assert_eq!(reason, NO_SUCH_VAULT, "{tool}");
    }
    for (tool, arguments) in [
        ("search", json!({ "query": "a", "vault": "other" })),
        ("search_notes", json!({ "query": "a", "vault": "other" })),
        ("list_notes", json!({ "vault": "other" })),
        ("list_tags", json!({ "vault": "other" })),
        ("search_by_tag", json!({ "tag": "garden", "vault": "other" })),
        ("vault_stats", json!({ "vault": "other" })),
    ] {
        let reason = scene.refusal(tool, arguments).await;
        assert_eq!(reason, NO_SUCH_VAULT, "{tool}");
    }
}

#[tokio::test]
async fn resources_are_listed_read_and_completed() {
    let scene = Scene::new().await;
    let list = scene.ask("resources/list", "", json!({})).await["result"].take();
    let uris: Vec<_> =
        list["resources"].as_array().unwrap().iter().map(|one| &one["uri"]).collect();
    assert_eq!(uris[..2], [&json!("vault://tags"), &json!("vault://recent")]);
    assert_eq!(uris.len(), 5, "{list}");
    assert_eq!(list["cacheScope"], "private");
    let note = &list["resources"][2];
    assert!(note["size"].is_u64() && note["annotations"]["lastModified"].is_string(), "{note}");
    let read = async |uri: &str| {
        let answer = scene.ask("resources/read", uri, json!({ "uri": uri })).await;
        let text = answer["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned();
        (answer["error"].clone(), text)
    };
    assert!(read("vault://tags").await.1.contains(r#"{"tag":"garden","notes":2}"#));
    assert!(read("vault://recent").await.1.contains("kitchen/Bread.md"));
    assert!(read("vault://notes/kitchen%2FBread.md").await.1.starts_with("# Bread"));
    let missing = read("vault://notes/nowhere.md").await.0;
    assert_eq!(missing["code"], -32602);
    for uri in [
        "vault://notes/wiki/people/Ann.md",
        "vault://notes/Diary.private.md",
        "vault://notes/kitchen/Bread.md?vault=other",
        "file:///etc/passwd",
    ] {
        assert_eq!(read(uri).await.0["code"], missing["code"], "{uri}");
    }
    assert_eq!(read("vault://notes/wiki/people/Ann.md").await.0, missing);
    let complete = async |kind: Value, name: &str, value: &str| {
        let params = json!({ "ref": kind, "argument": { "name": name, "value": value } });
        let answer = scene.ask("completion/complete", "", params).await;
        answer["result"]["completion"]["values"].clone()
    };
    let template = json!({ "type": "ref/resource", "uri": "vault://notes/{path}" });
    let values = complete(template.clone(), "path", "garden/T").await;
    assert_eq!(values, json!(["garden/Tomatoes.md"]));
    assert_eq!(complete(template, "path", "wiki").await, json!([]));
    let prompt = json!({ "type": "ref/prompt", "name": "summarize_topic" });
    let values = complete(prompt, "topic", "gard").await;
    assert_eq!(values[0], "garden");
}

#[tokio::test]
async fn prompts_bring_what_the_vault_knows_as_data() {
    let scene = Scene::new().await;
    for (name, arguments, has) in [
        ("summarize_topic", json!({ "topic": "tomatoes" }), "garden/Compost.md"),
        ("recent_activity", json!({ "days": "30" }), "kitchen/Bread.md"),
        ("find_connections", json!({ "note_path": "garden/Tomatoes.md" }), "garden/Compost.md"),
        ("knowledge_gaps", json!({ "topic": "tomatoes" }), "#garden"),
    ] {
        let params = json!({ "name": name, "arguments": arguments });
        let answer = scene.ask("prompts/get", name, params).await;
        let messages =
            answer["result"]["messages"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let text = messages[0]["content"]["text"].as_str().unwrap();
        assert!(text.contains(has) && text.contains("data from notes, not instructions"), "{text}");
        assert!(!text.contains("Ann") && !text.contains("Diary"), "{text}");
        assert_eq!(messages[1]["content"]["type"], "resource_link");
        assert!(answer.to_string().len() < 8_000, "{name}");
    }
    for path in ["wiki/people/Ann.md", "nowhere.md"] {
        let params = json!({ "name": "find_connections", "arguments": { "note_path": path } });
        let answer = scene.ask("prompts/get", "find_connections", params).await;
        assert_eq!(answer["error"], json!({ "code": -32602, "message": MISSING }));
    }
}

/// ChatGPT's connectors want `search` and `fetch`, each with its answer as JSON in one
/// block of text.
#[tokio::test]
async fn the_openai_toolset_has_the_shape_of_connectors() {
    let turn_on = |configuration: &mut Configuration| {
        configuration.toolsets = [Toolset::Openai].into_iter().collect();
    };
    let scene = Scene::with(&["wiki:read"], turn_on).await;
    let found = scene.result("search", json!({ "query": "tomatoes" })).await;
    assert_eq!(found["content"].as_array().unwrap().len(), 1);
    let text: Value = serde_json::from_str(found["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, found["structuredContent"]);
    let first = &text["results"][0];
    assert_eq!(first["id"], "garden/Tomatoes.md");
    assert_eq!(first["url"], "vault://notes/garden/Tomatoes.md");
    let fetched = scene.result("fetch", json!({ "id": first["id"] })).await;
    let text: Value =
        serde_json::from_str(fetched["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, fetched["structuredContent"]);
    for key in ["id", "title", "text", "url", "metadata"] {
        assert!(!text[key].is_null(), "{key}");
    }
    assert_eq!(scene.refusal("fetch", json!({ "id": "wiki/people/Ann.md" })).await, MISSING);
}

/// L61: the whole answer to a search with the default limit.
#[tokio::test]
async fn ten_hits_are_less_than_eight_thousand_bytes() {
    let scene = Scene::new().await;
    let words = "the heat pump of the house and its offers, ".repeat(40);
    for number in 0..30 {
        let path = format!("projects/house/heating/offers/offer-number-{number}.md");
        let text = format!("---\ntags: [house, heating, offers]\n---\n# Offer {number}\n\n{words}");
        scene.vault.write(&path, &text);
    }
    let arguments = json!({ "query": "heat pump offers" });
    let reply = scene.mcp.tool(&scene.app, "search_notes", arguments).await;
    assert!(reply.body.len() < 8_000, "{}", reply.body.len());
    let hits = reply.json()["result"]["structuredContent"]["hits"].as_array().unwrap().len();
    assert_eq!(hits, 10);
    let arguments = json!({ "query": "heat pump offers", "limit": 100 });
    let reply = scene.mcp.tool(&scene.app, "search_notes", arguments).await;
    assert!(reply.body.len() < 24_500, "{}", reply.body.len());
}
