//! Connections outlive refusals: the next request on the same one is answered too.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use brain_mcp::app::Server;
use brain_mcp::configuration::Configuration;
use tempfile::TempDir;

use crate::support::VaultBuilder;

const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// RFC 9112 section 9.6: no client is left with a connection that closes without a
/// word. Clients that send the head first and the body a moment later were.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_before_the_body_has_come_keeps_the_connection() {
    let server = start().await;
    for path in ["/mcp", "/nothing-here", "/health", "/jwks", "/token", "/login", "/consent"] {
        let mut connection = connect(server.0.address());
        let first = exchange(&mut connection, &head(path, ""), BODY);
        assert!(!first.to_lowercase().contains("connection: close"), "{path}: {first}");
        let second = exchange(&mut connection, &head(path, ""), BODY);
        assert_eq!(first.lines().next(), second.lines().next(), "{path}");
    }
    server.0.stop().await;
}

/// A client that waits for leave to send its body is not asked for it in vain, and
/// is told that the connection ends.
#[tokio::test(flavor = "multi_thread")]
async fn who_asks_first_is_refused_without_sending_the_body() {
    let server = start().await;
    let mut connection = connect(server.0.address());
    let refusal = exchange(&mut connection, &head("/mcp", "Expect: 100-continue\r\n"), "");
    assert!(refusal.starts_with("HTTP/1.1 401"), "{refusal}");
    assert!(refusal.to_lowercase().contains("connection: close"), "{refusal}");
    server.0.stop().await;
}

/// A body that never ends must not hold the answer back.
#[tokio::test(flavor = "multi_thread")]
async fn an_endless_body_ends_the_connection_only() {
    let server = start().await;
    let mut connection = connect(server.0.address());
    let refusal = exchange(&mut connection, &head("/mcp", ""), "{");
    assert!(refusal.starts_with("HTTP/1.1 401"), "{refusal}");
    assert!(refusal.to_lowercase().contains("connection: close"), "{refusal}");
    server.0.stop().await;
}

/// A server, and the folders that it lives in.
struct Started(Server, #[expect(dead_code, reason = "gone when dropped")] (VaultBuilder, TempDir));

async fn start() -> Started {
    let vault = VaultBuilder::plain(&[("home.md", "# Home\n")]);
    let data = tempfile::tempdir().expect("a folder");
    let configuration = Configuration::for_vault(vault.root(), data.path());
    let server = Server::start(configuration).await.expect("a server");
    Started(server, (vault, data))
}

fn connect(address: SocketAddr) -> TcpStream {
    let connection = TcpStream::connect(address).expect("a connection");
    connection.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    connection.set_nodelay(true).expect("small packets");
    connection
}

fn head(path: &str, more: &str) -> String {
    let length = BODY.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n{more}\r\n"
    )
}

/// Sends the head, a moment later the body, and reads the head of the answer.
fn exchange(connection: &mut TcpStream, head: &str, body: &str) -> String {
    connection.write_all(head.as_bytes()).expect("the head is taken");
    std::thread::sleep(Duration::from_millis(50));
    connection.write_all(body.as_bytes()).expect("the body is taken");
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&answer).into_owned();
        if let Some((head, rest)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned)
            });
            let length: usize = length.map_or(0, |length| length.parse().expect("a number"));
            if rest.len() >= length {
                return head.to_owned();
            }
        }
        let read = connection.read(&mut buffer).expect("an answer");
        assert!(read > 0, "the server hung up after {text:?}");
        answer.extend_from_slice(&buffer[..read]);
    }
}
