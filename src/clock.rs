//! The only place that asks what time it is.
//!
//! Time comes in as an argument everywhere else, so that a test can let a code
//! expire without waiting for it.

use std::fmt;
use std::ops::Add;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Whole seconds since the Unix epoch, as JWT's `NumericDate` counts them
/// (RFC 7519 section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixTime(u64);

impl UnixTime {
    /// The instant `seconds` after the epoch.
    #[must_use]
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds)
    }

    /// Seconds since the epoch.
    #[must_use]
    pub const fn as_seconds(self) -> u64 {
        self.0
    }

    /// How long ago `earlier` was; zero if it is not in the past.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_secs(self.0.saturating_sub(earlier.0))
    }
}

/// Saturates: a lifetime of "for ever" must not wrap around into the past.
impl Add<Duration> for UnixTime {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.as_secs()))
    }
}

impl fmt::Display for UnixTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A handle to a source of time. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// The wall clock. `exp` is judged by it, so a machine that wakes from sleep
    /// sees its tokens expired.
    #[must_use]
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands still until the returned [`ManualClock`] moves it.
    #[must_use]
    pub fn manual(start: UnixTime) -> (Self, ManualClock) {
        let seconds = Arc::new(AtomicU64::new(start.as_seconds()));
        (Self(Source::Manual(Arc::clone(&seconds))), ManualClock(seconds))
    }

    /// The present moment. A system clock before 1970 reads as the epoch.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one place that may ask")]
    pub fn now(&self) -> UnixTime {
        match &self.0 {
            Source::System => UnixTime(
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs()),
            ),
            Source::Manual(seconds) => UnixTime(seconds.load(Ordering::SeqCst)),
        }
    }
}

/// Moves the [`Clock`] that it was made with.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// Lets `span` pass.
    pub fn advance(&self, span: Duration) {
        self.0.fetch_add(span.as_secs(), Ordering::SeqCst);
    }
}
