//! `/register`: checklist #84-#100.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::authorization_server::testing::{REDIRECT_URI, TestServer};
use crate::contract::scope::Scope;

const DAY: u64 = 24 * 60 * 60;

fn has_nothing_empty(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => !values.is_empty() && values.iter().all(has_nothing_empty),
        Value::Object(fields) => fields.values().all(has_nothing_empty),
        _ => true,
    }
}

/// Checklist 84, 94; B22, B23, T9: the least that a client can say.
#[tokio::test]
async fn a_client_gets_back_what_was_registered() {
    let test = TestServer::start();
    let answer = test.post_json("/register", &json!({ "redirect_uris": [REDIRECT_URI] })).await;
    assert_eq!(answer.status, StatusCode::CREATED);
    assert_eq!(answer.headers["cache-control"], "no-store");
    let json = answer.json();
    assert!(has_nothing_empty(&json), "{json}");
    assert_eq!(json["redirect_uris"], json!([REDIRECT_URI]));
    assert_eq!(json["grant_types"], json!(["authorization_code", "refresh_token"]));
    assert_eq!(json["response_types"], json!(["code"]));
    assert_eq!(json["token_endpoint_auth_method"], "none");
    assert_eq!(json["application_type"], "web");
    assert_eq!(json["client_id_issued_at"], 1_800_000_000);
    assert!(json.get("client_secret").is_none());
    assert!(json.get("client_secret_expires_at").is_none());
    assert!(json.get("client_name").is_none());
    assert!(!json["client_id"].as_str().unwrap().starts_with("https://"));
}

/// Checklist 85, 47: a secret only for who asks for one, and kept only as a digest.
#[tokio::test]
async fn a_secret_is_issued_when_asked_for() {
    let test = TestServer::start();
    for method in ["client_secret_basic", "client_secret_post"] {
        let metadata = json!({
            "redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": method
        });
        let json = test.post_json("/register", &metadata).await.json();
        assert_eq!(json["token_endpoint_auth_method"], method);
        assert_eq!(json["client_secret"].as_str().unwrap().len(), 43);
        assert_eq!(json["client_secret_expires_at"], 0);
    }
}

/// Checklist 91, 92, 95; T8, T9: fields that are empty, unknown, or more than we support.
#[tokio::test]
async fn what_deployed_clients_send_is_accepted() {
    let test = TestServer::start();
    let rows = [
        json!({ "scope": "", "client_uri": "", "logo_uri": null, "contacts": [] }),
        json!({ "token_endpoint_auth_method": "", "client_name": "" }),
        json!({ "token_endpoint_auth_method": null, "client_name": null, "grant_types": null }),
        json!({ "grant_types": ["authorization_code", "refresh_token", "device_code",
            "urn:ietf:params:oauth:grant-type:jwt-bearer"] }),
        json!({ "grant_types": [], "response_types": [] }),
        json!({ "response_types": ["code", "token"] }),
        json!({ "application_type": "web", "redirect_uris": ["cursor://anysphere.cursor-mcp/cb"] }),
        json!({ "application_type": 7, "software_id": ["x"], "unknown": { "a": 1 } }),
        json!({ "redirect_uris": ["http://localhost:8787/callback",
            "https://www.cursor.com/agents/mcp/oauth/callback",
            "cursor://anysphere.cursor-mcp/oauth/callback"] }),
        json!({ "jwks_uri": "https://client.example.com/keys" }),
    ];
    for row in rows {
        let mut metadata = json!({ "redirect_uris": [REDIRECT_URI] });
        metadata.as_object_mut().unwrap().extend(row.as_object().unwrap().clone());
        let answer = test.post_json("/register", &metadata).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{row} {}", answer.text);
        let json = answer.json();
        assert!(has_nothing_empty(&json), "{json}");
        let all_web = json["redirect_uris"]
            .as_array()
            .unwrap()
            .iter()
            .all(|uri| uri.as_str().unwrap().starts_with("https://"));
        assert_eq!(json["application_type"], if all_web { "web" } else { "native" });
    }
}

/// Checklist 86, 87, 88, 89, 90, 93, 96; B21; R3, R17: one bad thing refuses the registration.
#[tokio::test]
async fn what_breaks_a_rule_is_refused() {
    let test = TestServer::start();
    let long = format!("https://client.example.com/{}", "x".repeat(2048));
    let many: Vec<String> = (0..11).map(|n| format!("https://client.example.com/{n}")).collect();
    let heavy: Vec<String> =
        (0..3).map(|n| format!("https://client.example.com/{n}{}", "x".repeat(2000))).collect();
    let uris = "invalid_redirect_uri";
    let metadata = "invalid_client_metadata";
    let rows = [
        (json!({}), uris),
        (json!({ "redirect_uris": [] }), uris),
        (json!({ "redirect_uris": null }), uris),
        (json!({ "redirect_uris": REDIRECT_URI }), uris),
        (json!({ "redirect_uris": [7] }), uris),
        (json!({ "redirect_uris": [""] }), uris),
        (json!({ "redirect_uris": [REDIRECT_URI, "javascript:alert(1)"] }), uris),
        (json!({ "redirect_uris": [long] }), uris),
        (json!({ "redirect_uris": many }), uris),
        (json!({ "redirect_uris": heavy }), uris),
        (json!({ "redirect_uris": ["https://client.example.com/\u{0}"] }), uris),
        (json!([]), metadata),
        (json!("text"), metadata),
        (json!({ "redirect_uris": [REDIRECT_URI], "client_name": 7 }), metadata),
        (json!({ "redirect_uris": [REDIRECT_URI], "grant_types": "authorization_code" }), metadata),
        (
            json!({ "redirect_uris": [REDIRECT_URI], "grant_types": ["client_credentials"] }),
            metadata,
        ),
        (json!({ "redirect_uris": [REDIRECT_URI], "response_types": ["token"] }), metadata),
        (
            json!({ "redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": "private_key_jwt" }),
            metadata,
        ),
        (
            json!({ "redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": ["none"] }),
            metadata,
        ),
        (
            json!({ "redirect_uris": [REDIRECT_URI], "jwks": { "keys": [] }, "jwks_uri": "https://x" }),
            metadata,
        ),
    ];
    for (body, error) in rows {
        test.post_json("/register", &body).await.assert_error(400, error);
    }
}

/// Checklist 96: a name is shown to people.
#[tokio::test]
async fn a_name_cannot_hide_or_reorder_text() {
    let test = TestServer::start();
    for (sent, kept) in [
        ("Claude", "Claude"),
        ("  two   words\n", "two words"),
        ("a\u{202E}b\u{2066}c\u{200F}d\u{0}e\u{1B}f", "abcdef"),
        ("Ünïcödé 名前", "Ünïcödé 名前"),
        ("<script>", "<script>"),
    ] {
        let metadata = json!({ "redirect_uris": [REDIRECT_URI], "client_name": sent });
        assert_eq!(test.post_json("/register", &metadata).await.json()["client_name"], kept);
    }
    let metadata = json!({ "redirect_uris": [REDIRECT_URI], "client_name": "x".repeat(5000) });
    let json = test.post_json("/register", &metadata).await.json();
    assert_eq!(json["client_name"], format!("{}…", "x".repeat(100)));
    let metadata = json!({ "redirect_uris": [REDIRECT_URI], "client_name": "\u{202E}\u{7}" });
    assert!(test.post_json("/register", &metadata).await.json().get("client_name").is_none());
}

/// Checklist 98: whoever registers the same again is the same (T10, B24).
#[tokio::test]
async fn the_same_public_client_keeps_its_name() {
    let test = TestServer::start();
    let register = async |metadata: Value| {
        test.post_json("/register", &metadata).await.json()["client_id"].clone()
    };
    let first = register(json!({ "client_name": "A", "redirect_uris": [REDIRECT_URI] })).await;
    test.advance(3600);
    let same = json!({ "client_name": "A", "redirect_uris": [REDIRECT_URI], "scope": "wiki:read" });
    assert_eq!(register(same.clone()).await, first);
    // And with it a new day to live.
    test.advance(DAY - 1);
    assert_eq!(register(same).await, first);
    for other in [
        json!({ "client_name": "B", "redirect_uris": [REDIRECT_URI] }),
        json!({ "client_name": "A", "redirect_uris": ["https://client.example.com/other"] }),
        json!({ "client_name": "A", "redirect_uris": [REDIRECT_URI],
            "token_endpoint_auth_method": "client_secret_post" }),
    ] {
        assert_ne!(register(other).await, first);
    }
    let secret = json!({ "client_name": "S", "redirect_uris": [REDIRECT_URI],
        "token_endpoint_auth_method": "client_secret_post" });
    assert_ne!(register(secret.clone()).await, register(secret).await);
}

/// Checklist 99: design section 9 says unused for a day, inactive for 90, never with a grant.
#[tokio::test]
async fn clients_that_nobody_needs_are_forgotten() {
    let test = TestServer::start();
    let unused = test.client("Unused").await;
    let (used, mut tokens) = test.granted(&[Scope::Read]).await;
    let approved = test.client("Approved, never exchanged").await;
    test.code(&approved, crate::contract::scope::ScopeSet::ALL).await;
    let exists = async |client: &crate::authorization_server::client::RegisteredClient| {
        test.server.client(client.id.clone()).await.unwrap().is_some()
    };
    test.advance(DAY - 1);
    test.server.sweep().await.unwrap();
    assert!(exists(&unused).await);
    test.advance(1);
    test.server.sweep().await.unwrap();
    assert!(!exists(&unused).await);
    assert!(exists(&approved).await);
    for _ in 0..5 {
        test.advance(20 * DAY);
        tokens = test.refresh(&used, &tokens.refresh).await.tokens();
    }
    test.server.sweep().await.unwrap();
    assert!(!exists(&approved).await);
    assert!(exists(&used).await, "it has a live grant");
    // The grant dies of idleness, and is remembered for 90 days, as is its client: a
    // dead token must be told from an unknown client (B25).
    test.advance(119 * DAY);
    test.server.sweep().await.unwrap();
    test.refresh(&used, &tokens.refresh).await.assert_error(400, "invalid_grant");
    test.advance(DAY);
    test.server.sweep().await.unwrap();
    test.refresh(&used, &tokens.refresh).await.assert_error(401, "invalid_client");
}

/// Checklist 100: the oldest that was never approved makes room (B24).
#[tokio::test]
async fn a_flood_of_registrations_harms_only_itself() {
    let test = TestServer::start_with(1, |settings| settings.client_limit = 3);
    let (used, tokens) = test.granted(&[Scope::Read]).await;
    for number in 0..20 {
        test.advance(1);
        test.client(&format!("flood {number}")).await;
    }
    assert_eq!(test.refresh(&used, &tokens.refresh).await.status, StatusCode::OK);
    // Full of clients in use: the next one is told so.
    for number in 0..2 {
        let client = test.client(&format!("wanted {number}")).await;
        test.code(&client, crate::contract::scope::ScopeSet::ALL).await;
    }
    let metadata = json!({ "redirect_uris": [REDIRECT_URI], "client_name": "one too many" });
    let answer = test.post_json("/register", &metadata).await;
    answer.assert_error(503, "temporarily_unavailable");
}
