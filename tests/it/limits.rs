//! Limits as they are by default, in front of the whole server.

use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use brain_mcp::authorization_server::RequestLimits;
use brain_mcp::configuration::{BAD_TOKEN_LIMIT, Configuration, MCP_LIMIT};
use serde_json::json;

use super::support::{Browser, McpClient, OAuthClient, Reply, TestApp, VaultBuilder};

fn by_default(configuration: &mut Configuration) {
    configuration.request_limits = RequestLimits::default();
    configuration.mcp_limit = MCP_LIMIT;
    configuration.bad_token_limit = BAD_TOKEN_LIMIT;
}

/// Design section 9, B19: sixty requests a minute for one user through all clients
/// together, and the client is told in JSON when to come again. Who has no token uses up
/// nobody's allowance.
#[tokio::test]
async fn one_user_asks_sixty_times_a_minute() {
    let vault = VaultBuilder::plain(&[("a.md", "tulips")]);
    let app = TestApp::with(vault.root(), by_default).await;
    let mut browser = Browser::signed_in(&app).await;
    let mut clients = Vec::new();
    for name in ["one", "two"] {
        let client = OAuthClient::registered(&app, name).await;
        let code = client.consent(&app, &mut browser, &["wiki:read"]).await;
        let access = client.exchange(&app, &code).await.json()["access_token"].clone();
        clients.push(McpClient::with_token(access.as_str().unwrap()));
    }
    for _ in 0..200 {
        let request = Request::post("/mcp").body(Body::from("{}")).unwrap();
        assert_eq!(app.send(request).await.status, 401);
        let stranger = McpClient::with_token("a.b.c");
        assert_eq!(stranger.tool(&app, "list_tags", json!({})).await.status, 401);
    }
    for number in 0..60 {
        let reply = clients[number % 2].tool(&app, "list_tags", json!({})).await;
        assert_eq!(reply.status, 200, "{number}: {}", reply.body);
    }
    for client in &clients {
        let reply = client.tool(&app, "list_tags", json!({})).await;
        assert_eq!((reply.status.as_u16(), reply.header("retry-after")), (429, "1"));
        let error = &reply.json()["error"];
        assert_eq!((&error["code"], &reply.json()["id"]), (&json!(-32000), &json!(null)));
        assert!(error["message"].as_str().unwrap().contains("60 a minute"), "{error}");
        assert_eq!(reply.header("www-authenticate"), "", "the token is good");
    }
    app.clock.advance(std::time::Duration::from_secs(1));
    assert_eq!(clients[0].tool(&app, "list_tags", json!({})).await.status, 200);
    assert_eq!(clients[1].tool(&app, "list_tags", json!({})).await.status, 429);
}

async fn register(app: &TestApp, neighbour: &str, forwarded: &[&str]) -> Reply {
    let metadata = json!({ "redirect_uris": ["https://app.example/callback"] });
    let mut request = Request::post("/register").header("content-type", "application/json");
    for value in forwarded {
        request = request.header("x-forwarded-for", *value);
    }
    let mut request = request.body(Body::from(metadata.to_string())).unwrap();
    let neighbour: IpAddr = neighbour.parse().unwrap();
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from((neighbour, 40_000))));
    app.send(request).await
}

/// B19, design section 3: behind a proxy on this machine an address is the one that the
/// proxy names, a /64 of IPv6 is one, and nobody chooses one by claiming it.
#[tokio::test]
async fn an_address_is_what_a_trusted_proxy_says() {
    const PROXY: &str = "127.0.0.1";
    let vault = VaultBuilder::plain(&[("a.md", "tulips")]);
    let behind_proxy = |configuration: &mut Configuration| {
        by_default(configuration);
        configuration.resource = Some("https://notes.example.org/mcp".parse().unwrap());
        configuration.trusted_proxies = vec![PROXY.parse().unwrap()];
    };
    let app = TestApp::with(vault.root(), behind_proxy).await;
    for number in 0..30 {
        let claimed = format!("203.0.113.{number}, 198.51.100.1");
        assert_eq!(register(&app, PROXY, &[&claimed]).await.status, 201, "{number}");
        let inside = format!("2001:db8:0:1::{number:x}");
        assert_eq!(register(&app, PROXY, &[&inside]).await.status, 201, "{number}");
        let claimed = format!("203.0.113.{number}");
        assert_eq!(register(&app, "192.0.2.9", &[&claimed]).await.status, 201, "{number}");
    }
    for (neighbour, forwarded) in [
        (PROXY, "198.51.100.1"),
        (PROXY, "203.0.113.99, 198.51.100.1:4711"),
        (PROXY, "2001:db8:0:1:ffff::"),
        ("192.0.2.9", "203.0.113.99"),
    ] {
        let reply = register(&app, neighbour, &[forwarded]).await;
        assert_eq!(reply.status, 429, "{neighbour} {forwarded}");
        assert_eq!(reply.json()["error"], "temporarily_unavailable");
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        assert!(!reply.header("retry-after").is_empty());
    }
    for (neighbour, forwarded) in
        [(PROXY, "198.51.100.2"), (PROXY, "2001:db8:0:2::1"), (PROXY, ""), ("192.0.2.10", "")]
    {
        assert_eq!(register(&app, neighbour, &[forwarded]).await.status, 201, "{forwarded}");
    }
}

/// Design section 9, B19: who tries tokens that nobody issued is told to wait. Others at the
/// same address are not: neither who has a good token, nor who has to hear that theirs is
/// over, nor who has none yet.
#[tokio::test]
async fn guesses_at_tokens_are_limited_by_address() {
    let vault = VaultBuilder::plain(&[("a.md", "tulips")]);
    let app = TestApp::with(vault.root(), by_default).await;
    let client = OAuthClient::registered(&app, "one").await;
    let over = client.tokens(&app, &["wiki:read"]).await.access;
    app.clock.advance(std::time::Duration::from_secs(700));
    let good = client.tokens(&app, &["wiki:read"]).await.access;
    let (start, _) = good.rsplit_once('.').unwrap();
    let forged = format!("{start}.{}", "A".repeat(86));
    let ask = async |token: &str, address: [u8; 4]| {
        let mut request = McpClient::with_token(token).prepared("tools/list", "", json!({}));
        if token.is_empty() {
            request.headers_mut().remove("authorization");
        }
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from((address, 40_000))));
        app.send(request).await
    };
    let (here, elsewhere) = ([192, 0, 2, 9], [192, 0, 2, 10]);
    let times = usize::try_from(BAD_TOKEN_LIMIT.times()).unwrap();
    for number in 0..times {
        let token = ["a.b.c", &*forged, "x"][number % 3];
        assert_eq!(ask(token, here).await.status, 401, "{number}");
    }
    for token in ["a.b.c", &*forged, "x"] {
        let reply = ask(token, here).await;
        assert_eq!(reply.status, 429, "{token}");
        assert_eq!(reply.header("www-authenticate"), "");
        let wait: u64 = reply.header("retry-after").parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        assert_eq!(reply.json()["error"], "temporarily_unavailable");
        assert_eq!(ask(token, elsewhere).await.status, 401);
    }
    assert_eq!(ask(&good, here).await.status, 200);
    for token in ["", &*over] {
        let reply = ask(token, here).await;
        assert_eq!(reply.status, 401, "{token}");
        assert!(reply.header("www-authenticate").starts_with("Bearer "));
    }
    app.clock.advance(std::time::Duration::from_secs(60));
    assert_eq!(ask("a.b.c", here).await.status, 401, "a minute later");
}
