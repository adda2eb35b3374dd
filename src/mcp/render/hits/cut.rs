//! Passages cut down to what there is room for.

use std::ops::Range;

use crate::vault::answers::Passage;

/// A passage with at most `most` characters, cut around its first match, and where the
/// matches are then.
pub(in crate::mcp) fn cut(passage: &Passage, most: usize) -> (String, Vec<Range<usize>>) {
    if passage.text.chars().nth(most).is_none() {
        return (passage.text.clone(), passage.matches.clone());
    }
    let characters: Vec<char> = passage.text.chars().collect();
    let first = passage.matches.first().cloned().unwrap_or_default();
    // A quarter of what is shown stands before the match, if all of the match fits behind.
    let before = (most / 4).min(most.saturating_sub(first.len()));
    let start = first.start.saturating_sub(before).min(characters.len() - most);
    let end = start + most;
    let (start, end) = between_words(&characters, start..end, first.start..first.end.min(end));
    let mut text = String::new();
    if start > 0 {
        text.push('…');
    }
    let moved = usize::from(start > 0);
    text.extend(&characters[start..end]);
    if end < characters.len() {
        text.push('…');
    }
    let inside = passage.matches.iter().filter(|found| found.start >= start && found.end <= end);
    let matches = inside.map(|found| found.start - start + moved..found.end - start + moved);
    (text, matches.collect())
}

/// A part of a text without the words that it would cut, as far as they stand outside of
/// what is to be shown.
fn between_words(text: &[char], part: Range<usize>, shown: Range<usize>) -> (usize, usize) {
    let cuts = |at: usize| {
        at > 0 && at < text.len() && !text[at - 1].is_whitespace() && !text[at].is_whitespace()
    };
    let (mut start, mut end) = (part.start, part.end);
    if cuts(start)
        && let Some(blank) = (start..shown.start).find(|at| text[*at].is_whitespace())
    {
        start = blank + 1;
    }
    if cuts(end)
        && let Some(blank) = (shown.end.max(start)..end).rfind(|at| text[*at].is_whitespace())
    {
        end = blank;
    }
    (start, end)
}
