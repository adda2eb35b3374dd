//! A program embeds the server through the library's public API: the lines that the
//! README shows.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

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

/// What somebody keeps open neither holds up the stop nor outlives it: the program may
/// start another server on the same data at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_cuts_what_is_kept_open() {
    let vault = VaultBuilder::plain(&[("a.md", "text")]);
    let data = tempfile::tempdir().unwrap();
    let configuration = Configuration::for_vault(vault.root(), data.path().join("data"));
    let server = Server::start(configuration.clone()).await.expect("it starts");
    let requests: [&[u8]; 3] = [
        b"",
        b"GET /health HTTP/1.1\r\nhost: localhost\r\nx-never-",
        b"POST /token HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\
          content-type: application/x-www-form-urlencoded\r\n\r\na",
    ];
    let mut connections = Vec::new();
    for request in requests {
        let mut connection = TcpStream::connect(server.address()).expect("it listens");
        connection.write_all(request).expect("sent");
        connections.push(connection);
    }
    // Answered after the others were accepted: connections are taken in their order.
    let issuer = server.mcp_url().strip_suffix("/mcp").expect("the endpoint").to_owned();
    Site::behind_socket(&issuer).get("/health").await;
    server.stop().await;
    for mut connection in connections {
        connection.set_read_timeout(Some(Duration::from_secs(5))).expect("set");
        let ended = connection.read_to_end(&mut Vec::new());
        let reset = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionReset;
        assert!(ended.as_ref().map_or_else(reset, |_| true), "still open: {ended:?}");
    }
    Server::start(configuration).await.expect("the data directory is free").stop().await;
}
