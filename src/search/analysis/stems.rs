//! Words to index terms: folded, and reduced to stems as their language does it.

use frostem::{Algorithm, Stemmer};

use super::fold::push_folded;
use super::language::Language;
use super::script::{Script, script_of};

/// How many pairs of slots the cache has: with the words of a vault of 10,000 notes,
/// one word in thirty is not found in it.
const PAIRS: usize = 1 << 15;

/// The longest word that is kept, in bytes, and the longest terms.
const LONGEST_WORD: usize = 23;
const LONGEST_TERMS: usize = 38;

/// Makes terms of words. Most words of a text have been seen before: for those it is
/// one look into a cache of fixed size.
pub(super) struct Stems {
    language: Language,
    stemmer: Stemmer,
    english: Stemmer,
    slots: Vec<[Slot; 2]>,
    folded: String,
    terms: String,
}

/// The terms of a word.
pub(super) struct Terms<'a> {
    /// The one under which it is counted.
    pub(super) first: &'a str,
    /// Where accents change how a word is reduced: what comes of it without them, since
    /// people leave them out.
    pub(super) second: Option<&'a str>,
}

/// A word and its terms; one line of the processor's cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Slot {
    word: [u8; LONGEST_WORD],
    word_length: u8,
    terms: [u8; LONGEST_TERMS],
    first_length: u8,
    terms_length: u8,
}

impl Slot {
    const EMPTY: Self = Self {
        word: [0; LONGEST_WORD],
        word_length: 0,
        terms: [0; LONGEST_TERMS],
        first_length: 0,
        terms_length: 0,
    };

    fn holds(&self, word: &[u8]) -> bool {
        self.word[..usize::from(self.word_length)] == *word
    }
}

impl Stems {
    pub(super) fn new(language: Language) -> Self {
        Self {
            language,
            stemmer: Stemmer::new(language.algorithm()),
            english: Stemmer::new(Algorithm::English),
            slots: Vec::new(),
            folded: String::new(),
            terms: String::new(),
        }
    }

    /// The terms of a word of letters that is in lower case.
    pub(super) fn terms(&mut self, word: &str) -> Terms<'_> {
        if word.len() > LONGEST_WORD || word.is_empty() {
            let first_length = self.reduce(word);
            return split(&self.terms, first_length);
        }
        if self.slots.is_empty() {
            self.slots = vec![[Slot::EMPTY; 2]; PAIRS];
        }
        let place = hash(word.as_bytes()) & (PAIRS - 1);
        let [newer, older] = &mut self.slots[place];
        if !newer.holds(word.as_bytes()) {
            // The one that was used last stays in front.
            std::mem::swap(newer, older);
            if !newer.holds(word.as_bytes()) {
                let first_length = self.reduce(word);
                let Some(slot) = filled(word, &self.terms, first_length) else {
                    return split(&self.terms, first_length);
                };
                self.slots[place][0] = slot;
            }
        }
        let slot = &self.slots[place][0];
        let terms = &slot.terms[..usize::from(slot.terms_length)];
        split(std::str::from_utf8(terms).unwrap_or_default(), usize::from(slot.first_length))
    }

    /// Writes the terms of a word one behind the other and says where the first ends.
    fn reduce(&mut self, word: &str) -> usize {
        self.folded.clear();
        push_folded(word, &mut self.folded);
        self.terms.clear();
        let Some(script) = word.chars().next().map(script_of) else { return 0 };
        if !self.language.is_written_in(script) {
            // Russian notes have English words.
            if script == Script::Latin {
                self.reduce_english();
            } else {
                self.terms.push_str(&self.folded);
            }
            return self.terms.len();
        }
        if self.language == Language::English {
            self.reduce_english();
            return self.terms.len();
        }
        if word == self.folded {
            self.terms.push_str(&self.stemmer.stem(&self.folded));
            return self.terms.len();
        }
        push_folded(&self.stemmer.stem(word), &mut self.terms);
        let first_length = self.terms.len();
        let plain = self.stemmer.stem(&self.folded);
        if self.terms != plain {
            self.terms.push_str(&plain);
        }
        first_length
    }

    /// English words are reduced without their accents, which are ornaments there.
    fn reduce_english(&mut self) {
        if !self.folded.is_ascii() {
            self.terms.push_str(&self.folded);
            return;
        }
        let stem = self.english.stem(&self.folded);
        // The stemmer takes a word without a vowel for no word, and leaves PDFs be.
        let is_plural = stem.len() > 3
            && stem.ends_with('s')
            && !stem.ends_with("ss")
            && !stem.contains(['a', 'e', 'i', 'o', 'u', 'y']);
        self.terms.push_str(if is_plural { &stem[..stem.len() - 1] } else { &stem });
    }
}

fn split(terms: &str, first_length: usize) -> Terms<'_> {
    let (first, second) = terms.split_at(first_length);
    Terms { first, second: (!second.is_empty()).then_some(second) }
}

/// The slot of a word, if it fits into one.
fn filled(word: &str, terms: &str, first_length: usize) -> Option<Slot> {
    let mut slot = Slot::EMPTY;
    slot.word.get_mut(..word.len())?.copy_from_slice(word.as_bytes());
    slot.terms.get_mut(..terms.len())?.copy_from_slice(terms.as_bytes());
    slot.word_length = u8::try_from(word.len()).ok()?;
    slot.terms_length = u8::try_from(terms.len()).ok()?;
    slot.first_length = u8::try_from(first_length).ok()?;
    Some(slot)
}

/// Multiplies and rotates eight bytes at a time. Whoever writes words that collide
/// only makes the cache useless, not the work quadratic.
fn hash(word: &[u8]) -> usize {
    let mut state = word.len() as u64;
    let mut chunks = word.chunks_exact(8);
    for chunk in &mut chunks {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(chunk);
        state = mixed(state, u64::from_le_bytes(bytes));
    }
    let mut bytes = [0; 8];
    let rest = chunks.remainder();
    bytes[..rest.len()].copy_from_slice(rest);
    let state = mixed(state, u64::from_le_bytes(bytes));
    usize::try_from(state >> 40).unwrap_or_default()
}

fn mixed(state: u64, value: u64) -> u64 {
    (state.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95)
}
