//! A text as it is shown: without what nobody reads.

use std::ops::Range;

/// What is shorter, in bytes, is shown: a tag or two do not get in the way.
const SHORTEST_LEFT_OUT: usize = 24;

/// A text with a sign in place of each stretch that is left out.
#[derive(Debug)]
pub(super) struct Shown<'t> {
    text: &'t str,
    /// In order, none overlapping another.
    left_out: Vec<Range<usize>>,
}

impl<'t> Shown<'t> {
    /// Leaves out stretches of a text, given in any order.
    pub(super) fn new(text: &'t str, stretches: impl Iterator<Item = Range<usize>>) -> Self {
        let mut sorted: Vec<_> =
            stretches.filter(|stretch| stretch.len() >= SHORTEST_LEFT_OUT).collect();
        sorted.retain(|stretch| text.get(stretch.clone()).is_some());
        sorted.sort_by_key(|stretch| stretch.start);
        let mut left_out: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
        for stretch in sorted {
            match left_out.last_mut() {
                Some(last) if stretch.start < last.end => last.end = last.end.max(stretch.end),
                _ => left_out.push(stretch),
            }
        }
        Self { text, left_out }
    }

    /// The text with all that is in it.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// What is left out of a part of the text.
    pub(super) fn left_out(&self, part: &Range<usize>) -> Vec<Range<usize>> {
        let first = self.left_out.partition_point(|out| out.end <= part.start);
        let within = self.left_out[first..].iter().take_while(|out| out.start < part.end);
        within.map(|out| out.start.max(part.start)..out.end.min(part.end)).collect()
    }

    /// What is shown from a place on, with where it stands; `…` for what is left out.
    pub(super) fn from(&self, start: usize) -> impl Iterator<Item = (usize, char)> {
        let mut at = start;
        std::iter::from_fn(move || {
            let here = at;
            let out = self.left_out.partition_point(|out| out.end <= here);
            if let Some(out) = self.left_out.get(out).filter(|out| out.start <= here) {
                at = out.end;
                return Some((here, '…'));
            }
            let character = self.text[here..].chars().next()?;
            at += character.len_utf8();
            Some((here, character))
        })
    }

    /// What is shown before a place, from there backwards.
    pub(super) fn before(&self, end: usize) -> impl Iterator<Item = (usize, char)> {
        let mut at = end;
        std::iter::from_fn(move || {
            let out = self.left_out.partition_point(|out| out.end < at);
            if let Some(out) = self.left_out.get(out).filter(|out| out.start < at) {
                at = out.start;
                return Some((at, '…'));
            }
            let character = self.text[..at].chars().next_back()?;
            at -= character.len_utf8();
            Some((at, character))
        })
    }

    /// The first place from `start` on, but not beyond `end`, at which something is read.
    pub(super) fn skip_blanks(&self, start: usize, end: usize) -> usize {
        let mut read = self.from(start).filter(|(_, it)| !it.is_whitespace() && *it != '…');
        read.next().map_or(end, |(at, _)| at.min(end))
    }

    /// The end of what is read between two places.
    pub(super) fn trim_end(&self, start: usize, mut end: usize) -> usize {
        loop {
            let text = start + self.text[start..end].trim_end().len();
            let out = self.left_out.partition_point(|out| out.end < text);
            end = match self.left_out.get(out) {
                Some(out) if start < text && out.start < text => out.start.max(start),
                _ => return text,
            };
        }
    }

    /// Where the next word begins, if `start` is within one: `end` at the latest. A word
    /// is what stands between blanks; if there is none in between, a part of a word that
    /// begins with a letter or digit will do.
    pub(super) fn next_word(&self, start: usize, end: usize) -> usize {
        let before = self.text[..start].chars().next_back();
        if start == end || before.is_none_or(char::is_whitespace) {
            return self.skip_blanks(start, end);
        }
        let between = || self.from(start).take_while(|(at, _)| *at < end);
        let mut blanks = between().filter(|(_, it)| it.is_whitespace() || *it == '…');
        if let Some((blank, _)) = blanks.next() {
            return self.skip_blanks(blank, end);
        }
        let starts_here = !before.is_some_and(char::is_alphanumeric);
        let mut signs = between().filter(|(_, it)| !it.is_alphanumeric());
        match signs.next() {
            _ if starts_here => start,
            Some((sign, it)) => (sign + it.len_utf8()).min(end),
            None => start,
        }
    }
}
