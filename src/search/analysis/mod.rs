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
mod scan;
mod script;
mod stems;
mod stop_words;

#[cfg(test)]
mod tests;

pub use language::{Language, Languages, UnknownLanguage};
pub use stop_words::is_stop_word;

pub(in crate::search) use scan::{Buffers, Found, Role, scan};
pub(in crate::search) use stems::Stems;

/// Finds the terms of texts in one language. Has buffers and a cache of four megabytes
/// that are used again: keep one for each thread.
pub struct Analyzer {
    buffers: Buffers,
    stems: Stems,
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
        Self { buffers: Buffers::default(), stems: Stems::new(language) }
    }

    /// Emits the tokens of a text in reading order: positions never fall, nor do the
    /// beginnings of the byte ranges, which lie between characters. Exactly one token at
    /// each position is no extra, and comes first.
    pub fn analyze(&mut self, text: &str, emit: &mut dyn FnMut(Token<'_>)) {
        let Self { buffers, stems } = self;
        scan(buffers, text, &mut |found| {
            let (position, bytes) = (found.position, found.bytes);
            let is_extra = !matches!(found.role, Role::Main | Role::Pair);
            if !found.has_stem {
                emit(Token { term: found.text, position, bytes, is_extra });
                return;
            }
            let terms = stems.terms(found.text);
            emit(Token { term: terms.first, position, bytes: bytes.clone(), is_extra });
            if let Some(term) = terms.second {
                emit(Token { term, position, bytes, is_extra: true });
            }
        });
    }
}
