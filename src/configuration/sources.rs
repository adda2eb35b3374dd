//! Where the sources are: this process's environment, the file, the platform.

use std::fs;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use super::faults::Faults;
use super::raw::{CONFIG_VARIABLE, Given, Key, RawConfiguration, Source};
use super::{Configuration, check, file};

/// Reads and checks the configuration of this process: `flags`, then the
/// environment, then the file that `config_file` or `BRAIN_MCP_CONFIG` names.
///
/// # Errors
///
/// [`Faults`], all at once.
pub fn gather(
    flags: RawConfiguration,
    config_file: Option<PathBuf>,
) -> Result<Configuration, Faults> {
    let (raw, data_dir, faults) = read(flags, config_file);
    check(&raw, data_dir, faults)
}

/// The same for a command about one vault: one that a flag names takes the place of
/// those of the users in the file.
///
/// # Errors
///
/// [`Faults`].
pub fn gather_one_vault(
    flags: RawConfiguration,
    config_file: Option<PathBuf>,
) -> Result<Configuration, Faults> {
    let names_vault = flags.scalars.contains_key(&Key::Vault);
    let (mut raw, data_dir, faults) = read(flags, config_file);
    if names_vault {
        raw.users.clear();
    }
    check(&raw, data_dir, faults)
}

/// The same for a command about the store, which needs no vault.
///
/// # Errors
///
/// [`Faults`].
pub fn gather_for_store(
    flags: RawConfiguration,
    config_file: Option<PathBuf>,
) -> Result<Configuration, Faults> {
    let (mut raw, default_data_dir, faults) = read(flags, config_file);
    if raw.users.is_empty() {
        // Never opened, but it has to be something that is there.
        let source = Source::Flag(Key::Vault.flag());
        raw.scalars.insert(Key::Vault, Given { value: ".".to_owned(), source });
    }
    check(&raw, default_data_dir, faults)
}

/// Where keys and the store are.
///
/// # Errors
///
/// [`Faults`], if what was said cannot be read or there is no place for them.
pub fn data_dir(flags: RawConfiguration, config_file: Option<PathBuf>) -> Result<PathBuf, Faults> {
    let (raw, default, mut faults) = read(flags, config_file);
    let given = raw.scalars.get(&Key::DataDir).map(|given| PathBuf::from(&given.value));
    match given.or(default) {
        Some(directory) if faults.is_empty() => Ok(directory),
        Some(_) => Err(faults),
        None => {
            faults.note(Key::DataDir.name(), "this account has no home, so say where they are");
            Err(faults)
        }
    }
}

/// Everything that was said, the platform's data folder, and what is wrong so far.
fn read(
    flags: RawConfiguration,
    config_file: Option<PathBuf>,
) -> (RawConfiguration, Option<PathBuf>, Faults) {
    let mut faults = Faults::default();
    // Names and values that are no text cannot be ours.
    let variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let variable = |name: &str| {
        let mut found = variables.iter().filter(|(key, value)| key == name && !value.is_empty());
        found.next().map(|(_, value)| PathBuf::from(value))
    };
    let from_file = config_file
        .or_else(|| variable(CONFIG_VARIABLE))
        .map_or_else(RawConfiguration::default, |path| read_file(&path, &mut faults));
    let default_data_dir = variable(STATE_DIRECTORY).or_else(platform_data_dir);
    let environment = RawConfiguration::from_environment(variables, &mut faults);
    (flags.or(environment).or(from_file), default_data_dir, faults)
}

/// Set by systemd for units with `StateDirectory=` (systemd.exec(5)).
const STATE_DIRECTORY: &str = "STATE_DIRECTORY";

fn platform_data_dir() -> Option<PathBuf> {
    Some(ProjectDirs::from("", "", "brain-mcp")?.data_dir().to_owned())
}

#[expect(clippy::disallowed_methods, reason = "the configuration file is no page")]
fn read_file(path: &Path, faults: &mut Faults) -> RawConfiguration {
    match fs::read_to_string(path) {
        Ok(text) => file::parse(path, &text, faults),
        Err(error) => {
            faults.unread_file(path, format!("it cannot be read: {error}"));
            RawConfiguration::default()
        }
    }
}
