//! The tool `search`: the same search as `search_notes`, for those who want no more
//! than pages.

use std::fmt::Write as _;

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search_notes::Search;
use super::{Refusal, answer};
use crate::access::permit::Viewer;
use crate::mcp::lenient::{limit, text, whole};
use crate::mcp::render::hits::{cut, most_bytes};
use crate::mcp::render::{length, shortened, single_line};
use crate::mcp::service::McpServer;
use crate::mcp::toolset::Toolset;
use crate::mcp::uri::VaultUri;
use crate::vault::answers::{NoteHit, NoteSummary, Passages};

const DEFAULT_LIMIT: u32 = 10;
const MOST: u32 = 50;
/// How long a snippet is, if there is room for it, and if there is less.
const SNIPPET_CHARACTERS: [usize; 4] = [200, 140, 90, 50];
const TITLE_CHARACTERS: usize = 200;

// Plain types with defaults and no `Option`: schemas with a null in them are
// refused by some clients.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchArguments {
    /// The words to look for.
    query: String,
    /// Default 10, at most 50.
    #[serde(default, deserialize_with = "whole")]
    limit: u32,
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SearchAnswer {
    /// Best first.
    results: Vec<SearchResult>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SearchResult {
    /// What `fetch` takes.
    #[serde(skip_serializing_if = "String::is_empty")]
    id: String,
    /// What `read_page` takes.
    path: String,
    title: String,
    /// The passage that matches.
    snippet: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    url: String,
}

#[tool_router(router = search_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "search",
        title = "Search pages",
        description = "Finds pages of the user's notes by the words in their titles and text. \
            The short form of search_notes: path, title and the passage that matches. \
            Then read what looks right. Example: {\"query\": \"heat pump offer\", \"limit\": 5}",
        output_schema = schema_for_output::<SearchAnswer>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn search(
        &self,
        viewer: Viewer,
        Parameters(arguments): Parameters<SearchArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let SearchArguments { query, limit: given, vault } = arguments;
        let limit = limit(given, DEFAULT_LIMIT, MOST);
        let most = most_bytes(limit, DEFAULT_LIMIT);
        let passages = Passages::Fitting { bytes: most, least: least_bytes };
        let search = Search { vault: &vault, query: &query, folder: "", limit, passages };
        let found = self.find_notes(&viewer, &search, Vec::new()).await?;
        let is_openai = self.toolsets.contains(Toolset::Openai);
        Ok(fitting(&found.hits, is_openai.then_some(&*vault), most))
    }
}

/// What a hit takes at least: its path stands in an answer twice.
fn least_bytes(note: &NoteSummary) -> usize {
    2 * note.path.as_str().len() + 60
}

/// The first of the hits, as many as fit so many bytes. When they are too many, their
/// snippets give way first.
fn fitting(hits: &[NoteHit], vault: Option<&str>, most: usize) -> CallToolResult {
    let mut shown = hits.len();
    loop {
        for characters in SNIPPET_CHARACTERS {
            let result = |hit: &NoteHit| SearchResult::of(hit, vault, characters);
            let found = SearchAnswer { results: hits[..shown].iter().map(result).collect() };
            let text = match vault {
                // ChatGPT reads one block of text, with the results as JSON in it.
                Some(_) => serde_json::to_string(&found).unwrap_or_default(),
                None => found.as_text(),
            };
            if length(&found) + length(&text) <= most || shown <= 1 {
                return answer(&found, text);
            }
        }
        shown = shown * 3 / 4;
    }
}

impl SearchAnswer {
    fn as_text(&self) -> String {
        if self.results.is_empty() {
            return "No note matches.".to_owned();
        }
        let mut text = String::new();
        for SearchResult { path, title, snippet, .. } in &self.results {
            let _ = writeln!(text, "- {title} ({})\n  {}", single_line(path), single_line(snippet));
        }
        text
    }
}

impl SearchResult {
    /// A hit; with an address in this vault for those who cite.
    fn of(hit: &NoteHit, vault: Option<&str>, characters: usize) -> Self {
        let path = hit.note.path.to_string();
        let url = vault.map(|vault| VaultUri::of_note(vault, &*path).to_string());
        Self {
            id: vault.map(|_| path.clone()).unwrap_or_default(),
            title: shortened(&hit.note.title, TITLE_CHARACTERS),
            snippet: cut(&hit.passage, characters).0,
            url: url.unwrap_or_default(),
            path,
        }
    }
}
