//! What the operator can count of a vault. It is about all pages, whatever their class, and
//! goes to the operator alone.

use jiff::Timestamp;

use crate::access::class::PageClass;
use crate::search::index::PartitionSet;
use crate::vault::Vault;

/// What a vault consists of, and how its index keeps up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// Pages by class: ordinary, confidential, people, secret.
    pub pages: [u64; 4],
    /// Pages that are not in the index although they could be.
    pub skipped: u64,
    /// Bytes that the index takes.
    pub index_bytes: u64,
    /// When a change was taken into the index last, and how many milliseconds after it
    /// had been made, if that is known.
    pub last_change: Option<(Timestamp, Option<u64>)>,
    /// How often the pages could not be judged: git failed, or the folder was not there.
    pub failures: u64,
    /// Vaults that cannot answer at the moment.
    pub unavailable: u64,
}

impl Figures {
    /// The classes, in the order of [`Self::pages`].
    pub const CLASSES: [PageClass; 4] =
        [PageClass::Ordinary, PageClass::Confidential, PageClass::People, PageClass::Secret];

    /// Those of two vaults together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            pages: std::array::from_fn(|class| self.pages[class] + other.pages[class]),
            skipped: self.skipped + other.skipped,
            index_bytes: self.index_bytes + other.index_bytes,
            last_change: self.last_change.max(other.last_change),
            failures: self.failures + other.failures,
            unavailable: self.unavailable + other.unavailable,
        }
    }
}

impl Vault {
    /// The figures as they are known, without looking at the disk.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let (failures, is_unavailable) = self.0.keeper.failures();
        let mut figures =
            Figures { failures, unavailable: u64::from(is_unavailable), ..Figures::default() };
        if let Some(snapshot) = self.0.keeper.current() {
            let hidden = snapshot.private_dot_files.iter().map(|_| PageClass::Secret);
            for class in snapshot.pages.values().map(|page| page.class).chain(hidden) {
                let known = Figures::CLASSES.iter().zip(&mut figures.pages);
                known.filter(|(other, _)| **other == class).for_each(|(_, count)| *count += 1);
            }
        }
        if let Some(shelf) = self.0.catalog.current() {
            figures.skipped = shelf.skipped().count() as u64;
            figures.index_bytes = shelf.index().bytes() as u64;
            let last = shelf.last_change(PartitionSet::ALL);
            figures.last_change = last.map(|last| (last.at, last.lag_milliseconds));
        }
        figures
    }
}
