//! What flags, environment and file said, before anybody believed it.

use std::collections::BTreeMap;
use std::fmt;

use super::faults::Faults;

/// Where a value was given, in the words in which the owner gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A flag, such as `--listen`.
    Flag(String),
    /// An environment variable, such as `BRAIN_MCP_LISTEN`.
    Environment(String),
    /// A key of the file, such as `user[0].name`.
    File(String),
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) | Self::Environment(name) => formatter.write_str(name),
            Self::File(key) => write!(formatter, "{key} (in the file)"),
        }
    }
}

/// A value with the place where it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The text.
    pub value: String,
    /// Where it was given.
    pub source: Source,
}

/// One scalar key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the documentation: design section 3")]
pub enum Key {
    Vault,
    Inbox,
    Listen,
    MetricsListen,
    Resource,
    Issuer,
    JwksUrl,
    DataDir,
    OwnerPasswordFile,
    TrustedProxies,
    AllowedOrigins,
    ClientDocuments,
    Registration,
    RegistrationTokenFile,
    AllowedClients,
    PrivateClientHosts,
    KeyRotationDays,
    Toolsets,
    Languages,
    Log,
    LogFormat,
}

impl Key {
    /// Every scalar key.
    pub const ALL: [Self; 21] = [
        Self::Vault,
        Self::Inbox,
        Self::Listen,
        Self::MetricsListen,
        Self::Resource,
        Self::Issuer,
        Self::JwksUrl,
        Self::DataDir,
        Self::OwnerPasswordFile,
        Self::TrustedProxies,
        Self::AllowedOrigins,
        Self::ClientDocuments,
        Self::Registration,
        Self::RegistrationTokenFile,
        Self::AllowedClients,
        Self::PrivateClientHosts,
        Self::KeyRotationDays,
        Self::Toolsets,
        Self::Languages,
        Self::Log,
        Self::LogFormat,
    ];

    /// The table of the file that it stands in; none for the top.
    #[must_use]
    pub const fn table(self) -> Option<&'static str> {
        match self {
            Self::Toolsets => Some("mcp"),
            Self::Languages => Some("search"),
            Self::Vault
            | Self::Inbox
            | Self::Listen
            | Self::MetricsListen
            | Self::Resource
            | Self::Issuer
            | Self::JwksUrl
            | Self::DataDir
            | Self::OwnerPasswordFile
            | Self::TrustedProxies
            | Self::AllowedOrigins
            | Self::ClientDocuments
            | Self::Registration
            | Self::RegistrationTokenFile
            | Self::AllowedClients
            | Self::PrivateClientHosts
            | Self::KeyRotationDays
            | Self::Log
            | Self::LogFormat => None,
        }
    }

    /// The keys of one table of the file.
    pub(super) fn of_table(table: Option<&str>) -> impl Iterator<Item = Self> + Clone {
        Self::ALL.into_iter().filter(move |key| key.table() == table)
    }

    /// The key in its table of the file; the flag and the variable are made from it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vault => "vault",
            Self::Inbox => "inbox",
            Self::Listen => "listen",
            Self::MetricsListen => "metrics_listen",
            Self::Resource => "resource",
            Self::Issuer => "issuer",
            Self::JwksUrl => "jwks_url",
            Self::DataDir => "data_dir",
            Self::OwnerPasswordFile => "owner_password_file",
            Self::TrustedProxies => "trusted_proxies",
            Self::AllowedOrigins => "allowed_origins",
            Self::ClientDocuments => "client_documents",
            Self::Registration => "registration",
            Self::RegistrationTokenFile => "registration_token_file",
            Self::AllowedClients => "allowed_clients",
            Self::PrivateClientHosts => "private_client_hosts",
            Self::KeyRotationDays => "key_rotation_days",
            Self::Toolsets => "toolsets",
            Self::Languages => "languages",
            Self::Log => "log",
            Self::LogFormat => "log_format",
        }
    }

    /// The environment variable.
    #[must_use]
    pub fn variable(self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.name().to_ascii_uppercase())
    }

    /// The flag.
    #[must_use]
    pub fn flag(self) -> String {
        format!("--{}", self.name().replace('_', "-"))
    }
}

/// What our environment variables start with.
pub const VARIABLE_PREFIX: &str = "BRAIN_MCP_";

/// What the environment variables of limits start with.
pub const LIMIT_PREFIX: &str = "BRAIN_MCP_LIMIT_";

/// A user as the file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawUser {
    /// `name`
    pub name: Option<Given>,
    /// `sub`
    pub subjects: Vec<Given>,
    /// `vaults`, in the order of the file.
    pub vaults: Vec<(String, Given)>,
    /// `inbox`
    pub inbox: Option<Given>,
}

/// What one source said, or several merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawConfiguration {
    /// Scalars.
    pub scalars: BTreeMap<Key, Given>,
    /// Limits by name.
    pub limits: BTreeMap<String, Given>,
    /// `[[user]]`
    pub users: Vec<RawUser>,
}

impl RawConfiguration {
    /// Takes flags: keys with their values.
    #[must_use]
    pub fn from_flags(
        scalars: impl IntoIterator<Item = (Key, String)>,
        limits: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let flag =
            |(key, value): (Key, String)| (key, Given { value, source: Source::Flag(key.flag()) });
        let limit = |(name, value): (String, String)| {
            let source = Source::Flag(format!("--limit {name}"));
            (name, Given { value, source })
        };
        Self {
            scalars: scalars.into_iter().map(flag).collect(),
            limits: limits.into_iter().map(limit).collect(),
            users: Vec::new(),
        }
    }

    /// Takes our variables out of an environment. An empty value counts as not
    /// given, as service managers cannot unset what they inherit.
    ///
    /// A variable that is nearly one of ours is a fault, for a misspelled `JWKS_URL`
    /// would silently turn the embedded server on. Others with our prefix are left
    /// alone: the environment belongs to other programs as well.
    #[must_use]
    pub fn from_environment(
        variables: impl IntoIterator<Item = (String, String)>,
        faults: &mut Faults,
    ) -> Self {
        let mut raw = Self::default();
        for (name, value) in variables {
            if !name.starts_with(VARIABLE_PREFIX) || name == CONFIG_VARIABLE || value.is_empty() {
                continue;
            }
            let given = Given { value, source: Source::Environment(name.clone()) };
            if let Some(limit) = name.strip_prefix(LIMIT_PREFIX) {
                raw.limits.insert(limit.to_ascii_lowercase(), given);
            } else if let Some(key) = Key::ALL.into_iter().find(|key| key.variable() == name) {
                raw.scalars.insert(key, given);
            } else if let Some(meant) = nearest(&name, Key::ALL.map(Key::variable)) {
                faults.wrong(&given, format!("no such variable; did you mean {meant}?"));
            }
        }
        raw
    }

    /// Fills what this has not from `weaker`.
    #[must_use]
    pub fn or(mut self, weaker: Self) -> Self {
        for (key, given) in weaker.scalars {
            self.scalars.entry(key).or_insert(given);
        }
        for (name, given) in weaker.limits {
            self.limits.entry(name).or_insert(given);
        }
        if self.users.is_empty() {
            self.users = weaker.users;
        }
        self
    }
}

/// The variable that names the file; it is read before everything else.
pub const CONFIG_VARIABLE: &str = "BRAIN_MCP_CONFIG";

/// The name among `known` that a misspelled name most likely stands for.
pub(super) fn nearest(
    name: &str,
    known: impl IntoIterator<Item = impl AsRef<str>>,
) -> Option<String> {
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate.as_ref()), candidate))
        .filter(|(distance, _)| *distance <= 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.as_ref().to_owned())
}
