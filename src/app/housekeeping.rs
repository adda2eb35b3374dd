//! What has to be done from time to time while the server runs.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::authorization_server::AuthorizationServer;

/// Between two sweeps. What has expired is refused at once, swept or not; this only
/// keeps the store from growing for ever.
const PAUSE: Duration = Duration::from_secs(60 * 60);

/// Sweeps the authorization server's store and sees to its keys, at the start and every
/// hour after it, until it is stopped or dropped.
pub(super) struct Housekeeping(JoinHandle<()>);

impl Housekeeping {
    pub(super) fn start(server: AuthorizationServer) -> Self {
        Self(tokio::spawn(async move {
            let mut turns = interval(PAUSE);
            // A machine that slept for a night owes one sweep and not eight.
            turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                turns.tick().await;
                if let Err(error) = server.sweep().await {
                    // Nothing depends on it, and the next turn tries again.
                    tracing::warn!(%error, "what has expired could not be removed");
                }
                if let Err(error) = server.keep_keys_up().await {
                    tracing::error!(%error, "the signing keys could not be changed");
                }
            }
        }))
    }

    /// Returns when the task is gone, and with it its hold on the data directory.
    pub(super) async fn stop(mut self) {
        self.0.abort();
        let _ = (&mut self.0).await;
    }
}

impl Drop for Housekeeping {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Housekeeping, PAUSE};
    use crate::authorization_server::testing::TestServer;
    use crate::contract::scope::ScopeSet;

    /// Checklist 29, issue "store": dead codes go within the hour without anybody asking.
    #[tokio::test(start_paused = true)]
    async fn the_store_is_swept_every_hour() {
        let test = TestServer::start();
        let client = test.client("A client").await;
        let housekeeping = Housekeeping::start(test.server.clone());
        tokio::time::sleep(Duration::from_secs(1)).await;
        let code = test.code(&client, ScopeSet::ALL).await;
        test.advance(61);
        tokio::time::sleep(PAUSE / 2).await;
        assert!(test.remembers_code(&code), "the first sweep was before it");
        tokio::time::sleep(PAUSE).await;
        assert!(!test.remembers_code(&code));
        housekeeping.stop().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_stopped_housekeeping_lets_go_of_the_server() {
        let test = TestServer::start();
        let housekeeping = Housekeeping::start(test.server.clone());
        tokio::time::sleep(PAUSE / 2).await;
        housekeeping.stop().await;
        assert!(test.is_the_only_handle());
    }
}
