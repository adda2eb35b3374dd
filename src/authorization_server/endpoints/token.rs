//! `POST /token` (OAuth 2.1 section 3.2).

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{Extension, IntoResponse};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::error::{EndpointError, Outcome};
use crate::authorization_server::form::Form;
use crate::peer::Peer;

pub(super) async fn issue(
    State(server): State<AuthorizationServer>,
    headers: HeaderMap,
    peer: Peer,
    form: Form,
) -> Result<impl IntoResponse, EndpointError> {
    let grant_type = form.required("grant_type")?;
    if !["authorization_code", "refresh_token"].contains(&grant_type) {
        return Err(EndpointError::GrantType);
    }
    let client = server.authenticate(&headers, &form, peer).await?;
    let answer = match grant_type {
        "refresh_token" => server.refresh(&client, &form).await?,
        _ => server.exchange_code(&client, &form).await?,
    };
    let text = format!("{grant_type}: tokens were issued");
    Ok((Extension(Outcome::fine(text)), Json(answer)))
}
