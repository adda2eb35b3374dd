//! Protection from forms that other sites make a browser post.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::page_error::PageError;

/// Proof that a request does not come from a page of somebody else.
///
/// Named in the arguments of every handler that changes something, before the body.
pub(super) struct OwnPage;

impl FromRequestParts<AuthorizationServer> for OwnPage {
    type Rejection = PageError;

    async fn from_request_parts(
        parts: &mut Parts,
        server: &AuthorizationServer,
    ) -> Result<Self, PageError> {
        let text = |value: Option<&HeaderValue>| {
            value.map(|value| value.to_str().unwrap_or("unreadable").to_owned())
        };
        let origin = text(parts.headers.get(header::ORIGIN));
        let site = text(parts.headers.get("sec-fetch-site"));
        let is_ours = match (origin.as_deref(), site.as_deref()) {
            (_, Some("cross-site" | "same-site")) => false,
            // Some browsers and privacy settings hide the origin even from ourselves; then
            // the browser's own word for it must be there (oauth-clients B29).
            (Some("null"), site) => site == Some("same-origin"),
            (Some(origin), _) => origin == server.settings().issuer.as_str(),
            // Not a browser, or an old one: the form token decides.
            (None, _) => true,
        };
        if is_ours { Ok(Self) } else { Err(PageError::ForeignForm) }
    }
}
