//! The tool `get_backlinks`.

use std::fmt::Write as _;

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::note_metadata::kind;
use super::read_page::page_name;
use super::{Refusal, answer};
use crate::access::permit::Viewer;
use crate::mcp::lenient::text;
use crate::mcp::render::{count, shortened, single_line, within};
use crate::mcp::service::McpServer;
use crate::vault::answers::{Backlink, ForwardLink, NoteLinks};

/// So many bytes of links to a note, and half of that from it, are in one answer; they
/// stand in it twice.
const MOST_BYTES: usize = 8_000;
const TEXT_CHARACTERS: usize = 120;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct BacklinksArguments {
    /// As search returns it.
    path: String,
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct LinksAnswer {
    /// Links of other notes to it.
    backlinks: Vec<BacklinkEntry>,
    /// How many there are in all.
    total_backlinks: usize,
    /// Links from it.
    links: Vec<ForwardEntry>,
    /// How many there are in all.
    total_links: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct BacklinkEntry {
    path: String,
    title: String,
    line: u32,
    /// That line.
    context: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ForwardEntry {
    /// markdown, wiki, embed or external.
    kind: &'static str,
    /// As it is written.
    target: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    anchor: String,
    line: u32,
    /// The note that it leads to, if there is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

#[tool_router(router = backlinks_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "get_backlinks",
        title = "Links of a note",
        description = "Returns the links to a note and from it, each with its line. Use it to \
            follow how notes hang together. Example: {\"path\": \"projects/heat-pump.md\"}",
        output_schema = schema_for_output::<LinksAnswer>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn get_backlinks(
        &self,
        viewer: Viewer,
        Parameters(BacklinksArguments { path, vault }): Parameters<BacklinksArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let (vault, path) = page_name(vault, path);
        let links = self.ask(&viewer, &vault, move |vault, viewer| vault.links(viewer, &path));
        let links = LinksAnswer::of(&links.await??);
        let text = links.as_text();
        Ok(answer(&links, text))
    }
}

impl LinksAnswer {
    pub(in crate::mcp) fn of(links: &NoteLinks) -> Self {
        Self {
            backlinks: within(links.back.iter().map(BacklinkEntry::of), MOST_BYTES),
            total_backlinks: links.back.len(),
            links: within(links.forward.iter().map(ForwardEntry::of), MOST_BYTES / 2),
            total_links: links.forward.len(),
        }
    }

    pub(in crate::mcp) fn as_text(&self) -> String {
        let first = |shown: usize, total: usize| match shown {
            shown if shown < total => format!(", the first {shown}:"),
            _ => String::new(),
        };
        let mut text = count(self.total_backlinks, "link to it", "links to it");
        text.push_str(&first(self.backlinks.len(), self.total_backlinks));
        for BacklinkEntry { path, title, line, context } in &self.backlinks {
            let _ = write!(text, "\n- {title} | {}:{line} | {context}", single_line(path));
        }
        let _ = write!(text, "\n{}", count(self.total_links, "link from it", "links from it"));
        text.push_str(&first(self.links.len(), self.total_links));
        for ForwardEntry { target, anchor, line, note, .. } in &self.links {
            let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
            let _ = write!(text, "\n- line {line}: {target}{anchor}");
            if !note.is_empty() && *note != *target {
                let _ = write!(text, " -> {}", single_line(note));
            }
        }
        text
    }
}

impl BacklinkEntry {
    fn of(link: &Backlink) -> Self {
        Self {
            path: link.path.to_string(),
            title: shortened(&link.title, TEXT_CHARACTERS),
            line: link.line,
            context: shortened(&link.context, TEXT_CHARACTERS),
        }
    }
}

impl ForwardEntry {
    fn of(link: &ForwardLink) -> Self {
        let anchor = link.anchor.as_deref().unwrap_or_default();
        Self {
            kind: kind(link.kind),
            target: shortened(&link.target, TEXT_CHARACTERS),
            anchor: shortened(anchor, TEXT_CHARACTERS),
            line: link.line,
            note: link.note.as_ref().map(ToString::to_string).unwrap_or_default(),
        }
    }
}
