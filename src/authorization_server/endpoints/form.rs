//! Forms that our own pages post.

use axum::RequestExt as _;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::header;

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::page_error::PageError;

/// The largest form (design section 9).
const MAX_BYTES: usize = 64 * 1024;

/// The bytes of a posted form, before they are decoded.
pub(super) struct FormBody(pub(super) Bytes);

impl FromRequest<AuthorizationServer> for FormBody {
    type Rejection = PageError;

    async fn from_request(
        mut request: Request,
        _server: &AuthorizationServer,
    ) -> Result<Self, PageError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let media_type = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        if !media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(PageError::NotAForm);
        }
        DefaultBodyLimit::max(MAX_BYTES).apply(&mut request);
        request.extract().await.map(Self).map_err(|_| PageError::TooLarge)
    }
}
