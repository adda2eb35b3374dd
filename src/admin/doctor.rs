//! `brain-mcp check`: looks at the configuration, the vaults, their rules and the public
//! addresses as a client would, and says what is wrong and what to do about it.

mod hard_links;
mod idle_rules;
mod programs;
pub mod public;
pub mod rules;
mod vaults;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use serde::Serialize;

use super::arguments::CheckFlags;
use super::protocol::{Reply, Request};
use super::reach::{Reached, connect};
use super::terminal::{Paint, Role, Working, unless_closed};
use crate::clock::Clock;
use crate::configuration::sources::gather;
use crate::configuration::{Configuration, RawConfiguration, TokenSource};
use crate::contract::issuer::Issuer;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is as it should be.
    Fine,
    /// It works, but not as well as it could, or perhaps not as it is meant.
    Warning,
    /// It does not work, or shows what is meant to be hidden.
    Fault,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub verdict: Verdict,
    /// What is the case.
    pub what: String,
    /// What to do about it; nothing if it is fine.
    #[serde(rename = "do", skip_serializing_if = "String::is_empty")]
    pub cure: String,
}

impl Finding {
    fn fine(what: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fine, what: what.into(), cure: String::new() }
    }

    fn warning(what: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warning, what: what.into(), cure: cure.into() }
    }

    fn fault(what: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fault, what: what.into(), cure: cure.into() }
    }
}

/// Runs the command: exit status 1 if there is a fault.
///
/// # Errors
///
/// A configuration that says nothing to look at, in words for the owner.
pub fn run(flags: &CheckFlags) -> anyhow::Result<ExitCode> {
    let given = &flags.configuration;
    let raw = RawConfiguration::from_flags(given.given(), given.limit.iter().cloned());
    let configuration = gather(raw, given.config.clone())?;
    let working = Working::on("looking");
    let mut findings = vec![Finding::fine("the configuration can be read")];
    findings.extend(programs::look());
    findings.extend(vaults::look(&configuration));
    working.goes_on_with("asking the public addresses");
    findings.extend(addresses(&configuration)?);
    drop(working);
    let mut out = io::stdout().lock();
    let written = if flags.json {
        writeln!(out, "{:#}", serde_json::to_value(&findings)?)
    } else {
        write(&mut out, &findings, Paint::of(&io::stdout()))
    };
    unless_closed(written)?;
    let has_faults = findings.iter().any(|finding| finding.verdict == Verdict::Fault);
    Ok(if has_faults { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn addresses(configuration: &Configuration) -> anyhow::Result<Vec<Finding>> {
    let resource = configuration.expected_resource()?;
    let (issuer, is_ours) = match &configuration.tokens {
        TokenSource::Foreign { issuer, .. } => (issuer.clone(), false),
        TokenSource::Embedded { issuer: Some(issuer), .. } => (issuer.clone(), true),
        TokenSource::Embedded { issuer: None, .. } => {
            (resource.origin().parse::<Issuer>().context("issuer")?, true)
        }
    };
    let expected = public::Expected { resource, issuer, is_ours, key: running_key(configuration) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(public::look(&expected, &Clock::system())))
}

/// The key that the server signs with which runs on this data, if one does.
fn running_key(configuration: &Configuration) -> Option<String> {
    let stream = connect(&configuration.data_dir).ok()??;
    match Reached::Running(stream).ask(Request::Keys).ok()? {
        (Reply::Keys(keys), _) => {
            keys.into_iter().find(|key| key.state == "current").map(|key| key.kid)
        }
        _ => None,
    }
}

/// Writes findings for people, the worst last.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut impl Write, findings: &[Finding], paint: Paint) -> io::Result<()> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| finding.verdict);
    for Finding { verdict, what, cure } in sorted {
        let (mark, role) = match verdict {
            Verdict::Fine => ("ok      ", Role::Aside),
            Verdict::Warning => ("warning ", Role::Title),
            Verdict::Fault => ("FAULT   ", Role::Match),
        };
        writeln!(out, "{}{}", paint.text(role, mark), Paint::Plain.text(Role::Aside, what))?;
        if !cure.is_empty() {
            writeln!(out, "        → {}", Paint::Plain.text(Role::Aside, cure))?;
        }
    }
    Ok(())
}
