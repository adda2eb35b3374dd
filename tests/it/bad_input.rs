//! Malformed input at every route and tool: a clear 4xx or tool error, never a 5xx,
//! a panic, or HTML where JSON belongs.

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::{Value, json};

use crate::support::{McpClient, OAuthClient, Reply, Site, TestApp, VaultBuilder};

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

#[track_caller]
fn is_clear_json_refusal(what: &str, reply: &Reply) {
    assert!(reply.status.is_client_error(), "{what}: {} {}", reply.status, reply.body);
    let kind = reply.header("content-type");
    assert!(kind.starts_with(JSON), "{what}: {kind} {}", reply.body);
    assert!(reply.json().get("error").is_some(), "{what}: {}", reply.body);
}

async fn send(site: &Site, method: Method, path: &str, kind: &str, body: impl Into<Body>) -> Reply {
    let mut request = Request::builder().method(method).uri(path);
    if !kind.is_empty() {
        request = request.header("content-type", kind);
    }
    site.send(request.body(body.into()).unwrap()).await
}

/// Checklist 35, 36, 37, 38, 39, 40, 41, R10, R17, B38: `/token`, `/revoke`, `/register`.
#[tokio::test]
async fn machine_endpoints_refuse_in_json() {
    let vault = VaultBuilder::plain(&[("a.md", "text")]);
    let app = TestApp::serving(vault.root()).await;
    let huge = "x".repeat(70_000);
    let bodies: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("garbage", b"\xff\xfe\x00\x01".to_vec()),
        ("half an escape", b"grant_type=%".to_vec()),
        ("bad UTF-8 in an escape", b"grant_type=%ff%fe&token=%ff".to_vec()),
        ("control characters", b"grant_type=a%00b%0d%0a&token=%00&client_id=%0a".to_vec()),
        (
            "doubled",
            b"grant_type=authorization_code&grant_type=refresh_token&token=a&token=b".to_vec(),
        ),
        ("unknown grant", b"grant_type=password&username=a&password=b".to_vec()),
        ("huge", huge.clone().into_bytes()),
        (
            "huge value",
            format!("grant_type=refresh_token&client_id=a&token=b&refresh_token={huge}")
                .into_bytes(),
        ),
        ("JSON", br#"{"grant_type":"authorization_code"}"#.to_vec()),
    ];
    for path in ["/token", "/revoke"] {
        for kind in [FORM, JSON, "text/plain", "", "multipart/form-data; boundary=x", "nonsense"] {
            for (what, body) in &bodies {
                let reply = send(&app, Method::POST, path, kind, body.clone()).await;
                is_clear_json_refusal(&format!("{path} {kind} {what}"), &reply);
            }
        }
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let reply = send(&app, method, path, "", "").await;
            is_clear_json_refusal(path, &reply);
        }
    }
    let registrations = [
        "",
        "null",
        "[]",
        "7",
        "\"text\"",
        "{",
        "{}",
        r#"{"redirect_uris":null}"#,
        r#"{"redirect_uris":[]}"#,
        r#"{"redirect_uris":"https://a.example/cb"}"#,
        r#"{"redirect_uris":[7]}"#,
        r#"{"redirect_uris":["javascript:alert(1)"]}"#,
        r#"{"redirect_uris":["http://a.example/cb"]}"#,
        r#"{"redirect_uris":["https://a.example/cb#f"]}"#,
        r#"{"redirect_uris":["https://u:p@a.example/cb"]}"#,
        r#"{"redirect_uris":["/relative"]}"#,
        r#"{"redirect_uris":["https://a.example/\u0000"]}"#,
        r#"{"redirect_uris":["https://a.example/cb"],"client_name":7}"#,
        r#"{"redirect_uris":["https://a.example/cb"],"token_endpoint_auth_method":"magic"}"#,
    ];
    for body in registrations {
        let reply = send(&app, Method::POST, "/register", JSON, body).await;
        is_clear_json_refusal(body, &reply);
    }
    let deep = "[".repeat(20_000);
    for (kind, body) in [
        (JSON, huge.as_bytes()),
        (JSON, deep.as_bytes()),
        (JSON, b"\xff\xfe"),
        (FORM, b"a=b"),
        ("", b"{}"),
    ] {
        let reply = send(&app, Method::POST, "/register", kind, body.to_vec()).await;
        is_clear_json_refusal("/register", &reply);
    }
}

/// A page answers a person: 4xx with words, never a redirect to what was not checked.
#[tokio::test]
async fn pages_refuse_in_words() {
    let vault = VaultBuilder::plain(&[("a.md", "text")]);
    let app = TestApp::serving(vault.root()).await;
    let huge = "x".repeat(9_000);
    let queries = [
        String::new(),
        "client_id=".to_owned(),
        "client_id=unknown".to_owned(),
        "client_id=a&client_id=b".to_owned(),
        "client_id=%00%0a".to_owned(),
        "client_id=%ff".to_owned(),
        "client_id=unknown&redirect_uri=https://evil.example/".to_owned(),
        format!("client_id={huge}"),
        "%".to_owned(),
        "client_id=%zz".to_owned(),
    ];
    for query in queries {
        let reply = app.get(&format!("/authorize?{query}")).await;
        assert!(reply.status.is_client_error(), "{query:.60}: {}", reply.status);
        assert_eq!(reply.header("location"), "", "{query:.60}");
        assert!(!reply.body.contains("evil.example"), "{query:.60}");
    }
    for path in ["/authorize", "/login", "/consent", "/setup", "/logout"] {
        for (kind, body) in [
            (FORM, b"\xff\xfe".to_vec()),
            (FORM, b"a=%".to_vec()),
            (FORM, Vec::new()),
            (JSON, b"{}".to_vec()),
            (FORM, b"password=a&password=b&csrf=a&csrf=b".to_vec()),
            (FORM, "x".repeat(70_000).into_bytes()),
            ("", Vec::new()),
        ] {
            let reply = send(&app, Method::POST, path, kind, body).await;
            let status = reply.status.as_u16();
            assert!((300..500).contains(&status), "{path} {kind}: {status} {}", reply.body);
        }
        for method in [Method::PUT, Method::DELETE, Method::PATCH] {
            let reply = send(&app, method, path, "", "").await;
            assert_eq!(reply.status.as_u16(), 405, "{path}");
        }
    }
}

/// `/mcp` behind a good token: bad bodies are JSON-RPC errors.
#[tokio::test]
async fn the_mcp_endpoint_refuses_bad_bodies() {
    let vault = VaultBuilder::plain(&[("a.md", "text")]);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "bad bodies").await;
    let tokens = client.tokens(&app, &["wiki:read"]).await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}1{}}}"#,
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    let bodies: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"7".to_vec(),
        b"{".to_vec(),
        b"\xff\xfe".to_vec(),
        b"{}".to_vec(),
        br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":1,"method":7}"#.to_vec(),
        br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_vec(),
        deep.into_bytes(),
        vec![b'x'; 2 << 20],
    ];
    for body in bodies {
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        let request = Request::post("/mcp")
            .header("authorization", format!("Bearer {}", tokens.access))
            .header("content-type", JSON)
            .header("accept", "application/json, text/event-stream")
            .body(Body::from(body))
            .unwrap();
        let reply = app.send(request).await;
        is_clear_json_refusal(&shown, &reply);
    }
}

/// Tools: what is wrong with the arguments is said in a result or an error, and no
/// argument is worth a 5xx.
#[tokio::test]
async fn tools_refuse_bad_arguments() {
    let vault = VaultBuilder::plain(&[("a.md", "text")]);
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "bad arguments").await;
    let mcp = McpClient::with_token(&client.tokens(&app, &["wiki:read"]).await.access);
    let huge = "x".repeat(100_000);
    let search = [
        json!({}),
        json!({"query": 7}),
        json!({"query": null}),
        json!({"query": ["a"]}),
        json!({"query": "a", "limit": "ten"}),
        json!({"query": "a", "limit": [1]}),
        json!({"query": "a", "vault": 7}),
        json!({"query": "a", "vault": "nobody's"}),
    ];
    let paths = [
        "",
        "/",
        ".",
        "..",
        "../a.md",
        "/etc/passwd",
        "a.md\u{0}",
        "..%2fa.md",
        "a.md/",
        "%00",
        "\u{202e}a.md",
        "a\\..\\b.md",
        "con.md",
        &huge,
    ];
    let read = paths.into_iter().map(|path| json!({"path": path}));
    let read =
        read.chain([json!({}), json!({"path": 7}), json!({"path": null}), json!({"path": {}})]);
    let calls = search
        .into_iter()
        .map(|arguments| ("search", arguments))
        .chain(read.map(|arguments| ("read_page", arguments)));
    for (tool, arguments) in calls {
        let shown = arguments.to_string().chars().take(60).collect::<String>();
        let reply = mcp.tool(&app, tool, arguments).await;
        assert!(reply.status.as_u16() < 500, "{tool} {shown}: {}", reply.status);
        let answer = reply.json();
        let refused =
            answer.get("error").is_some() || answer["result"]["isError"] == Value::Bool(true);
        assert!(refused, "{tool} {shown}: {answer}");
    }
    // Anything may be searched for.
    for query in ["", " ", "\u{0}", "\"", "((", "a:b:c", "\u{202e}", "-", "+", &huge] {
        let reply = mcp.tool(&app, "search", json!({ "query": query })).await;
        assert_eq!(reply.status.as_u16(), 200);
    }
    let unknown = mcp.tool(&app, "no_such_tool", json!({})).await;
    assert!(unknown.status.as_u16() < 500 && unknown.json().get("error").is_some());
}
