//! Finds words in texts: a leaf that knows neither pages nor permissions.
//!
//! A plain scan. Texts are compared folded: Unicode normalization form C, lower
//! case. The caller ranks what it has found by [`Relevance`], and prints the best of
//! it with [`Query::snippet`].

use std::cmp::Reverse;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

pub mod analysis;
pub mod index;
pub mod passage;
pub mod query;
pub mod ranking;
#[cfg(test)]
mod tests;

/// How long a snippet is at most, in characters, the dots at its ends not counted.
const SNIPPET_CHARACTERS: usize = 200;

/// How much of a snippet stands before the match.
const CHARACTERS_BEFORE_MATCH: usize = 60;

/// The words that somebody looks for, folded. At least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    words: Vec<String>,
}

/// How well a text answers a query. Smaller is better, so that sorting puts the
/// best first: words in the title count before occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relevance {
    title_words: Reverse<usize>,
    occurrences: Reverse<usize>,
}

/// A text in the form in which texts are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded(Box<str>);

impl Folded {
    /// Folds a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(if text.is_ascii() {
            text.to_ascii_lowercase().into()
        } else {
            composed(text).chars().flat_map(char::to_lowercase).collect()
        })
    }

    /// How much memory the text takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
}

impl Query {
    /// Splits a query at white space. Quotation marks around words are what people and
    /// agents type, not what they look for. `None` if nothing is asked.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words: Vec<String> =
            Folded::of(text).0.split_whitespace().map(without_quotes).map(str::to_owned).collect();
        words.sort_unstable();
        words.dedup();
        (!words.is_empty()).then_some(Self { words })
    }

    /// How well a text answers, or `None` if one of the words is in neither its
    /// title nor its body.
    #[must_use]
    pub fn relevance(&self, title: &Folded, body: &Folded) -> Option<Relevance> {
        let mut title_words = 0;
        let mut occurrences = 0;
        for word in &self.words {
            let in_title = title.0.matches(&**word).count();
            let in_all = in_title + body.0.matches(&**word).count();
            if in_all == 0 {
                return None;
            }
            title_words += usize::from(in_title > 0);
            occurrences += in_all;
        }
        Some(Relevance { title_words: Reverse(title_words), occurrences: Reverse(occurrences) })
    }

    /// The passage around the first word that the text holds, or its beginning, as
    /// plain text on one line.
    #[must_use]
    pub fn snippet(&self, text: &str) -> String {
        let line: Vec<char> = single_line(&composed(text));
        let start = self.first_match(&line).unwrap_or(0).saturating_sub(CHARACTERS_BEFORE_MATCH);
        let end = line.len().min(start + SNIPPET_CHARACTERS);
        let passage: String = line[start..end].iter().collect();
        let before = if start > 0 { "…" } else { "" };
        let after = if end < line.len() { "…" } else { "" };
        format!("{before}{}{after}", passage.trim())
    }

    /// Where the earliest of the words begins, counted in characters. Folding may
    /// change the length of a text ('İ' becomes two characters), so each folded byte
    /// remembers the character that it came from.
    fn first_match(&self, line: &[char]) -> Option<usize> {
        let mut folded = String::new();
        let mut origins = Vec::new();
        for (position, character) in line.iter().enumerate() {
            folded.extend(character.to_lowercase());
            origins.resize(folded.len(), position);
        }
        let earliest = self.words.iter().filter_map(|word| folded.find(&**word)).min()?;
        origins.get(earliest).copied()
    }
}

/// The word between quotation marks; a word of nothing else stays as it is.
fn without_quotes(word: &str) -> &str {
    let bare = word.trim_matches(['"', '“', '”']);
    if bare.is_empty() { word } else { bare }
}

/// The text in normalization form C. Most texts are, and are not copied.
fn composed(text: &str) -> std::borrow::Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text.into(),
        IsNormalized::No | IsNormalized::Maybe => text.nfc().collect::<String>().into(),
    }
}

/// Every run of white space as one blank, and no control characters.
fn single_line(text: &str) -> Vec<char> {
    let mut line = Vec::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|character| !character.is_control()));
    }
    line
}
