//! How often clients may ask.

use axum::http::StatusCode;
use serde_json::json;

use crate::authorization_server::RequestLimits;
use crate::authorization_server::client::ClientId;
use crate::authorization_server::testing::{
    Answer, REDIRECT_URI, TestServer, exchange_form, form_request, json_request,
};
use crate::contract::scope::{Scope, ScopeSet};
use crate::peer::Peer;

/// A server with the limits that it has by default.
fn limited() -> TestServer {
    TestServer::start_with(1, |settings| settings.limits = RequestLimits::default())
}

fn at(last: u8) -> Peer {
    Peer::at([192, 0, 2, last].into())
}

async fn register(test: &TestServer, peer: Peer, name: &str) -> Answer {
    let metadata = json!({ "client_name": name, "redirect_uris": [REDIRECT_URI] });
    test.send_from(peer, json_request("/register", &metadata)).await
}

async fn junk(test: &TestServer, peer: Peer, path: &str) -> Answer {
    let form = [("grant_type", "refresh_token"), ("client_id", "x"), ("refresh_token", "junk")];
    test.send_from(peer, form_request(path, &form)).await
}

#[track_caller]
fn assert_too_many(answer: &Answer) {
    answer.assert_error(429, "temporarily_unavailable");
    let wait: u64 = answer.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(answer.headers["cache-control"], "no-store");
}

/// Checklist 97: registrations are limited by address, with `Retry-After`, and other
/// addresses and endpoints go on. B19: at least 20 a minute pass.
#[tokio::test]
async fn registrations_are_limited_by_address() {
    let test = limited();
    for number in 0..30 {
        let answer = register(&test, at(1), &format!("app {number}")).await;
        assert_eq!(answer.status, StatusCode::CREATED);
    }
    assert_too_many(&register(&test, at(1), "one too many").await);
    assert_eq!(register(&test, at(2), "another").await.status, StatusCode::CREATED);
    assert_eq!(junk(&test, at(1), "/token").await.status, StatusCode::UNAUTHORIZED);
    test.advance(2);
    assert_eq!(register(&test, at(1), "later").await.status, StatusCode::CREATED);
    assert_too_many(&register(&test, at(1), "one too many").await);
}

/// Checklist 97: all addresses together have a limit, too.
#[tokio::test]
async fn registrations_are_limited_in_all() {
    let test = limited();
    let mut registered = 0;
    for number in 0..=200 {
        for _ in 0..4 {
            let answer = register(&test, at(number), "the same app").await;
            registered += usize::from(answer.status == StatusCode::CREATED);
        }
    }
    assert_eq!(registered, 600);
}

/// B19: a proxy that names nobody is the world, and the world may ask oftener than one.
#[tokio::test]
async fn those_who_cannot_be_told_apart_have_room() {
    let test = limited();
    for _ in 0..300 {
        let answer = register(&test, Peer::UNKNOWN, "the same app").await;
        assert_eq!(answer.status, StatusCode::CREATED);
    }
}

/// B19: hundreds of token requests a minute pass from one address, and beyond them a
/// genuine refresh token does, for it counts for its grant.
#[tokio::test]
async fn a_flood_of_junk_keeps_no_refresh_out() {
    let test = limited();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    let code = test.code(&client, ScopeSet::ALL).await;
    for path in ["/token", "/revoke"] {
        for _ in 0..300 {
            assert_eq!(junk(&test, at(1), path).await.status, StatusCode::UNAUTHORIZED);
        }
    }
    assert_too_many(&junk(&test, at(1), "/token").await);
    assert_too_many(&junk(&test, at(1), "/revoke").await);
    let refresh = |token: String| {
        let id = client.id.clone();
        let form = [
            ("grant_type", "refresh_token".to_owned()),
            ("client_id", id.to_string()),
            ("refresh_token", token),
        ];
        let pairs = form.each_ref().map(|(name, value)| (*name, &**value));
        test.send_from(at(1), form_request("/token", &pairs))
    };
    let mut token = tokens.refresh.clone();
    for _ in 0..60 {
        token = refresh(token).await.tokens().refresh;
    }
    assert_too_many(&refresh(token.clone()).await);
    test.advance(1);
    refresh(token).await.tokens();
    let exchange = form_request("/token", &exchange_form(client.id.as_str(), &code));
    assert_eq!(test.send_from(at(2), exchange).await.status, StatusCode::OK);
}

/// Checklist 48: secrets are not guessed by the thousand; and whoever tries does not
/// keep the client itself out, which asks from elsewhere and as often as it likes.
#[tokio::test]
async fn wrong_secrets_are_limited() {
    let test = limited();
    let metadata = json!({
        "redirect_uris": [REDIRECT_URI],
        "token_endpoint_auth_method": "client_secret_post",
    });
    let client = test.post_json("/register", &metadata).await.json();
    let (id, secret) = (client["client_id"].as_str().unwrap(), &client["client_secret"]);
    let ask = |peer, secret: &str| {
        let form = [
            ("grant_type", "refresh_token"),
            ("client_id", id),
            ("client_secret", secret),
            ("refresh_token", "junk"),
        ];
        test.send_from(peer, form_request("/token", &form))
    };
    for number in 0..10 {
        ask(at(1), &format!("guess {number}")).await.assert_error(401, "invalid_client");
    }
    assert_too_many(&ask(at(1), "guess").await);
    assert_too_many(&ask(at(1), secret.as_str().unwrap()).await);
    for _ in 0..50 {
        let answer = ask(at(2), secret.as_str().unwrap()).await;
        answer.assert_error(400, "invalid_grant");
    }
    // Nor from the same address, if it shows that it has been let in.
    let registered = test.server.client(ClientId::presented(id)).await.unwrap().unwrap();
    let code = test.code(&registered, ScopeSet::ALL).await;
    let mut form = exchange_form(id, &code).to_vec();
    form.push(("client_secret", secret.as_str().unwrap()));
    let tokens = test.send_from(at(2), form_request("/token", &form)).await.tokens();
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", id),
        ("client_secret", secret.as_str().unwrap()),
        ("refresh_token", &tokens.refresh),
    ];
    assert_eq!(test.send_from(at(1), form_request("/token", &form)).await.status, StatusCode::OK);
}
