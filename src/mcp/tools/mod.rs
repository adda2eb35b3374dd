//! The tools, one a file, and what their answers have in common.

pub(super) mod backlinks;
mod fetch;
pub(super) mod find_related_notes;
mod list_notes;
pub(super) mod list_tags;
pub(super) mod note_metadata;
mod read_note;
mod read_page;
mod search;
mod search_by_tag;
pub(super) mod search_notes;
pub(super) mod vault_stats;
mod write_inbox_note;

use std::borrow::Cow;

use rmcp::ErrorData;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde::Serialize;

use super::cursor::InvalidCursor;
use super::render::shortened;
use super::schema;
use super::service::McpServer;
use super::toolset::{Toolset, Toolsets};
use super::vaults::NoSuchVault;
use crate::access::permit::Viewer;
use crate::vault::{ReadError, Unavailable, Vault};

/// The tools of these sets. `search` is one tool, whoever brings it.
pub(super) fn router(toolsets: Toolsets) -> ToolRouter<McpServer> {
    let mut tools = ToolRouter::new();
    if toolsets.contains(Toolset::Pages) || toolsets.contains(Toolset::Openai) {
        tools += McpServer::search_tool();
    }
    if toolsets.contains(Toolset::Pages) {
        tools += McpServer::read_page_tool();
    }
    if toolsets.contains(Toolset::Openai) {
        tools += McpServer::fetch_tool();
    }
    if toolsets.contains(Toolset::Notes) {
        tools += McpServer::search_notes_tool();
        tools += McpServer::read_note_tool();
        tools += McpServer::list_notes_tool();
        tools += McpServer::note_metadata_tool();
        tools += McpServer::list_tags_tool();
        tools += McpServer::search_by_tag_tool();
        tools += McpServer::backlinks_tool();
        tools += McpServer::find_related_notes_tool();
        tools += McpServer::vault_stats_tool();
        tools += McpServer::write_inbox_note_tool();
    }
    for route in tools.map.values_mut() {
        schema::tidy(&mut route.attr);
    }
    tools
}

/// Why a tool does not do what it is asked, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal(Cow<'static, str>);

/// Absent, forbidden and misspelt are one text, and it repeats nothing of the request.
pub(super) const NO_SUCH_PAGE: &str = "There is no such page, or it is not open to this client. \
    Search for words of its title to get the exact path.";
const LOCKED: &str = "The page is encrypted, and locked on the machine that serves it. \
    Its owner can unlock it there with git-crypt.";
const NOT_TEXT: &str = "The page is not readable text, or it is too large to be served.";
pub(super) const UNAVAILABLE: &str = "The vault is temporarily unavailable. Try again later.";
const NO_QUERY: &str = "The query is empty. Give one or more words to look for.";

impl Refusal {
    pub(super) const fn of(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Self {
        Self::of(match error {
            ReadError::Hidden(_) => NO_SUCH_PAGE,
            ReadError::Locked => LOCKED,
            ReadError::NotText => NOT_TEXT,
            ReadError::Unavailable(_) => UNAVAILABLE,
        })
    }
}

impl From<Unavailable> for Refusal {
    fn from(Unavailable: Unavailable) -> Self {
        Self::of(UNAVAILABLE)
    }
}

impl From<NoSuchVault> for Refusal {
    fn from(error: NoSuchVault) -> Self {
        error.to_string().into()
    }
}

impl From<InvalidCursor> for Refusal {
    fn from(error: InvalidCursor) -> Self {
        error.to_string().into()
    }
}

impl IntoCallToolResult for Refusal {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        Ok(refusal(self.as_str()).into())
    }
}

/// An answer, as structure for programs and as text for models.
pub(super) fn answer(structure: &impl Serialize, text: String) -> CallToolResult {
    match serde_json::to_value(structure) {
        Ok(structure) => {
            let mut result = CallToolResult::structured(structure);
            result.content = vec![ContentBlock::text(text)];
            result
        }
        Err(error) => {
            tracing::error!(%error, "an answer could not be written");
            unavailable()
        }
    }
}

/// The answer when nothing can be answered, whatever the reason. It is in the log.
pub(super) fn unavailable() -> CallToolResult {
    refusal(UNAVAILABLE)
}

/// The answer when it takes too long (L64).
pub(super) fn too_slow() -> CallToolResult {
    refusal("That took too long. Ask for less, or try again later.")
}

/// How the library begins to say that it cannot read the arguments of a tool.
const UNREADABLE: &str = "failed to deserialize parameters: ";
/// The reason may repeat an argument of any length.
const REASON_CHARACTERS: usize = 200;

/// The answer of a tool; if its arguments could not be read, in words of ours.
pub(super) fn in_plain_words(tool: &str, answer: CallToolResponse) -> CallToolResponse {
    if let CallToolResponse::Complete(result) = &answer
        && result.is_error == Some(true)
        && let Some(text) = result.content.first().and_then(ContentBlock::as_text)
        && let Some(reason) = text.text.strip_prefix(UNREADABLE)
    {
        let reason = shortened(reason, REASON_CHARACTERS);
        return refusal(format!("The arguments do not fit {tool}: {reason}.")).into();
    }
    answer
}

/// A refusal that the model should read.
fn refusal(reason: impl ToString) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(reason.to_string())])
}

impl McpServer {
    /// Asks the vault that the viewer means by `name`, where blocking is allowed.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        viewer: &Viewer,
        name: &str,
        question: impl FnOnce(&Vault, &Viewer) -> T + Send + 'static,
    ) -> Result<T, NoSuchVault> {
        let vault = self.vaults.find(viewer, name)?.clone();
        let viewer = viewer.clone();
        Ok(off_thread(move || question(&vault, &viewer)).await)
    }
}

/// Runs a vault call where blocking is allowed. A panic in it goes on in here, for
/// the one place that contains it.
pub(super) async fn off_thread<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(call).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down; nobody waits for this any more.
            Err(_) => std::future::pending().await,
        },
    }
}
