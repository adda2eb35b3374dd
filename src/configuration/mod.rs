//! What the program was told, complete and checked.
//!
//! Four sources, the strongest first: flags, environment (`BRAIN_MCP_…`), a TOML
//! file, defaults. [`raw`] is what they said; [`check`](mod@check) turns it into
//! a [`Configuration`] or into the list of everything that is wrong with it.

pub mod check;
mod clients;
pub mod faults;
pub mod file;
pub mod limits;
mod listen;
pub mod raw;
pub mod sources;

#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use crate::authorization_server::password::HashingCost;
use crate::authorization_server::{
    ClientRules, Lifetimes, OWNER, RequestLimits, Settings as AuthorizationSettings,
};
use crate::contract::issuer::{InvalidIssuer, Issuer};
use crate::contract::resource::{InvalidResource, MCP_PATH, ResourceUri};
use crate::mcp::toolset::Toolsets;
use crate::rates::PerMinute;
use crate::vault::Languages;

/// How often one user may ask `/mcp`, unless something else is said (design section 9).
pub const MCP_LIMIT: PerMinute = PerMinute::new(60);

/// How often one address may come with a token that nobody issued. A client whose token was
/// lost on the way tries a few times, and never as often.
pub const BAD_TOKEN_LIMIT: PerMinute = PerMinute::new(120);

pub use check::check;
pub use faults::{Fault, Faults};
pub use listen::{LoopbackAddress, NotLoopback};
pub use raw::{Given, RawConfiguration, Source};

/// Everything that the program needs to know to start.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Where to listen. Port 0 picks a free one.
    pub listen: SocketAddr,
    /// Where the operator's figures are; nowhere if absent. There is no password before
    /// them.
    pub metrics_listen: Option<LoopbackAddress>,
    /// The canonical URI of `/mcp`; absent means `http://<listen>/mcp`, which is
    /// known only once the port is.
    pub resource: Option<ResourceUri>,
    /// Who signs the tokens.
    pub tokens: TokenSource,
    /// Where keys and the store are.
    pub data_dir: PathBuf,
    /// Whose notes are served.
    pub people: People,
    /// Peers whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// Origins, beside loopback and our own, whose scripts may call `/mcp`.
    pub allowed_origins: Vec<String>,
    /// Which clients the embedded authorization server lets in.
    pub clients: ClientRules,
    /// How long a signing key is used; for ever if absent.
    pub key_rotation: Option<Duration>,
    /// Which tools are listed.
    pub toolsets: Toolsets,
    /// The languages that the notes are in, the first that of notes which do not say.
    pub languages: Languages,
    /// How long things live.
    pub lifetimes: Lifetimes,
    /// How often the authorization server may be asked.
    pub request_limits: RequestLimits,
    /// How often one user may ask `/mcp`.
    pub mcp_limit: PerMinute,
    /// How often one address may come to `/mcp` with a token that nobody issued.
    pub bad_token_limit: PerMinute,
    /// The most clients that may be known at a time.
    pub client_limit: usize,
    /// What hashing a password costs. No setting: only tests have a reason to take less.
    pub hashing_cost: HashingCost,
    /// What is logged, and how.
    pub log: LogSettings,
}

/// Who signs the tokens that are trusted.
#[derive(Clone, Debug)]
pub enum TokenSource {
    /// The authorization server in this process.
    Embedded {
        /// Its name, if it is not the origin of the resource.
        issuer: Option<Issuer>,
        /// The owner's password for an unattended first start.
        owner_password: Option<OwnerPassword>,
    },
    /// Another authorization server; the embedded one is off.
    Foreign {
        /// Its name, byte for byte as in its tokens.
        issuer: Issuer,
        /// Where its public keys are.
        jwks_url: Url,
    },
}

/// A password on its way from a file to its hash. Its `Debug` form is redacted.
#[derive(Clone)]
pub struct OwnerPassword(String);

impl OwnerPassword {
    /// Takes a password that was read from a file: one line, without its line end.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The password itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for OwnerPassword {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("OwnerPassword(…)")
    }
}

/// Whose notes are served.
#[derive(Clone, Debug)]
pub enum People {
    /// One vault with one owner: whoever the issuer vouches for is the owner.
    SingleOwner {
        /// The folder of notes.
        vault: PathBuf,
        /// The folder in it that clients may write into, if there is one.
        inbox: Option<String>,
    },
    /// Users by name, each with vaults of their own.
    Named(Vec<User>),
}

/// A person with vaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name to sign in with; also the `sub` of tokens that we issue.
    pub name: String,
    /// Other subjects that are this user, in tokens of a foreign issuer.
    pub subjects: Vec<String>,
    /// Vaults by name. Never empty; the first is the default.
    pub vaults: Vec<(String, PathBuf)>,
    /// The folder of each vault that holds notes which are not filed yet, and that
    /// clients may write into. Its notes are left out of results unless asked for by path.
    pub inbox: Option<String>,
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// A `tracing` filter such as `info` or `brain_mcp=debug`.
    pub filter: String,
    /// The shape of a log line.
    pub format: LogFormat,
}

/// The shape of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines, one object a line.
    Json,
}

impl Configuration {
    /// The canonical URI of `/mcp`, as it follows from the address that is to be listened
    /// on.
    ///
    /// # Errors
    ///
    /// [`InvalidResource`]
    pub fn expected_resource(&self) -> Result<ResourceUri, InvalidResource> {
        self.resource_at(self.listen)
    }

    /// The same for the address that is listened on.
    ///
    /// # Errors
    ///
    /// [`InvalidResource`]
    pub fn resource_at(&self, address: SocketAddr) -> Result<ResourceUri, InvalidResource> {
        match &self.resource {
            Some(resource) => Ok(resource.clone()),
            None => format!("http://{address}{MCP_PATH}").parse(),
        }
    }

    /// What the embedded authorization server is told. The issuer is the one that it was
    /// given, if it was.
    ///
    /// # Errors
    ///
    /// [`InvalidIssuer`], of the one that follows from the resource.
    pub fn authorization_settings(
        &self,
        issuer: Option<&Issuer>,
        resource: &ResourceUri,
    ) -> Result<AuthorizationSettings, InvalidIssuer> {
        let issuer = match issuer {
            Some(issuer) => issuer.clone(),
            None => resource.origin().parse()?,
        };
        let users = match &self.people {
            People::SingleOwner { .. } => vec![OWNER.to_owned()],
            People::Named(users) => users.iter().map(|user| user.name.clone()).collect(),
        };
        let with_inbox = match &self.people {
            People::SingleOwner { inbox, .. } => inbox.iter().map(|_| OWNER.to_owned()).collect(),
            People::Named(users) => {
                let writers = users.iter().filter(|user| user.inbox.is_some());
                writers.map(|user| user.name.clone()).collect()
            }
        };
        Ok(AuthorizationSettings {
            lifetimes: self.lifetimes,
            limits: self.request_limits,
            users,
            with_inbox,
            hashing_cost: self.hashing_cost,
            client_limit: self.client_limit,
            clients: self.clients.clone(),
            key_rotation: self.key_rotation,
            ..AuthorizationSettings::new(issuer, resource.clone(), self.data_dir.clone())
        })
    }

    /// The configuration of a program that embeds the server: one vault, one owner,
    /// a free port on loopback, everything else as by default.
    #[must_use]
    pub fn for_vault(vault: impl Into<PathBuf>, data_dir: impl Into<PathBuf>) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            metrics_listen: None,
            resource: None,
            tokens: TokenSource::Embedded { issuer: None, owner_password: None },
            data_dir: data_dir.into(),
            people: People::SingleOwner { vault: vault.into(), inbox: None },
            trusted_proxies: Vec::new(),
            allowed_origins: Vec::new(),
            clients: ClientRules::default(),
            key_rotation: Some(AuthorizationSettings::KEY_ROTATION),
            toolsets: Toolsets::default(),
            languages: Languages::default(),
            lifetimes: Lifetimes::default(),
            request_limits: RequestLimits::default(),
            mcp_limit: MCP_LIMIT,
            bad_token_limit: BAD_TOKEN_LIMIT,
            client_limit: AuthorizationSettings::CLIENTS,
            hashing_cost: HashingCost::STRONG,
            log: LogSettings { filter: "info".to_owned(), format: LogFormat::Text },
        }
    }
}
