//! Keeps a panic or a slow disk from hanging a request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// Every request is answered by then (L64). A search takes milliseconds; this is for
/// disks that do not answer.
const DEADLINE: Duration = Duration::from_secs(20);

/// A future panicked. The panic hook has printed where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Panicked;

/// Why a request has no answer of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// It broke.
    Panicked,
    /// It took too long.
    Late,
}

/// Awaits `future` until the deadline, and turns a panic in it into an error.
pub(super) async fn answered<F: Future>(future: F) -> Result<F::Output, Unanswered> {
    match tokio::time::timeout(DEADLINE, contain(future)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(Panicked)) => Err(Unanswered::Panicked),
        Err(_) => Err(Unanswered::Late),
    }
}

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
