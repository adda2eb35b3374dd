//! Which tools are listed.

use std::str::FromStr;

/// Tools that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolset {
    /// `search` and `read_page`: two tools for clients that want few.
    Pages,
    /// Everything that can be asked of notes.
    Notes,
    /// `search` and `fetch` in the shape that ChatGPT's connectors expect.
    Openai,
}

impl Toolset {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pages, Self::Notes, Self::Openai];

    /// The name in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Notes => "notes",
            Self::Openai => "openai",
        }
    }
}

/// There is no toolset of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such toolset")]
pub struct NoSuchToolset;

impl FromStr for Toolset {
    type Err = NoSuchToolset;

    fn from_str(text: &str) -> Result<Self, NoSuchToolset> {
        Self::ALL.into_iter().find(|set| set.as_str() == text).ok_or(NoSuchToolset)
    }
}

/// The toolsets that are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toolsets(u8);

impl Toolsets {
    /// Whether a set is on.
    #[must_use]
    pub const fn contains(self, set: Toolset) -> bool {
        self.0 & (1 << set as u8) != 0
    }

    /// Whether no set is on, and no tool is listed.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Default for Toolsets {
    /// Pages and notes.
    fn default() -> Self {
        [Toolset::Pages, Toolset::Notes].into_iter().collect()
    }
}

impl FromIterator<Toolset> for Toolsets {
    fn from_iter<T: IntoIterator<Item = Toolset>>(sets: T) -> Self {
        Self(sets.into_iter().fold(0, |bits, set| bits | 1 << set as u8))
    }
}
