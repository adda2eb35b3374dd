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
use crate::mcp::cursor::Request;
use crate::mcp::lenient::text;
use crate::mcp::render::{count, length, shortened, single_line, within};
use crate::mcp::service::McpServer;
use crate::vault::answers::{Backlink, ForwardLink, ListPlace, NoteLinks};

/// So many bytes of links to a note and from it are in one answer (L61), in the structure
/// and in the text.
const MOST_BYTES: usize = 7_000;
const TEXT_CHARACTERS: usize = 120;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct BacklinksArguments {
    /// As search returns it.
    path: String,
    /// `next_cursor` of the answer before, with the same path.
    #[serde(default, deserialize_with = "text")]
    cursor: String,
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
    /// Links from it, on the first page.
    links: Vec<ForwardEntry>,
    /// How many there are in all.
    total_links: usize,
    /// Gives the next links to it.
    #[serde(skip_serializing_if = "String::is_empty")]
    next_cursor: String,
    /// What comes before the first of `backlinks`.
    #[serde(skip)]
    passed: usize,
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
        Parameters(arguments): Parameters<BacklinksArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let BacklinksArguments { path, cursor, vault } = arguments;
        let arguments = [&*path];
        let request = Request {
            viewer: &viewer,
            method: "get_backlinks",
            vault: &vault,
            arguments: &arguments,
        };
        let after = self.cursors.place(request, &cursor)?;
        let (named, page) = page_name(vault.clone(), path.clone());
        let links = self.ask(&viewer, &named, move |vault, viewer| vault.links(viewer, &page));
        let (mut links, next) = LinksAnswer::of(&links.await??, after.as_ref());
        let next = next.and_then(|place| self.cursors.after_place(request, &place));
        links.next_cursor = next.unwrap_or_default();
        let text = links.as_text();
        Ok(answer(&links, text))
    }
}

impl LinksAnswer {
    /// The links behind a place in the order of those to the note, as many as fit, and
    /// the place behind them, if there are more.
    pub(in crate::mcp) fn of(
        links: &NoteLinks,
        after: Option<&ListPlace>,
    ) -> (Self, Option<ListPlace>) {
        let is_passed = |link: &Backlink| {
            after.is_some_and(|place| {
                let line = place.key.parse().unwrap_or(0);
                (link.path.as_str(), link.line) <= (&*place.path, line)
            })
        };
        let passed = links.back.partition_point(is_passed);
        let rest = &links.back[passed..];
        let forward = if after.is_none() { &*links.forward } else { &[] };
        // Those from it get a third, and whatever those to it do not need.
        let back = || rest.iter().map(BacklinkEntry::of);
        let needed: usize = back().map(|entry| entry.size()).sum();
        let for_forward = (MOST_BYTES / 3).max(MOST_BYTES.saturating_sub(needed));
        let forward = forward.iter().map(ForwardEntry::of);
        let forward = within(forward, for_forward, ForwardEntry::size);
        let taken: usize = forward.iter().map(ForwardEntry::size).sum();
        let back = within(back(), MOST_BYTES.saturating_sub(taken), BacklinkEntry::size);
        let next = rest.get(back.len()).and(back.len().checked_sub(1)).map(|last| ListPlace {
            key: rest[last].line.to_string(),
            path: rest[last].path.to_string(),
        });
        let answer = Self {
            backlinks: back,
            total_backlinks: links.back.len(),
            links: forward,
            total_links: links.forward.len(),
            next_cursor: String::new(),
            passed,
        };
        (answer, next)
    }

    pub(in crate::mcp) fn as_text(&self) -> String {
        let part = |passed: usize, shown: usize, total: usize| match (passed, shown) {
            (0, shown) if shown == total => String::new(),
            (_, 0) => String::new(),
            (0, shown) => format!(", the first {shown}:"),
            (passed, shown) => format!(", {} to {}:", passed + 1, passed + shown),
        };
        let mut text = count(self.total_backlinks, "link to it", "links to it");
        text.push_str(&part(self.passed, self.backlinks.len(), self.total_backlinks));
        for link in &self.backlinks {
            text.push_str(&link.line());
        }
        let _ = write!(text, "\n{}", count(self.total_links, "link from it", "links from it"));
        text.push_str(&part(0, self.links.len(), self.total_links));
        for link in &self.links {
            text.push_str(&link.line());
        }
        if !self.next_cursor.is_empty() {
            text.push_str("\nThere are more links to it: ask again with next_cursor.");
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

    fn line(&self) -> String {
        let Self { path, title, line, context } = self;
        format!("\n- {title} | {}:{line} | {context}", single_line(path))
    }

    /// The bytes that it takes in an answer, the line in JSON too.
    fn size(&self) -> usize {
        length(self) + length(&self.line())
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

    fn line(&self) -> String {
        let Self { target, anchor, line, note, .. } = self;
        let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
        let mut text = format!("\n- line {line}: {target}{anchor}");
        if !note.is_empty() && *note != *target {
            let _ = write!(text, " -> {}", single_line(note));
        }
        text
    }

    /// The bytes that it takes in an answer, the line in JSON too.
    fn size(&self) -> usize {
        length(self) + length(&self.line())
    }
}
