//! A stream of two events with a pause between them, for `brain-mcp check`: by the pause it
//! sees whether something in front of the server holds streamed answers back.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use http_body::{Body as HttpBody, Frame};
use tokio::time::Sleep;

/// How long the second event is behind the first.
const PAUSE: Duration = Duration::from_secs(1);

/// What is still to be sent.
enum Drip {
    Both,
    Second(Pin<Box<Sleep>>),
    Nothing,
}

impl HttpBody for Drip {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let event = |text| Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(text)))));
        match &mut *self {
            Self::Both => {
                *self = Self::Second(Box::pin(tokio::time::sleep(PAUSE)));
                event(b"data: first\n\n")
            }
            Self::Second(pause) => {
                ready!(pause.as_mut().poll(context));
                *self = Self::Nothing;
                event(b"data: second\n\n")
            }
            Self::Nothing => Poll::Ready(None),
        }
    }
}

/// The stream.
pub(super) fn answer() -> Response {
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    (headers, Body::new(Drip::Both)).into_response()
}
