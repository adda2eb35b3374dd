//! The endpoints, one file a path: each extracts, calls one method, and converts.

mod account;
mod assets;
mod authorize;
mod consent;
pub(super) mod front;
mod keys;
pub(super) mod log;
mod logout;
pub(super) mod machine;
mod metadata;
#[cfg(test)]
mod page_tests;
mod passkeys;
mod posted;
mod register;
mod revoke;
mod send_back;
mod setup;
mod sign_in;
#[cfg(test)]
mod tests;
mod token;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use super::AuthorizationServer;
use super::device::PresentedDevice;
use super::limits::Asking;
use super::page_error::PageError;
use super::pages::HEADERS;
use crate::peer::Peer;

/// The pages that the user's browser is sent to.
pub(super) fn pages(server: &AuthorizationServer) -> Router<AuthorizationServer> {
    Router::new()
        .route("/authorize", get(authorize::ask).post(authorize::ask_by_form))
        .route("/login", get(sign_in::show).post(sign_in::answer))
        .route("/consent", get(consent::show).post(consent::answer))
        .route("/setup", get(setup::show).post(setup::answer))
        .route("/account", get(account::show).post(account::change))
        .route("/account/passkeys", get(passkeys::show).post(passkeys::change))
        .route("/logout", get(logout::show).post(logout::answer))
        .method_not_allowed_fallback(async || PageError::WrongMethod)
        .layer(from_fn_with_state(server.clone(), limit))
        .layer(map_response(protect))
        .layer(from_fn(log::log))
}

/// Counts a page for its address; or if that has had all it gets, for the browser, if a
/// user has signed in there before.
async fn limit(
    State(server): State<AuthorizationServer>,
    peer: Peer,
    request: Request,
    next: Next,
) -> Response {
    if let Err(wait) = server.limits().page(Asking::Stranger(peer)) {
        let issuer = &server.settings().issuer;
        let presented = PresentedDevice::from_headers(request.headers(), issuer);
        let own = match server.known_browser(presented).await {
            Ok(Some(browser)) => server.limits().page(Asking::KnownBrowser(browser)),
            Ok(None) => Err(wait),
            Err(error) => return PageError::from(error).into_response(),
        };
        if let Err(wait) = own {
            return PageError::from(wait).into_response();
        }
    }
    next.run(request).await
}

/// Puts the headers on every answer, redirects and errors included. What a handler
/// has set itself stays.
async fn protect(mut response: Response) -> Response {
    let headers: &mut HeaderMap = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(value);
    }
    response
}
