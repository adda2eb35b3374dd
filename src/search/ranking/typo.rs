//! The word that was probably meant by one that nothing visible holds.

use super::wanted::documents_with;
use crate::search::index::{Part, WORDS};
use crate::search::query::TermGroup;

/// From so many letters on one letter may be wrong.
const ONE_MISTAKE: usize = 4;
/// From so many letters on two letters may be wrong.
const TWO_MISTAKES: usize = 8;

/// For so many words of a query the whole dictionary is looked through. Somebody who
/// types makes fewer mistakes; a pasted text in another language has hundreds.
const MOST_WORDS: usize = 8;

/// What was looked for instead of words that no visible document holds.
#[derive(Default)]
pub(super) struct Corrections {
    /// The terms of the words that were looked up, and the nearest term to each.
    tried: Vec<(Vec<Box<str>>, Option<String>)>,
    /// Words as typed, and the terms instead, each pair once.
    pub(super) made: Vec<(String, String)>,
}

impl Corrections {
    /// The term nearest to a word that is in no visible document, if one is near enough.
    /// `None` also if the word is there after all, outside of a title perhaps, and for
    /// words behind the first few that are not.
    pub(super) fn instead_of<P>(&mut self, parts: &[&Part<P>], word: &TermGroup) -> Option<String> {
        let known = self.tried.iter().find(|(terms, _)| *terms == word.alternatives);
        let instead = if let Some((_, instead)) = known {
            instead.clone()?
        } else {
            let is_there = |term: &str| documents_with(parts, term) > 0;
            if self.tried.len() == MOST_WORDS
                || !word.parts.is_empty()
                || word.alternatives.iter().any(|term| is_there(term))
            {
                return None;
            }
            let patterns = word.alternatives.iter().map(|term| Pattern::new(term));
            let instead = nearest(parts, patterns.collect::<Option<_>>()?);
            self.tried.push((word.alternatives.clone(), instead.clone()));
            instead?
        };
        let pair = (word.typed.clone(), instead.clone());
        if !self.made.contains(&pair) {
            self.made.push(pair);
        }
        Some(instead)
    }
}

/// The term nearest to one of these: by distance, then by the number of visible
/// documents that hold it, then by text.
fn nearest<P>(parts: &[&Part<P>], patterns: Vec<Pattern>) -> Option<String> {
    let mut best: Option<(usize, std::cmp::Reverse<u64>, &str)> = None;
    for mut pattern in patterns {
        for part in parts {
            let lists = part.segment().lists();
            for number in lists.lower_bound(WORDS, "")..lists.lower_bound(WORDS + 1, "") {
                let most = best.map_or(pattern.most, |(distance, _, _)| distance);
                if !pattern.may_be_near(lists.term(number).1, most) {
                    continue;
                }
                let text = lists.text(number);
                let Some(distance) = pattern.distance(text, most) else { continue };
                if part.documents_with(number) == 0 || best.is_some_and(|best| best.2 == text) {
                    continue;
                }
                let candidate = (distance, std::cmp::Reverse(documents_with(parts, text)), text);
                if best.is_none_or(|best| candidate < best) {
                    best = Some(candidate);
                }
            }
        }
    }
    best.map(|(_, _, text)| text.to_owned())
}

/// A word that others are compared with.
struct Pattern {
    letters: Vec<char>,
    mask: u64,
    /// How many letters may be wrong.
    most: usize,
    other: Vec<char>,
    rows: [Vec<usize>; 3],
}

impl Pattern {
    /// `None` if no letter of the word may be wrong: it is short, or no mere word. In a
    /// number each digit matters.
    fn new(word: &str) -> Option<Self> {
        let letters: Vec<char> = word.chars().collect();
        let most = match letters.len() {
            TWO_MISTAKES.. => 2,
            ONE_MISTAKE.. => 1,
            _ => return None,
        };
        let is_word = letters.iter().all(|letter| letter.is_alphabetic());
        is_word.then(|| Self {
            mask: mask_of(word.as_bytes()),
            letters,
            most,
            other: Vec::new(),
            rows: [Vec::new(), Vec::new(), Vec::new()],
        })
    }

    /// Whether at most `most` letters may be wrong, by what is seen at a glance. Most
    /// terms are not even read as text.
    fn may_be_near(&self, other: &[u8], most: usize) -> bool {
        // A letter takes at least one byte and at most four.
        if other.len() + most < self.letters.len() || other.len() > 4 * (self.letters.len() + most)
        {
            return false;
        }
        // Each mistake takes at most one letter away and brings at most one in.
        let mask = mask_of(other);
        let (gone, new) = (self.mask & !mask, mask & !self.mask);
        gone.count_ones() as usize <= most && new.count_ones() as usize <= most
    }

    /// How many letters must be put in, left out, replaced, or exchanged with their
    /// neighbour, if that is at most `most`.
    fn distance(&mut self, other: &str, most: usize) -> Option<usize> {
        self.other.clear();
        self.other.extend(other.chars());
        if self.other.len().abs_diff(self.letters.len()) > most {
            return None;
        }
        self.optimal_alignment(most)
    }

    /// The distance by the usual table, of which three rows are kept. What is more than
    /// `most` beside the diagonal is as far away, so only so much of a row is filled in,
    /// and a row with nothing nearer ends it.
    fn optimal_alignment(&mut self, most: usize) -> Option<usize> {
        let Self { letters, other, rows: [before, previous, current], .. } = self;
        let far = most + 1;
        let width = other.len() + 1;
        for row in [&mut *before, &mut *current] {
            row.clear();
            row.resize(width, far);
        }
        previous.clear();
        previous.extend((0..width).map(|column| column.min(far)));
        for (line, letter) in letters.iter().enumerate() {
            current.fill(far);
            current[0] = (line + 1).min(far);
            let mut nearest = current[0];
            for column in line.saturating_sub(most)..other.len().min(line + far) {
                let replaced = previous[column] + usize::from(*letter != other[column]);
                let mut least = replaced.min(previous[column + 1] + 1).min(current[column] + 1);
                let is_exchanged = line > 0
                    && column > 0
                    && letters[line - 1] == other[column]
                    && *letter == other[column - 1];
                if is_exchanged {
                    least = least.min(before[column - 1] + 1);
                }
                current[column + 1] = least;
                nearest = nearest.min(least);
            }
            if nearest > most {
                return None;
            }
            std::mem::swap(before, previous);
            std::mem::swap(previous, current);
        }
        Some(previous[width - 1]).filter(|distance| *distance <= most)
    }
}

/// Which letters a word has, by their last six bits.
fn mask_of(word: &[u8]) -> u64 {
    // Continuation bytes carry the letter, leading bytes the script.
    word.iter().fold(0, |mask, byte| mask | 1 << (byte & 63))
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn distance(word: &str, other: &str) -> Option<usize> {
        Pattern::new(word).and_then(|mut pattern| {
            let most = pattern.most;
            let distance = pattern.distance(other, most);
            assert!(distance.is_none() || pattern.may_be_near(other.as_bytes(), most), "{other}");
            distance
        })
    }

    #[test]
    fn one_mistake_from_four_letters_on_and_two_from_eight() {
        assert_eq!(distance("sup", "soup"), None);
        assert_eq!(distance("soop", "soup"), Some(1));
        assert_eq!(distance("garlc", "garlic"), Some(1));
        assert_eq!(distance("gralic", "garlic"), Some(1));
        assert_eq!(distance("garlick", "garlic"), Some(1));
        assert_eq!(distance("gralc", "garlic"), None);
        assert_eq!(distance("knowlegde", "knowledge"), Some(1));
        assert_eq!(distance("knolwegde", "knowledge"), Some(2));
        assert_eq!(distance("nolwegde", "knowledge"), None);
        assert_eq!(distance("ubergang", "übergang"), Some(1));
    }

    #[test]
    fn what_is_no_mere_word_has_no_mistakes() {
        assert_eq!(distance("20240", "20241"), None);
        assert_eq!(distance("v12345", "v12346"), None);
    }
}
