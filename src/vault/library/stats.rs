//! What the vault consists of, as far as one viewer may see.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::access::path::VaultPath;
use crate::vault::answers::{IndexHealth, VaultStats, Watching};
use crate::vault::library::tags;
use crate::vault::links::{self, name_keys, path_key};
use crate::vault::view::{Inbox, View};

/// So many tags are named.
const TOP_TAGS: usize = 20;

pub(in crate::vault) fn gather(view: &View<'_>, watching: Watching) -> VaultStats {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut notes, mut bytes, mut invalid_frontmatter) = (0, 0, 0);
    let mut conflict_copies = Vec::new();
    let mut linked: HashSet<VaultPath> = HashSet::new();
    let names = Names::of(view);
    let (mut resolved, mut broken) = (0, 0);
    for note in view.notes(Inbox::LeftOut) {
        notes += 1;
        bytes += note.identity.size();
        invalid_frontmatter += usize::from(note.has_invalid_frontmatter);
        let folder = note.path.as_str().split_once('/').map_or("", |(folder, _)| folder);
        *folders.entry(folder).or_default() += 1;
        conflict_copies.extend(view.original(note).map(|original| (note.path.clone(), original)));
        for link in &note.links {
            match links::resolve(&link.to_link(), &note.path, &names) {
                None => broken += 1,
                Some(target) => {
                    resolved += 1;
                    if target != note.path {
                        linked.insert(note.path.clone());
                        linked.insert(target);
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

/// The visible notes outside the inbox by the keys that links are resolved by. For all
/// links of a vault that is much faster than asking the index for each.
struct Names {
    at: HashMap<String, Vec<VaultPath>>,
    named: HashMap<String, Vec<VaultPath>>,
}

impl Names {
    fn of(view: &View<'_>) -> Self {
        let mut names = Self { at: HashMap::new(), named: HashMap::new() };
        // By path, as the index gives them too.
        for note in view.notes(Inbox::LeftOut) {
            add(&mut names.at, path_key(&note.path), &note.path);
            for key in name_keys(&note.path) {
                add(&mut names.named, key, &note.path);
            }
        }
        names
    }
}

/// Most keys have one path, so there is room for no more at first.
fn add(paths: &mut HashMap<String, Vec<VaultPath>>, key: String, path: &VaultPath) {
    match paths.entry(key) {
        Entry::Vacant(entry) => {
            entry.insert(vec![path.clone()]);
        }
        Entry::Occupied(mut entry) => entry.get_mut().push(path.clone()),
    }
}

impl links::Notes for Names {
    fn at(&self, path_key: &str) -> Vec<VaultPath> {
        self.at.get(path_key).cloned().unwrap_or_default()
    }

    fn named(&self, name_key: &str) -> Vec<VaultPath> {
        self.named.get(name_key).cloned().unwrap_or_default()
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
        .filter(|(path, _)| view.may_know_of(path))
        .map(|(path, reason)| (path.clone(), reason.clone()))
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
