//! The languages whose words can be reduced to stems.

use std::fmt;
use std::str::FromStr;

use frostem::Algorithm;

use super::script::{Script, script_of};

/// So many letters of a text tell which script it is in.
const LETTERS_LOOKED_AT: usize = 1_000;

/// A language whose words can be reduced to stems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the language of its name")]
pub enum Language {
    Arabic,
    Armenian,
    Basque,
    Catalan,
    Czech,
    Danish,
    Dutch,
    #[default]
    English,
    Esperanto,
    Estonian,
    Finnish,
    French,
    German,
    Greek,
    Hindi,
    Hungarian,
    Indonesian,
    Irish,
    Italian,
    Lithuanian,
    Nepali,
    Norwegian,
    Persian,
    Polish,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
    Ukrainian,
    Yiddish,
}

/// The languages of a vault: a word of a query is looked for as each of them would
/// reduce it. At least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Languages(Vec<Language>);

/// No language of this name can be reduced to stems.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no language with a stemmer; there are: {known}", known = Language::names())]
pub struct UnknownLanguage(String);

/// What is known of a language.
struct Traits {
    /// ISO 639-1.
    code: &'static str,
    algorithm: Algorithm,
    script: Script,
}

impl Language {
    /// All of them, by name.
    pub const ALL: &'static [Self] = &[
        Self::Arabic,
        Self::Armenian,
        Self::Basque,
        Self::Catalan,
        Self::Czech,
        Self::Danish,
        Self::Dutch,
        Self::English,
        Self::Esperanto,
        Self::Estonian,
        Self::Finnish,
        Self::French,
        Self::German,
        Self::Greek,
        Self::Hindi,
        Self::Hungarian,
        Self::Indonesian,
        Self::Irish,
        Self::Italian,
        Self::Lithuanian,
        Self::Nepali,
        Self::Norwegian,
        Self::Persian,
        Self::Polish,
        Self::Portuguese,
        Self::Romanian,
        Self::Russian,
        Self::Spanish,
        Self::Swedish,
        Self::Tamil,
        Self::Turkish,
        Self::Ukrainian,
        Self::Yiddish,
    ];

    /// Its code in ISO 639-1.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.traits().code
    }

    /// Its English name, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.traits().algorithm.name()
    }

    /// Whether letters of a script may be its words.
    pub(super) fn is_written_in(self, script: Script) -> bool {
        self.traits().script == script
    }

    pub(super) fn algorithm(self) -> Algorithm {
        self.traits().algorithm
    }

    fn names() -> String {
        let names: Vec<&str> = Self::ALL.iter().map(|language| language.name()).collect();
        names.join(", ")
    }

    fn traits(self) -> Traits {
        let (code, algorithm, script) = match self {
            Self::Arabic => ("ar", Algorithm::Arabic, Script::Arabic),
            Self::Armenian => ("hy", Algorithm::Armenian, Script::Armenian),
            Self::Basque => ("eu", Algorithm::Basque, Script::Latin),
            Self::Catalan => ("ca", Algorithm::Catalan, Script::Latin),
            Self::Czech => ("cs", Algorithm::Czech, Script::Latin),
            Self::Danish => ("da", Algorithm::Danish, Script::Latin),
            Self::Dutch => ("nl", Algorithm::Dutch, Script::Latin),
            Self::English => ("en", Algorithm::English, Script::Latin),
            Self::Esperanto => ("eo", Algorithm::Esperanto, Script::Latin),
            Self::Estonian => ("et", Algorithm::Estonian, Script::Latin),
            Self::Finnish => ("fi", Algorithm::Finnish, Script::Latin),
            Self::French => ("fr", Algorithm::French, Script::Latin),
            Self::German => ("de", Algorithm::German, Script::Latin),
            Self::Greek => ("el", Algorithm::Greek, Script::Greek),
            Self::Hindi => ("hi", Algorithm::Hindi, Script::Devanagari),
            Self::Hungarian => ("hu", Algorithm::Hungarian, Script::Latin),
            Self::Indonesian => ("id", Algorithm::Indonesian, Script::Latin),
            Self::Irish => ("ga", Algorithm::Irish, Script::Latin),
            Self::Italian => ("it", Algorithm::Italian, Script::Latin),
            Self::Lithuanian => ("lt", Algorithm::Lithuanian, Script::Latin),
            Self::Nepali => ("ne", Algorithm::Nepali, Script::Devanagari),
            Self::Norwegian => ("no", Algorithm::Norwegian, Script::Latin),
            Self::Persian => ("fa", Algorithm::Persian, Script::Arabic),
            Self::Polish => ("pl", Algorithm::Polish, Script::Latin),
            Self::Portuguese => ("pt", Algorithm::Portuguese, Script::Latin),
            Self::Romanian => ("ro", Algorithm::Romanian, Script::Latin),
            Self::Russian => ("ru", Algorithm::Russian, Script::Cyrillic),
            Self::Spanish => ("es", Algorithm::Spanish, Script::Latin),
            Self::Swedish => ("sv", Algorithm::Swedish, Script::Latin),
            Self::Tamil => ("ta", Algorithm::Tamil, Script::Tamil),
            Self::Turkish => ("tr", Algorithm::Turkish, Script::Latin),
            Self::Ukrainian => ("uk", Algorithm::Ukrainian, Script::Cyrillic),
            Self::Yiddish => ("yi", Algorithm::Yiddish, Script::Hebrew),
        };
        Traits { code, algorithm, script }
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    /// Reads a code or an English name in any letter case. What follows a `-` or `_`
    /// is the region (`en-GB`) and makes no difference.
    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        let trimmed = text.trim();
        let name = trimmed.split(['-', '_']).next().unwrap_or(trimmed).to_ascii_lowercase();
        // Norwegian is written in two ways that have codes of their own.
        let name = if name == "nb" || name == "nn" { "no" } else { &name };
        let is_meant = |language: &Self| language.code() == name || language.name() == name;
        let unknown = || UnknownLanguage(trimmed.to_owned());
        Self::ALL.iter().copied().find(is_meant).ok_or_else(unknown)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Languages {
    /// These languages, the first being that of notes that name none. English if there
    /// is none.
    #[must_use]
    pub fn new(languages: impl IntoIterator<Item = Language>) -> Self {
        let mut distinct = Vec::new();
        for language in languages {
            if !distinct.contains(&language) {
                distinct.push(language);
            }
        }
        if distinct.is_empty() {
            distinct.push(Language::English);
        }
        Self(distinct)
    }

    /// The language of notes that name none.
    #[must_use]
    pub fn first(&self) -> Language {
        self.0.first().copied().unwrap_or_default()
    }

    /// The language of a note by what its frontmatter names: that, if the vault has it. A
    /// stem of any other language would never be looked for. If nothing is named, the first
    /// that is written in the script that the text is mostly in, else the first.
    #[must_use]
    pub fn of_note(&self, named: Option<&str>, text: &str) -> Language {
        let named = named.and_then(|name| name.parse().ok());
        let named = named.filter(|language| self.0.contains(language));
        named.or_else(|| self.by_script(text)).unwrap_or_else(|| self.first())
    }

    fn by_script(&self, text: &str) -> Option<Language> {
        let first = self.first();
        // Most vaults have one script, and need no look.
        if self.iter().all(|language| language.is_written_in(first.traits().script)) {
            return None;
        }
        let letters = text.chars().filter(|it| it.is_alphabetic()).take(LETTERS_LOOKED_AT);
        let scripts: Vec<Script> = letters.map(script_of).collect();
        let share = |script| scripts.iter().filter(|its| **its == script).count();
        // Of equals the last wins, which is the first here.
        self.0.iter().rev().copied().max_by_key(|language| share(language.traits().script))
    }

    /// All of them, the first first.
    pub fn iter(&self) -> impl Iterator<Item = Language> + '_ {
        self.0.iter().copied()
    }
}

impl Default for Languages {
    fn default() -> Self {
        Self::new([Language::English])
    }
}
