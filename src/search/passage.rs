//! The part of a text that answers a query best.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::analysis::{Analyzer, Token};
use super::query::{Clause, Query};

#[cfg(test)]
mod tests;

/// The most matches that are compared: those of a note beyond them are more of the same.
const MOST_MATCHES: usize = 10_000;

/// With more words than this, one or the other is everywhere.
const MOST_BEGINNINGS: usize = 24;

/// What share of the room that is left stands before the matches: one in so many.
const SHARE_BEFORE: usize = 3;

/// A part of a text, with what matches in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where it stands in the text, between characters.
    pub bytes: Range<usize>,
    /// What matches, as ranges of the same text, in order, none touching another.
    pub matches: Vec<Range<usize>>,
}

/// The best window of a text for a query: that with the most different words of it,
/// phrases and words that stand side by side first. Of equals it is the earliest.
///
/// `spans` are the ranges of the text that are searched, in reading order; the
/// `analyzer` is that of the note's language. The window has at most `max_chars`
/// characters. If nothing matches, it is the beginning of the spans; `None` if there is
/// nothing to show at all.
#[must_use]
pub fn best_passage(
    text: &str,
    spans: &[Range<usize>],
    query: &Query,
    analyzer: &mut Analyzer,
    max_chars: usize,
) -> Option<Window> {
    let mut finder = Finder::new(query);
    let beginnings = Beginnings::of(finder.terms()).filter(|_| analyzer.keeps_beginnings());
    for span in spans {
        let Some(searched) = text.get(span.clone()) else { continue };
        if beginnings.as_ref().is_some_and(|beginnings| !beginnings.may_be_in(searched)) {
            // Whatever number of words it has, nothing is adjacent across them.
            finder.base += u32::from(searched.contains(|it: char| it.is_ascii_alphanumeric()));
            continue;
        }
        let firsts = finder.firsts;
        let is_wanted = |first: u8| firsts[usize::from(first)];
        let positions =
            analyzer.find(searched, &is_wanted, &mut |token| finder.take(&token, span.start));
        // The words of the next span come after those of this.
        finder.base += positions;
    }
    let matches = finder.matches();
    if matches.is_empty() {
        let first = spans.iter().find(|span| text.get((*span).clone()).is_some_and(has_text))?;
        let blank = text[first.clone()].len() - text[first.clone()].trim_start().len();
        let start = first.start + blank;
        let bytes = start..end_within(text, start, start, max_chars);
        return Some(Window { bytes, matches: Vec::new() });
    }
    let best = best_stretch(text, &matches, max_chars);
    let stretch = &matches[best];
    let start = stretch.first()?.bytes.start;
    let end = stretch.iter().map(|found| found.bytes.end).max()?;
    let bytes = window(text, start..end, max_chars);
    let inside = matches.iter().map(|found| found.bytes.clone());
    let inside = inside.filter(|found| found.start >= bytes.start && found.end <= bytes.end);
    Some(Window { matches: merged(inside), bytes })
}

/// Something that a query looks for, where it stands.
#[derive(Clone, Debug)]
struct Match {
    bytes: Range<usize>,
    /// Which clause of the query it answers.
    goal: usize,
    position: u32,
}

/// How far a sequence of words has been found.
#[derive(Clone, Copy)]
struct Progress {
    position: u32,
    start: usize,
}

/// Finds what a query looks for among the tokens of a text.
struct Finder<'q> {
    /// What a term is a step of: (goal, sequence, step), the last step first.
    steps: HashMap<&'q str, Vec<(usize, usize, usize)>>,
    /// What a term answers by itself.
    words: HashMap<&'q str, Vec<usize>>,
    /// For each sequence and step, where that step was last reached.
    progress: Vec<Vec<Option<Progress>>>,
    /// The first bytes of all these terms.
    firsts: [bool; 256],
    found: Vec<Match>,
    /// How many positions the spans before have.
    base: u32,
}

impl<'q> Finder<'q> {
    fn new(query: &'q Query) -> Self {
        let mut finder = Self {
            steps: HashMap::new(),
            words: HashMap::new(),
            progress: Vec::new(),
            firsts: [false; 256],
            found: Vec::new(),
            base: 0,
        };
        for (goal, clause) in query.scored.iter().enumerate() {
            finder.look_for(goal, clause);
        }
        let firsts: Vec<u8> = finder.terms().filter_map(|term| term.bytes().next()).collect();
        for first in firsts {
            finder.firsts[usize::from(first)] = true;
        }
        finder
    }

    fn terms(&self) -> impl Iterator<Item = &'q str> {
        self.steps.keys().chain(self.words.keys()).copied()
    }

    fn look_for(&mut self, goal: usize, clause: &'q Clause) {
        let mut sequence: Vec<&'q [Box<str>]> = Vec::new();
        if let [word] = clause.words.as_slice() {
            for term in &word.alternatives {
                self.words.entry(term).or_default().push(goal);
            }
            sequence.extend(word.parts.iter().map(Vec::as_slice));
        } else {
            for word in &clause.words {
                if word.parts.is_empty() {
                    sequence.push(&word.alternatives);
                } else {
                    sequence.extend(word.parts.iter().map(Vec::as_slice));
                }
            }
        }
        if sequence.is_empty() {
            return;
        }
        for (step, terms) in sequence.iter().enumerate().rev() {
            for term in *terms {
                let steps = self.steps.entry(term).or_default();
                steps.push((goal, self.progress.len(), step));
            }
        }
        self.progress.push(vec![None; sequence.len()]);
    }

    fn take(&mut self, token: &Token<'_>, offset: usize) {
        let position = self.base + token.position;
        if self.found.len() >= MOST_MATCHES {
            return;
        }
        let bytes = token.bytes.start + offset..token.bytes.end + offset;
        for goal in self.words.get(token.term).into_iter().flatten() {
            self.found.push(Match { bytes: bytes.clone(), goal: *goal, position });
        }
        for (goal, sequence, step) in self.steps.get(token.term).into_iter().flatten() {
            let progress = &mut self.progress[*sequence];
            let start = match step.checked_sub(1) {
                None => bytes.start,
                Some(before) => match progress[before] {
                    // Parts of camel case stand at the same position.
                    Some(before) if position - before.position <= 1 => before.start,
                    _ => continue,
                },
            };
            progress[*step] = Some(Progress { position, start });
            if *step + 1 == progress.len() {
                let bytes = start..bytes.end.max(start);
                self.found.push(Match { bytes, goal: *goal, position });
            }
        }
    }

    /// Everything that was found, in the order of the text.
    fn matches(mut self) -> Vec<Match> {
        self.found.sort_by_key(|found| (found.bytes.start, found.bytes.end, found.goal));
        self.found
    }
}

/// How the words begin that are looked for: most parts of a text have none of these, and
/// need not be taken apart.
struct Beginnings {
    all: Vec<Beginning>,
    firsts: [bool; 256],
}

/// Up to three letters in lower case.
#[derive(Clone, Copy)]
struct Beginning {
    letters: [u8; 3],
    length: usize,
}

impl Beginnings {
    /// `None` if there are too many, or others than ASCII letters and digits.
    fn of<'t>(terms: impl Iterator<Item = &'t str>) -> Option<Self> {
        let mut beginnings = Self { all: Vec::new(), firsts: [false; 256] };
        for term in terms {
            let bytes = term.as_bytes();
            let first = *bytes.first().filter(|first| first.is_ascii_alphanumeric())?;
            let is_word = bytes.iter().all(u8::is_ascii_lowercase);
            // Dates are found whatever the order of their parts; the end of a stem need
            // not be in the word: `sky`, `skies`.
            let length = if is_word && bytes.len() > 3 { 3 } else { 1 };
            let mut letters = [first; 3];
            letters[..length].copy_from_slice(&bytes[..length]);
            beginnings.firsts[usize::from(first)] = true;
            beginnings.firsts[usize::from(first.to_ascii_uppercase())] = true;
            beginnings.all.push(Beginning { letters, length });
        }
        (beginnings.all.len() <= MOST_BEGINNINGS).then_some(beginnings)
    }

    /// Whether one of the words may be in a text. What is not ASCII is folded first, and
    /// is not looked at here.
    fn may_be_in(&self, text: &str) -> bool {
        let begins = |at: usize| {
            let rest = &text.as_bytes()[at..];
            self.all.iter().any(|beginning| beginning.begins(rest))
        };
        let mut bytes = text.bytes().enumerate();
        bytes.any(|(at, byte)| !byte.is_ascii() || self.firsts[usize::from(byte)] && begins(at))
    }
}

impl Beginning {
    /// Whether a text begins so, signs within an identifier left out.
    fn begins(self, text: &[u8]) -> bool {
        let letters = text.iter().filter(|byte| byte.is_ascii_alphanumeric());
        let ours = self.letters[..self.length].iter();
        letters.map(u8::to_ascii_lowercase).take(self.length).eq(ours.copied())
    }
}

/// How good a stretch of matches is: what counts more comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Quality {
    goals: usize,
    neighbours: usize,
    matches: usize,
}

/// The matches that fit into one window and answer most of the query.
fn best_stretch(text: &str, matches: &[Match], max_chars: usize) -> Range<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let mut neighbours = 0;
    let mut best = (Quality::default(), 0..0);
    let mut end = 0;
    // Characters between the first match of the stretch and the end of its last.
    let mut length = Length { text, from: 0, to: 0, characters: 0, most: max_chars };
    for start in 0..matches.len() {
        length.start_at(matches[start].bytes.start);
        if end < start + 1 {
            // A match that is longer than a window is still the best there is.
            end = start + 1;
            *counts.entry(matches[start].goal).or_default() += 1;
            length.reach(matches[start].bytes.end);
        }
        while let Some(next) = matches.get(end) {
            if length.with(next.bytes.end) > max_chars {
                break;
            }
            length.reach(next.bytes.end);
            *counts.entry(next.goal).or_default() += 1;
            neighbours += usize::from(are_neighbours(&matches[end - 1], next));
            end += 1;
        }
        let quality = Quality { goals: counts.len(), neighbours, matches: end - start };
        if quality > best.0 {
            best = (quality, start..end);
        }
        if let Entry::Occupied(mut count) = counts.entry(matches[start].goal) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        if start + 1 < end {
            neighbours -= usize::from(are_neighbours(&matches[start], &matches[start + 1]));
        }
    }
    best.1
}

/// Whether two words stand side by side as in the query.
fn are_neighbours(first: &Match, second: &Match) -> bool {
    first.goal + 1 == second.goal && first.position + 1 == second.position
}

/// Counts the characters of a stretch of text whose ends only move forward.
struct Length<'t> {
    text: &'t str,
    from: usize,
    to: usize,
    characters: usize,
    /// Beyond so many, none is counted: the next match may be a book away.
    most: usize,
}

impl Length<'_> {
    fn start_at(&mut self, from: usize) {
        let to = self.to.max(from);
        let gone = self.text[self.from..from.min(self.to)].chars().count();
        self.characters -= gone.min(self.characters);
        (self.from, self.to) = (from, to);
    }

    fn with(&self, to: usize) -> usize {
        let more = self.text.get(self.to..to).unwrap_or_default();
        self.characters + more.chars().take(self.most + 1).count()
    }

    fn reach(&mut self, to: usize) {
        self.characters = self.with(to);
        self.to = self.to.max(to);
    }
}

/// The window around a stretch: it begins at a paragraph or between words if it can.
fn window(text: &str, stretch: Range<usize>, max_chars: usize) -> Range<usize> {
    let length = text[stretch.clone()].chars().count();
    let room = max_chars.saturating_sub(length) / SHARE_BEFORE;
    let mut start = stretch.start;
    let mut left = room;
    let before = &text[..stretch.start];
    for (at, character) in before.char_indices().rev() {
        let line = before[..at].strip_suffix('\r').unwrap_or(&before[..at]);
        if left == 0 || character == '\n' && line.ends_with(['\n', '\r']) {
            break;
        }
        start = at;
        left -= 1;
    }
    let is_within_word = text[..start].ends_with(char::is_alphanumeric);
    if is_within_word && let Some(blank) = text[start..stretch.start].find(char::is_whitespace) {
        start += blank;
    }
    let passed = &text[start..stretch.start];
    start += passed.len() - passed.trim_start().len();
    start..end_within(text, start, stretch.end, max_chars)
}

/// Where a window that begins at `start` ends: between words, if that is not before
/// `at_least`.
fn end_within(text: &str, start: usize, at_least: usize, max_chars: usize) -> usize {
    let rest = &text[start..];
    let cut = rest.char_indices().nth(max_chars).map(|(at, _)| start + at);
    let Some(mut end) = cut else { return start + rest.trim_end().len() };
    let is_within_word = text[end..].starts_with(char::is_alphanumeric);
    let tail = text.get(at_least..end);
    if is_within_word && let Some(blank) = tail.and_then(|tail| tail.rfind(char::is_whitespace)) {
        end = at_least + blank;
    }
    start + text[start..end].trim_end().len()
}

fn has_text(span: &str) -> bool {
    !span.trim().is_empty()
}

/// Ranges in order, those that touch as one.
fn merged(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
