//! The tool `list_tags`.

use std::fmt::Write as _;

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Refusal, answer};
use crate::access::permit::Viewer;
use crate::mcp::lenient::text;
use crate::mcp::render::{count, single_line};
use crate::mcp::service::McpServer;
use crate::vault::answers::TagCount;

/// So many tags, and so many bytes of them, in one answer.
const MOST: usize = 300;
const MOST_BYTES: usize = 9_000;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListTagsArguments {
    /// Only tags that begin so.
    #[serde(default, deserialize_with = "text")]
    prefix: String,
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TagsAnswer {
    /// How many there are in all.
    total: usize,
    /// The most frequent first.
    tags: Vec<TagEntry>,
}

/// A tag with its number of notes.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct TagEntry {
    tag: String,
    /// That have it or one below it.
    notes: usize,
}

#[tool_router(router = list_tags_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "list_tags",
        title = "List tags",
        description = "Lists the tags of the notes with the number of notes, the most frequent \
            first. Use it to learn how the user files things, then search_by_tag or tag: in \
            search_notes. Example: {\"prefix\": \"garden/\"}",
        output_schema = schema_for_output::<TagsAnswer>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn list_tags(
        &self,
        viewer: Viewer,
        Parameters(ListTagsArguments { prefix, vault }): Parameters<ListTagsArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let prefix = prefix.trim().trim_start_matches('#').to_owned();
        let tags = self.ask(&viewer, &vault, move |vault, viewer| vault.tags(viewer, &prefix));
        let tags = tags.await??;
        let total = tags.len();
        let tags = fitting(&tags);
        let text = as_text(&tags, total);
        Ok(answer(&TagsAnswer { total, tags }, text))
    }
}

/// The first of them, as many as an answer can hold.
pub(in crate::mcp) fn fitting(tags: &[TagCount]) -> Vec<TagEntry> {
    let mut bytes = 0;
    let fits = tags.iter().take(MOST).take_while(|tag| {
        bytes += tag.tag.len() + 24;
        bytes <= MOST_BYTES
    });
    fits.map(|tag| TagEntry { tag: tag.tag.clone(), notes: tag.notes }).collect()
}

fn as_text(tags: &[TagEntry], total: usize) -> String {
    let mut text = count(total, "tag", "tags");
    if total > tags.len() {
        let _ = write!(text, ", the first {}; give a prefix to see others", tags.len());
    }
    let words: Vec<String> =
        tags.iter().map(|tag| format!("#{} {}", single_line(&tag.tag), tag.notes)).collect();
    if words.is_empty() { format!("{text}.") } else { format!("{text}: {}", words.join(", ")) }
}
