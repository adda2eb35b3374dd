//! The anchors of headings, as GitHub makes them.

use std::collections::HashMap;

use unicode_normalization::char::is_combining_mark;

/// The anchors of one note.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    /// Every anchor that is taken, with the number that the next of its name gets.
    taken: HashMap<String, usize>,
}

impl Anchors {
    /// The anchor of the next heading: its text in lower case, with `-` for blanks and
    /// without punctuation, and with a number if that is taken.
    pub(super) fn next(&mut self, heading: &str) -> String {
        let name: String = heading
            .chars()
            .flat_map(char::to_lowercase)
            .filter_map(|c| match c {
                ' ' => Some('-'),
                '-' | '_' => Some(c),
                c if c.is_alphabetic() || is_decimal(c) || is_combining_mark(c) => Some(c),
                _ => None,
            })
            .collect();
        let Some(mut number) = self.taken.get(&name).copied() else {
            self.taken.insert(name.clone(), 1);
            return name;
        };
        let mut anchor = format!("{name}-{number}");
        while self.taken.contains_key(&anchor) {
            number += 1;
            anchor = format!("{name}-{number}");
        }
        self.taken.insert(name, number + 1);
        self.taken.insert(anchor.clone(), 1);
        anchor
    }
}

/// GitHub keeps digits, but no fractions, superscripts or numbers in circles.
fn is_decimal(c: char) -> bool {
    let is_sign = matches!(c,
        '²' | '³' | '¹' | '¼'..='¾' | '\u{2070}'..='\u{218b}' | '\u{2460}'..='\u{24ff}' | '\u{2776}'..='\u{2793}');
    c.is_numeric() && !is_sign
}
