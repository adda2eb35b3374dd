//! What the commands that ask a vault have in common: which vault, and as whom.

use std::path::PathBuf;

use clap::Args;

use crate::access::permit::Viewer;
use crate::admin::terminal::Working;
use crate::clock::Clock;
use crate::configuration::raw::Key;
use crate::configuration::sources::gather_one_vault;
use crate::configuration::{Configuration, People, RawConfiguration};
use crate::contract::scope::{Scope, ScopeSet};
use crate::vault::{Settings, Unavailable, Vault};

/// Which vault to ask, and as whom.
#[derive(Clone, Debug, Default, Args)]
pub struct QuestionFlags {
    /// Folder of notes.
    #[arg(long, value_name = "DIR")]
    pub vault: Option<String>,
    /// Folder in it that is left out, as the inbox is.
    #[arg(long, value_name = "FOLDER")]
    pub inbox: Option<String>,
    /// Languages of the notes, such as en,de; the first is that of notes which do not say [default: en].
    #[arg(long, value_name = "NAMES")]
    pub languages: Option<String>,
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
    /// Opens the vault and reads its notes.
    ///
    /// # Errors
    ///
    /// Why there is none, in words for the owner.
    pub fn open(&self) -> anyhow::Result<Vault> {
        let working = Working::on("looking at the vault");
        let vault = Vault::open(self.settings()?, Clock::system())?;
        working.goes_on_with("reading the notes");
        vault
            .build_index(&|read, all| working.show(read, all))
            .map_err(|error| told(error, &vault))?;
        Ok(vault)
    }

    fn settings(&self) -> anyhow::Result<Settings> {
        let given = [
            (Key::Vault, &self.vault),
            (Key::Inbox, &self.inbox),
            (Key::Languages, &self.languages),
        ];
        let given = given.into_iter().filter_map(|(key, value)| Some((key, value.clone()?)));
        configured_vault(RawConfiguration::from_flags(given, []), self.config.clone())
    }

    /// Who asks.
    #[must_use]
    pub fn viewer(&self) -> Viewer {
        let scopes: ScopeSet = self.scope.iter().copied().collect();
        Viewer::at_the_terminal(if scopes.is_empty() { ScopeSet::READING } else { scopes })
    }
}

/// The one vault that flags and configuration name.
pub(super) fn configured_vault(
    flags: RawConfiguration,
    config: Option<PathBuf>,
) -> anyhow::Result<Settings> {
    let Configuration { people, languages, .. } = gather_one_vault(flags, config)?;
    match people {
        People::SingleOwner { vault: root, inbox } => {
            Ok(Settings { inbox, languages, ..Settings::of(root) })
        }
        People::Named(_) => anyhow::bail!("there are several vaults; say which with --vault DIR"),
    }
}

/// Commands have no log, so the reason stands in the error.
pub(super) fn told(error: Unavailable, vault: &Vault) -> anyhow::Error {
    let busy = || "it changes faster than it can be read".to_owned();
    anyhow::anyhow!("{error}: {}", vault.trouble().unwrap_or_else(busy))
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    let reading = || ScopeSet::READING.iter();
    reading().find(|scope| scope.as_str() == text).ok_or_else(|| {
        let names: Vec<&str> = reading().map(Scope::as_str).collect();
        format!("write one of {}", names.join(", "))
    })
}
