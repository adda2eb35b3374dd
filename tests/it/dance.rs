//! Whole authorizations, from the 401 challenge to a page, through the production
//! router.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use std::time::Duration;

use crate::support::{Browser, McpClient, OAuthClient, TestApp, Tokens, VaultBuilder};

/// Rules and pages of three classes; the secret one is a fourth.
const FILES: &[(&str, &str)] = &[
    (
        ".gitattributes",
        "finance/** filter=git-crypt diff=git-crypt\nwiki/people/** filter=git-crypt diff=git-crypt\n",
    ),
    ("garden.md", "# Garden\n\nTulips in April.\n"),
    ("finance/taxes.md", "# Taxes\n\nTulips are not deductible.\n"),
    ("wiki/people/ann.md", "# Ann\n\nAnn likes tulips.\n"),
    ("diary.private.md", "# Diary\n\nTulips and other secrets.\n"),
];

/// What each scope opens.
const OPENED: [(&str, &str); 3] = [
    ("wiki:read", "garden.md"),
    ("wiki:confidential", "finance/taxes.md"),
    ("wiki:people", "wiki/people/ann.md"),
];

const NO_SUCH_PAGE: &str = "missing.md";

/// Checklist 136, B05: the challenge is where every client starts.
#[tokio::test]
async fn a_client_finds_its_way_from_the_challenge() {
    let vault = VaultBuilder::git(FILES);
    let app = TestApp::serving(vault.root()).await;
    let request = Request::post("/mcp").body(Body::from("{}")).unwrap();
    let refused = app.send(request).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert_eq!(
        refused.header("www-authenticate"),
        "Bearer resource_metadata=\"http://127.0.0.1:8090/.well-known/oauth-protected-resource/mcp\", \
         scope=\"wiki:read wiki:confidential wiki:people wiki:write\""
    );
    let resource = app.get("/.well-known/oauth-protected-resource/mcp").await.json();
    assert_eq!(resource["resource"], app.resource());
    assert_eq!(resource["authorization_servers"][0], app.issuer());
    let metadata = app.get("/.well-known/oauth-authorization-server").await.json();
    assert_eq!(metadata["issuer"], app.issuer());
    for endpoint in
        ["authorization_endpoint", "token_endpoint", "registration_endpoint", "jwks_uri"]
    {
        let url = metadata[endpoint].as_str().expect("a URL");
        assert!(url.starts_with(app.issuer()), "{endpoint}: {url}");
    }
}

/// Issue "Real vault": a token with each of the 8 subsets of the three read scopes
/// sees exactly its pages. `wiki:write` keeps the empty subset from being a refusal.
#[tokio::test]
async fn each_subset_of_scopes_sees_exactly_its_pages() {
    let vault = VaultBuilder::git(FILES);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "subsets").await;
    for subset in 1..8_usize {
        let chosen: Vec<_> =
            (0..3).filter(|bit| subset & (1 << bit) != 0).map(|bit| OPENED[bit]).collect();
        let scopes: Vec<&str> = chosen.iter().map(|(scope, _)| *scope).collect();
        let tokens = client.tokens(&app, &scopes).await;
        assert_eq!(tokens.scope, scopes.join(" "));
        let mcp = McpClient::with_token(&tokens.access);
        let mut expected: Vec<&str> = chosen.iter().map(|(_, path)| *path).collect();
        let mut found = mcp.search(&app, "tulips").await;
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{scopes:?}");
        let missing = mcp.read_page(&app, NO_SUCH_PAGE).await.expect_err("no page");
        for (_, path) in OPENED.into_iter().chain([("", "diary.private.md")]) {
            let answer = mcp.read_page(&app, path).await;
            if expected.contains(&path) {
                assert!(answer.expect("a page").contains("ulips"), "{path}");
            } else {
                assert_eq!(answer.expect_err("hidden"), missing, "{scopes:?} {path}");
            }
        }
    }
}

/// The eighth subset, and Checklist 137: who may read nothing is told what to ask for.
#[tokio::test]
async fn a_token_without_a_read_scope_is_asked_for_more() {
    let vault = VaultBuilder::git(FILES);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "writer").await;
    let tokens = client.tokens(&app, &["wiki:write"]).await;
    let mcp = McpClient::with_token(&tokens.access);
    for (tool, arguments) in [
        ("search", serde_json::json!({"query": "tulips"})),
        ("read_page", serde_json::json!({"path": "garden.md"})),
    ] {
        let refused = mcp.tool(&app, tool, arguments).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        let challenge = refused.header("www-authenticate");
        assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
        assert!(challenge.contains("wiki:read"), "{challenge}");
    }
}

/// Checklist 145: what was not ticked is absent from token, answer and grant.
#[tokio::test]
async fn a_narrowed_consent_hides_pages() {
    let vault = VaultBuilder::git(FILES);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "narrowed").await;
    let mut browser = Browser::signed_in(&app).await;
    let all = "wiki:read wiki:confidential wiki:people wiki:write";
    let page = browser.open(&app, &client.authorize_url(&app, all)).await;
    let ticked: Vec<String> = page
        .form("Allow")
        .boxes
        .into_iter()
        .filter_map(|(_, value, ticked)| ticked.then_some(value))
        .collect();
    assert_eq!(ticked, ["wiki:read"], "only ordinary pages are ticked at first");
    let done = page.submit_with(&mut browser, &app, "Allow", |form| form).await;
    let code = query(done.elsewhere(), "code").expect("a code");
    let tokens = Tokens::of(&client.exchange(&app, &code).await.json());
    assert_eq!(tokens.scope, "wiki:read");
    let refreshed = client.refresh(&app, &tokens.refresh).await.json();
    assert_eq!(refreshed["scope"], "wiki:read");
}

/// Checklist 51, 52, 53: a code works once, and its second use ends the grant at once.
#[tokio::test]
async fn a_replayed_code_ends_the_grant() {
    let vault = VaultBuilder::git(FILES);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "replayed").await;
    let mut browser = Browser::signed_in(&app).await;
    let code = client.consent(&app, &mut browser, &["wiki:read"]).await;
    let tokens = Tokens::of(&client.exchange(&app, &code).await.json());
    let mcp = McpClient::with_token(&tokens.access);
    assert!(mcp.read_page(&app, "garden.md").await.is_ok());

    let replay = client.exchange(&app, &code).await;
    assert_eq!(
        (replay.status, &replay.json()["error"]),
        (StatusCode::BAD_REQUEST, &"invalid_grant".into())
    );
    let refused = mcp.tool(&app, "search", serde_json::json!({"query": "tulips"})).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(refused.header("www-authenticate").contains("error=\"invalid_token\""));
    assert_eq!(client.refresh(&app, &tokens.refresh).await.json()["error"], "invalid_grant");
}

/// Checklist 126: after a revocation the very next call is refused.
#[tokio::test]
async fn a_revoked_grant_is_refused_by_the_next_call() {
    let vault = VaultBuilder::git(FILES);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "revoked").await;
    let tokens = client.tokens(&app, &["wiki:read"]).await;
    let mcp = McpClient::with_token(&tokens.access);
    assert!(mcp.read_page(&app, "garden.md").await.is_ok());
    assert_eq!(client.revoke(&app, &tokens.refresh).await.status, StatusCode::OK);
    let refused = mcp.tool(&app, "search", serde_json::json!({"query": "tulips"})).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}

/// Checklist 80, 135: client, grant and keys survive a restart; so do access tokens.
#[tokio::test]
async fn a_restart_ends_nothing() {
    let vault = VaultBuilder::git(FILES);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "survivor").await;
    let tokens = client.tokens(&app, &["wiki:read"]).await;
    let keys = app.get("/jwks").await.body;
    let app = app.restart().await;
    assert_eq!(app.get("/jwks").await.body, keys);
    let mcp = McpClient::with_token(&tokens.access);
    assert!(mcp.read_page(&app, "garden.md").await.is_ok());
    let refreshed = client.refresh(&app, &tokens.refresh).await;
    assert_eq!(refreshed.status, StatusCode::OK, "{}", refreshed.body);
}

/// Design section 9: an access token lives for ten minutes, and a refresh goes on.
#[tokio::test]
async fn an_expired_token_is_refused_and_refreshed() {
    let vault = VaultBuilder::git(FILES);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "expired").await;
    let tokens = client.tokens(&app, &["wiki:read"]).await;
    app.clock.advance(Duration::from_secs(11 * 60));
    let mcp = McpClient::with_token(&tokens.access);
    let refused = mcp.tool(&app, "search", serde_json::json!({"query": "tulips"})).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    let refreshed = Tokens::of(&client.refresh(&app, &tokens.refresh).await.json());
    assert!(McpClient::with_token(&refreshed.access).read_page(&app, "garden.md").await.is_ok());
}

/// Design section 5: `wiki:people` ends by itself, and a refresh goes on without it.
#[tokio::test]
async fn people_are_open_for_an_hour_only() {
    let vault = VaultBuilder::git(FILES);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "people").await;
    let mut tokens = client.tokens(&app, &["wiki:read", "wiki:people"]).await;
    assert_eq!(tokens.scope, "wiki:read wiki:people");
    for _ in 0..7 {
        app.clock.advance(Duration::from_secs(9 * 60));
        tokens = Tokens::of(&client.refresh(&app, &tokens.refresh).await.json());
    }
    assert_eq!(tokens.scope, "wiki:read");
    let mcp = McpClient::with_token(&tokens.access);
    assert!(mcp.read_page(&app, "wiki/people/ann.md").await.is_err());
    assert!(mcp.read_page(&app, "garden.md").await.is_ok());
}

/// A foreign `Host` is refused at every kind of route (DNS rebinding, B16).
#[tokio::test]
async fn a_foreign_host_gets_nothing() {
    let vault = VaultBuilder::git(FILES);
    let app = TestApp::serving(vault.root()).await;
    for path in ["/mcp", "/authorize", "/login", "/jwks", "/health", "/nothing"] {
        let request =
            Request::get(path).header("host", "evil.example").body(Body::empty()).unwrap();
        let reply = app.send(request).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path}");
        assert!(!reply.body.contains("evil"), "{path}: {}", reply.body);
    }
}

/// Design section 3: users see their own vaults, and not each other's.
#[tokio::test]
async fn a_user_sees_only_her_own_vaults() {
    use brain_mcp::configuration::{People, User};
    let (alice, bob) = (
        VaultBuilder::plain(&[("a.md", "tulips of alice")]),
        VaultBuilder::plain(&[("b.md", "tulips of bob")]),
    );
    let user = |name: &str, vault: &VaultBuilder| User {
        name: name.to_owned(),
        subjects: Vec::new(),
        vaults: vec![("notes".to_owned(), vault.root().to_owned())],
        inbox: None,
    };
    let users = vec![user("owner", &alice), user("bob", &bob)];
    let app =
        TestApp::with(alice.root(), |configuration| configuration.people = People::Named(users))
            .await;
    let client = OAuthClient::registered(&app, "of alice").await;
    let tokens = client.tokens(&app, &["wiki:read"]).await;
    let mcp = McpClient::with_token(&tokens.access);
    assert_eq!(mcp.search(&app, "tulips").await, ["a.md"]);
    assert!(mcp.read_page(&app, "b.md").await.is_err());
}

fn query(url: &str, name: &str) -> Option<String> {
    let url = url::Url::parse(url).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
