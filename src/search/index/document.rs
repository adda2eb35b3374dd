//! What is put into an index, and where.

/// One of the partitions into which the documents are divided. Which stands for what
/// is the caller's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId(u8);

/// Some partitions: those that somebody may see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartitionSet(u8);

impl PartitionId {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// The partition with a number below [`COUNT`](Self::COUNT).
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if (number as usize) < Self::COUNT { Some(Self(number)) } else { None }
    }

    /// Its number.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl PartitionSet {
    /// No partition.
    pub const NONE: Self = Self(0);
    /// Every partition.
    pub const ALL: Self = Self(u8::MAX);

    /// This set and one more.
    #[must_use]
    pub const fn with(self, partition: PartitionId) -> Self {
        Self(self.0 | 1 << partition.0)
    }

    /// Whether a partition belongs to it.
    #[must_use]
    pub const fn has(self, partition: PartitionId) -> bool {
        self.has_index(partition.index())
    }

    pub(super) const fn has_index(self, partition: usize) -> bool {
        self.0 >> partition & 1 == 1
    }
}

impl FromIterator<PartitionId> for PartitionSet {
    fn from_iter<I: IntoIterator<Item = PartitionId>>(partitions: I) -> Self {
        partitions.into_iter().fold(Self::NONE, Self::with)
    }
}

/// A document that is to be found.
#[derive(Clone, Debug)]
pub struct Document<'a, P> {
    /// What names it, once in the whole index: its path. Ties are broken by it.
    pub key: &'a str,
    /// What is searched, in reading order.
    pub fields: Vec<(Field, &'a str)>,
    /// Texts by which it is looked up as they are. Each counts once.
    pub keywords: Vec<(Namespace, &'a str)>,
    /// What comes with it when it is found.
    pub payload: P,
}

/// Where a text of a document stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The title. Its words count a little more, and a query that is the whole title
    /// finds the document first.
    Title,
    /// Another title; a query that is all of it finds the document first.
    Alias,
    /// The file name; a query that is all of it finds the document first.
    Name,
    /// The names of the folders above.
    Folder,
    /// A tag.
    Tag,
    /// A heading.
    Heading,
    /// Running text. A phrase may reach from one body text into the next.
    Body,
    /// An address, a comment: found, but no phrase reaches into it or out of it.
    Aside,
}

/// What kind of keyword it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Namespace {
    /// A tag.
    Tag,
    /// What the document links to.
    Link,
    /// A name under which links reach the document.
    Name,
    /// Its path, or a part of it, in the form in which paths are compared.
    Path,
    /// What sets the document apart from others.
    Mark,
}

/// The namespace of the words of a text.
pub(in crate::search) const WORDS: u8 = 0;
/// The namespace of whole titles, aliases and file names, as their words.
pub(in crate::search) const WHOLE_TITLES: u8 = 1;

impl Namespace {
    /// What stands before each term of this namespace.
    pub(in crate::search) const fn byte(self) -> u8 {
        match self {
            Self::Tag => 2,
            Self::Link => 3,
            Self::Name => 4,
            Self::Path => 5,
            Self::Mark => 6,
        }
    }
}
