//! What stands in a note after it was written: the text as given, and little else.

use std::borrow::Cow;

use jiff::tz::TimeZone;

use crate::vault::markdown::parse;

/// The byte order mark of UTF-8.
const MARK: char = '\u{feff}';

/// The text of a new note: as given, with a line end at its end.
///
/// A note is called by the title in its text, else by its file name. So a title that
/// neither of them says is put above the text, behind the frontmatter; it would be
/// lost otherwise, for a file name cannot hold every title.
pub(super) fn new_note(title: &str, stem: &str, content: &str) -> String {
    let line_end = LineEnd::of(content).unwrap_or(LineEnd::Unix);
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let parsed = parse(content, &TimeZone::UTC);
    let mark = if content.starts_with(MARK) { MARK.len_utf8() } else { 0 };
    let start = parsed.frontmatter.bytes.end.max(mark);
    let mut text = String::with_capacity(content.len() + title.len() + 8);
    if title.is_empty() || title == stem || parsed.title.is_some() {
        text.push_str(content);
    } else {
        let (head, body) = content.split_at(start);
        let end = line_end.as_str();
        text.push_str(head);
        for part in ["# ", &title, end, end, body.trim_start_matches(['\r', '\n'])] {
            text.push_str(part);
        }
    }
    line_end.finish(&mut text);
    text
}

/// The text of a note with something added. What was there stays as it is, byte for
/// byte (L2, L3); what comes behind it begins on a line of its own, and has the line
/// ends that the note has.
pub(super) fn appended(old: &str, addition: &str) -> String {
    let addition = addition.strip_prefix(MARK).unwrap_or(addition);
    let line_end = LineEnd::of(old).or_else(|| LineEnd::of(addition)).unwrap_or(LineEnd::Unix);
    let mut text = String::with_capacity(old.len() + addition.len() + 4);
    text.push_str(old);
    if !old.trim_start_matches(MARK).is_empty() {
        line_end.finish(&mut text);
    }
    text.push_str(&line_end.apply(addition));
    line_end.finish(&mut text);
    text
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnd {
    Unix,
    Windows,
}

impl LineEnd {
    /// The one that most lines have; `None` if there is only one line, without an end.
    fn of(text: &str) -> Option<Self> {
        let all = text.matches('\n').count();
        let windows = text.matches("\r\n").count();
        match all {
            0 => None,
            _ if windows * 2 > all => Some(Self::Windows),
            _ => Some(Self::Unix),
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Unix => "\n",
            Self::Windows => "\r\n",
        }
    }

    /// Ends the last line, if it has no end.
    fn finish(self, text: &mut String) {
        if !text.ends_with('\n') {
            text.push_str(self.as_str());
        }
    }

    fn apply(self, text: &str) -> Cow<'_, str> {
        let unix =
            if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() };
        match self {
            Self::Unix => unix,
            Self::Windows => unix.replace('\n', "\r\n").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{appended, new_note};

    #[test]
    fn a_new_note_is_as_given() {
        assert_eq!(new_note("Idea", "Idea", "text"), "text\n");
        assert_eq!(new_note("", "a", "# Other\n\ntext\n\n\n"), "# Other\n\ntext\n\n\n");
        assert_eq!(new_note("", "a", "one\r\ntwo"), "one\r\ntwo\r\n");
        assert_eq!(new_note("", "a", "\u{feff}text"), "\u{feff}text\n");
    }

    /// A title that the file name cannot hold is not lost.
    #[test]
    fn a_title_that_the_name_does_not_say_is_written() {
        assert_eq!(new_note("Why?", "Why-", "text"), "# Why?\n\ntext\n");
        assert_eq!(new_note("Why?", "Why-", "one\r\ntwo\r\n"), "# Why?\r\n\r\none\r\ntwo\r\n");
        assert_eq!(new_note("Idea", "Idea 2", "\ntext"), "# Idea\n\ntext\n");
        let with = |title: &str| new_note("Why?", "Why-", title);
        assert_eq!(with("# Because\n"), "# Because\n");
        assert_eq!(with("---\ntitle: Because\n---\ntext\n"), "---\ntitle: Because\n---\ntext\n");
        assert_eq!(with("---\ntags: [a]\n---\n\ntext"), "---\ntags: [a]\n---\n# Why?\n\ntext\n");
        assert_eq!(with("\u{feff}text"), "\u{feff}# Why?\n\ntext\n");
        // A heading in code is no title.
        assert_eq!(with("```\n# no\n```\n"), "# Why?\n\n```\n# no\n```\n");
    }

    /// L2, L3: nothing of the note is touched, however broken its frontmatter is.
    #[test]
    fn appending_leaves_what_was_there() {
        let broken = "---\ntags: [a\n---\n---\nx: : y\n---\ntext\n";
        assert_eq!(appended(broken, "more"), format!("{broken}more\n"));
        assert_eq!(appended("text", "more"), "text\nmore\n");
        assert_eq!(appended("text\n", "\nmore\n\n"), "text\n\nmore\n\n");
        assert_eq!(appended("", "more"), "more\n");
    }

    #[test]
    fn appending_keeps_line_ends_and_the_byte_order_mark() {
        assert_eq!(appended("a\r\nb", "c\nd"), "a\r\nb\r\nc\r\nd\r\n");
        assert_eq!(appended("a\r\nb\r\n", "c\r\nd\n"), "a\r\nb\r\nc\r\nd\r\n");
        assert_eq!(appended("a\nb\n", "c\r\nd\r\n"), "a\nb\nc\nd\n");
        assert_eq!(appended("a\r\nb\nc\r\n", "d"), "a\r\nb\nc\r\nd\r\n");
        assert_eq!(appended("one line", "c\r\nd\r\n"), "one line\r\nc\r\nd\r\n");
        assert_eq!(appended("\u{feff}a\n", "\u{feff}b"), "\u{feff}a\nb\n");
        assert_eq!(appended("\u{feff}", "b"), "\u{feff}b\n");
    }
}
