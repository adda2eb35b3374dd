//! What the commands that ask a vault have in common: which vault, and as whom.

use std::path::PathBuf;

use clap::Args;

use crate::access::permit::Viewer;
use crate::admin::terminal::Working;
use crate::clock::Clock;
use crate::configuration::sources::gather;
use crate::configuration::{People, RawConfiguration};
use crate::contract::scope::{Scope, ScopeSet};
use crate::vault::{Settings, Vault};

/// Which vault to ask, and as whom.
#[derive(Clone, Debug, Default, Args)]
pub struct QuestionFlags {
    /// Folder of notes.
    #[arg(long, value_name = "DIR")]
    pub vault: Option<PathBuf>,
    /// Folder in it that is left out, as the inbox is.
    #[arg(long, value_name = "FOLDER", requires = "vault")]
    pub inbox: Option<String>,
    /// Answer as a client with this scope would be answered, such as wiki:read.
    /// Repeatable [default: all that open pages].
    #[arg(long, value_name = "SCOPE", value_parser = parse_scope)]
    pub scope: Vec<Scope>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Configuration file (TOML) that names the vault.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl QuestionFlags {
    /// Opens the vault.
    ///
    /// # Errors
    ///
    /// Why there is none, in words for the owner.
    pub fn open(&self) -> anyhow::Result<Vault> {
        let settings = match &self.vault {
            Some(root) => Settings { inbox: self.inbox.clone(), ..Settings::of(root) },
            None => configured_vault(self.config.clone())?,
        };
        let _working = Working::on("reading the notes");
        Ok(Vault::open(settings, Clock::system())?)
    }

    /// Who asks.
    #[must_use]
    pub fn viewer(&self) -> Viewer {
        let scopes: ScopeSet = self.scope.iter().copied().collect();
        Viewer::at_the_terminal(if scopes.is_empty() { ScopeSet::READING } else { scopes })
    }
}

/// The one vault that the configuration names.
pub(super) fn configured_vault(config: Option<PathBuf>) -> anyhow::Result<Settings> {
    match gather(RawConfiguration::default(), config)?.people {
        People::SingleOwner { vault: root, inbox } => Ok(Settings { inbox, ..Settings::of(root) }),
        People::Named(_) => anyhow::bail!("there are several vaults; say which with --vault DIR"),
    }
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    let reading = || ScopeSet::READING.iter();
    reading().find(|scope| scope.as_str() == text).ok_or_else(|| {
        let names: Vec<&str> = reading().map(Scope::as_str).collect();
        format!("write one of {}", names.join(", "))
    })
}
