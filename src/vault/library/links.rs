//! Links between the visible notes.

use std::collections::BTreeSet;

use crate::access::path::VaultPath;
use crate::search::index::Namespace;
use crate::vault::answers::{Backlink, ForwardLink};
use crate::vault::catalog::Note;
use crate::vault::links::name_keys;
use crate::vault::markdown::{Link, LinkKind};
use crate::vault::view::{Inbox, Stale, View};

/// The longest line that is shown of a link, in characters.
const CONTEXT_CHARACTERS: usize = 160;

/// The links in a note, each with the visible note that it means.
pub(in crate::vault) fn forward(
    view: &View<'_>,
    from: &VaultPath,
    links: &[Link],
) -> Vec<ForwardLink> {
    let forward = |link: &Link| ForwardLink {
        kind: link.kind,
        target: link.target.clone(),
        text: link.text.clone(),
        anchor: link.anchor.clone(),
        line: link.line,
        note: if link.kind == LinkKind::External { None } else { view.resolve(link, from) },
    };
    links.iter().map(forward).collect()
}

/// The notes that have a link to one note, by path, and the lines of these links.
pub(in crate::vault) fn sources<'a>(
    view: &View<'a>,
    target: &VaultPath,
) -> Vec<(&'a Note, Vec<u32>)> {
    let visible = view.visible(Inbox::LeftOut);
    let index = view.shelf.index();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for key in name_keys(target) {
        for (_, note) in index.by_keyword(visible, Namespace::Link, &key) {
            if note.path == *target || !seen.insert(&note.path) {
                continue;
            }
            let leads_there = |link: &Link| view.resolve(link, &note.path).as_ref() == Some(target);
            let links = note.links.iter().map(crate::vault::catalog::KeptLink::to_link);
            let lines: Vec<u32> = links.filter(leads_there).map(|link| link.line).collect();
            if !lines.is_empty() {
                found.push((&**note, lines));
            }
        }
    }
    found.sort_unstable_by(|(one, _), (other, _)| one.path.cmp(&other.path));
    found
}

/// The links to one note, with the lines that they stand in.
pub(in crate::vault) fn back(view: &View<'_>, target: &VaultPath) -> Result<Vec<Backlink>, Stale> {
    let mut links = Vec::new();
    for (note, lines) in sources(view, target) {
        let text = view.text(note)?.unwrap_or_default();
        let all: Vec<&str> = text.lines().collect();
        for line in lines {
            let context = all.get(line.saturating_sub(1) as usize).copied().unwrap_or_default();
            links.push(Backlink {
                path: note.path.clone(),
                title: note.title.to_string(),
                line,
                context: shortened(context),
            });
        }
    }
    Ok(links)
}

fn shortened(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(CONTEXT_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
