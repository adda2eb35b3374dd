//! The tool `search_notes`, and the search that other tools share with it.

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{NO_QUERY, Refusal};
use crate::access::permit::Viewer;
use crate::mcp::cursor::{MOST_MARKS, Request};
use crate::mcp::lenient::{limit, text, whole};
use crate::mcp::render::hits::{SearchAnswer, fitting, least_bytes, most_bytes};
use crate::mcp::service::McpServer;
use crate::vault::answers::{Passages, SearchRequest, SearchResults, shown_mark};

const DEFAULT_LIMIT: u32 = 10;
const MOST: u32 = 100;

// Plain types with defaults and no `Option`: schemas with a null in them are
// refused by some clients.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchNotesArguments {
    /// Words and operators.
    query: String,
    /// Only notes in and below this folder.
    #[serde(default, deserialize_with = "text")]
    folder: String,
    /// Default 10, at most 100.
    #[serde(default, deserialize_with = "whole")]
    limit: u32,
    /// `next_cursor` of the answer before, with the same arguments.
    #[serde(default, deserialize_with = "text")]
    cursor: String,
    /// How to search; without a model always keyword.
    #[serde(default, deserialize_with = "text")]
    #[schemars(extend("enum" = ["hybrid", "keyword", "semantic"]))]
    mode: String,
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[tool_router(router = search_notes_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "search_notes",
        title = "Search notes",
        description = "Finds notes by words, phrases, tags, folders and dates; best first, each \
            with its best passage, lines and heading. Start here when you do not know the path. \
            Syntax: words (notes with all of them first), \"a phrase\", +required, -excluded, \
            title:x, tag:x, path:x, after:2026-01-31, before:7d, tag:x OR tag:y. \
            Example: {\"query\": \"heat pump tag:house after:90d\"}. \
            Then read what looks right with read_note, by heading or lines.",
        output_schema = schema_for_output::<SearchAnswer>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn search_notes(
        &self,
        viewer: Viewer,
        Parameters(arguments): Parameters<SearchNotesArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let SearchNotesArguments { query, folder, limit: given, cursor, mode, vault } = arguments;
        // It changes nothing yet, but a cursor goes on with one search only.
        let arguments = [&*query, &*folder, &*mode];
        let request = Request {
            viewer: &viewer,
            method: "search_notes",
            vault: &vault,
            arguments: &arguments,
        };
        let shown = self.cursors.marks(request, &cursor)?;
        let limit = limit(given, DEFAULT_LIMIT, MOST);
        let most = most_bytes(limit, DEFAULT_LIMIT);
        let passages = Passages::Fitting { bytes: most, least: least_bytes };
        let search = Search { vault: &vault, query: &query, folder: &folder, limit, passages };
        let results = self.find_notes(&viewer, &search, shown.clone()).await?;
        Ok(fitting(&vault, &results, most, |hits| {
            let new = results.hits[..hits].iter().map(|hit| shown_mark(&hit.note.path));
            let marks: Vec<u64> = shown.iter().copied().chain(new).collect();
            self.cursors.after_marks(request, &marks)
        }))
    }
}

/// What is searched for.
#[derive(Clone, Copy, Debug)]
pub(in crate::mcp) struct Search<'a> {
    pub(in crate::mcp) vault: &'a str,
    pub(in crate::mcp) query: &'a str,
    pub(in crate::mcp) folder: &'a str,
    pub(in crate::mcp) limit: usize,
    pub(in crate::mcp) passages: Passages,
}

impl McpServer {
    /// The one search behind every tool, resource and prompt. `shown` are the marks of
    /// what is left out.
    pub(in crate::mcp) async fn find_notes(
        &self,
        viewer: &Viewer,
        search: &Search<'_>,
        shown: Vec<u64>,
    ) -> Result<SearchResults, Refusal> {
        let Search { vault, query, folder, limit, passages } = *search;
        if query.trim().is_empty() {
            return Err(Refusal::of(NO_QUERY));
        }
        debug_assert!(shown.len() <= MOST_MARKS, "a cursor holds no more");
        let folder = folder.trim().trim_matches('/').to_owned();
        let request = SearchRequest { query: query.to_owned(), folder, limit, shown, passages };
        let found =
            self.ask(viewer, vault, move |vault, viewer| vault.search_notes(viewer, &request));
        Ok(found.await??)
    }
}
