//! What every request passes, whatever it asks for.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, RawQuery, Request, State};
use axum::http::header::X_CONTENT_TYPE_OPTIONS;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_request};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tracing::Instrument as _;

use super::body_deadline;
use super::drip;
use super::unread::take_in_unread_body;
use crate::resource_server::host_origin::{AllowedSites, require_known_host};

/// Puts the layers around the routes, and answers what no route does.
pub(super) fn around(
    routes: Router,
    sites: Arc<AllowedSites>,
    trusted_proxies: &[IpAddr],
) -> Router {
    let nosniff = SetResponseHeaderLayer::if_not_present(
        X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    let proxies: Arc<[IpAddr]> = trusted_proxies.into();
    routes
        .route("/health", get(health))
        // Also for unknown well-known documents: a client that looks for one must not
        // be answered with a page (B04).
        .fallback(not_found)
        .layer(from_fn_with_state(sites, require_known_host))
        .layer(map_request(body_deadline::limit))
        .layer(nosniff)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(take_in_unread_body))
        .layer(from_fn_with_state(proxies, log_request))
}

/// Alive and ready. Nothing about pages or people: it needs no token. With `?stream` it
/// is told slowly.
async fn health(RawQuery(query): RawQuery) -> Response {
    if query.as_deref() == Some("stream") {
        return drip::answer();
    }
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") })).into_response()
}

async fn not_found() -> Response {
    let body = json!({ "error": "not_found", "error_description": "There is nothing here." });
    (StatusCode::NOT_FOUND, Json(body)).into_response()
}

fn panicked(_panic: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a request handler panicked");
    let body = json!({
        "error": "server_error",
        "error_description": "Something went wrong here. The log of the server says more.",
    });
    (StatusCode::INTERNAL_SERVER_ERROR, Json(body)).into_response()
}

/// Logs method, path, status and the client's address; never the query, which may
/// hold a code or a state.
async fn log_request(
    State(proxies): State<Arc<[IpAddr]>>,
    request: Request,
    next: Next,
) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let client = peer.map(|peer| client_address(peer, request.headers(), &proxies));
    let span = tracing::info_span!(
        "request",
        method = %request.method(),
        path = request.uri().path(),
        client = client.map(tracing::field::display),
    );
    async move {
        let response = next.run(request).await;
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    }
    .instrument(span)
    .await
}

/// Who is at the other end. `X-Forwarded-For` is believed from trusted proxies only,
/// and of it only the last address that is not itself such a proxy: what stands
/// before it was written by whoever came first (R13).
fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> IpAddr {
    if !trusted.contains(&peer) {
        return peer;
    }
    let forwarded: Vec<IpAddr> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|address| address.trim().parse().ok())
        .collect();
    forwarded.into_iter().rev().find(|address| !trusted.contains(address)).unwrap_or(peer)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use axum::http::HeaderMap;

    use super::client_address;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], expected: &str) {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().expect("a header value"));
        }
        let trusted = [address("127.0.0.1"), address("10.0.0.1")];
        assert_eq!(client_address(address(peer), &headers, &trusted), address(expected));
    }

    /// R13: what an untrusted peer claims is not believed.
    #[test]
    fn only_a_trusted_proxy_says_who_is_behind_it() {
        check("192.0.2.9", &["198.51.100.1"], "192.0.2.9");
        check("127.0.0.1", &["198.51.100.1"], "198.51.100.1");
        check("127.0.0.1", &["203.0.113.7, 198.51.100.1, 10.0.0.1"], "198.51.100.1");
        check("127.0.0.1", &["203.0.113.7", "198.51.100.1"], "198.51.100.1");
        check("127.0.0.1", &["nonsense"], "127.0.0.1");
        check("127.0.0.1", &[], "127.0.0.1");
    }
}
