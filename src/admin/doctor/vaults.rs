//! The vaults of the configuration: whether they can be judged and read, and whether their
//! rules protect what they are meant to protect.

use std::path::Path;
use std::process::Command;

use super::{Finding, hard_links, idle_rules, rules};
use crate::access::class::{PEOPLE_FOLDER, PageClass};
use crate::access::permit::Viewer;
use crate::clock::Clock;
use crate::configuration::{Configuration, People};
use crate::contract::scope::ScopeSet;
use crate::vault::{Classification, Settings, Vault};

pub(super) fn look(configuration: &Configuration) -> Vec<Finding> {
    let mut findings = Vec::new();
    match &configuration.people {
        People::SingleOwner { vault, inbox } => {
            look_at(vault, inbox.as_deref(), configuration, &mut findings);
        }
        People::Named(users) => {
            for user in users {
                for (_, vault) in &user.vaults {
                    look_at(vault, user.inbox.as_deref(), configuration, &mut findings);
                }
            }
        }
    }
    findings
}

fn look_at(
    root: &Path,
    inbox: Option<&str>,
    configuration: &Configuration,
    findings: &mut Vec<Finding>,
) {
    let settings = Settings {
        inbox: inbox.map(str::to_owned),
        languages: configuration.languages.clone(),
        ..Settings::of(root)
    };
    let shown = root.display();
    let vault = match Vault::open(settings, Clock::system()) {
        Ok(vault) => vault,
        Err(error) => {
            return findings.push(Finding::fault(
                format!("the vault {shown} cannot be opened: {error}"),
                "see to what it says; until then the server does not start",
            ));
        }
    };
    let Ok(Classification { pages, warnings }) = vault.classification() else {
        let trouble = vault.trouble().unwrap_or_else(|| "it changes all the time".to_owned());
        return findings.push(Finding::fault(
            format!("the vault {shown} cannot be judged: {trouble}"),
            "see to what it says; until then no page is served",
        ));
    };
    if pages.is_empty() {
        findings.push(Finding::warning(
            format!("the vault {shown} has no pages"),
            "is it the right folder? Pages are .md, .markdown and .txt files",
        ));
    }
    let protected = pages.iter().filter(|page| page.ruling.class > PageClass::Ordinary).count();
    findings.push(Finding::fine(format!(
        "the vault {shown}: {} pages, {protected} of them protected",
        pages.len()
    )));
    for warning in warnings {
        findings.push(Finding::fault(
            format!("{shown}: {warning}"),
            "mend the rule; until then all pages count as confidential",
        ));
    }
    let open_people = pages.iter().filter(|page| {
        page.path.starts_with(PEOPLE_FOLDER) && page.ruling.class == PageClass::Ordinary
    });
    let open_people: Vec<&str> = open_people.map(|page| &*page.path).collect();
    if let Some(first) = open_people.first() {
        findings.push(Finding::fault(
            format!(
                "{} pages under {PEOPLE_FOLDER} are ordinary, such as {first}: every app with \
                 wiki:read reads them",
                open_people.len()
            ),
            format!("put `{PEOPLE_FOLDER}** filter=git-crypt diff=git-crypt` into .gitattributes"),
        ));
    }
    let files = rules::files_in(root);
    findings.extend(files.iter().flat_map(|(path, bytes)| rules::read(root, path, bytes)));
    findings.extend(files.iter().flat_map(|(path, bytes)| idle_rules::look(root, path, bytes)));
    findings.extend(hard_links::look(root, &pages));
    let is_named = files.iter().any(|(_, bytes)| {
        String::from_utf8_lossy(bytes).lines().any(|line| line.contains("filter=git-crypt"))
    });
    let is_encrypted = |rule: &str| rule.contains("git-crypt");
    if !is_named && pages.iter().any(|page| is_encrypted(&page.ruling.rule)) {
        findings.push(Finding::warning(
            format!("the rules that encrypt pages of {shown} are in no .gitattributes of it"),
            "move them from .git/info/attributes or the global file into .gitattributes: clones \
             do not have them",
        ));
    }
    if is_named {
        findings.extend(committed_plainly(root));
    }
    findings.extend(unread(&vault, root));
}

/// Pages that are marked for encryption and whose committed form is plain text.
fn committed_plainly(root: &Path) -> Option<Finding> {
    let output = Command::new("git-crypt").arg("status").current_dir(root).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let plain: Vec<&str> = text.lines().filter(|line| line.contains("NOT ENCRYPTED")).collect();
    let first = plain.first()?.trim().trim_start_matches("encrypted: ");
    let first = first.split_once(" ***").map_or(first, |(path, _)| path);
    Some(Finding::fault(
        format!(
            "{} pages are to be encrypted and are committed as plain text, such as {first}",
            plain.len()
        ),
        "run `git-crypt status -f` in the vault and commit; what is in the history stays readable",
    ))
}

/// What is there and cannot be searched.
fn unread(vault: &Vault, root: &Path) -> Vec<Finding> {
    let viewer = Viewer::at_the_terminal(ScopeSet::READING);
    let indexed = vault.build_index(&|_, _| {}).and_then(|()| vault.stats(&viewer));
    let Ok(stats) = indexed else { return Vec::new() };
    let skipped = stats.health.skipped;
    let Some((path, reason)) = skipped.first() else { return Vec::new() };
    vec![Finding::warning(
        format!(
            "{} files of {} cannot be searched, such as {}: {reason}",
            skipped.len(),
            root.display(),
            path.as_str()
        ),
        "`brain-mcp stats` names them all; what is locked wants `git-crypt unlock`",
    )]
}
