//! The part of a text that answers a query best.

use std::collections::HashMap;
use std::ops::Range;

use super::analysis::{Analyzer, Token};
use super::query::{Clause, Query};
use shown::Shown;
use stretch::{Match, best_stretch};

mod shown;
mod stretch;
#[cfg(test)]
mod tests;

/// The most matches that are compared: those of a note beyond them are more of the same.
const MOST_MATCHES: usize = 10_000;

/// With more words than this, one or the other is everywhere.
const MOST_BEGINNINGS: usize = 24;

/// What share of the room that is left stands before the matches: one in so many.
const SHARE_BEFORE: usize = 3;

/// A part of a text that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// Where it stands in the text.
    pub bytes: Range<usize>,
    /// Whether it is found but not read: the address of a link, HTML, a comment.
    pub is_aside: bool,
}

/// A part of a text, with what matches in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where it stands in the text, between characters.
    pub bytes: Range<usize>,
    /// What matches, as ranges of the same text, in order, none touching another.
    pub matches: Vec<Range<usize>>,
    /// What nobody reads and nothing matches, in order: a sign stands for each.
    pub left_out: Vec<Range<usize>>,
}

/// The best window of a text for a query: that with the most different words of it,
/// in what is read before what is aside, phrases and words that stand side by side
/// first. Of equals it is the earliest.
///
/// `spans` are the parts of the text that are searched, in reading order; the
/// `analyzer` is that of the note's language. The window has at most `max_chars`
/// characters. If nothing matches, it is the beginning of the spans; `None` if there is
/// nothing to show at all.
#[must_use]
pub fn best_passage(
    text: &str,
    spans: &[Searched],
    query: &Query,
    analyzer: &mut Analyzer,
    max_chars: usize,
) -> Option<Window> {
    let mut finder = Finder::new(query);
    let beginnings = Beginnings::of(finder.terms()).filter(|_| analyzer.keeps_beginnings());
    for span in spans {
        let Some(searched) = text.get(span.bytes.clone()) else { continue };
        if beginnings.as_ref().is_some_and(|beginnings| !beginnings.may_be_in(searched)) {
            // Whatever number of words it has, nothing is adjacent across them.
            finder.base += u32::from(searched.contains(|it: char| it.is_ascii_alphanumeric()));
            continue;
        }
        let firsts = finder.firsts;
        let is_wanted = |first: u8| firsts[usize::from(first)];
        let positions = analyzer.find(searched, &is_wanted, &mut |token| finder.take(&token, span));
        // The words of the next span come after those of this.
        finder.base += positions;
    }
    let matches = finder.matches();
    let asides = || spans.iter().filter(|span| span.is_aside).map(|span| span.bytes.clone());
    let stretch = best_stretch(text, &matches, max_chars);
    let (Some(first), Some(end)) =
        (stretch.first(), stretch.iter().map(|found| found.bytes.end).max())
    else {
        let first = spans.iter().find(|span| text.get(span.bytes.clone()).is_some_and(has_text))?;
        let shown = Shown::new(text, asides().filter(|aside| *aside != first.bytes));
        let start = shown.skip_blanks(first.bytes.start, first.bytes.end);
        let bytes = start..end_within(&shown, start, start, max_chars);
        return Some(Window { matches: Vec::new(), left_out: shown.left_out(&bytes), bytes });
    };
    let needed = merged(stretch.iter().map(|found| found.bytes.clone()));
    let is_needed = |aside: &Range<usize>| {
        let next = needed.partition_point(|found| found.end <= aside.start);
        needed.get(next).is_some_and(|found| found.start < aside.end)
    };
    let shown = Shown::new(text, asides().filter(|aside| !is_needed(aside)));
    let bytes = window(&shown, first.bytes.start..end, max_chars);
    let left_out = shown.left_out(&bytes);
    let inside = matches.iter().map(|found| found.bytes.clone()).filter(|found| {
        let is_out = |out: &Range<usize>| out.start < found.end && found.start < out.end;
        found.start >= bytes.start && found.end <= bytes.end && !left_out.iter().any(is_out)
    });
    Some(Window { matches: merged(inside), bytes, left_out })
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
            // What is asked for twice is found once.
            if !query.scored[..goal].contains(clause) {
                finder.look_for(goal, clause);
            }
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

    fn take(&mut self, token: &Token<'_>, span: &Searched) {
        let (offset, is_aside) = (span.bytes.start, span.is_aside);
        let position = self.base + token.position;
        if self.found.len() >= MOST_MATCHES {
            return;
        }
        let bytes = token.bytes.start + offset..token.bytes.end + offset;
        for goal in self.words.get(token.term).into_iter().flatten() {
            self.found.push(Match { bytes: bytes.clone(), goal: *goal, position, is_aside });
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
                self.found.push(Match { bytes, goal: *goal, position, is_aside });
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

/// The window around a stretch: it begins at a paragraph or between words if it can.
fn window(shown: &Shown<'_>, stretch: Range<usize>, max_chars: usize) -> Range<usize> {
    let text = shown.text();
    let length = text[stretch.clone()].chars().count();
    let room = max_chars.saturating_sub(length) / SHARE_BEFORE;
    let mut start = stretch.start;
    for (at, character) in shown.before(stretch.start).take(room) {
        let line = text[..at].strip_suffix('\r').unwrap_or(&text[..at]);
        if character == '\n' && line.ends_with(['\n', '\r']) {
            break;
        }
        start = at;
    }
    start = shown.next_word(start, stretch.start);
    start..end_within(shown, start, stretch.end, max_chars)
}

/// Where a window that begins at `start` ends: between words, if that is not before
/// `at_least`.
fn end_within(shown: &Shown<'_>, start: usize, at_least: usize, max_chars: usize) -> usize {
    let text = shown.text();
    let Some(mut end) = shown.from(start).nth(max_chars).map(|(at, _)| at) else {
        return shown.trim_end(start, text.len());
    };
    let is_within_word = text[end..].starts_with(char::is_alphanumeric);
    let tail = text.get(at_least..end);
    if is_within_word && let Some(blank) = tail.and_then(|tail| tail.rfind(char::is_whitespace)) {
        end = at_least + blank;
    }
    shown.trim_end(start, end)
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
