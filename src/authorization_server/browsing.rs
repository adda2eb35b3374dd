//! What the pages keep in memory between two requests of a browser.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::authorization_server::Settings;
use crate::authorization_server::answered::Answered;
use crate::authorization_server::password::PasswordHasher;
use crate::authorization_server::pending::PendingAuthorizations;
use crate::authorization_server::session::SessionKey;
use crate::authorization_server::throttle::SignInThrottle;
use crate::clock::{Clock, UnixTime};
use crate::entropy::Entropy;

/// Nothing here outlives the process. Cheap to clone.
#[derive(Clone)]
pub(super) struct Browsing {
    pub(super) pending: PendingAuthorizations,
    pub(super) passwords: PasswordHasher,
    pub(super) throttle: SignInThrottle,
    pub(super) notices: Notices,
    pub(super) answered: Answered,
}

/// What a browser is to be told on the next page: what has just been done there. Not in
/// the URL, where anybody could put it.
#[derive(Clone, Default)]
pub(super) struct Notices(Arc<Mutex<HashMap<SessionKey, Notice>>>);

struct Notice {
    text: &'static str,
    left_at: UnixTime,
}

impl Notices {
    /// For more browsers than this nothing is remembered.
    const MOST: usize = 1000;
    /// Who has not come for it by then does not wonder any more.
    const FORGOTTEN_AFTER: Duration = Duration::from_secs(10 * 60);

    /// Has the browser told this, once.
    pub(super) fn leave(&self, browser: SessionKey, text: &'static str, left_at: UnixTime) {
        let mut notices = self.lock();
        if notices.len() < Self::MOST {
            notices.insert(browser, Notice { text, left_at });
        }
    }

    pub(super) fn take(&self, browser: SessionKey) -> Option<&'static str> {
        self.lock().remove(&browser).map(|notice| notice.text)
    }

    pub(super) fn sweep(&self, now: UnixTime) {
        self.lock().retain(|_, notice| now.since(notice.left_at) < Self::FORGOTTEN_AFTER);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, Notice>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
            answered: Answered::new(clock.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Notices;
    use crate::authorization_server::session::BrowserCookie;
    use crate::clock::UnixTime;
    use crate::entropy::Entropy;

    /// Those that nobody comes for do not fill the room for all time.
    #[test]
    fn notices_are_forgotten() {
        let (notices, entropy) = (Notices::default(), Entropy::seeded(1));
        let browser = || BrowserCookie::new(&entropy).key();
        for _ in 0..2 * Notices::MOST {
            notices.leave(browser(), "done", UnixTime::from_seconds(1_000));
        }
        let late = browser();
        notices.leave(late, "done", UnixTime::from_seconds(1_600));
        assert_eq!(notices.take(late), None, "there is no room");
        notices.sweep(UnixTime::from_seconds(1_600));
        notices.leave(late, "done", UnixTime::from_seconds(1_600));
        notices.sweep(UnixTime::from_seconds(1_601));
        assert_eq!(notices.take(late), Some("done"));
    }
}
