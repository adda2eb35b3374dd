//! `/authorize`: unknown clients, and the places that an answer may go to.

use axum::http::StatusCode;

use super::authorize::{assert_consent, setting};
use super::{Ask, ISSUER};

/// Checklist 6, R4
#[tokio::test]
async fn an_unknown_client_is_told_on_a_page() {
    let (test, mut browser, client) = setting().await;
    let mut stranger = test.browser();
    for name in ["nobody", "https://app.example/client.json", "' OR 1=1", "\u{0}"] {
        let url = Ask::of(&client).with("client_id", name).url();
        browser.open(&url).await.assert_local_page(StatusCode::BAD_REQUEST);
        stranger.open(&url).await.assert_local_page(StatusCode::BAD_REQUEST);
    }
    let url = Ask::of(&client).without("client_id").url();
    browser.open(&url).await.assert_local_page(StatusCode::BAD_REQUEST);
}

/// Checklist 7, 8, R4
#[tokio::test]
async fn only_the_registered_redirect_uri_will_do() {
    let (test, mut browser, _client) = setting().await;
    let client = test.client(&["https://app.example/Call/back?x=a%2fb"]).await;
    for near in [
        "https://evil.example/Call/back?x=a%2fb",
        "https://app.example/call/back?x=a%2fb",
        "https://app.example/Call/back/?x=a%2fb",
        "https://app.example/Call/back?x=a%2Fb",
        "https://app.example/Call/back?x=a/b",
        "https://app.example/Call/back",
        "https://app.example/Call/back?x=a%2fb&y=1",
        "https://app.example/Call/../Call/back?x=a%2fb",
        "https://app.example:443/Call/back?x=a%2fb",
        "https://me@app.example/Call/back?x=a%2fb",
        "https://app.example/Call/back?x=a%2fb#top",
        "HTTPS://app.example/Call/back?x=a%2fb",
        "http://app.example/Call/back?x=a%2fb",
        "https://app.example.evil.example/Call/back?x=a%2fb",
        "https://app.example/Call/back?x=a%2fb\r\nSet-Cookie: a=b",
        "javascript:alert(1)",
        "//evil.example",
    ] {
        let answer = browser.open(&Ask::of(&client).with("redirect_uri", near).url()).await;
        answer.assert_local_page(StatusCode::BAD_REQUEST);
        assert!(!answer.body.contains("evil.example"), "{near}");
    }
}

/// Checklist 9, 10, T7
#[tokio::test]
async fn loopback_ports_float_and_nothing_else_does() {
    let (test, mut browser, _client) = setting().await;
    let client = test
        .client(&[
            "http://127.0.0.1/cb",
            "http://[::1]:1/cb",
            "http://localhost:3000/cb",
            "http://127.0.0.1:33418",
        ])
        .await;
    for good in [
        "http://127.0.0.1:49152/cb",
        "http://[::1]:49152/cb",
        "http://localhost:49152/cb",
        "http://127.0.0.1:33418/",
        "http://127.0.0.1:5",
    ] {
        let page = browser.open(&Ask::of(&client).with("redirect_uri", good).url()).await;
        assert_consent(&page, good);
        let answer = browser.allow(&page, &["wiki:read"]).await;
        assert!(answer.location().starts_with(good), "{}", answer.location());
    }
    let only_the_address = test.client(&["http://127.0.0.1/cb"]).await;
    for (client, bad) in [
        (&only_the_address, "http://localhost:49152/cb"),
        (&only_the_address, "http://[::1]:49152/cb"),
        (&only_the_address, "http://127.0.0.2/cb"),
        (&client, "http://127.0.0.1:49152/CB"),
        (&client, "http://127.0.0.1:49152/cb?x"),
        (&client, "https://127.0.0.1:49152/cb"),
        (&client, "http://127.0.0.1:49152@evil.example/cb"),
    ] {
        let answer = browser.open(&Ask::of(client).with("redirect_uri", bad).url()).await;
        answer.assert_local_page(StatusCode::BAD_REQUEST);
    }
}

/// Checklist 11: demanded always.
#[tokio::test]
async fn the_redirect_uri_is_demanded() {
    let (_test, mut browser, client) = setting().await;
    let answer = browser.open(&Ask::of(&client).without("redirect_uri").url()).await;
    answer.assert_local_page(StatusCode::BAD_REQUEST);
}

/// Checklist 19
#[tokio::test]
async fn a_registered_query_is_kept_without_becoming_a_double() {
    let (test, mut browser, _client) = setting().await;
    let place = "https://app.example/cb?tenant=a%2Fb&iss=evil&state=evil&code=evil";
    let client = test.client(&[place]).await;
    let page = browser.open(&Ask::of(&client).with("redirect_uri", place).url()).await;
    let answer = browser.allow(&page, &["wiki:read"]).await;
    assert!(answer.location().starts_with("https://app.example/cb?tenant=a%2Fb&code="));
    let response = answer.response();
    assert_eq!((&*response["state"], &*response["iss"]), ("xyz", ISSUER));
    assert_ne!(response["code"], "evil");
}
