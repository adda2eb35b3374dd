//! What is in a page: bytes → text → title.

use std::fmt::Write as _;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use sha2::{Digest as _, Sha256};

use crate::access::path::VaultPath;
use crate::vault::evidence::is_ciphertext;

/// What bytes turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text(String),
    /// git-crypt is locked on this machine.
    Ciphertext,
    Binary,
}

/// Decodes a page: UTF-8, what its byte order mark says, else Windows-1252, the
/// encoding in which no text of an old editor is invalid.
pub(super) fn decode(bytes: Vec<u8>) -> Content {
    if is_ciphertext(&bytes) {
        return Content::Ciphertext;
    }
    let (encoding, mark) = Encoding::for_bom(&bytes).unwrap_or((UTF_8, 0));
    if encoding == UTF_8 && bytes[mark..].contains(&0) {
        return Content::Binary;
    }
    let (text, is_damaged) = encoding.decode_without_bom_handling(&bytes[mark..]);
    match is_damaged {
        false if text.contains('\0') => Content::Binary,
        false => Content::Text(text.into_owned()),
        true if encoding == UTF_8 => {
            Content::Text(WINDOWS_1252.decode_without_bom_handling(&bytes[mark..]).0.into_owned())
        }
        true => Content::Binary,
    }
}

/// The title of a page: from its frontmatter, else its first heading of the first
/// level, else its file name.
pub(super) fn title(path: &VaultPath, text: &str) -> String {
    written_title(text).unwrap_or_else(|| path.stem().to_owned())
}

/// The title that stands in the text itself.
pub(super) fn written_title(text: &str) -> Option<String> {
    let (frontmatter, body) = split_frontmatter(text);
    frontmatter
        .lines()
        .find_map(|line| line.strip_prefix("title:"))
        .and_then(simple_scalar)
        .or_else(|| first_heading(body))
}

/// What changes whenever a text does: half of its SHA-256, in hexadecimal.
pub(super) fn etag(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().take(16).fold(String::new(), |mut etag, byte| {
        let _ = write!(etag, "{byte:02x}");
        etag
    })
}

/// Splits at the second `---` line, if the first line is one.
pub(super) fn split_frontmatter(text: &str) -> (&str, &str) {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return ("", text);
    };
    let mut end = first.len();
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            return (&text[first.len()..end], &text[end + line.len()..]);
        }
        end += line.len();
    }
    ("", text)
}

/// A YAML scalar on one line: plain, or in quotes without escapes. What is more than
/// that is no title for us.
fn simple_scalar(value: &str) -> Option<String> {
    let value = value.trim();
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let text = match quoted('"').or_else(|| quoted('\'')) {
        Some(inner) if inner.contains(['\\', '"', '\'']) => return None,
        Some(inner) => inner,
        None if value
            .starts_with(['[', '{', '>', '|', '&', '*', '!', '%', '@', '`', '#', '"', '\'']) =>
        {
            return None;
        }
        None => value.split(" #").next().unwrap_or(value),
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The text of the first heading of the first level that is not in code.
fn first_heading(body: &str) -> Option<String> {
    // Parsing is much slower than a look for the two ways to write such a heading.
    let may_be_heading = |line: &str| {
        let line = line.trim_start_matches([' ', '>', '\t']);
        line.starts_with("# ") || line.starts_with("#\t") || line.starts_with('=')
    };
    if !body.lines().any(may_be_heading) {
        return None;
    }
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(body, Options::ENABLE_TABLES) {
        match (&mut heading, event) {
            (_, Event::Start(Tag::Heading { level: HeadingLevel::H1, .. })) => {
                heading = Some(String::new());
            }
            (Some(text), Event::End(TagEnd::Heading(HeadingLevel::H1))) => {
                let words: Vec<&str> = text.split_whitespace().collect();
                if !words.is_empty() {
                    return Some(words.join(" "));
                }
                heading = None;
            }
            (Some(text), Event::Text(part) | Event::Code(part)) => text.push_str(&part),
            (Some(text), Event::SoftBreak | Event::HardBreak) => text.push(' '),
            _ => {}
        }
    }
    None
}
