//! `refresh_token` at `/token`: checklist #66-#83.

use std::collections::HashSet;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};

use crate::authorization_server::testing::{RESOURCE, TestServer, Tokens};
use crate::contract::scope::{Scope, ScopeSet};

const DAY: u64 = 24 * 60 * 60;

/// Checklist 66
#[tokio::test]
async fn a_token_of_another_client_is_refused_and_ends_nothing() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    let other = test.client("Another client").await;
    test.refresh(&other, &tokens.refresh).await.assert_error(400, "invalid_grant");
    assert_eq!(test.refresh(&client, &tokens.refresh).await.status, StatusCode::OK);
}

/// Checklist 67, 83
#[tokio::test]
async fn every_refresh_gives_a_new_pair_and_the_old_access_token_lives_on() {
    let test = TestServer::start();
    let (client, first) = test.granted(&[Scope::Read]).await;
    let second = test.refresh(&client, &first.refresh).await.tokens();
    assert_ne!(first.refresh, second.refresh);
    assert_ne!(first.access, second.access);
    assert_ne!(test.claims(&first).jti, test.claims(&second).jti);
    assert!(test.live_scopes(&first).is_some() && test.live_scopes(&second).is_some());
    test.advance(61);
    test.refresh(&client, &first.refresh).await.assert_error(400, "invalid_grant");
}

/// Checklist 68, 69, 39; design section 4, rule 10; B40, T15, R15
#[tokio::test]
async fn a_refresh_narrows_but_never_widens_and_never_for_good() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read, Scope::Confidential]).await;
    let mut refresh = tokens.refresh;
    for (requested, answered) in [
        ("wiki:read", "wiki:read"),
        ("wiki:read wiki:confidential", "wiki:read wiki:confidential"),
        ("wiki:read wiki:write wiki:people", "wiki:read"),
        ("wiki:read offline_access openid", "wiki:read"),
        ("offline_access", "wiki:read wiki:confidential"),
        ("wiki:write", "wiki:read wiki:confidential"),
        ("", "wiki:read wiki:confidential"),
        ("  wiki:read   wiki:read ", "wiki:read"),
    ] {
        let answer = test.refresh_with(&client, &refresh, &[("scope", requested)]).await.tokens();
        assert_eq!(answer.scope, answered, "{requested}");
        assert_eq!(test.claims(&answer).scope.to_string(), answered);
        refresh = answer.refresh;
    }
    let last = test.refresh(&client, &refresh).await.tokens();
    assert_eq!(last.scope, "wiki:read wiki:confidential");
}

/// Checklist 70; T5, T15
#[tokio::test]
async fn a_refresh_for_another_resource_is_refused_and_not_counted() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    let foreign = [("resource", "https://other.example.org/mcp")];
    let answer = test.refresh_with(&client, &tokens.refresh, &foreign).await;
    answer.assert_error(400, "invalid_target");
    let ours = [("resource", "https://NOTES.example.org/")];
    let tokens = test.refresh_with(&client, &tokens.refresh, &ours).await.tokens();
    assert_eq!(test.claims(&tokens).aud, RESOURCE);
}

/// Checklist 71; B36, T14
#[tokio::test]
async fn within_the_grace_a_parent_gives_the_same_child() {
    let test = TestServer::start();
    let (client, parent) = test.granted(&[Scope::Read]).await;
    let child = test.refresh(&client, &parent.refresh).await.tokens();
    assert!(test.live_scopes(&child).is_some(), "the child has been seen");
    test.advance(60);
    let again = test.refresh(&client, &parent.refresh).await.tokens();
    assert_eq!(again.refresh, child.refresh);
    assert_eq!(again.scope, child.scope);
    assert_ne!(again.access, child.access);
}

/// Checklist 72; T14
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_refreshes_all_succeed_with_one_child() {
    let test = TestServer::start();
    let (client, parent) = test.granted(&[Scope::Read]).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let router = test.router();
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", "refresh_token")
            .append_pair("client_id", client.id.as_str())
            .append_pair("refresh_token", &parent.refresh)
            .finish();
        tasks.spawn(async move {
            let request = Request::post("/token")
                .header("content-type", "application/x-www-form-urlencoded")
                .body(Body::from(body))
                .unwrap();
            let response = tower::ServiceExt::oneshot(router, request).await.unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            Tokens {
                access: json["access_token"].as_str().unwrap().to_owned(),
                refresh: json["refresh_token"].as_str().unwrap().to_owned(),
                scope: json["scope"].as_str().unwrap().to_owned(),
            }
        });
    }
    let answers = tasks.join_all().await;
    let children: HashSet<&str> = answers.iter().map(|tokens| &*tokens.refresh).collect();
    assert_eq!((answers.len(), children.len()), (32, 1));
    assert!(answers.iter().all(|tokens| test.live_scopes(tokens).is_some()));
}

/// Checklist 123, 126: however many refreshes are under way, a revocation that was answered
/// stands, and no token of theirs opens anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_revocation_amid_parallel_refreshes_stands() {
    let test = std::sync::Arc::new(TestServer::start());
    let (client, parent) = test.granted(&[Scope::Read]).await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..32 {
        let (test, client, parent) = (test.clone(), client.clone(), parent.clone());
        tasks.spawn(async move {
            if number == 16 {
                let form = [("client_id", client.id.as_str()), ("token", &parent.refresh)];
                assert_eq!(test.post_form("/revoke", &form).await.status, StatusCode::OK);
                return None;
            }
            let answer = test.refresh(&client, &parent.refresh).await;
            if answer.status == StatusCode::OK {
                return Some(answer.tokens());
            }
            answer.assert_error(400, "invalid_grant");
            None
        });
    }
    let issued: Vec<Tokens> = tasks.join_all().await.into_iter().flatten().collect();
    for tokens in issued.iter().chain([&parent]) {
        assert_eq!(test.live_scopes(tokens), None);
        test.refresh(&client, &tokens.refresh).await.assert_error(400, "invalid_grant");
    }
}

/// Checklist 73
#[tokio::test]
async fn the_loser_of_a_fast_double_rotation_is_no_thief() {
    let test = TestServer::start();
    let (client, first) = test.granted(&[Scope::Read]).await;
    let second = test.refresh(&client, &first.refresh).await.tokens();
    let third = test.refresh(&client, &second.refresh).await.tokens();
    test.advance(60);
    test.refresh(&client, &first.refresh).await.assert_error(400, "invalid_grant");
    assert!(test.live_scopes(&third).is_some());
    assert_eq!(test.refresh(&client, &third.refresh).await.status, StatusCode::OK);
}

/// Checklist 74: the answer was lost, and the client comes back after its sleep.
#[tokio::test]
async fn a_lost_answer_is_given_again_however_late() {
    let test = TestServer::start();
    let (client, parent) = test.granted(&[Scope::Read]).await;
    let lost = test.refresh(&client, &parent.refresh).await.tokens();
    test.advance(8 * 60 * 60);
    let again = test.refresh(&client, &parent.refresh).await.tokens();
    assert_eq!(again.refresh, lost.refresh);
}

/// Checklist 74, 75; R8
#[tokio::test]
async fn after_the_grace_a_parent_whose_child_was_seen_ends_the_grant() {
    let test = TestServer::start();
    let (client, parent) = test.granted(&[Scope::Read]).await;
    let child = test.refresh(&client, &parent.refresh).await.tokens();
    test.advance(5);
    assert!(test.live_scopes(&child).is_some());
    test.advance(600);
    test.refresh(&client, &parent.refresh).await.assert_error(400, "invalid_grant");
    assert_eq!(test.live_scopes(&child), None);
    test.refresh(&client, &child.refresh).await.assert_error(400, "invalid_grant");
}

/// Checklist 75 across a restart: that the child was seen is kept.
#[tokio::test]
async fn a_restart_does_not_forget_that_a_child_was_seen() {
    let test = TestServer::start();
    let (client, parent) = test.granted(&[Scope::Read]).await;
    let child = test.refresh(&client, &parent.refresh).await.tokens();
    assert!(test.live_scopes(&child).is_some());
    let test = test.restart();
    test.advance(61);
    test.refresh(&client, &parent.refresh).await.assert_error(400, "invalid_grant");
    assert_eq!(test.live_scopes(&child), None);
}

/// Checklist 76
#[tokio::test]
async fn a_grandparent_ends_the_grant() {
    let test = TestServer::start();
    let (client, first) = test.granted(&[Scope::Read]).await;
    let second = test.refresh(&client, &first.refresh).await.tokens();
    let third = test.refresh(&client, &second.refresh).await.tokens();
    test.advance(61);
    test.refresh(&client, &first.refresh).await.assert_error(400, "invalid_grant");
    assert_eq!(test.live_scopes(&third), None);
}

/// Checklist 76, 81: a forged token is not of this server, whatever it claims.
#[tokio::test]
async fn forged_and_garbled_tokens_end_nothing() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    let garbled = tokens.refresh.replace("bmr_", "bmr_A");
    let (head, tail) = tokens.refresh.split_at(20);
    let flipped = format!("{head}{}{}", if tail.starts_with('A') { 'B' } else { 'A' }, &tail[1..]);
    let cut = &tokens.refresh[..tokens.refresh.len() - 1];
    let nothing = ["bmr_", "bmr_AAAA", "x", "bmr_\u{e4}", tokens.access.as_str()];
    for text in [&*garbled, &flipped, cut].into_iter().chain(nothing) {
        test.refresh(&client, text).await.assert_error(400, "invalid_grant");
    }
    assert_eq!(test.refresh(&client, &tokens.refresh).await.status, StatusCode::OK);
}

/// Checklist 77
#[tokio::test]
async fn a_theft_ends_one_grant_and_not_its_siblings() {
    let test = TestServer::start();
    let (client, stolen) = test.granted(&[Scope::Read]).await;
    let (_, sibling) = test.granted(&[Scope::Read]).await;
    let child = test.refresh(&client, &stolen.refresh).await.tokens();
    assert!(test.live_scopes(&child).is_some());
    test.advance(61);
    test.refresh(&client, &stolen.refresh).await.assert_error(400, "invalid_grant");
    assert_eq!(test.live_scopes(&child), None);
    assert!(test.live_scopes(&sibling).is_some());
    assert_eq!(test.refresh(&client, &sibling.refresh).await.status, StatusCode::OK);
}

/// Checklist 78, 82: idle.
#[tokio::test]
async fn an_unused_refresh_token_dies() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    test.advance(30 * DAY - 1);
    let tokens = test.refresh(&client, &tokens.refresh).await.tokens();
    test.advance(30 * DAY);
    test.refresh(&client, &tokens.refresh).await.assert_error(400, "invalid_grant");
}

/// Checklist 78: absolute. The access token ends with the grant, and rotation extends nothing.
#[tokio::test]
async fn no_rotation_outlives_the_grant() {
    let test = TestServer::start();
    let (client, mut tokens) = test.granted(&[Scope::Read]).await;
    for _ in 0..9 {
        test.advance(20 * DAY - 30);
        tokens = test.refresh(&client, &tokens.refresh).await.tokens();
    }
    // Five minutes short of 180 days, less what was left out above.
    test.advance(120);
    let answer = test.refresh(&client, &tokens.refresh).await;
    assert_eq!(answer.json()["expires_in"], 150);
    test.advance(150);
    assert_eq!(test.live_scopes(&answer.tokens()), None);
    test.refresh(&client, &answer.tokens().refresh).await.assert_error(400, "invalid_grant");
}

/// Checklist 79: who is no longer in the settings has no vault there. Without this, a client of a
/// former user would read the vault of a single owner, who goes by any name.
#[tokio::test]
async fn what_a_former_user_gave_is_over() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    let code = test.code(&client, ScopeSet::ALL).await;
    let test = test.restart_with(|settings| settings.users = vec!["somebody".to_owned()]);
    assert_eq!(test.live_scopes(&tokens), None);
    test.refresh(&client, &tokens.refresh).await.assert_error(400, "invalid_grant");
    test.exchange(&client, &code).await.assert_error(400, "invalid_grant");
    let test = test.restart_with(|settings| settings.users.push("owner".to_owned()));
    assert!(test.live_scopes(&tokens).is_some());
    test.refresh(&client, &tokens.refresh).await.tokens();
}

/// Checklist 80; B25
#[tokio::test]
async fn refresh_tokens_keys_and_clients_survive_a_restart() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    let keys = test.server.public_key_set();
    let test = test.restart();
    assert_eq!(test.server.public_key_set(), keys);
    assert!(test.live_scopes(&tokens).is_some(), "signed with the same key");
    let tokens = test.refresh(&client, &tokens.refresh).await.tokens();
    let test = test.restart();
    assert_eq!(test.refresh(&client, &tokens.refresh).await.status, StatusCode::OK);
}

/// Checklist 82; B37, B42: never 401, never `invalid_request`.
#[tokio::test]
async fn every_dead_token_has_the_same_answer() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    let child = test.refresh(&client, &tokens.refresh).await.tokens();
    test.refresh(&client, &child.refresh).await.tokens();
    test.advance(61);
    let reused = test.refresh(&client, &tokens.refresh).await;
    let revoked = test.refresh(&client, &child.refresh).await;
    let unknown = test.refresh(&client, "bmr_unknown").await;
    for answer in [&reused, &revoked, &unknown] {
        answer.assert_error(400, "invalid_grant");
        assert_eq!(answer.text, unknown.text);
        assert_eq!(answer.headers["cache-control"], "no-store");
    }
}

/// Design section 5: `wiki:people` is time-boxed. No token outlives the box, and a
/// refresh goes on without it.
#[tokio::test]
async fn people_drops_out_when_its_time_is_over() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read, Scope::People]).await;
    assert_eq!(tokens.scope, "wiki:read wiki:people");
    test.advance(55 * 60);
    let short = test.refresh(&client, &tokens.refresh).await;
    assert_eq!(short.json()["expires_in"], 5 * 60);
    let narrow = [("scope", "wiki:read")];
    let long = test.refresh_with(&client, &short.tokens().refresh, &narrow).await;
    assert_eq!(long.json()["expires_in"], 10 * 60);
    test.advance(5 * 60);
    let read = [Scope::Read].into_iter().collect::<ScopeSet>();
    assert_eq!(test.live_scopes(&short.tokens()), Some(read));
    let after = test.refresh(&client, &long.tokens().refresh).await.tokens();
    assert_eq!(after.scope, "wiki:read");
    let asked = [("scope", "wiki:people")];
    let after = test.refresh_with(&client, &after.refresh, &asked).await.tokens();
    assert_eq!(after.scope, "wiki:read");
}

/// The same where nothing else was granted: then there is nothing left to refresh.
#[tokio::test]
async fn a_grant_of_people_alone_ends_with_it() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::People]).await;
    test.advance(60 * 60);
    assert_eq!(test.live_scopes(&tokens), None);
    test.refresh(&client, &tokens.refresh).await.assert_error(400, "invalid_grant");
}

/// OAuth 2.1 section 4.3.1: with a grace of zero a parent is dead at once.
#[tokio::test]
async fn without_grace_a_parent_is_dead_at_once() {
    let test = TestServer::start_with(1, |settings| settings.lifetimes.grace = Duration::ZERO);
    let (client, parent) = test.granted(&[Scope::Read]).await;
    let child = test.refresh(&client, &parent.refresh).await.tokens();
    assert!(test.live_scopes(&child).is_some());
    test.refresh(&client, &parent.refresh).await.assert_error(400, "invalid_grant");
    assert_eq!(test.live_scopes(&child), None);
}

/// Checklist 140: what the liveness answer depends on.
#[tokio::test]
async fn a_foreign_or_future_reference_is_not_alive() {
    use crate::contract::liveness::GrantReference;
    let test = TestServer::start();
    let (_, tokens) = test.granted(&[Scope::Read]).await;
    let claims = test.claims(&tokens);
    let right = GrantReference {
        grant: &claims.gid,
        generation: claims.generation,
        subject: &claims.sub,
        client: &claims.client_id,
    };
    let liveness = test.server.liveness();
    assert!(liveness.live_scopes(right).is_some());
    for wrong in [
        GrantReference { grant: "AAAAAAAAAAAAAAAAAAAAAA", ..right },
        GrantReference { grant: "not a grant", ..right },
        GrantReference { generation: 1, ..right },
        GrantReference { subject: "somebody", ..right },
        GrantReference { client: "bmc_other", ..right },
    ] {
        assert_eq!(liveness.live_scopes(wrong), None, "{wrong:?}");
    }
}
