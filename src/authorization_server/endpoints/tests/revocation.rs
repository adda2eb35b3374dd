//! `/revoke`: checklist #121-#126.

use axum::http::StatusCode;

use crate::authorization_server::testing::TestServer;
use crate::contract::scope::Scope;

/// Checklist 123, 124, 125, 126: either token, with whatever hint, and at once.
#[tokio::test]
async fn revoking_either_token_ends_the_grant_at_once() {
    for hint in [None, Some("refresh_token"), Some("access_token"), Some("nonsense")] {
        for is_refresh in [true, false] {
            let test = TestServer::start();
            let (client, tokens) = test.granted(&[Scope::Read]).await;
            let token = if is_refresh { &tokens.refresh } else { &tokens.access };
            let mut form = vec![("client_id", client.id.as_str()), ("token", token)];
            form.extend(hint.map(|hint| ("token_type_hint", hint)));
            let answer = test.post_form("/revoke", &form).await;
            assert_eq!(answer.status, StatusCode::OK);
            assert_eq!(answer.headers["cache-control"], "no-store");
            assert_eq!(test.live_scopes(&tokens), None, "{hint:?}");
            test.refresh(&client, &tokens.refresh).await.assert_error(400, "invalid_grant");
            let test = test.restart();
            assert_eq!(test.live_scopes(&tokens), None, "after a restart too");
        }
    }
}

/// Checklist 122: unknown, garbled, expired and foreign tokens are fine, and nothing happens.
#[tokio::test]
async fn revoking_what_is_not_yours_changes_nothing() {
    let test = TestServer::start();
    let (_, tokens) = test.granted(&[Scope::Read]).await;
    let other = test.client("Another client").await;
    for token in [&*tokens.refresh, &tokens.access, "bmr_x", "x", "a.b.c"] {
        let form = [("client_id", other.id.as_str()), ("token", token)];
        assert_eq!(test.post_form("/revoke", &form).await.status, StatusCode::OK);
    }
    assert!(test.live_scopes(&tokens).is_some());
}

/// Checklist 122: an expired access token is no longer a token.
#[tokio::test]
async fn an_expired_access_token_revokes_nothing() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    test.advance(600);
    let form = [("client_id", client.id.as_str()), ("token", &tokens.access)];
    assert_eq!(test.post_form("/revoke", &form).await.status, StatusCode::OK);
    assert_eq!(test.refresh(&client, &tokens.refresh).await.status, StatusCode::OK);
}

/// Checklist 121
#[tokio::test]
async fn a_client_must_say_who_it_is() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    let token = ("token", &*tokens.refresh);
    let answer = test.post_form("/revoke", &[token]).await;
    answer.assert_error(400, "invalid_request");
    let answer = test.post_form("/revoke", &[("client_id", "bmc_x"), token]).await;
    answer.assert_error(401, "invalid_client");
    let answer = test.post_form("/revoke", &[("client_id", client.id.as_str())]).await;
    answer.assert_error(400, "invalid_request");
    assert!(test.live_scopes(&tokens).is_some());
}
