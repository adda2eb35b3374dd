//! How many event streams a client has open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::sessions::Owner;
use super::verify::VerifiedToken;

/// Streams that one owner may have open. Each takes a connection for as long as its
/// token lives, and there are not endlessly many of those. A client that has lost some
/// without our noticing must not stand outside, so there are more than anybody needs.
const PER_OWNER: usize = 32;

/// The streams of everybody. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct OpenStreams(Arc<Mutex<HashMap<Owner, usize>>>);

/// Leave to have one stream open; given back when it is dropped.
pub(super) struct Seat {
    owner: Owner,
    streams: OpenStreams,
}

impl OpenStreams {
    /// A seat for one more stream, unless this caller has all of its own.
    pub(super) fn take(&self, token: &VerifiedToken) -> Option<Seat> {
        let owner = Owner::of(token);
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(owner.clone()).or_default();
        if *count >= PER_OWNER {
            return None;
        }
        *count += 1;
        Some(Seat { owner, streams: self.clone() })
    }
}

impl OpenStreams {
    /// How many are open.
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.owner);
            }
        }
    }
}

/// The answer to a request, with this id if it has one, for which there is no seat.
pub(super) fn no_seat(id: Option<Value>) -> Response {
    let text = format!(
        "This client has {PER_OWNER} event streams open, which is as many as it may have. \
         Close one of them first."
    );
    let body = json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": { "code": -32000, "message": text },
    });
    let mut response = (StatusCode::TOO_MANY_REQUESTS, Json(body)).into_response();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("60"));
    response
}
