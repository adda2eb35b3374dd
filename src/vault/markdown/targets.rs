//! What the target of a link says.

use crate::access::path::VaultPath;
use crate::vault::markdown::LinkKind;

/// The longest target, anchor or shown text that is kept, in bytes. An address is
/// seldom longer; pictures that are written into the address itself are.
pub(super) const LONGEST: usize = 2_000;

/// A target in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) kind: LinkKind,
    pub(super) path: String,
    pub(super) anchor: Option<String>,
}

/// Of a Markdown link or embed.
pub(super) fn of_address(address: &str, kind: LinkKind) -> Target {
    let address = address.trim();
    if has_scheme(address) || address.starts_with("//") {
        return external(address);
    }
    // Split before it is decoded: `%23` is a character of the name.
    let (path, anchor) = split_anchor(address);
    Target { kind, path: kept(&decoded(path)), anchor: anchor.map(|anchor| kept(&decoded(anchor))) }
}

/// Of a wikilink. It is not decoded, as `%` stands for itself there; and as a name may
/// hold a colon, only a scheme that nobody takes for a name leads out.
pub(super) fn of_wikilink(name: &str, kind: LinkKind) -> Target {
    let name = name.trim();
    if has_scheme(name) && (name.contains("://") || name.starts_with("mailto:")) {
        return external(name);
    }
    let (path, anchor) = split_anchor(name);
    Target { kind, path: kept(path.trim()), anchor: anchor.map(|anchor| kept(anchor.trim())) }
}

fn external(address: &str) -> Target {
    let is_data = address.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
    let end = if is_data { address.find(',') } else { None };
    let address = &address[..end.unwrap_or(address.len())];
    Target { kind: LinkKind::External, path: kept(address), anchor: None }
}

/// Whether it begins like `https:`. One letter is a drive of another system, which is
/// not in the vault either.
fn has_scheme(address: &str) -> bool {
    let Some(end) = address.find(|c: char| !(c.is_ascii_alphanumeric() || "+.-".contains(c)))
    else {
        return false;
    };
    address[end..].starts_with(':')
        && address.starts_with(|first: char| first.is_ascii_alphabetic())
}

fn split_anchor(text: &str) -> (&str, Option<&str>) {
    match text.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor).filter(|anchor| !anchor.is_empty())),
        None => (text, None),
    }
}

/// Decodes `%20` once. A `%` that begins no such thing stands for itself, and so does
/// everything if the bytes are no text.
fn decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).filter(|_| *first == b'%');
        let value = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(value.unwrap_or(*first));
        rest = if value.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Cut to [`LONGEST`] bytes at a character.
pub(super) fn kept(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST)].to_owned()
}

/// The Markdown links in a text that `CommonMark` does not take for links, because there
/// are blanks in their addresses: `[text](my note.md)`. The byte at which each begins,
/// what is shown, and the address.
pub(super) fn with_blanks(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    /// Longer ones are none: that bounds the time.
    const FARTHEST: usize = 500;
    memchr::memmem::find_iter(text.as_bytes(), "](").filter_map(move |middle| {
        let before = &text[text.ceil_char_boundary(middle.saturating_sub(FARTHEST))..middle];
        let label = &before[before.rfind('[')? + 1..];
        let behind = &text[middle + 2..];
        let behind = &behind[..behind.floor_char_boundary(FARTHEST)];
        let is_page = |address: &&str| {
            let path = address.split_once('#').map_or(*address, |(path, _)| path);
            path.contains(' ') && VaultPath::is_page_name(path.trim())
        };
        let address =
            behind.match_indices(')').take(8).map(|(end, _)| &behind[..end]).find(is_page)?;
        (!label.contains(']')).then_some((middle - label.len() - 1, label, address))
    })
}
