//! What gets past the guard, and what the rest is told.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use brain_mcp::contract::scope::ScopeSet;
use serde_json::json;

use super::minting::{
    Answer, ISSUER, Key, RESOURCE, Server, claims_with, good_claims, request, send,
};

/// Tells what came through.
async fn inner(request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    assert!(!parts.headers.contains_key("authorization"), "checklist #141");
    match parts.method.as_str() {
        "DELETE" => StatusCode::ACCEPTED.into_response(),
        _ if body.starts_with(b"{\"answer\":415") => {
            StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response()
        }
        _ => Response::new(Body::from(body)),
    }
}

fn router() -> Router {
    Server::embedded().protected.router(any(inner))
}

fn good() -> String {
    Key::es256().token(&good_claims())
}

fn scoped(scope: &str) -> String {
    Key::es256().token(&claims_with(json!({ "scope": scope })))
}

fn with_header(mut request: Request, name: &'static str, value: &str) -> Request {
    request.headers_mut().append(name, value.parse().unwrap());
    request
}

/// T1, B02, B05, B06, B07: whatever a client tries first, it learns to sign in.
#[tokio::test]
async fn without_a_token_everything_is_401() {
    let router = router();
    for path in ["/mcp", "/mcp/", "/mcp?x=1"] {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PROPFIND"] {
            for version in ["", "2024-11-05", "2026-07-28", "garbage"] {
                for accept in ["", "*/*", "text/html"] {
                    let request = Request::builder()
                        .method(method)
                        .uri(path)
                        .header("mcp-protocol-version", version)
                        .header("accept", accept)
                        .header("mcp-session-id", "stale")
                        .body(Body::from("[not json"))
                        .unwrap();
                    let answer = send(&router, request).await;
                    assert_eq!(answer.status, 401, "{method} {path} {version} {accept}");
                    let challenge = answer.header("www-authenticate");
                    assert!(challenge.starts_with("Bearer resource_metadata=\"https://"));
                    assert!(!challenge.contains("error"));
                    assert!(answer.header("access-control-expose-headers").contains("WWW-Auth"));
                }
            }
        }
    }
}

/// T2, B01, B03, Checklist 131, 132: the metadata is where clients look, for everybody.
#[tokio::test]
async fn the_metadata_is_found_in_every_place() {
    let router = router();
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource/mcp/",
        "/.well-known/oauth-protected-resource/mcp?tenant=1",
        "/mcp/.well-known/oauth-protected-resource",
    ] {
        let look = |method: &str| {
            Request::builder()
                .method(method)
                .uri(path)
                .header("origin", "https://anything.example")
                .header("authorization", "Bearer nonsense")
                .header("x-forwarded-host", "evil.example")
                .body(Body::empty())
                .unwrap()
        };
        let answer = send(&router, look("GET")).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert_eq!(
            answer.json(),
            json!({
                "resource": RESOURCE,
                "authorization_servers": [ISSUER],
                "scopes_supported":
                    ["wiki:read", "wiki:confidential", "wiki:people", "wiki:write"],
                "bearer_methods_supported": ["header"],
                "resource_name": "brain-mcp",
            })
        );
        let head = send(&router, look("HEAD")).await;
        assert_eq!((head.status.as_u16(), head.text.as_str()), (200, ""));
        let preflight = send(&router, look("OPTIONS")).await;
        assert_eq!(preflight.status, 204);
        let allowed = preflight.header("access-control-allow-headers");
        assert!(allowed.contains("MCP-Protocol-Version"));
        assert_eq!(send(&router, look("POST")).await.status, 405);
    }
}

/// Design section 4, rule 3; B16, R13: our own names and loopback, nothing else.
#[tokio::test]
async fn only_our_own_names_are_answered() {
    let router = router();
    let ask = async |host: &str| {
        let request = with_header(request("POST", Some(&good()), "{}"), "host", host);
        send(&router, request).await.status
    };
    for host in [
        "wiki.example.org",
        "wiki.example.org:443",
        "WIKI.example.ORG",
        "auth.example.org",
        "localhost",
        "localhost:8090",
        "127.0.0.1:8090",
        "[::1]:8090",
    ] {
        assert_eq!(ask(host).await, 400, "{host}: let through to the message");
    }
    for host in [
        "evil.example",
        "wiki.example.org.evil.example",
        "wiki.example.org:80",
        "wiki.example.org:8090",
        "localhost.evil.example",
        "localhost@evil.example",
        "evil@wiki.example.org:443",
        "evil.example:443@wiki.example.org",
        "wiki.example.org:",
        "192.168.1.1",
        "",
    ] {
        assert_eq!(ask(host).await, 403, "{host}");
    }
    let twice = with_header(request("POST", None, "{}"), "host", "wiki.example.org");
    let twice = with_header(twice, "host", "evil.example");
    assert_eq!(send(&router, twice).await.status, 403);
}

/// R12, T18, B45.
#[tokio::test]
async fn only_pages_of_allowed_origins_may_call() {
    let router = router();
    let ask = async |method: &str, origin: &str| {
        let request = with_header(request(method, None, ""), "origin", origin);
        let request = with_header(request, "access-control-request-method", "POST");
        let request =
            with_header(request, "access-control-request-headers", "authorization,mcp-param-x");
        send(&router, request).await
    };
    for origin in [
        "http://localhost:6274",
        "http://127.0.0.1:6274",
        "http://[::1]:1",
        "https://localhost",
        "https://inspector.example",
        "https://wiki.example.org",
        "https://auth.example.org",
    ] {
        let preflight = ask("OPTIONS", origin).await;
        assert_eq!(preflight.status, 204, "{origin}");
        assert_eq!(preflight.header("access-control-allow-origin"), origin);
        assert_eq!(preflight.header("access-control-allow-headers"), "authorization,mcp-param-x");
        let refused = ask("POST", origin).await;
        assert_eq!(refused.status, 401, "{origin}");
        assert_eq!(refused.header("access-control-allow-origin"), origin);
        assert_eq!(refused.header("vary"), "origin");
        assert_eq!(
            refused.header("access-control-expose-headers"),
            "WWW-Authenticate, Mcp-Session-Id"
        );
    }
    for origin in [
        "https://evil.example",
        "null",
        "",
        "http://inspector.example",
        "https://inspector.example:8443",
        "https://inspector.example.evil.example",
        "http://localhost.evil.example",
        "http://localhost:1/path",
        "ftp://localhost",
    ] {
        for method in ["OPTIONS", "POST", "GET"] {
            let answer = ask(method, origin).await;
            assert_eq!(answer.status, 403, "{method} {origin}");
            assert_eq!(answer.header("access-control-allow-origin"), "");
        }
    }
    let bare = send(&router, request("OPTIONS", None, "")).await;
    assert_eq!(bare.status, 204);
}

fn assert_rpc_error(answer: &Answer, status: u16, code: i64, what: &str) {
    assert_eq!(answer.status, status, "{what}");
    assert_eq!(answer.header("content-type"), "application/json", "{what}");
    assert_eq!(answer.json()["error"]["code"], code, "{what}");
    assert_eq!(answer.json()["id"], json!(null), "{what}");
}

#[tokio::test]
async fn what_is_no_message_is_refused_in_json() {
    let router = router();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let huge = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "a".repeat(1024 * 1024));
    let rows: [(&[u8], u16, i64); 22] = [
        (b"", 400, -32700),
        (b"{", 400, -32700),
        (b"<html>", 400, -32700),
        (b"\xff\xfe", 400, -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", 400, -32700),
        (br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, 400, -32700),
        (deep.as_bytes(), 400, -32700),
        (huge.as_bytes(), 413, -32600),
        (b"null", 400, -32600),
        (b"\"text\"", 400, -32600),
        (b"[]", 400, -32600),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 400, -32600),
        (b"{}", 400, -32600),
        (br#"{"id":1,"method":"ping"}"#, 400, -32600),
        (br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400, -32600),
        (br#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, 400, -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, -32600),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, 400, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":7}"#, 400, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, 400, -32600),
        (br#"{"jsonrpc":"2.0","id":1}"#, 400, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, 400, -32600),
    ];
    for (body, status, code) in rows {
        let answer = send(&router, request("POST", Some(&good()), body.to_vec())).await;
        let what = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_rpc_error(&answer, status, code, &what);
    }
}

/// Two parsers may read a doubled key differently; behind the guard is only what
/// the guard has read.
#[tokio::test]
async fn what_was_judged_is_what_goes_on() {
    let router = router();
    let doubled = r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list","params":null}"#;
    let answer = send(&router, request("POST", Some(&good()), doubled)).await;
    assert_eq!(answer.json(), json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
}

/// Checklist 141: the token goes no further than the guard, so nothing behind it can pass
/// it on.
#[tokio::test]
async fn the_token_does_not_get_behind_the_guard() {
    let token = good();
    let sent = token.clone();
    let behind = |request: Request| async move {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let everything = format!("{:?} {:?} {body:?}", parts.uri, parts.headers);
        let is_there = everything.contains(&sent) || parts.headers.contains_key("authorization");
        if is_there { "has the token" } else { "has no token" }
    };
    let router = Server::embedded().protected.router(any(behind));
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let answer = send(&router, request("POST", Some(&token), body)).await;
    assert_eq!((answer.status.as_u16(), &*answer.text), (200, "has no token"));
}

/// B46, B47, Checklist 137: the scope is asked for by the message, never by a header.
#[tokio::test]
async fn a_missing_scope_is_403_with_all_that_is_needed() {
    let router = router();
    let call = |tool: &str| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool } })
            .to_string()
    };
    let other = |method: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": method }).to_string();
    let ask = async |scope: &str, body: String| {
        let request = request("POST", Some(&scoped(scope)), body);
        send(&router, with_header(request, "mcp-method", "ping")).await
    };
    let rows = [
        ("", call("search"), "wiki:read"),
        ("wiki:write", call("search"), "wiki:read wiki:write"),
        ("wiki:write", call("read_page"), "wiki:read wiki:write"),
        ("", call("no_such_tool"), "wiki:read"),
        ("", other("resources/read"), "wiki:read"),
        ("", other("prompts/get"), "wiki:read"),
        ("", other("completion/complete"), "wiki:read"),
        ("", other("no/such/method"), "wiki:read"),
        ("wiki:read", call("write_inbox_note"), "wiki:read wiki:write"),
        ("wiki:people", call("write_inbox_note"), "wiki:people wiki:write"),
    ];
    for (scope, body, needed) in rows {
        let answer = ask(scope, body.clone()).await;
        assert_eq!(answer.status, 403, "{scope} {body}");
        assert_eq!(
            answer.header("www-authenticate"),
            format!(
                "Bearer resource_metadata=\"https://wiki.example.org/.well-known/\
                 oauth-protected-resource/mcp\", scope=\"{needed}\", \
                 error=\"insufficient_scope\", \
                 error_description=\"The access token does not open this.\""
            )
        );
    }
    for scope in ["wiki:read", "wiki:confidential", "wiki:people"] {
        assert_eq!(ask(scope, call("search")).await.status, 200, "{scope}");
    }
    assert_eq!(ask("wiki:write", call("write_inbox_note")).await.status, 200);
    for method in ["initialize", "ping", "tools/list", "server/discover", "resources/list"] {
        assert_eq!(ask("", other(method)).await.status, 200, "{method}");
    }
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(ask("", notification.to_owned()).await.status, 200);
}

/// B46: a dead token is 401 even where its scope would not do either.
#[tokio::test]
async fn the_token_is_judged_before_its_scope_and_the_message() {
    let server = Server::embedded();
    let router = server.protected.router(any(inner));
    server.grant.set(None);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    for body in [body, "[", ""] {
        assert_eq!(send(&router, request("POST", Some(&scoped("")), body)).await.status, 401);
    }
    server.grant.set(Some(ScopeSet::NONE));
    assert_eq!(send(&router, request("POST", Some(&good()), body)).await.status, 403);
}

/// Checklist 142: what stands in a token or a request never reaches the header.
#[tokio::test]
async fn nothing_of_the_request_gets_into_the_challenge() {
    let router = router();
    let evil = "x\", error=\"none\r\nSet-Cookie: a=b";
    let tokens = [
        scoped(evil),
        Key::es256().token(&claims_with(json!({ "sub": evil, "iss": evil }))),
        Key::es256().sign(&json!({ "alg": evil, "typ": evil, "kid": evil }), &good_claims()),
    ];
    for token in tokens {
        let body = json!({ "jsonrpc": "2.0", "id": evil, "method": evil }).to_string();
        let answer = send(&router, request("POST", Some(&token), body)).await;
        assert!(matches!(answer.status.as_u16(), 401 | 403));
        assert!(!answer.header("www-authenticate").contains("Cookie"));
        assert!(!answer.header("www-authenticate").contains("none"));
        assert!(!answer.headers.contains_key("set-cookie"));
    }
}

#[tokio::test]
async fn answers_are_put_right_for_deployed_clients() {
    let router = router();
    let deleted = send(&router, request("DELETE", Some(&good()), "")).await;
    assert_eq!(deleted.status, 204);
    assert_eq!(deleted.header("cache-control"), "no-store");
    let unknown = r#"{"answer":415,"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let answer = send(&router, request("POST", Some(&good()), unknown)).await;
    assert_rpc_error(&answer, 400, -32600, "a message that the library does not know");
}
