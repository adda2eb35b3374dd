//! The folder of a vault that clients may write into.

use std::fmt;
use std::str::FromStr;

use unicode_normalization::UnicodeNormalization as _;

use super::class::is_private_name;
use super::path::VaultPath;

/// The folder for notes that are not filed yet, relative to its vault, composed
/// (Unicode normalization form C), without a slash at its end. Never the vault itself,
/// and never a place whose pages are not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbox(Box<str>);

/// Why a text names no inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no folder inside the vault whose notes are served")]
pub struct InvalidInbox;

impl Inbox {
    /// The folder as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folders on the way, the inbox itself last.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// Whether a page lies in the inbox or in a folder below it. Both are composed, so
    /// it does not matter how the disk or the client spells them.
    #[must_use]
    pub fn holds(&self, path: &VaultPath) -> bool {
        self.inside(path.as_str()).is_some()
    }

    /// What of a path is behind the inbox and its slash; `None` if it is elsewhere.
    #[must_use]
    pub fn inside<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(&*self.0)?.strip_prefix('/')
    }
}

impl FromStr for Inbox {
    type Err = InvalidInbox;

    fn from_str(text: &str) -> Result<Self, InvalidInbox> {
        let folder: String = text.strip_suffix('/').unwrap_or(text).nfc().collect();
        let forbidden = |segment: &str| {
            segment.is_empty() || segment.starts_with('.') || is_private_name(segment)
        };
        if folder.split('/').any(forbidden) || folder.contains(['\0', '\\']) {
            return Err(InvalidInbox);
        }
        Ok(Self(folder.into()))
    }
}

impl fmt::Display for Inbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
