//! The tool `search_by_tag`.

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Refusal;
use super::list_notes::{ListAnswer, PageArguments};
use crate::access::permit::Viewer;
use crate::mcp::cursor::Request;
use crate::mcp::service::McpServer;
use crate::vault::Vault;
use crate::vault::answers::ListPlace;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchByTagArguments {
    /// With or without #.
    tag: String,
    #[serde(flatten)]
    page: PageArguments,
}

/// The same whether nobody has the tag, or only what is not open has it.
const NOTHING_WITH: &str = "No visible note has this tag. list_tags knows those that there are.";

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
        let SearchByTagArguments { tag, page } = arguments;
        let tag = bare(&tag).to_owned();
        if tag.is_empty() {
            return Err(Refusal::of("The tag is empty. list_tags knows the tags."));
        }
        let arguments = [&*tag];
        let request = Request {
            viewer: &viewer,
            method: "search_by_tag",
            vault: &page.vault,
            arguments: &arguments,
        };
        let wanted = tag.clone();
        let list =
            move |vault: &Vault, viewer: &Viewer, limit: usize, after: Option<&ListPlace>| {
                vault.notes_with_tag(viewer, &wanted, limit, after)
            };
        self.list_page(request, &page, NOTHING_WITH, list).await
    }
}

/// The tag that somebody means: also as answers and queries write it, `#garden` or
/// `tag:"old trees"`.
fn bare(tag: &str) -> &str {
    let tag = tag.trim();
    let tag = match tag.get(..4) {
        Some(field) if field.eq_ignore_ascii_case("tag:") => &tag[4..],
        _ => tag,
    };
    tag.trim_matches('"').trim().trim_start_matches('#').trim_end_matches('/')
}
