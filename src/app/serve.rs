//! `brain-mcp serve`: starts the server and says what to do next.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;

use super::{Server, SignsIn};
use crate::admin::arguments::ConfigurationFlags;
use crate::authorization_server::SetupLink;
use crate::configuration::sources::gather;
use crate::configuration::{Configuration, RawConfiguration};
use crate::telemetry;

/// Said when no vault is named: the first thing that a newcomer sees.
const NO_VAULT: &str = "\
brain-mcp serves a folder of Markdown notes to AI agents, and asks you first.

Say which folder:

    brain-mcp serve --vault ~/notes

or try it with the sample that comes with the source:

    brain-mcp serve --vault tests/fixtures/sample-vault

Several people, each with vaults of their own, stand in a file: --config FILE (see README).";

/// Runs the command until it is interrupted.
///
/// # Errors
///
/// Whatever keeps the server from starting, in words for the owner.
pub fn run(flags: &ConfigurationFlags) -> anyhow::Result<ExitCode> {
    let raw = RawConfiguration::from_flags(flags.given(), flags.limit.iter().cloned());
    let configuration = match gather(raw, flags.config.clone()) {
        Ok(configuration) => configuration,
        Err(faults) if faults.only_lack_a_vault() => {
            eprintln!("{NO_VAULT}");
            return Ok(ExitCode::from(2));
        }
        Err(faults) => return Err(faults.into()),
    };
    telemetry::start(&configuration.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(configuration))
}

async fn serve(configuration: Configuration) -> anyhow::Result<ExitCode> {
    // Before anything is printed: whoever reads the text may press Ctrl-C at once.
    let interrupted = interruption()?;
    let server = Server::start(configuration).await?;
    greet(&server);
    interrupted.await;
    tracing::info!("stopping");
    server.stop().await;
    Ok(ExitCode::SUCCESS)
}

/// Says what to do next. In one piece, and to nobody if nobody reads it: a server does not
/// stop because the terminal or the pipe that it was started from has gone.
fn greet(server: &Server) {
    let url = server.mcp_url();
    let mut lines = vec![format!("brain-mcp is serving at {url}\n")];
    for SetupLink { user, url } in server.setup_links() {
        lines.push(format!("Open this link once to choose the password of {user}:\n   {url}\n"));
    }
    lines.push(format!("Point an MCP client at {url}, for example:"));
    lines.push(format!("   claude mcp add --transport http notes {url}\n"));
    lines.push(match server.signs_in() {
        SignsIn::Here => "Your browser will ask you what each client may read.".to_owned(),
        SignsIn::Elsewhere => {
            format!("People sign in at {}; nobody does here.", server.issuer())
        }
    });
    lines.push("Ctrl-C stops the server.\n".to_owned());
    let mut out = std::io::stdout().lock();
    let written = out.write_all(lines.join("\n").as_bytes()).and_then(|()| out.flush());
    if let Err(error) = written {
        tracing::warn!(%error, "the greeting could not be printed");
    }
}

/// Completes at the first SIGINT or SIGTERM.
fn interruption() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
