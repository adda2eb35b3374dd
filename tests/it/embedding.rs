//! A program embeds the server through the library's public API: the lines that the
//! README shows.

use axum::body::Body;
use axum::http::Request;
use brain_mcp::app::Server;
use brain_mcp::configuration::Configuration;

use crate::support::forms::Form;
use crate::support::{Browser, McpClient, OAuthClient, PASSWORD, Site, VaultBuilder};

#[tokio::test]
async fn a_program_starts_the_server_on_a_free_port_and_drives_it() {
    let vault = VaultBuilder::git(&[("garden.md", "# Garden\n\nTulips in April.\n")]);
    let data = tempfile::tempdir().unwrap();

    let server = Server::start(Configuration::for_vault(vault.root(), data.path().join("data")))
        .await
        .expect("it starts");
    assert_ne!(server.address().port(), 0);
    let issuer = server.mcp_url().strip_suffix("/mcp").expect("the endpoint").to_owned();
    let site = Site::behind_socket(&issuer);

    assert_eq!(site.get("/health").await.json()["status"], "ok");
    let link = server.setup_links()[0].url.clone();
    let mut browser = Browser::default();
    let page = browser.open(&site, &link).await;
    let choose = |form: Form| form.fill("password", PASSWORD).fill("repeated", PASSWORD);
    page.submit_with(&mut browser, &site, "Save and continue", choose).await;

    let client = OAuthClient::registered(&site, "embedding").await;
    let tokens = client.tokens(&site, &["wiki:read"]).await;
    let mcp = McpClient::with_token(&tokens.access);
    assert_eq!(mcp.search(&site, "tulips").await, ["garden.md"]);
    let text = mcp.read_page(&site, "garden.md").await.expect("a page");
    assert!(text.contains("Tulips in April."), "{text}");
    server.stop().await;
    let request = Request::get("/health").body(Body::empty()).unwrap();
    assert!(site.try_send(request).await.is_none(), "it no longer listens");
}
