//! Words to index terms: folded, and reduced to stems as their language does it.

use std::cell::Cell;

use frostem::{Algorithm, Stemmer};

use super::fold::push_folded;
use super::language::Language;
use super::script::{Script, script_of};

/// How many sets of two slots the cache has: with the words of a vault of 10,000 notes,
/// one word in thirty is not found in it.
const SETS: usize = 1 << 15;

/// The longest word that is kept, in bytes, and the longest end of a stem that differs
/// from the word.
const LONGEST_WORD: usize = 17;
const LONGEST_END: usize = 5;

/// Makes terms of words. Most words of a text have been seen before: for those it is
/// one look into a cache of fixed size.
pub(in crate::search) struct Stems {
    language: Language,
    stemmer: Stemmer,
    english: Stemmer,
    sets: Vec<Set>,
    folded: String,
    terms: String,
}

/// The terms of a word.
pub(in crate::search) struct Terms<'a> {
    /// The one under which it is counted.
    pub(in crate::search) first: &'a str,
    /// Where accents change how a word is reduced: what comes of it without them, since
    /// people leave them out.
    pub(in crate::search) second: Option<&'a str>,
    /// That of the first, if the word is in the cache.
    pub(in crate::search) memo: Option<&'a Memo>,
}

/// Where whoever numbers terms notes the number of one, beside the word that it comes
/// from. It saves looking the term up, which waits for memory several times.
pub type Memo = Cell<Numbered>;

/// A number, and whose it is; 0 is nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbered {
    /// Who gave the number.
    pub owner: u32,
    /// The number.
    pub number: u32,
}

/// Two words, that which was used last first: one line of the processor's cache.
#[derive(Clone)]
#[repr(align(64))]
struct Set([Slot; 2]);

/// A word and its stem: so many bytes of the word, and then an end.
#[derive(Clone)]
struct Slot {
    memo: Memo,
    word: [u8; LONGEST_WORD],
    length: u8,
    end: [u8; LONGEST_END],
    /// The bytes of the word that are kept, and above them the length of the end.
    lengths: u8,
}

impl Slot {
    const fn empty() -> Self {
        Self {
            memo: Cell::new(Numbered { owner: 0, number: 0 }),
            word: [0; LONGEST_WORD],
            length: 0,
            end: [0; LONGEST_END],
            lengths: 0,
        }
    }

    fn holds(&self, word: &[u8]) -> bool {
        self.word[..usize::from(self.length)] == *word
    }

    /// The slot of a word, if it fits into one.
    fn of(word: &str, stem: &str) -> Option<Self> {
        let is_same = |(left, right): &(u8, u8)| left == right;
        let mut kept = word.bytes().zip(stem.bytes()).take_while(is_same).count();
        while !word.is_char_boundary(kept) {
            kept -= 1;
        }
        let end = &stem[kept..];
        let mut slot = Self::empty();
        slot.word.get_mut(..word.len())?.copy_from_slice(word.as_bytes());
        slot.end.get_mut(..end.len())?.copy_from_slice(end.as_bytes());
        slot.length = u8::try_from(word.len()).ok()?;
        slot.lengths = u8::try_from(kept | end.len() << 5).ok()?;
        Some(slot)
    }
}

impl Stems {
    pub(in crate::search) fn new(language: Language) -> Self {
        Self {
            language,
            stemmer: Stemmer::new(language.algorithm()),
            english: Stemmer::new(Algorithm::English),
            sets: Vec::new(),
            folded: String::new(),
            terms: String::new(),
        }
    }

    /// Whether a word in ASCII letters and its stem begin with the same letter: so it is in
    /// English, whose stemmer only changes endings.
    pub(super) fn keeps_beginnings(&self) -> bool {
        self.language == Language::English
    }

    /// The terms of a word of letters that is in lower case.
    pub(super) fn terms<'a>(&'a mut self, word: &'a str) -> Terms<'a> {
        if word.len() > LONGEST_WORD || word.is_empty() {
            return self.terms_once(word);
        }
        if self.sets.is_empty() {
            self.sets = vec![Set([Slot::empty(), Slot::empty()]); SETS];
        }
        let place = hash(word.as_bytes()) & (SETS - 1);
        let Set([newer, older]) = &mut self.sets[place];
        if !newer.holds(word.as_bytes()) {
            std::mem::swap(newer, older);
            if !newer.holds(word.as_bytes()) {
                let first_length = self.reduce(word);
                if first_length == self.terms.len()
                    && let Some(slot) = Slot::of(word, &self.terms)
                {
                    self.sets[place].0[0] = slot;
                }
                return split(&self.terms, first_length);
            }
        }
        let slot = &self.sets[place].0[0];
        let kept = &word[..usize::from(slot.lengths & 31)];
        let end = &slot.end[..usize::from(slot.lengths >> 5)];
        if end.is_empty() {
            return Terms { first: kept, second: None, memo: Some(&slot.memo) };
        }
        self.terms.clear();
        self.terms.push_str(kept);
        self.terms.push_str(std::str::from_utf8(end).unwrap_or_default());
        Terms { first: &self.terms, second: None, memo: Some(&slot.memo) }
    }

    /// The same without the cache, for a few words.
    pub(in crate::search) fn terms_once(&mut self, word: &str) -> Terms<'_> {
        let first_length = self.reduce(word);
        split(&self.terms, first_length)
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
    Terms { first, second: (!second.is_empty()).then_some(second), memo: None }
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
