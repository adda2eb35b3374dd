//! `/assets/…`: what the pages need besides their HTML.

use axum::http::header;
use axum::response::IntoResponse;

const FOR_AN_HOUR: &str = "public, max-age=3600";

/// The stylesheet of all pages.
pub(super) async fn style() -> impl IntoResponse {
    let headers =
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, FOR_AN_HOUR)];
    (headers, include_str!("../../../templates/style.css"))
}

/// The script of the pages that offer passkeys.
pub(super) async fn passkey_script() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, FOR_AN_HOUR),
    ];
    (headers, include_str!("../../../templates/passkey.js"))
}

/// The icon.
pub(super) async fn icon() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, FOR_AN_HOUR)];
    (headers, include_str!("../../../templates/icon.svg"))
}
