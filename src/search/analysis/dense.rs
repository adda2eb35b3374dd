//! Scripts without blanks between words: every pair of letters counts as a word, so
//! that whatever part of a run is asked for is found.

use std::ops::Range;

use super::fold::push_lower;
use super::scan::{Found, LONGEST_TERM, Role, Scan, cut};
use super::script::{Class, Dense, class_of, is_jamo_tail, is_plain};

/// How much is looked at of a letter with its marks.
const LONGEST_LETTER: usize = 32;

/// A letter with its marks.
struct Letter {
    bytes: Range<usize>,
    dense: Dense,
}

impl Scan<'_> {
    /// Reads a run that begins here. Its pairs have a position each; the whole of a
    /// Korean word shares that of the first, single characters that of their pair.
    pub(super) fn dense_run(&mut self, dense: Dense) {
        let Some(mut letter) = self.letter(self.at, dense) else { return };
        let start = self.at;
        let mut length = 1;
        while let Some(next) = self.next_letter(&letter) {
            self.emit_letters(letter.bytes.start..next.bytes.end, Role::Pair);
            if length == 1 && letter.dense == Dense::Hangul {
                self.emit_korean_word(start, &next);
            }
            self.emit_single(&letter);
            self.position += 1;
            length += 1;
            letter = next;
        }
        self.at = letter.bytes.end;
        if length == 1 {
            self.emit_letters(letter.bytes, Role::Pair);
            self.position += 1;
        } else {
            // It shares the position of the pair that it ends.
            self.position -= 1;
            self.emit_single(&letter);
            self.position += 1;
        }
    }

    /// The whole of a word of three syllables or more, `second` being its second.
    fn emit_korean_word(&mut self, start: usize, second: &Letter) {
        let Some(mut last) = self.next_letter(second) else { return };
        while last.bytes.end - start <= LONGEST_TERM {
            let Some(next) = self.next_letter(&last) else {
                self.emit_letters(start..last.bytes.end, Role::Whole);
                return;
            };
            last = next;
        }
    }

    fn emit_single(&mut self, letter: &Letter) {
        if letter.dense.has_words_of_one_letter() {
            self.emit_letters(letter.bytes.clone(), Role::Single);
        }
    }

    fn emit_letters(&mut self, bytes: Range<usize>, role: Role) {
        let text = self.text;
        let source = cut(&text[bytes.clone()], 4 * LONGEST_LETTER);
        let position = self.position;
        if source.chars().all(is_plain) {
            self.emit(Found { text: source, has_stem: false, role, position, bytes });
            return;
        }
        let mut lower = std::mem::take(&mut self.buffers.joined);
        lower.clear();
        push_lower(source, &mut lower);
        self.emit(Found { text: &lower, has_stem: false, role, position, bytes });
        self.buffers.joined = lower;
    }

    fn next_letter(&self, letter: &Letter) -> Option<Letter> {
        let Class::Dense(dense) = class_of(self.character_at(letter.bytes.end)?) else {
            return None;
        };
        letter.dense.runs_into(dense).then(|| self.letter(letter.bytes.end, dense))?
    }

    /// The letter at `start`, with what belongs to it.
    fn letter(&self, start: usize, dense: Dense) -> Option<Letter> {
        let mut characters = self.text.get(start..)?.chars();
        let mut end = start + characters.next()?.len_utf8();
        for character in characters {
            let belongs = matches!(class_of(character), Class::Mark | Class::Ignored)
                || dense == Dense::Hangul && is_jamo_tail(character);
            if !belongs {
                break;
            }
            end += character.len_utf8();
        }
        Some(Letter { bytes: start..end, dense })
    }
}
