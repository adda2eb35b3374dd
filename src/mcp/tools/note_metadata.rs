//! The tool `get_note_metadata`.

use std::fmt::Write as _;

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Refusal, answer};
use crate::access::permit::Viewer;
use crate::mcp::lenient::text;
use crate::mcp::render::notes::{NoteEntry, line};
use crate::mcp::render::{count, length, shortened, within};
use crate::mcp::service::McpServer;
use crate::vault::answers::OpenNote;
use crate::vault::markdown::{Link, LinkKind};

/// How much of each there is in one answer.
const FRONTMATTER_BYTES: usize = 4_000;
const HEADING_BYTES: usize = 5_000;
const LINK_BYTES: usize = 5_000;
const TEXT_CHARACTERS: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct MetadataArguments {
    /// As search returns it.
    path: String,
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    vault: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct MetadataAnswer {
    #[serde(flatten)]
    note: NoteEntry,
    /// ordinary, confidential or people.
    class: &'static str,
    etag: String,
    /// Lines.
    lines: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    /// Its data, dates as texts.
    frontmatter: Map<String, Value>,
    /// Why the frontmatter could not be read whole.
    #[serde(skip_serializing_if = "String::is_empty")]
    frontmatter_error: String,
    headings: Vec<HeadingEntry>,
    links: Vec<LinkEntry>,
    /// What is left out of this answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HeadingEntry {
    /// 1 to 6.
    level: u8,
    heading: String,
    anchor: String,
    /// First and last of the section.
    lines: [u32; 2],
}

#[derive(Debug, Serialize, JsonSchema)]
struct LinkEntry {
    /// markdown, wiki, embed or external.
    kind: &'static str,
    target: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    anchor: String,
    line: u32,
}

#[tool_router(router = note_metadata_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "get_note_metadata",
        title = "Note metadata",
        description = "Returns what is known of a note without its text: frontmatter, tags, \
            headings with their lines, links, size and dates. Cheaper than reading it. \
            Example: {\"path\": \"projects/heat-pump.md\"}",
        output_schema = schema_for_output::<MetadataAnswer>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn get_note_metadata(
        &self,
        viewer: Viewer,
        Parameters(MetadataArguments { path, vault }): Parameters<MetadataArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let note = self.open(&viewer, &vault, path).await??;
        let metadata = MetadataAnswer::of(&note);
        let text = metadata.as_text(&note);
        Ok(answer(&metadata, text))
    }
}

impl MetadataAnswer {
    pub(in crate::mcp) fn of(note: &OpenNote) -> Self {
        let parsed = &note.parsed;
        let headings = parsed.headings.iter().map(|heading| HeadingEntry {
            level: heading.level,
            heading: shortened(&heading.text, TEXT_CHARACTERS),
            anchor: shortened(&heading.anchor, TEXT_CHARACTERS),
            lines: [heading.line, heading.last_line],
        });
        let headings = within(headings, HEADING_BYTES, length);
        let links = within(parsed.links.iter().map(LinkEntry::of), LINK_BYTES, length);
        let mut left_out = Vec::new();
        let mut count_rest = |all: usize, shown: usize, what: &str| {
            if all > shown {
                left_out.push(format!("{} {what}", all - shown));
            }
        };
        count_rest(parsed.headings.len(), headings.len(), "headings");
        count_rest(parsed.links.len(), links.len(), "links");
        let frontmatter = fitting(&parsed.frontmatter.values, &mut left_out);
        let aliases = parsed.aliases.iter().take(10);
        Self {
            note: NoteEntry::of(&note.summary),
            class: note.class.as_str(),
            etag: note.etag.clone(),
            lines: parsed.lines,
            aliases: aliases.map(|alias| shortened(alias, TEXT_CHARACTERS)).collect(),
            frontmatter,
            frontmatter_error: parsed
                .frontmatter
                .error
                .as_ref()
                .map_or_else(String::new, |error| shortened(error, TEXT_CHARACTERS * 2)),
            headings,
            links,
            left_out,
        }
    }

    fn as_text(&self, note: &OpenNote) -> String {
        let mut text = line(&note.summary);
        let _ = write!(
            text,
            "\n{}, {}, class {}, {}",
            count(self.lines as usize, "line", "lines"),
            count(usize::try_from(note.summary.size).unwrap_or(usize::MAX), "byte", "bytes"),
            self.class,
            count(note.parsed.links.len(), "link", "links"),
        );
        for (key, value) in &self.frontmatter {
            let _ = write!(
                text,
                "\n{}: {}",
                shortened(key, TEXT_CHARACTERS),
                shortened(&plain(value), TEXT_CHARACTERS * 2)
            );
        }
        for HeadingEntry { level, heading, lines: [first, last], .. } in &self.headings {
            let indent = "  ".repeat(usize::from(level.saturating_sub(1)));
            let _ = write!(text, "\n{indent}- {heading} ({first}-{last})");
        }
        if !self.frontmatter_error.is_empty() {
            let _ = write!(text, "\nThe frontmatter is broken: {}", self.frontmatter_error);
        }
        if !self.left_out.is_empty() {
            let _ = write!(text, "\nLeft out: {}.", self.left_out.join(", "));
        }
        text
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The entries, as many as fit: one that is too long leaves room for others.
fn fitting(values: &Map<String, Value>, left_out: &mut Vec<String>) -> Map<String, Value> {
    let mut bytes = 0;
    let mut fits = Map::new();
    let mut others = 0;
    for (key, value) in values {
        let length = key.len() + value.to_string().len() + 4;
        if bytes + length <= FRONTMATTER_BYTES {
            bytes += length;
            fits.insert(key.clone(), value.clone());
        } else {
            others += 1;
        }
    }
    if others > 0 {
        left_out.push(format!("{others} entries of the frontmatter"));
    }
    fits
}

impl LinkEntry {
    fn of(link: &Link) -> Self {
        Self {
            kind: kind(link.kind),
            target: shortened(&link.target, TEXT_CHARACTERS * 2),
            anchor: link
                .anchor
                .as_ref()
                .map_or_else(String::new, |anchor| shortened(anchor, TEXT_CHARACTERS)),
            line: link.line,
        }
    }
}

pub(super) const fn kind(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Markdown => "markdown",
        LinkKind::Wiki => "wiki",
        LinkKind::Embed => "embed",
        LinkKind::External => "external",
    }
}
