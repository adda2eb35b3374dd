//! What browsers are told about `/mcp`.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ORIGIN,
    VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// Allowed when a preflight names no headers: all that MCP's clients send.
const USUAL_HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, \
     Mcp-Method, Mcp-Name",
);

/// Answers a preflight. It comes before the token is judged, since a browser
/// sends none with it (B45).
pub(super) fn preflight(headers: &HeaderMap) -> Response {
    // Any header may be sent: there are no cookies here, and 2026-07-28 has
    // headers whose names depend on the tool.
    let wanted = headers
        .get(ACCESS_CONTROL_REQUEST_HEADERS)
        .filter(|value| value.len() <= 1024)
        .cloned()
        .unwrap_or(USUAL_HEADERS);
    let answer = [
        (ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE, OPTIONS")),
        (ACCESS_CONTROL_ALLOW_HEADERS, wanted),
        (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600")),
    ];
    (StatusCode::NO_CONTENT, answer).into_response()
}

/// Opens an answer to the page that asked, refusals included: a page must be able
/// to read the challenge (B45).
pub(super) fn expose(response: &mut Response, origin: Option<&HeaderValue>) {
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from(ORIGIN));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("WWW-Authenticate, Mcp-Session-Id"),
    );
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
}
