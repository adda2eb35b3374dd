//! What the vault consists of, as far as one viewer may see.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use crate::access::path::VaultPath;
use crate::vault::answers::{IndexHealth, SkipReason, VaultStats, Watching};
use crate::vault::library::tags;
use crate::vault::links::{self, name_keys, path_key};
use crate::vault::view::{Inbox, View};
use crate::vault::walk::OddityKind;

/// So many tags are named.
const TOP_TAGS: usize = 20;

pub(in crate::vault) fn gather(view: &View<'_>, watching: Option<Watching>) -> VaultStats {
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
struct Names<'a> {
    /// By path, as the index gives them too.
    notes: Vec<&'a VaultPath>,
    hasher: RandomState,
    at: Vec<Hashed>,
    named: Vec<Hashed>,
}

/// The hash of a key, and which note has that key or one of the same hash. The keys of a
/// large vault would take as much memory as all else that is counted.
type Hashed = (u64, usize);

impl<'a> Names<'a> {
    fn of(view: &'a View<'_>) -> Self {
        let notes: Vec<&VaultPath> = view.notes(Inbox::LeftOut).map(|note| &note.path).collect();
        let hasher = RandomState::new();
        let (mut at, mut named) = (Vec::new(), Vec::new());
        for (number, path) in notes.iter().enumerate() {
            at.push((hasher.hash_one(path_key(path)), number));
            named.extend(name_keys(path).iter().map(|key| (hasher.hash_one(key), number)));
        }
        at.sort_unstable();
        named.sort_unstable();
        named.dedup();
        Self { notes, hasher, at, named }
    }

    fn candidates(&self, keys: &[Hashed], key: &str) -> impl Iterator<Item = &'a VaultPath> {
        let hash = self.hasher.hash_one(key);
        let start = keys.partition_point(|hashed| hashed.0 < hash);
        let same = keys[start..].iter().take_while(move |hashed| hashed.0 == hash);
        same.map(|(_, number)| self.notes[*number])
    }
}

impl links::Notes for Names<'_> {
    fn at(&self, key: &str) -> Vec<VaultPath> {
        let found = self.candidates(&self.at, key).filter(|path| path_key(path) == key);
        found.cloned().collect()
    }

    fn named(&self, key: &str) -> Vec<VaultPath> {
        let has_key = |path: &&VaultPath| name_keys(path).iter().any(|name| name == key);
        self.candidates(&self.named, key).filter(has_key).cloned().collect()
    }
}

fn health(
    view: &View<'_>,
    indexed: usize,
    conflict_copies: Vec<(VaultPath, VaultPath)>,
    watching: Option<Watching>,
) -> IndexHealth {
    let mut skipped: Vec<_> = view
        .shelf
        .skipped()
        .filter(|(path, _)| view.may_know_of(path))
        .map(|(path, reason)| (path.clone(), reason.clone()))
        .collect();
    let oddities = view.snapshot.oddities.iter().filter(|odd| view.viewer.may_see(odd.class));
    skipped.extend(oddities.map(|odd| {
        let reason = match odd.kind {
            OddityKind::Link => SkipReason::Link,
            OddityKind::Special => SkipReason::NotAFile,
        };
        (odd.path.clone(), reason)
    }));
    skipped.sort_by(|(one, _), (other, _)| one.cmp(other));
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
