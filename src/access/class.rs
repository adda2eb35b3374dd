//! How sensitive a page is, and why.

use std::fmt;

use super::path::VaultPath;

/// The folder whose encrypted pages are about people. Relative to the vault.
pub const PEOPLE_FOLDER: &str = "wiki/people/";

/// How sensitive a page is. Later is stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageClass {
    /// Everything that is served and that nothing below applies to.
    Ordinary,
    /// Encrypted by git-crypt.
    Confidential,
    /// Encrypted by git-crypt and under [`PEOPLE_FOLDER`].
    People,
    /// Private by its name. Never served, never indexed, never counted.
    Secret,
}

impl PageClass {
    /// Every class, from the most open to the strictest.
    pub const ALL: [Self; 4] = [Self::Ordinary, Self::Confidential, Self::People, Self::Secret];

    /// The name that people read.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Confidential => "confidential",
            Self::People => "people",
            Self::Secret => "secret",
        }
    }
}

impl fmt::Display for PageClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Whether names are compared with their letter case, as the repository's
/// `core.ignorecase` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameCase {
    /// `Wiki/People` is another folder than `wiki/people`.
    Exact,
    /// Both are the same folder, as on macOS and Windows.
    Folded,
}

/// What git says about one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitAttributes {
    /// The value of `filter`; empty if it is not set to a value.
    pub filter: String,
    /// The value of `brain-class`; empty if it is not set to a value.
    pub brain_class: String,
}

impl GitAttributes {
    /// The attributes of a path in a folder that is no git repository.
    pub const NONE: Self = Self { filter: String::new(), brain_class: String::new() };

    /// Whether git-crypt encrypts the path: its filter with the default key, or
    /// with a named one. Compared with case, as git looks up drivers.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.filter == "git-crypt" || self.filter.starts_with("git-crypt-")
    }

    /// The class that the vault asks for in so many words. It raises, never lowers.
    /// A value that is none of ours asks for protection in words that we do not
    /// understand, so it counts as confidential.
    fn asked_for(&self) -> Option<PageClass> {
        match &*self.brain_class {
            "" | "ordinary" => None,
            "people" => Some(PageClass::People),
            "secret" => Some(PageClass::Secret),
            _ => Some(PageClass::Confidential),
        }
    }
}

/// The class of a page and what decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The class.
    pub class: PageClass,
    /// The rule, in words for the owner.
    pub rule: String,
}

/// Judges a page by its name and by what git says about it.
///
/// The first rule that applies wins, the strictest first (design section 5).
#[must_use]
pub fn judge(path: &str, attributes: &GitAttributes, case: NameCase) -> Ruling {
    if let Some(segment) = private_segment(path) {
        return Ruling { class: PageClass::Secret, rule: format!("the name {segment}") };
    }
    let filter = &attributes.filter;
    let by_filter = if !attributes.is_encrypted() {
        Ruling { class: PageClass::Ordinary, rule: "no rule".to_owned() }
    } else if is_under_people(path, case) {
        let rule = format!("filter={filter} under {PEOPLE_FOLDER}");
        Ruling { class: PageClass::People, rule }
    } else {
        Ruling { class: PageClass::Confidential, rule: format!("filter={filter}") }
    };
    match attributes.asked_for() {
        Some(class) if class > by_filter.class => {
            Ruling { class, rule: format!("brain-class={}", attributes.brain_class) }
        }
        _ => by_filter,
    }
}

/// The class that a page has at least while its rules cannot be read: as strict
/// as the strictest that its place could make it.
#[must_use]
pub fn class_in_doubt(path: &str) -> PageClass {
    if is_under_people(path, NameCase::Folded) {
        PageClass::People
    } else {
        PageClass::Confidential
    }
}

fn is_under_people(path: &str, case: NameCase) -> bool {
    path.get(..PEOPLE_FOLDER.len()).is_some_and(|start| match case {
        NameCase::Exact => start == PEOPLE_FOLDER,
        NameCase::Folded => start.eq_ignore_ascii_case(PEOPLE_FOLDER),
    })
}

/// The first segment whose name makes everything at and below it secret.
///
/// `salary.private.md` is the rule. A copy that lost the exact form but not its
/// content must not become ordinary: `salary.private 2.md`,
/// `salary.private.sync-conflict-1.md`, or a folder named `x.private`. So the mark
/// is `.private` with no letter behind it; `x.privateer.md` is not marked.
fn private_segment(path: &str) -> Option<&str> {
    const MARK: &str = ".private";
    path.split('/').find(|segment| {
        let lower = segment.to_lowercase();
        lower.match_indices(MARK).any(|(start, _)| {
            !lower[start + MARK.len()..].chars().next().is_some_and(char::is_alphabetic)
        })
    })
}

/// Whether a file or folder name makes everything at and below it secret.
#[must_use]
pub fn is_private_name(name: &str) -> bool {
    private_segment(name).is_some()
}

/// A page whose class has been judged. Made by the vault for pages that it has
/// found on disk.
///
/// ```compile_fail,E0451
/// # use brain_mcp::access::{class::{ClassifiedPath, PageClass}, path::VaultPath};
/// # fn forge(path: VaultPath) {
/// let forged = ClassifiedPath { path, class: PageClass::Ordinary };
/// # }
/// ```
///
/// ```compile_fail,E0624
/// # use brain_mcp::access::{class::{ClassifiedPath, PageClass}, path::VaultPath};
/// # fn forge(path: VaultPath) {
/// let forged = ClassifiedPath::judged(path, PageClass::Ordinary);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifiedPath {
    path: VaultPath,
    class: PageClass,
}

impl ClassifiedPath {
    /// States the class of a page. Only [`vault`](crate::vault) may call this; a
    /// test of the source holds the other modules to it.
    pub(crate) const fn judged(path: VaultPath, class: PageClass) -> Self {
        Self { path, class }
    }

    /// The path.
    #[must_use]
    pub const fn path(&self) -> &VaultPath {
        &self.path
    }

    /// The class.
    #[must_use]
    pub const fn class(&self) -> PageClass {
        self.class
    }
}
