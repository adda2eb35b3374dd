//! `authorization_code` at `/token`: checklist #42-#65.

use std::fmt::Write as _;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use crate::authorization_server::code::CodeDigest;
use crate::authorization_server::testing::{
    ISSUER, PEOPLE_SPAN, REDIRECT_URI, RESOURCE, START, TestServer, VERIFIER, exchange_form,
};
use crate::contract::scope::{Scope, ScopeSet};

const READ: ScopeSet = ScopeSet::READING.without(Scope::Confidential).without(Scope::People);

/// Checklist 38, 39, 51; RFC 9068 section 2.2; B12, B41
#[tokio::test]
async fn a_code_becomes_tokens_once() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let code = test.code(&client, READ).await;
    let answer = test.exchange(&client, &code).await;
    assert_eq!(answer.headers["cache-control"], "no-store");
    let json = answer.json();
    assert_eq!(json["token_type"], "Bearer");
    assert_eq!(json["expires_in"], 600);
    assert_eq!(json["scope"], "wiki:read");
    let tokens = answer.tokens();
    let claims = test.claims(&tokens);
    assert_eq!(claims.iss, ISSUER);
    assert_eq!(claims.aud, RESOURCE);
    assert_eq!(claims.sub, "owner");
    assert_eq!(claims.client_id, client.id.as_str());
    assert_eq!(claims.iat, START.as_seconds());
    assert_eq!(claims.exp, START.as_seconds() + 600);
    assert_eq!(claims.scope, READ);
    assert_eq!(test.live_scopes(&tokens), Some(READ));
    let header = jsonwebtoken::decode_header(&tokens.access).unwrap();
    assert_eq!(header.typ.as_deref(), Some("at+jwt"));
    assert_eq!(header.alg, jsonwebtoken::Algorithm::ES256);
    assert!(test.server.public_key_set().as_json().contains(&header.kid.unwrap()));
}

/// Checklist 52, 53; R7
#[tokio::test]
async fn a_code_used_twice_ends_its_grant_at_once() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let code = test.code(&client, READ).await;
    let tokens = test.exchange(&client, &code).await.tokens();
    test.exchange(&client, &code).await.assert_error(400, "invalid_grant");
    assert_eq!(test.live_scopes(&tokens), None);
    test.refresh(&client, &tokens.refresh).await.assert_error(400, "invalid_grant");
}

/// Checklist 54, 61: only a replay that is otherwise right is proof that the code leaked.
#[tokio::test]
async fn a_replay_that_is_wrong_otherwise_ends_nothing() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let other = test.client("Another client").await;
    let code = test.code(&client, READ).await;
    let tokens = test.exchange(&client, &code).await.tokens();
    let id = client.id.as_str();
    let right = exchange_form(id, &code);
    let wrong_verifier = VERIFIER.replace('a', "b");
    for (name, value) in [
        ("code_verifier", wrong_verifier.as_str()),
        ("client_id", other.id.as_str()),
        ("redirect_uri", "https://client.example.com/other"),
    ] {
        let form = right.map(|pair| if pair.0 == name { (name, value) } else { pair });
        test.post_form("/token", &form).await.assert_error(400, "invalid_grant");
        assert_eq!(test.live_scopes(&tokens), Some(READ), "{name}");
    }
}

/// Checklist 55
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_parallel_exchanges_one_succeeds() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let code = test.code(&client, READ).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let (router, id, code) = (test.router(), client.id.clone(), code.clone());
        tasks.spawn(async move {
            let body = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(exchange_form(id.as_str(), &code))
                .finish();
            let request = Request::post("/token")
                .header("content-type", "application/x-www-form-urlencoded")
                .body(Body::from(body))
                .unwrap();
            tower::ServiceExt::oneshot(router, request).await.unwrap().status()
        });
    }
    let statuses = tasks.join_all().await;
    let successes = statuses.iter().filter(|status| **status == StatusCode::OK).count();
    assert_eq!(successes, 1, "{statuses:?}");
}

/// Checklist 56, 58; R2
#[tokio::test]
async fn without_the_verifier_a_code_is_worth_nothing() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let code = test.code(&client, READ).await;
    let form = exchange_form(client.id.as_str(), &code);
    let without: Vec<_> = form.into_iter().filter(|pair| pair.0 != "code_verifier").collect();
    test.post_form("/token", &without).await.assert_error(400, "invalid_request");
    for verifier in ["a".repeat(42), "a".repeat(129), "ä".repeat(43)] {
        let code = test.code(&client, READ).await;
        let form = exchange_form(client.id.as_str(), &code)
            .map(|pair| if pair.0 == "code_verifier" { (pair.0, &*verifier) } else { pair });
        test.post_form("/token", &form).await.assert_error(400, "invalid_grant");
    }
    assert_eq!(test.exchange(&client, &code).await.status, StatusCode::OK);
}

/// Checklist 57
#[tokio::test]
async fn two_wrong_verifiers_are_forgiven_and_the_third_spends_the_code() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let wrong_verifier = VERIFIER.replace('a', "b");
    for (failures, expected) in [(2, StatusCode::OK), (3, StatusCode::BAD_REQUEST)] {
        let code = test.code(&client, READ).await;
        let form = exchange_form(client.id.as_str(), &code)
            .map(|pair| if pair.0 == "code_verifier" { (pair.0, &*wrong_verifier) } else { pair });
        for _ in 0..failures {
            test.post_form("/token", &form).await.assert_error(400, "invalid_grant");
        }
        assert_eq!(test.exchange(&client, &code).await.status, expected);
    }
}

/// Checklist 59, 60
#[tokio::test]
async fn the_redirect_uri_may_be_left_out_but_not_changed() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let code = test.code(&client, READ).await;
    for wrong in ["https://client.example.com/callback/", "https://client.example.com", "x"] {
        let form = exchange_form(client.id.as_str(), &code)
            .map(|pair| if pair.0 == "redirect_uri" { (pair.0, wrong) } else { pair });
        test.post_form("/token", &form).await.assert_error(400, "invalid_grant");
    }
    let form = exchange_form(client.id.as_str(), &code);
    let without: Vec<_> = form.into_iter().filter(|pair| pair.1 != REDIRECT_URI).collect();
    assert_eq!(test.post_form("/token", &without).await.status, StatusCode::OK);
}

/// Checklist 50, 61: the right client can still use the code, and the texts are the same.
#[tokio::test]
async fn a_code_of_another_client_looks_like_an_unknown_one() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let other = test.client("Another client").await;
    let code = test.code(&client, READ).await;
    let foreign = test.exchange(&other, &code).await;
    let unknown = test.exchange(&other, "no such code").await;
    foreign.assert_error(400, "invalid_grant");
    assert_eq!(foreign.text, unknown.text);
    assert_eq!(test.exchange(&client, &code).await.status, StatusCode::OK);
}

/// Checklist 62; B10, B11; T5, R1
#[tokio::test]
async fn another_resource_is_refused_before_the_code_is_spent() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let code = test.code(&client, READ).await;
    for resource in ["https://other.example.org/mcp", "https://notes.example.org/other", "mcp"] {
        let mut form = exchange_form(client.id.as_str(), &code).to_vec();
        form.push(("resource", resource));
        test.post_form("/token", &form).await.assert_error(400, "invalid_target");
        // Two, of which one is ours.
        form.push(("resource", RESOURCE));
        test.post_form("/token", &form).await.assert_error(400, "invalid_target");
    }
    for resource in [
        RESOURCE,
        "https://notes.example.org/mcp/",
        "https://notes.example.org",
        "https://notes.example.org/",
        "HTTPS://Notes.Example.ORG:443/mcp",
    ] {
        let code = test.code(&client, READ).await;
        let mut form = exchange_form(client.id.as_str(), &code).to_vec();
        form.push(("resource", resource));
        let tokens = test.post_form("/token", &form).await.tokens();
        assert_eq!(test.claims(&tokens).aud, RESOURCE);
    }
    assert_eq!(test.exchange(&client, &code).await.status, StatusCode::OK);
}

/// Checklist 29, 63
#[tokio::test]
async fn a_code_lives_for_a_minute() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let (early, late) = (test.code(&client, READ).await, test.code(&client, READ).await);
    test.advance(59);
    assert_eq!(test.exchange(&client, &early).await.status, StatusCode::OK);
    test.advance(2);
    test.exchange(&client, &late).await.assert_error(400, "invalid_grant");
}

/// Checklist 65: a code and its grant change together, and a restart brings neither back.
#[tokio::test]
async fn a_used_code_stays_used_after_a_restart() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let code = test.code(&client, READ).await;
    let unused = test.code(&client, READ).await;
    let tokens = test.exchange(&client, &code).await.tokens();
    let test = test.restart();
    assert_eq!(test.live_scopes(&tokens), Some(READ));
    assert_eq!(test.exchange(&client, &unused).await.status, StatusCode::OK);
    test.exchange(&client, &code).await.assert_error(400, "invalid_grant");
    let test = test.restart();
    assert_eq!(test.live_scopes(&tokens), None, "the replay's revocation is kept too");
}

/// Checklist 64: what was approved can be over before the code is exchanged.
#[tokio::test]
async fn a_code_for_something_that_is_over_is_refused() {
    let test = TestServer::start_with(1, |settings| {
        settings.lifetimes.code = 2 * PEOPLE_SPAN;
    });
    let client = test.client("A client").await;
    let people = [Scope::People].into_iter().collect();
    let code = test.code(&client, people).await;
    test.advance(PEOPLE_SPAN.as_secs());
    test.exchange(&client, &code).await.assert_error(400, "invalid_grant");
}

/// Checklist 30, 31
#[tokio::test]
async fn a_code_has_256_bits_and_is_not_stored() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let code = test.code(&client, READ).await;
    assert_eq!(code.len(), 43);
    assert_ne!(code, test.code(&client, READ).await);
    let digest = CodeDigest::of(&code);
    assert!(test.server.store().code(digest).unwrap().is_some());
    assert_eq!(digest, CodeDigest::of(&code.clone()));
}

/// Checklist 42, 43, 44, 45, 46, 49; B39, T13
#[tokio::test]
async fn a_client_authenticates_in_the_way_it_registered() {
    let test = TestServer::start();
    let metadata = json!({
        "redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": "client_secret_basic"
    });
    let registered = test.post_json("/register", &metadata).await.json();
    let id = registered["client_id"].as_str().unwrap();
    let secret = registered["client_secret"].as_str().unwrap();
    let client = test
        .server
        .client(crate::authorization_server::client::ClientId::presented(id))
        .await
        .unwrap()
        .unwrap();
    let public = test.client("A public client").await;
    let basic = |id: &str, secret: &str| {
        format!("Basic {}", BASE64_STANDARD.encode(format!("{id}:{secret}")))
    };
    let mut encoded = String::new();
    for byte in secret.bytes() {
        write!(encoded, "%{byte:02x}").unwrap();
    }
    // Header, secret in the body, expected status and error.
    let rows = [
        (Some(basic(id, secret)), None, 200, ""),
        (Some(basic(id, &encoded)), None, 200, ""),
        (Some(basic(id, secret).replace("Basic", "bAsIc")), None, 200, ""),
        (None, Some(secret), 200, ""),
        (None, None, 401, "invalid_client"),
        (None, Some("wrong"), 401, "invalid_client"),
        (Some(basic(id, "wrong")), None, 401, "invalid_client"),
        (Some(basic(id, "")), None, 401, "invalid_client"),
        (Some(basic(id, "%zz")), None, 401, "invalid_client"),
        (Some(basic(id, secret)), Some(secret), 400, "invalid_request"),
        (Some(basic("bmc_unknown", secret)), None, 400, "invalid_request"),
        (Some("Basic !!!".to_owned()), None, 401, "invalid_client"),
        (Some("Bearer abc".to_owned()), None, 401, "invalid_client"),
        (Some("Basic".to_owned()), None, 401, "invalid_client"),
    ];
    for (header, in_body, status, error) in rows {
        let code = test.code(&client, READ).await;
        let mut form = exchange_form(id, &code).to_vec();
        form.extend(in_body.map(|secret| ("client_secret", secret)));
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let mut request =
            Request::post("/token").header("content-type", "application/x-www-form-urlencoded");
        if let Some(header) = &header {
            request = request.header("authorization", header);
        }
        let answer = test.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(answer.status.as_u16(), status, "{header:?} {in_body:?} {}", answer.text);
        if status != 200 {
            answer.assert_error(status, error);
        }
        if status == 401 {
            let challenge = answer.headers["www-authenticate"].to_str().unwrap();
            assert!(challenge.starts_with("Basic "));
        }
    }
    // A public client: no secret, an empty one, or a refusal.
    let id = public.id.as_str();
    for (secret, status) in [(None, 200), (Some(""), 200), (Some("x"), 401)] {
        let code = test.code(&public, READ).await;
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(exchange_form(id, &code))
            .finish();
        let mut request =
            Request::post("/token").header("content-type", "application/x-www-form-urlencoded");
        if let Some(secret) = secret {
            request = request.header("authorization", basic(id, secret));
        }
        let answer = test.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(answer.status.as_u16(), status, "{secret:?}");
    }
}
