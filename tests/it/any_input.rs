//! Whatever arrives at whatever route: never a 5xx, never a panic, and JSON where JSON
//! belongs. The tables of `bad_input` say which answers are right; this looks for what
//! nobody thought of.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Method, Request, Uri};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{option, prop_assert};
use serde_json::{Value, json};

use crate::support::routes::{Door, ROUTES};
use crate::support::{Browser, OAuthClient, PASSWORD, TestApp, Tokens, VaultBuilder};

/// Names that some handler looks for.
const NAMES: [&str; 30] = [
    "access_token",
    "client_assertion",
    "client_id",
    "client_secret",
    "code",
    "code_challenge",
    "code_challenge_method",
    "code_verifier",
    "decision",
    "form",
    "grant_for",
    "grant_type",
    "nonsense",
    "password",
    "people_for",
    "prompt",
    "redirect_uri",
    "refresh_token",
    "repeated",
    "request",
    "request_uri",
    "resource",
    "response_type",
    "scope",
    "state",
    "token",
    "token_type_hint",
    "user",
    "jsonrpc",
    "method",
];

/// Headers that some layer reads.
const HEADERS: [&str; 13] = [
    "accept",
    "access-control-request-headers",
    "access-control-request-method",
    "authorization",
    "content-length",
    "cookie",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "origin",
    "sec-fetch-site",
];

const METHODS: [&str; 8] =
    ["initialize", "ping", "tools/list", "tools/call", "resources/read", "prompts/get", "x", ""];

/// One request, as it would come off the wire.
#[derive(Clone, Debug)]
struct Arrival {
    method: Method,
    target: String,
    headers: Vec<(&'static str, HeaderValue)>,
    body: Bytes,
    is_signed_in: bool,
    has_token: bool,
}

/// What a request may hold beside noise, so that it gets past the first check.
struct Known {
    values: Vec<String>,
    access_token: String,
}

#[test]
fn nothing_that_arrives_breaks_the_server() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let vault = VaultBuilder::plain(&[("a.md", "# A\n\ntext"), ("b.txt", "text")]);
    let (app, browser, known) = runtime.block_on(async {
        let app = TestApp::serving(vault.root()).await;
        let client = OAuthClient::registered(&app, "noise").await;
        let mut browser = Browser::signed_in(&app).await;
        let code = client.consent(&app, &mut browser, &["wiki:read"]).await;
        let tokens = Tokens::of(&client.exchange(&app, &code).await.json());
        let known = Known::of(&app, &client, &tokens);
        (app, tokio::sync::Mutex::new(browser), known)
    });
    let config = Config { cases: 1_024, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&arrival(&known), |arrival| {
        let Ok(request) = arrival.request(&known) else {
            return Err(TestCaseError::reject("no HTTP request"));
        };
        let door = arrival.door();
        let reply = runtime.block_on(async {
            if arrival.is_signed_in {
                browser.lock().await.send(&app, request).await
            } else {
                app.send(request).await
            }
        });
        prop_assert!(reply.status.as_u16() < 500, "{} {}", reply.status, reply.body);
        prop_assert!(!reply.body.contains("temporarily unavailable"), "{}", reply.body);
        let kind = reply.header("content-type");
        if !matches!(door, Some(Door::Session | Door::Open)) {
            prop_assert!(!kind.starts_with("text/html"), "{}: {kind}", reply.status);
        }
        // The protocol library refuses headers in plain words.
        if matches!(door, Some(Door::Client) | None) && reply.status.is_client_error() {
            prop_assert!(kind.starts_with("application/json"), "{}: {kind}", reply.status);
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

impl Known {
    fn of(app: &TestApp, client: &OAuthClient, tokens: &Tokens) -> Self {
        let mut values: Vec<String> = [
            "code",
            "S256",
            "plain",
            "none",
            "allow",
            "deny",
            "1d",
            "authorization_code",
            "refresh_token",
            "wiki:read",
            "wiki:people wiki:write",
            "http://127.0.0.1:53000/callback",
            "owner",
            "2026-07-28",
            "2025-11-25",
            "application/json, text/event-stream",
            "application/json",
            "application/x-www-form-urlencoded",
            "text/event-stream",
            "same-origin",
            "null",
            "a.md",
            "search",
            "read_page",
            "write_inbox_note",
            PASSWORD,
        ]
        .map(str::to_owned)
        .into();
        let made = [app.issuer().to_owned(), app.resource(), client.id.clone()];
        values.extend(made);
        values.extend([tokens.access.clone(), tokens.refresh.clone(), "x".repeat(43)]);
        values.extend(METHODS.map(str::to_owned));
        Self { values, access_token: tokens.access.clone() }
    }

    fn value(&self) -> impl Strategy<Value = String> + use<> {
        prop_oneof![select(self.values.clone()), any::<String>(), "[ -~]{0,60}"]
    }

    fn form(&self) -> impl Strategy<Value = String> + use<> {
        vec((select(&NAMES[..]), self.value()), 0..10).prop_map(|pairs| {
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
        })
    }

    fn json(&self) -> impl Strategy<Value = Value> + use<> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            self.value().prop_map(Value::from),
        ];
        let key = prop_oneof![
            select(&["name", "arguments", "query", "path", "vault", "limit", "_meta", "uri"][..])
                .prop_map(str::to_owned),
            select(&["redirect_uris", "client_name", "grant_types", "cursor"][..])
                .prop_map(str::to_owned),
            any::<String>(),
        ];
        leaf.prop_recursive(4, 24, 5, move |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(Value::from),
                vec((key.clone(), inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }
}

fn arrival(known: &Known) -> impl Strategy<Value = Arrival> + use<> {
    let methods = [Method::GET, Method::POST, Method::POST, Method::POST, Method::DELETE];
    let others = [Method::HEAD, Method::OPTIONS, Method::PUT, Method::PATCH, Method::TRACE];
    let method = prop_oneof![4 => select(methods.to_vec()), 1 => select(others.to_vec())];
    let path = prop_oneof![
        9 => select(ROUTES.map(|(path, _)| path).to_vec()).prop_map(str::to_owned),
        1 => "/[!-~]{0,30}",
    ];
    let query = option::of(prop_oneof![known.form(), "[!-~]{0,60}"]);
    let message = (select(&METHODS[..]), known.json(), known.json()).prop_map(
        |(method, params, id)| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
    );
    let body = prop_oneof![
        known.form().prop_map(String::into_bytes),
        known.json().prop_map(|value| value.to_string().into_bytes()),
        message.prop_map(|value| value.to_string().into_bytes()),
        vec(any::<u8>(), 0..200),
    ];
    let kind = select(
        &["application/x-www-form-urlencoded", "application/json", "text/plain", "\u{7f}", ""][..],
    );
    let value = prop_oneof![known.value().prop_map(String::into_bytes), vec(any::<u8>(), 0..40)];
    let headers = (kind, vec((select(&HEADERS[..]), value), 0..5)).prop_map(|(kind, others)| {
        let all = [("content-type", kind.as_bytes().to_vec())].into_iter().chain(others);
        all.filter_map(|(name, value)| Some((name, HeaderValue::from_bytes(&value).ok()?)))
            .collect()
    });
    (method, path, query, headers, body, any::<bool>(), any::<bool>()).prop_map(
        |(method, path, query, headers, body, is_signed_in, has_token)| {
            let target = query.map_or(path.clone(), |query| format!("{path}?{query}"));
            Arrival { method, target, headers, body: body.into(), is_signed_in, has_token }
        },
    )
}

impl Arrival {
    fn request(&self, known: &Known) -> Result<Request<Body>, axum::http::Error> {
        let target: Uri = self.target.parse()?;
        let mut request = Request::builder().method(self.method.clone()).uri(target);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if self.has_token {
            request = request.header("authorization", format!("Bearer {}", known.access_token));
        }
        request.body(Body::from(self.body.clone()))
    }

    fn door(&self) -> Option<Door> {
        let path = self.target.split(['?', '#']).next().unwrap_or_default();
        ROUTES.into_iter().find(|(known, _)| *known == path).map(|(_, door)| door)
    }
}
