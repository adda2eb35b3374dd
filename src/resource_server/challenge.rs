//! Refusals: what a client reads to find out how to get a token that will do.

use axum::Json;
use axum::http::header::{CACHE_CONTROL, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::contract::resource::ResourceUri;
use crate::contract::scope::ScopeSet;
use crate::rates::Wait;

/// Writes the refusals of one resource.
///
/// Each is made of constants and of configuration. Nothing of a request gets into
/// a header, so nothing can break out of one (checklist #142).
#[derive(Clone, Debug)]
pub(super) struct Challenge {
    metadata_url: String,
}

/// How long a client should wait when the issuer's keys cannot be had.
const RETRY_AFTER_SECONDS: &str = "10";

impl Challenge {
    /// The challenges of `resource`.
    pub(super) fn new(resource: &ResourceUri) -> Self {
        Self { metadata_url: resource.metadata_url() }
    }

    /// No token: 401 without `error`, since nothing was wrong with the request
    /// (RFC 6750 section 3.1, checklist #136).
    pub(super) fn missing_token(&self) -> Response {
        self.refuse(
            StatusCode::UNAUTHORIZED,
            ScopeSet::ALL,
            &Refusal {
                in_header: None,
                error: "unauthorized",
                description: "This server needs a bearer token.",
            },
        )
    }

    /// A token that does not do: 401 (checklist #137, B05).
    pub(super) fn invalid_token(&self) -> Response {
        self.refuse(
            StatusCode::UNAUTHORIZED,
            ScopeSet::ALL,
            &Refusal::named(
                "invalid_token",
                "The access token is expired, revoked, or not for this server.",
            ),
        )
    }

    /// A broken or doubled `Authorization` header: 400 (RFC 6750 section 3.1,
    /// checklist #138).
    pub(super) fn invalid_request(&self) -> Response {
        self.refuse(
            StatusCode::BAD_REQUEST,
            ScopeSet::ALL,
            &Refusal::named("invalid_request", "The Authorization header is malformed."),
        )
    }

    /// A good token that opens too little: 403 with the scopes to ask for
    /// (RFC 6750 section 3.1, checklist #137, B47).
    pub(super) fn insufficient_scope(&self, needed: ScopeSet) -> Response {
        self.refuse(
            StatusCode::FORBIDDEN,
            needed,
            &Refusal::named("insufficient_scope", "The access token does not open this."),
        )
    }

    /// No keys to judge with: 503. Not a challenge, for the client's token may be good.
    pub(super) fn unavailable() -> Response {
        let body = json!({
            "error": "temporarily_unavailable",
            "error_description": "Tokens cannot be verified at the moment. Try again soon.",
        });
        let headers = [(RETRY_AFTER, RETRY_AFTER_SECONDS), (CACHE_CONTROL, "no-store")];
        (StatusCode::SERVICE_UNAVAILABLE, headers, Json(body)).into_response()
    }

    /// Too many tokens that nobody issued: 429. Not a challenge, so that nobody is sent to
    /// sign in anew because of others at the same address.
    pub(super) fn too_many_guesses(wait: Wait) -> Response {
        let body = json!({
            "error": "temporarily_unavailable",
            "error_description": "Too many bad tokens come from your address. Try again later.",
        });
        let mut response = (StatusCode::TOO_MANY_REQUESTS, Json(body)).into_response();
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.seconds()));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    fn refuse(&self, status: StatusCode, scopes: ScopeSet, refusal: &Refusal) -> Response {
        let Refusal { in_header, error, description } = refusal;
        let error_part = in_header.map_or_else(String::new, |code| {
            format!(r#", error="{code}", error_description="{description}""#)
        });
        let header = format!(
            r#"Bearer resource_metadata="{}", scope="{scopes}"{error_part}"#,
            self.metadata_url
        );
        let body = Json(json!({ "error": error, "error_description": description }));
        let mut response = (status, [(CACHE_CONTROL, "no-store")], body).into_response();
        match HeaderValue::try_from(header) {
            Ok(value) => {
                response.headers_mut().insert(WWW_AUTHENTICATE, value);
            }
            // A canonical URL and constants are always a legal header.
            Err(error) => tracing::error!(%error, "the challenge is no legal header"),
        }
        response
    }
}

struct Refusal {
    in_header: Option<&'static str>,
    error: &'static str,
    description: &'static str,
}

impl Refusal {
    const fn named(error: &'static str, description: &'static str) -> Self {
        Self { in_header: Some(error), error, description }
    }
}
