//! What clients call without a browser: routes and headers.

use axum::Router;
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware;
use axum::routing::{get, post};
use tower_http::cors::{Any, CorsLayer};
use tower_http::set_header::SetResponseHeaderLayer;

use super::log::log;
use super::{keys, metadata, register, revoke, token};
use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::error::EndpointError;
use crate::authorization_server::signing_key::KEY_SET_MAX_AGE;

/// Web applications are clients too, so any origin may, without credentials
/// (checklist #130).
pub(in crate::authorization_server) fn routes() -> Router<AuthorizationServer> {
    let published = Router::new()
        .route("/.well-known/oauth-authorization-server", get(metadata::show).fallback(wrong))
        // Where a client looks that takes the address of the resource for an issuer.
        .route("/.well-known/oauth-authorization-server/mcp", get(metadata::show).fallback(wrong))
        .route("/jwks", get(keys::show).fallback(wrong))
        .layer(cache(&format!("public, max-age={}", KEY_SET_MAX_AGE.as_secs())));
    let private = Router::new()
        .route("/register", post(register::create).fallback(wrong))
        .route("/token", post(token::issue).fallback(wrong))
        .route("/revoke", post(revoke::revoke).fallback(wrong))
        // Errors too (checklist #38).
        .layer(cache("no-store"));
    published.merge(private).layer(middleware::from_fn(log)).layer(any_origin())
}

fn cache(policy: &str) -> SetResponseHeaderLayer<HeaderValue> {
    let policy = HeaderValue::from_str(policy).expect("it is plain ASCII");
    SetResponseHeaderLayer::overriding(CACHE_CONTROL, policy)
}

fn any_origin() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST])
        // By name: a wildcard does not cover Authorization.
        .allow_headers([
            AUTHORIZATION,
            CONTENT_TYPE,
            HeaderName::from_static("mcp-protocol-version"),
            HeaderName::from_static("mcp-session-id"),
        ])
        .expose_headers([RETRY_AFTER, WWW_AUTHENTICATE])
}

async fn wrong() -> EndpointError {
    EndpointError::MethodNotAllowed
}
