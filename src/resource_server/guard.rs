//! The one middleware in front of `/mcp`.

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ORIGIN, RETRY_AFTER,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body_util::LengthLimitError;
use serde_json::json;

use super::bearer::{BearerToken, NoBearerToken};
use super::challenge::Challenge;
use super::cors;
use super::figures::Refused;
use super::guesses::Guesses;
use super::host_origin::{AllowedSites, Caller, forbidden};
use super::json_rpc::{Malformed, Message};
use super::open_streams::{OpenStreams, Seat, no_seat};
use super::requirement::Requirement;
use super::sessions::Sessions;
use super::standing::Standing;
use super::stream::until_token_ends;
use super::verify::{TokenError, TokenVerifier, VerifiedToken};
use crate::metrics::Tally;
use crate::peer::Peer;
use crate::rates::{Limiter, PerMinute, Wait};

/// What the guard knows.
pub(super) struct Guard {
    pub(super) verifier: Arc<TokenVerifier>,
    pub(super) challenge: Challenge,
    pub(super) sites: Arc<AllowedSites>,
    pub(super) sessions: Sessions,
    pub(super) streams: OpenStreams,
    pub(super) limit: PerMinute,
    pub(super) asked: Limiter<Box<str>>,
    pub(super) guesses: Guesses,
    pub(super) refused: Tally<Refused>,
}

/// The largest message (design section 9).
const MAX_BODY_BYTES: usize = 1024 * 1024;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// A session id that no session has.
const NO_SESSION: HeaderValue = HeaderValue::from_static("none");

/// Lets a request through to the MCP server if its caller may make it.
///
/// The order is part of the contract: whoever has no good token learns nothing
/// but that (design section 4, rule 1; B02, B46).
pub(super) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let origin = match guard.sites.judge_origin(request.headers()) {
        Caller::Foreign => {
            guard.refused.add(Refused::ForeignOrigin);
            let mut response = forbidden("Pages of this origin may not call this server.");
            cors::expose(&mut response, None);
            return response;
        }
        Caller::NoPage | Caller::Page(_) => request.headers().get(ORIGIN).cloned(),
    };
    let mut response = if request.method() == Method::OPTIONS {
        cors::preflight(request.headers())
    } else {
        match admit(&guard, request).await {
            Ok(admitted) => forward(&guard, admitted, next).await,
            Err(refusal) => refusal,
        }
    };
    cors::expose(&mut response, origin.as_ref());
    response
}

/// A request that may be answered, and what to remember until it is.
struct Admitted {
    request: Request,
    token: VerifiedToken,
    session: NamedSession,
    /// Where the answer is a stream that stays open.
    seat: Option<Seat>,
}

/// The session that a request names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamedSession {
    /// It opens one.
    Opening,
    /// None, or one of the caller's own.
    OwnOrNone,
    /// One that the caller did not open, if it exists at all.
    Unknown,
}

async fn admit(guard: &Guard, request: Request) -> Result<Admitted, Response> {
    let peer = request.extensions().get().copied().unwrap_or(Peer::UNKNOWN);
    let token = judge_token(guard, request.headers(), peer).await?;
    // Before the body is read. Whoever has no good token is nobody whose allowance could
    // be used up.
    guard.asked.take(&token.subject().into()).map_err(|wait| {
        guard.refused.add(Refused::TooManyRequests);
        too_many(guard.limit, wait)
    })?;
    let (mut request, message) = if request.method() == Method::POST {
        let (parts, body) = request.into_parts();
        let message = judge_message(guard, body, &token).await?;
        (Request::from_parts(parts, Body::empty()), Some(message))
    } else {
        (request, None)
    };
    let session = judge_session(guard, &mut request, &token, message.as_ref());
    let seat = if opens_stream(&request, message.as_ref()) {
        let id = || message.as_ref().and_then(Message::id).cloned();
        Some(guard.streams.take(&token).ok_or_else(|| {
            guard.refused.add(Refused::TooManyStreams);
            no_seat(id())
        })?)
    } else {
        None
    };
    if let Some(message) = message {
        let body = message.into_bytes();
        request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        *request.body_mut() = Body::from(body);
    }
    // Nothing behind the guard has a use for the token (checklist #141).
    request.headers_mut().remove(AUTHORIZATION);
    let standing = standing(guard, &request, &token);
    request.extensions_mut().insert(standing);
    request.extensions_mut().insert(token.clone());
    Ok(Admitted { request, token, session, seat })
}

/// What goes on behind this request stands on the latest token of its session.
fn standing(guard: &Guard, request: &Request, token: &VerifiedToken) -> Standing {
    let id = request.headers().get(SESSION_ID).and_then(|id| id.to_str().ok());
    let verifier = Arc::clone(&guard.verifier);
    match id.and_then(|id| guard.sessions.latest_token(id)) {
        Some(latest) => Standing::new(latest, verifier),
        None => Standing::of_request(token.clone(), verifier),
    }
}

async fn judge_token(
    guard: &Guard,
    headers: &HeaderMap,
    peer: Peer,
) -> Result<VerifiedToken, Response> {
    let challenge = &guard.challenge;
    let bearer = match BearerToken::from_headers(headers) {
        Ok(bearer) => bearer,
        Err(NoBearerToken::Absent) => {
            guard.refused.add(Refused::NoToken);
            return Err(challenge.missing_token());
        }
        Err(NoBearerToken::Malformed) => {
            let reason = NoBearerToken::Malformed.to_string();
            return Err(refuse_guess(guard, peer, &reason, Challenge::invalid_request));
        }
        Err(NoBearerToken::TooLong) => {
            let reason = NoBearerToken::TooLong.to_string();
            return Err(refuse_guess(guard, peer, &reason, Challenge::invalid_token));
        }
    };
    guard.verifier.verify(&bearer).await.map_err(|error| match error {
        TokenError::KeysUnavailable(_) => {
            guard.refused.add(Refused::KeysUnavailable);
            Challenge::unavailable()
        }
        forged if forged.is_forgery() => {
            refuse_guess(guard, peer, &forged.to_string(), Challenge::invalid_token)
        }
        refused => {
            tracing::info!(reason = %refused, "a token was refused");
            guard.refused.add(Refused::InvalidToken);
            challenge.invalid_token()
        }
    })
}

/// The answer to something that was never a token of ours: `refusal`, until the address has
/// tried too often.
fn refuse_guess(
    guard: &Guard,
    peer: Peer,
    reason: &str,
    refusal: fn(&Challenge) -> Response,
) -> Response {
    match guard.guesses.count(peer) {
        Ok(()) => {
            tracing::info!(reason, "a token was refused");
            guard.refused.add(Refused::InvalidToken);
            refusal(&guard.challenge)
        }
        Err(wait) => {
            guard.refused.add(Refused::TooManyGuesses);
            Challenge::too_many_guesses(wait)
        }
    }
}

async fn judge_message(
    guard: &Guard,
    body: Body,
    token: &VerifiedToken,
) -> Result<Message, Response> {
    let body = to_bytes(body, MAX_BODY_BYTES).await.map_err(|error| {
        let too_large = error.into_inner().is::<LengthLimitError>();
        if too_large { Malformed::TooLarge } else { Malformed::NotJson }.into_response()
    })?;
    let message = Message::parse(&body).map_err(Malformed::into_response)?;
    match Requirement::of(&message).missing_from(token.scopes()) {
        Some(needed) => {
            guard.refused.add(Refused::MissingScope);
            Err(guard.challenge.insufficient_scope(needed))
        }
        None => Ok(message),
    }
}

/// Makes a foreign session the same as none. A handshake starts afresh, whatever
/// session the client still remembers (T21).
fn judge_session(
    guard: &Guard,
    request: &mut Request,
    token: &VerifiedToken,
    message: Option<&Message>,
) -> NamedSession {
    if message.and_then(Message::method) == Some("initialize") {
        request.headers_mut().remove(SESSION_ID);
        return NamedSession::Opening;
    }
    let mut ids = request.headers().get_all(SESSION_ID).iter();
    let is_own = match (ids.next(), ids.next()) {
        (None, _) => return NamedSession::OwnOrNone,
        (Some(id), None) => id.to_str().is_ok_and(|id| guard.sessions.belongs_to(id, token)),
        (Some(_), Some(_)) => false,
    };
    if is_own {
        return NamedSession::OwnOrNone;
    }
    request.headers_mut().insert(SESSION_ID, NO_SESSION);
    NamedSession::Unknown
}

/// Whether a request asks for a stream that has no end of its own.
fn opens_stream(request: &Request, message: Option<&Message>) -> bool {
    let method = message.and_then(Message::method);
    request.method() == Method::GET || method == Some("subscriptions/listen")
}

async fn forward(guard: &Arc<Guard>, admitted: Admitted, next: Next) -> Response {
    let Admitted { request, token, session, seat } = admitted;
    let is_delete = request.method() == Method::DELETE;
    let is_json = is_media_type(request.headers().get(CONTENT_TYPE), "application/json");
    let mut response = if session == NamedSession::Opening {
        open_session(guard, request, next, &token).await
    } else {
        next.run(request).await
    };
    match response.status() {
        // Deployed clients take a 202 for a failure to end the session.
        StatusCode::ACCEPTED if is_delete => {
            *response.status_mut() = match session {
                NamedSession::Unknown => StatusCode::NOT_FOUND,
                NamedSession::Opening | NamedSession::OwnOrNone => StatusCode::NO_CONTENT,
            };
        }
        // The library says so of messages that are well-formed but unknown to it.
        StatusCode::UNSUPPORTED_MEDIA_TYPE if is_json => {
            return Malformed::NotJsonRpc.into_response();
        }
        _ => {}
    }
    if !is_media_type(response.headers().get(CONTENT_TYPE), "text/event-stream") {
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        return response;
    }
    // Proxies must pass events on as they come (B18).
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    let guard = Arc::clone(guard);
    response.map(|body| until_token_ends(body, guard, token, seat))
}

/// Lets a handshake through and writes its session down, even if the client hangs
/// up meanwhile: a session without an owner would count against nobody's cap.
async fn open_session(
    guard: &Arc<Guard>,
    request: Request,
    next: Next,
    token: &VerifiedToken,
) -> Response {
    let (sessions, token) = (guard.sessions.clone(), token.clone());
    let handshake = tokio::spawn(async move {
        let response = next.run(request).await;
        if let Some(id) = response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()) {
            sessions.opened(id, &token).await;
        }
        response
    });
    handshake.await.unwrap_or_else(|error| {
        tracing::error!(%error, "a handshake broke off");
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    })
}

/// The answer to who asks too often. As JSON-RPC, without an id since the request was
/// not read (JSON-RPC 2.0 section 5).
fn too_many(limit: PerMinute, wait: Wait) -> Response {
    let (times, seconds) = (limit.times(), wait.seconds());
    tracing::info!(times, seconds, "a user asked too often");
    let text = format!(
        "Too many requests: this server answers {times} a minute for one user. Try again in \
         {seconds} s."
    );
    let body = json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": { "code": -32000, "message": text },
    });
    let headers = [(RETRY_AFTER, seconds)];
    (StatusCode::TOO_MANY_REQUESTS, headers, Json(body)).into_response()
}

fn is_media_type(header: Option<&HeaderValue>, wanted: &str) -> bool {
    header.and_then(|value| value.to_str().ok()).is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case(wanted)
    })
}
