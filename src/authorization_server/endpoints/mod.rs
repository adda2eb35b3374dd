//! The endpoints, one file a path: each extracts, calls one method, and converts.

mod keys;
pub(super) mod machine;
mod metadata;
mod register;
mod revoke;
#[cfg(test)]
mod tests;
mod token;

use axum::Router;

use super::AuthorizationServer;

/// The pages that the user's browser is sent to.
pub(super) fn pages() -> Router<AuthorizationServer> {
    Router::new()
}
