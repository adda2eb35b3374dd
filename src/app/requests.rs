//! Counts requests by endpoint, by what came of them, and by how long that took.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;

use crate::metrics::{Exposition, Histogram, Kind, Label as _, Tally, labels};

labels! {
    /// What was asked for. A path that is none of ours is `other`, whatever it says.
    enum Endpoint {
        Mcp = "mcp",
        Metadata = "metadata",
        Jwks = "jwks",
        Register = "register",
        Token = "token",
        Revoke = "revoke",
        Authorize = "authorize",
        Login = "login",
        Consent = "consent",
        Setup = "setup",
        Account = "account",
        Logout = "logout",
        Front = "front",
        Health = "health",
        Other = "other",
    }
}

labels! {
    /// What came of it (RFC 9110 section 15).
    enum Outcome {
        Informational = "1xx",
        Successful = "2xx",
        Redirection = "3xx",
        ClientError = "4xx",
        ServerError = "5xx",
    }
}

impl Endpoint {
    fn of(path: &str) -> Self {
        match path {
            "/mcp" | "/mcp/" => Self::Mcp,
            "/jwks" => Self::Jwks,
            "/register" => Self::Register,
            "/token" => Self::Token,
            "/revoke" => Self::Revoke,
            "/authorize" => Self::Authorize,
            "/login" => Self::Login,
            "/consent" => Self::Consent,
            "/setup" => Self::Setup,
            "/account" | "/account/passkeys" => Self::Account,
            "/logout" => Self::Logout,
            "/" | "/assets/style.css" | "/assets/icon.svg" | "/assets/passkey.js" => Self::Front,
            "/health" => Self::Health,
            "/.well-known/oauth-authorization-server"
            | "/.well-known/oauth-authorization-server/mcp"
            | "/.well-known/oauth-protected-resource"
            | "/.well-known/oauth-protected-resource/mcp"
            | "/.well-known/oauth-protected-resource/mcp/"
            | "/mcp/.well-known/oauth-protected-resource" => Self::Metadata,
            _ => Self::Other,
        }
    }
}

impl Outcome {
    fn of(status: StatusCode) -> Self {
        match status.as_u16() {
            ..200 => Self::Informational,
            200..300 => Self::Successful,
            300..400 => Self::Redirection,
            400..500 => Self::ClientError,
            500.. => Self::ServerError,
        }
    }
}

/// The requests to one endpoint.
#[derive(Debug, Default)]
struct Asked {
    outcomes: Tally<Outcome>,
    took: Histogram,
}

/// The requests of everybody.
#[derive(Debug)]
pub(super) struct Requests(Vec<Asked>);

impl Requests {
    /// Tells the operator what there was since the start.
    pub(super) fn tell_figures(&self, page: &mut Exposition) {
        let by_endpoint = || Endpoint::ALL.iter().map(|it| it.name()).zip(&self.0);
        let outcomes = by_endpoint().flat_map(|(endpoint, asked)| {
            let counts = asked.outcomes.counts();
            counts.map(move |(status, count)| ([("endpoint", endpoint), ("status", status)], count))
        });
        let help = "Requests that were answered.";
        page.family(Kind::Counter, "brain_mcp_requests_total", help, outcomes);
        page.histograms(
            "brain_mcp_request_duration_seconds",
            "From the head of a request to the head of its answer.",
            "endpoint",
            by_endpoint().map(|(endpoint, asked)| (endpoint, &asked.took)),
        );
    }
}

impl Default for Requests {
    fn default() -> Self {
        Self(Endpoint::ALL.iter().map(|_| Asked::default()).collect())
    }
}

/// Counts a request once it is answered.
pub(super) async fn count(
    State(requests): State<Arc<Requests>>,
    request: Request,
    next: Next,
) -> Response {
    let asked = &requests.0[Endpoint::of(request.uri().path()).index()];
    let begun = Instant::now();
    let response = next.run(request).await;
    asked.took.observe(begun.elapsed());
    asked.outcomes.add(Outcome::of(response.status()));
    response
}
