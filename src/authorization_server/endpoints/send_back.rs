//! The last step of an authorization: the browser goes back to the client.

use axum::http::StatusCode;
use axum::response::{Extension, IntoResponse, Redirect, Response};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::error::Outcome;
use crate::authorization_server::pages::{HandoverPage, page};
use crate::authorization_server::redirect_uri::{RedirectTarget, RedirectUri};
use crate::authorization_server::request::Refusal;

/// Tells the client why it gets nothing.
pub(super) fn refusal(server: &AuthorizationServer, refusal: &Refusal) -> Response {
    let (place, reason) = (refusal.redirect_uri().target(), refusal.reason());
    let outcome = Outcome::fine(format!("sent back to {place}: {reason}"));
    let location = refusal.location(&server.settings().issuer);
    (Extension(outcome), send(refusal.redirect_uri(), location)).into_response()
}

/// Sends the browser to `location`, which was made from `redirect_uri`.
///
/// With 303, never 307: the next request must not repeat the form with its password
/// or ticks (OAuth 2.1 section 7.5.3, checklist #32).
pub(super) fn send(redirect_uri: &RedirectUri, location: String) -> Response {
    match redirect_uri.target() {
        RedirectTarget::Website(_) | RedirectTarget::ThisComputer(_) => {
            Redirect::to(&location).into_response()
        }
        RedirectTarget::App(scheme) => page(StatusCode::OK, &HandoverPage { scheme, location }),
    }
}
