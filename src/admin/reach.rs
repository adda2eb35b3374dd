//! How a command comes to the data: through the socket of the server that runs, or, if
//! none does, by opening the store itself.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;

use super::desk;
use super::protocol::{LONGEST_ANSWER, Reply, Request, SOCKET};
use crate::authorization_server::{AuthorizationServer, OpenError, Settings};
use crate::clock::Clock;
use crate::configuration::raw::Key;
use crate::configuration::sources::{data_dir, gather_for_store};
use crate::configuration::{RawConfiguration, TokenSource};
use crate::entropy::Entropy;

/// How long the server may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Which server's data, and how the answer is printed.
#[derive(Clone, Debug, Default, Args)]
pub struct Place {
    /// Where keys and the store are kept [default: the platform's data folder].
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// Configuration file (TOML).
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Where the data is.
pub(super) enum Reached {
    /// A server runs.
    Running(UnixStream),
    /// None does; this is the store itself.
    Closed(Box<AuthorizationServer>),
}

impl Place {
    fn flags(&self) -> RawConfiguration {
        let given = self.data_dir.clone().map(|value| (Key::DataDir, value));
        RawConfiguration::from_flags(given, [])
    }

    /// The data directory that is meant.
    pub(super) fn directory(&self) -> anyhow::Result<PathBuf> {
        Ok(data_dir(self.flags(), self.config.clone())?)
    }

    /// What the store is to be opened with, without a server.
    pub(super) fn settings(&self) -> anyhow::Result<Settings> {
        let configuration = gather_for_store(self.flags(), self.config.clone())?;
        let resource = configuration.expected_resource()?;
        let TokenSource::Embedded { issuer, .. } = &configuration.tokens else {
            bail!("people sign in at a foreign issuer (jwks_url); nothing is kept here");
        };
        Ok(configuration.authorization_settings(issuer.as_ref(), &resource)?)
    }

    /// Finds the running server, or opens the store.
    ///
    /// # Errors
    ///
    /// Why neither can be had, in words for the owner.
    pub(super) fn reach(&self) -> anyhow::Result<Reached> {
        let directory = self.directory()?;
        if let Some(stream) = connect(&directory)? {
            return Ok(Reached::Running(stream));
        }
        if !AuthorizationServer::was_set_up(&directory) {
            bail!(
                "there is no data in {}; start `brain-mcp serve` once, or say where the data is \
                 with --data-dir DIR",
                directory.display()
            );
        }
        require_own(&directory)?;
        match AuthorizationServer::open(self.settings()?, Clock::system(), Entropy::system()) {
            Ok(server) => Ok(Reached::Closed(Box::new(server))),
            Err(OpenError::InUse(path)) => bail!(
                "a brain-mcp has {} open and does not answer at its socket {SOCKET}; its log says \
                 why, or it is of an older version; stop it, and this command works on the \
                 stored data",
                path.display()
            ),
            Err(error) => Err(error.into()),
        }
    }
}

impl Reached {
    /// Asks, and waits for the answer and what comes behind it.
    pub(super) fn ask(self, request: Request) -> anyhow::Result<(Reply, Vec<u8>)> {
        match self {
            Self::Running(stream) => converse(stream, &request),
            Self::Closed(server) => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                Ok(runtime.block_on(desk::answer(&server, request)))
            }
        }
    }
}

/// Makes sure that what is written there belongs to the user who runs the server.
pub(super) fn require_own(directory: &Path) -> anyhow::Result<()> {
    // One that is not there yet will be ours.
    let Ok(metadata) = fs::metadata(directory) else { return Ok(()) };
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        bail!(
            "{} belongs to another user, and no server runs; start the server, or run this \
             command as the user who runs it",
            directory.display()
        );
    }
    Ok(())
}

/// The socket of the server that has this directory, if one runs.
pub(super) fn connect(directory: &Path) -> anyhow::Result<Option<UnixStream>> {
    let path = directory.join(SOCKET);
    match UnixStream::connect(&path) {
        Ok(stream) => {
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok(Some(stream))
        }
        // Never there; left over from a server that was killed; too long to ever have been.
        Err(error)
            if [
                io::ErrorKind::NotFound,
                io::ErrorKind::ConnectionRefused,
                io::ErrorKind::InvalidInput,
            ]
            .contains(&error.kind()) =>
        {
            Ok(None)
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => bail!(
            "{} belongs to another user; run this command as the user who runs the server",
            path.display()
        ),
        Err(error) => {
            Err(error).with_context(|| format!("cannot reach the server at {}", path.display()))
        }
    }
}

fn converse(mut stream: UnixStream, request: &Request) -> anyhow::Result<(Reply, Vec<u8>)> {
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    stream.write_all(&line).context("the server did not take the request")?;
    let mut answer = Vec::new();
    let mut reader = BufReader::new(stream);
    let mut bounded = (&mut reader).take(LONGEST_ANSWER);
    bounded.read_until(b'\n', &mut answer).context("the server did not answer")?;
    let reply = serde_json::from_slice(&answer)
        .context("the server's answer is not understood; is it of another version?")?;
    let mut rest = Vec::new();
    if let Reply::Backup { bytes } = reply {
        reader.take(bytes).read_to_end(&mut rest).context("the backup broke off")?;
    }
    Ok((reply, rest))
}
