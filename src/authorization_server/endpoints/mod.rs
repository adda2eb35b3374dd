//! The endpoints, one file a path: each extracts, calls one method, and converts.

use axum::Router;

use super::AuthorizationServer;

/// The pages that the user's browser is sent to.
pub(super) fn pages() -> Router<AuthorizationServer> {
    Router::new()
}
