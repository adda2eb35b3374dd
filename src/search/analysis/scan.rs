//! Reads a text once from its beginning to its end and finds what counts as a word.

use std::ops::Range;

use super::compound::{Piece, is_camel_case};
use super::fold::{push_folded, push_lower};
use super::letters::{Letters, window};
use super::plain::PlainWord;
use super::script::{Class, class_of, is_plain};

/// The longest term in bytes, before it is reduced to its stem. What is longer is cut:
/// nobody types it, and keys and hashes would fill the index.
pub(super) const LONGEST_TERM: usize = 64;

/// How much of an overlong word is looked at.
const LONGEST_SOURCE: usize = 4 * LONGEST_TERM;

/// So many plain words are handed over at once: what they need lies then in the fastest
/// cache of the processor until it is used.
const PLAIN_WORDS_AT_ONCE: usize = 128;

/// The most words of one text: a book of five megabytes. What follows is not found.
const MOST_POSITIONS: u32 = 1_000_000;

/// Something that counts as a word, not yet reduced to a stem.
#[derive(Debug)]
pub(in crate::search) struct Found<'a> {
    /// In lower case. Folded as well, unless it is to be reduced to a stem.
    pub(in crate::search) text: &'a str,
    /// Whether it is to be reduced to a stem.
    pub(in crate::search) has_stem: bool,
    pub(in crate::search) role: Role,
    pub(in crate::search) position: u32,
    /// Where it stands in the text.
    pub(in crate::search) bytes: Range<usize>,
}

impl Found<'_> {
    /// Its text, folded.
    pub(in crate::search) fn folded(&self) -> String {
        let mut folded = String::new();
        push_folded(self.text, &mut folded);
        folded
    }
}

/// What something is to the words around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum Role {
    /// The word that counts at its position.
    Main,
    /// The pair of letters, or the lone letter, that counts at its position.
    Pair,
    /// Several words as one: `apply_secrets`, a Korean word over its pairs.
    Whole,
    /// A date of which the parts are in another order.
    Date,
    /// A word with the signs that belong to it: `c++`.
    Marked,
    /// A part of a word in camel case.
    Part,
    /// A Han or Hangul character by itself.
    Single,
}

/// Who takes what is found.
pub(in crate::search) trait Sink {
    /// Takes something that counts as a word.
    fn take(&mut self, found: Found<'_>);

    /// Takes words that follow one another, the first at `position`, each of the others
    /// one further. Most words come this way, for those to whom many at once are less work.
    fn take_plain(&mut self, text: &str, words: &[PlainWord], mut position: u32) {
        for word in words {
            let (has_stem, role) = (true, Role::Main);
            let bytes = word.bytes();
            let lower;
            let text = if word.letters.has_upper {
                lower = text[bytes.clone()].to_ascii_lowercase();
                &lower
            } else {
                &text[bytes.clone()]
            };
            self.take(Found { text, has_stem, role, position, bytes });
            position += 1;
        }
    }
}

impl<F: FnMut(Found<'_>)> Sink for F {
    fn take(&mut self, found: Found<'_>) {
        self(found);
    }
}

/// Memory that is used again for the next text.
#[derive(Default)]
pub(in crate::search) struct Buffers {
    plain: Vec<PlainWord>,
    pub(super) lower: String,
    pub(super) joined: String,
    pub(super) pieces: Vec<Piece>,
    folded: String,
}

/// Finds everything that counts as a word, in reading order: positions never fall,
/// nor do the beginnings of the byte ranges. Says how many positions there are.
pub(in crate::search) fn scan(buffers: &mut Buffers, text: &str, sink: &mut dyn Sink) -> u32 {
    let mut scan = Scan { text, at: 0, position: 0, buffers, sink };
    scan.run();
    scan.position
}

pub(super) struct Scan<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) position: u32,
    pub(super) buffers: &'a mut Buffers,
    sink: &'a mut dyn Sink,
}

impl Scan<'_> {
    fn run(&mut self) {
        let text = self.text.as_bytes();
        while self.position < MOST_POSITIONS && self.at < text.len() {
            let is_plain = self.plain_words();
            if !is_plain
                && self.position < MOST_POSITIONS
                && let Some(byte) = text.get(self.at)
            {
                self.step(*byte);
            }
        }
    }

    /// Goes behind what begins here with this byte.
    fn step(&mut self, byte: u8) {
        if byte.is_ascii_alphanumeric() {
            self.compound();
        } else if byte.is_ascii() {
            self.at += if is_escape(self.text.as_bytes(), self.at) { ESCAPE } else { 1 };
        } else {
            self.beyond_ascii();
        }
    }

    /// Reads words of a few ASCII letters that nothing joins to others, as most words are,
    /// as many as are handed over at once; `false` if it stops at anything else. The same
    /// as [`step`](Self::step) by step, but faster.
    fn plain_words(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut words = std::mem::take(&mut self.buffers.plain);
        words.clear();
        let room = PLAIN_WORDS_AT_ONCE.min((MOST_POSITIONS - self.position) as usize);
        while words.len() < room
            && let Some(letters) = Letters::at_start(window(bytes, self.at))
        {
            if letters.length == 0 {
                match bytes.get(self.at) {
                    Some(byte) if byte.is_ascii() && !byte.is_ascii_digit() && *byte != b'%' => {
                        self.at += 1;
                    }
                    _ => break,
                }
                continue;
            }
            let end = self.at + letters.length;
            if letters.may_be_camel_case || !ends_word(bytes, end) {
                break;
            }
            words.push(PlainWord { start: self.at, letters });
            self.at = end + usize::from(bytes.get(end) == Some(&b' '));
        }
        if !words.is_empty() {
            self.sink.take_plain(self.text, &words, self.position);
            self.position += u32::try_from(words.len()).unwrap_or(0);
        }
        let is_plain = words.len() == room;
        self.buffers.plain = words;
        is_plain
    }

    fn beyond_ascii(&mut self) {
        let Some(character) = self.character_at(self.at) else { return };
        match class_of(character) {
            Class::Letter | Class::Digit => self.compound(),
            Class::Dense(dense) => self.dense_run(dense),
            Class::Picture => {
                let bytes = self.at..self.at + character.len_utf8();
                self.at = bytes.end;
                let mut text = [0; 4];
                let text = character.encode_utf8(&mut text);
                self.emit(Found {
                    text,
                    has_stem: false,
                    role: Role::Main,
                    position: self.position,
                    bytes,
                });
                self.position += 1;
            }
            Class::Break | Class::Mark | Class::Ignored => self.at += character.len_utf8(),
        }
    }

    pub(super) fn character_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    /// Reads the letters and digits from `start` on, and adds their lower case to the
    /// buffer.
    pub(super) fn piece(&mut self, start: usize) -> Piece {
        let bytes = self.text.as_bytes();
        let mut end = start;
        let (mut has_digit, mut has_lower, mut has_later_upper) = (false, false, false);
        while let Some(byte) = bytes.get(end) {
            if byte.is_ascii_lowercase() {
                has_lower = true;
            } else if byte.is_ascii_digit() {
                has_digit = true;
            } else if byte.is_ascii_uppercase() {
                has_later_upper |= end > start;
            } else {
                break;
            }
            end += 1;
        }
        let mut may_be_camel_case = has_lower && has_later_upper;
        if bytes.get(end).is_some_and(|byte| !byte.is_ascii()) {
            while let Some(character) = self.character_at(end) {
                match class_of(character) {
                    Class::Letter => may_be_camel_case = true,
                    Class::Digit => has_digit = true,
                    Class::Mark | Class::Ignored => {}
                    Class::Break | Class::Dense(_) | Class::Picture => break,
                }
                end += character.len_utf8();
            }
        }
        let source = cut(&self.text[start..end], LONGEST_SOURCE);
        let lower_start = self.buffers.lower.len();
        push_lower(source, &mut self.buffers.lower);
        let lower = cut(&self.buffers.lower[lower_start..], LONGEST_TERM).len();
        let is_whole =
            source.len() == end - start && lower_start + lower == self.buffers.lower.len();
        self.buffers.lower.truncate(lower_start + lower);
        Piece {
            bytes: start..end,
            lower: lower_start..lower_start + lower,
            has_stem: !has_digit && is_whole,
            is_camel_case: may_be_camel_case && is_whole && is_camel_case(source),
            joiner: None,
        }
    }

    /// Hands a word over that is part of a text in lower case, and folds it if it is
    /// not going to be reduced to a stem.
    pub(super) fn emit(&mut self, found: Found<'_>) {
        let is_folded = || found.text.is_ascii() || found.text.chars().all(is_plain);
        if found.has_stem || is_folded() {
            self.sink.take(found);
            return;
        }
        self.buffers.folded.clear();
        push_folded(found.text, &mut self.buffers.folded);
        self.sink.take(Found { text: &self.buffers.folded, ..found });
    }
}

/// Whether a word of ASCII letters certainly ends at a place, with no sign that belongs
/// to it or joins it to another.
fn ends_word(text: &[u8], at: usize) -> bool {
    match text.get(at..).unwrap_or_default() {
        []
        | [0..=b' ' | b',' | b';' | b'!' | b'?' | b'"' | b'(' | b')' | b'[' | b']' | b'*', ..] => {
            true
        }
        // At the end of a sentence, or of a quotation.
        [b'.' | b':' | b'\'' | b'-', rest @ ..] => matches!(rest, [] | [0..=b' ', ..]),
        _ => false,
    }
}

/// The length of `%20` and its like.
const ESCAPE: usize = 3;

/// Whether an escaped byte of an address (RFC 3986 section 2.1) stands here: `%20` in
/// `My%20notes.md`, but not in `5 %20`. Its digits are no part of a word.
fn is_escape(text: &[u8], at: usize) -> bool {
    let is_in_address = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    matches!(text.get(at..at + ESCAPE), Some([b'%', rest @ ..]) if rest.iter().all(u8::is_ascii_hexdigit))
        && is_in_address(at.checked_sub(1).and_then(|before| text.get(before)))
        && is_in_address(text.get(at + ESCAPE))
}

/// The beginning of a text, at most so many bytes.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};

    use super::{Buffers, Scan, scan};

    /// What is found if no word is taken for a plain one.
    fn found_step_by_step(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let sink = &mut |it: super::Found<'_>| found.push(format!("{it:?}"));
        let mut scan = Scan { text, at: 0, position: 0, buffers: &mut Buffers::default(), sink };
        while let Some(byte) = text.as_bytes().get(scan.at) {
            scan.step(*byte);
        }
        found
    }

    fn found(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        scan(&mut Buffers::default(), text, &mut |it: super::Found<'_>| {
            found.push(format!("{it:?}"));
        });
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        /// Plain words are read faster, and otherwise like all others.
        #[test]
        fn plain_words_are_no_other_words(
            text in "([a-zA-Z]{1,3}|[a-zA-Z]{14,18}|data|n't|[ -~]|[ .:'+#,_-]|%20|[\\t\\n\\x00é日\u{ad}\u{301}’—0-9]){0,12}",
        ) {
            prop_assert_eq!(found(&text), found_step_by_step(&text));
        }
    }
}
