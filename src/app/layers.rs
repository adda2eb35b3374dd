//! What every request passes, whatever it asks for.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Once};

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
use super::requests::{Requests, count};
use super::unread::take_in_unread_body;
use crate::peer::Peer;
use crate::resource_server::host_origin::{AllowedSites, require_known_host};

/// Puts the layers around the routes, and answers what no route does.
pub(super) fn around(
    routes: Router,
    sites: Arc<AllowedSites>,
    trusted_proxies: &[IpAddr],
    requests: Arc<Requests>,
) -> Router {
    let proxies: Arc<[IpAddr]> = trusted_proxies.into();
    hardened(routes.route("/health", get(health)), sites)
        .layer(from_fn_with_state(proxies, log_request))
        .layer(from_fn_with_state(requests, count))
}

/// What every listener does, whoever it is for.
pub(super) fn hardened(routes: Router, sites: Arc<AllowedSites>) -> Router {
    let nosniff = SetResponseHeaderLayer::if_not_present(
        X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    routes
        // Also for unknown well-known documents: a client that looks for one must not
        // be answered with a page (B04).
        .fallback(not_found)
        .layer(from_fn_with_state(sites, require_known_host))
        .layer(map_request(body_deadline::limit))
        .layer(nosniff)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(take_in_unread_body))
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
/// hold a code or a state. What limits by address go by is found out here too.
async fn log_request(
    State(proxies): State<Arc<[IpAddr]>>,
    mut request: Request,
    next: Next,
) -> Response {
    let neighbour = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let client = neighbour.and_then(|it| client_address(it, request.headers(), &proxies));
    match (neighbour, client) {
        // Whoever watches over this server looks there without a proxy.
        (Some(proxy), None) if request.uri().path() != "/health" => tell_of_silent_proxy(proxy),
        (Some(neighbour), Some(client))
            if client == neighbour.to_canonical()
                && request.headers().contains_key("x-forwarded-for") =>
        {
            tell_of_unknown_proxy(neighbour);
        }
        _ => {}
    }
    request.extensions_mut().insert(client.map_or(Peer::UNKNOWN, Peer::at));
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

/// Who is at the other end; nothing if that is a trusted proxy which does not say for
/// whom it asks. `X-Forwarded-For` is believed from trusted proxies only, and of it only
/// the last address that is not itself such a proxy: what stands before it was written
/// by whoever came first (R13). If that cannot be read, neither is what stands before.
fn client_address(neighbour: IpAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> Option<IpAddr> {
    let neighbour = neighbour.to_canonical();
    if !trusted.contains(&neighbour) {
        return Some(neighbour);
    }
    let forwarded: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .flat_map(|value| value.to_str().unwrap_or("unreadable").split(','))
        .map(str::trim)
        .collect();
    let mut addresses = forwarded.into_iter().rev().map(forwarded_address);
    addresses.find(|it| it.is_none_or(|address| !trusted.contains(&address)))?
}

/// An address as proxies write it: some add the port, which is nobody's name.
fn forwarded_address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let address = text.parse().ok().or_else(with_port).or_else(bracketed);
    address.map(|address: IpAddr| address.to_canonical())
}

/// Once is enough: it is a matter of how the proxy was set up.
fn tell_of_silent_proxy(proxy: IpAddr) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        tracing::warn!(
            %proxy,
            "a trusted proxy does not say in X-Forwarded-For for whom it asks; all who come \
             through it share the limits by address"
        );
    });
}

/// The same for one that nobody has named. It may as well be anybody who claims to be one.
fn tell_of_unknown_proxy(proxy: IpAddr) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        tracing::info!(
            %proxy,
            "X-Forwarded-For came from an address that is not among trusted_proxies, and is not \
             believed; if that is your proxy, name it there"
        );
    });
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use axum::http::HeaderMap;

    use super::client_address;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], expected: Option<&str>) {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().expect("a header value"));
        }
        let trusted = [address("127.0.0.1"), address("10.0.0.1")];
        let found = client_address(address(peer), &headers, &trusted);
        assert_eq!(found, expected.map(address), "{peer} {forwarded:?}");
    }

    /// R13: what an untrusted peer claims is not believed.
    #[test]
    fn only_a_trusted_proxy_says_who_is_behind_it() {
        let client = Some("198.51.100.1");
        check("192.0.2.9", &["198.51.100.1"], Some("192.0.2.9"));
        check("127.0.0.1", &["198.51.100.1"], client);
        check("::ffff:127.0.0.1", &["198.51.100.1"], client);
        check("127.0.0.1", &["203.0.113.7, 198.51.100.1, 10.0.0.1"], client);
        check("127.0.0.1", &["203.0.113.7", "198.51.100.1"], client);
        check("127.0.0.1", &["198.51.100.1:4711"], client);
        check("127.0.0.1", &["[2001:db8::1]:4711"], Some("2001:db8::1"));
        check("127.0.0.1", &["[2001:db8::1]"], Some("2001:db8::1"));
    }

    /// B19: nobody chooses an address by writing one before what the proxy wrote, and
    /// whom a proxy does not name is nobody in particular.
    #[test]
    fn what_a_proxy_did_not_write_is_not_believed() {
        check("127.0.0.1", &["203.0.113.7, nonsense"], None);
        check("127.0.0.1", &["203.0.113.7, nonsense, 10.0.0.1"], None);
        check("127.0.0.1", &["203.0.113.7", "\u{e9}"], None);
        check("127.0.0.1", &["nonsense"], None);
        check("127.0.0.1", &[""], None);
        check("127.0.0.1", &["10.0.0.1"], None);
        check("127.0.0.1", &[], None);
    }
}
