//! The last step of an authorization: the browser goes back to the client.

use axum::http::StatusCode;
use axum::response::{Extension, IntoResponse, Redirect, Response};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::answered::SentBack;
use crate::authorization_server::error::Outcome;
use crate::authorization_server::pages::{HandoverPage, page};
use crate::authorization_server::redirect_uri::RedirectTarget;
use crate::authorization_server::request::Refusal;

/// Tells the client why it gets nothing.
pub(super) fn refusal(server: &AuthorizationServer, refusal: &Refusal) -> SentBack {
    let (place, reason) = (refusal.redirect_uri().target(), refusal.reason());
    SentBack {
        redirect_uri: refusal.redirect_uri().clone(),
        location: refusal.location(&server.settings().issuer),
        code: None,
        outcome: format!("sent back to {place}: {reason}"),
    }
}

/// With 303, never 307: the next request must not repeat the form with its password
/// or ticks (OAuth 2.1 section 7.5.3, checklist #32).
impl IntoResponse for SentBack {
    fn into_response(self) -> Response {
        let Self { redirect_uri, location, outcome, .. } = self;
        let answer = match redirect_uri.target() {
            RedirectTarget::Website(_) | RedirectTarget::ThisComputer(_) => {
                Redirect::to(&location).into_response()
            }
            RedirectTarget::App(scheme) => page(StatusCode::OK, &HandoverPage { scheme, location }),
        };
        (Extension(Outcome::fine(outcome)), answer).into_response()
    }
}
