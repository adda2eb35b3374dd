//! Keeps a panic from hanging a request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// A future panicked. The panic hook has printed where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Panicked;

/// Awaits `future` and turns a panic in it into an error.
///
/// The protocol library runs handlers in detached tasks. One that panics there
/// answers nothing, and the client waits for ever.
pub(super) async fn contain<F: Future>(future: F) -> Result<F::Output, Panicked> {
    let mut future = pin!(future);
    // Unwind safety: after a panic the future is never polled again, and what it
    // shares with others is behind locks that say when they are poisoned.
    std::future::poll_fn(|context| {
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    })
    .await
}
