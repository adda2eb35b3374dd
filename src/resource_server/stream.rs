//! Event streams that end with the token that opened them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use http_body::Frame;

use super::guard::Guard;
use super::open_streams::Seat;
use super::verify::VerifiedToken;

/// Between two looks at the grant of an open stream (checklist #140). Whatever makes a
/// notice looks for itself before it makes one; this ends streams on which nothing
/// happens.
const RECHECK: Duration = Duration::from_secs(2);

/// A body that ends when its token does. The client then comes back with a new
/// token, or stays away. The seat is given back as soon as the stream has ended.
pub(super) fn until_token_ends(
    body: Body,
    guard: Arc<Guard>,
    token: VerifiedToken,
    seat: Option<Seat>,
) -> Body {
    let end = Box::pin(async move {
        while guard.verifier.still_stands(&token) {
            let pause = guard.verifier.time_left(&token).min(RECHECK);
            tokio::time::sleep(pause.max(Duration::from_secs(1))).await;
        }
    });
    Body::new(BoundedBody { inner: body, end, seat })
}

struct BoundedBody {
    inner: Body,
    end: Pin<Box<dyn Future<Output = ()> + Send>>,
    seat: Option<Seat>,
}

impl HttpBody for BoundedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.end.as_mut().poll(context).is_ready() {
            // Dropped here and not with the connection: that is what stops the
            // work behind the stream.
            self.inner = Body::empty();
            self.end = Box::pin(std::future::pending());
            self.seat = None;
            return Poll::Ready(None);
        }
        Pin::new(&mut self.inner).poll_frame(context).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }
}
