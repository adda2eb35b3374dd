//! Everything that can be asked of a vault, sensible and nasty, as requests to `/mcp`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// A request without its envelope.
#[derive(Clone, Debug)]
pub struct Question {
    /// The method.
    pub method: &'static str,
    /// The tool, prompt or resource that it is about; may be empty.
    pub name: String,
    /// The parameters.
    pub params: Value,
}

impl Question {
    /// A call of a tool.
    pub fn tool(name: &str, arguments: Value) -> Self {
        let params = json!({ "name": name, "arguments": arguments });
        Self { method: "tools/call", name: name.to_owned(), params }
    }

    fn bare(method: &'static str) -> Self {
        Self { method, name: String::new(), params: json!({}) }
    }

    fn resource(uri: &str) -> Self {
        Self { method: "resources/read", name: uri.to_owned(), params: json!({ "uri": uri }) }
    }

    fn prompt(name: &str, argument: &str, value: &str) -> Self {
        let params = json!({ "name": name, "arguments": { argument: value } });
        Self { method: "prompts/get", name: name.to_owned(), params }
    }

    fn completion(reference: &Value, argument: &str, value: &str) -> Self {
        let argument = json!({ "name": argument, "value": value });
        let params = json!({ "ref": reference, "argument": argument });
        Self { method: "completion/complete", name: String::new(), params }
    }

    /// The same, going on behind a cursor.
    pub fn after(&self, cursor: &str) -> Self {
        let mut next = self.clone();
        match self.method {
            "tools/call" => next.params["arguments"]["cursor"] = json!(cursor),
            _ => next.params["cursor"] = json!(cursor),
        }
        next
    }
}

/// What is asked about: pages by path, whether they exist or not, and words.
pub struct Topics<'a> {
    /// Pages.
    pub paths: &'a BTreeSet<String>,
    /// Words, and whatever else people type.
    pub queries: &'a [&'a str],
    /// Folders.
    pub folders: &'a [&'a str],
    /// Tags.
    pub tags: &'a [&'a str],
}

/// Every tool, resource, prompt and completion.
pub fn questions(topics: &Topics<'_>) -> Vec<Question> {
    let mut all: Vec<Question> =
        ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]
            .map(Question::bare)
            .into();
    for uri in ["vault://tags", "vault://recent", "vault://nothing", "vault://recent?vault=x"] {
        all.push(Question::resource(uri));
    }
    for arguments in [json!({}), json!({ "vault": "x" })] {
        all.push(Question::tool("vault_stats", arguments.clone()));
        all.push(Question::tool("list_tags", arguments.clone()));
        all.push(Question::tool("list_notes", arguments));
    }
    for days in ["", "1", "3650", "-1", "x"] {
        all.push(Question::prompt("recent_activity", "days", days));
    }
    for query in topics.queries {
        about_words(query, topics, &mut all);
    }
    for folder in topics.folders {
        for sort in ["path", "title", "newest", "oldest"] {
            let arguments = json!({ "folder": folder, "sort": sort, "limit": 2 });
            all.push(Question::tool("list_notes", arguments));
        }
        let arguments = json!({ "folder": folder, "recursive": false });
        all.push(Question::tool("list_notes", arguments));
        for query in topics.queries.iter().take(4) {
            let arguments = json!({ "query": query, "folder": folder });
            all.push(Question::tool("search_notes", arguments));
        }
    }
    for tag in topics.tags {
        for limit in [1, 50] {
            let arguments = json!({ "tag": tag, "limit": limit });
            all.push(Question::tool("search_by_tag", arguments));
        }
        all.push(Question::tool("list_tags", json!({ "prefix": tag })));
    }
    for path in topics.paths {
        about_page(path, &mut all);
    }
    let several: Vec<&String> = topics.paths.iter().take(20).collect();
    let arguments = json!({ "paths": several, "max_chars": 500 });
    all.push(Question::tool("read_note", arguments));
    all
}

fn about_words(query: &str, topics: &Topics<'_>, all: &mut Vec<Question>) {
    for limit in [1, 3, 50] {
        let arguments = json!({ "query": query, "limit": limit });
        all.push(Question::tool("search", arguments.clone()));
        all.push(Question::tool("search_notes", arguments));
    }
    for more in ["tag:alpha", "-canary", "after:2000-01-01", "before:1d"] {
        let arguments = json!({ "query": format!("{query} {more}") });
        all.push(Question::tool("search_notes", arguments));
    }
    for folder in topics.folders {
        let arguments = json!({ "query": format!("{query} path:{folder}"), "mode": "semantic" });
        all.push(Question::tool("search_notes", arguments));
    }
    let summary = json!({ "type": "ref/prompt", "name": "summarize_topic" });
    for typed in [query, query.get(..1).unwrap_or_default()] {
        all.push(Question::completion(&summary, "topic", typed));
    }
    all.push(Question::prompt("summarize_topic", "topic", query));
    all.push(Question::prompt("knowledge_gaps", "topic", query));
}

fn about_page(path: &str, all: &mut Vec<Question>) {
    for tool in
        ["read_page", "read_note", "get_note_metadata", "get_backlinks", "find_related_notes"]
    {
        all.push(Question::tool(tool, json!({ "path": path })));
    }
    all.push(Question::tool("fetch", json!({ "id": path })));
    all.push(Question::tool("find_related_notes", json!({ "path": path, "limit": 1 })));
    all.push(Question::tool("read_note", json!({ "path": path, "heading": "Alpha" })));
    all.push(Question::resource(&format!("vault://notes/{}", path.replace('/', "%2F"))));
    all.push(Question::prompt("find_connections", "note_path", path));
    let template = json!({ "type": "ref/resource", "uri": "vault://notes/{path}" });
    let end = path.len().min(3);
    let begin = path.get(..end).unwrap_or_default();
    for typed in [path, begin] {
        all.push(Question::completion(&template, "path", typed));
    }
}
