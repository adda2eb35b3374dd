//! Lists of notes: by folder, by tag, by name.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use crate::access::path::VaultPath;
use crate::search::index::Namespace;
use crate::search::query::{path_key, tag_key};
use crate::vault::answers::{ListOrder, ListPlace, ListRequest, NoteList};
use crate::vault::catalog::Note;
use crate::vault::view::{Inbox, View};

/// The notes of a folder.
pub(in crate::vault) fn list(view: &View<'_>, request: &ListRequest) -> NoteList {
    let folder = request.folder.trim_matches('/');
    let place = Within::folder(folder, request.is_recursive);
    let is_wanted = |note: &&Arc<Note>| place.has(note.path.as_str());
    let notes = view.notes(view.inbox_for(folder)).filter(is_wanted).collect();
    one_page(view, notes, request.order, request.limit, request.after.as_ref())
}

/// The notes that have a tag or one below it, the newest first.
pub(in crate::vault) fn with_tag(
    view: &View<'_>,
    tag: &str,
    limit: usize,
    after: Option<&ListPlace>,
) -> NoteList {
    let tag = tag_key(tag);
    let visible = view.visible(Inbox::LeftOut);
    let found = view.shelf.index().by_keyword(visible, Namespace::Tag, &tag);
    let notes = found.into_iter().map(|(_, note)| note).collect();
    one_page(view, notes, ListOrder::Newest, limit, after)
}

/// The paths in a folder, letter case aside, as `path:` has it. The folder is looked at
/// once, however many paths are asked about: it may be a long one.
pub(in crate::vault) struct Within<'f> {
    folder: &'f str,
    /// In the form of [`path_key`], if that differs in more than ASCII letters.
    folded: Option<String>,
    depth: usize,
    is_recursive: bool,
}

impl<'f> Within<'f> {
    /// Those in a folder, and those in the folders below as well if it is recursive.
    pub(in crate::vault) fn folder(folder: &'f str, is_recursive: bool) -> Self {
        let key = (!folder.is_ascii()).then(|| path_key(folder));
        Self { folder, folded: key, depth: folder.matches('/').count(), is_recursive }
    }

    /// Whether a path is among them.
    pub(in crate::vault) fn has(&self, path: &str) -> bool {
        if self.folder.is_empty() {
            return self.is_recursive || !path.contains('/');
        }
        // The part of the path that would be the folder.
        let Some((end, _)) = path.match_indices('/').nth(self.depth) else { return false };
        let is_same = path[..end].eq_ignore_ascii_case(self.folder)
            || self.folded.as_ref().is_some_and(|folded| path_key(&path[..end]) == *folded);
        is_same && (self.is_recursive || !path[end + 1..].contains('/'))
    }
}

fn one_page(
    view: &View<'_>,
    notes: Vec<&Arc<Note>>,
    order: ListOrder,
    limit: usize,
    after: Option<&ListPlace>,
) -> NoteList {
    let total = notes.len();
    let mut places: Vec<(ListPlace, &Arc<Note>)> =
        notes.into_iter().map(|note| (place(view, order, note), note)).collect();
    if let Some(after) = after {
        places.retain(|(place, _)| compare(order, place, after) == Ordering::Greater);
    }
    let is_last = places.len() <= limit;
    if !is_last {
        // Only what is shown need be sorted.
        places.select_nth_unstable_by(limit, |(one, _), (other, _)| compare(order, one, other));
        places.truncate(limit);
    }
    places.sort_unstable_by(|(one, _), (other, _)| compare(order, one, other));
    let next = (!is_last).then(|| places.last().map(|(place, _)| place.clone())).flatten();
    let notes = places.iter().map(|(_, note)| view.summary(note)).collect();
    NoteList { notes, total, next }
}

fn place(view: &View<'_>, order: ListOrder, note: &Note) -> ListPlace {
    let key = match order {
        ListOrder::Path => String::new(),
        ListOrder::Title => note.title.to_lowercase(),
        ListOrder::Newest | ListOrder::Oldest => view.modified(note).at.as_nanosecond().to_string(),
    };
    ListPlace { key, path: note.path.to_string() }
}

fn compare(order: ListOrder, one: &ListPlace, other: &ListPlace) -> Ordering {
    // A place may come from a cursor that we have sealed ourselves, so it is a number.
    let moment = |place: &ListPlace| place.key.parse::<i128>().unwrap_or(0);
    let by_key = match order {
        ListOrder::Path => Ordering::Equal,
        ListOrder::Title => one.key.cmp(&other.key),
        ListOrder::Newest => Reverse(moment(one)).cmp(&Reverse(moment(other))),
        ListOrder::Oldest => moment(one).cmp(&moment(other)),
    };
    by_key.then_with(|| one.path.cmp(&other.path))
}

/// Paths for somebody who is typing one: those that begin so, then those whose file
/// name or title does.
pub(in crate::vault) fn complete(view: &View<'_>, typed: &str, limit: usize) -> Vec<VaultPath> {
    let typed = typed.trim_start_matches('/').to_lowercase();
    let folder = typed.rsplit_once('/').map_or("", |(folder, _)| folder);
    let rank = |note: &Arc<Note>| {
        let begins = |text: &str| text.to_lowercase().starts_with(&typed);
        if begins(note.path.as_str()) {
            Some(0_u8)
        } else if begins(note.path.file_name()) {
            Some(1)
        } else {
            begins(&note.title).then_some(2)
        }
    };
    let notes = view.notes(view.inbox_for(folder));
    let mut found: Vec<(u8, &VaultPath)> =
        notes.filter_map(|note| Some((rank(note)?, &note.path))).collect();
    found.sort_unstable();
    found.into_iter().take(limit).map(|(_, path)| path.clone()).collect()
}
