//! Malformed requests: always a clear 4xx in JSON, never a 5xx.

use axum::body::Body;
use axum::http::Request;

use crate::authorization_server::testing::{TestServer, exchange_form};
use crate::contract::scope::ScopeSet;

/// Checklist 4, 37, 40, 96: bodies that are no form, for both endpoints that take one.
#[tokio::test]
async fn a_body_that_is_no_form_is_refused() {
    let test = TestServer::start();
    let huge = format!("token={}", "x".repeat(64 * 1024));
    let full = format!("token={}", "x".repeat(64 * 1024 - 6));
    let many = "a&".repeat(30_000);
    let rows: Vec<(&[u8], u16, &str)> = vec![
        (b"", 400, "invalid_request"),
        (b"&&&&", 400, "invalid_request"),
        (b"=&=x&", 400, "invalid_request"),
        (b"grant_type=a&grant_type=a", 400, "invalid_request"),
        (b"grant_type=a&grant%5ftype=b", 400, "invalid_request"),
        (b"unknown=1&unknown=2", 400, "invalid_request"),
        (b"code=%", 400, "invalid_request"),
        (b"code=%4", 400, "invalid_request"),
        (b"code=%zz", 400, "invalid_request"),
        (b"code=%+1", 400, "invalid_request"),
        (b"code=%ff%fe", 400, "invalid_request"),
        (b"code=\xff\xfe", 400, "invalid_request"),
        (b"\x00\x01\x02", 400, "invalid_request"),
        (b"{\"grant_type\":\"authorization_code\"}", 400, "invalid_request"),
        (huge.as_bytes(), 413, "invalid_request"),
        (full.as_bytes(), 400, "invalid_request"),
        (many.as_bytes(), 400, "invalid_request"),
    ];
    for path in ["/token", "/revoke"] {
        for (body, status, error) in &rows {
            let request = Request::post(path)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(Body::from(body.to_vec()))
                .unwrap();
            test.send(request).await.assert_error(*status, error);
        }
    }
}

/// Checklist 84, 96: bodies that are no client metadata.
#[tokio::test]
async fn a_body_that_is_no_json_object_is_refused() {
    let test = TestServer::start();
    let huge = format!("{{\"client_name\":\"{}\"}}", "x".repeat(64 * 1024));
    let deep = "[".repeat(30_000);
    let rows: Vec<(&[u8], u16)> = vec![
        (b"", 400),
        (b"{", 400),
        (b"null", 400),
        (b"7", 400),
        (b"redirect_uris=https%3A%2F%2Fclient.example.com", 400),
        (b"\xff\xfe{\x00}\x00", 400),
        (b"{\"client_name\":\"\\ud800\"}", 400),
        (b"{} {}", 400),
        (deep.as_bytes(), 400),
        (huge.as_bytes(), 413),
    ];
    for (body, status) in rows {
        let request = Request::post("/register")
            .header("content-type", "application/json")
            .body(Body::from(body.to_vec()))
            .unwrap();
        let answer = test.send(request).await;
        let error = if status == 413 { "invalid_request" } else { "invalid_client_metadata" };
        answer.assert_error(status, error);
    }
}

/// Each parameter of `/token` in turn is missing, doubled, huge, or holds control
/// characters and other text.
#[tokio::test]
async fn each_parameter_may_be_wrong_in_every_way() {
    let test = TestServer::start();
    let client = test.client("A client").await;
    let (_, tokens) = test.granted(&[crate::contract::scope::Scope::Read]).await;
    let code = test.code(&client, ScopeSet::ALL).await;
    let exchange = exchange_form(client.id.as_str(), &code).to_vec();
    let refresh = vec![
        ("grant_type", "refresh_token"),
        ("client_id", client.id.as_str()),
        ("refresh_token", &*tokens.refresh),
    ];
    let revoke = vec![("client_id", client.id.as_str()), ("token", &*tokens.refresh)];
    let huge = "x".repeat(60_000);
    let values = ["\0", "\r\nSet-Cookie: a=b", "\u{202E}", "\"\\", "ä", " ", &*huge];
    for (path, form) in [("/token", exchange), ("/token", refresh), ("/revoke", revoke)] {
        for position in 0..form.len() {
            let name = form[position].0;
            let mut missing = form.clone();
            missing.remove(position);
            if name != "redirect_uri" {
                let answer = test.post_form(path, &missing).await;
                answer.assert_error(400, "invalid_request");
            }
            let mut doubled = form.clone();
            doubled.push(form[position]);
            test.post_form(path, &doubled).await.assert_error(400, "invalid_request");
            for value in values {
                let mut changed = form.clone();
                changed[position].1 = value;
                let answer = test.post_form(path, &changed).await;
                // RFC 7009 section 2.2: an unknown token is no error.
                if path == "/revoke" && name == "token" {
                    assert_eq!(answer.status.as_u16(), 200);
                    continue;
                }
                let (status, error) = match name {
                    "grant_type" => (400, "unsupported_grant_type"),
                    "client_id" => (401, "invalid_client"),
                    _ => (400, "invalid_grant"),
                };
                answer.assert_error(status, error);
            }
        }
    }
}
