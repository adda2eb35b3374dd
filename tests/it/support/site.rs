//! A server to talk to: a router in this process, or a program behind a socket.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use serde_json::Value;
use tower::ServiceExt as _;

/// The owner's password in every test.
pub const PASSWORD: &str = "correct horse battery staple";

/// A server under its own name.
pub struct Site {
    issuer: String,
    transport: Transport,
}

enum Transport {
    InProcess(Router),
    Socket(reqwest::Client),
}

/// An answer, read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body as text.
    pub body: String,
}

impl Site {
    /// A router, called without a socket.
    pub fn in_process(issuer: &str, router: Router) -> Self {
        Self { issuer: issuer.to_owned(), transport: Transport::InProcess(router) }
    }

    /// A program that listens at its issuer's address.
    pub fn behind_socket(issuer: &str) -> Self {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .expect("a client");
        Self { issuer: issuer.to_owned(), transport: Transport::Socket(client) }
    }

    /// Another connection to the same server.
    pub fn another(&self) -> Self {
        match &self.transport {
            Transport::InProcess(router) => Self::in_process(&self.issuer, router.clone()),
            Transport::Socket(_) => Self::behind_socket(&self.issuer),
        }
    }

    /// The router of a server in this process.
    #[track_caller]
    pub fn router(&self) -> &Router {
        match &self.transport {
            Transport::InProcess(router) => router,
            Transport::Socket(_) => panic!("the server is another process"),
        }
    }

    /// The issuer.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The resource.
    pub fn resource(&self) -> String {
        format!("{}/mcp", self.issuer)
    }

    /// Sends one request and expects an answer.
    pub async fn send(&self, request: Request<Body>) -> Reply {
        self.try_send(request).await.expect("an answer")
    }

    /// Sends one request; nothing if the connection broke.
    pub async fn try_send(&self, mut request: Request<Body>) -> Option<Reply> {
        match &self.transport {
            Transport::InProcess(router) => {
                if !request.headers().contains_key("host") {
                    let host = self.issuer.split_once("://").expect("a URL").1;
                    let host = host.parse().expect("a header value");
                    request.headers_mut().insert("host", host);
                }
                let response = router.clone().oneshot(request).await.expect("an answer");
                let (parts, body) = response.into_parts();
                let bytes = to_bytes(body, 64 << 20).await.expect("a whole body");
                let body = String::from_utf8(bytes.to_vec()).expect("text");
                Some(Reply { status: parts.status, headers: parts.headers, body })
            }
            Transport::Socket(client) => {
                let (parts, body) = request.into_parts();
                let bytes = to_bytes(body, 64 << 20).await.expect("a whole body");
                let response = client
                    .request(parts.method, format!("{}{}", self.issuer, parts.uri))
                    .headers(parts.headers)
                    .body(bytes)
                    .send()
                    .await
                    .ok()?;
                let (status, headers) = (response.status(), response.headers().clone());
                Some(Reply { status, headers, body: response.text().await.ok()? })
            }
        }
    }

    /// Sends one request to a program, and leaves the answer open.
    pub async fn open(&self, request: Request<Body>) -> reqwest::Response {
        let Transport::Socket(client) = &self.transport else {
            panic!("the server is in this process")
        };
        let (parts, body) = request.into_parts();
        let bytes = to_bytes(body, 64 << 20).await.expect("a whole body");
        let request = client.request(parts.method, format!("{}{}", self.issuer, parts.uri));
        request.headers(parts.headers).body(bytes).send().await.expect("an answer")
    }

    /// `GET` without anything else.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(Request::get(path).body(Body::empty()).expect("a request")).await
    }
}

impl Reply {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }

    /// A header as text; empty if it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }
}
