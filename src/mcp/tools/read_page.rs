//! The tool `read_page`.

use rmcp::handler::server::common::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{answer, off_thread, refusal, unavailable};
use crate::access::permit::Viewer;
use crate::mcp::service::McpServer;
use crate::vault::{Page, ReadError};

/// Absent, forbidden and misspelt are one text, and it repeats nothing of the request.
const NO_SUCH_PAGE: &str = "There is no such page, or it is not open to this client.";
const LOCKED: &str = "The page is encrypted, and locked on the machine that serves it. \
    Its owner can unlock it there with git-crypt.";
const NOT_TEXT: &str = "The page is not readable text, or it is too large to be served.";

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ReadPageArguments {
    /// The path of the note, as search returns it.
    path: String,
    /// The vault that holds the note. Leave it out for the default one.
    #[serde(default)]
    vault: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PageAnswer {
    /// Where the page is.
    path: String,
    /// The title of the page.
    title: String,
    /// The whole text of the page, as it is written.
    content: String,
}

#[tool_router(router = read_page_tool, vis = "pub(super)")]
impl McpServer {
    #[tool(
        name = "read_page",
        title = "Read a note",
        description = "Returns the whole text of one note of the user's vault. \
            The path is relative to the vault, with forward slashes and the file's ending, \
            as search returns it. Example: {\"path\": \"projects/heat-pump.md\"}",
        output_schema = schema_for_output::<PageAnswer>(),
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn read_page(
        &self,
        viewer: Viewer,
        Parameters(arguments): Parameters<ReadPageArguments>,
    ) -> CallToolResult {
        let ReadPageArguments { path, vault } = arguments;
        let vault = match self.vaults.find(&viewer, &vault) {
            Ok(vault) => vault.clone(),
            Err(error) => return refusal(error),
        };
        match off_thread(move || vault.read_page(&viewer, &path)).await {
            Ok(page) => {
                let page = PageAnswer::from(page);
                let text = format!("{}\n\n{}", page.path, page.content);
                answer(&page, text)
            }
            Err(ReadError::Hidden(_)) => refusal(NO_SUCH_PAGE),
            Err(ReadError::Locked) => refusal(LOCKED),
            Err(ReadError::NotText) => refusal(NOT_TEXT),
            Err(ReadError::Unavailable(_)) => unavailable(),
        }
    }
}

impl From<Page> for PageAnswer {
    fn from(page: Page) -> Self {
        Self { path: page.path.to_string(), title: page.title, content: page.text }
    }
}
