//! Texts to numbers of terms, for whoever keeps a dictionary.

use super::letters::{Letters, window};
use super::plain::{KnownWords, Packed, PlainWord};
use super::scan::{Buffers, Found, Role, Sink, scan};
use super::stems::{Stems, Terms};

/// A dictionary that gives each term a number, and takes the terms of a text.
pub trait Numbering {
    /// Tells this dictionary from all others of the process; never 0.
    fn owner(&self) -> u32;

    /// The number of a term: always the same for the same term.
    fn number(&mut self, term: &str) -> u32;

    /// Takes a term by its number; position and `is_extra` as in
    /// [`Token`](super::Token).
    fn take(&mut self, number: u32, position: u32, is_extra: bool);
}

/// Numbers the terms of a text.
pub(super) fn number(
    buffers: &mut Buffers,
    stems: &mut Stems,
    known: &mut KnownWords,
    text: &str,
    numbering: &mut impl Numbering,
) {
    known.begin(numbering.owner());
    scan(buffers, text, &mut Numberer { stems, known, numbering });
}

struct Numberer<'a, N> {
    stems: &'a mut Stems,
    known: &'a mut KnownWords,
    numbering: &'a mut N,
}

impl<N: Numbering> Numberer<'_, N> {
    /// The number of a word in ASCII letters, which has one term in any language.
    fn number_of(&mut self, letters: &Letters) -> u32 {
        let owner = self.numbering.owner();
        let word = Packed::of(letters.key);
        if let Some(number) = self.known.number(owner, word) {
            return number;
        }
        let bytes = letters.lower();
        let lower = std::str::from_utf8(&bytes[..letters.length]).unwrap_or_default();
        let number = self.numbering.number(self.stems.terms(lower).first);
        self.known.note(owner, word, number);
        number
    }
}

impl<N: Numbering> Sink for Numberer<'_, N> {
    fn take(&mut self, found: Found<'_>) {
        let is_extra = !matches!(found.role, Role::Main | Role::Pair);
        if !found.has_stem {
            let number = self.numbering.number(found.text);
            self.numbering.take(number, found.position, is_extra);
            return;
        }
        let letters = Letters::at_start(window(found.text.as_bytes(), 0));
        if let Some(letters) = letters.filter(|letters| letters.length == found.text.len()) {
            let number = self.number_of(&letters);
            self.numbering.take(number, found.position, is_extra);
            return;
        }
        let Terms { first, second } = self.stems.terms(found.text);
        let number = self.numbering.number(first);
        self.numbering.take(number, found.position, is_extra);
        if let Some(second) = second {
            let number = self.numbering.number(second);
            self.numbering.take(number, found.position, true);
        }
    }

    fn take_plain(&mut self, _text: &str, words: &[PlainWord], mut position: u32) {
        let touched = words.iter().map(|word| self.known.touch(Packed::of(word.letters.key)));
        std::hint::black_box(touched.fold(0, |all, one| all | one));
        for PlainWord { letters, .. } in words {
            let number = self.number_of(letters);
            self.numbering.take(number, position, false);
            position += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};

    use super::Numbering;
    use crate::search::analysis::{Analyzer, Language};

    /// Keeps what it takes.
    #[derive(Default)]
    struct Dictionary {
        owner: u32,
        numbers: HashMap<String, u32>,
        taken: Vec<(u32, u32, bool)>,
    }

    impl Numbering for Dictionary {
        fn owner(&self) -> u32 {
            self.owner
        }

        fn number(&mut self, term: &str) -> u32 {
            let next = u32::try_from(self.numbers.len()).expect("few");
            *self.numbers.entry(term.to_owned()).or_insert(next)
        }

        fn take(&mut self, number: u32, position: u32, is_extra: bool) {
            self.taken.push((number, position, is_extra));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// The numbers are those of the terms that are found otherwise, whatever dictionaries
        /// share the analyzer.
        #[test]
        fn numbers_are_those_of_the_terms(
            texts in proptest::collection::vec(
                r"([a-zA-Z]{1,3}|[a-z]{11,17}|running|Runs|[ .,]{1,2}|[éÉäßЖ]|\d|[-_./@' ]|猫花|한글|C\+\+){0,30}",
                1..8,
            ),
            language in 0..Language::ALL.len(),
        ) {
            let language = Language::ALL[language];
            let mut analyzer = Analyzer::new(language);
            let mut both = [1, 2].map(|owner| Dictionary { owner, ..Dictionary::default() });
            for (text, which) in texts.iter().zip([0, 1, 1, 0].into_iter().cycle()) {
                let dictionary = &mut both[which];
                dictionary.taken.clear();
                analyzer.number(text, dictionary);
                let taken = std::mem::take(&mut dictionary.taken);
                let mut expected = Vec::new();
                Analyzer::new(language).analyze(text, &mut |token| {
                    expected.push((dictionary.number(token.term), token.position, token.is_extra));
                });
                prop_assert_eq!(taken, expected);
            }
        }
    }
}
