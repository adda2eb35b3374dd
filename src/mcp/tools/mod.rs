//! The tools, one a file, and what their answers have in common.

mod read_page;
mod search;
mod write_inbox_note;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;

use super::service::McpServer;

/// All tools.
pub(super) fn router() -> ToolRouter<McpServer> {
    McpServer::search_tool() + McpServer::read_page_tool() + McpServer::write_inbox_note_tool()
}

/// An answer, as structure for programs and as text for models.
fn answer(structure: &impl Serialize, text: String) -> CallToolResult {
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
    refusal("The vault is temporarily unavailable. Try again later.")
}

/// A refusal that the model should read.
fn refusal(reason: impl ToString) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(reason.to_string())])
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
