//! `/authorize`: which requests are shown, sent back, or told on a page.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, StatusCode, header};

use super::{Answer, Ask, Browser, CALLBACK, CHALLENGE, ISSUER, PageServer};
use crate::authorization_server::client::ClientId;
use crate::contract::scope::{Scope, ScopeSet};
use crate::entropy::Entropy;

pub(super) async fn setting() -> (PageServer, Browser, ClientId) {
    let test = PageServer::new().await;
    let client = test.client(&[CALLBACK]).await;
    let browser = test.signed_in().await;
    (test, browser, client)
}

#[track_caller]
pub(super) fn assert_consent(page: &Answer, why: &str) {
    assert_eq!(page.status, StatusCode::OK, "{why}: {page:?}");
    assert!(page.body.contains("value=\"allow\""), "{why}: {}", page.body);
}

/// Checklist 1
#[tokio::test]
async fn only_get_and_post_ask() {
    let (_test, mut browser, client) = setting().await;
    assert_consent(&browser.open(&Ask::of(&client).url()).await, "GET");
    let url = Ask::of(&client).url();
    for method in [Method::PUT, Method::DELETE, Method::PATCH] {
        let answer = browser.send(method, &url, Body::empty()).await;
        answer.assert_local_page(StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(answer.header(header::ALLOW), "GET,HEAD,POST");
    }
}

/// OAuth 2.1 section 3.1 allows the client to post the request. Our cookie does not
/// come with a form of another site, and must survive it.
#[tokio::test]
async fn a_posted_request_becomes_a_get() {
    let (test, mut browser, client) = setting().await;
    let body = Body::from(Ask::of(&client).with("state", "a+b &=%2B").query());
    let answer = test.browser().send(Method::POST, "/authorize", body).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.header(header::SET_COOKIE), "");
    let page = browser.open(answer.location()).await;
    let response = browser.allow(&page, &["wiki:read"]).await.response();
    assert_eq!(response["state"], "a+b &=%2B");
}

/// Checklist 2, T12, B31
#[tokio::test]
async fn unknown_parameters_are_ignored() {
    let (_test, mut browser, client) = setting().await;
    let ask = Ask::of(&client)
        .and("ui_locales", "de fr")
        .and("ui_locales", "en")
        .and("prompt", "consent")
        .and("audience", "x")
        .and("login_hint", "me@example.org")
        .and("nonce", "n")
        .and("access_type", "offline")
        .and("application_type", "native")
        .and("display", "touch")
        .and("max_age", "-1");
    assert_consent(&browser.open(&ask.url()).await, "unknown parameters");
}

/// Checklist 3
#[tokio::test]
async fn repeated_parameters_are_refused() {
    let (_test, mut browser, client) = setting().await;
    for name in
        ["response_type", "code_challenge", "code_challenge_method", "scope", "state", "prompt"]
    {
        let ask = Ask::of(&client).with(name, "same").and(name, "same");
        let answer = browser.open(&ask.url()).await;
        assert_eq!(answer.error(), "invalid_request", "{name}");
        assert_eq!(answer.response().contains_key("state"), name != "state");
    }
    for (name, value) in [("client_id", client.as_str()), ("redirect_uri", CALLBACK)] {
        let answer = browser.open(&Ask::of(&client).and(name, value).url()).await;
        answer.assert_local_page(StatusCode::BAD_REQUEST);
    }
}

/// Checklist 4
#[tokio::test]
async fn an_empty_value_is_an_absent_one() {
    let (_test, mut browser, client) = setting().await;
    let ask = Ask::of(&client)
        .with("state", "")
        .with("scope", "")
        .with("resource", "")
        .with("request", "")
        .with("prompt", "");
    let page = browser.open(&ask.url()).await;
    assert_consent(&page, "empty values");
    assert!(!browser.allow(&page, &["wiki:read"]).await.response().contains_key("state"));
    let answer = browser.open(&Ask::of(&client).with("response_type", "").url()).await;
    assert_eq!(answer.error(), "invalid_request");
    for name in ["client_id", "redirect_uri"] {
        let answer = browser.open(&Ask::of(&client).with(name, "").url()).await;
        answer.assert_local_page(StatusCode::BAD_REQUEST);
    }
}

/// Checklist 5, R12
#[tokio::test]
async fn pages_have_no_cors_headers() {
    let (_test, mut browser, client) = setting().await;
    browser.headers = vec![("origin", "https://app.example")];
    for url in [Ask::of(&client).url(), "/login".into(), "/consent".into(), "/setup".into()] {
        let answer = browser.get(&url).await;
        let cors = answer.headers.keys().find(|name| name.as_str().starts_with("access-control"));
        assert_eq!(cors, None, "{url}");
    }
}

/// Checklist 12, 13, 14, 15, 16, 20, 23, 26, 27, B34
#[tokio::test]
async fn faulty_requests_are_sent_back_with_the_right_error() {
    let (_test, mut browser, client) = setting().await;
    let ask = || Ask::of(&client);
    let upper = CHALLENGE.to_ascii_uppercase();
    let table = [
        (ask().without("response_type"), "invalid_request"),
        (ask().with("response_type", "token"), "unsupported_response_type"),
        (ask().with("response_type", "id_token"), "unsupported_response_type"),
        (ask().with("response_type", "code token"), "unsupported_response_type"),
        (ask().with("response_type", "CODE"), "unsupported_response_type"),
        (ask().without("code_challenge").without("code_challenge_method"), "invalid_request"),
        (ask().without("code_challenge"), "invalid_request"),
        (ask().without("code_challenge_method"), "invalid_request"),
        (ask().with("code_challenge_method", "plain"), "invalid_request"),
        (ask().with("code_challenge_method", "s256"), "invalid_request"),
        (ask().with("code_challenge_method", "S512"), "invalid_request"),
        (ask().with("code_challenge", &upper[..42]), "invalid_request"),
        (ask().with("code_challenge", &format!("{upper}A")), "invalid_request"),
        (ask().with("code_challenge", &format!("{}=", &upper[..42])), "invalid_request"),
        (ask().with("resource", "https://other.example/mcp"), "invalid_target"),
        (ask().with("resource", &format!("{ISSUER}/mcp#part")), "invalid_target"),
        (ask().with("resource", "mcp"), "invalid_target"),
        (
            ask().with("resource", &format!("{ISSUER}/mcp")).and("resource", "https://o.example/"),
            "invalid_target",
        ),
        (ask().with("prompt", "none"), "interaction_required"),
        (ask().with("prompt", "login none"), "interaction_required"),
        (ask().with("request", "eyJhbGciOiJub25lIn0.e30."), "request_not_supported"),
        (ask().with("request_uri", "https://app.example/r"), "request_uri_not_supported"),
    ];
    for (ask, code) in table {
        let answer = browser.open(&ask.url()).await;
        assert_eq!(answer.error(), code, "{}", ask.url());
        assert!(answer.location().starts_with(CALLBACK));
        let response = answer.response();
        assert_eq!((&*response["state"], &*response["iss"]), ("xyz", ISSUER));
    }
}

/// Checklist 17, B32
#[tokio::test]
async fn state_comes_back_as_it_was() {
    let (_test, mut browser, client) = setting().await;
    let long = "s".repeat(2048);
    for state in [
        "plain",
        "a b+c/d=e%2Bf&g:h;i#j?k",
        "ünïcödé 🧠",
        "\u{FFFD}",
        "{\"a\":[1]}",
        "\r\nX: y",
        "'\"<b>",
        "  ",
        &long,
    ] {
        let ask = Ask::of(&client).with("state", state);
        let page = browser.open(&ask.url()).await;
        assert_eq!(browser.allow(&page, &["wiki:read"]).await.response()["state"], state);
        let answer = browser.open(&ask.without("code_challenge").url()).await;
        assert_eq!(answer.response()["state"], state);
    }
}

/// Checklist 18, B35: `response` checks that nothing is there twice.
#[tokio::test]
async fn the_issuer_is_named_in_every_answer() {
    let (_test, mut browser, client) = setting().await;
    let page = browser.open(&Ask::of(&client).url()).await;
    assert_eq!(browser.allow(&page, &["wiki:read"]).await.response()["iss"], ISSUER);
    let page = browser.open(&Ask::of(&client).url()).await;
    let denied = browser.deny(&page).await.response();
    assert_eq!((&*denied["iss"], &*denied["error"]), (ISSUER, "access_denied"));
}

/// Checklist 20, 21, 22, 23: all spellings of ours, also several, also none.
#[tokio::test]
async fn every_spelling_of_our_resource_will_do() {
    let (test, mut browser, client) = setting().await;
    let asks = [
        Ask::of(&client),
        Ask::of(&client).and("resource", "https://brain.example/mcp"),
        Ask::of(&client).and("resource", "https://brain.example/mcp/"),
        Ask::of(&client).and("resource", "https://brain.example"),
        Ask::of(&client).and("resource", "https://brain.example/"),
        Ask::of(&client).and("resource", "HTTPS://Brain.Example:443/mcp"),
        Ask::of(&client)
            .and("resource", "https://brain.example/mcp")
            .and("resource", "https://brain.example/mcp/"),
    ];
    for ask in asks {
        let page = browser.open(&ask.url()).await;
        assert_consent(&page, &ask.url());
        let code = browser.allow(&page, &["wiki:read"]).await.code();
        assert_eq!(test.issued(&code).await.terms.resource, "https://brain.example/mcp");
    }
}

/// Checklist 24, 25, T11
#[tokio::test]
async fn known_scopes_are_offered_and_all_if_none_is_known() {
    let (_test, mut browser, client) = setting().await;
    let everything: Vec<&str> = vec!["wiki:read", "wiki:confidential", "wiki:people", "wiki:write"];
    for (asked, offered) in [
        ("wiki:read", vec!["wiki:read"]),
        ("wiki:write  wiki:read wiki:write", vec!["wiki:read", "wiki:write"]),
        ("wiki:people offline_access", vec!["wiki:people"]),
        ("openid email profile offline_access claudeai", everything.clone()),
        ("WIKI:READ", everything.clone()),
        ("", everything),
    ] {
        let page = browser.open(&Ask::of(&client).with("scope", asked).url()).await;
        let found: Vec<&str> = ScopeSet::ALL
            .iter()
            .map(Scope::as_str)
            .filter(|scope| page.body.contains(&format!("name=\"scope\" value=\"{scope}\"")))
            .collect();
        assert_eq!(found, offered, "{asked}");
    }
}

/// Checklist 28: whatever the request, a browser without a user goes to the sign-in page, and
/// only then to the client.
#[tokio::test]
async fn nobody_is_redirected_away_before_signing_in() {
    let (test, _browser, client) = setting().await;
    let asks = [
        (Ask::of(&client).without("code_challenge"), "invalid_request"),
        (Ask::of(&client).with("response_type", "token"), "unsupported_response_type"),
        (Ask::of(&client).with("prompt", "none"), "interaction_required"),
        (Ask::of(&client).with("resource", "https://o.example"), "invalid_target"),
    ];
    for (ask, code) in asks {
        let mut browser = test.browser();
        let page = browser.open(&ask.url()).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.body.contains("type=\"password\""));
        let again = browser.get(&page.action().replace("/login", "/consent")).await;
        assert!(again.location().starts_with("/login?"));
        let signed_in = browser.sign_in(&page.action(), super::PASSWORD).await;
        assert_eq!(browser.open(signed_in.location()).await.error(), code);
    }
}

/// Checklist 29, 30, 31: the code is a secret of its own, and is kept with all that it stands
/// for.
#[tokio::test]
async fn a_code_is_random_short_lived_and_bound() {
    let (test, mut browser, client) = setting().await;
    let page = browser.open(&Ask::of(&client).url()).await;
    let code = browser.allow(&page, &["wiki:read", "wiki:people"]).await.code();
    assert_eq!(code.len(), 43);
    assert!(!code.contains(CHALLENGE) && !CHALLENGE.contains(&code));
    let issued = test.issued(&code).await;
    let now = test.server.clock().now();
    assert_eq!(issued.expires_at, now + Duration::from_secs(60));
    assert_eq!(issued.terms.client, client);
    assert_eq!(issued.terms.subject, "owner");
    assert_eq!(issued.terms.scopes.to_string(), "wiki:read wiki:people");
    assert_eq!(issued.terms.ends_at, now + Duration::from_secs(180 * 86_400));
    assert_eq!(issued.terms.people_until, now + Duration::from_secs(3600));
}

/// Checklist 30: no two of a million are the same.
#[test]
fn secrets_are_never_the_same() {
    let entropy = Entropy::system();
    let beginning = |secret: String| -> [u8; 32] { secret.as_bytes()[..32].try_into().unwrap() };
    let mut secrets: Vec<_> = (0..1_000_000).map(|_| beginning(entropy.secret())).collect();
    secrets.sort_unstable();
    secrets.dedup();
    assert_eq!(secrets.len(), 1_000_000);
}

/// Checklist 32
#[tokio::test]
async fn every_redirect_is_a_303() {
    let (test, mut browser, client) = setting().await;
    let mut answers = vec![test.browser().get(&Ask::of(&client).url()).await];
    answers.push(browser.get(&Ask::of(&client).url()).await);
    let page = browser.open(&Ask::of(&client).url()).await;
    answers.push(browser.allow(&page, &["wiki:read"]).await);
    let page = browser.open(&Ask::of(&client).url()).await;
    answers.push(browser.deny(&page).await);
    for answer in answers {
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
    }
}

/// Checklist 33
#[tokio::test]
async fn long_requests_are_refused_on_a_page() {
    let (_test, mut browser, client) = setting().await;
    let long_state = Ask::of(&client).with("state", &"s".repeat(2049));
    browser.open(&long_state.url()).await.assert_local_page(StatusCode::BAD_REQUEST);
    let long = Ask::of(&client).with("unknown", &"u".repeat(8192));
    browser.open(&long.url()).await.assert_local_page(StatusCode::BAD_REQUEST);
    let body = Body::from(long.query());
    let answer = browser.send(Method::POST, "/authorize", body).await;
    answer.assert_local_page(StatusCode::BAD_REQUEST);
    let body = Body::from("x".repeat(65 * 1024));
    let answer = browser.send(Method::POST, "/authorize", body).await;
    answer.assert_local_page(StatusCode::PAYLOAD_TOO_LARGE);
}

/// Checklist 34, T24: ten minutes, and not one more.
#[tokio::test]
async fn a_waiting_request_expires_after_ten_minutes() {
    let (test, mut browser, client) = setting().await;
    let page = browser.open(&Ask::of(&client).url()).await;
    test.wait(Duration::from_secs(599));
    assert_consent(&browser.get(&page.action()).await, "before");
    test.wait(Duration::from_secs(1));
    let answer = browser.allow(&page, &["wiki:read"]).await;
    answer.assert_local_page(StatusCode::FORBIDDEN);
    browser.get(&page.action()).await.assert_local_page(StatusCode::NOT_FOUND);
}
