//! `POST /register` (RFC 7591).

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{Extension, IntoResponse};

use crate::authorization_server::error::{EndpointError, Outcome};
use crate::authorization_server::{AuthorizationServer, body};

/// Whatever the body says it is, it is read as JSON: clients forget the content type.
pub(super) async fn create(
    State(server): State<AuthorizationServer>,
    request: Request,
) -> Result<impl IntoResponse, EndpointError> {
    let registration = server.register(&body::read(request).await?).await?;
    let outcome = Outcome::fine(format!("registered {}", registration.client_id()));
    Ok((StatusCode::CREATED, Extension(outcome), Json(registration)))
}
