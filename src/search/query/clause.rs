//! What a query looks for.

/// Something to look for: a word, or a phrase of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// At adjacent positions, if there are several.
    pub words: Vec<TermGroup>,
    /// Whether a note must have it.
    pub is_required: bool,
    /// Whether only the title counts.
    pub in_title: bool,
}

impl Clause {
    /// Whether it is more than a word: a note has it only at certain places.
    pub(super) fn is_phrase(&self) -> bool {
        self.words.len() > 1 || self.words.iter().any(|word| !word.parts.is_empty())
    }
}

/// One of several things of which a note must have one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A tag, in the form of [`tag_key`](super::tag_key).
    Tag(Box<str>),
    /// What the path contains, in the form of [`path_key`](super::path_key).
    Path(Box<str>),
    /// All of these.
    Words(Vec<Clause>),
}

/// A word with everything that it may be in a note: one of the terms, or the parts, one
/// behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermGroup {
    /// As it is typed.
    pub typed: String,
    /// Terms, each of which is the whole word: its stem in each language, and as it is.
    pub alternatives: Vec<Box<str>>,
    /// The parts of an identifier, or the pairs of a run without blanks, as terms at
    /// adjacent positions. Parts of camel case stand at the same position, too. Empty
    /// for a plain word.
    pub parts: Vec<Vec<Box<str>>>,
}

/// How the words of an item are looked for.
#[derive(Clone, Copy)]
pub(super) struct Sought {
    /// What stands before them in the normal form.
    pub(super) before: &'static str,
    pub(super) is_required: bool,
    pub(super) in_title: bool,
    pub(super) is_exact: bool,
}
