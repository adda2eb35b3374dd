//! Raw configuration → checked configuration, or everything that is wrong with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tracing_subscriber::EnvFilter;
use url::Url;

use super::faults::Faults;
use super::limits::AllLimits;
use super::raw::{Given, Key, RawConfiguration, nearest};
use super::{Configuration, LogFormat, LogSettings, OwnerPassword, People, TokenSource, User};
use crate::access::inbox::Inbox;
use crate::authorization_server::password::HashingCost;
use crate::contract::issuer::Issuer;
use crate::contract::resource::{ResourceUri, is_loopback};
use crate::mcp::toolset::{Toolset, Toolsets};
use crate::vault::{Language, Languages};

/// Checks a raw configuration. `default_data_dir` is the platform's.
///
/// # Errors
///
/// [`Faults`]: all of them, those that were found while reading included.
pub fn check(
    raw: &RawConfiguration,
    default_data_dir: Option<PathBuf>,
    mut faults: Faults,
) -> Result<Configuration, Faults> {
    let mut checker = Checker { raw, faults: &mut faults };
    let listen = checker.listen();
    let metrics_listen = checker.metrics_listen();
    let resource = checker.resource(listen);
    let tokens = checker.tokens(listen);
    let data_dir = checker.data_dir(default_data_dir);
    let people = checker.people();
    let trusted_proxies = checker.trusted_proxies(resource.as_ref());
    let allowed_origins = checker.allowed_origins();
    let clients = checker.clients();
    let key_rotation = checker.key_rotation();
    let toolsets = checker.toolsets();
    let languages = checker.languages();
    let log = checker.log();
    let AllLimits { lifetimes, request_limits, mcp_limit, bad_token_limit, client_limit } =
        AllLimits::read(raw, &mut faults);
    match (tokens, data_dir, people) {
        (Some(tokens), Some(data_dir), Some(people)) if faults.is_empty() => Ok(Configuration {
            listen,
            metrics_listen,
            resource,
            tokens,
            data_dir,
            people,
            trusted_proxies,
            allowed_origins,
            clients,
            key_rotation,
            toolsets,
            languages,
            lifetimes,
            request_limits,
            mcp_limit,
            bad_token_limit,
            client_limit,
            hashing_cost: HashingCost::STRONG,
            log,
        }),
        _ => Err(faults),
    }
}

pub(super) struct Checker<'a> {
    pub(super) raw: &'a RawConfiguration,
    pub(super) faults: &'a mut Faults,
}

impl<'a> Checker<'a> {
    pub(super) fn given(&self, key: Key) -> Option<&'a Given> {
        self.raw.scalars.get(&key)
    }

    /// Parses one scalar; a text that does not parse is a fault with this cure.
    pub(super) fn parse<T: FromStr>(
        &mut self,
        key: Key,
        cure: impl FnOnce(&T::Err) -> String,
    ) -> Option<T> {
        let given = self.given(key)?;
        match given.value.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                self.faults.wrong(given, cure(&error));
                None
            }
        }
    }

    fn resource(&mut self, listen: SocketAddr) -> Option<ResourceUri> {
        if self.given(Key::Resource).is_none() && !listen.ip().is_loopback() {
            self.faults.note(
                Key::Resource.name(),
                format!(
                    "{listen} is not loopback, so say under which URL people reach it, such as \
                     https://notes.example.org/mcp"
                ),
            );
        }
        self.parse(Key::Resource, |error| {
            format!("{error}; write the public URL of the endpoint, such as https://notes.example.org/mcp")
        })
    }

    fn tokens(&mut self, listen: SocketAddr) -> Option<TokenSource> {
        let issuer: Option<Issuer> = self.parse(Key::Issuer, |error| {
            format!("{error}; write a bare origin, such as https://notes.example.org")
        });
        let jwks_url = self.jwks_url();
        if let Some(given) = self.given(Key::JwksUrl) {
            if self.given(Key::Issuer).is_none() {
                self.faults.wrong(
                    given,
                    "it names the keys of a foreign issuer: also set issuer, exactly as in the iss \
                     claim of its tokens",
                );
            }
            if let Some(password) = self.given(Key::OwnerPasswordFile) {
                self.faults
                    .wrong(password, "nobody signs in here while jwks_url is set: remove one");
            }
            return Some(TokenSource::Foreign { issuer: issuer?, jwks_url: jwks_url? });
        }
        if let (Some(given), Some(issuer)) = (self.given(Key::Issuer), &issuer) {
            if !issuer.is_bare_origin() {
                self.faults.wrong(
                    given,
                    "the embedded server's issuer is a bare origin: lower-case, no path, no slash \
                     at the end (for another server's tokens also set jwks_url)",
                );
            }
            if self.given(Key::Resource).is_none() && listen.port() == 0 {
                self.faults.wrong(given, "with port 0 also set resource, or leave issuer out");
            }
        }
        let owner_password = self.owner_password();
        Some(TokenSource::Embedded { issuer, owner_password })
    }

    fn jwks_url(&mut self) -> Option<Url> {
        let given = self.given(Key::JwksUrl)?;
        let url: Url = self.parse(Key::JwksUrl, |_| "it is not an absolute URL".to_owned())?;
        if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback(&url)) {
            self.faults.wrong(given, "keys must come over https (plain http from loopback only)");
            return None;
        }
        Some(url)
    }

    fn owner_password(&mut self) -> Option<OwnerPassword> {
        let given = self.given(Key::OwnerPasswordFile)?;
        self.secret_file(given, "password").map(OwnerPassword::new)
    }

    fn data_dir(&mut self, default: Option<PathBuf>) -> Option<PathBuf> {
        let data_dir = match self.given(Key::DataDir) {
            Some(given) => Some(PathBuf::from(&given.value)),
            None => default,
        };
        if data_dir.is_none() {
            self.faults.note(
                Key::DataDir.name(),
                "this account has no home, so say where keys and the store go",
            );
        }
        data_dir
    }

    fn people(&mut self) -> Option<People> {
        match (self.given(Key::Vault), &*self.raw.users) {
            // It may well stand in the file that could not be read.
            (None, []) if self.faults.have_unread_file() => None,
            (None, []) => {
                self.faults.note(
                    Key::Vault.name(),
                    "no folder of notes was given: use --vault DIR, or [[user]] in the file",
                );
                None
            }
            (Some(given), []) => {
                let inbox = self.given(Key::Inbox).map(|given| self.inbox(given));
                Some(People::SingleOwner { vault: self.folder(given)?, inbox })
            }
            (Some(given), _) => {
                self.faults.wrong(given, "the file has [[user]]: give their vaults there instead");
                None
            }
            (None, _) => {
                if let Some(given) = self.given(Key::Inbox) {
                    let cure = "the file has [[user]]: give their inbox there instead";
                    self.faults.wrong(given, cure);
                }
                self.users().map(People::Named)
            }
        }
    }

    fn users(&mut self) -> Option<Vec<User>> {
        let mut names = BTreeSet::new();
        let mut owner_of_subject = BTreeMap::new();
        let mut users = Vec::new();
        for (index, raw) in self.raw.users.iter().enumerate() {
            let Some(name) = &raw.name else {
                self.faults.note(format!("user[{index}].name"), "every user needs a name");
                continue;
            };
            if !is_user_name(&name.value) {
                self.faults.wrong(name, "use 1 to 64 letters, digits, or any of . _ - @");
            }
            if !names.insert(name.value.clone()) {
                self.faults.wrong(name, "two users have this name");
            }
            // A subject that is two people would read the wrong person's notes. The
            // name counts too: it is the subject of tokens that we issue.
            for subject in raw.subjects.iter().chain([name]) {
                let first = *owner_of_subject.entry(subject.value.clone()).or_insert(index);
                if first != index {
                    self.faults.wrong(subject, "another user already has this subject");
                }
            }
            if raw.vaults.is_empty() {
                self.faults.note(
                    format!("user[{index}].vaults"),
                    "every user needs a vault: vaults = { notes = \"/path\" }",
                );
            }
            let vaults = raw.vaults.iter();
            let vaults = vaults
                .filter_map(|(vault, given)| Some((vault.clone(), self.folder(given)?)))
                .collect();
            let subjects = raw.subjects.iter().map(|subject| subject.value.clone()).collect();
            let inbox = raw.inbox.as_ref().map(|given| self.inbox(given));
            users.push(User { name: name.value.clone(), subjects, vaults, inbox });
        }
        self.faults.is_empty().then_some(users)
    }

    fn folder(&mut self, given: &Given) -> Option<PathBuf> {
        let path = Path::new(&given.value);
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => match fs::read_dir(path) {
                Ok(_) => Some(path.to_owned()),
                Err(error) => self.no_folder(
                    given,
                    format!("the folder cannot be read: {error}; let this user read it"),
                ),
            },
            Ok(_) => self.no_folder(given, "it is not a folder; name the folder of the notes"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let cure = if given.value.starts_with('~') {
                    "only a shell knows what ~ is, and not behind a = sign; write the whole path"
                } else {
                    "there is no such folder; write the path of the folder of notes"
                };
                self.no_folder(given, cure)
            }
            Err(error) => self.no_folder(given, format!("the folder cannot be opened: {error}")),
        }
    }

    fn no_folder(&mut self, given: &Given, cure: impl Into<String>) -> Option<PathBuf> {
        self.faults.wrong(given, cure);
        None
    }

    fn inbox(&mut self, given: &Given) -> String {
        if let Err(error) = given.value.parse::<Inbox>() {
            let cure = format!("{error}; write a folder relative to the vault, such as inbox");
            self.faults.wrong(given, cure);
        }
        given.value.clone()
    }

    fn trusted_proxies(&mut self, resource: Option<&ResourceUri>) -> Vec<IpAddr> {
        let Some(given) = self.given(Key::TrustedProxies) else {
            // A public URL with a loopback listener means a proxy on this machine.
            let behind_proxy = resource.is_some_and(|resource| !resource.is_loopback());
            let loopback = [IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])];
            return if behind_proxy { loopback.to_vec() } else { Vec::new() };
        };
        let mut proxies = Vec::new();
        for text in list(&given.value) {
            match text.parse() {
                Ok(address) => proxies.push(address),
                Err(_) => self.faults.wrong(given, format!("{text:?} is not an IP address")),
            }
        }
        proxies
    }

    fn allowed_origins(&mut self) -> Vec<String> {
        let Some(given) = self.given(Key::AllowedOrigins) else { return Vec::new() };
        let mut origins = Vec::new();
        for text in list(&given.value) {
            match text.parse::<Issuer>() {
                Ok(origin) if origin.is_bare_origin() => origins.push(text.to_owned()),
                _ => self.faults.wrong(
                    given,
                    format!("{text:?} is not an origin such as https://tools.example.org"),
                ),
            }
        }
        origins
    }

    fn toolsets(&mut self) -> Toolsets {
        let Some(given) = self.given(Key::Toolsets) else { return Toolsets::default() };
        let names = Toolset::ALL.map(Toolset::as_str).join(", ");
        let mut sets = Vec::new();
        for text in list(&given.value) {
            match text.parse() {
                Ok(set) => sets.push(set),
                Err(_) => self.faults.wrong(given, format!("{text:?} is none of {names}")),
            }
        }
        let sets: Toolsets = sets.into_iter().collect();
        if list(&given.value).next().is_none() {
            self.faults.wrong(given, format!("name at least one of {names}"));
        }
        sets
    }

    fn languages(&mut self) -> Languages {
        let Some(given) = self.given(Key::Languages) else { return Languages::default() };
        let mut languages = Vec::new();
        for text in list(&given.value) {
            match text.parse::<Language>() {
                Ok(language) => languages.push(language),
                Err(error) => {
                    let names = Language::ALL.iter().map(|language| language.name());
                    let meant = nearest(&text.to_lowercase(), names);
                    let hint = meant.map(|meant| format!("; did you mean {meant}?"));
                    self.faults.wrong(given, format!("{error}{}", hint.unwrap_or_default()));
                }
            }
        }
        if list(&given.value).next().is_none() {
            self.faults.wrong(given, "name at least one, such as en");
        }
        Languages::new(languages)
    }

    fn log(&mut self) -> LogSettings {
        let filter = self.given(Key::Log).map_or("info", |given| {
            if EnvFilter::try_new(&given.value).is_err() {
                self.faults.wrong(
                    given,
                    "write a level such as info, or a filter such as brain_mcp=debug",
                );
            }
            &given.value
        });
        let format = match self.given(Key::LogFormat) {
            None => LogFormat::Text,
            Some(given) => match &*given.value {
                "text" => LogFormat::Text,
                "json" => LogFormat::Json,
                _ => {
                    self.faults.wrong(given, "write text or json");
                    LogFormat::Text
                }
            },
        };
        LogSettings { filter: filter.to_owned(), format }
    }
}

/// The items of a list.
pub(super) fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

fn is_user_name(text: &str) -> bool {
    let allowed = |character: char| character.is_alphanumeric() || "._-@".contains(character);
    (1..=64).contains(&text.chars().count()) && text.chars().all(allowed)
}
