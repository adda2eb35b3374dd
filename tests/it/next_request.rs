//! A page that becomes sensitive is refused by the very next request.

use crate::support::{McpClient, OAuthClient, TestApp, VaultBuilder};

const OPEN: &str = "# no rules\n";
const CLOSED: &str = "notes/** filter=git-crypt diff=git-crypt\n";

/// Issue "Next request": no restart, no wait for a watcher.
#[tokio::test]
async fn a_folder_put_under_git_crypt_is_closed_at_once() {
    let vault =
        VaultBuilder::git(&[(".gitattributes", OPEN), ("notes/plan.md", "# Plan\n\ncanary\n")]);
    let app = TestApp::serving(vault.root());
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
    let app = TestApp::serving(vault.root());
    let client = OAuthClient::registered(&app, "reader").await;
    let mcp = McpClient::with_token(&client.tokens(&app, &["wiki:read"]).await.access);
    assert!(mcp.read_page(&app, "notes/plan.md").await.is_ok());
    vault.write("notes/.gitattributes", "*.md filter=git-crypt\n");
    assert!(mcp.read_page(&app, "notes/plan.md").await.is_err());
    assert!(mcp.search(&app, "canary").await.is_empty());
}

/// gitattributes.md 6.1, row 9: 1,000 times a page gets protected content under a
/// rule that was written before it; the content never comes out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_swaps_give_nothing_out() {
    let vault = VaultBuilder::git(&[(".gitattributes", OPEN), ("notes/plan.md", "harmless\n")]);
    let app = TestApp::serving(vault.root());
    let client = OAuthClient::registered(&app, "reader").await;
    let mcp = McpClient::with_token(&client.tokens(&app, &["wiki:read"]).await.access);
    for round in 0..1_000 {
        vault.write(".gitattributes", CLOSED);
        vault.write("notes/plan.md", "canary\n");
        let (page, hits) = if round % 2 == 0 {
            (mcp.read_page(&app, "notes/plan.md").await, Vec::new())
        } else {
            (Err(String::new()), mcp.search(&app, "canary").await)
        };
        assert!(page.is_err() && hits.is_empty(), "round {round}: {page:?} {hits:?}");
        vault.write("notes/plan.md", "harmless\n");
        vault.write(".gitattributes", OPEN);
    }
}
