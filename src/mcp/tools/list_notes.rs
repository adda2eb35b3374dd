//! The tool `list_notes`, and what it shares with other lists of notes.

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Refusal, answer};
use crate::access::permit::Viewer;
use crate::mcp::cursor::Request;
use crate::mcp::lenient::{limit, text, whole, yes_unless_no};
use crate::mcp::render::count;
use crate::mcp::render::hits::MOST_BYTES;
use crate::mcp::render::notes::{NoteEntry, line};
use crate::mcp::service::McpServer;
use crate::vault::answers::{ListOrder, ListPlace, ListRequest, NoteList};
use crate::vault::{Unavailable, Vault};

const DEFAULT_LIMIT: u32 = 20;
const MOST: u32 = 200;

const NO_SUCH_ORDER: &str = "There is no such order. sort is path, title, newest or oldest.";
/// The same whether the folder is absent, empty, or holds what is not open.
const NOTHING_UNDER: &str = "No visible note is under this folder.";
const NOTHING_IN: &str = "No visible note is directly in this folder.";

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListNotesArguments {
    /// Default: the whole vault.
    #[serde(default, deserialize_with = "text")]
    folder: String,
    /// Folders below as well (default).
    #[serde(default = "yes", deserialize_with = "yes_unless_no")]
    recursive: bool,
    /// Default path.
    #[serde(default, deserialize_with = "text")]
    #[schemars(extend("enum" = ["path", "title", "newest", "oldest"]))]
    sort: String,
    #[serde(flatten)]
    page: PageArguments,
}

/// Which part of which list: so many notes behind a cursor.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PageArguments {
    /// Default 20, at most 200.
    #[serde(default, deserialize_with = "whole")]
    limit: u32,
    /// `next_cursor` of the answer before, with the same arguments.
    #[serde(default, deserialize_with = "text")]
    cursor: String,
    /// Default: the first vault.
    #[serde(default, deserialize_with = "text")]
    pub(super) vault: String,
}

const fn yes() -> bool {
    true
}

/// A list of notes.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListAnswer {
    /// How many there are in all.
    total: usize,
    notes: Vec<NoteEntry>,
    /// Gives the next notes.
    #[serde(skip_serializing_if = "String::is_empty")]
    next_cursor: String,
}

#[tool_router(router = list_notes_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "list_notes",
        title = "List notes",
        description = "Lists the notes of a folder, or of the whole vault, with titles, tags and \
            dates. Use it to look around or to see what is new; to find something use \
            search_notes. Example: {\"folder\": \"projects\", \"sort\": \"newest\"}",
        output_schema = schema_for_output::<ListAnswer>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn list_notes(
        &self,
        viewer: Viewer,
        Parameters(arguments): Parameters<ListNotesArguments>,
    ) -> Result<CallToolResult, Refusal> {
        let ListNotesArguments { folder, recursive, sort, page } = arguments;
        let arguments = [&*folder, if recursive { "recursive" } else { "" }, &*sort];
        let request = Request {
            viewer: &viewer,
            method: "list_notes",
            vault: &page.vault,
            arguments: &arguments,
        };
        let folder = folder.trim().trim_matches('/').to_owned();
        let order = order(&sort).ok_or(Refusal::of(NO_SUCH_ORDER))?;
        let nothing = match (&*folder, recursive) {
            ("", _) => "",
            (_, true) => NOTHING_UNDER,
            (_, false) => NOTHING_IN,
        };
        let list =
            move |vault: &Vault, viewer: &Viewer, limit: usize, after: Option<&ListPlace>| {
                let (folder, after) = (folder.clone(), after.cloned());
                let is_recursive = recursive;
                vault.list_notes(viewer, &ListRequest { folder, is_recursive, order, limit, after })
            };
        self.list_page(request, &page, nothing, list).await
    }
}

fn order(sort: &str) -> Option<ListOrder> {
    match sort.trim().to_ascii_lowercase().as_str() {
        "" | "path" => Some(ListOrder::Path),
        "title" | "name" => Some(ListOrder::Title),
        "newest" | "modified" | "updated" | "date" | "recent" => Some(ListOrder::Newest),
        "oldest" | "created" => Some(ListOrder::Oldest),
        _ => None,
    }
}

impl McpServer {
    /// A part of a list in words, with a cursor for what follows. `nothing` is said of an
    /// empty list; `list` gives so many notes behind a place.
    pub(super) async fn list_page(
        &self,
        request: Request<'_>,
        page: &PageArguments,
        nothing: &str,
        list: impl Fn(&Vault, &Viewer, usize, Option<&ListPlace>) -> Result<NoteList, Unavailable>
        + Send
        + 'static,
    ) -> Result<CallToolResult, Refusal> {
        let after = self.cursors.place(request, &page.cursor)?;
        let limit = limit(page.limit, DEFAULT_LIMIT, MOST);
        let listed = self.ask(request.viewer, request.vault, move |vault, viewer| {
            fitting(limit, |limit| list(vault, viewer, limit, after.as_ref()))
        });
        let list = listed.await??;
        let next = list.next.as_ref();
        let next_cursor = next.and_then(|place| self.cursors.after_place(request, place));
        let text = as_text(&list, nothing);
        let notes = list.notes.iter().map(NoteEntry::of).collect();
        let next_cursor = next_cursor.unwrap_or_default();
        Ok(answer(&ListAnswer { total: list.total, notes, next_cursor }, text))
    }
}

/// As many notes as an answer can hold: asks again for fewer if there are too many.
/// Only the vault can say where a list goes on.
fn fitting(
    limit: usize,
    ask: impl Fn(usize) -> Result<NoteList, Unavailable>,
) -> Result<NoteList, Unavailable> {
    let list = ask(limit)?;
    let mut bytes = 0;
    let length = |note| {
        let entry = serde_json::to_string(&NoteEntry::of(note)).map_or(0, |text| text.len());
        // The text stands in JSON too.
        entry + serde_json::to_string(&line(note)).map_or(0, |text| text.len())
    };
    let fits = list.notes.iter().take_while(|note| {
        bytes += length(note);
        bytes <= MOST_BYTES - 1_000
    });
    match fits.count().max(1) {
        fits if fits < list.notes.len() => ask(fits),
        _ => Ok(list),
    }
}

fn as_text(list: &NoteList, nothing: &str) -> String {
    let mut text = format!("{}.", count(list.total, "note", "notes"));
    if list.total == 0 && !nothing.is_empty() {
        text.push(' ');
        text.push_str(nothing);
    }
    for note in &list.notes {
        text.push('\n');
        text.push_str(&line(note));
    }
    if list.next.is_some() {
        text.push_str("\nThere are more: ask again with next_cursor.");
    }
    text
}
