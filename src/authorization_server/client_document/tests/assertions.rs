//! Clients that sign (RFC 7523 sections 2.2 and 3, checklist #116).

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use p256::SecretKey;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::pkcs8::EncodePrivateKey as _;
use serde_json::{Value, json};

use super::super::hostile::{Step, answer};
use super::{HOST, HostileWeb, ID, PATH, approved, document, start};
use crate::authorization_server::client::{ClientAuthentication, RegisteredClient};
use crate::authorization_server::testing::{Answer, ISSUER, START, TestServer};

const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const ONLY_SIGNING: &str = r#","token_endpoint_auth_method":"private_key_jwt""#;

pub(super) struct Key {
    name: &'static str,
    secret: SecretKey,
}

impl Key {
    pub(super) fn new(name: &'static str, seed: u8) -> Self {
        Self { name, secret: SecretKey::from_slice(&[seed; 32]).unwrap() }
    }

    fn jwk(&self) -> Value {
        let point = self.secret.public_key().to_sec1_point(false);
        let (x, y) = point.as_bytes()[1..].split_at(32);
        let [x, y] = [x, y].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part));
        json!({ "kty": "EC", "crv": "P-256", "kid": self.name, "x": x, "y": y })
    }

    pub(super) fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.name.to_owned()), ..Header::new(Algorithm::ES256) };
        let der = self.secret.to_pkcs8_der().unwrap();
        jsonwebtoken::encode(&header, claims, &EncodingKey::from_ec_der(der.as_bytes())).unwrap()
    }
}

pub(super) fn key_set(keys: &[&Key]) -> String {
    json!({ "keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>() }).to_string()
}

/// Claims in good order, `age` seconds after the start.
pub(super) fn claims(id: &str, age: u64) -> Value {
    let now = START.as_seconds() + age;
    json!({ "iss": ID, "sub": ID, "aud": ISSUER, "jti": id, "iat": now, "exp": now + 60 })
}

async fn exchange(server: &TestServer, code: &str, assertion: &str) -> Answer {
    let verifier = crate::authorization_server::testing::VERIFIER;
    server
        .post_form(
            "/token",
            &[
                ("grant_type", "authorization_code"),
                ("code", code),
                ("code_verifier", verifier),
                ("client_assertion_type", TYPE),
                ("client_assertion", assertion),
            ],
        )
        .await
}

/// A server, and a web where the client's document has `more` and its keys are served.
async fn signing_client(
    more: &str,
    keys: &[&Key],
) -> (HostileWeb, TestServer, RegisteredClient, String) {
    let web = HostileWeb::start(&[HOST]).await;
    let uri = r#","jwks_uri":"https://client.example/jwks.json""#;
    web.publish(PATH, &document(&format!("{more}{uri}")), "");
    web.publish("/jwks.json", &key_set(keys), "");
    let server = start(&web).await;
    let (client, code) = approved(&server).await;
    (web, server, client, code)
}

#[tokio::test]
async fn a_client_that_must_sign_gets_in_by_signing() {
    let key = Key::new("one", 7);
    let (_web, server, client, code) = signing_client(ONLY_SIGNING, &[&key]).await;
    assert!(matches!(client.authentication, ClientAuthentication::PrivateKeyJwt { .. }));
    // #46: and by nothing else.
    server.exchange(&client, &code).await.assert_error(401, "invalid_client");
    let tokens = exchange(&server, &code, &key.sign(&claims("a", 0))).await.tokens();
    server.refresh(&client, &tokens.refresh).await.assert_error(401, "invalid_client");
    let more = [("client_assertion_type", TYPE)];
    let assertion = key.sign(&claims("b", 0));
    let refreshed = server
        .refresh_with(&client, &tokens.refresh, &[more[0], ("client_assertion", &assertion)])
        .await;
    assert_eq!(refreshed.status.as_u16(), 200, "{}", refreshed.text);
    // #121: the same at /revoke.
    let assertion = key.sign(&claims("c", 0));
    let revoked = server
        .post_form("/revoke", &[more[0], ("client_assertion", &assertion), ("token", "x")])
        .await;
    assert_eq!(revoked.status.as_u16(), 200, "{}", revoked.text);
}

/// RFC 7523 section 3, RFC 8725: everything about an assertion is checked.
#[tokio::test]
async fn an_assertion_that_is_not_right_in_all_proves_nothing() {
    let (key, other) = (Key::new("one", 7), Key::new("one", 8));
    let (_web, server, _, code) = signing_client(ONLY_SIGNING, &[&key]).await;
    let with = |name: &str, value: Value| {
        let mut claims = claims(name, 0);
        claims[name] = value;
        key.sign(&claims)
    };
    let now = START.as_seconds();
    let good = key.sign(&claims("good", 0));
    let unsigned = {
        let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let header = part(&json!({ "alg": "none", "kid": "one" }));
        format!("{header}.{}.", part(&claims("none", 0)))
    };
    let symmetric = {
        let header = Header { kid: Some("one".to_owned()), ..Header::new(Algorithm::HS256) };
        let secret = EncodingKey::from_secret(key.jwk().to_string().as_bytes()).unwrap();
        jsonwebtoken::encode(&header, &claims("hs", 0), &secret).unwrap()
    };
    let mut bent = good.clone();
    bent.replace_range(good.len() - 2.., "AA");
    for (assertion, what) in [
        (other.sign(&claims("x", 0)), "another's key of the same name"),
        (Key::new("two", 7).sign(&claims("x", 0)), "a key of a name that is not published"),
        (with("iss", json!("https://client.example/other.json")), "another issuer"),
        (with("sub", json!("https://client.example/other.json")), "another subject"),
        (with("aud", json!("https://other.example")), "another server"),
        (with("aud", json!([ISSUER, "https://other.example"])), "several servers"),
        (with("exp", json!(now)), "expired"),
        (with("exp", json!(now + 700)), "good for more than ten minutes"),
        (with("exp", Value::Null), "no end"),
        (with("nbf", json!(now + 120)), "not valid yet"),
        (with("iat", json!(now + 120)), "from the future"),
        (with("jti", Value::Null), "no name"),
        (unsigned, "unsigned"),
        (symmetric, "signed with what is public"),
        (bent, "a bent signature"),
        ("x.y.z".to_owned(), "garbage"),
        (String::from("a.b"), "two parts"),
    ] {
        let answer = exchange(&server, &code, &assertion).await;
        assert_eq!(answer.status.as_u16(), 401, "{what}: {}", answer.text);
        answer.assert_error(401, "invalid_client");
    }
    // None of that has spent the code or the good assertion.
    exchange(&server, &code, &good).await.tokens();
}

/// RFC 7523 section 3, item 7: an assertion is good once.
#[tokio::test]
async fn an_assertion_is_good_once() {
    let key = Key::new("one", 7);
    let (_web, server, client, code) = signing_client(ONLY_SIGNING, &[&key]).await;
    let assertion = key.sign(&claims("once", 0));
    let tokens = exchange(&server, &code, &assertion).await.tokens();
    let again = [("client_assertion_type", TYPE), ("client_assertion", &*assertion)];
    let answer = server.refresh_with(&client, &tokens.refresh, &again).await;
    answer.assert_error(401, "invalid_client");
}

/// Checklist 44: one way to authenticate in one request, and the names agree.
#[tokio::test]
async fn an_assertion_beside_something_else_is_a_contradiction() {
    let key = Key::new("one", 7);
    let (_web, server, _, _) = signing_client(ONLY_SIGNING, &[&key]).await;
    let assertion = key.sign(&claims("x", 0));
    let base = [
        ("grant_type", "refresh_token"),
        ("refresh_token", "x"),
        ("client_assertion", &*assertion),
    ];
    let post = async |more: &[(&str, &str)]| {
        let form: Vec<_> = base.iter().chain(more).copied().collect();
        server.post_form("/token", &form).await
    };
    let with_secret = post(&[("client_assertion_type", TYPE), ("client_secret", "s")]).await;
    with_secret.assert_error(400, "invalid_request");
    let other =
        post(&[("client_assertion_type", TYPE), ("client_id", "https://o.example/x")]).await;
    other.assert_error(401, "invalid_client");
    post(&[("client_assertion_type", "saml")]).await.assert_error(401, "invalid_client");
    post(&[]).await.assert_error(400, "invalid_request");
}

/// B26: a document that offers both is a public client, that may sign; what it signs must
/// be right then.
#[tokio::test]
async fn a_client_that_may_sign_need_not() {
    let key = Key::new("one", 7);
    let both = r#","token_endpoint_auth_method":"private_key_jwt",
        "token_endpoint_auth_methods_supported":["none","private_key_jwt"]"#;
    let (_web, server, client, code) = signing_client(both, &[&key]).await;
    let forged = Key::new("one", 9).sign(&claims("x", 0));
    exchange(&server, &code, &forged).await.assert_error(401, "invalid_client");
    let tokens = exchange(&server, &code, &key.sign(&claims("y", 0))).await.tokens();
    assert_eq!(server.refresh(&client, &tokens.refresh).await.status.as_u16(), 200);
}

/// Keys change: one that is not known yet is looked for, but not oftener than once a
/// minute; and while they cannot be had, the last ones count.
#[tokio::test]
async fn new_keys_are_found_and_old_ones_outlast_an_outage() {
    let (old, new) = (Key::new("old", 7), Key::new("new", 8));
    let (web, server, client, code) = signing_client(ONLY_SIGNING, &[&old]).await;
    let tokens = exchange(&server, &code, &old.sign(&claims("a", 0))).await.tokens();
    let refresh = async |key: &Key, id: &str, age: u64| {
        let assertion = key.sign(&claims(id, age));
        let more = [("client_assertion_type", TYPE), ("client_assertion", &*assertion)];
        server.refresh_with(&client, &tokens.refresh, &more).await.status.as_u16()
    };
    web.publish("/jwks.json", &key_set(&[&new]), "");
    let fetches = || web.requests().iter().filter(|head| head.contains("/jwks.json")).count();
    assert_eq!((refresh(&new, "b", 0).await, fetches()), (401, 1));
    server.advance(60);
    assert_eq!((refresh(&new, "c", 60).await, fetches()), (200, 2));
    // While they cannot be had the last ones count, for a day; what the host answers
    // counts at once.
    let oops = vec![Step::Send(answer("503 Later", "", ""))];
    web.on("/jwks.json", oops);
    let day = 60 + 24 * 60 * 60;
    server.advance(24 * 60 * 60);
    assert_eq!((refresh(&new, "d", day).await, fetches()), (200, 3));
    server.advance(2 * 60 * 60);
    assert_eq!(refresh(&new, "e", day + 2 * 60 * 60).await, 503, "not invalid_client");
    web.publish("/jwks.json", r#"{"keys":[]}"#, "");
    server.advance(60 * 60);
    assert_eq!(refresh(&new, "f", day + 3 * 60 * 60).await, 401);
}

/// CIMD section 6.3: where the keys are is what the document says now.
#[tokio::test]
async fn keys_that_have_moved_are_followed() {
    let (old, new) = (Key::new("old", 7), Key::new("new", 8));
    let (web, server, client, code) = signing_client(ONLY_SIGNING, &[&old]).await;
    let tokens = exchange(&server, &code, &old.sign(&claims("a", 0))).await.tokens();
    let moved = r#","jwks_uri":"https://client.example/keys2.json""#;
    web.publish(PATH, &document(&format!("{ONLY_SIGNING}{moved}")), "");
    web.publish("/keys2.json", &key_set(&[&new]), "");
    let day = 24 * 60 * 60;
    server.advance(day);
    for (key, status) in [(&old, 401), (&new, 200)] {
        let assertion = key.sign(&claims(key.name, day));
        let more = [("client_assertion_type", TYPE), ("client_assertion", &*assertion)];
        let answer = server.refresh_with(&client, &tokens.refresh, &more).await;
        assert_eq!(answer.status.as_u16(), status, "{}", answer.text);
    }
}

/// Keys in the document itself are those that it has now.
#[tokio::test]
async fn keys_in_the_document_are_todays() {
    let (old, new) = (Key::new("old", 7), Key::new("new", 8));
    let web = HostileWeb::start(&[HOST]).await;
    let inline = |key: &Key| document(&format!(r#"{ONLY_SIGNING},"jwks":{}"#, key_set(&[key])));
    web.publish(PATH, &inline(&old), "");
    let server = start(&web).await;
    let (client, code) = approved(&server).await;
    let tokens = exchange(&server, &code, &old.sign(&claims("a", 0))).await.tokens();
    web.publish(PATH, &inline(&new), "");
    let day = 24 * 60 * 60;
    server.advance(day);
    for (key, status) in [(&old, 401), (&new, 200)] {
        let assertion = key.sign(&claims(key.name, day));
        let more = [("client_assertion_type", TYPE), ("client_assertion", &*assertion)];
        let answer = server.refresh_with(&client, &tokens.refresh, &more).await;
        assert_eq!(answer.status.as_u16(), status, "{}", answer.text);
    }
}

/// Checklist 115: an assertion that is wrong on its face makes us call nobody.
#[tokio::test]
async fn what_is_wrong_on_its_face_costs_no_fetch() {
    let key = Key::new("one", 7);
    let (web, server, _, code) = signing_client(ONLY_SIGNING, &[&key]).await;
    server.advance(25 * 60 * 60);
    let before = web.requests().len();
    let now = START.as_seconds() + 25 * 60 * 60;
    let with = |name: &str, value: Value| {
        let mut claims = claims(name, 25 * 60 * 60);
        claims[name] = value;
        key.sign(&claims)
    };
    for wrong in [
        with("iss", json!("https://other.example/app.json")),
        with("aud", json!("https://other.example")),
        with("exp", json!(now - 1)),
        with("exp", json!(now + 3_600)),
        with("nbf", json!(now + 600)),
    ] {
        exchange(&server, &code, &wrong).await.assert_error(401, "invalid_client");
    }
    assert_eq!(web.requests().len(), before);
    exchange(&server, &code, &with("jti", json!("x"))).await.assert_error(400, "invalid_grant");
    assert!(web.requests().len() > before, "the one that may be right does");
}
