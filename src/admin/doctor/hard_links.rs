//! Files with several names. Each page counts as what its strictest name is, but git
//! commits every name by its own rule.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::Finding;
use crate::access::class::PageClass;
use crate::vault::ClassifiedPage;

pub(super) fn look(root: &Path, pages: &[ClassifiedPage]) -> Vec<Finding> {
    let mut files: BTreeMap<(u64, u64), (u64, Vec<&ClassifiedPage>)> = BTreeMap::new();
    for page in pages {
        let Ok(file) = fs::symlink_metadata(root.join(&page.path)) else { continue };
        if file.nlink() > 1 {
            let known = files.entry((file.dev(), file.ino())).or_insert((file.nlink(), Vec::new()));
            known.1.push(page);
        }
    }
    let mut findings: Vec<Finding> =
        files.values().filter_map(|(_, names)| open_name(names)).collect();
    let elsewhere = |(links, names): &&(u64, Vec<&ClassifiedPage>)| *links > names.len() as u64;
    let mut others = files.values().filter(elsewhere).filter_map(|(_, names)| names.first());
    if let Some(first) = others.next() {
        findings.push(Finding::warning(
            format!(
                "{} files of {} have names that are no pages of it (hard links), such as {}",
                1 + others.count(),
                root.display(),
                first.path
            ),
            "what is changed under the other name changes here; a copy would not",
        ));
    }
    findings
}

/// What is hidden under one name and would be committed as plain text under another.
fn open_name(names: &[&ClassifiedPage]) -> Option<Finding> {
    let hidden = names.iter().find(|page| page.ruling.class > PageClass::Ordinary)?;
    let open = names.iter().find(|page| page.ruling.class == PageClass::Ordinary)?;
    Some(Finding::fault(
        format!(
            "{} and {} are one file, which is hidden because of its first name; git commits the \
             second as plain text",
            hidden.path, open.path
        ),
        format!("remove {}, or give it a rule of its own", open.path),
    ))
}
