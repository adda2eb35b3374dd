//! `GET /.well-known/oauth-authorization-server` (RFC 8414).

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::authorization_server::assertion::ALGORITHM_NAMES;
use crate::authorization_server::{AuthorizationServer, Registration};
use crate::contract::scope::Scope;

/// Every URL is made from the configured issuer, whatever the request's headers say
/// (checklist #129).
#[derive(Serialize)]
pub(super) struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_endpoint: Option<String>,
    revocation_endpoint: String,
    jwks_uri: String,
    scopes_supported: [&'static str; 4],
    response_types_supported: [&'static str; 1],
    response_modes_supported: [&'static str; 1],
    grant_types_supported: [&'static str; 2],
    code_challenge_methods_supported: [&'static str; 1],
    token_endpoint_auth_methods_supported: [&'static str; 4],
    token_endpoint_auth_signing_alg_values_supported: [&'static str; 5],
    revocation_endpoint_auth_methods_supported: [&'static str; 4],
    revocation_endpoint_auth_signing_alg_values_supported: [&'static str; 5],
    // RFC 9207 section 3.
    authorization_response_iss_parameter_supported: bool,
    // CIMD section 5.
    client_id_metadata_document_supported: bool,
}

const AUTHENTICATION_METHODS: [&str; 4] =
    ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"];

pub(super) async fn show(State(server): State<AuthorizationServer>) -> Json<Metadata> {
    let issuer = server.settings().issuer.as_str();
    let clients = &server.settings().clients;
    // Absent if nobody may use it (checklist #101).
    let is_open = clients.registration != Registration::Off;
    Json(Metadata {
        issuer: issuer.to_owned(),
        authorization_endpoint: format!("{issuer}/authorize"),
        token_endpoint: format!("{issuer}/token"),
        registration_endpoint: is_open.then(|| format!("{issuer}/register")),
        revocation_endpoint: format!("{issuer}/revoke"),
        jwks_uri: format!("{issuer}/jwks"),
        // All of them, and no offline_access: clients would ask for it.
        scopes_supported: Scope::ALL.map(Scope::as_str),
        response_types_supported: ["code"],
        response_modes_supported: ["query"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
        token_endpoint_auth_signing_alg_values_supported: ALGORITHM_NAMES,
        revocation_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
        revocation_endpoint_auth_signing_alg_values_supported: ALGORITHM_NAMES,
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: clients.documents,
    })
}
