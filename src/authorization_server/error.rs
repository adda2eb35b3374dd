//! Why an endpoint refuses, for the log and for the wire.

use std::sync::Arc;

use axum::Json;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tracing::Level;

use super::assertion::AssertionFault;
use super::client_metadata::InvalidMetadata;
use super::form::InvalidForm;
use super::refresh_token::NotAToken;
use super::store::StoreError;
use super::{code, family};
use crate::rates::Wait;

/// A refusal. Each variant is one fact; `Display` is for the log, and
/// [`EndpointError::answer`] says what the client learns of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointError {
    #[error(transparent)]
    Form(#[from] InvalidForm),
    #[error("the parameter {0} is missing")]
    Missing(&'static str),
    #[error("the client used more than one way to authenticate")]
    SeveralAuthentications,
    #[error("the body is too large")]
    TooLarge,
    #[error("the body did not arrive")]
    BodyLost,
    #[error("the method is not allowed here")]
    MethodNotAllowed,
    #[error("client authentication failed")]
    Client(#[from] InvalidClient),
    #[error("the keys of the client cannot be had at the moment")]
    ClientKeys,
    #[error("the grant type is not supported")]
    GrantType,
    #[error("the resource is not this server's")]
    Resource,
    #[error(transparent)]
    Code(#[from] code::Refusal),
    #[error(transparent)]
    NotAToken(#[from] NotAToken),
    #[error(transparent)]
    Grant(#[from] family::Refusal),
    #[error("the refresh token belongs to a grant that is not known, or to another client")]
    NoSuchGrant,
    #[error("a refresh token was used again after its successor; its grant is now revoked")]
    RefreshTokenReused,
    #[error(transparent)]
    Metadata(#[from] InvalidMetadata),
    #[error("registration is turned off")]
    RegistrationOff,
    #[error("registration needs the initial access token")]
    InitialAccessToken,
    #[error("this server lets only certain apps in, and no redirect URI is of one of them")]
    NotAllowed,
    #[error("there are too many clients, all of them in use")]
    NoRoom,
    #[error(transparent)]
    TooMany(#[from] Wait),
    #[error("storage failed")]
    Store(#[from] StoreError),
    #[error("signing failed")]
    Signing(#[from] jsonwebtoken::errors::Error),
}

/// Why a client is not who it says it is. One answer for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidClient {
    #[error("the client is unknown")]
    Unknown,
    #[error("the client has a secret and did not send it")]
    SecretMissing,
    #[error("the secret is wrong")]
    SecretWrong,
    #[error("the client has no secret and sent one")]
    SecretUnexpected,
    #[error("the Authorization header cannot be read")]
    Header,
    #[error("the way to authenticate is not supported")]
    Unsupported,
    #[error("the client must sign an assertion and did not")]
    AssertionMissing,
    #[error("the client's assertion proves nothing: {0}")]
    Assertion(#[from] AssertionFault),
}

/// What happened, for the one line that is logged about a request.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) level: Level,
    pub(crate) text: Arc<str>,
}

#[derive(Serialize)]
struct Body {
    error: &'static str,
    error_description: String,
}

impl Outcome {
    pub(crate) fn fine(text: String) -> Self {
        Self { level: Level::INFO, text: text.into() }
    }

    /// What an operator may want to look at, if it happens often.
    pub(crate) fn suspicious(text: &str) -> Self {
        Self { level: Level::WARN, text: text.into() }
    }

    /// What nobody has to read of each time that it happens.
    pub(crate) fn one_of_many(text: String) -> Self {
        Self { level: Level::DEBUG, text: text.into() }
    }

    /// What must not happen.
    pub(crate) fn failed(error: &dyn std::error::Error) -> Self {
        Self { level: Level::ERROR, text: with_causes(error).into() }
    }
}

impl EndpointError {
    /// Status, `error` and `error_description` (OAuth 2.1 section 3.2.4). The
    /// description is printable ASCII without quotes and backslashes, since all of it
    /// is ours.
    fn answer(&self) -> (StatusCode, &'static str, String) {
        let bad =
            |error, description: &str| (StatusCode::BAD_REQUEST, error, description.to_owned());
        let failed = |status, error, description: &str| (status, error, description.to_owned());
        match self {
            Self::Form(_) | Self::Missing(_) | Self::SeveralAuthentications | Self::BodyLost => {
                bad("invalid_request", &self.to_string())
            }
            Self::TooLarge => {
                failed(StatusCode::PAYLOAD_TOO_LARGE, "invalid_request", "the body is too large")
            }
            Self::MethodNotAllowed => failed(
                StatusCode::METHOD_NOT_ALLOWED,
                "invalid_request",
                "the method is not allowed here",
            ),
            Self::Client(_) => failed(
                StatusCode::UNAUTHORIZED,
                "invalid_client",
                "the client is unknown or did not authenticate as it registered",
            ),
            Self::GrantType => bad(
                "unsupported_grant_type",
                "the grant types are authorization_code and refresh_token",
            ),
            Self::Resource => bad("invalid_target", "the resource is not one of this server"),
            // One answer for all, so that a thief cannot learn from it whether a
            // stolen code or token was real.
            Self::Code(_)
            | Self::NotAToken(_)
            | Self::Grant(_)
            | Self::NoSuchGrant
            | Self::RefreshTokenReused => bad(
                "invalid_grant",
                "the code or refresh token is invalid, expired, revoked, or not for this client",
            ),
            Self::Metadata(InvalidMetadata::Field(_)) => {
                bad("invalid_client_metadata", &self.to_string())
            }
            Self::Metadata(_) => bad("invalid_redirect_uri", &self.to_string()),
            Self::RegistrationOff | Self::NotAllowed => {
                failed(StatusCode::FORBIDDEN, "access_denied", &self.to_string())
            }
            Self::InitialAccessToken => {
                failed(StatusCode::UNAUTHORIZED, "invalid_token", &self.to_string())
            }
            // Not invalid_client: clients would throw their registration away.
            Self::ClientKeys => failed(
                StatusCode::SERVICE_UNAVAILABLE,
                "temporarily_unavailable",
                "the keys of the client cannot be had at the moment; try again later",
            ),
            Self::NoRoom => failed(
                StatusCode::SERVICE_UNAVAILABLE,
                "temporarily_unavailable",
                "there are too many clients",
            ),
            // Not a fault of the request: whoever takes it for one gives up what still
            // is good (oauth-clients B19).
            Self::TooMany(_) => {
                failed(StatusCode::TOO_MANY_REQUESTS, "temporarily_unavailable", &self.to_string())
            }
            // OAuth 2.1 section 3.2.4 has no code for our own failures; this one is
            // borrowed from the authorization endpoint, section 4.1.2.1.
            Self::Store(_) | Self::Signing(_) => failed(
                StatusCode::INTERNAL_SERVER_ERROR,
                "server_error",
                "the server failed; try again later",
            ),
        }
    }

    fn outcome(&self) -> Outcome {
        let level = match self {
            Self::Store(_) | Self::Signing(_) => Level::ERROR,
            Self::NoRoom | Self::RefreshTokenReused | Self::Code(code::Refusal::Replayed) => {
                Level::WARN
            }
            Self::TooMany(_) => Level::DEBUG,
            _ => Level::INFO,
        };
        Outcome { level, text: with_causes(self).into() }
    }
}

/// The causes too: for our own failures the first line says little.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

impl IntoResponse for EndpointError {
    fn into_response(self) -> Response {
        let outcome = self.outcome();
        let (status, error, error_description) = self.answer();
        let wait = match (&self, status) {
            (Self::TooMany(wait), _) => Some(wait.seconds()),
            (_, StatusCode::SERVICE_UNAVAILABLE) => Some(30),
            _ => None,
        };
        let body = Json(Body { error, error_description });
        let mut response = (status, body).into_response();
        if let Some(wait) = wait {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait));
        }
        if status == StatusCode::UNAUTHORIZED {
            // HTTP wants a challenge with every 401, and OAuth this one if Basic was
            // tried (OAuth 2.1 section 3.2.4).
            let challenge = HeaderValue::from_static(match error {
                "invalid_token" => "Bearer realm=\"register\"",
                _ => "Basic realm=\"token\"",
            });
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response.extensions_mut().insert(outcome);
        response
    }
}
