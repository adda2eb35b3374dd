//! How long things took, in few buckets.

use std::array::from_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets, in milliseconds and as Prometheus writes seconds. What
/// took longer than the last is in the one without bound.
const BOUNDS: [(u64, &str); 6] =
    [(1, "0.001"), (5, "0.005"), (25, "0.025"), (100, "0.1"), (500, "0.5"), (2_500, "2.5")];

/// Durations, counted by the bucket that they fall into.
#[derive(Debug)]
pub struct Histogram {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
}

impl Histogram {
    /// Takes one in.
    pub fn observe(&self, took: Duration) {
        let longer_than = |(bound, _): &(u64, &str)| took > Duration::from_millis(*bound);
        let bucket = BOUNDS.iter().take_while(|bound| longer_than(bound)).count();
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
    }

    /// The bounds, each with how many took no longer; all there were, last.
    pub(super) fn cumulative(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let bounds = BOUNDS.iter().map(|(_, bound)| *bound).chain(["+Inf"]);
        bounds.zip(self.buckets.iter().scan(0, |sum, bucket| {
            *sum += bucket.load(Ordering::Relaxed);
            Some(*sum)
        }))
    }

    /// How long all of them took, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "centuries are told to the second")]
    pub(super) fn sum(&self) -> f64 {
        self.microseconds.load(Ordering::Relaxed) as f64 / 1e6
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: from_fn(|_| AtomicU64::new(0)), microseconds: AtomicU64::new(0) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Histogram;

    #[test]
    fn a_duration_falls_into_the_first_bucket_that_holds_it() {
        let histogram = Histogram::default();
        for milliseconds in [0, 1, 2, 5, 99, 500, 2_501, 90_000] {
            histogram.observe(Duration::from_millis(milliseconds));
        }
        let counts: Vec<_> = histogram.cumulative().collect();
        let expected =
            [("0.001", 2), ("0.005", 4), ("0.025", 4), ("0.1", 5), ("0.5", 6), ("2.5", 6)];
        assert_eq!(counts[..6], expected);
        assert_eq!(counts[6], ("+Inf", 8));
        assert!((histogram.sum() - 93.108).abs() < 1e-9);
    }
}
