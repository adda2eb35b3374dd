//! A foreign issuer, whose keys come from a URL (design section 3, `jwks_url`).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{any, get};
use brain_mcp::contract::scope::ScopeSet;
use brain_mcp::resource_server::key_source::KeySource;
use brain_mcp::resource_server::verify::{ForeignGrants, TokenError, TokenVerifier};
use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use super::minting::{Key, Server, claims_with, good_claims, key_set, request, send};

/// What the issuer's server answers, and how often it was asked.
struct Published {
    status: StatusCode,
    cache_control: &'static str,
    body: String,
    asked: usize,
}

#[derive(Clone)]
struct Issuer(Arc<Mutex<Published>>);

impl Issuer {
    async fn start(keys: &[Value]) -> (Self, KeySource) {
        let issuer = Self(Arc::new(Mutex::new(Published {
            status: StatusCode::OK,
            cache_control: "public, max-age=600",
            body: key_set(keys).as_json().to_owned(),
            asked: 0,
        })));
        let (answering, elsewhere) = (issuer.clone(), key_set(keys));
        let router = Router::new()
            .route("/keys", get(move || std::future::ready(answering.answer())))
            .route("/elsewhere", get(move || std::future::ready(elsewhere.as_json().to_owned())));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let source = KeySource::url(&format!("http://{address}/keys")).expect("loopback");
        (issuer, source)
    }

    fn answer(&self) -> impl IntoResponse + use<> {
        let mut published = self.0.lock().unwrap();
        published.asked += 1;
        let headers = [("cache-control", published.cache_control), ("location", "/elsewhere")];
        (published.status, headers, published.body.clone())
    }

    fn publish(&self, keys: &[Value]) {
        key_set(keys).as_json().clone_into(&mut self.0.lock().unwrap().body);
    }

    fn answer_with(&self, status: StatusCode) {
        self.0.lock().unwrap().status = status;
    }

    fn asked(&self) -> usize {
        self.0.lock().unwrap().asked
    }
}

fn foreign_token(key: &Key) -> String {
    let mut claims = good_claims();
    claims.as_object_mut().unwrap().remove("gid");
    claims["gen"] = json!("not ours");
    key.token(&claims)
}

/// A verifier for tokens without a grant of ours.
fn foreign(source: KeySource) -> Server {
    let mut server = Server::with(source.clone());
    let (clock, time) = brain_mcp::clock::Clock::manual(brain_mcp::clock::UnixTime::from_seconds(
        super::minting::NOW,
    ));
    server.verifier = TokenVerifier::new(
        super::minting::ISSUER.parse().unwrap(),
        super::minting::RESOURCE.parse().unwrap(),
        source,
        Arc::new(ForeignGrants),
        clock,
    );
    server.time = time;
    server
}

#[tokio::test]
async fn every_listed_algorithm_is_taken_with_a_key_that_fits() {
    let keys = [
        Key::es256(),
        Key::es384(),
        Key::rsa(Algorithm::RS256),
        Key::rsa(Algorithm::PS256),
        Key::eddsa(),
    ];
    let (issuer, source) = Issuer::start(&keys.each_ref().map(Key::jwk)).await;
    let server = foreign(source);
    for key in &keys {
        let token = server.verify(&foreign_token(key)).await.expect(key.id);
        assert_eq!(token.scopes(), ScopeSet::ALL);
    }
    assert_eq!(issuer.asked(), 1, "the key set is cached");

    for algorithm in [Algorithm::RS384, Algorithm::RS512, Algorithm::PS512] {
        let refused = server.verify(&foreign_token(&Key::rsa(algorithm))).await;
        assert_eq!(refused.expect_err("not listed"), TokenError::WrongAlgorithm);
    }
    // A listed algorithm with a key of another kind.
    let confused = Key::rsa(Algorithm::RS256).named(Key::es256().id);
    let refused = server.verify(&foreign_token(&confused)).await;
    assert_eq!(refused.expect_err("another kind"), TokenError::WrongSignature);
}

/// R9: the same refusals as with our own keys, for both common kinds.
#[tokio::test]
async fn a_foreign_token_is_judged_as_strictly_as_ours() {
    let keys = [Key::es256(), Key::rsa(Algorithm::RS256)];
    let (_issuer, source) = Issuer::start(&keys.each_ref().map(Key::jwk)).await;
    let server = foreign(source);
    for key in &keys {
        let refusal = async |token: String| server.verify(&token).await.expect_err("refused");
        let claims = |changes| key.token(&claims_with(changes));
        let with_iss = claims(json!({ "iss": "https://other.example" }));
        assert_eq!(refusal(with_iss).await, TokenError::WrongIssuer);
        let with_aud = claims(json!({ "aud": "https://other.example/mcp" }));
        assert_eq!(refusal(with_aud).await, TokenError::WrongAudience);
        assert_eq!(refusal(claims(json!({ "exp": 1 }))).await, TokenError::Expired);
        let mut header = key.header();
        header["typ"] = json!("JWT");
        assert_eq!(refusal(key.sign(&header, &good_claims())).await, TokenError::WrongType);
        let good = key.token(&good_claims());
        let (message, _) = good.rsplit_once('.').unwrap();
        let foreign_signature = Key::other_es256().token(&good_claims());
        let (_, signature) = foreign_signature.rsplit_once('.').unwrap();
        assert_eq!(refusal(format!("{message}.{signature}")).await, TokenError::WrongSignature);
    }
}

/// Keys that must not verify anything, whoever publishes them.
#[tokio::test]
async fn unfit_keys_are_ignored() {
    let mut for_encryption = Key::other_es256().named("enc").jwk();
    for_encryption["use"] = json!("enc");
    let mut for_pss = Key::rsa(Algorithm::PS256).named("pss").jwk();
    for_pss["alg"] = json!("PS256");
    let mut short = Key::rsa(Algorithm::RS256).named("short").jwk();
    // 1,008 bits are left.
    short["n"] = json!(&short["n"].as_str().unwrap()[..168]);
    let keys = [
        json!({ "kty": "oct", "kid": "secret", "k": "c2VjcmV0", "alg": "HS256" }),
        json!({ "kty": "new-kind", "kid": "new" }),
        json!("no key"),
        for_encryption,
        for_pss,
        short,
        Key::es256().jwk(),
    ];
    let (_issuer, source) = Issuer::start(&keys).await;
    let server = foreign(source);
    let check = async |key: Key| server.verify(&foreign_token(&key)).await;
    check(Key::es256()).await.expect("the one good key");
    check(Key::rsa(Algorithm::PS256).named("pss")).await.expect("by its own algorithm");
    let refused = check(Key::rsa(Algorithm::RS256).named("pss")).await;
    assert_eq!(refused.expect_err("alg is binding"), TokenError::WrongSignature);
    for key in [
        Key::other_es256().named("enc"),
        Key::rsa(Algorithm::RS256).named("short"),
        Key::es256().named("secret"),
    ] {
        let id = key.id;
        assert_eq!(check(key).await.expect_err(id), TokenError::UnknownKey, "{id}");
    }
}

/// RFC 7517 section 4.5: a name may stand twice; each key counts for itself.
#[tokio::test]
async fn a_doubled_name_neither_breaks_nor_opens_anything() {
    let twins = [Key::es256().named("x"), Key::other_es256().named("x")];
    let (_issuer, source) = Issuer::start(&twins.each_ref().map(Key::jwk)).await;
    let server = foreign(source);
    for twin in &twins {
        server.verify(&foreign_token(twin)).await.expect("one of the two");
    }
    let third = server.verify(&foreign_token(&Key::es384().named("x"))).await;
    assert_eq!(third.expect_err("none of the two"), TokenError::WrongSignature);
}

/// A key that comes seconds after the first fetch is looked for at once.
#[tokio::test]
async fn a_new_key_is_found_at_most_a_minute_late() {
    let (issuer, source) = Issuer::start(&[Key::es256().jwk()]).await;
    let server = foreign(source);
    server.verify(&foreign_token(&Key::es256())).await.expect("the first key");
    issuer.publish(&[Key::es256().jwk(), Key::other_es256().jwk()]);
    let new = foreign_token(&Key::other_es256());
    server.verify(&new).await.expect("rotated");
    assert_eq!(issuer.asked(), 2);

    // Whoever makes up names must not be able to make us ask all the time.
    issuer.publish(&[Key::es256().jwk(), Key::other_es256().jwk(), Key::es384().jwk()]);
    let newer = foreign_token(&Key::es384());
    server.time.advance(Duration::from_secs(59));
    for _ in 0..5 {
        let refused = server.verify(&newer).await;
        assert_eq!(refused.expect_err("too early"), TokenError::UnknownKey);
    }
    assert_eq!(issuer.asked(), 2);

    server.time.advance(Duration::from_secs(1));
    server.verify(&newer).await.expect("rotated again");
    assert_eq!(issuer.asked(), 3);

    // A key that is gone is gone when the cached set has run out.
    issuer.publish(&[Key::other_es256().jwk()]);
    server.time.advance(Duration::from_secs(300));
    server.verify(&foreign_token(&Key::es256())).await.expect("still cached");
}

#[tokio::test]
async fn a_removed_key_ends_with_the_cached_set() {
    let (issuer, source) = Issuer::start(&[Key::es256().jwk()]).await;
    let server = foreign(source);
    let long_lived = Key::es256().token(&claims_with(json!({ "exp": super::minting::NOW + 9000 })));
    server.verify(&long_lived).await.expect("published");
    issuer.publish(&[Key::other_es256().jwk()]);
    server.time.advance(Duration::from_secs(601));
    let refused = server.verify(&long_lived).await;
    assert_eq!(refused.expect_err("withdrawn"), TokenError::UnknownKey);
}

/// A hundred requests at once are one question to the issuer.
#[tokio::test]
async fn there_is_one_fetch_at_a_time() {
    let (issuer, source) = Issuer::start(&[Key::es256().jwk()]).await;
    let server = Arc::new(foreign(source));
    let mut requests = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let server = Arc::clone(&server);
        requests
            .spawn(async move { server.verify(&foreign_token(&Key::es256())).await.map(|_| ()) });
    }
    while let Some(result) = requests.join_next().await {
        result.unwrap().expect("a good token");
    }
    assert_eq!(issuer.asked(), 1);
}

/// Never open: without keys there is 503, and it says when to come back.
#[tokio::test]
async fn an_unreachable_key_set_is_503() {
    // Port 9 of loopback: nothing listens there.
    let nowhere = KeySource::url("http://127.0.0.1:9/keys").expect("loopback");
    let (broken, at_broken) = Issuer::start(&[]).await;
    broken.answer_with(StatusCode::INTERNAL_SERVER_ERROR);
    let (_empty, at_empty) = Issuer::start(&[]).await;
    let (moved, at_moved) = Issuer::start(&[Key::es256().jwk()]).await;
    moved.answer_with(StatusCode::FOUND);
    let (garbage, at_garbage) = Issuer::start(&[]).await;
    garbage.0.lock().unwrap().body = "<html>".to_owned();
    let (huge, at_huge) = Issuer::start(&[Key::es256().jwk()]).await;
    huge.0.lock().unwrap().body.push_str(&" ".repeat(300 * 1024));

    for source in [nowhere, at_broken, at_empty, at_moved, at_garbage, at_huge] {
        let what = format!("{source:?}");
        let server = Server::with(source);
        let router = server.protected.router(any(|| async { "let through" }));
        let token = Key::es256().token(&good_claims());
        for _ in 0..3 {
            let answer = send(&router, request("POST", Some(&token), "{}")).await;
            assert_eq!(answer.status, 503, "{what}");
            assert_eq!(answer.header("retry-after"), "10", "{what}");
            assert_eq!(answer.header("www-authenticate"), "", "{what}");
            assert_eq!(answer.json()["error"], "temporarily_unavailable", "{what}");
        }
        let without = send(&router, request("POST", None, "{}")).await;
        assert_eq!(without.status, 401, "{what}");
    }
    assert_eq!(broken.asked(), 1, "a failing issuer is not hammered");
}

/// A short outage of the issuer is none of ours; a long one is.
#[tokio::test]
async fn old_keys_bridge_an_hour_and_no_more() {
    let (issuer, source) = Issuer::start(&[Key::es256().jwk()]).await;
    let server = foreign(source);
    let token = Key::es256().token(&claims_with(json!({ "exp": super::minting::NOW + 90_000 })));
    server.verify(&token).await.expect("fetched");
    issuer.answer_with(StatusCode::BAD_GATEWAY);
    server.time.advance(Duration::from_secs(600 + 3599));
    server.verify(&token).await.expect("bridged");
    server.time.advance(Duration::from_secs(1));
    let refused = server.verify(&token).await.expect_err("too old");
    assert!(matches!(refused, TokenError::KeysUnavailable(_)));
    issuer.answer_with(StatusCode::OK);
    server.time.advance(Duration::from_secs(2));
    server.verify(&token).await.expect("back again");
}

#[test]
fn a_key_url_is_https_or_loopback() {
    for good in ["https://auth.example.org/jwks", "http://localhost:8080/jwks", "http://[::1]/k"] {
        KeySource::url(good).expect(good);
    }
    for bad in ["http://auth.example.org/jwks", "file:///etc/keys", "jwks", "ftp://localhost/k"] {
        assert!(KeySource::url(bad).is_err(), "{bad}");
    }
}
