//! The tool `search_by_tag`.

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Refusal;
use super::list_notes::{DEFAULT_LIMIT, ListAnswer, MOST, fitting};
use crate::access::permit::Viewer;
use crate::mcp::cursor::Request;
use crate::mcp::lenient::{limit, text, whole};
use crate::mcp::service::McpServer;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchByTagArguments {
    /// With or without #.
    tag: String,
    /// Default 50, at most 200.
    #[serde(default, deserialize_with = "whole")]
    limit: u32,
    /// `next_cursor` of the answer before, with the same arguments.
    #[serde(default, deserialize_with = "text")]
    cursor: String,
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[tool_router(router = search_by_tag_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "search_by_tag",
        title = "Notes with a tag",
        description = "Lists the notes that have a tag or one below it (garden finds \
            garden/tomato too), the newest first. list_tags knows the tags. \
            Example: {\"tag\": \"garden\"}",
        output_schema = schema_for_output::<ListAnswer>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn search_by_tag(
        &self,
        viewer: Viewer,
        Parameters(arguments): Parameters<SearchByTagArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let SearchByTagArguments { tag, limit: given, cursor, vault } = arguments;
        let tag = tag.trim().trim_start_matches('#').trim_end_matches('/').to_owned();
        if tag.is_empty() {
            return Err(Refusal::of("The tag is empty. list_tags knows the tags."));
        }
        let arguments = [&*tag];
        let request = Request {
            viewer: &viewer,
            method: "search_by_tag",
            vault: &vault,
            arguments: &arguments,
        };
        let after = self.cursors.place(request, &cursor)?;
        let limit = limit(given, DEFAULT_LIMIT, MOST);
        let wanted = tag.clone();
        let listed = self.ask(&viewer, &vault, move |vault, viewer| {
            fitting(limit, |limit| vault.notes_with_tag(viewer, &wanted, limit, after.as_ref()))
        });
        Ok(self.list_answer(request, &listed.await??))
    }
}
