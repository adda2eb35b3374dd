//! `brain-mcp classify`: the class of each page and the rule that decided it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use unicode_normalization::UnicodeNormalization as _;

use crate::access::class::PageClass;
use crate::admin::arguments::ClassifyFlags;
use crate::admin::questions::{configured_vault, told};
use crate::admin::terminal::printable;
use crate::clock::Clock;
use crate::configuration::RawConfiguration;
use crate::vault::{Classification, ClassifiedPage, Settings, Unavailable, Vault};

/// How the pages are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A table for people.
    Table,
    /// An array of objects with `path`, `class` and `rule`.
    Json,
}

/// Whether all that was asked for could be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// It could: exit status 0.
    Answered,
    /// One of the paths is no page: exit status 1.
    PathMissing,
}

/// Why nothing was printed, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum ClassifyError {
    /// The vault cannot be judged at the moment; [`Vault::trouble`] says why.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The answer could not be written.
    #[error("the answer could not be written: {0}")]
    Write(#[from] io::Error),
    /// The answer could not be put into JSON.
    #[error("the answer could not be written: {0}")]
    Json(#[from] serde_json::Error),
}

/// Where the answer goes.
#[derive(Debug)]
pub struct Outputs<'a, O, E> {
    /// The pages.
    pub answer: &'a mut O,
    /// Warnings, and paths that are no pages.
    pub complaints: &'a mut E,
}

/// One page in JSON.
#[derive(Debug, Serialize)]
struct JsonPage<'a> {
    path: &'a str,
    class: &'static str,
    rule: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    served_as: Option<&'static str>,
}

/// Runs the command: exit status 1 if one of the paths is no page.
///
/// # Errors
///
/// Whatever keeps the vault from being judged, in words for the owner.
pub fn run(flags: &ClassifyFlags) -> anyhow::Result<ExitCode> {
    let settings = match &flags.vault {
        Some(root) => Settings::of(root),
        None => configured_vault(RawConfiguration::default(), flags.config.clone())?,
    };
    let vault = Vault::open(settings, Clock::system())?;
    let format = if flags.json { Format::Json } else { Format::Table };
    let (mut answer, mut complaints) = (io::stdout().lock(), io::stderr().lock());
    let outputs = Outputs { answer: &mut answer, complaints: &mut complaints };
    match classify(&vault, &flags.paths, format, outputs) {
        Ok(Outcome::Answered) => Ok(ExitCode::SUCCESS),
        Ok(Outcome::PathMissing) => Ok(ExitCode::FAILURE),
        Err(ClassifyError::Unavailable(error)) => Err(told(error, &vault)),
        Err(error) => Err(error.into()),
    }
}

/// Prints the class of the given pages, or of all if none is given.
///
/// # Errors
///
/// [`ClassifyError`].
pub fn classify<O: Write, E: Write>(
    vault: &Vault,
    paths: &[String],
    format: Format,
    outputs: Outputs<'_, O, E>,
) -> Result<Outcome, ClassifyError> {
    let Classification { pages, warnings } = vault.classification()?;
    for warning in &warnings {
        writeln!(outputs.complaints, "warning: {warning}")?;
    }
    if pages.is_empty() {
        writeln!(outputs.complaints, "warning: there are no pages; is it the right folder?")?;
    }
    let mut outcome = Outcome::Answered;
    let mut chosen = Vec::new();
    if paths.is_empty() {
        chosen.extend(&pages);
    } else {
        let by_spelling: BTreeMap<&str, &ClassifiedPage> =
            pages.iter().map(|page| (&*page.path, page)).collect();
        // The shell may hand over another normalization form than the disk has.
        let by_path: BTreeMap<String, &ClassifiedPage> =
            pages.iter().rev().map(|page| (page.path.nfc().collect(), page)).collect();
        for path in paths {
            let composed: String = path.nfc().collect();
            let page = by_spelling.get(&**path).or_else(|| by_path.get(&composed));
            if let Some(page) = page {
                chosen.push(*page);
            } else {
                writeln!(outputs.complaints, "error: {path} is no page of this vault")?;
                outcome = Outcome::PathMissing;
            }
        }
    }
    match format {
        Format::Json => write_json(outputs.answer, &chosen)?,
        Format::Table => write_table(outputs.answer, &chosen)?,
    }
    Ok(outcome)
}

fn write_json(answer: &mut impl Write, pages: &[&ClassifiedPage]) -> Result<(), ClassifyError> {
    let pages: Vec<JsonPage<'_>> = pages
        .iter()
        .map(|page| JsonPage {
            path: &page.path,
            class: page.ruling.class.as_str(),
            rule: &page.ruling.rule,
            served_as: raised(page).map(PageClass::as_str),
        })
        .collect();
    serde_json::to_writer_pretty(&mut *answer, &pages)?;
    writeln!(answer)?;
    Ok(())
}

fn write_table(answer: &mut impl Write, pages: &[&ClassifiedPage]) -> io::Result<()> {
    let width = pages.iter().map(|page| page.path.chars().count()).max().unwrap_or(0);
    for page in pages {
        let ClassifiedPage { path, ruling, .. } = page;
        let served = raised(page).map(|class| format!(", served as {class}")).unwrap_or_default();
        // The file name is somebody else's: no control character reaches the terminal.
        let path: String = path.chars().map(printable).collect();
        writeln!(answer, "{path:<width$}  {:<12}  {}{served}", ruling.class.as_str(), ruling.rule)?;
    }
    Ok(())
}

/// The class that clients are judged by, if it is not the one of the ruling.
fn raised(page: &ClassifiedPage) -> Option<PageClass> {
    (page.served_as != page.ruling.class).then_some(page.served_as)
}
