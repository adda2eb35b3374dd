//! Whatever is sent to a page, the answer is a page with a 4xx, never a 5xx.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use tower::ServiceExt as _;

use super::{Ask, CALLBACK, PASSWORD, PageServer};

const PAGES: [&str; 5] = ["/authorize", "/login", "/consent", "/setup", "/logout"];

fn bad_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        "&&&===",
        "%",
        "%zz",
        "%00",
        "%ff%fe",
        "form=%ff",
        "form",
        "form=a&form=b",
        "token=a&token=b",
        "request=a&request=b",
        "request=%0d%0aSet-Cookie:%20a=b",
        "client_id=a&client_id=b",
        "decision=perhaps",
        "decision=allow&decision=deny",
        "decision=allow&scope=wiki:everything&grant_for=1d",
        "decision=allow&scope=wiki:read&grant_for=forever",
        "decision=allow&scope=wiki:read&grant_for=1d&people_for=forever",
        "password=a&password=b",
        "user=%00&password=%00",
        "{'client_id':1}",
        "a[b][c]=d",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push(format!("request={}", "A".repeat(43)));
    texts.push(format!("request={}", "x".repeat(7000)));
    texts.push("a=b&".repeat(2000));
    texts
}

/// "Bad input" of the first issue.
#[tokio::test]
async fn queries_and_forms_of_any_kind() {
    let test = PageServer::new().await;
    for mut browser in [test.browser(), test.signed_in().await] {
        let token = browser.get("/login").await.form_token();
        for page in PAGES {
            for text in bad_texts() {
                let answer = browser.get(&format!("{page}?{text}")).await;
                assert!(answer.status.as_u16() < 500, "GET {page}?{text}: {answer:?}");
                for body in [text.clone(), format!("form={token}&{text}")] {
                    let body = Body::from(body);
                    let answer = browser.clone().send(Method::POST, page, body).await;
                    let status = answer.status;
                    assert!(status.as_u16() < 500, "POST {page} {text}: {answer:?}");
                    assert_ne!(status, StatusCode::OK, "POST {page} {text}: {answer:?}");
                    if status != StatusCode::SEE_OTHER {
                        assert!(answer.header(header::CONTENT_TYPE).starts_with("text/html"));
                    }
                }
            }
        }
    }
}

/// Forms that no page of ours sends, for a request that waits: it goes on waiting.
#[tokio::test]
async fn malformed_answers_use_nothing_up() {
    let test = PageServer::new().await;
    let client = test.client(&[CALLBACK]).await;
    let mut browser = test.signed_in().await;
    let page = browser.open(&Ask::of(&client).url()).await;
    for text in bad_texts() {
        let body = format!("form={}&{text}", page.form_token());
        let answer = browser.send(Method::POST, &page.action(), Body::from(body)).await;
        assert!(answer.status.is_client_error(), "{text}: {answer:?}");
    }
    browser.allow(&page, &["wiki:read"]).await.code();
}

/// 404 is for the application; 405, 413 and 415 are pages too.
#[tokio::test]
async fn methods_sizes_and_types() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    for page in PAGES {
        for method in [Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS] {
            let answer = browser.send(method, page, Body::empty()).await;
            answer.assert_local_page(StatusCode::METHOD_NOT_ALLOWED);
        }
        let path = format!("{page}?request={}", "A".repeat(43));
        let large = Body::from("a".repeat(64 * 1024 + 1));
        let answer = browser.send(Method::POST, &path, large).await;
        answer.assert_local_page(StatusCode::PAYLOAD_TOO_LARGE);
        for kind in
            [None, Some("application/json"), Some("text/plain"), Some("multipart/form-data")]
        {
            let mut request = Request::post(&path);
            if let Some(kind) = kind {
                request = request.header(header::CONTENT_TYPE, kind);
            }
            let cookies = browser.cookies.iter().map(|(name, value)| format!("{name}={value}"));
            let cookies = cookies.collect::<Vec<_>>().join("; ");
            let request = request.header(header::COOKIE, cookies).body(Body::from("a=b"));
            let answer = test.router.clone().oneshot(request.unwrap()).await.unwrap();
            assert_eq!(answer.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "{page} {kind:?}");
        }
    }
}

/// Headers that nobody's browser sends.
#[tokio::test]
async fn odd_headers() {
    let test = PageServer::new().await;
    let odd: [&[u8]; 8] = [
        b"\xff\xfe",
        b"__Host-brain-session",
        b"__Host-brain-session=",
        b"__Host-brain-session=\"x\"; __Host-brain-session=y",
        b"=;;;=",
        b"__Host-brain-session=../../../etc/passwd",
        b"__Host-brain-session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        b"null",
    ];
    for value in odd {
        for name in ["cookie", "origin", "sec-fetch-site", "referer", "host", "x-forwarded-host"] {
            for page in PAGES {
                let get = Request::get(page).header(name, value).body(Body::empty()).unwrap();
                let post = Request::post(page)
                    .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                    .header(name, value)
                    .body(Body::from("password=x"))
                    .unwrap();
                for request in [get, post] {
                    let answer = test.router.clone().oneshot(request).await.unwrap();
                    assert!(answer.status().as_u16() < 500, "{page} {name}");
                }
            }
        }
    }
}

/// The links of our pages come from the settings, whatever a header claims.
#[tokio::test]
async fn headers_change_no_url() {
    let test = PageServer::new().await;
    let client = test.client(&[CALLBACK]).await;
    let mut browser = test.signed_in().await;
    browser.headers = vec![
        ("host", "evil.example"),
        ("x-forwarded-host", "evil.example"),
        ("forwarded", "host=evil.example"),
    ];
    let page = browser.open(&Ask::of(&client).url()).await;
    assert!(!page.body.contains("evil.example"));
    let response = browser.allow(&page, &["wiki:read"]).await.response();
    assert_eq!(response["iss"], super::ISSUER);
    let answer = browser.sign_in("/login", PASSWORD).await;
    assert!(!answer.location().contains("evil.example"));
}
