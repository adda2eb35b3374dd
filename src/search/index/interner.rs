//! Gives the terms of a segment in the making numbers, in the order of appearance.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};

/// Interners sign their numbers. So many are not made by any program that runs for years.
static NEXT_OWNER: AtomicU32 = AtomicU32::new(1);

/// Terms by number and numbers by term. A term is a namespace byte and a text.
pub(super) struct Interner {
    /// All terms, one behind the other.
    text: Vec<u8>,
    /// Where each ends in `text`.
    ends: Vec<u32>,
    /// Open addressing: the upper half of the hash above the number plus one; 0 is
    /// free. At most half of the slots are taken.
    slots: Vec<u64>,
    /// Unlike in each process, so that nobody can write notes whose words collide.
    seed: u64,
    owner: u32,
}

/// No smaller table is worth its growing.
const FEWEST_SLOTS: usize = 256;

impl Interner {
    pub(super) fn new() -> Self {
        let seed = RandomState::new().hash_one(0_u8);
        let owner = NEXT_OWNER.fetch_add(1, Ordering::Relaxed);
        Self { text: Vec::new(), ends: Vec::new(), slots: vec![0; FEWEST_SLOTS], seed, owner }
    }

    /// Tells its numbers from those of all others.
    pub(super) const fn owner(&self) -> u32 {
        self.owner
    }

    /// The number of a term, which is new if it was not there.
    pub(super) fn intern(&mut self, namespace: u8, term: &[u8]) -> u32 {
        let hash = self.hash(namespace, term);
        let mask = self.slots.len() - 1;
        let mut slot = index_of(hash) & mask;
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                break;
            }
            if entry >> 32 == hash >> 32 {
                let number = low_half(entry) - 1;
                if let [first, rest @ ..] = self.term(number)
                    && *first == namespace
                    && rest == term
                {
                    return number;
                }
            }
            slot = (slot + 1) & mask;
        }
        self.add(namespace, term, hash, slot)
    }

    fn add(&mut self, namespace: u8, term: &[u8], hash: u64, slot: usize) -> u32 {
        let number = low_half(self.ends.len() as u64);
        self.text.push(namespace);
        self.text.extend_from_slice(term);
        self.ends.push(low_half(self.text.len() as u64));
        self.slots[slot] = (hash >> 32 << 32) | (u64::from(number) + 1);
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    /// The number of terms.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A term: its namespace byte, then its text.
    pub(super) fn term(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[number] as usize]
    }

    /// About how much memory the terms take.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<u32>() + self.slots.len() * size_of::<u64>()
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0; self.slots.len() * 2];
        for number in 0..low_half(self.ends.len() as u64) {
            let hash = match self.term(number) {
                [namespace, term @ ..] => self.hash(*namespace, term),
                [] => continue,
            };
            let mut slot = index_of(hash) & mask;
            while slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = (hash >> 32 << 32) | (u64::from(number) + 1);
        }
        self.slots = slots;
    }

    /// Multiplies eight bytes at a time and folds the product, as wyhash does.
    fn hash(&self, namespace: u8, term: &[u8]) -> u64 {
        let mut hash = self.seed ^ u64::from(namespace);
        let (words, rest) = term.as_chunks::<8>();
        for word in words {
            hash = folded(hash ^ u64::from_le_bytes(*word));
        }
        let last = rest.iter().fold(rest.len() as u64, |last, byte| last << 8 | u64::from(*byte));
        folded(folded(hash ^ last))
    }
}

fn folded(value: u64) -> u64 {
    let product = u128::from(value) * 0x9e37_79b9_7f4a_7c15;
    low_64(product) ^ low_64(product >> 64)
}

#[expect(clippy::cast_possible_truncation, reason = "the half that is wanted")]
const fn low_64(value: u128) -> u64 {
    value as u64
}

/// Segments are closed long before one of their numbers needs more than 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "the half that is wanted")]
const fn low_half(value: u64) -> u32 {
    value as u32
}

#[expect(clippy::cast_possible_truncation, reason = "a hash; any of its bits do")]
const fn index_of(hash: u64) -> usize {
    hash as usize
}

#[cfg(test)]
mod tests {
    use super::Interner;

    #[test]
    fn terms_keep_their_numbers_while_the_table_grows() {
        let mut interner = Interner::new();
        let words: Vec<String> = (0..5_000).map(|number| format!("word{number}")).collect();
        for round in 0..2 {
            for (number, word) in words.iter().enumerate() {
                let given = interner.intern(7, word.as_bytes());
                assert_eq!(given as usize, number, "{round}");
            }
        }
        assert_eq!(interner.len(), 5_000);
        assert_eq!(interner.term(4_999), b"\x07word4999");
    }

    #[test]
    fn the_same_text_in_two_namespaces_is_two_terms() {
        let mut interner = Interner::new();
        assert_ne!(interner.intern(1, b"soup"), interner.intern(2, b"soup"));
        assert_ne!(interner.intern(1, b""), interner.intern(1, b"\0"));
    }
}
