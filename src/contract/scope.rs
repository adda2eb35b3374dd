//! The scopes, and sets of them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One permission that the owner can give.
///
/// Scopes add up and none implies another: who holds only
/// [`Scope::Confidential`] sees confidential pages and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Ordinary pages.
    Read,
    /// Confidential pages.
    Confidential,
    /// Pages about people.
    People,
    /// Writing to the inbox.
    Write,
}

impl Scope {
    /// Every scope, in the order in which they are always printed.
    pub const ALL: [Self; 4] = [Self::Read, Self::Confidential, Self::People, Self::Write];

    /// The name on the wire (RFC 6749 section 3.3).
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "wiki:read",
            Self::Confidential => "wiki:confidential",
            Self::People => "wiki:people",
            Self::Write => "wiki:write",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::Confidential => 2,
            Self::People => 4,
            Self::Write => 8,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A set of scopes. The empty set opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScopeSet(u8);

impl ScopeSet {
    /// No scope at all.
    pub const NONE: Self = Self(0);

    /// All scopes.
    pub const ALL: Self = Self(0b1111);

    /// The scopes that open pages. Who holds none of them has nothing to read.
    pub const READING: Self = Self(0b0111);

    /// Reads a space-separated list. Names that are not ours are left out, not
    /// refused: clients ask for `openid`, `offline_access` or `claudeai`, and a
    /// refusal would lock them out (design section 4, rule 5). No other white space
    /// separates (RFC 6749 section 3.3).
    #[must_use]
    pub fn parse_known(text: &str) -> Self {
        text.split(' ')
            .filter_map(|name| Scope::ALL.into_iter().find(|scope| scope.as_str() == name))
            .collect()
    }

    /// Whether `scope` is in the set.
    #[must_use]
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// What is in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The set without one scope.
    #[must_use]
    pub const fn without(self, scope: Scope) -> Self {
        Self(self.0 & !scope.bit())
    }

    /// Whether every member is also in `other`.
    #[must_use]
    pub const fn is_subset(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether nothing is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for ScopeSet {
    fn from_iter<T: IntoIterator<Item = Scope>>(scopes: T) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

/// The members separated by single blanks, as the `scope` parameter wants them.
impl fmt::Display for ScopeSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, scope) in self.iter().enumerate() {
            if position > 0 {
                formatter.write_str(" ")?;
            }
            formatter.write_str(scope.as_str())?;
        }
        Ok(())
    }
}

impl Serialize for ScopeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ScopeSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::parse_known(&String::deserialize(deserializer)?))
    }
}
