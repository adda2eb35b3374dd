//! The tool `fetch`: a page in the shape that ChatGPT's connectors expect.

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read_page::page_name;
use super::{Refusal, answer};
use crate::access::permit::Viewer;
use crate::mcp::lenient::text;
use crate::mcp::render::{moment, shortened};
use crate::mcp::service::McpServer;
use crate::mcp::uri::VaultUri;

const TITLE_CHARACTERS: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FetchArguments {
    /// The id, as search returns it.
    id: String,
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Document {
    id: String,
    title: String,
    /// The whole text.
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
        description = "Returns the whole text of one page that search has found. \
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
        Parameters(FetchArguments { id, vault }): Parameters<FetchArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let (vault, path) = page_name(vault, id);
        let opened = self.ask(&viewer, &vault, move |vault, viewer| vault.open_note(viewer, &path));
        let note = opened.await??;
        let path = note.summary.path.to_string();
        let document = Document {
            title: shortened(&note.summary.title, TITLE_CHARACTERS),
            url: VaultUri::of_note(&vault, &*path).to_string(),
            id: path,
            text: note.text,
            metadata: Metadata {
                modified: moment(note.summary.modified.at),
                tags: note.summary.tags.join(", "),
            },
        };
        // ChatGPT reads one block of text, with the document as JSON in it.
        let json = serde_json::to_string(&document).unwrap_or_default();
        Ok(answer(&document, json))
    }
}
