//! `GET /jwks` (RFC 7517 section 5).

use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::CONTENT_TYPE;

use crate::authorization_server::AuthorizationServer;

pub(super) async fn show(
    State(server): State<AuthorizationServer>,
) -> ([(HeaderName, &'static str); 1], String) {
    let keys = server.public_key_set();
    ([(CONTENT_TYPE, "application/json")], keys.as_json().to_owned())
}
