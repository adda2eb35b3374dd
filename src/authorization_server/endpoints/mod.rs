//! The endpoints, one file a path: each extracts, calls one method, and converts.

mod account;
mod assets;
mod authorize;
mod consent;
pub(super) mod front;
mod keys;
mod logout;
pub(super) mod machine;
mod metadata;
#[cfg(test)]
mod page_tests;
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
use axum::http::HeaderMap;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::get;

use super::AuthorizationServer;
use super::page_error::PageError;
use super::pages::HEADERS;

/// The pages that the user's browser is sent to.
pub(super) fn pages() -> Router<AuthorizationServer> {
    Router::new()
        .route("/authorize", get(authorize::ask).post(authorize::ask_by_form))
        .route("/login", get(sign_in::show).post(sign_in::answer))
        .route("/consent", get(consent::show).post(consent::answer))
        .route("/setup", get(setup::show).post(setup::answer))
        .route("/account", get(account::show).post(account::change))
        .route("/logout", get(logout::show).post(logout::answer))
        .method_not_allowed_fallback(async || PageError::WrongMethod)
        .layer(map_response(protect))
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
