//! How often somebody has come with a token that nobody issued.
//!
//! Each request is judged before it is counted, so whoever has a good token is let in from
//! an address whose allowance others have used up, and who has one that was good hears
//! that it is over (oauth-clients B19). What a flood is spared by this is our log, and what
//! it gains by going on is nothing.

use crate::clock::Clock;
use crate::peer::Peer;
use crate::rates::{Limiter, PerMinute, Wait};

/// The allowances of everybody.
pub(super) struct Guesses {
    by_address: Limiter<Peer>,
    told: Limiter<()>,
}

impl Guesses {
    pub(super) fn new(limit: PerMinute, clock: &Clock) -> Self {
        let told = Limiter::new(PerMinute::new(1), clock.clone());
        Self { by_address: Limiter::new(limit, clock.clone()), told }
    }

    /// Counts one for its address. That there are too many is told to the operator once a
    /// minute.
    pub(super) fn count(&self, peer: Peer) -> Result<(), Wait> {
        let verdict = self.by_address.take_shared(&peer, peer.head_count());
        if verdict.is_err() && self.told.take(&()).is_ok() {
            tracing::warn!(
                "many tokens that nobody issued come from one address; told once a minute"
            );
        }
        verdict
    }
}
