//! The tool `read_page`: the same reading as `read_note`, always of the whole page.

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Refusal, answer};
use crate::access::permit::Viewer;
use crate::mcp::lenient::text;
use crate::mcp::render::single_line;
use crate::mcp::service::McpServer;
use crate::mcp::uri::{Target, VaultUri};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ReadPageArguments {
    /// The path, as search returns it.
    path: String,
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PageAnswer {
    path: String,
    title: String,
    /// The whole text, as it is written.
    content: String,
}

#[tool_router(router = read_page_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "read_page",
        title = "Read a page",
        description = "Returns the whole text of one page. Of long notes read a part with \
            read_note instead. The path is relative to the vault, with forward slashes and the \
            file's ending, as search returns it. Example: {\"path\": \"projects/heat-pump.md\"}",
        output_schema = schema_for_output::<PageAnswer>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn read_page(
        &self,
        viewer: Viewer,
        Parameters(ReadPageArguments { path, vault }): Parameters<ReadPageArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let (vault, path) = page_name(vault, path);
        let opened = self.ask(&viewer, &vault, move |vault, viewer| vault.open_note(viewer, &path));
        let note = opened.await??;
        let page = PageAnswer {
            path: note.summary.path.to_string(),
            title: note.summary.title,
            content: note.text,
        };
        let text = format!("{}\n\n{}", single_line(&page.path), page.content);
        Ok(answer(&page, text))
    }
}

/// The vault and the path that a caller means: the address of a resource is as good as
/// a path, and names its vault itself.
pub(in crate::mcp) fn page_name(vault: String, path: String) -> (String, String) {
    match VaultUri::parse(&path) {
        Some(VaultUri { vault: named, target: Target::Note(path) }) => {
            (if named.is_empty() { vault } else { named }, path)
        }
        _ => (vault, path),
    }
}
