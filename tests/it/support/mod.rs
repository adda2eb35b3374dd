//! What the tests share: a whole server in the process, a browser that is not one,
//! an OAuth client, an MCP client, and folders of notes.

pub mod browser;
pub mod forms;
pub mod mcp_client;
pub mod oauth_client;
pub mod process;
pub mod questions;
pub mod routes;
pub mod site;
#[path = "../../../src/authorization_server/passkey/software.rs"]
mod software_passkey;
pub mod test_app;
#[path = "../../../src/trials.rs"]
pub mod trials;
pub mod vault_builder;

pub use browser::Browser;
pub use mcp_client::McpClient;
pub use oauth_client::{OAuthClient, Tokens};
pub use process::Process;
pub use questions::{Question, Topics, questions};
pub use site::{PASSWORD, Reply, Site};
pub(crate) use software_passkey::SoftwarePasskey;
pub use test_app::TestApp;
pub use vault_builder::VaultBuilder;
