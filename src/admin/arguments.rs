//! The commands and their flags.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::admin::orders::Order;
use crate::admin::questions::QuestionFlags;
use crate::admin::terminal::fail;
use crate::configuration::raw::Key;

/// Let AI agents search and read your notes, and decide what each may see.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve a folder of notes.
    Serve(Box<ConfigurationFlags>),
    /// Show the class of each page and the rule that decided it.
    Classify(Box<ClassifyFlags>),
    /// Search the notes, as a client does.
    Search(Box<SearchFlags>),
    /// Show what the vault consists of, and how well it is indexed.
    Stats(Box<QuestionFlags>),
    /// Look for what is wrong: configuration, vaults, rules, public addresses.
    Check(Box<CheckFlags>),
    /// What is done about people, apps and keys.
    #[command(flatten)]
    Manage(Order),
}

impl Arguments {
    /// Whether a program reads the answer.
    #[must_use]
    pub const fn wants_json(&self) -> bool {
        match &self.command {
            Command::Serve(_) => false,
            Command::Classify(flags) => flags.json,
            Command::Search(flags) => flags.question.json,
            Command::Stats(flags) => flags.json,
            Command::Check(flags) => flags.json,
            Command::Manage(order) => order.place().json,
        }
    }

    /// What was typed.
    ///
    /// # Errors
    ///
    /// How the program ends instead: help was asked for and printed, or the words made no
    /// sense.
    pub fn typed() -> Result<Self, ExitCode> {
        Self::try_parse().map_err(|error| {
            let code = u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
            let asks_for_json = std::env::args_os().any(|argument| argument == "--json");
            if !error.use_stderr() || !asks_for_json {
                // There is nobody to tell that it cannot be printed.
                let _ = error.print();
                return code;
            }
            let text = error.to_string();
            let first = text.split("\n\n").next().unwrap_or_default().trim();
            fail(first.strip_prefix("error: ").unwrap_or(first), true, code)
        })
    }
}

/// Every scalar of the configuration, as a flag.
///
/// Each can also be given as an environment variable (`BRAIN_MCP_LISTEN`) or in the
/// file (`listen = "…"`). A flag beats a variable, a variable beats the file.
#[derive(Clone, Debug, Default, Args)]
pub struct ConfigurationFlags {
    /// Folder of notes.
    #[arg(long, value_name = "DIR")]
    pub vault: Option<String>,
    /// Folder in the vault that clients may write new notes into [default: they cannot write].
    #[arg(long, value_name = "FOLDER")]
    pub inbox: Option<String>,
    /// Address and port to listen on; port 0 picks a free one [default: 127.0.0.1:8090].
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// Loopback address and port for /metrics, which Prometheus reads [default: off].
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics_listen: Option<String>,
    /// Public URL of the endpoint [default: /mcp at the address of --listen].
    #[arg(long, value_name = "URL")]
    pub resource: Option<String>,
    /// Issuer of the tokens that are trusted [default: the origin of --resource, served here].
    #[arg(long, value_name = "URL")]
    pub issuer: Option<String>,
    /// Key set of a foreign issuer; turns the embedded authorization server off.
    #[arg(long, value_name = "URL")]
    pub jwks_url: Option<String>,
    /// Where keys and the store are kept [default: the platform's data folder].
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// File with the owner's password, for an unattended first start.
    #[arg(long, value_name = "FILE")]
    pub owner_password_file: Option<String>,
    /// Addresses of proxies whose X-Forwarded-For is believed, separated by commas.
    #[arg(long, value_name = "ADDRESSES")]
    pub trusted_proxies: Option<String>,
    /// Origins, beside loopback and our own, whose scripts may call the endpoint.
    #[arg(long, value_name = "ORIGINS")]
    pub allowed_origins: Option<String>,
    /// Whether apps may be named by the URL of their own description: on or off [default: on].
    #[arg(long, value_name = "WHETHER")]
    pub client_documents: Option<String>,
    /// Whether apps may register: open or off [default: open].
    #[arg(long, value_name = "WHETHER")]
    pub registration: Option<String>,
    /// File with the initial access token that apps need to register.
    #[arg(long, value_name = "FILE")]
    pub registration_token_file: Option<String>,
    /// The only apps that are let in: hosts, localhost, or schemes such as cursor: [default: all].
    #[arg(long, value_name = "NAMES")]
    pub allowed_clients: Option<String>,
    /// Hosts of your own network whose descriptions of apps may be fetched.
    #[arg(long, value_name = "HOSTS")]
    pub private_client_hosts: Option<String>,
    /// Days after which another key signs the tokens; 0 for never [default: 90].
    #[arg(long, value_name = "DAYS")]
    pub key_rotation_days: Option<String>,
    /// Tools that are listed: pages, notes, openai, separated by commas [default: pages,notes].
    #[arg(long, value_name = "NAMES")]
    pub toolsets: Option<String>,
    /// Languages of the notes, such as en,de; the first is that of notes which do not say [default: en].
    #[arg(long, value_name = "NAMES")]
    pub languages: Option<String>,
    /// What to log, such as info or `brain_mcp=debug` [default: info].
    #[arg(long, value_name = "FILTER")]
    pub log: Option<String>,
    /// Shape of the log: text or json [default: text].
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// A limit in seconds or in times a minute, such as `access_token_seconds=300` or
    /// `mcp_per_minute=0` (0: no limit). Repeatable.
    #[arg(long, value_name = "NAME=NUMBER", value_parser = parse_limit)]
    pub limit: Vec<(String, String)>,
    /// Configuration file (TOML).
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl ConfigurationFlags {
    /// The flags that were given, by key.
    pub fn given(&self) -> impl Iterator<Item = (Key, String)> {
        let value = |key: Key| match key {
            Key::Vault => &self.vault,
            Key::Inbox => &self.inbox,
            Key::Listen => &self.listen,
            Key::MetricsListen => &self.metrics_listen,
            Key::Resource => &self.resource,
            Key::Issuer => &self.issuer,
            Key::JwksUrl => &self.jwks_url,
            Key::DataDir => &self.data_dir,
            Key::OwnerPasswordFile => &self.owner_password_file,
            Key::TrustedProxies => &self.trusted_proxies,
            Key::AllowedOrigins => &self.allowed_origins,
            Key::ClientDocuments => &self.client_documents,
            Key::Registration => &self.registration,
            Key::RegistrationTokenFile => &self.registration_token_file,
            Key::AllowedClients => &self.allowed_clients,
            Key::PrivateClientHosts => &self.private_client_hosts,
            Key::KeyRotationDays => &self.key_rotation_days,
            Key::Toolsets => &self.toolsets,
            Key::Languages => &self.languages,
            Key::Log => &self.log,
            Key::LogFormat => &self.log_format,
        };
        Key::ALL.into_iter().filter_map(move |key| Some((key, value(key).clone()?)))
    }
}

/// What to check, and how to print it.
#[derive(Clone, Debug, Args)]
pub struct CheckFlags {
    /// The configuration, as `serve` takes it.
    #[command(flatten)]
    pub configuration: ConfigurationFlags,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What to classify, and how to print it.
#[derive(Clone, Debug, Args)]
pub struct ClassifyFlags {
    /// Pages to classify, relative to the vault; none means all of them.
    pub paths: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Folder of notes.
    #[arg(long, value_name = "DIR")]
    pub vault: Option<PathBuf>,
    /// Configuration file (TOML) that names the vault.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// What to look for, and where.
#[derive(Clone, Debug, Args)]
pub struct SearchFlags {
    /// Words, "phrases", +required, -excluded, title: tag: path: after: before:.
    /// Put -- in front of a query that begins with a minus.
    #[arg(required = true)]
    pub query: Vec<String>,
    /// Notes in and below this folder only.
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<String>,
    /// Show at most so many notes.
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    pub limit: usize,
    /// Which vault to ask, and as whom.
    #[command(flatten)]
    pub question: QuestionFlags,
}

fn parse_limit(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| "write NAME=NUMBER, such as access_token_seconds=300".to_owned())
}
