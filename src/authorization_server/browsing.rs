//! What the pages keep in memory between two requests of a browser.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::authorization_server::Settings;
use crate::authorization_server::password::PasswordHasher;
use crate::authorization_server::pending::PendingAuthorizations;
use crate::authorization_server::session::SessionKey;
use crate::authorization_server::sign_in::SignInThrottle;
use crate::clock::Clock;
use crate::entropy::Entropy;

/// Nothing here outlives the process. Cheap to clone.
#[derive(Clone)]
pub(super) struct Browsing {
    pub(super) pending: PendingAuthorizations,
    pub(super) passwords: PasswordHasher,
    pub(super) throttle: SignInThrottle,
    pub(super) notices: Notices,
}

/// What a browser is to be told on the next page: what has just been done there. Not in
/// the URL, where anybody could put it.
#[derive(Clone, Default)]
pub(super) struct Notices(Arc<Mutex<HashMap<SessionKey, &'static str>>>);

impl Notices {
    /// For more browsers than this nothing is remembered.
    const MOST: usize = 1000;

    /// Has the browser told this, once.
    pub(super) fn leave(&self, browser: SessionKey, text: &'static str) {
        let mut notices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if notices.len() < Self::MOST {
            notices.insert(browser, text);
        }
    }

    pub(super) fn take(&self, browser: SessionKey) -> Option<&'static str> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&browser)
    }
}

impl Browsing {
    pub(super) fn new(settings: &Settings, clock: &Clock, entropy: &Entropy) -> Self {
        let pending_lifetime = settings.lifetimes.pending;
        Self {
            pending: PendingAuthorizations::new(pending_lifetime, clock.clone(), entropy.clone()),
            passwords: PasswordHasher::new(settings.hashing_cost, entropy.clone()),
            throttle: SignInThrottle::new(clock.clone()),
            notices: Notices::default(),
        }
    }
}
