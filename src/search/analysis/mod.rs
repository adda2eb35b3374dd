//! Texts to terms: what counts as a word, in which spellings it is found.
//!
//! A note and a query go the same way, so that whatever somebody types is found in the
//! form in which it was typed: words without regard to letter case, accents and
//! inflection, identifiers whole and in parts, and every part of a run in scripts that
//! have no blanks.

use std::ops::Range;

mod compound;
mod data_uri;
mod dense;
mod fold;
mod language;
mod letters;
mod numbering;
mod plain;
mod scan;
mod script;
mod stems;
mod stop_words;

#[cfg(test)]
mod tests;

use self::plain::KnownWords;

pub use language::{Language, Languages, UnknownLanguage};
pub use numbering::Numbering;
pub use stop_words::is_stop_word;

pub(in crate::search) use scan::{Buffers, Found, Role, scan};
pub(in crate::search) use stems::{Stems, Terms};

/// Finds the terms of texts in one language. Has buffers and caches of two megabytes
/// that are used again: keep one for each thread.
pub struct Analyzer {
    buffers: Buffers,
    stems: Stems,
    known: KnownWords,
}

/// A term where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// What the index calls it: folded, and reduced to its stem if it is a word.
    pub term: &'a str,
    /// The number of words before it. The parts of `apply_secrets` have a position
    /// each, those of `applySecrets` share one.
    pub position: u32,
    /// Where it stands in the text.
    pub bytes: Range<usize>,
    /// Whether it stands beside the term that counts at its position: an identifier as
    /// a whole beside its first part, a part in camel case beside the whole, a character
    /// beside the pair that it is in, another stem. Such terms make a text no longer.
    pub is_extra: bool,
}

impl Analyzer {
    /// An analyzer for texts in a language.
    #[must_use]
    pub fn new(language: Language) -> Self {
        Self {
            buffers: Buffers::default(),
            stems: Stems::new(language),
            known: KnownWords::default(),
        }
    }

    /// Emits the tokens of a text in reading order: positions never fall, nor do the
    /// beginnings of the byte ranges, which lie between characters. Exactly one token at
    /// each position is no extra, and comes first.
    pub fn analyze(&mut self, text: &str, emit: &mut dyn FnMut(Token<'_>)) {
        self.find(text, &|_| true, emit);
    }

    /// Numbers the terms of a text: the same terms as [`analyze`](Self::analyze) finds, in
    /// the same order. Fast, since words that the numbering has met are looked up as they
    /// are written.
    pub fn number(&mut self, text: &str, numbering: &mut impl Numbering) {
        let Self { buffers, stems, known } = self;
        numbering::number(buffers, stems, known, text, numbering);
    }

    /// Whether a word in ASCII letters begins as its term does: with the same letter, and
    /// if the term has four letters or more with the same three.
    #[must_use]
    pub fn keeps_beginnings(&self) -> bool {
        self.stems.keeps_beginnings()
    }

    /// The same, but leaves out most of the terms whose first byte is not wanted, which
    /// saves most of the work. Says how many positions the text has.
    pub fn find(
        &mut self,
        text: &str,
        is_wanted: &dyn Fn(u8) -> bool,
        emit: &mut dyn FnMut(Token<'_>),
    ) -> u32 {
        let Self { buffers, stems, .. } = self;
        let keeps_beginnings = stems.keeps_beginnings();
        scan(buffers, text, &mut |found: Found<'_>| {
            let first = found.text.as_bytes().first().copied().unwrap_or_default();
            // Folding changes what is not ASCII; some stemmers change beginnings.
            let is_final = first.is_ascii() && (keeps_beginnings || !found.has_stem);
            if is_final && !is_wanted(first) {
                return;
            }
            let (position, bytes) = (found.position, found.bytes);
            let is_extra = !matches!(found.role, Role::Main | Role::Pair);
            if !found.has_stem {
                emit(Token { term: found.text, position, bytes, is_extra });
                return;
            }
            let Terms { first, second } = stems.terms(found.text);
            emit(Token { term: first, position, bytes: bytes.clone(), is_extra });
            if let Some(term) = second {
                emit(Token { term, position, bytes, is_extra: true });
            }
        })
    }
}
