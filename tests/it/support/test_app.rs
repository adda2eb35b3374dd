//! The production router, called without a socket.

use std::net::SocketAddr;
use std::path::Path;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use brain_mcp::app::Application;
use brain_mcp::clock::{Clock, ManualClock, UnixTime};
use brain_mcp::configuration::{Configuration, OwnerPassword, TokenSource};
use brain_mcp::entropy::Entropy;
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

/// The owner's password in every test.
pub const PASSWORD: &str = "correct horse battery staple";

/// A whole server in this process, with a clock that the test moves.
pub struct TestApp {
    application: Application,
    /// Moves the server's clock.
    pub clock: ManualClock,
    data: TempDir,
    configuration: Configuration,
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

impl TestApp {
    /// Serves a vault, with an owner whose password is [`PASSWORD`].
    pub fn serving(vault: &Path) -> Self {
        Self::with(vault, |_| {})
    }

    /// The same, with a configuration of one's own.
    pub fn with(vault: &Path, change: impl FnOnce(&mut Configuration)) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let mut configuration = Configuration::for_vault(vault, data.path().join("data"));
        configuration.tokens = TokenSource::Embedded {
            issuer: None,
            owner_password: Some(OwnerPassword::new(PASSWORD.to_owned())),
        };
        change(&mut configuration);
        let (application, clock) = Self::build(&configuration);
        Self { application, clock, data, configuration }
    }

    fn build(configuration: &Configuration) -> (Application, ManualClock) {
        // A start in the present: files that the test writes now must not be from
        // the future.
        let (clock, manual) = Clock::manual(Clock::system().now());
        let address = SocketAddr::from(([127, 0, 0, 1], 8090));
        let application =
            Application::build(configuration, address, clock, Entropy::system()).expect("it starts");
        (application, manual)
    }

    /// Stops the server and starts it again on the same data.
    pub fn restart(self) -> Self {
        let Self { application, data, configuration, .. } = self;
        drop(application);
        let (application, clock) = Self::build(&configuration);
        Self { application, clock, data, configuration }
    }

    /// Where the store is.
    pub fn data_dir(&self) -> &Path {
        self.data.path()
    }

    /// The issuer.
    pub fn issuer(&self) -> &str {
        "http://127.0.0.1:8090"
    }

    /// The resource.
    pub fn resource(&self) -> String {
        format!("{}/mcp", self.issuer())
    }

    /// The one-time link to choose a password, if there is no owner yet.
    pub fn setup_link(&self) -> Option<String> {
        self.application.setup_link()
    }

    /// Sends one request; `Host` is filled in as a client would.
    pub async fn send(&self, mut request: Request<Body>) -> Reply {
        if !request.headers().contains_key("host") {
            let host = "127.0.0.1:8090".parse().expect("a header value");
            request.headers_mut().insert("host", host);
        }
        let response = self.application.router().oneshot(request).await.expect("an answer");
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, 64 << 20).await.expect("a whole body");
        let body = String::from_utf8(bytes.to_vec()).expect("text");
        Reply { status: parts.status, headers: parts.headers, body }
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

/// A moment long ago, for tokens that must have expired.
pub fn long_ago() -> UnixTime {
    UnixTime::from_seconds(1_000_000_000)
}
