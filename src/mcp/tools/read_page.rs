//! The tool `read_page`: the same reading as `read_note`, of the whole page as far as it
//! fits an answer.

use std::fmt::Write as _;

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Refusal, answer};
use crate::access::permit::Viewer;
use crate::mcp::budget::{Budget, MOST_BYTES, twice};
use crate::mcp::lenient::{text, whole};
use crate::mcp::render::notes::TITLE_CHARACTERS;
use crate::mcp::render::opened::{PageText, is_zero, page_text};
use crate::mcp::render::{shortened, single_line};
use crate::mcp::section::Start;
use crate::mcp::service::McpServer;
use crate::mcp::uri::{Target, VaultUri};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ReadPageArguments {
    /// The path, as search returns it.
    path: String,
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
struct PageAnswer {
    path: String,
    title: String,
    /// The text, as it is written.
    content: String,
    /// What is left out of a long page, and how to get it.
    #[serde(skip_serializing_if = "String::is_empty")]
    left_out: String,
    /// Where to go on; 0 if nothing is left out.
    #[serde(skip_serializing_if = "is_zero")]
    next_start_line: u32,
    /// The same within that line.
    #[serde(skip_serializing_if = "is_zero")]
    next_start_char: u32,
}

#[tool_router(router = read_page_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "read_page",
        title = "Read a page",
        description = "Returns the whole text of one page; of a long one as much as \
            fits, and start_line goes on. The path is relative to the vault, with forward \
            slashes and the file's ending, as search returns it. \
            Example: {\"path\": \"projects/heat-pump.md\"}",
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
        Parameters(arguments): Parameters<ReadPageArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let ReadPageArguments { path, start_line, start_char, vault } = arguments;
        let note = self.open(&viewer, &vault, path).await??;
        let start = Start { line: start_line, character: start_char };
        let PageText { content, left_out, next } =
            page_text(&note.text, start, Budget::whole(MOST_BYTES, twice), go_on);
        let page = PageAnswer {
            path: note.summary.path.to_string(),
            title: shortened(&note.summary.title, TITLE_CHARACTERS),
            content,
            left_out,
            next_start_line: next.line,
            next_start_char: next.character,
        };
        let mut text = format!("{}\n\n{}", single_line(&page.path), page.content);
        if !page.left_out.is_empty() {
            let _ = write!(text, "\n[{}]", page.left_out);
        }
        Ok(answer(&page, text))
    }
}

/// How the reader of a page goes on.
pub(super) fn go_on(start: Start) -> String {
    format!("go on with {start}")
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
