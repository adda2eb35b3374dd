//! Words of a few ASCII letters that are given numbers: one look into a table for most.

use std::ops::Range;

use super::letters::{Key, Letters};

/// How many sets of four words the table has: 40,000 words, as a vault of 10,000 notes
/// has, find room in it.
const SETS: usize = 1 << 14;

/// A word that nothing joins to another.
#[derive(Clone, Copy, Debug)]
pub(in crate::search) struct PlainWord {
    /// Where it stands in its text.
    pub(super) start: usize,
    pub(super) letters: Letters,
}

impl PlainWord {
    pub(super) const fn bytes(&self) -> Range<usize> {
        self.start..self.start + self.letters.length
    }
}

/// What numbers were given to words, by those who number terms. A word that is known needs
/// no stem, nor does anybody look its term up, which waits for memory several times.
#[derive(Default)]
pub(super) struct KnownWords {
    /// Empty before the first word.
    sets: Vec<Set>,
    /// The upper half of whoever gave the numbers: all in the table have the same.
    owners: u16,
}

/// Four words, those used more often first: one line of the processor's cache.
#[derive(Clone, Default)]
#[repr(align(64))]
struct Set([Known; 4]);

/// A word in five bits a letter, and its number.
#[derive(Clone, Copy, Default)]
struct Known {
    low: u64,
    high: u16,
    /// The lower half of whoever gave the number; 0 with all others 0 is nobody.
    owner: u16,
    number: u32,
}

/// A word as the table has it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Packed {
    low: u64,
    high: u16,
}

impl KnownWords {
    /// Makes room, and forgets what might be taken for the numbers of this owner.
    pub(super) fn begin(&mut self, owner: u32) {
        let upper = upper_half(owner);
        if self.sets.is_empty() || self.owners != upper {
            self.sets.clear();
            self.sets.resize(SETS, Set::default());
            self.owners = upper;
        }
    }

    /// Has the processor fetch what is known of a word. Of many at a time: one after the
    /// other it would wait for each. What comes back means nothing.
    pub(super) fn touch(&self, word: Packed) -> u64 {
        self.sets[word.place()].0[0].low
    }

    /// The number that an owner gave to a word, if it is known.
    pub(super) fn number(&mut self, owner: u32, word: Packed) -> Option<u32> {
        let Set(set) = &mut self.sets[word.place()];
        let way = set.iter().position(|known| known.low == word.low && known.high == word.high)?;
        let known = set[way];
        if way > 0 {
            set.swap(way, way - 1);
        }
        (known.owner == lower_half(owner)).then_some(known.number)
    }

    /// Notes the number that an owner gave to a word.
    pub(super) fn note(&mut self, owner: u32, word: Packed, number: u32) {
        let Set(set) = &mut self.sets[word.place()];
        let same = set.iter().position(|known| known.low == word.low && known.high == word.high);
        let way = same.unwrap_or(set.len() - 1);
        set[..=way].rotate_right(1);
        let Packed { low, high } = word;
        set[0] = Known { low, high, owner: lower_half(owner), number };
    }
}

impl Packed {
    /// Packs the letters of a word, which are in lower case: fifteen at most, five bits
    /// each, of which none is zero.
    pub(super) const fn of([first, second]: Key) -> Self {
        let (first, second) = (five_bits_each(first), five_bits_each(second));
        Self { low: first | second << 40, high: (second >> 24) as u16 }
    }

    /// Whoever writes words that collide only makes the table useless.
    const fn place(self) -> usize {
        const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
        let hash = (self.low ^ (self.high as u64) << 48).wrapping_mul(FACTOR);
        (hash >> (u64::BITS - SETS.trailing_zeros())) as usize
    }
}

/// The lower five bits of eight bytes, side by side: pairs first, then pairs of these.
const fn five_bits_each(bytes: u64) -> u64 {
    let pairs = bytes & 0x001f_001f_001f_001f | bytes >> 3 & 0x03e0_03e0_03e0_03e0;
    let fours = pairs & 0x0000_03ff_0000_03ff | pairs >> 6 & 0x000f_fc00_000f_fc00;
    fours & 0x000f_ffff | fours >> 12 & 0xff_fff0_0000
}

#[expect(clippy::cast_possible_truncation, reason = "the half that is wanted")]
const fn lower_half(owner: u32) -> u16 {
    owner as u16
}

const fn upper_half(owner: u32) -> u16 {
    lower_half(owner >> 16)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

    use super::super::letters::key_of;
    use super::{KnownWords, Packed};

    fn packed(word: &str) -> Packed {
        Packed::of(key_of(word.as_bytes()).expect("short"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// No two words are the same to the table.
        #[test]
        fn words_are_packed_without_loss(left in "[a-z]{1,15}", right in "[a-z]{1,15}", cut in 0_usize..15) {
            prop_assert_eq!(packed(&left) == packed(&right), left == right);
            let other = format!("{}{right}", left.get(..cut).unwrap_or_default());
            let other = other.get(..15).unwrap_or(&other);
            prop_assert_eq!(packed(&left) == packed(other), left == other);
        }

        /// What the table knows is what was noted last, and never a number of another.
        #[test]
        fn a_number_is_its_owners(
            notes in proptest::collection::vec(("[ab]{1,3}", 0_u32..3, 1_u32..100), 1..60),
            owners in proptest::sample::select(vec![[1, 2, 3], [1, 0x1_0001, 0x2_0001], [0xffff, 0x1_0000, 5]]),
        ) {
            let mut known = KnownWords::default();
            let mut numbers = HashMap::new();
            for (word, owner, number) in &notes {
                let owner = owners[*owner as usize];
                known.begin(owner);
                let told = known.number(owner, packed(word));
                prop_assert!(told.is_none() || told.as_ref() == numbers.get(&(owner, word)));
                known.note(owner, packed(word), *number);
                prop_assert_eq!(known.number(owner, packed(word)), Some(*number));
                numbers.insert((owner, word), *number);
            }
        }
    }
}
