//! The whole server with `jwks_url`: another authorization server signs, ours is off.

use axum::Router;
use axum::routing::get;
use brain_mcp::clock::Clock;
use brain_mcp::configuration::TokenSource;
use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use crate::resource_server::minting::{Key, claims_with, key_set};
use crate::support::{McpClient, TestApp, VaultBuilder};

const FOREIGN: &str = "https://id.example.org/realms/home/";

async fn publish(keys: Vec<Value>) -> String {
    let document = key_set(&keys).as_json().to_owned();
    let router = Router::new().route("/keys", get(move || std::future::ready(document)));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/keys")
}

async fn serving(vault: &VaultBuilder, jwks_url: &str) -> TestApp {
    let tokens = TokenSource::Foreign {
        issuer: FOREIGN.parse().unwrap(),
        jwks_url: jwks_url.parse().unwrap(),
    };
    TestApp::with(vault.root(), |configuration| configuration.tokens = tokens).await
}

fn token(key: &Key, app: &TestApp, scope: &str) -> String {
    let now = Clock::system().now().as_seconds();
    let mut claims = claims_with(json!({
        "iss": FOREIGN, "aud": app.resource(), "iat": now, "exp": now + 600, "scope": scope,
    }));
    let claims_object = claims.as_object_mut().unwrap();
    claims_object.remove("gid");
    claims_object.remove("gen");
    key.token(&claims)
}

/// Issue "Tokens", JWKS-URL mode: ES256 and RS256, scopes as ours, and none of the
/// endpoints of the embedded server.
#[tokio::test]
async fn a_foreign_issuer_opens_what_its_scopes_say() {
    let vault = VaultBuilder::git(&[
        (".gitattributes", "finance/** filter=git-crypt\n"),
        ("garden.md", "# Garden\n\nTulips.\n"),
        ("finance/taxes.md", "# Taxes\n\nTulips.\n"),
    ]);
    let rsa = Key::rsa(Algorithm::RS256);
    let app = serving(&vault, &publish(vec![Key::es256().jwk(), rsa.jwk()]).await).await;
    let metadata = app.get("/.well-known/oauth-protected-resource/mcp").await.json();
    assert_eq!(metadata["authorization_servers"], json!([FOREIGN]));
    for key in [Key::es256(), rsa] {
        let reader = McpClient::with_token(&token(&key, &app, "wiki:read"));
        assert_eq!(reader.search(&app, "tulips").await, ["garden.md"]);
        assert!(reader.read_page(&app, "finance/taxes.md").await.is_err());
        let both = McpClient::with_token(&token(&key, &app, "openid wiki:read wiki:confidential"));
        assert!(both.read_page(&app, "finance/taxes.md").await.is_ok());
    }
    let unknown = McpClient::with_token(&token(&Key::other_es256(), &app, "wiki:read"));
    let refused = unknown.tool(&app, "search", json!({ "query": "tulips" })).await;
    assert_eq!(refused.status, 401);
    for path in ["/authorize", "/login", "/setup", "/token", "/register", "/jwks"] {
        assert_eq!(app.get(path).await.status, 404, "{path}");
    }
    assert_eq!(app.get("/.well-known/oauth-authorization-server").await.status, 404);
}

/// Never open: with the key set out of reach there is 503.
#[tokio::test]
async fn without_the_keys_nothing_is_served() {
    let vault = VaultBuilder::plain(&[("garden.md", "Tulips.")]);
    // Port 9 of loopback: nothing listens there.
    let app = serving(&vault, "http://127.0.0.1:9/keys").await;
    let mcp = McpClient::with_token(&token(&Key::es256(), &app, "wiki:read"));
    let refused = mcp.tool(&app, "search", json!({ "query": "tulips" })).await;
    assert_eq!(refused.status, 503);
    assert!(!refused.body.contains("Tulips"));
}
