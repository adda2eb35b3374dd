//! Which note a link means.
//!
//! Wikilinks lead where Obsidian leads them, as was observed on its version 1.13.7
//! ([markdown-vault-mcp #1380](https://github.com/pvliesdonk/markdown-vault-mcp/pull/1380)):
//! an exact path wins, then the folder of the note that has the link, then the shortest
//! path. Markdown links are relative first, as everywhere else.
//!
//! Whoever asks gives only the notes that the viewer may see, so a hidden note can
//! neither be found nor change what is found.

use unicode_normalization::UnicodeNormalization as _;

use crate::access::path::VaultPath;
use crate::vault::markdown::{Link, LinkKind};

#[cfg(test)]
mod tests;

/// What a target may lack at its end, the likeliest first.
const ENDINGS: [&str; 4] = ["", ".md", ".markdown", ".txt"];

/// The notes that links may lead to.
pub trait Notes {
    /// The notes whose [`path_key`] this is: several only if their paths differ in
    /// letter case alone.
    fn at(&self, path_key: &str) -> Vec<VaultPath>;

    /// The notes that have this among their [`name_keys`].
    fn named(&self, name_key: &str) -> Vec<VaultPath>;
}

/// The note that a link leads to. A link to a heading of its own note leads to that
/// note; one to another scheme, to an attachment or to an alias leads to none.
pub fn resolve(link: &Link, from: &VaultPath, notes: &impl Notes) -> Option<VaultPath> {
    let target = link.target.as_str();
    match link.kind {
        LinkKind::External => None,
        _ if target.is_empty() => Some(from.clone()),
        LinkKind::Markdown => {
            let relative = from_folder(from, target).and_then(|path| at(notes, &path));
            let rooted = || at(notes, &normal("", target)?);
            let named = || ending_in(notes, target, from).and_then(only);
            relative.or_else(rooted).or_else(named)
        }
        LinkKind::Wiki | LinkKind::Embed => {
            if is_relative(target) {
                return at(notes, &from_folder(from, target)?);
            }
            let exact = at(notes, &normal("", target)?);
            let beside = || at(notes, &from_folder(from, target)?);
            let nearest = || ending_in(notes, target, from)?.into_iter().next();
            exact.or_else(beside).or_else(nearest)
        }
    }
}

/// The keys by which the notes are found that a link could mean: a note that it means
/// has one of them among its [`name_keys`].
#[must_use]
pub fn link_keys(link: &Link, from: &VaultPath) -> Vec<String> {
    if link.kind == LinkKind::External {
        return Vec::new();
    }
    let name = match link.target.as_str() {
        "" => from.file_name(),
        target => target.rsplit('/').next().unwrap_or(target).trim(),
    };
    if matches!(name, "" | "." | "..") { Vec::new() } else { vec![folded(name)] }
}

/// The keys of the names by which links call a note: with its extension and without.
#[must_use]
pub fn name_keys(path: &VaultPath) -> Vec<String> {
    vec![folded(path.stem()), folded(path.file_name())]
}

/// The key of a path.
#[must_use]
pub fn path_key(path: &VaultPath) -> String {
    folded(path.as_str())
}

/// Names are equal whatever their letter case and however the disk composes their
/// letters (L42).
fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // Letter by letter: at the end of a word Greek has a sigma of its own.
    let lower = |c: char| c.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c });
    name.nfc().flat_map(lower).nfc().collect()
}

/// The note at a path, with or without what pages end in. Of those that differ in
/// letter case the one that is spelt so.
fn at(notes: &impl Notes, path: &str) -> Option<VaultPath> {
    ENDINGS.iter().find_map(|ending| {
        let path = format!("{path}{ending}");
        let found = notes.at(&folded(&path));
        let spelt = found.iter().find(|note| note.as_str() == path).cloned();
        spelt.or_else(|| found.into_iter().min())
    })
}

/// The notes whose paths end in a target, the nearest first.
fn ending_in(notes: &impl Notes, target: &str, from: &VaultPath) -> Option<Vec<VaultPath>> {
    let end = normal("", target.trim_start_matches("../"))?;
    let key = folded(&end);
    let name = key.rsplit('/').next().unwrap_or(&key);
    let mut found: Vec<(usize, VaultPath)> = notes
        .named(name)
        .into_iter()
        .filter_map(|note| {
            let path = path_key(&note);
            let ending = ENDINGS.iter().position(|ending| {
                let before = path.strip_suffix(ending).and_then(|path| path.strip_suffix(&*key));
                before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
            })?;
            // With its whole name or as Markdown it is meant before others.
            Some((ending.max(1), note))
        })
        .collect();
    found.sort_by_cached_key(|(ending, note)| {
        let is_elsewhere = folder(note) != folder(from);
        let is_spelt_otherwise = !note.as_str().contains(&end);
        let length = note.as_str().chars().count();
        (*ending, is_elsewhere, length, is_spelt_otherwise, note.clone())
    });
    Some(found.into_iter().map(|(_, note)| note).collect())
}

/// The one note, if there is no other.
fn only(notes: Vec<VaultPath>) -> Option<VaultPath> {
    let mut notes = notes.into_iter();
    notes.next().filter(|_| notes.next().is_none())
}

fn is_relative(target: &str) -> bool {
    target.starts_with("./") || target.starts_with("../")
}

fn folder(path: &VaultPath) -> &str {
    path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The path of a target as the folder of a note sees it; with a slash before it, as the
/// vault does.
fn from_folder(from: &VaultPath, target: &str) -> Option<String> {
    match target.strip_prefix('/') {
        Some(rooted) => normal("", rooted),
        None => normal(folder(from), target),
    }
}

/// A path without `.` and `..`; `None` if it leads out of the vault, or to a folder.
fn normal(folder: &str, target: &str) -> Option<String> {
    let mut segments: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in target.split('/') {
        match segment.trim() {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            segment => segments.push(segment),
        }
    }
    let is_folder = segments.is_empty() || target.ends_with('/');
    (!is_folder).then(|| segments.join("/"))
}
