//! What the vault consists of, as far as one viewer may see.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use crate::access::path::VaultPath;
use crate::vault::answers::{IndexHealth, VaultStats, Watching};
use crate::vault::library::tags;
use crate::vault::view::{Inbox, View};

/// So many tags are named.
const TOP_TAGS: usize = 20;

pub(in crate::vault) fn gather(view: &View<'_>, watching: Watching) -> VaultStats {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut notes, mut bytes, mut invalid_frontmatter) = (0, 0, 0);
    let mut conflict_copies = Vec::new();
    let mut linked: HashSet<&VaultPath> = HashSet::new();
    let (mut resolved, mut broken) = (0, 0);
    for note in view.notes(Inbox::LeftOut) {
        notes += 1;
        bytes += note.identity.size();
        invalid_frontmatter += usize::from(note.has_invalid_frontmatter);
        let folder = note.path.as_str().split_once('/').map_or("", |(folder, _)| folder);
        *folders.entry(folder).or_default() += 1;
        conflict_copies.extend(view.original(note).map(|original| (note.path.clone(), original)));
        for link in &note.links {
            let target = view.resolve(&link.to_link(), &note.path);
            match target.as_ref().and_then(|target| view.note(target)) {
                None => broken += 1,
                Some(target) => {
                    resolved += 1;
                    if target.path != note.path {
                        linked.insert(&note.path);
                        linked.insert(&target.path);
                    }
                }
            }
        }
    }
    let inbox_notes = view.notes(Inbox::Included).count() - notes;
    let mut top_tags = tags::count(view, "");
    let number_of_tags = top_tags.len();
    top_tags.truncate(TOP_TAGS);
    let mut folders: Vec<(String, usize)> =
        folders.into_iter().map(|(folder, notes)| (folder.to_owned(), notes)).collect();
    folders.sort_by_key(|(_, notes)| Reverse(*notes));
    conflict_copies.sort_unstable();
    VaultStats {
        notes,
        inbox_notes,
        bytes,
        folders,
        top_tags,
        tags: number_of_tags,
        links: (resolved, broken),
        orphans: notes - linked.len(),
        invalid_frontmatter,
        health: health(view, notes + inbox_notes, conflict_copies, watching),
    }
}

fn health(
    view: &View<'_>,
    indexed: usize,
    conflict_copies: Vec<(VaultPath, VaultPath)>,
    watching: Watching,
) -> IndexHealth {
    let skipped: Vec<_> = view
        .shelf
        .skipped()
        .filter(|(_, skipped)| view.viewer.may_see(skipped.class))
        .map(|(path, skipped)| (path.clone(), skipped.reason.clone()))
        .collect();
    let last = view.shelf.last_change(view.visible(Inbox::Included));
    IndexHealth {
        files: indexed + skipped.len(),
        indexed,
        skipped,
        conflict_copies,
        last_change: last.map(|change| change.at),
        lag_milliseconds: last.and_then(|change| change.lag_milliseconds),
        watching,
        time_zone: view.reader.zone.iana_name().unwrap_or("UTC").to_owned(),
    }
}
