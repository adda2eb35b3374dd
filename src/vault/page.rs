//! What is in a page: bytes → text → title.

use std::borrow::Cow;
use std::fmt::Write as _;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use jiff::tz::TimeZone;
use memchr::{memchr, memchr_iter};
use sha2::{Digest as _, Sha256};

use crate::access::path::VaultPath;
use crate::vault::evidence::is_ciphertext;
use crate::vault::markdown::parse;

/// What bytes turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text(String),
    /// git-crypt is locked on this machine.
    Ciphertext,
    Binary,
}

/// A text may have so many NULs: one among so many characters. UTF-16 without a mark,
/// and whatever is no text, has more.
const CHARACTERS_A_NUL: usize = 10;

/// Decodes a page: UTF-8, what its byte order mark says, else Windows-1252, the
/// encoding in which no text of an old editor is invalid.
pub(super) fn decode(mut bytes: Vec<u8>) -> Content {
    if is_ciphertext(&bytes) {
        return Content::Ciphertext;
    }
    let (encoding, mark) = Encoding::for_bom(&bytes).unwrap_or((UTF_8, 0));
    if encoding == UTF_8 && mark == 0 && memchr(0, &bytes).is_none() {
        // As most pages are: nothing is copied.
        bytes = match String::from_utf8(bytes) {
            Ok(text) => return Content::Text(text),
            Err(error) => error.into_bytes(),
        };
    }
    let (text, is_damaged) = encoding.decode_without_bom_handling(&bytes[mark..]);
    match is_damaged {
        false => without_nuls(text),
        true if encoding == UTF_8 && !bytes[mark..].contains(&0) => {
            Content::Text(WINDOWS_1252.decode_without_bom_handling(&bytes[mark..]).0.into_owned())
        }
        true => Content::Binary,
    }
}

/// A text in which a stray NUL is read as `CommonMark` has it (section 2.3): as a sign
/// for a character that cannot be shown.
fn without_nuls(text: Cow<'_, str>) -> Content {
    let nuls = memchr_iter(0, text.as_bytes()).count();
    if nuls == 0 {
        Content::Text(text.into_owned())
    } else if nuls * CHARACTERS_A_NUL <= text.chars().count() {
        Content::Text(text.replace('\0', "\u{fffd}"))
    } else {
        Content::Binary
    }
}

/// The title of a page: from its frontmatter, else its first heading of the first
/// level, else its file name.
pub(super) fn title(path: &VaultPath, text: &str) -> String {
    parse(text, &TimeZone::UTC).title.unwrap_or_else(|| path.stem().to_owned())
}

/// What changes whenever a text does: half of its SHA-256, in hexadecimal.
pub(super) fn etag(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().take(16).fold(String::new(), |mut etag, byte| {
        let _ = write!(etag, "{byte:02x}");
        etag
    })
}
