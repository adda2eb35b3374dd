//! Keys and tokens for tests. The keys in `tests/fixtures/keys` were made for this
//! and are used for nothing else.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use brain_mcp::clock::{Clock, ManualClock, UnixTime};
use brain_mcp::contract::key_set::PublicKeySet;
use brain_mcp::contract::liveness::{GrantLiveness, GrantReference};
use brain_mcp::contract::scope::ScopeSet;
use brain_mcp::rates::PerMinute;
use brain_mcp::resource_server::bearer::BearerToken;
use brain_mcp::resource_server::key_source::KeySource;
use brain_mcp::resource_server::sessions::Sessions;
use brain_mcp::resource_server::verify::{TokenError, TokenVerifier, VerifiedToken};
use brain_mcp::resource_server::{ResourceServer, Settings};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};
use tower::ServiceExt as _;

pub(super) const ISSUER: &str = "https://auth.example.org";
pub(super) const RESOURCE: &str = "https://wiki.example.org/mcp";
pub(super) const NOW: u64 = 1_800_000_000;

/// A signing key with its name.
pub(crate) struct Key {
    pub(super) id: &'static str,
    pub(super) algorithm: Algorithm,
    secret: EncodingKey,
}

impl Key {
    pub(crate) fn es256() -> Self {
        let secret = EncodingKey::from_ec_der(include_bytes!("../../fixtures/keys/p256-a.der"));
        Self { id: "es256-a", algorithm: Algorithm::ES256, secret }
    }

    pub(crate) fn other_es256() -> Self {
        let secret = EncodingKey::from_ec_der(include_bytes!("../../fixtures/keys/p256-b.der"));
        Self { id: "es256-b", algorithm: Algorithm::ES256, secret }
    }

    pub(super) fn es384() -> Self {
        let secret = EncodingKey::from_ec_der(include_bytes!("../../fixtures/keys/p384.der"));
        Self { id: "es384", algorithm: Algorithm::ES384, secret }
    }

    pub(super) fn eddsa() -> Self {
        let secret = EncodingKey::from_ed_der(include_bytes!("../../fixtures/keys/ed25519.der"));
        Self { id: "eddsa", algorithm: Algorithm::EdDSA, secret }
    }

    pub(crate) fn rsa(algorithm: Algorithm) -> Self {
        let secret = EncodingKey::from_rsa_der(include_bytes!("../../fixtures/keys/rsa-2048.der"));
        Self { id: "rsa", algorithm, secret }
    }

    pub(super) fn named(self, id: &'static str) -> Self {
        Self { id, ..self }
    }

    /// The public half, without `alg`.
    pub(crate) fn jwk(&self) -> Value {
        let jwk = Jwk::from_encoding_key(&self.secret, self.algorithm).expect("a public half");
        let mut jwk = serde_json::to_value(jwk).expect("JSON");
        jwk["kid"] = json!(self.id);
        jwk["use"] = json!("sig");
        jwk.as_object_mut().expect("an object").remove("alg");
        jwk
    }

    /// A token with the usual header.
    pub(crate) fn token(&self, claims: &Value) -> String {
        self.sign(&self.header(), claims)
    }

    pub(super) fn header(&self) -> Value {
        json!({ "alg": format!("{:?}", self.algorithm), "typ": "at+jwt", "kid": self.id })
    }

    /// A token with any header, signed with this key.
    pub(super) fn sign(&self, header: &Value, claims: &Value) -> String {
        self.signed(&unsigned(header, claims))
    }

    /// A token of these first two parts, whatever they are.
    pub(super) fn signed(&self, message: &str) -> String {
        let signature =
            jsonwebtoken::crypto::sign(message.as_bytes(), &self.secret, self.algorithm)
                .expect("a signature");
        format!("{message}.{signature}")
    }
}

/// The first two parts of a token.
pub(super) fn unsigned(header: &Value, claims: &Value) -> String {
    let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", encode(header), encode(claims))
}

pub(crate) fn key_set(keys: &[Value]) -> PublicKeySet {
    PublicKeySet::from_json(&json!({ "keys": keys }).to_string())
}

/// The claims of a token that opens everything.
pub(super) fn good_claims() -> Value {
    json!({
        "iss": ISSUER,
        "sub": "owner",
        "aud": RESOURCE,
        "client_id": "client-1",
        "iat": NOW,
        "exp": NOW + 600,
        "jti": "token-1",
        "scope": "wiki:read wiki:confidential wiki:people wiki:write",
        "gid": "grant-1",
        "gen": 1,
    })
}

/// The usual claims with some of them changed.
pub(crate) fn claims_with(changes: Value) -> Value {
    let mut claims = good_claims();
    for (name, value) in changes.as_object().expect("an object") {
        claims[name] = value.clone();
    }
    claims
}

/// Grants: one, alive with these scopes or dead.
pub(super) struct OneGrant(Mutex<Option<ScopeSet>>);

impl OneGrant {
    pub(super) fn set(&self, scopes: Option<ScopeSet>) {
        *self.0.lock().unwrap() = scopes;
    }
}

impl GrantLiveness for OneGrant {
    fn live_scopes(&self, reference: GrantReference<'_>) -> Option<ScopeSet> {
        let scopes = *self.0.lock().unwrap();
        scopes.filter(|_| reference.grant == "grant-1" && reference.subject == "owner")
    }
}

/// A resource server with everything that a test wants to turn.
pub(super) struct Server {
    pub(super) protected: ResourceServer,
    pub(super) verifier: TokenVerifier,
    pub(super) grant: Arc<OneGrant>,
    pub(super) time: ManualClock,
    pub(super) sessions: Sessions,
}

impl Server {
    /// The embedded form: [`Key::es256`] signs.
    pub(super) fn embedded() -> Self {
        let document = || key_set(&[Key::es256().jwk()]);
        Self::with(KeySource::embedded(Arc::new(document)))
    }

    pub(super) fn with(key_source: KeySource) -> Self {
        let grant = Arc::new(OneGrant(Mutex::new(Some(ScopeSet::ALL))));
        let (clock, time) = Clock::manual(UnixTime::from_seconds(NOW));
        let settings = Settings {
            issuer: ISSUER.parse().expect("an issuer"),
            resource: RESOURCE.parse().expect("a resource"),
            allowed_origins: vec!["https://inspector.example".to_owned()],
            key_source: key_source.clone(),
            limit: PerMinute::UNLIMITED,
            bad_token_limit: PerMinute::UNLIMITED,
        };
        let verifier = TokenVerifier::new(
            settings.issuer.clone(),
            settings.resource.clone(),
            key_source,
            grant.clone(),
            clock.clone(),
        );
        let sessions = Sessions::new();
        let protected = ResourceServer::new(settings, grant.clone(), clock, sessions.clone());
        Self { protected, verifier, grant, time, sessions }
    }

    pub(super) async fn verify(&self, token: &str) -> Result<VerifiedToken, TokenError> {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", format!("Bearer {token}").parse().unwrap());
        self.verifier.verify(&BearerToken::from_headers(&headers).expect("well-formed")).await
    }
}

/// An answer, read to its end.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    /// The JSON-RPC message, whether it came as JSON or as the data of an event.
    pub(super) fn message(&self) -> Value {
        if !self.header("content-type").starts_with("text/event-stream") {
            return self.json();
        }
        self.text
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .find_map(|data| serde_json::from_str::<Value>(data.trim()).ok())
            .unwrap_or_else(|| panic!("no message: {}", self.text))
    }
}

/// Sends a request through a router; `Host` is added where it is missing.
pub(super) async fn send(router: &Router, mut request: Request) -> Answer {
    if !request.headers().contains_key("host") {
        request.headers_mut().insert("host", "wiki.example.org".parse().unwrap());
    }
    let response = router.clone().oneshot(request).await.expect("infallible");
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("a whole body");
    let text = String::from_utf8(body.to_vec()).expect("UTF-8");
    Answer { status: parts.status, headers: parts.headers, text }
}

/// A request to the endpoint.
pub(super) fn request(method: &str, token: Option<&str>, body: impl Into<Body>) -> Request {
    let mut request = Request::builder()
        .method(method)
        .uri("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    request.body(body.into()).expect("a request")
}
