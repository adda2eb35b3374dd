//! A page that becomes sensitive is refused by the very next request.

use std::time::Duration;

use crate::support::{McpClient, OAuthClient, TestApp, VaultBuilder};

const OPEN: &str = "# no rules\n";
const CLOSED: &str = "notes/** filter=git-crypt diff=git-crypt\n";

/// Issue "Next request": no restart, no wait for a watcher.
#[tokio::test]
async fn a_folder_put_under_git_crypt_is_closed_at_once() {
    let vault =
        VaultBuilder::git(&[(".gitattributes", OPEN), ("notes/plan.md", "# Plan\n\ncanary\n")]);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "reader").await;
    let tokens = client.tokens(&app, &["wiki:read"]).await;
    let mcp = McpClient::with_token(&tokens.access);
    assert!(mcp.read_page(&app, "notes/plan.md").await.is_ok());
    assert_eq!(mcp.search(&app, "canary").await, ["notes/plan.md"]);

    vault.write(".gitattributes", CLOSED);
    let missing = mcp.read_page(&app, "notes/none.md").await;
    assert_eq!(mcp.read_page(&app, "notes/plan.md").await, missing);
    assert!(mcp.search(&app, "canary").await.is_empty());
}

/// The same by a rule file that did not exist before, in the page's own folder.
#[tokio::test]
async fn a_new_rule_file_counts_at_once() {
    let vault = VaultBuilder::git(&[("notes/plan.md", "# Plan\n\ncanary\n")]);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "reader").await;
    let mcp = McpClient::with_token(&client.tokens(&app, &["wiki:read"]).await.access);
    assert!(mcp.read_page(&app, "notes/plan.md").await.is_ok());
    vault.write("notes/.gitattributes", "*.md filter=git-crypt\n");
    assert!(mcp.read_page(&app, "notes/plan.md").await.is_err());
    assert!(mcp.search(&app, "canary").await.is_empty());
}

/// gitattributes.md 6.1, row 9: 1,000 times a page is open, its folder is closed, and
/// only then it gets sensitive content; the content never comes out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_swaps_give_nothing_out() {
    let vault = VaultBuilder::git(&[(".gitattributes", OPEN), ("notes/plan.md", "harmless\n")]);
    let app = TestApp::with(vault.root(), |configuration| {
        configuration.lifetimes.access_token = Duration::from_secs(86_400);
    })
    .await;
    let client = OAuthClient::registered(&app, "reader").await;
    let mcp = McpClient::with_token(&client.tokens(&app, &["wiki:read"]).await.access);
    for round in 0..1_000 {
        // A class is lowered only by two looks that are some seconds apart.
        let _first_look = mcp.read_page(&app, "notes/plan.md").await;
        app.clock.advance(Duration::from_secs(4));
        let open = mcp.read_page(&app, "notes/plan.md").await;
        assert_eq!(open.as_deref(), Ok("harmless\n"), "round {round}");

        vault.write(".gitattributes", CLOSED);
        vault.write("notes/plan.md", "canary\n");
        if round % 2 == 0 {
            let page = mcp.read_page(&app, "notes/plan.md").await;
            assert!(page.is_err(), "round {round}: {page:?}");
        } else {
            let hits = mcp.search(&app, "canary").await;
            assert!(hits.is_empty(), "round {round}: {hits:?}");
        }
        vault.write("notes/plan.md", "harmless\n");
        vault.write(".gitattributes", OPEN);
    }
}
