//! Signing in: from a name and a password to [`SignedIn`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::password::{NotVerified, Password, PasswordHash};
use crate::authorization_server::store::{Store, StoreError};
use crate::clock::{Clock, UnixTime};

/// Proof that a user has just shown the password. It starts one session, unless the
/// password was changed meanwhile: verifying takes a moment, and whoever knew the old one
/// must not come in behind the change.
#[derive(Debug)]
pub(super) struct SignedIn {
    pub(super) user: String,
    /// What the password was compared with.
    pub(super) verified: PasswordHash,
}

/// Why nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub(super) enum SignInError {
    /// Wrong password, or no such user.
    #[error("user name and password do not belong together")]
    Wrong,
    /// Too many wrong tries for this name; none is judged until the wait is over.
    #[error("too many tries; the next is judged in {} s", .0.as_secs())]
    Wait(Duration),
    /// Too many sign-ins at once.
    #[error("too many passwords are waiting to be checked")]
    Busy,
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SignedIn {
    /// For who has just chosen the password.
    pub(super) const fn by_setting_up(user: String, password: PasswordHash) -> Self {
        Self { user, verified: password }
    }
}

impl AuthorizationServer {
    /// Checks a name and a password.
    ///
    /// # Errors
    ///
    /// [`SignInError`]. An unknown name takes as long as a wrong password and gives
    /// the same answer.
    pub(super) async fn sign_in(
        &self,
        name: &str,
        password: Password,
    ) -> Result<SignedIn, SignInError> {
        let browsing = self.browsing();
        browsing.throttle.begin(name).map_err(SignInError::Wait)?;
        let asked = self.settings().has_user(name).then(|| name.to_owned());
        let find = move |store: &Store| asked.map_or(Ok(None), |asked| store.user(&asked));
        let user = self.store().read(find).await?;
        let kept = user.as_ref().map(|user| &user.password);
        match browsing.passwords.verify(password, kept).await {
            Ok(()) => {
                browsing.throttle.forget(name);
                tracing::info!(user = name, "signed in");
                let verified = user.map(|user| user.password).ok_or(SignInError::Wrong)?;
                Ok(SignedIn { user: name.to_owned(), verified })
            }
            Err(NotVerified::Wrong) => {
                tracing::warn!("a sign-in failed");
                Err(SignInError::Wrong)
            }
            Err(NotVerified::Busy) => {
                browsing.throttle.take_back(name);
                Err(SignInError::Busy)
            }
        }
    }
}

/// Slows down guessing, for one name at a time.
///
/// There is no lock that stays: the wait ends after at most [`Self::LONGEST_WAIT`],
/// or anybody could keep the owner out for good.
#[derive(Clone)]
pub(super) struct SignInThrottle {
    clock: Clock,
    tries: Arc<Mutex<HashMap<[u8; 32], Tries>>>,
}

#[derive(Clone, Copy)]
struct Tries {
    wrong: u32,
    last: UnixTime,
}

impl SignInThrottle {
    /// Wrong tries that cost nothing.
    const FREE: u32 = 5;
    const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);
    const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
    /// Names that are remembered, so that made-up ones cannot fill the memory.
    const MAX_NAMES: usize = 1000;

    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, tries: Arc::default() }
    }

    /// Counts a try before it is judged, so that many at once gain nothing.
    fn begin(&self, name: &str) -> Result<(), Duration> {
        let now = self.clock.now();
        let mut tries = self.lock();
        tries.retain(|_, tries| now.since(tries.last) < Self::FORGOTTEN_AFTER);
        if tries.len() >= Self::MAX_NAMES {
            // Those with the fewest tries first: else a flood of made-up names would
            // make us forget the one that is being guessed, and its wait with it.
            let least = tries.iter().min_by_key(|(_, tries)| (tries.wrong, tries.last));
            let least = least.map(|(key, _)| *key);
            least.map(|key| tries.remove(&key));
        }
        let entry = tries.entry(key(name)).or_insert(Tries { wrong: 0, last: now });
        let left = Self::wait(entry.wrong).saturating_sub(now.since(entry.last));
        if !left.is_zero() {
            return Err(left);
        }
        *entry = Tries { wrong: entry.wrong.saturating_add(1), last: now };
        Ok(())
    }

    fn forget(&self, name: &str) {
        self.lock().remove(&key(name));
    }

    fn take_back(&self, name: &str) {
        if let Some(tries) = self.lock().get_mut(&key(name)) {
            tries.wrong = tries.wrong.saturating_sub(1);
        }
    }

    /// One second after the free tries, then twice as long each time.
    fn wait(wrong: u32) -> Duration {
        let Some(beyond) = wrong.checked_sub(Self::FREE) else { return Duration::ZERO };
        Duration::from_secs(1 << beyond.min(16)).min(Self::LONGEST_WAIT)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Tries>> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(name: &str) -> [u8; 32] {
    Sha256::digest(name).into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::SignInThrottle;
    use crate::clock::{Clock, UnixTime};

    /// Checklist 149: neither a flood of other names nor their number frees a name from its wait.
    #[test]
    fn made_up_names_end_nobodys_wait() {
        let (clock, time) = Clock::manual(UnixTime::from_seconds(1_800_000_000));
        let throttle = SignInThrottle::new(clock);
        for _ in 0..SignInThrottle::FREE {
            throttle.begin("owner").expect("a free try");
        }
        time.advance(Duration::from_secs(1));
        throttle.begin("owner").expect("the first wait is one second");
        time.advance(Duration::from_secs(1));
        for number in 0..2 * SignInThrottle::MAX_NAMES {
            throttle.begin(&format!("name {number}")).expect("a free try");
        }
        throttle.begin("owner").expect_err("the second wait is two seconds");
        assert!(throttle.lock().len() <= SignInThrottle::MAX_NAMES);
    }
}
