//! Words to index terms: folded, and reduced to stems as their language does it.

use frostem::{Algorithm, Stemmer};

use super::fold::push_folded;
use super::language::Language;
use super::letters::{Key, hash, key_of};
use super::script::{Script, script_of};

/// How many sets of two slots the cache has.
const SETS: usize = 1 << 14;

/// The longest end of a stem that differs from the word, in bytes.
const LONGEST_END: usize = 7;

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
}

/// Two words, that which was used last first.
#[derive(Clone)]
struct Set([Slot; 2]);

/// A word and its stem: so many bytes of the word, and then an end.
#[derive(Clone)]
struct Slot {
    /// Zeros stand for no word.
    word: Key,
    end: [u8; LONGEST_END],
    /// The bytes of the word that are kept, and above them the length of the end.
    lengths: u8,
}

impl Slot {
    const fn empty() -> Self {
        Self { word: [0; 2], end: [0; LONGEST_END], lengths: 0 }
    }

    /// The slot of a word, if it fits into one.
    fn of(word: &str, key: Key, stem: &str) -> Option<Self> {
        let is_same = |(left, right): &(u8, u8)| left == right;
        let mut kept = word.bytes().zip(stem.bytes()).take_while(is_same).count();
        while !word.is_char_boundary(kept) {
            kept -= 1;
        }
        let end = &stem[kept..];
        let mut slot = Self { word: key, ..Self::empty() };
        slot.end.get_mut(..end.len())?.copy_from_slice(end.as_bytes());
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
        let Some(key) = key_of(word.as_bytes()).filter(|key| *key != [0; 2]) else {
            return self.terms_once(word);
        };
        self.make_room();
        let place = place_of(key);
        let Set([newer, older]) = &mut self.sets[place];
        if newer.word != key {
            std::mem::swap(newer, older);
            if newer.word != key {
                let first_length = self.reduce(word);
                let slot = Slot::of(word, key, &self.terms);
                let Some(slot) = slot.filter(|_| first_length == self.terms.len()) else {
                    return split(&self.terms, first_length);
                };
                self.sets[place].0[0] = slot;
            }
        }
        let slot = &self.sets[place].0[0];
        let kept = &word[..usize::from(slot.lengths & 31)];
        let end = &slot.end[..usize::from(slot.lengths >> 5)];
        if end.is_empty() {
            return Terms { first: kept, second: None };
        }
        self.terms.clear();
        self.terms.push_str(kept);
        self.terms.push_str(std::str::from_utf8(end).unwrap_or_default());
        Terms { first: &self.terms, second: None }
    }

    fn make_room(&mut self) {
        if self.sets.is_empty() {
            self.sets = vec![Set([Slot::empty(), Slot::empty()]); SETS];
        }
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
    Terms { first, second: (!second.is_empty()).then_some(second) }
}

fn place_of(key: Key) -> usize {
    usize::try_from(hash(key) >> 40).unwrap_or_default() & (SETS - 1)
}
