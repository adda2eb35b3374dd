//! The path of a page.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// The path of one page, relative to the root of its vault, in Unicode
/// normalization form C whatever the disk holds.
///
/// At least one segment, separated by `/`; none empty, none starting with a dot
/// (which rules out `.`, `..` and `.git`), no NUL, and the last one ends like a
/// page. A path is only a name: it is looked up among the pages that the disk has,
/// never joined to a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VaultPath(Arc<str>);

/// Why a text names no page. To a caller it is the same as a missing page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidVaultPath {
    /// Longer than [`VaultPath::MAX_BYTES`].
    #[error("the path is too long")]
    TooLong,
    /// A segment is empty or starts with a dot, or there is a NUL.
    #[error("the path has a segment that no page can have")]
    ForbiddenSegment,
    /// Not one of [`VaultPath::EXTENSIONS`].
    #[error("the path does not end like a page")]
    NotAPage,
}

impl VaultPath {
    /// The longest path, in bytes: `PATH_MAX` of Linux.
    pub const MAX_BYTES: usize = 4096;

    /// What the name of a page ends in, in any letter case.
    pub const EXTENSIONS: [&str; 3] = [".md", ".markdown", ".txt"];

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The segments, the file name last.
    #[must_use]
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// The last segment.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The file name without its extension: what a page without a heading is called.
    #[must_use]
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        name.rfind('.').map_or(name, |dot| &name[..dot])
    }

    /// Whether a file name ends like a page.
    #[must_use]
    pub fn is_page_name(name: &str) -> bool {
        Self::EXTENSIONS.iter().any(|extension| {
            name.len()
                .checked_sub(extension.len())
                .and_then(|start| name.get(start..))
                .is_some_and(|end| end.eq_ignore_ascii_case(extension))
        })
    }
}

impl FromStr for VaultPath {
    type Err = InvalidVaultPath;

    fn from_str(text: &str) -> Result<Self, InvalidVaultPath> {
        if text.len() > Self::MAX_BYTES {
            return Err(InvalidVaultPath::TooLong);
        }
        let forbidden = |segment: &str| segment.is_empty() || segment.starts_with('.');
        if text.contains('\0') || text.split('/').any(forbidden) {
            return Err(InvalidVaultPath::ForbiddenSegment);
        }
        if !Self::is_page_name(text) {
            return Err(InvalidVaultPath::NotAPage);
        }
        Ok(Self(match is_nfc_quick(text.chars()) {
            IsNormalized::Yes => text.into(),
            IsNormalized::No | IsNormalized::Maybe => text.nfc().collect::<String>().into(),
        }))
    }
}

impl fmt::Display for VaultPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
