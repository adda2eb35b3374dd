//! Links between the visible notes.

use std::collections::BTreeSet;

use crate::access::path::VaultPath;
use crate::search::index::Namespace;
use crate::vault::answers::{Backlink, ForwardLink};
use crate::vault::catalog::Note;
use crate::vault::links::name_keys;
use crate::vault::markdown::lines::Lines;
use crate::vault::markdown::{Link, LinkKind};
use crate::vault::view::{Inbox, Stale, View};

/// How much is shown of the line of a link, in characters, and how much of that before
/// the link.
const CONTEXT_CHARACTERS: usize = 110;
const CHARACTERS_BEFORE: usize = 40;

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

/// The notes that have links to one note, by path, and these links.
pub(in crate::vault) fn sources<'a>(
    view: &View<'a>,
    target: &VaultPath,
) -> Vec<(&'a Note, Vec<Link>)> {
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
            let links: Vec<Link> = links.filter(leads_there).collect();
            if !links.is_empty() {
                found.push((&**note, links));
            }
        }
    }
    found.sort_unstable_by(|(one, _), (other, _)| one.path.cmp(&other.path));
    found
}

/// The links to one note, with the lines that they stand in.
pub(in crate::vault) fn back(view: &View<'_>, target: &VaultPath) -> Result<Vec<Backlink>, Stale> {
    let mut backlinks = Vec::new();
    for (note, links) in sources(view, target) {
        let text = view.text(note)?.unwrap_or_default();
        let lines = Lines::of(&text);
        for link in links {
            backlinks.push(Backlink {
                path: note.path.clone(),
                title: note.title.to_string(),
                line: link.line,
                context: around(lines.text(&text, link.line), &link.target),
            });
        }
    }
    Ok(backlinks)
}

/// What stands around a link in its line.
fn around(line: &str, target: &str) -> String {
    let line = line.trim();
    let characters = line.chars().count();
    if characters <= CONTEXT_CHARACTERS {
        return line.to_owned();
    }
    let before = line.find(target).map_or(0, |start| line[..start].chars().count());
    let start = before.saturating_sub(CHARACTERS_BEFORE).min(characters - CONTEXT_CHARACTERS);
    let shown: String = line.chars().skip(start).take(CONTEXT_CHARACTERS).collect();
    let cut_before = if start > 0 { "…" } else { "" };
    let cut_behind = if start + CONTEXT_CHARACTERS < characters { "…" } else { "" };
    format!("{cut_before}{shown}{cut_behind}")
}
