//! Takes in what a handler has left unread of a request, so that the connection lives.
//!
//! Many requests are answered before their body has arrived: one without a token,
//! to an unknown path, by a wrong method. The HTTP library would then close the
//! connection without a word, and a client whose next request is already under way on
//! it sees a server that hangs up (RFC 9112 section 9.6).

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{CONNECTION, EXPECT};
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;

/// As much as the largest message that is ever read.
const MOST_BYTES: usize = 1024 * 1024;

/// How long the rest may take to arrive. Whoever is slower loses the connection only.
const PATIENCE: Duration = Duration::from_secs(1);

/// Reads the rest of the body before the answer goes out, or says in the answer that
/// the connection ends with it.
pub(super) async fn take_in_unread_body(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    // It waits for leave to send the body, and a refusal spares it that.
    let waits = request.headers().contains_key(EXPECT);
    let (parts, body) = request.into_parts();
    let body = SharedBody(Arc::new(Mutex::new(body)));
    let rest = SharedBody(Arc::clone(&body.0));
    let mut response = next.run(Request::from_parts(parts, Body::new(body))).await;
    let is_over = rest.is_end_stream()
        || (!waits && tokio::time::timeout(PATIENCE, discard(rest)).await.unwrap_or(false));
    if !is_over {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Reads to the end, and says whether that was reached.
async fn discard(mut body: SharedBody) -> bool {
    let mut taken = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        taken += frame.data_ref().map_or(0, Bytes::len);
        if taken > MOST_BYTES {
            return false;
        }
    }
    true
}

/// A body that a handler and this layer hold, one after the other.
struct SharedBody(Arc<Mutex<Body>>);

impl SharedBody {
    /// Nothing that can panic is done while the lock is held, but reading.
    fn body(&self) -> MutexGuard<'_, Body> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut *self.body()).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body().size_hint()
    }
}
