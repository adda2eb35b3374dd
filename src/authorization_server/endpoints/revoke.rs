//! `POST /revoke` (RFC 7009).

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Extension, IntoResponse};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::error::{EndpointError, Outcome};
use crate::authorization_server::form::Form;
use crate::peer::Peer;

pub(super) async fn revoke(
    State(server): State<AuthorizationServer>,
    headers: HeaderMap,
    peer: Peer,
    form: Form,
) -> Result<impl IntoResponse, EndpointError> {
    let client = server.authenticate(&headers, &form, peer).await?;
    let text = match server.revoke(&client, &form).await? {
        Some(_) => "the grant was revoked",
        // RFC 7009 section 2.2: what the client wanted is the case.
        None => "there was nothing to revoke",
    };
    Ok((StatusCode::OK, Extension(Outcome::fine(text.to_owned()))))
}
