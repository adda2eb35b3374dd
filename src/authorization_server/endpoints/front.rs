//! `/`: what a person finds who opens the address in a browser.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::get;

use super::{assets, protect};
use crate::authorization_server::error::EndpointError;
use crate::authorization_server::pages::{HomePage, page};
use crate::contract::issuer::Issuer;
use crate::contract::resource::ResourceUri;

/// The page at the origin, and the looks of all pages. It tells nothing but where this
/// server is.
pub(in crate::authorization_server) fn routes(
    resource: &ResourceUri,
    issuer: Option<&Issuer>,
) -> Router {
    let sign_in_url = issuer.map(|issuer| format!("{issuer}/login"));
    let home = Arc::new(HomePage { resource: resource.clone(), sign_in_url });
    let show = async move || -> Response { page(StatusCode::OK, &*home) };
    Router::new()
        // A program that posts here has taken the origin for the endpoint.
        .route("/", get(show).fallback(async || EndpointError::MethodNotAllowed))
        .route("/assets/style.css", get(assets::style))
        .route("/assets/icon.svg", get(assets::icon))
        .route("/assets/passkey.js", get(assets::passkey_script))
        .layer(map_response(protect))
}
