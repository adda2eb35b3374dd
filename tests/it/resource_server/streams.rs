//! How long an open stream lives (#140).

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use axum::routing::any;
use brain_mcp::contract::scope::{Scope, ScopeSet};
use http_body::Frame;
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use super::minting::{Key, Server, good_claims, request};

/// A stream on which nothing happens, and which tells by its handle whether
/// somebody still holds it.
struct Silence(#[expect(dead_code, reason = "held, not read")] Arc<()>);

impl HttpBody for Silence {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

struct Stream {
    ended: Arc<AtomicBool>,
    work: Arc<()>,
}

impl Stream {
    async fn open(server: &Server) -> Self {
        let work = Arc::new(());
        let behind = Arc::clone(&work);
        let inner = any(move || {
            let silence = Silence(Arc::clone(&behind));
            async move {
                let mut response = Response::new(Body::new(silence));
                let event_stream = "text/event-stream".parse().unwrap();
                response.headers_mut().insert("content-type", event_stream);
                response
            }
        });
        let token = Key::es256().token(&good_claims());
        let mut request = request("GET", Some(&token), "");
        request.headers_mut().insert("host", "localhost".parse().unwrap());
        let response = server.protected.router(inner).oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        let ended = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&ended);
        tokio::spawn(async move {
            let mut body = response.into_body();
            assert!(body.frame().await.is_none(), "a clean end");
            tell.store(true, Ordering::SeqCst);
            // The connection stays open, and holds the body.
            std::future::pending::<()>().await;
            drop(body);
        });
        Self { ended, work }
    }

    fn is_over(&self) -> bool {
        let over = self.ended.load(Ordering::SeqCst);
        assert_eq!(Arc::strong_count(&self.work) == 1, over, "the work ends with the stream");
        over
    }
}

async fn a_minute() {
    tokio::time::sleep(Duration::from_secs(61)).await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_a_minute_after_its_grant() {
    let server = Server::embedded();
    let stream = Stream::open(&server).await;
    for _ in 0..20 {
        a_minute().await;
    }
    assert!(!stream.is_over(), "the grant lives, and the token's clock stands still");
    server.grant.set(None);
    a_minute().await;
    assert!(stream.is_over());
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_its_grant_loses_a_scope() {
    let server = Server::embedded();
    let stream = Stream::open(&server).await;
    server.grant.set(Some(ScopeSet::ALL.without(Scope::People)));
    a_minute().await;
    assert!(stream.is_over());
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_with_its_token() {
    let server = Server::embedded();
    server.time.advance(Duration::from_secs(590));
    let stream = Stream::open(&server).await;
    server.time.advance(Duration::from_secs(10));
    // Ten seconds were left, so that is when it looks again.
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert!(stream.is_over());
}

/// A client has only so many streams, however it opens them; one that ends makes room,
/// and another client has its own.
#[tokio::test]
async fn a_client_has_only_so_many_streams() {
    let server = Server::embedded();
    let inner = any(|| async {
        let mut response = Response::new(Body::new(Silence(Arc::default())));
        response.headers_mut().insert("content-type", "text/event-stream".parse().unwrap());
        response
    });
    let router = server.protected.router(inner);
    let token = |client: &str| {
        let mut claims = good_claims();
        claims["client_id"] = client.into();
        Key::es256().token(&claims)
    };
    let listen = r#"{"jsonrpc":"2.0","id":"seven","method":"subscriptions/listen"}"#;
    let open = async |method: &str, token: &str| {
        let body = if method == "POST" { listen } else { "" };
        let mut request = request(method, Some(token), body);
        request.headers_mut().insert("host", "localhost".parse().unwrap());
        router.clone().oneshot(request).await.unwrap()
    };
    let (one, other) = (token("client-1"), token("client-2"));
    let mut streams = Vec::new();
    let refused = loop {
        let method = if streams.len() % 2 == 0 { "POST" } else { "GET" };
        let response = open(method, &one).await;
        if response.status() != 200 {
            break response;
        }
        streams.push(response);
        assert!(streams.len() < 100, "there is an end");
    };
    assert_eq!((streams.len(), refused.status().as_u16()), (32, 429));
    assert!(refused.headers().contains_key("retry-after"));
    let refused = open("POST", &one).await.into_body().collect().await.unwrap().to_bytes();
    let refused: serde_json::Value = serde_json::from_slice(&refused).unwrap();
    assert_eq!(refused["id"], "seven");
    assert!(refused["error"]["message"].as_str().unwrap().contains("Close one of them"));
    // What is answered and done takes no stream.
    let ping = request("POST", Some(&one), r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let (mut head, body) = ping.into_parts();
    head.headers.insert("host", "localhost".parse().unwrap());
    let ping = axum::http::Request::from_parts(head, body);
    assert_eq!(router.clone().oneshot(ping).await.unwrap().status(), 200);
    assert_eq!(open("GET", &other).await.status(), 200);
    assert_eq!(open("GET", &one).await.status(), 429);
    drop(streams.pop());
    assert_eq!(open("GET", &one).await.status(), 200);
}
