//! `POST /register` (RFC 7591).

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::response::{Extension, IntoResponse};

use crate::authorization_server::endpoints::log::about_app;
use crate::authorization_server::error::{EndpointError, Outcome};
use crate::authorization_server::{AuthorizationServer, Registration, body};
use crate::peer::Peer;

/// Whatever the body says it is, it is read as JSON: clients forget the content type.
pub(super) async fn create(
    State(server): State<AuthorizationServer>,
    peer: Peer,
    request: Request,
) -> Result<impl IntoResponse, EndpointError> {
    server.limits().register(peer)?;
    // RFC 7591 section 3: the initial access token is a bearer token.
    let token = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.split_once(' '));
    let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    match &server.settings().clients.registration {
        Registration::Off => return Err(EndpointError::RegistrationOff),
        rule if rule.admits(token.map(|(_, token)| token.trim())) => {}
        _ => return Err(EndpointError::InitialAccessToken),
    }
    let registration = server.register(&body::read(request).await?).await?;
    about_app(registration.client_id());
    let outcome = Outcome::fine("registered".to_owned());
    Ok((StatusCode::CREATED, Extension(outcome), Json(registration)))
}
