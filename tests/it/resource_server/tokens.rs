//! Which tokens are taken (RFC 9068 section 4, RFC 8725, checklist #137-#140, R9).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::routing::any;
use brain_mcp::contract::scope::{Scope, ScopeSet};
use brain_mcp::resource_server::key_source::KeySource;
use brain_mcp::resource_server::verify::TokenError::{self, *};
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};

use super::minting::{
    Key, NOW, RESOURCE, Server, claims_with, good_claims, key_set, request, send, unsigned,
};

const CHALLENGE: &str = "Bearer resource_metadata=\
    \"https://wiki.example.org/.well-known/oauth-protected-resource/mcp\", \
    scope=\"wiki:read wiki:confidential wiki:people wiki:write\"";

/// Checklist 139.
#[tokio::test]
async fn a_good_token_is_taken_and_says_what_it_opens() {
    let server = Server::embedded();
    let token = server.verify(&Key::es256().token(&good_claims())).await.expect("a good token");
    assert_eq!(token.subject(), "owner");
    assert_eq!(token.client(), "client-1");
    assert_eq!(token.scopes(), ScopeSet::ALL);
    assert_eq!(token.expires_at().as_seconds(), NOW + 600);
}

#[tokio::test]
async fn harmless_variants_are_taken() {
    let (server, key) = (Server::embedded(), Key::es256());
    let header = |typ: &str| json!({ "alg": "ES256", "typ": typ, "kid": key.id });
    for token in [
        key.sign(&header("application/at+jwt"), &good_claims()),
        key.sign(&header("AT+JWT"), &good_claims()),
        key.token(&claims_with(json!({ "aud": [RESOURCE] }))),
        key.token(&claims_with(json!({ "iat": NOW + 60, "nbf": NOW + 60 }))),
        key.token(&claims_with(json!({ "exp": 1_800_000_599.5 }))),
        key.token(&claims_with(json!({ "auth_time": 5, "groups": ["a"] }))),
    ] {
        server.verify(&token).await.expect("taken");
    }
}

fn without(name: &str) -> Value {
    let mut claims = good_claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

/// A token signed with HMAC, the key being the text of the public one: what a
/// verifier takes that lets the token choose the algorithm (RFC 8725 section 2.1).
fn confused_hs256(secret: &str) -> String {
    let key = Key::es256();
    let header = json!({ "alg": "HS256", "typ": "at+jwt", "kid": key.id });
    let message = unsigned(&header, &good_claims());
    let secret = EncodingKey::from_secret(secret.as_bytes()).unwrap();
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &secret, Algorithm::HS256);
    format!("{message}.{}", signature.unwrap())
}

fn with_header(changes: Value) -> String {
    let key = Key::es256();
    let mut header = key.header();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            header.as_object_mut().unwrap().remove(name);
        } else {
            header[name] = value.clone();
        }
    }
    key.sign(&header, &good_claims())
}

fn refused_tokens() -> Vec<(&'static str, String, TokenError)> {
    let key = Key::es256();
    let good = key.token(&good_claims());
    let (message, signature) = good.rsplit_once('.').unwrap();
    let mut tampered = good.clone();
    // Inside the payload: the letter stays one of base64url.
    let middle = good.find('.').unwrap() + 20;
    tampered.replace_range(middle..=middle, if &good[middle..=middle] == "A" { "B" } else { "A" });
    let other_payload = unsigned(&key.header(), &claims_with(json!({ "sub": "someone" })));
    let claims = |changes| key.token(&claims_with(changes));
    let jwk_text = key.jwk().to_string();
    vec![
        ("no JWT", "opaque-token".into(), NotAJwt),
        ("four parts", format!("{good}.x"), NotAJwt),
        ("empty signature", format!("{message}."), WrongSignature),
        ("tampered", tampered, WrongSignature),
        ("other payload, same signature", format!("{other_payload}.{signature}"), WrongSignature),
        (
            "another server's key",
            Key::other_es256().named(key.id).token(&good_claims()),
            WrongSignature,
        ),
        (
            "alg none",
            format!(
                "{}.",
                unsigned(&json!({ "alg": "none", "typ": "at+jwt", "kid": key.id }), &good_claims())
            ),
            WrongAlgorithm,
        ),
        ("HS256 with the public key", confused_hs256(&jwk_text), WrongAlgorithm),
        (
            "RS256 at an ES256 issuer",
            Key::rsa(Algorithm::RS256).named(key.id).token(&good_claims()),
            WrongAlgorithm,
        ),
        (
            "ES384 at an ES256 issuer",
            Key::es384().named(key.id).token(&good_claims()),
            WrongAlgorithm,
        ),
        ("unknown kid", Key::other_es256().token(&good_claims()), UnknownKey),
        ("no kid", with_header(json!({ "kid": null })), NotAJwt),
        ("no typ", with_header(json!({ "typ": null })), NotAJwt),
        ("an ID token", with_header(json!({ "typ": "JWT" })), WrongType),
        ("a refresh token that is a JWT", with_header(json!({ "typ": "rt+jwt" })), WrongType),
        (
            "critical extension",
            with_header(json!({ "crit": ["b64"], "b64": true })),
            CriticalExtension,
        ),
        ("wrong issuer", claims(json!({ "iss": "https://evil.example" })), WrongIssuer),
        ("issuer with a slash", claims(json!({ "iss": "https://auth.example.org/" })), WrongIssuer),
        ("wrong audience", claims(json!({ "aud": "https://other.example/mcp" })), WrongAudience),
        (
            "audience with a slash",
            claims(json!({ "aud": "https://wiki.example.org/mcp/" })),
            WrongAudience,
        ),
        (
            "two audiences",
            claims(json!({ "aud": [RESOURCE, "https://other.example"] })),
            WrongAudience,
        ),
        ("no audience", claims(json!({ "aud": [] })), WrongAudience),
        ("expired", claims(json!({ "exp": NOW })), Expired),
        ("from the future", claims(json!({ "iat": NOW + 61 })), NotYetValid),
        ("not yet valid", claims(json!({ "nbf": NOW + 61 })), NotYetValid),
        ("negative expiry", claims(json!({ "exp": -1 })), NotAJwt),
        ("expiry as text", claims(json!({ "exp": "1900000000" })), NotAJwt),
        ("empty subject", claims(json!({ "sub": "" })), EmptyClaim),
        ("another grant", claims(json!({ "gid": "grant-2" })), GrantEnded),
        ("another subject's grant", claims(json!({ "sub": "someone" })), GrantEnded),
        ("no grant", key.token(&without("gid")), GrantEnded),
        ("no iss", key.token(&without("iss")), NotAJwt),
        ("no sub", key.token(&without("sub")), NotAJwt),
        ("no aud", key.token(&without("aud")), NotAJwt),
        ("no client_id", key.token(&without("client_id")), NotAJwt),
        ("no jti", key.token(&without("jti")), NotAJwt),
        ("no iat", key.token(&without("iat")), NotAJwt),
        ("no exp", key.token(&without("exp")), NotAJwt),
    ]
}

/// Checklist 137, 139, R9, B05: one answer for all of them, so that nobody can tell how
/// far a forgery got.
#[tokio::test]
async fn a_bad_token_gets_the_same_challenge_whatever_is_wrong_with_it() {
    let server = Server::embedded();
    let router = server.protected.router(any(|| async { "let through" }));
    let expected = format!(
        "{CHALLENGE}, error=\"invalid_token\", \
         error_description=\"The access token is expired, revoked, or not for this server.\""
    );
    for (what, token, reason) in refused_tokens() {
        assert_eq!(server.verify(&token).await.expect_err(what), reason, "{what}");
        let answer = send(&router, request("POST", Some(&token), "{}")).await;
        assert_eq!(answer.status, 401, "{what}");
        assert_eq!(answer.header("www-authenticate"), expected, "{what}");
        assert_eq!(answer.json()["error"], "invalid_token", "{what}");
    }
}

/// Checklist 136, 138, T23, R10.
#[tokio::test]
async fn credentials_are_read_from_the_one_header_only() {
    let server = Server::embedded();
    let router: Router = server.protected.router(any(|| async { "let through" }));
    let good = Key::es256().token(&good_claims());
    let check = async |values: &[&str], uri: &str, status: u16| {
        let mut request = request("GET", None, "");
        *request.uri_mut() = uri.parse().unwrap();
        for value in values {
            request.headers_mut().append("authorization", value.parse().unwrap());
        }
        let answer = send(&router, request).await;
        assert_eq!(answer.status, status, "{values:?} {uri}");
        answer.header("www-authenticate").to_owned()
    };
    let bearer = format!("Bearer {good}");
    let in_query = format!("/mcp?access_token={good}");

    assert_eq!(check(&[], "/mcp", 401).await, CHALLENGE);
    assert_eq!(check(&[], &in_query, 401).await, CHALLENGE);
    assert_eq!(check(&["Basic b3duZXI6cHc="], "/mcp", 401).await, CHALLENGE);
    assert_eq!(check(&["Bearer"], "/mcp", 401).await, CHALLENGE);
    check(&[&bearer], "/mcp", 200).await;
    check(&[&bearer], &in_query, 200).await;
    check(&[&format!("bEARER  {good}")], "/mcp", 200).await;
    let huge = format!("Bearer {}", "a".repeat(9000));
    assert!(check(&[&huge], "/mcp", 401).await.contains("invalid_token"));
    for malformed in [
        &[&*bearer, &*bearer][..],
        &[&*bearer, "Basic b3duZXI6cHc="],
        &["Bearer a b"],
        &["Bearer a\"b"],
        &["Bearer a,b"],
    ] {
        let header = check(malformed, "/mcp", 400).await;
        assert!(header.contains("error=\"invalid_request\""), "{header}");
    }
}

/// Checklist 138: a form body is no place for a token, with or without one in the header.
#[tokio::test]
async fn a_token_in_a_form_body_is_refused() {
    let server = Server::embedded();
    let router = server.protected.router(any(|| async { "let through" }));
    let good = Key::es256().token(&good_claims());
    for (token, status) in [(None, 401), (Some(&*good), 400)] {
        let mut request = request("POST", token, format!("access_token={good}"));
        let form = "application/x-www-form-urlencoded".parse().unwrap();
        request.headers_mut().insert("content-type", form);
        assert_eq!(send(&router, request).await.status, status);
    }
}

/// Checklist 140: what the owner takes back is gone with the next request.
#[tokio::test]
async fn a_grant_narrows_and_ends_its_tokens_at_once() {
    let server = Server::embedded();
    let token = Key::es256().token(&good_claims());
    let verified = server.verify(&token).await.expect("alive");
    assert!(server.verifier.still_stands(&verified));

    let narrowed = ScopeSet::from_iter([Scope::Read]);
    server.grant.set(Some(narrowed));
    assert_eq!(server.verify(&token).await.expect("alive").scopes(), narrowed);
    assert!(!server.verifier.still_stands(&verified));

    server.grant.set(None);
    assert_eq!(server.verify(&token).await.expect_err("dead"), TokenError::GrantEnded);
}

/// A token never opens more than it says, whatever the grant has.
#[tokio::test]
async fn the_scope_claim_is_a_ceiling() {
    let server = Server::embedded();
    let scopes_of = async |scope: Value| {
        server
            .verify(&Key::es256().token(&claims_with(json!({ "scope": scope }))))
            .await
            .unwrap()
            .scopes()
    };
    assert_eq!(scopes_of(json!("")).await, ScopeSet::NONE);
    assert_eq!(scopes_of(json!("openid wiki:reader WIKI:READ")).await, ScopeSet::NONE);
    assert_eq!(scopes_of(json!("wiki:people openid")).await, ScopeSet::from_iter([Scope::People]));
    let unscoped = server.verify(&Key::es256().token(&without("scope"))).await.unwrap();
    assert_eq!(unscoped.scopes(), ScopeSet::NONE);
}

#[tokio::test]
async fn time_ends_a_token_to_the_second() {
    let server = Server::embedded();
    let token = Key::es256().token(&good_claims());
    server.time.advance(Duration::from_secs(599));
    let verified = server.verify(&token).await.expect("one second left");
    server.time.advance(Duration::from_secs(1));
    assert_eq!(server.verify(&token).await.expect_err("over"), Expired);
    assert!(!server.verifier.still_stands(&verified));
}

/// Checklist 134: the embedded server's document is asked for every token, and for streams
/// that are open.
#[tokio::test]
async fn a_withdrawn_key_fails_at_once() {
    let published = Arc::new(Mutex::new(key_set(&[Key::es256().jwk()])));
    let document = Arc::clone(&published);
    let source = KeySource::embedded(Arc::new(move || document.lock().unwrap().clone()));
    let server = Server::with(source);
    let old = Key::es256().token(&good_claims());
    let new = Key::other_es256().token(&good_claims());
    let verified = server.verify(&old).await.expect("the key is published");
    assert!(server.verifier.still_stands(&verified));
    assert_eq!(server.verify(&new).await.expect_err("not yet"), TokenError::UnknownKey);
    *published.lock().unwrap() = key_set(&[Key::other_es256().jwk()]);
    assert_eq!(server.verify(&old).await.expect_err("withdrawn"), TokenError::UnknownKey);
    assert!(!server.verifier.still_stands(&verified));
    server.verify(&new).await.expect("the new key is published");
}
