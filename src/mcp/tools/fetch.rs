//! The tool `fetch`: a page in the shape that ChatGPT's connectors expect.

use std::fmt::Write as _;

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read_page::{go_on, page_name};
use super::{Refusal, answer};
use crate::access::permit::Viewer;
use crate::mcp::budget::{Budget, MOST_BYTES, as_json_too};
use crate::mcp::lenient::{text, whole};
use crate::mcp::render::opened::{PageText, page_text};
use crate::mcp::render::{moment, shortened};
use crate::mcp::section::Start;
use crate::mcp::service::McpServer;
use crate::mcp::uri::VaultUri;

const TITLE_CHARACTERS: usize = 200;
const TAGS: usize = 50;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FetchArguments {
    /// The id, as search returns it.
    id: String,
    /// From this line on; default 1.
    #[serde(default, deserialize_with = "whole")]
    start_line: u32,
    /// Within that line, from this character on.
    #[serde(default, deserialize_with = "whole")]
    start_char: u32,
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Document {
    id: String,
    title: String,
    /// The text; of a long page as much as fits.
    text: String,
    url: String,
    metadata: Metadata,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Metadata {
    modified: String,
    tags: String,
}

#[tool_router(router = fetch_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "fetch",
        title = "Fetch a page",
        description = "Returns the whole text of one page that search has found; of a long \
            one as much as fits, and start_line goes on. \
            Example: {\"id\": \"projects/heat-pump.md\"}",
        output_schema = schema_for_output::<Document>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn fetch(
        &self,
        viewer: Viewer,
        Parameters(arguments): Parameters<FetchArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let FetchArguments { id, start_line, start_char, vault } = arguments;
        let (vault, path) = page_name(vault, id);
        let note = self.open(&viewer, &vault, path).await??;
        let start = Start { line: start_line, character: start_char };
        let PageText { mut content, left_out, .. } =
            page_text(&note.text, start, Budget::whole(MOST_BYTES, as_json_too), go_on);
        if !left_out.is_empty() {
            // The only field that these clients show.
            let _ = write!(content, "\n[{left_out}]");
        }
        let path = note.summary.path.to_string();
        let document = Document {
            title: shortened(&note.summary.title, TITLE_CHARACTERS),
            url: VaultUri::of_note(&vault, &*path).to_string(),
            id: path,
            text: content,
            metadata: Metadata {
                modified: moment(note.summary.modified.at),
                tags: note.summary.tags[..note.summary.tags.len().min(TAGS)].join(", "),
            },
        };
        // ChatGPT reads one block of text, with the document as JSON in it.
        let json = serde_json::to_string(&document).unwrap_or_default();
        Ok(answer(&document, json))
    }
}
