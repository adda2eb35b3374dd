//! What clients say about themselves, registered or published: the fields that both
//! kinds have (RFC 7591 section 2).

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::redirect_uri::{InvalidRedirectUri, RedirectUri};

/// All redirect URIs together, in bytes. Stored records have to be small, and no
/// deployed client comes near.
const MAX_REDIRECT_BYTES: usize = 4096;
const MAX_NAME_CHARACTERS: usize = 100;
/// Marks on one letter. Hebrew and Thai have three at most where it matters.
const MAX_MARKS: usize = 3;

/// Why metadata cannot be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidMetadata {
    #[error("the client metadata is invalid: {0}")]
    Field(&'static str),
    #[error("the redirect URIs are invalid: {0}")]
    RedirectUris(&'static str),
    #[error("redirect URI number {position} was refused: {fault}")]
    RedirectUri {
        /// Counted from one.
        position: usize,
        fault: InvalidRedirectUri,
    },
}

/// Checks that the client wants what there is. What we do not support besides is left
/// out; but a client that names only such things would never work (checklist #92).
///
/// # Errors
///
/// [`InvalidMetadata`]
pub(super) fn must_allow_codes(metadata: &Map<String, Value>) -> Result<(), InvalidMetadata> {
    must_include(metadata, "grant_types", "authorization_code")
        .map_err(|()| InvalidMetadata::Field("grant_types must have authorization_code"))?;
    must_include(metadata, "response_types", "code")
        .map_err(|()| InvalidMetadata::Field("response_types must have code"))
}

/// The places that answers may go to, at most `most` of them.
///
/// # Errors
///
/// [`InvalidMetadata`]
pub(super) fn redirect_uris(
    metadata: &Map<String, Value>,
    most: usize,
) -> Result<Vec<RedirectUri>, InvalidMetadata> {
    let Some(Value::Array(values)) = metadata.get("redirect_uris") else {
        return Err(InvalidMetadata::RedirectUris("redirect_uris must be a list of URIs"));
    };
    if values.is_empty() {
        return Err(InvalidMetadata::RedirectUris("there must be at least one"));
    }
    if values.len() > most {
        return Err(InvalidMetadata::RedirectUris("there are too many"));
    }
    let mut uris: Vec<RedirectUri> = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let Value::String(text) = value else {
            return Err(InvalidMetadata::RedirectUris("redirect_uris must be a list of URIs"));
        };
        let uri = RedirectUri::register(text)
            .map_err(|fault| InvalidMetadata::RedirectUri { position: index + 1, fault })?;
        if !uris.contains(&uri) {
            uris.push(uri);
        }
    }
    let bytes: usize = uris.iter().map(|uri| uri.as_str().len()).sum();
    if bytes > MAX_REDIRECT_BYTES {
        return Err(InvalidMetadata::RedirectUris("together they are too long"));
    }
    Ok(uris)
}

/// A text field. Null and the empty string are the same as nothing.
pub(super) fn text<'a>(
    metadata: &'a Map<String, Value>,
    name: &'static str,
) -> Result<Option<&'a str>, InvalidMetadata> {
    match metadata.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(&**text).filter(|text| !text.is_empty())),
        Some(_) => Err(InvalidMetadata::Field("a text field holds something else")),
    }
}

/// Whether a field holds anything.
pub(super) fn is_given(metadata: &Map<String, Value>, name: &str) -> bool {
    metadata.get(name).is_some_and(|value| !value.is_null() && *value != "")
}

/// Checks that a list, if it is given, has the one thing that we need in it.
fn must_include(metadata: &Map<String, Value>, name: &str, needed: &str) -> Result<(), ()> {
    match metadata.get(name) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(values)) if values.is_empty() => Ok(()),
        Some(Value::Array(values)) if values.iter().any(|value| value == needed) => Ok(()),
        Some(_) => Err(()),
    }
}

/// A name that can be shown to a person: without characters that hide, reorder or
/// break lines, and without heaps of marks that cover the lines around it, so that a
/// client cannot write into the page around its name.
pub(super) fn presentable(name: &str) -> Option<String> {
    // Composed before marks are counted: what is one letter in most alphabets is then one
    // character.
    // White space of any kind, line breaks too, becomes a blank between words further down.
    let is_kept = |letter: &char| letter.is_whitespace() || !is_deceptive(*letter);
    let visible = name.chars().filter(is_kept).nfc();
    let mut marks = 0;
    let plain: String = visible
        .filter(|character| {
            marks = if is_combining_mark(*character) { marks + 1 } else { 0 };
            marks <= MAX_MARKS
        })
        .collect();
    // A mark at the beginning would sit on what stands before the name.
    let is_mark_or_blank = |letter: char| is_combining_mark(letter) || letter.is_whitespace();
    let words: Vec<&str> = plain.trim_start_matches(is_mark_or_blank).split_whitespace().collect();
    let mut name = words.join(" ");
    if let Some((end, _)) = name.char_indices().nth(MAX_NAME_CHARACTERS) {
        name.truncate(end);
        name.push('…');
    }
    (!name.is_empty()).then_some(name)
}

/// Whether a character hides itself or others, or moves them.
pub(super) fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(character,
            // Blanks that are no white space, and fillers.
            '\u{2800}' | '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' | '\u{1D159}'
            // What is not shown at all.
            | '\u{00AD}' | '\u{034F}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2065}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFC}' | '\u{E0000}'..='\u{E0FFF}'
            // What turns the direction or breaks the line.
            | '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2066}'..='\u{206F}')
}

/// A text of somebody else's, with what is deceptive in it written out. What joins
/// letters or makes a picture of a sign stays: names of notes have them.
pub(super) fn written_out(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        let joins = matches!(character, '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}');
        if is_deceptive(character) && !joins {
            plain.extend(character.escape_unicode());
        } else {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{presentable, written_out};

    /// Checklist 96: what cannot be seen is no name, and a name stays in its line.
    #[test]
    fn names_neither_hide_nor_overflow() {
        for invisible in [
            "",
            " ",
            "\u{2800}\u{2800}",
            "\u{AD}",
            "\u{FFA0}",
            "\u{3164}",
            "\u{34F}",
            "\u{FE0F}",
            "\u{200D}",
            "\u{FFFC}",
            "\u{202E}",
            "\u{301}",
            "\u{301}\u{301}",
        ] {
            assert_eq!(presentable(invisible), None, "{invisible:?}");
        }
        let shown = |name: &str| presentable(name).expect("a name");
        assert_eq!(shown("Cla\u{AD}ude"), "Claude");
        assert_eq!(shown("\u{2800}Claude\u{FFA0}"), "Claude");
        assert_eq!(shown(&format!("Z{}algo", "\u{334}\u{33F}".repeat(50))).chars().count(), 8);
        assert_eq!(shown("\u{320}Claude"), "Claude");
        assert_eq!(shown(" \u{320} \u{301}Claude"), "Claude");
        assert_eq!(shown("Zoe\u{200B}\u{308}"), "Zoë");
    }

    /// Names in the world's alphabets stay as they are.
    #[test]
    fn marks_that_belong_to_letters_stay() {
        for name in ["Zoë", "Tiếng Việt", "ภาษาไทยที่นี่", "हिन्दी", "עִבְרִית", "العربيّة", "カ゚"]
        {
            use unicode_normalization::UnicodeNormalization as _;
            assert_eq!(presentable(name).as_deref(), Some(&*name.nfc().collect::<String>()));
        }
        assert_eq!(presentable("Zoe\u{308}").as_deref(), Some("Zoë"));
    }

    #[test]
    fn what_deceives_is_written_out() {
        assert_eq!(written_out("a\u{202E}b\n.md"), "a\\u{202e}b\\u{a}.md");
        for plain in ["wiki/people/Zoë 名.md", "❤\u{FE0F} می\u{200C}خواهم.md"] {
            assert_eq!(written_out(plain), plain);
        }
    }
}
