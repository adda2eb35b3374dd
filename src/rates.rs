//! How often somebody may ask: one allowance a key, in bounded memory.
//!
//! `governor` was looked at first. Its keyed stores hold every key that was ever seen
//! until somebody sweeps all of them, and then drop only those that are at rest, so
//! whoever comes from many addresses at once decides how much memory they take.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Clock;

/// How many times a minute something may be done. That many may come at once, and
/// then one whenever the minute's share of one is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerMinute(u32);

impl PerMinute {
    /// As often as one likes.
    pub const UNLIMITED: Self = Self(0);
    /// The most that can be asked for; beyond it there is [`Self::UNLIMITED`].
    pub const MOST: u32 = 60_000;

    /// So many times. Zero is [`Self::UNLIMITED`], and more than [`Self::MOST`] is that.
    #[must_use]
    pub const fn new(times: u32) -> Self {
        Self(if times > Self::MOST { Self::MOST } else { times })
    }

    /// So many times; zero if there is no limit.
    #[must_use]
    pub const fn times(self) -> u32 {
        self.0
    }

    /// The limit for so many who cannot be told apart.
    #[must_use]
    pub const fn shared_by(self, many: u32) -> Self {
        Self::new(self.0.saturating_mul(many))
    }
}

/// Not now: the next one is let through after this many seconds, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("asked too often; the next is answered in {0} s")]
pub struct Wait(u64);

impl Wait {
    /// The seconds, for `Retry-After` (RFC 9110 section 10.2.3).
    #[must_use]
    pub const fn seconds(self) -> u64 {
        self.0
    }

    /// A wait of this length, rounded up.
    #[must_use]
    pub fn of(span: Duration) -> Self {
        Self(span.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX).max(1))
    }
}

/// Allowances by key.
#[derive(Debug)]
pub struct Limiter<K> {
    clock: Clock,
    rate: PerMinute,
    allowances: Mutex<Allowances<K>>,
}

/// For each key the moment, in microseconds, at which its allowance is whole again.
///
/// What was looked at lately is in `young`. When that is full it becomes `old`, and what
/// was old is forgotten, which gives its keys a whole allowance. Whoever has so many
/// addresses to make us forget has as many allowances anyway.
#[derive(Debug)]
struct Allowances<K> {
    young: HashMap<K, u64>,
    old: HashMap<K, u64>,
}

const MINUTE: u64 = 60_000_000;

impl<K: Eq + Hash + Clone> Limiter<K> {
    /// Keys in each of the two halves.
    const MOST_KEYS: usize = 8_192;

    /// Lets each key pass so often.
    #[must_use]
    pub fn new(rate: PerMinute, clock: Clock) -> Self {
        let allowances = Allowances { young: HashMap::new(), old: HashMap::new() };
        Self { clock, rate, allowances: Mutex::new(allowances) }
    }

    /// Takes one from the allowance of a key.
    ///
    /// # Errors
    ///
    /// [`Wait`] if there is none left. Trying again earlier costs nothing.
    pub fn take(&self, key: &K) -> Result<(), Wait> {
        self.take_shared(key, 1)
    }

    /// The same for a key that stands for many who cannot be told apart.
    ///
    /// # Errors
    ///
    /// [`Wait`]
    pub fn take_shared(&self, key: &K, many: u32) -> Result<(), Wait> {
        let times = u64::from(self.rate.shared_by(many).times());
        if times == 0 {
            return Ok(());
        }
        let now = self.clock.now().as_seconds().saturating_mul(1_000_000);
        let mut allowances = self.lock();
        // A clock that was set back must not make anybody wait for longer than a minute.
        let whole_at = allowances.of(key).unwrap_or(now).clamp(now, now + MINUTE);
        let after = whole_at + MINUTE / times;
        let verdict = match after.checked_sub(now + MINUTE) {
            None | Some(0) => Ok(after),
            Some(early) => Err(Wait::of(Duration::from_micros(early))),
        };
        allowances.keep(key, verdict.unwrap_or(whole_at), Self::MOST_KEYS);
        verdict.map(|_| ())
    }

    /// Gives one back that need not have been taken.
    pub fn give_back(&self, key: &K, many: u32) {
        let share = MINUTE.checked_div(u64::from(self.rate.shared_by(many).times()));
        let mut allowances = self.lock();
        if let (Some(share), Some(whole_at)) = (share, allowances.of(key)) {
            allowances.keep(key, whole_at.saturating_sub(share), Self::MOST_KEYS);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Allowances<K>> {
        self.allowances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Clone> Allowances<K> {
    fn of(&self, key: &K) -> Option<u64> {
        self.young.get(key).or_else(|| self.old.get(key)).copied()
    }

    fn keep(&mut self, key: &K, whole_at: u64, most: usize) {
        if let Some(kept) = self.young.get_mut(key) {
            *kept = whole_at;
            return;
        }
        if self.young.len() >= most {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key.clone(), whole_at);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Limiter, PerMinute, Wait};
    use crate::clock::{Clock, ManualClock, UnixTime};

    fn limiter(times: u32) -> (Limiter<u32>, ManualClock) {
        let (clock, hand) = Clock::manual(UnixTime::from_seconds(1_800_000_000));
        (Limiter::new(PerMinute::new(times), clock), hand)
    }

    fn passed(limiter: &Limiter<u32>, tries: u32) -> usize {
        (0..tries).filter(|_| limiter.take(&1).is_ok()).count()
    }

    /// Design section 9: so many at once, then one each time that its share is over.
    #[test]
    fn a_minutes_worth_comes_at_once_and_then_evenly() {
        for times in [1, 7, 10, 60, 600, PerMinute::MOST] {
            let (limiter, hand) = limiter(times);
            assert_eq!(passed(&limiter, times + 50), times as usize);
            hand.advance(Duration::from_secs(30));
            assert_eq!(passed(&limiter, times + 50), times as usize / 2, "{times}");
            hand.advance(Duration::from_secs(600));
            assert_eq!(passed(&limiter, times + 50), times as usize, "no more is saved up");
        }
    }

    /// The wait that is named is the one that is needed.
    #[test]
    fn who_waits_as_long_as_was_said_passes() {
        let (limiter, hand) = limiter(7);
        passed(&limiter, 7);
        let Err(wait) = limiter.take(&1) else { panic!("there was nothing left") };
        assert_eq!(wait.seconds(), 9, "a seventh of a minute, rounded up");
        assert!(limiter.take(&2).is_ok(), "another key");
        hand.advance(Duration::from_secs(wait.seconds() - 1));
        assert_eq!(limiter.take(&1).unwrap_err(), Wait(1));
        hand.advance(Duration::from_secs(1));
        assert!(limiter.take(&1).is_ok());
    }

    #[test]
    fn zero_is_no_limit() {
        assert_eq!(passed(&limiter(0).0, 100_000), 100_000);
    }

    /// Design section 9: the memory has a bound, whoever comes, and a flood of others
    /// does not end the wait of who keeps trying.
    #[test]
    fn a_flood_of_keys_takes_no_more_memory() {
        let (limiter, _hand) = limiter(1);
        limiter.take(&0).expect("the first");
        for key in 1..100_000 {
            limiter.take(&key).expect("the first of this key");
            if key % 1_000 == 0 {
                limiter.take(&0).expect_err("it was never forgotten");
            }
        }
        let allowances = limiter.lock();
        let kept = allowances.young.len() + allowances.old.len();
        assert!(kept <= 2 * Limiter::<u32>::MOST_KEYS, "{kept}");
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let (early, _) = Clock::manual(UnixTime::from_seconds(1_000));
        let limiter = Limiter::<u32>::new(PerMinute::new(2), early);
        limiter.lock().keep(&1, u64::MAX, 10);
        assert!(limiter.take(&1).unwrap_err().seconds() <= 60);
    }
}
