//! The wait after wrong passwords.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::limits::Asking;
use crate::clock::{Clock, UnixTime};
use crate::rates::Wait;

/// Slows down guessing, for one name at a time.
///
/// There is no lock that stays: the wait ends after at most [`Self::LONGEST_WAIT`], or
/// anybody could keep the owner out for good. Nor do strangers' tries make a browser wait
/// in which the user has signed in before.
#[derive(Clone)]
pub(super) struct SignInThrottle {
    clock: Clock,
    tries: Arc<Mutex<HashMap<Key, Tries>>>,
}

type Key = [u8; 32];

#[derive(Clone, Copy)]
struct Tries {
    wrong: u32,
    last: UnixTime,
}

/// What a try counts for, and how many wrong ones cost nothing there.
#[derive(Clone, Copy)]
struct Ladder {
    key: Key,
    free: u32,
}

impl SignInThrottle {
    /// Wrong tries that cost nothing, from one browser or address.
    const FREE: u32 = 5;
    /// The same from all strangers together. Addresses that still have free tries and those
    /// that have used them up wait for their own kind only: whoever goes on guessing from
    /// one address keeps nobody out at another.
    const FREE_FOR_STRANGERS: u32 = 20;
    const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);
    const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
    /// Keys that are remembered, so that made-up names cannot fill the memory.
    const MOST: usize = 4_000;

    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, tries: Arc::default() }
    }

    /// Counts a try before it is judged, so that many at once gain nothing.
    ///
    /// # Errors
    ///
    /// [`Wait`]; then it is not counted.
    pub(super) fn begin(&self, name: &str, asking: Asking) -> Result<(), Wait> {
        let now = self.clock.now();
        let mut tries = self.lock();
        let ladders = Ladder::of(name, asking, |address| wrong(&tries, address));
        let waits = ladders.iter().filter_map(|ladder| {
            let tries = tries.get(&ladder.key)?;
            let left = ladder.wait(tries.wrong).saturating_sub(now.since(tries.last));
            (!left.is_zero()).then_some(left)
        });
        if let Some(left) = waits.max() {
            return Err(Wait::of(left));
        }
        for ladder in ladders {
            make_room(&mut tries, now);
            let entry = tries.entry(ladder.key).or_insert(Tries { wrong: 0, last: now });
            *entry = Tries { wrong: entry.wrong.saturating_add(1), last: now };
        }
        Ok(())
    }

    /// After the right password.
    pub(super) fn forget(&self, name: &str, asking: Asking) {
        let mut tries = self.lock();
        // Its own try is counted already.
        for ladder in Ladder::of(name, asking, |address| wrong(&tries, address).saturating_sub(1)) {
            tries.remove(&ladder.key);
        }
    }

    /// After a try that was not judged.
    pub(super) fn take_back(&self, name: &str, asking: Asking) {
        let mut tries = self.lock();
        for ladder in Ladder::of(name, asking, |address| wrong(&tries, address).saturating_sub(1)) {
            if let Some(tries) = tries.get_mut(&ladder.key) {
                tries.wrong = tries.wrong.saturating_sub(1);
            }
        }
    }

    /// Forgets what is long ago.
    pub(super) fn sweep(&self) {
        sweep(&mut self.lock(), self.clock.now());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Tries>> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wrong(tries: &HashMap<Key, Tries>, key: &Key) -> u32 {
    tries.get(key).map_or(0, |tries| tries.wrong)
}

impl Ladder {
    /// What a try counts for; `wrong` says how many there were under a key before it.
    fn of(name: &str, asking: Asking, wrong: impl Fn(&Key) -> u32) -> Vec<Self> {
        let key = |whose: &str| {
            let hash = Sha256::new_with_prefix(whose).chain_update([0]);
            hash.chain_update(name).finalize().into()
        };
        let free = SignInThrottle::FREE;
        match asking {
            Asking::KnownBrowser(device) => {
                vec![Self { key: key(&format!("browser {:?}", device.as_bytes())), free }]
            }
            Asking::Stranger(peer) => {
                let address = key(&format!("address {peer:?}"));
                let kind = if wrong(&address) < free { "newcomers" } else { "strangers" };
                let free_for_all = SignInThrottle::FREE_FOR_STRANGERS;
                vec![Self { key: address, free }, Self { key: key(kind), free: free_for_all }]
            }
        }
    }

    /// One second after the free tries, then twice as long each time.
    fn wait(&self, wrong: u32) -> Duration {
        let Some(beyond) = wrong.checked_sub(self.free) else { return Duration::ZERO };
        Duration::from_secs(1 << beyond.min(16)).min(SignInThrottle::LONGEST_WAIT)
    }
}

fn make_room(tries: &mut HashMap<Key, Tries>, now: UnixTime) {
    if tries.len() < SignInThrottle::MOST {
        return;
    }
    sweep(tries, now);
    if tries.len() >= SignInThrottle::MOST {
        // Those with the fewest tries first: else a flood of made-up names would make us
        // forget the one that is being guessed, and its wait with it.
        let least = tries.iter().min_by_key(|(_, tries)| (tries.wrong, tries.last));
        let least = least.map(|(key, _)| *key);
        least.map(|key| tries.remove(&key));
    }
}

fn sweep(tries: &mut HashMap<Key, Tries>, now: UnixTime) {
    tries.retain(|_, tries| now.since(tries.last) < SignInThrottle::FORGOTTEN_AFTER);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::SignInThrottle;
    use crate::authorization_server::device::DeviceId;
    use crate::authorization_server::limits::Asking;
    use crate::clock::{Clock, ManualClock, UnixTime};
    use crate::entropy::Entropy;
    use crate::peer::Peer;

    fn throttle() -> (SignInThrottle, ManualClock) {
        let (clock, time) = Clock::manual(UnixTime::from_seconds(1_800_000_000));
        (SignInThrottle::new(clock), time)
    }

    fn at(last: u8) -> Asking {
        Asking::Stranger(Peer::at([192, 0, 2, last].into()))
    }

    /// Checklist 149: neither a flood of other names nor their number frees a name from
    /// its wait.
    #[test]
    fn made_up_names_end_nobodys_wait() {
        let (throttle, time) = throttle();
        for _ in 0..SignInThrottle::FREE {
            throttle.begin("owner", at(1)).expect("a free try");
        }
        time.advance(Duration::from_secs(1));
        throttle.begin("owner", at(1)).expect("the first wait is one second");
        time.advance(Duration::from_secs(1));
        for number in 0..2 * SignInThrottle::MOST {
            throttle.begin(&format!("name {number}"), at(2)).expect("a free try");
        }
        throttle.begin("owner", at(1)).expect_err("the second wait is two seconds");
        assert!(throttle.lock().len() <= SignInThrottle::MOST);
        time.advance(SignInThrottle::FORGOTTEN_AFTER);
        throttle.sweep();
        assert_eq!(throttle.lock().len(), 0);
    }

    /// Checklist 149: per account and per address. Who guesses from one address makes
    /// that address wait; who guesses from many makes all strangers wait, and no browser
    /// in which the user has signed in before.
    #[test]
    fn strangers_make_strangers_wait() {
        let (throttle, time) = throttle();
        for _ in 0..SignInThrottle::FREE {
            throttle.begin("owner", at(1)).expect("a free try");
        }
        throttle.begin("owner", at(1)).expect_err("it waits");
        throttle.begin("owner", at(2)).expect("another address");
        throttle.begin("other", at(1)).expect("another name");
        for number in 3..=SignInThrottle::FREE_FOR_STRANGERS - SignInThrottle::FREE + 1 {
            throttle.begin("owner", at(number.try_into().unwrap())).expect("a free try");
        }
        throttle.begin("owner", at(200)).expect_err("strangers wait");
        let known = Asking::KnownBrowser(DeviceId::new(&Entropy::seeded(1)));
        for _ in 0..SignInThrottle::FREE {
            throttle.begin("owner", known).expect("a free try");
        }
        throttle.begin("owner", known).expect_err("a browser may be stolen");
        let other = Asking::KnownBrowser(DeviceId::new(&Entropy::seeded(2)));
        throttle.begin("owner", other).expect("another browser");
        throttle.forget("owner", known);
        throttle.begin("owner", known).expect("it signed in");
        throttle.begin("owner", at(200)).expect_err("which helps no stranger");
        time.advance(SignInThrottle::LONGEST_WAIT);
        throttle.begin("owner", at(200)).expect("no lock stays");
    }

    /// Checklist 149: who goes on guessing from one address for days, as soon as a wait is
    /// over, keeps nobody out at an address from which nobody has guessed.
    #[test]
    fn who_guesses_from_one_address_keeps_no_other_out() {
        let (throttle, time) = throttle();
        let (mut guesses, mut kept_out) = (0, 0);
        for second in 0..2 * 86_400 {
            guesses += u32::from(throttle.begin("owner", at(1)).is_ok());
            if second % 3_600 == 1_800 {
                let owner = at(u8::try_from(2 + second / 3_600).expect("two days"));
                match throttle.begin("owner", owner) {
                    Ok(()) => throttle.take_back("owner", owner),
                    Err(_) => kept_out += 1,
                }
            }
            time.advance(Duration::from_secs(1));
        }
        assert_eq!(kept_out, 0);
        assert!(guesses < 2 * 300, "{guesses}");
    }
}
