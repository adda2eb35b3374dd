//! Words of a few ASCII letters, as most words are: found and put into lower case eight
//! bytes at a time.

/// So many bytes are looked at together.
pub(super) const WINDOW: usize = 16;

/// A word of at most [`WINDOW`] bytes as two numbers, with zeros behind it. Words have no
/// NUL, so each has a key of its own.
pub(super) type Key = [u64; 2];

/// The letters at the beginning of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letters {
    /// In lower case.
    pub(super) key: Key,
    /// Less than [`WINDOW`]: what is longer may go on behind it.
    pub(super) length: usize,
    pub(super) has_upper: bool,
    /// Whether there are small letters and, behind the first letter, capitals.
    pub(super) may_be_camel_case: bool,
}

impl Letters {
    /// The letters that a window begins with, unless it has nothing else.
    #[inline]
    pub(super) fn at_start(window: [u8; WINDOW]) -> Option<Self> {
        let [low, high] = halves(window);
        let (others, more) = (!letters(low) & HIGH_BITS, !letters(high) & HIGH_BITS);
        let length = match (others, more) {
            (0, 0) => return None,
            (0, more) => 8 + more.trailing_zeros() / 8,
            (others, _) => others.trailing_zeros() / 8,
        };
        let key = first(length, [low | LOWER, high | LOWER]);
        // The bit that makes a letter small.
        let capitals = first(length, [!low & LOWER, !high & LOWER]);
        let later = [capitals[0] & !0xff, capitals[1]];
        let small = first(length, [low & LOWER, high & LOWER]);
        Some(Self {
            key,
            length: length as usize,
            has_upper: capitals != [0; 2],
            may_be_camel_case: later != [0; 2] && small != [0; 2],
        })
    }

    /// The letters in lower case, with zeros behind them.
    pub(super) fn lower(&self) -> [u8; WINDOW] {
        let [low, high] = self.key.map(u128::from);
        (low | high << u64::BITS).to_le_bytes()
    }
}

/// The bytes from a place on, with zeros behind the end.
#[inline]
pub(super) fn window(bytes: &[u8], at: usize) -> [u8; WINDOW] {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.first_chunk().copied().unwrap_or_else(|| {
        let mut window = [0; WINDOW];
        window[..rest.len()].copy_from_slice(rest);
        window
    })
}

/// The key of a word that is in lower case; `None` if it is too long for one.
#[inline]
pub(super) fn key_of(word: &[u8]) -> Option<Key> {
    let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    match (word.first_chunk::<8>(), word.last_chunk::<8>()) {
        (Some(start), Some(end)) if word.len() <= WINDOW => {
            // Both overlap, as the word has less than sixteen bytes.
            let high = number(end).checked_shr(bits(WINDOW - word.len())).unwrap_or(0);
            Some([number(start), high])
        }
        (None, _) => Some([word.iter().rev().fold(0, |key, byte| key << 8 | u64::from(*byte)), 0]),
        _ => None,
    }
}

/// Multiplies and rotates. Whoever writes words that collide only makes a cache useless,
/// not the work quadratic.
#[inline]
pub(super) fn hash(key: Key) -> u64 {
    const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
    let state = key[0].wrapping_mul(FACTOR).rotate_left(25);
    (state ^ key[1]).wrapping_mul(FACTOR)
}

const HIGH_BITS: u64 = repeated(0x80);
/// In ASCII this bit tells a small letter from a capital.
const LOWER: u64 = repeated(0x20);

const fn repeated(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

fn halves(window: [u8; WINDOW]) -> Key {
    let number = u128::from_le_bytes(window);
    [low_64(number), low_64(number >> 64)]
}

/// The upper bit of each byte that is an ASCII letter.
fn letters(bytes: u64) -> u64 {
    let lower = (bytes | LOWER) & !HIGH_BITS;
    let from_a = lower + repeated(0x80 - b'a');
    let behind_z = lower + repeated(0x7f - b'z');
    from_a & !behind_z & !bytes & HIGH_BITS
}

/// The first bytes of both halves, the others zero.
fn first(bytes: u32, [low, high]: Key) -> Key {
    let ones = |count: u32| 1_u64.checked_shl(count * 8).map_or(u64::MAX, |bit| bit - 1);
    [low & ones(bytes), high & ones(bytes.saturating_sub(8))]
}

fn bits(bytes: usize) -> u32 {
    u32::try_from(bytes * 8).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_possible_truncation, reason = "the half that is wanted")]
const fn low_64(value: u128) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};

    use super::{Letters, WINDOW, key_of, window};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// What is found at once is what is found letter by letter.
        #[test]
        fn letters_are_those_at_the_start(text in "[a-cA-Cy-zY-Z@`\\[{é 0]{0,20}", at in 0_usize..4) {
            let rest = text.as_bytes().get(at..).unwrap_or_default();
            let length = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let word = &rest[..length];
            let found = Letters::at_start(window(text.as_bytes(), at));
            let expected = (length < WINDOW).then(|| Letters {
                key: key_of(&word.to_ascii_lowercase()).expect("short"),
                length,
                has_upper: word.iter().any(u8::is_ascii_uppercase),
                may_be_camel_case: word.iter().any(u8::is_ascii_lowercase)
                    && word.iter().skip(1).any(u8::is_ascii_uppercase),
            });
            prop_assert_eq!(found, expected);
        }

        /// A key has the bytes of its word in their order.
        #[test]
        fn keys_are_bytes(word in "[a-zé]{0,18}") {
            let bytes = window(word.as_bytes(), 0);
            let (low, high) = bytes.split_at(8);
            let key = [low, high].map(|half| u64::from_le_bytes(half.try_into().expect("eight")));
            let expected = (word.len() <= WINDOW).then_some(key);
            prop_assert_eq!(key_of(word.as_bytes()), expected);
        }
    }
}
