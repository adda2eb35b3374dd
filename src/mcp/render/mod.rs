//! What the vault answers → what clients and models read.
//!
//! Programs get structure, models a terse text. In a text, whatever comes from a note
//! stands on one line and has no control characters: a title cannot pass for a line of
//! ours.

pub(super) mod hits;
pub(super) mod notes;
pub(super) mod opened;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::vault::answers::{DateSource, Modified};

/// A text on one line: control characters, line separators and marks that turn the
/// direction of writing become blanks.
pub(super) fn single_line(text: &str) -> String {
    let is_unfit = |character: char| {
        character.is_control()
            || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut line = String::with_capacity(text.len());
    for word in text.split(|character: char| character.is_whitespace() || is_unfit(character)) {
        if !word.is_empty() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    line
}

/// A text on one line with at most `most` characters; what is cut shows as dots.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let line = single_line(text);
    match line.char_indices().nth(most) {
        None => line,
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}

/// A moment in the time zone of the server, to the second (RFC 3339): the date of a
/// note that says `2026-03-14` is the fourteenth there.
pub(super) fn moment(at: Timestamp) -> String {
    at.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// Its date.
pub(super) fn date(modified: Modified) -> String {
    modified.at.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d").to_string()
}

/// Where a date comes from, in a word.
pub(super) const fn source(source: DateSource) -> &'static str {
    match source {
        DateSource::Frontmatter => "frontmatter",
        DateSource::Commit => "commit",
        DateSource::File => "file",
    }
}

/// The first entries, as many as fit this number of bytes; at least one, if there is one.
pub(super) fn within<T>(
    entries: impl Iterator<Item = T>,
    most: usize,
    size: impl Fn(&T) -> usize,
) -> Vec<T> {
    let mut bytes = 0;
    let mut is_first = true;
    let fits = |entry: &T| {
        bytes += size(entry);
        std::mem::take(&mut is_first) || bytes <= most
    };
    entries.take_while(fits).collect()
}

/// How many bytes something takes as JSON.
pub(super) fn length(of: &impl Serialize) -> usize {
    let mut counted = Counted(0);
    // It counts, and never fails.
    let _ = serde_json::to_writer(&mut counted, of);
    counted.0
}

/// Counts what is written, and keeps nothing.
struct Counted(usize);

impl std::io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A number of things, with its noun.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Tags as a text has them, `#garden #plants/tomato`, and as a query has those with
/// blanks, which no `#` can name: `tag:"old trees"`.
pub(super) fn hashed<'a>(tags: impl IntoIterator<Item = &'a String>) -> String {
    let tag = |tag: &'a String| match single_line(tag) {
        tag if tag.contains(' ') => format!("tag:\"{tag}\""),
        tag => format!("#{tag}"),
    };
    tags.into_iter().map(tag).collect::<Vec<_>>().join(" ")
}
