//! Resources: notes, tags and what is new, for clients that let people pick them.
//!
//! The list has all notes of the default vault, the newest first, page by page: who
//! takes only the first page has the likeliest ones, who takes all misses none. Notes
//! of other vaults are read by the template.

use std::fmt::Write as _;

use rmcp::ErrorData;
use rmcp::model::{
    Annotations, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde::Serialize;

use super::budget::{Budget, once};
use super::cursor::Request;
use super::render::notes::{NoteEntry, TITLE_CHARACTERS};
use super::render::opened::{PageText, page_text};
use super::render::{moment, shortened};
use super::section::Start;
use super::service::McpServer;
use super::tools::list_tags::{TagEntry, fitting};
use super::tools::search_notes::Search;
use super::tools::{NO_SUCH_PAGE, Refusal, UNAVAILABLE};
use super::uri::{Target, VaultUri};
use crate::access::path::VaultPath;
use crate::access::permit::Viewer;
use crate::vault::answers::{ListOrder, ListRequest, NoteSummary, Passages};

/// What the clients' users fill in.
pub(super) const TEMPLATE: &str = "vault://notes/{path}";

/// So many resources on one page of the list.
const PAGE: usize = 100;

/// So much of a note is in its resource, in bytes: 64,000 tokens. Somebody has chosen the
/// note, so it is more than a tool gives; but what is too large for any model would only
/// end the conversation.
const MOST_BYTES: usize = 256_000;

/// So many notes in `vault://recent`.
const RECENT: usize = 100;
const RECENT_QUERY: &str = "after:7d";

const JSON: &str = "application/json";

/// Absent, forbidden and no address of ours at all.
const NO_SUCH_RESOURCE: &str = "There is no such resource, or it is not open to this client.";

#[derive(Serialize)]
struct Tags {
    total: usize,
    tags: Vec<TagEntry>,
}

#[derive(Serialize)]
struct Recent {
    total: usize,
    notes: Vec<RecentNote>,
}

#[derive(Serialize)]
struct RecentNote {
    uri: String,
    #[serde(flatten)]
    note: NoteEntry,
}

impl McpServer {
    /// One page of the list.
    pub(super) async fn resource_page(
        &self,
        viewer: &Viewer,
        cursor: &str,
    ) -> Result<ListResourcesResult, ErrorData> {
        let request = Request { viewer, method: "resources/list", vault: "", arguments: &[] };
        let after = self
            .cursors
            .place(request, cursor)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let is_first = after.is_none();
        let list = ListRequest {
            folder: String::new(),
            is_recursive: true,
            order: ListOrder::Newest,
            limit: PAGE,
            after,
        };
        let listed = self.ask(viewer, "", move |vault, viewer| vault.list_notes(viewer, &list));
        // Somebody without a vault has nothing to list.
        let Ok(listed) = listed.await else { return Ok(ListResourcesResult::default()) };
        let listed = listed.map_err(|error| fault(&error.into()))?;
        let mut resources = if is_first { overviews() } else { Vec::new() };
        resources.extend(listed.notes.iter().map(resource));
        let mut page = ListResourcesResult::with_all_items(resources);
        let next = listed.next.as_ref();
        page.next_cursor = next.and_then(|place| self.cursors.after_place(request, place));
        Ok(page)
    }

    /// The content of one resource.
    pub(super) async fn resource(
        &self,
        viewer: &Viewer,
        uri: &str,
    ) -> Result<ReadResourceResult, ErrorData> {
        let Some(VaultUri { vault, target }) = VaultUri::parse(uri) else {
            return Err(no_such_resource());
        };
        let content = match target {
            Target::Note(path) => self.note_content(viewer, &vault, path, uri).await,
            Target::Tags => self.tags_content(viewer, &vault, uri).await,
            Target::Recent => self.recent_content(viewer, &vault, uri).await,
        };
        content.map(|content| ReadResourceResult::new(vec![content])).map_err(|error| fault(&error))
    }

    async fn note_content(
        &self,
        viewer: &Viewer,
        vault: &str,
        path: String,
        uri: &str,
    ) -> Result<ResourceContents, Refusal> {
        let opened = self.ask(viewer, vault, move |vault, viewer| vault.open_note(viewer, &path));
        let note = opened.await??;
        let kind = mime_type(&note.summary.path);
        let how = |start: Start| format!("read_note goes on with {start}");
        let budget = Budget::whole(MOST_BYTES, once);
        let PageText { mut content, left_out, .. } =
            page_text(&note.text, Start::default(), budget, how);
        if !left_out.is_empty() {
            let _ = write!(content, "\n[{left_out}]\n");
        }
        Ok(ResourceContents::text(content, uri).with_mime_type(kind))
    }

    async fn tags_content(
        &self,
        viewer: &Viewer,
        vault: &str,
        uri: &str,
    ) -> Result<ResourceContents, Refusal> {
        let tags = self.ask(viewer, vault, |vault, viewer| vault.tags(viewer, "")).await??;
        Ok(json(&Tags { total: tags.len(), tags: fitting(&tags) }, uri))
    }

    async fn recent_content(
        &self,
        viewer: &Viewer,
        vault: &str,
        uri: &str,
    ) -> Result<ResourceContents, Refusal> {
        let passages = Passages::None;
        let search = Search { vault, query: RECENT_QUERY, folder: "", limit: RECENT, passages };
        let found = self.find_notes(viewer, &search, Vec::new()).await?;
        let note = |note: &NoteSummary| RecentNote {
            uri: VaultUri::of_note(vault, note.path.as_str()).to_string(),
            note: NoteEntry::of(note),
        };
        let notes = found.hits.iter().map(|hit| note(&hit.note)).collect();
        Ok(json(&Recent { total: found.total, notes }, uri))
    }
}

/// The one template.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let note = ResourceTemplate::new(TEMPLATE, "note")
        .with_title("A note")
        .with_description(
            "A note by its path, percent-encoded. Behind it ?vault=NAME names another vault than \
             the default one.",
        )
        .with_mime_type("text/markdown");
    ListResourceTemplatesResult::with_all_items(vec![note])
}

fn overviews() -> Vec<Resource> {
    let overview = |target, name, title, description| {
        let uri = VaultUri { vault: String::new(), target }.to_string();
        let resource = Resource::new(uri, name).with_title(title).with_description(description);
        resource.with_mime_type(JSON)
    };
    vec![
        overview(Target::Tags, "tags", "Tags", "All tags with their numbers of notes."),
        overview(Target::Recent, "recent", "Recent notes", "The notes of the last seven days."),
    ]
}

fn resource(note: &NoteSummary) -> Resource {
    let uri = VaultUri::of_note("", note.path.as_str()).to_string();
    let mut annotations = Annotations::default();
    annotations.last_modified = Some(moment(note.modified.at));
    Resource::new(uri, note.path.as_str())
        .with_title(shortened(&note.title, TITLE_CHARACTERS))
        .with_mime_type(mime_type(&note.path))
        .with_size(note.size)
        .with_annotations(annotations)
}

fn mime_type(path: &VaultPath) -> &'static str {
    if path.as_str().to_ascii_lowercase().ends_with(".txt") {
        "text/plain"
    } else {
        "text/markdown"
    }
}

fn json(content: &impl Serialize, uri: &str) -> ResourceContents {
    let text = serde_json::to_string(content).unwrap_or_default();
    ResourceContents::text(text, uri).with_mime_type(JSON)
}

fn no_such_resource() -> ErrorData {
    ErrorData::resource_not_found(NO_SUCH_RESOURCE, None)
}

/// A refusal as an error of the protocol.
pub(super) fn fault(refusal: &Refusal) -> ErrorData {
    match refusal.as_str() {
        UNAVAILABLE => ErrorData::internal_error(UNAVAILABLE, None),
        NO_SUCH_PAGE => no_such_resource(),
        reason => ErrorData::resource_not_found(reason.to_owned(), None),
    }
}
