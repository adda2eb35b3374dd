//! What clients say about themselves, registered or published: the fields that both
//! kinds have (RFC 7591 section 2).

use serde_json::{Map, Value};

use super::redirect_uri::{InvalidRedirectUri, RedirectUri};

/// All redirect URIs together, in bytes. Stored records have to be small, and no
/// deployed client comes near.
const MAX_REDIRECT_BYTES: usize = 4096;
const MAX_NAME_CHARACTERS: usize = 100;

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
/// break lines, so that a client cannot write into the page around its name.
pub(super) fn presentable(name: &str) -> Option<String> {
    let is_deceptive = |character: char| {
        character.is_control()
            || matches!(character,
                '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{180E}' | '\u{3164}' | '\u{FEFF}'
                | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
                | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
    };
    let visible: String = name.chars().filter(|character| !is_deceptive(*character)).collect();
    let words: Vec<&str> = visible.split_whitespace().collect();
    let mut name = words.join(" ");
    if let Some((end, _)) = name.char_indices().nth(MAX_NAME_CHARACTERS) {
        name.truncate(end);
        name.push('…');
    }
    (!name.is_empty()).then_some(name)
}
