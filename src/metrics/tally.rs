//! Counters by a label.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted apart: an enum, made with `labels`.
pub trait Label: Copy + 'static {
    /// Every value, in the order of [`Self::index`].
    const ALL: &'static [Self];

    /// Where it stands in [`Self::ALL`].
    fn index(self) -> usize;

    /// How it is written.
    fn name(self) -> &'static str;
}

/// Makes an enum whose variants are counted apart, each under the name behind it.
macro_rules! labels {
    ($(#[$about:meta])* $visibility:vis enum $label:ident { $($variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $label { $($variant,)+ }

        impl $crate::metrics::Label for $label {
            const ALL: &'static [Self] = &[$(Self::$variant,)+];

            fn index(self) -> usize {
                self as usize
            }

            fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

pub(crate) use labels;

/// One counter for each value of a label.
#[derive(Debug)]
pub struct Tally<L> {
    counts: Box<[AtomicU64]>,
    label: PhantomData<fn(L)>,
}

impl<L: Label> Tally<L> {
    /// One more.
    pub fn add(&self, label: L) {
        self.counts[label.index()].fetch_add(1, Ordering::Relaxed);
    }

    /// What was counted, zeros included: a series that begins with its first event shows
    /// no increase by it.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        L::ALL.iter().map(|label| label.name()).zip(counts)
    }
}

impl<L: Label> Default for Tally<L> {
    fn default() -> Self {
        Self { counts: L::ALL.iter().map(|_| AtomicU64::new(0)).collect(), label: PhantomData }
    }
}
