//! The addresses of resources: `vault://notes/PATH`, `vault://tags`, `vault://recent`.
//!
//! Another vault than the default one is named behind the path,
//! `vault://notes/PATH?vault=NAME`: there a name can be mistaken for no part of a path.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

const SCHEME: &str = "vault://";

/// What stands for itself in a path (RFC 3986 section 3.3), less what some clients
/// take for markup.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The address of one resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VaultUri {
    /// The name of the vault; empty for the default one.
    pub(super) vault: String,
    /// What it leads to.
    pub(super) target: Target,
}

/// What there is to read in a vault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// All tags with their counts.
    Tags,
    /// What has changed of late.
    Recent,
    /// One note, by a path that nobody has looked up yet.
    Note(String),
}

impl VaultUri {
    /// The address of a note.
    pub(super) fn of_note(vault: &str, path: impl Into<String>) -> Self {
        Self { vault: vault.to_owned(), target: Target::Note(path.into()) }
    }

    /// Reads an address. A fragment is left out: it leads to a place within the note.
    ///
    /// Slashes of the path may be encoded too, as they are when a client fills the
    /// template in by RFC 6570 section 3.2.2.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let scheme = text.get(..SCHEME.len())?;
        if !scheme.eq_ignore_ascii_case(SCHEME) {
            return None;
        }
        let rest = &text[SCHEME.len()..];
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let vault = match query {
            "" => String::new(),
            query => decoded(query.strip_prefix("vault=")?)?,
        };
        let target = match place.trim_end_matches('/') {
            "tags" => Target::Tags,
            "recent" => Target::Recent,
            note => Target::Note(decoded(note.strip_prefix("notes/")?)?),
        };
        Some(Self { vault, target })
    }
}

fn decoded(text: &str) -> Option<String> {
    Some(percent_decode_str(text).decode_utf8().ok()?.into_owned())
}

impl fmt::Display for VaultUri {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(SCHEME)?;
        match &self.target {
            Target::Tags => formatter.write_str("tags")?,
            Target::Recent => formatter.write_str("recent")?,
            Target::Note(path) => {
                write!(formatter, "notes/{}", utf8_percent_encode(path, ESCAPED))?;
            }
        }
        if self.vault.is_empty() {
            return Ok(());
        }
        write!(formatter, "?vault={}", utf8_percent_encode(&self.vault, ESCAPED))
    }
}
