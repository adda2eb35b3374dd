//! One line in the log for each request, with what came of it.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use tracing::field::Empty;
use tracing::{Instrument as _, Level, Span};

use crate::authorization_server::client::ClientId;
use crate::authorization_server::error::Outcome;
use crate::authorization_server::grant::GrantId;

/// Logs each request once, with what came of it and why (oauth-clients B43). No parameter
/// of the request is logged: half of them are secrets. Which app, grant and user it is
/// about is noted once that is known to be one of ours.
pub(super) async fn log(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let span = tracing::info_span!("oauth", app = Empty, grant = Empty, user = Empty);
    let answer = async {
        let response = next.run(request).await;
        let status = response.status().as_u16();
        let outcome = response.extensions().get::<Outcome>();
        let (level, text) =
            outcome.map_or((Level::DEBUG, "answered"), |outcome| (outcome.level, &*outcome.text));
        match level {
            Level::ERROR => tracing::error!(%method, path, status, outcome = text, "OAuth request"),
            Level::WARN => tracing::warn!(%method, path, status, outcome = text, "OAuth request"),
            Level::INFO => tracing::info!(%method, path, status, outcome = text, "OAuth request"),
            _ => tracing::debug!(%method, path, status, outcome = text, "OAuth request"),
        }
        response
    };
    answer.instrument(span).await
}

/// Notes which app the request is about. One that is known here: else it would be text
/// of the request.
pub(in crate::authorization_server) fn about_app(id: &ClientId) {
    Span::current().record("app", id.as_str());
}

/// Notes which grant the request is about.
pub(in crate::authorization_server) fn about_grant(id: GrantId) {
    Span::current().record("grant", tracing::field::display(id));
}

/// Notes which user the request is about. One of the settings, not a name that was typed.
pub(in crate::authorization_server) fn about_user(name: &str) {
    Span::current().record("user", name);
}
