//! What is wrong with a configuration: all of it at once.

use std::fmt;
use std::path::Path;

use super::raw::{Given, Key};

/// The key under which faults of the whole file stand.
const CONFIGURATION_FILE: &str = "the configuration file";

/// One thing that is wrong, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key, and where it was given.
    pub key: String,
    /// What it was set to, if it was set. Never a secret.
    pub value: Option<String>,
    /// What is wrong and how to put it right.
    pub cure: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(formatter, "{} = {value:?}: {}", self.key, self.cure),
            None => write!(formatter, "{}: {}", self.key, self.cure),
        }
    }
}

/// Everything that is wrong with a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Notes that a value is wrong.
    pub(super) fn wrong(&mut self, given: &Given, cure: impl Into<String>) {
        self.0.push(Fault {
            key: given.source.to_string(),
            value: Some(given.value.clone()),
            cure: cure.into(),
        });
    }

    /// Notes that something is missing, or wrong as a whole.
    pub(super) fn note(&mut self, key: impl Into<String>, cure: impl Into<String>) {
        self.0.push(Fault { key: key.into(), value: None, cure: cure.into() });
    }

    /// Notes that the file could not be read at all.
    pub(super) fn unread_file(&mut self, path: &Path, cure: impl Into<String>) {
        let value = Some(path.display().to_string());
        self.0.push(Fault { key: CONFIGURATION_FILE.to_owned(), value, cure: cure.into() });
    }

    /// Whether the file could not be read at all.
    pub(super) fn have_unread_file(&self) -> bool {
        self.0.iter().any(|fault| fault.key == CONFIGURATION_FILE)
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all that is missing is a vault: the first run of a newcomer.
    #[must_use]
    pub fn only_lack_a_vault(&self) -> bool {
        matches!(&*self.0, [fault] if fault.key == Key::Vault.name() && fault.value.is_none())
    }

    /// The faults, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the configuration cannot be used:")?;
        for fault in &self.0 {
            write!(formatter, "\n  - {fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}
