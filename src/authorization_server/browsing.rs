//! What the pages keep in memory between two requests of a browser.

use crate::authorization_server::Settings;
use crate::authorization_server::password::PasswordHasher;
use crate::authorization_server::pending::PendingAuthorizations;
use crate::authorization_server::setup::SetupSecrets;
use crate::authorization_server::sign_in::SignInThrottle;
use crate::clock::Clock;
use crate::entropy::Entropy;

/// Nothing here outlives the process. Cheap to clone.
#[derive(Clone)]
pub(super) struct Browsing {
    pub(super) pending: PendingAuthorizations,
    pub(super) passwords: PasswordHasher,
    pub(super) throttle: SignInThrottle,
    pub(super) setup: SetupSecrets,
}

impl Browsing {
    pub(super) fn new(settings: &Settings, clock: &Clock, entropy: &Entropy) -> Self {
        let pending_lifetime = settings.lifetimes.pending;
        Self {
            pending: PendingAuthorizations::new(pending_lifetime, clock.clone(), entropy.clone()),
            passwords: PasswordHasher::new(settings.hashing_cost, entropy.clone()),
            throttle: SignInThrottle::new(clock.clone()),
            setup: SetupSecrets::default(),
        }
    }
}
