//! What deployed clients send, from the first request to the last refresh (oauth-clients
//! section 1), played back against the whole server.
//!
//! `tests/fixtures/recorded_clients.json` has the requests, written from descriptions of
//! the clients. In it `$O` stands for our origin, `$R` for the resource and `$GRANTED` for
//! the scopes that the owner gave.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::support::browser::Page;
use crate::support::{Browser, McpClient, Reply, Site, TestApp, VaultBuilder};

const VERIFIER: &str = "recorded~verifier.of-more_than-forty-three-characters";
const ALL_SCOPES: &str = "wiki:read wiki:confidential wiki:people wiki:write";

type Pairs = BTreeMap<String, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    /// Its quirks, for whoever reads.
    #[serde(rename = "about")]
    _about: String,
    /// First contact, without a token.
    probes: Vec<Probe>,
    #[serde(default)]
    discovery_headers: Pairs,
    /// Which metadata it looks for, in its order, and whether it is `found` or `missing`.
    discovery: Vec<(String, String)>,
    registration: Value,
    /// It registers the same again at once.
    #[serde(default)]
    registers_twice: bool,
    /// What it adds to `/authorize`.
    authorize: Pairs,
    #[serde(default)]
    authentication: Authentication,
    #[serde(default)]
    token_headers: Pairs,
    /// What it adds to the exchange of the code.
    token: Pairs,
    /// What it looks for before it refreshes.
    #[serde(default)]
    rediscovery: Vec<(String, String)>,
    /// What it adds to a refresh.
    refresh: Pairs,
    /// It comes with the old refresh token after the new one was given out.
    #[serde(default)]
    replays_parent: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Probe {
    method: String,
    headers: Pairs,
    /// The method of the message, if there is a body.
    body: Option<String>,
}

/// How it shows who it is at `/token`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Authentication {
    /// Its name in the body.
    #[default]
    None,
    /// Basic, as it is.
    Basic,
    /// Basic with every character escaped, and its name in the body as well.
    BasicEscapedAndId,
    /// Name and secret in the body.
    Body,
}

fn recordings() -> BTreeMap<String, Recording> {
    let text = include_str!("../fixtures/recorded_clients.json");
    serde_json::from_str(text).expect("the recordings")
}

/// A test for each recording, by its name.
macro_rules! clients {
    ($($name:ident)*) => {
        $(#[tokio::test]
        async fn $name() {
            play(stringify!($name)).await;
        })*

        /// No recording is left out.
        #[test]
        fn each_recording_is_played() {
            let names: Vec<String> = recordings().into_keys().collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

clients! {
    chatgpt claude_ai claude_code codex cursor cursor_in_a_terminal gemini_cli goose inspector
    librechat lm_studio mcp_remote open_webui opencode python_sdk python_sdk_public
    typescript_sdk vscode zed
}

/// One client, and the server that it talks to.
struct Player {
    app: TestApp,
    recording: Recording,
    granted: String,
    id: String,
    secret: Option<String>,
}

/// B01, B02, B05, B09 to B14, B20 to B24, B31 to B42; T1 to T3, T5 to T16: the whole way.
async fn play(name: &str) {
    let vault = VaultBuilder::plain(&[("garden.md", "# Garden\n\nTulips in April.\n")]);
    let app = TestApp::serving(vault.root()).await;
    let recording = recordings().remove(name).expect("a recording");
    let (granted, id) = (String::new(), String::new());
    let mut player = Player { app, recording, granted, id, secret: None };
    player.probe().await;
    player.discover(&player.recording.discovery).await;
    player.register().await;
    let code = player.authorize().await;

    let redirect_uri = player.recording.authorize["redirect_uri"].clone();
    let exchange = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("code_verifier", VERIFIER),
        ("redirect_uri", &redirect_uri),
    ];
    let first = player.tokens(&exchange, &player.recording.token).await;
    player.works(&first).await;

    // It comes back when the access token is over.
    player.app.clock.advance(Duration::from_secs(10 * 60));
    player.discover(&player.recording.rediscovery).await;
    let second = player.refresh(&first).await;
    assert_ne!(second["refresh_token"], first["refresh_token"]);
    player.works(&second).await;
    if player.recording.replays_parent {
        player.app.clock.advance(Duration::from_secs(50));
        let late = player.refresh(&first).await;
        assert_eq!(late["refresh_token"], second["refresh_token"], "the same child");
        player.works(&late).await;
    }

    // What is over is told in the one way that all clients understand (B37, B42).
    let refresh_token = second["refresh_token"].as_str().expect("a token");
    let reply = player.post("/revoke", &[("token", refresh_token)], &Pairs::new()).await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
    let pairs = [("grant_type", "refresh_token"), ("refresh_token", refresh_token)];
    let dead = player.post("/token", &pairs, &player.recording.refresh).await;
    assert_eq!(
        (dead.status, &dead.json()["error"]),
        (StatusCode::BAD_REQUEST, &json!("invalid_grant"))
    );
}

impl Player {
    fn site(&self) -> &Site {
        &self.app
    }

    /// Fills in what differs from server to server.
    fn filled(&self, text: &str) -> String {
        text.replace("$O", self.site().issuer())
            .replace("$R", &self.site().resource())
            .replace("$GRANTED", &self.granted)
    }

    /// Whatever it tries first, it is told where to sign in.
    async fn probe(&self) {
        let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", self.site().issuer());
        let challenge = format!("Bearer resource_metadata=\"{metadata}\", scope=\"{ALL_SCOPES}\"");
        for Probe { method, headers, body } in &self.recording.probes {
            let mut request = Request::builder().method(&**method).uri("/mcp");
            for (name, value) in headers {
                request = request.header(name, value);
            }
            let body = body.as_ref().map_or(Body::empty(), |method| {
                let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": { "name": "recorded", "version": "1" } });
                let body = json!({ "jsonrpc": "2.0", "id": 0, "method": method, "params": params });
                Body::from(body.to_string())
            });
            let reply = self.site().send(request.body(body).expect("a request")).await;
            assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{method} {headers:?}");
            assert_eq!(reply.header("www-authenticate"), challenge, "{method} {headers:?}");
            if let Some(origin) = headers.get("origin") {
                assert_eq!(reply.header("access-control-allow-origin"), origin);
                let exposed = reply.header("access-control-expose-headers").to_ascii_lowercase();
                assert!(exposed.contains("www-authenticate"), "{exposed}");
            }
        }
    }

    /// What it looks for is there with the values that clients compare, or is not there in
    /// a way that makes them go on.
    async fn discover(&self, look_ups: &[(String, String)]) {
        let (issuer, resource) = (self.site().issuer(), self.site().resource());
        for (path, expected) in look_ups {
            let mut request = Request::get(path);
            for (name, value) in &self.recording.discovery_headers {
                request = request.header(name, value);
            }
            let reply = self.site().send(request.body(Body::empty()).expect("a request")).await;
            assert!(reply.header("content-type").starts_with("application/json"), "{path}");
            let document = reply.json();
            if expected == "missing" {
                assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}");
                continue;
            }
            assert_eq!((reply.status, expected.as_str()), (StatusCode::OK, "found"), "{path}");
            assert!(has_nothing_empty(&document), "{document}");
            if path.contains("protected-resource") {
                assert_eq!(document["resource"], resource, "{path}");
                assert_eq!(document["authorization_servers"], json!([issuer]), "{path}");
            } else {
                assert_eq!(document["issuer"], issuer, "{path}");
                assert_eq!(document["token_endpoint"], format!("{issuer}/token"));
                assert_eq!(document["code_challenge_methods_supported"], json!(["S256"]));
            }
        }
    }

    async fn register(&mut self) {
        let first = self.registered().await;
        if self.recording.registers_twice {
            self.app.clock.advance(Duration::from_secs(1));
            assert_eq!(self.registered().await["client_id"], first["client_id"]);
        }
        assert!(has_nothing_empty(&first), "{first}");
        let sent = &self.recording.registration;
        assert_eq!(first["redirect_uris"], sent["redirect_uris"]);
        assert_eq!(first["grant_types"], json!(["authorization_code", "refresh_token"]));
        assert_eq!(first["response_types"], json!(["code"]));
        let method = sent["token_endpoint_auth_method"].as_str().unwrap_or("none");
        assert_eq!(first["token_endpoint_auth_method"], method);
        first["client_id"].as_str().expect("an id").clone_into(&mut self.id);
        self.secret = first["client_secret"].as_str().map(str::to_owned);
        assert_eq!(self.secret.is_some(), method != "none");
        assert_eq!(first.get("client_secret_expires_at").is_some(), method != "none");
    }

    async fn registered(&self) -> Value {
        let request = Request::post("/register")
            .header("content-type", "application/json")
            .body(Body::from(self.recording.registration.to_string()));
        let reply = self.site().send(request.expect("a request")).await;
        assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.body);
        reply.json()
    }

    /// The owner signs in and allows reading, and the browser brings the code back.
    async fn authorize(&mut self) -> String {
        let mut url = Url::parse(&format!("{}/authorize", self.site().issuer())).expect("a URL");
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        url.query_pairs_mut().extend_pairs([
            ("response_type", "code"),
            ("client_id", &self.id),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        for (name, value) in &self.recording.authorize {
            url.query_pairs_mut().append_pair(name, &self.filled(value));
        }
        let site = self.site();
        let mut browser = Browser::signed_in(site).await;
        let page = browser.open(site, url.as_str()).await;
        let done =
            page.submit_with(&mut browser, site, "Allow", |form| form.tick_exactly(&["wiki:read"]));
        let place = &self.recording.authorize["redirect_uri"];
        let location = callback(&done.await, place);
        assert!(location.starts_with(&format!("{place}?")), "{location}");
        let query = location.split_once('?').expect("a query").1;
        let mut answer = Pairs::new();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()).into_owned() {
            assert!(answer.insert(name, value).is_none(), "{query}");
        }
        assert_eq!(answer.get("state"), self.recording.authorize.get("state"));
        assert_eq!(answer["iss"], site.issuer());
        "wiki:read".clone_into(&mut self.granted);
        answer.remove("code").expect("a code")
    }

    async fn refresh(&self, earlier: &Value) -> Value {
        let token = earlier["refresh_token"].as_str().expect("a token");
        let pairs = [("grant_type", "refresh_token"), ("refresh_token", token)];
        self.tokens(&pairs, &self.recording.refresh).await
    }

    /// Tokens in the shape that parsers of clients want (B41).
    async fn tokens(&self, pairs: &[(&str, &str)], more: &Pairs) -> Value {
        let reply = self.post("/token", pairs, more).await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
        assert_eq!(reply.header("cache-control"), "no-store");
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        let answer = reply.json();
        assert!(has_nothing_empty(&answer), "{answer}");
        assert_eq!(answer["token_type"], "Bearer");
        assert_eq!(answer["scope"], self.granted);
        assert!(answer["expires_in"].as_u64().is_some_and(|seconds| seconds > 0), "{answer}");
        answer
    }

    async fn post(&self, path: &str, pairs: &[(&str, &str)], more: &Pairs) -> Reply {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(pairs);
        for (name, value) in more {
            body.append_pair(name, &self.filled(value));
        }
        let mut request = Request::post(path);
        if !self.recording.token_headers.contains_key("content-type") {
            request = request.header("content-type", "application/x-www-form-urlencoded");
        }
        for (name, value) in &self.recording.token_headers {
            request = request.header(name, value);
        }
        let secret = self.secret.as_deref().unwrap_or_default();
        let basic = |id: &str, secret: &str| {
            format!("Basic {}", BASE64_STANDARD.encode(format!("{id}:{secret}")))
        };
        match self.recording.authentication {
            Authentication::None => {
                body.append_pair("client_id", &self.id);
            }
            Authentication::Basic => {
                request = request.header("authorization", basic(&self.id, secret));
            }
            Authentication::BasicEscapedAndId => {
                let header = basic(&escaped(&self.id), &escaped(secret));
                request = request.header("authorization", header);
                body.append_pair("client_id", &self.id);
            }
            Authentication::Body => {
                body.append_pair("client_id", &self.id).append_pair("client_secret", secret);
            }
        }
        let request = request.body(Body::from(body.finish())).expect("a request");
        self.site().send(request).await
    }

    /// An access token that was just issued opens the vault at once (B12).
    async fn works(&self, tokens: &Value) {
        let token = tokens["access_token"].as_str().expect("a token");
        let found = McpClient::with_token(token).search(self.site(), "tulips").await;
        assert_eq!(found, ["garden.md"]);
    }
}

/// Where the browser goes: by itself to sites and programs, by a page of ours to apps.
fn callback(page: &Page, place: &str) -> String {
    match page {
        Page::Elsewhere(location) => location.clone(),
        Page::Here(_, reply) => {
            let (_, link) = reply.body.split_once(&format!("href=\"{place}")).expect("a link");
            let rest = link.split('"').next().expect("a quote");
            format!("{place}{}", rest.replace("&#38;", "&").replace("&amp;", "&"))
        }
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        write!(escaped, "%{byte:02X}").expect("a text");
    }
    escaped
}

fn has_nothing_empty(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => !values.is_empty() && values.iter().all(has_nothing_empty),
        Value::Object(fields) => fields.values().all(has_nothing_empty),
        _ => true,
    }
}
