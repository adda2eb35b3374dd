//! The tool `find_related_notes`.

use std::fmt::Write as _;

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read_page::page_name;
use super::{Refusal, answer};
use crate::access::permit::Viewer;
use crate::mcp::lenient::{limit, text, whole};
use crate::mcp::render::hits::SEMANTIC;
use crate::mcp::render::notes::{NoteEntry, line};
use crate::mcp::render::{count, length, shortened, single_line, within};
use crate::mcp::service::McpServer;
use crate::vault::answers::{RelatedNote, Relation};

const DEFAULT_LIMIT: u32 = 10;
const MOST: u32 = 30;
/// So many bytes of them; they stand in an answer twice.
const MOST_BYTES: usize = 12_000;
/// So many reasons of each.
const REASONS: usize = 4;
const WORDS: usize = 6;
const TEXT_CHARACTERS: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RelatedArguments {
    /// As search returns it.
    path: String,
    /// Default 10, at most 30.
    #[serde(default, deserialize_with = "whole")]
    limit: u32,
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct RelatedAnswer {
    /// The closest first.
    notes: Vec<RelatedEntry>,
    /// Whether meaning was compared too.
    semantic: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RelatedEntry {
    #[serde(flatten)]
    note: NoteEntry,
    score: f64,
    /// Why.
    reasons: Vec<String>,
}

#[tool_router(router = find_related_notes_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "find_related_notes",
        title = "Related notes",
        description = "Finds notes that have to do with a note, and says why: links, shared \
            links, shared tags, shared rare words. Use it after reading a note, to find what \
            searching would miss. Example: {\"path\": \"projects/heat-pump.md\", \"limit\": 5}",
        output_schema = schema_for_output::<RelatedAnswer>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn find_related_notes(
        &self,
        viewer: Viewer,
        Parameters(arguments): Parameters<RelatedArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let RelatedArguments { path, limit: given, vault } = arguments;
        let limit = limit(given, DEFAULT_LIMIT, MOST);
        let (vault, path) = page_name(vault, path);
        let related =
            self.ask(&viewer, &vault, move |vault, viewer| vault.related(viewer, &path, limit));
        let related = related.await??;
        let structure = RelatedAnswer::of(&related);
        let text = as_text(&related[..structure.notes.len()]);
        Ok(answer(&structure, text))
    }
}

impl RelatedAnswer {
    pub(in crate::mcp) fn of(related: &[RelatedNote]) -> Self {
        let entry = |related: &RelatedNote| RelatedEntry {
            note: NoteEntry::of(&related.note),
            score: (f64::from(related.score) * 1_000.0).round() / 1_000.0,
            reasons: related.reasons.iter().take(REASONS).map(reason).collect(),
        };
        Self { notes: within(related.iter().map(entry), MOST_BYTES, length), semantic: SEMANTIC }
    }
}

fn reason(relation: &Relation) -> String {
    match relation {
        Relation::Links => "one links to the other".to_owned(),
        Relation::SharedLink(path) => {
            format!("both have to do with {}", single_line(path.as_str()))
        }
        Relation::SharedTag(tag) => format!("both have #{}", shortened(tag, TEXT_CHARACTERS)),
        Relation::SharedWords(words) => {
            let words: Vec<String> =
                words.iter().take(WORDS).map(|word| shortened(word, TEXT_CHARACTERS)).collect();
            format!("both use {}", words.join(", "))
        }
    }
}

pub(in crate::mcp) fn as_text(related: &[RelatedNote]) -> String {
    let mut text = format!("{}.", count(related.len(), "related note", "related notes"));
    for found in related {
        let reasons: Vec<String> = found.reasons.iter().take(REASONS).map(reason).collect();
        let _ = write!(text, "\n{}\n  {}", line(&found.note), reasons.join("; "));
    }
    text
}
