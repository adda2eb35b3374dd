//! Search: the index finds, the disk is read for what is shown.

use std::collections::HashSet;
use std::sync::Arc;

use crate::search::analysis::Analyzer;
use crate::search::index::Ranked;
use crate::search::passage::best_passage;
use crate::search::query::Query;
use crate::vault::answers::{
    NoteHit, Passage, QueryReading, SearchRequest, SearchResults, shown_mark,
};
use crate::vault::catalog::Note;
use crate::vault::library::lists::is_in;
use crate::vault::markdown::{self, Heading, Parsed};
use crate::vault::view::{Inbox, Stale, View};

/// The longest passage, in characters.
const PASSAGE_CHARACTERS: usize = 240;

/// The notes that answer a query, with the passages that do.
pub(in crate::vault) fn search(
    view: &View<'_>,
    query: &Query,
    request: &SearchRequest,
) -> Result<SearchResults, Stale> {
    let folder = request.folder.trim_matches('/');
    let inbox = view.inbox_for(folder);
    let names_paths = query.has_path_filter();
    let shown: HashSet<u64> = request.shown.iter().copied().collect();
    let accept = |note: &Arc<Note>| {
        is_in(folder, true, &note.path)
            && query.accepts_path(note.path.as_str())
            && query.accepts_time(view.modified(note).at)
            && (names_paths || view.original(note).is_none())
    };
    let visible = view.visible(inbox);
    let ranked = view.shelf.index().search(visible, query, &accept);
    todo!()
}
