//! What makes a tag.

/// The tag that begins behind a `#`, in the text behind it, and how many bytes it has.
///
/// As in Obsidian a tag has letters and digits of any script, `-`, `_`, and `/`
/// between its levels. It has a letter (or an emoji), and it is no colour: six or
/// eight hexadecimal digits are none, nor are three with a digit among them. `#add`
/// and `#beef` are words.
pub(super) fn tag_at(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !is_of_tag(c)).unwrap_or(text.len());
    let tag = text[..end].trim_end_matches('/');
    let is_tag = !tag.starts_with('/') && has_letter(tag) && !is_colour(tag);
    is_tag.then_some(tag)
}

/// Whether a character may be part of a tag.
fn is_of_tag(c: char) -> bool {
    match c {
        '-' | '_' | '/' => true,
        c if c.is_ascii() => c.is_ascii_alphanumeric(),
        c => c.is_alphanumeric() || is_mark(c) || is_emoji(c),
    }
}

/// Vowel signs of Indic scripts and the like: parts of letters.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

fn has_letter(tag: &str) -> bool {
    tag.chars().any(|c| c.is_alphabetic() || is_emoji(c))
}

fn is_colour(tag: &str) -> bool {
    let has_digit = || tag.bytes().any(|byte| byte.is_ascii_digit());
    let may_be = match tag.len() {
        6 | 8 => true,
        3 => has_digit(),
        _ => false,
    };
    may_be && tag.bytes().all(|byte| byte.is_ascii_hexdigit())
}
