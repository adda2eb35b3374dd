//! The protected-resource metadata (RFC 9728): where clients learn who issues our
//! tokens.

use axum::Router;
use axum::extract::State;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, CACHE_CONTROL, CONTENT_TYPE,
};
use axum::http::{HeaderName, StatusCode};
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::json;

use crate::contract::issuer::Issuer;
use crate::contract::resource::ResourceUri;
use crate::contract::scope::Scope;

/// The document as JSON text. Made once, from configuration alone, so that no
/// `Host` or forwarding header can change it (checklist #129).
#[derive(Clone, Debug)]
pub(super) struct Document(axum::body::Bytes);

/// Every place where a deployed client looks: the path form, the root form, and
/// the form that hangs from the endpoint (B01, T2). All of them name the same
/// resource, because clients compare it with the URL that they were given.
const PATHS: [&str; 4] = [
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-protected-resource/mcp/",
    "/mcp/.well-known/oauth-protected-resource",
];

const OPEN_TO_ALL: (HeaderName, &str) = (ACCESS_CONTROL_ALLOW_ORIGIN, "*");

impl Document {
    /// Describes `resource`.
    ///
    /// `offline_access` is not among the scopes: a resource has no use for it
    /// (checklist #132).
    pub(super) fn new(resource: &ResourceUri, issuer: &Issuer) -> Self {
        let document = json!({
            "resource": resource.as_str(),
            "authorization_servers": [issuer.as_str()],
            "scopes_supported": Scope::ALL.map(Scope::as_str),
            "bearer_methods_supported": ["header"],
            "resource_name": "brain-mcp",
        });
        Self(document.to_string().into())
    }
}

pub(super) fn router(document: Document) -> Router {
    let mut router = Router::new();
    for path in PATHS {
        router = router.route(path, get(serve).options(preflight));
    }
    router.with_state(document)
}

async fn serve(State(document): State<Document>) -> impl IntoResponse {
    let headers =
        [OPEN_TO_ALL, (CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "public, max-age=300")];
    (headers, document.0)
}

/// The `TypeScript` SDK sends `MCP-Protocol-Version` on every look-up, which makes a
/// browser ask first (B45).
async fn preflight() -> impl IntoResponse {
    let headers = [
        OPEN_TO_ALL,
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, OPTIONS"),
        (ACCESS_CONTROL_ALLOW_HEADERS, "Authorization, Content-Type, MCP-Protocol-Version"),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers)
}
