//! What somebody without a token can reach: every route is called.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};

use crate::support::routes::{Door, ROUTES, paths_of, routes_with};
use crate::support::{McpClient, OAuthClient, TestApp, VaultBuilder};

const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::DELETE,
    Method::PATCH,
    Method::TRACE,
];

/// House rule 20: a new route fails here until the table, and by that the tests of this
/// file and of `any_input`, know of it.
#[tokio::test]
async fn every_route_is_in_the_table() {
    let vault = VaultBuilder::plain(&[("a.md", "canary")]);
    let app = TestApp::serving(vault.root()).await;
    let mut known = ROUTES.map(|(path, _)| path);
    known.sort_unstable();
    assert_eq!(paths_of(&app), known);
}

/// Checklist 136, B02, B06, T1: whatever the method, the `Accept` or the revision,
/// without a token there is a challenge and nothing else.
#[tokio::test]
async fn nothing_at_mcp_is_open() {
    let vault = VaultBuilder::plain(&[("a.md", "canary")]);
    let app = TestApp::serving(vault.root()).await;
    for path in routes_with(Door::Token).chain(["/mcp?access_token=x"]) {
        for method in METHODS {
            for revision in ["", "2024-11-05", "2025-11-25", "2026-07-28", "nonsense"] {
                let mut request = Request::builder().method(method.clone()).uri(path);
                if !revision.is_empty() {
                    request = request.header("mcp-protocol-version", revision);
                }
                let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
                let reply = app.send(request.body(Body::from(body)).unwrap()).await;
                assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{method} {path} {revision}");
                let challenge = reply.header("www-authenticate");
                assert!(challenge.contains("resource_metadata="), "{method} {path}: {challenge}");
                assert!(!challenge.contains("error="), "{method} {path}: {challenge}");
            }
        }
    }
}

/// Checklist 137, B05: every kind of bad token gets the same challenge.
#[tokio::test]
async fn bad_tokens_are_challenged() {
    let vault = VaultBuilder::plain(&[("a.md", "canary")]);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "bad tokens").await;
    let tokens = client.tokens(&app, &["wiki:read"]).await;
    let mut tampered = tokens.access.clone();
    tampered.pop();
    for token in ["x", "a.b.c", &tampered, &tokens.refresh, &"a".repeat(5_000)] {
        let reply = McpClient::with_token(token)
            .tool(&app, "search", serde_json::json!({"query": "c"}))
            .await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{token}");
        let challenge = reply.header("www-authenticate");
        assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
        assert!(!reply.body.contains("canary"));
    }
}

/// B03, B04: well-known documents need no token; unknown ones are 404 JSON.
#[tokio::test]
async fn well_known_documents_are_open_and_unknown_ones_are_404() {
    let vault = VaultBuilder::plain(&[("a.md", "canary")]);
    let app = TestApp::serving(vault.root()).await;
    for path in routes_with(Door::Document) {
        let request = Request::get(path)
            .header("authorization", "Bearer nonsense")
            .body(Body::empty())
            .unwrap();
        let reply = app.send(request).await;
        assert_eq!(reply.status, StatusCode::OK, "{path}");
        assert!(reply.header("content-type").starts_with("application/json"), "{path}");
        assert!(!reply.body.contains("null"), "{path}: {}", reply.body);
    }
    for path in ["/.well-known/unknown", "/.well-known/openid-configuration", "/nothing", "/mcpx"] {
        let reply = app.get(path).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}");
        assert!(reply.header("content-type").starts_with("application/json"), "{path}");
    }
}

/// Pages without a session show a form and nothing about the vault, and send nobody to
/// another site.
#[tokio::test]
async fn pages_say_nothing_about_the_vault() {
    let vault = VaultBuilder::plain(&[("canary.md", "canary")]);
    let app = TestApp::serving(vault.root()).await;
    for path in routes_with(Door::Session).chain(routes_with(Door::Open)) {
        for method in METHODS {
            let request = Request::builder().method(method.clone()).uri(path).body(Body::empty());
            let reply = app.send(request.unwrap()).await;
            assert!(reply.status.as_u16() < 500, "{method} {path}: {}", reply.status);
            assert!(!reply.body.contains("canary"), "{method} {path}");
            let location = reply.header("location");
            assert!(location.is_empty() || location.starts_with('/'), "{path}: {location}");
        }
    }
}

/// Checklist 42, 49: who is no client gets nothing, whatever the method.
#[tokio::test]
async fn endpoints_for_clients_give_strangers_nothing() {
    let vault = VaultBuilder::plain(&[("canary.md", "canary")]);
    let app = TestApp::serving(vault.root()).await;
    for path in routes_with(Door::Client) {
        for method in METHODS {
            let form = "grant_type=refresh_token&client_id=nobody&token=x&refresh_token=x";
            let request = Request::builder()
                .method(method.clone())
                .uri(path)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(Body::from(form));
            let reply = app.send(request.unwrap()).await;
            assert!(reply.status.is_client_error(), "{method} {path}: {}", reply.status);
            assert!(reply.header("content-type").starts_with("application/json"), "{path}");
            assert!(!reply.body.contains("token\":"), "{method} {path}: {}", reply.body);
        }
    }
}
