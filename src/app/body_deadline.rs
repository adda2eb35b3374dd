//! Request bodies that have to arrive in time.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use http_body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// For the whole body, not for each part of it: a client that sends a byte now and
/// then would have for ever. The largest body, 1 MiB, passes at 35 KB a second.
const PATIENCE: Duration = Duration::from_secs(30);

/// The same request, with a body that breaks when it takes too long.
pub(super) async fn limit(request: Request) -> Request {
    request.map(|inner| {
        if inner.is_end_stream() {
            return inner;
        }
        Body::new(TimedBody { inner, end: Box::pin(sleep(PATIENCE)) })
    })
}

struct TimedBody {
    inner: Body,
    end: Pin<Box<Sleep>>,
}

#[derive(Debug, thiserror::Error)]
#[error("the body did not arrive in time")]
struct TooSlow;

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        // What has arrived counts, even if nobody looked in time.
        match Pin::new(&mut self.inner).poll_frame(context) {
            Poll::Ready(frame) => Poll::Ready(frame.map(|frame| frame.map_err(Into::into))),
            Poll::Pending => self.end.as_mut().poll(context).map(|()| Some(Err(TooSlow.into()))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};
    use std::time::Duration;

    use axum::body::{Body, Bytes, HttpBody, to_bytes};
    use axum::extract::Request;
    use http_body::Frame;
    use tokio::time::{Interval, interval};

    use super::{PATIENCE, limit};

    /// A byte a second, so many of them.
    struct Trickle(Interval, u64);

    impl HttpBody for Trickle {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let Some(left) = self.1.checked_sub(1) else { return Poll::Ready(None) };
            ready!(self.0.poll_tick(context));
            self.1 = left;
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickling_body_has_an_end() {
        let seconds = PATIENCE.as_secs();
        for (bytes, arrives) in [(seconds - 1, true), (seconds + 5, false)] {
            let trickle = Trickle(interval(Duration::from_secs(1)), bytes);
            let request = limit(Request::new(Body::new(trickle))).await;
            let read = to_bytes(request.into_body(), usize::MAX).await;
            assert_eq!(read.is_ok(), arrives, "{bytes}");
        }
    }
}
