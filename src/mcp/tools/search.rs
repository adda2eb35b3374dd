//! The tool `search`.

use std::fmt::Write as _;

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{answer, off_thread, refusal, unavailable};
use crate::access::permit::Viewer;
use crate::mcp::service::McpServer;
use crate::vault::{Hit, Unavailable};

const DEFAULT_LIMIT: u32 = 10;
const MAX_LIMIT: u32 = 50;

// Plain types with defaults and no `Option`: schemas with a null in them are
// refused by some clients.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchArguments {
    /// The words to look for. More words find fewer and better pages.
    query: String,
    /// How many pages to return at most, from 1 to 50.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    /// The vault to search. Leave it out for the default one.
    #[serde(default)]
    vault: String,
}

const fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

#[derive(Debug, Serialize, JsonSchema)]
struct SearchAnswer {
    /// The pages that match, best first.
    results: Vec<SearchResult>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SearchResult {
    /// Where the page is; `read_page` takes it as it stands.
    path: String,
    /// The title of the page.
    title: String,
    /// The passage that matches.
    snippet: String,
}

#[tool_router(router = search_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "search",
        title = "Search the notes",
        description = "Finds notes in the user's vault by the words in their titles and text. \
            Returns for each note its path, title and the passage that matches. \
            Use it first, then read the notes that look right with read_page. \
            Example: {\"query\": \"heat pump offer\", \"limit\": 5}",
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
    ) -> CallToolResult {
        let SearchArguments { query, limit, vault } = arguments;
        if query.trim().is_empty() {
            return refusal("The query is empty. Give one or more words to look for.");
        }
        let vault = match self.vaults.find(&viewer, &vault) {
            Ok(vault) => vault.clone(),
            Err(error) => return refusal(error),
        };
        let limit = limit.clamp(1, MAX_LIMIT) as usize;
        match off_thread(move || vault.search(&viewer, &query, limit)).await {
            Ok(hits) => {
                let results = hits.into_iter().map(SearchResult::from).collect();
                let found = SearchAnswer { results };
                let text = found.as_text();
                answer(&found, text)
            }
            Err(Unavailable) => unavailable(),
        }
    }
}

impl SearchAnswer {
    fn as_text(&self) -> String {
        if self.results.is_empty() {
            return "No note matches.".to_owned();
        }
        let mut text = String::new();
        for SearchResult { path, title, snippet } in &self.results {
            let _ = writeln!(text, "- {title} ({path})\n  {snippet}");
        }
        text
    }
}

impl From<Hit> for SearchResult {
    fn from(hit: Hit) -> Self {
        Self { path: hit.path.to_string(), title: hit.title, snippet: hit.snippet }
    }
}
