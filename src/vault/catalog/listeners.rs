//! Those who wait for changes.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::vault::answers::Change;

/// Hands every batch to everybody who listens.
///
/// Nobody is ever told that it has missed something: whether it has would depend on how
/// much changed that it may not see. So the queues have no end, and whoever takes one
/// must empty it at once, whatever else it waits for.
#[derive(Debug, Default)]
pub(super) struct Listeners(Mutex<Vec<UnboundedSender<Arc<[Change]>>>>);

impl Listeners {
    /// Batches of changes from now on.
    pub(super) fn add(&self) -> UnboundedReceiver<Arc<[Change]>> {
        let (sender, receiver) = unbounded_channel();
        let mut senders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A vault in which nothing changes forgets those that are gone here.
        senders.retain(|sender| !sender.is_closed());
        senders.push(sender);
        receiver
    }

    /// Tells everybody of a batch.
    pub(super) fn tell(&self, changes: &Arc<[Change]>) {
        let mut senders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        senders.retain(|sender| sender.send(Arc::clone(changes)).is_ok());
    }
}
