//! What somebody finds who opens the origin in a browser.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use brain_mcp::configuration::TokenSource;

use crate::support::{TestApp, VaultBuilder};

/// It says where clients connect and where the owner signs in, and nothing of the vault.
#[tokio::test]
async fn a_visitor_learns_the_address_and_nothing_else() {
    let vault = VaultBuilder::plain(&[("Canary.md", "canary")]);
    let app = TestApp::serving(vault.root()).await;
    let page = app.get("/").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    assert!(page.body.contains(&app.resource()), "{}", page.body);
    assert!(page.body.contains(&format!("{}/login", app.issuer())), "{}", page.body);
    let folder = vault.root().to_str().expect("text");
    assert!(!page.body.to_lowercase().contains("canary") && !page.body.contains(folder));
}

/// B04: programs get JSON, at the origin as everywhere else.
#[tokio::test]
async fn programs_still_get_json() {
    let vault = VaultBuilder::plain(&[]);
    let app = TestApp::serving(vault.root()).await;
    let posted = app.send(Request::post("/").body(Body::from("{}")).expect("a request")).await;
    assert_eq!(posted.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(posted.json()["error"].is_string());
    for path in ["/index.html", "/.well-known/openid-configuration", "//"] {
        let missing = app.get(path).await;
        assert_eq!(missing.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(missing.json()["error"], "not_found", "{path}");
    }
}

/// With a foreign issuer nobody signs in here; the page and its looks are there all the
/// same.
#[tokio::test]
async fn a_foreign_issuer_leaves_the_address_only() {
    let vault = VaultBuilder::plain(&[]);
    let app = TestApp::with(vault.root(), |configuration| {
        configuration.tokens = TokenSource::Foreign {
            issuer: "https://issuer.example".parse().expect("an issuer"),
            jwks_url: "https://issuer.example/jwks".parse().expect("a URL"),
        };
    })
    .await;
    let page = app.get("/").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.body.contains(&app.resource()), "{}", page.body);
    assert!(!page.body.contains("login") && !page.body.contains("issuer.example"));
    assert_eq!(app.get("/assets/style.css").await.status, StatusCode::OK);
    assert_eq!(app.get("/login").await.status, StatusCode::NOT_FOUND);
}
