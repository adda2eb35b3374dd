//! Search: the index finds, the disk is read for what is shown.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::search::index::{Namespace, PartitionSet};
use crate::search::passage::{Searched, Window, best_passage};
use crate::search::query::{Query, path_key};
use crate::search::ranking::Request;
use crate::vault::analyzers::Lent;
use crate::vault::answers::{
    NoteHit, Passage, Passages, QueryReading, SearchRequest, SearchResults, Unmatched, shown_mark,
};
use crate::vault::catalog::{CONFLICT_COPY, Note};
use crate::vault::library::lists::Within;
use crate::vault::markdown::{self, Heading, Span, SpanKind};
use crate::vault::view::{Stale, View};

/// The longest passage, in characters.
const PASSAGE_CHARACTERS: usize = 240;

/// The notes that answer a query, with the passages that do.
pub(in crate::vault) fn search(
    view: &View<'_>,
    query: &Query,
    request: &SearchRequest,
) -> Result<SearchResults, Stale> {
    let folder = request.folder.trim_matches('/');
    let place = Within::folder(folder, true);
    let visible = view.visible(view.inbox_for(folder));
    let has_dates = query.from().is_some() || query.until().is_some();
    let copies = if query.names_paths() { HashSet::new() } else { conflict_copies(view, visible) };
    let accept = |path: &str, note: &Arc<Note>| {
        place.has(path)
            && !copies.contains(path)
            && (!has_dates || query.covers(view.modified(note).at))
    };
    let accepts_all = folder.is_empty() && copies.is_empty() && !has_dates;
    let newest =
        |one: &Arc<Note>, other: &Arc<Note>| view.modified(other).at.cmp(&view.modified(one).at);
    let ranked = view.shelf.index().search(&Request {
        visible,
        query,
        // Of many documents each is asked about, so nothing is asked for nothing.
        accept: if accepts_all { None } else { Some(&accept) },
        order: &newest,
        limit: request.limit + request.shown.len() + 1,
    });
    let shown: HashSet<u64> = request.shown.iter().copied().collect();
    let fresh =
        ranked.hits.into_iter().filter(|hit| !shown.contains(&shown_mark(&hit.payload.path)));
    let mut analyzers = view.reader.analyzers.lend();
    let mut corrected = query.clone();
    corrected.correct(&ranked.corrected);
    let mut hits: Vec<NoteHit> = Vec::new();
    let (mut taken, mut has_more) = (0, false);
    for hit in fresh {
        let note = view.summary(&hit.payload);
        let is_full = match request.passages {
            Passages::None | Passages::All => false,
            Passages::Fitting { bytes, least } => {
                taken += least(&note);
                taken > bytes && !hits.is_empty()
            }
        };
        if is_full || hits.len() == request.limit {
            has_more = true;
            break;
        }
        let passage = match request.passages {
            Passages::None => Passage::default(),
            _ => passage(view, &corrected, &mut analyzers, &hit.payload)?,
        };
        hits.push(NoteHit { note, score: hit.score, passage });
    }
    let is_nothing = ranked.total == 0;
    let unmatched = if is_nothing { unmatched(view, query, folder) } else { Vec::new() };
    let reading = QueryReading {
        interpreted: query.interpreted().to_owned(),
        ignored: query.ignored.clone(),
        corrected: ranked.corrected,
        unmatched,
    };
    Ok(SearchResults { hits, total: ranked.total, has_more, reading })
}

/// The filters that nothing passes, so that a misspelt one is not taken for an answer.
fn unmatched(view: &View<'_>, query: &Query, folder: &str) -> Vec<Unmatched> {
    let inbox = view.inbox_for(folder);
    let has = |place: &dyn Fn(&str) -> bool| view.notes(inbox).any(|it| place(it.path.as_str()));
    let mut unmatched = Vec::new();
    let place = Within::folder(folder, true);
    if !folder.is_empty() && !has(&|path| place.has(path)) {
        unmatched.push(Unmatched::Folder);
    }
    let index = view.shelf.index();
    for (_, tag) in query.tags.iter().filter(|(is_wanted, _)| *is_wanted) {
        if index.by_keyword(view.visible(inbox), Namespace::Tag, tag).is_empty() {
            unmatched.push(Unmatched::Tag(tag.to_string()));
        }
    }
    for (_, part) in query.paths.iter().filter(|(is_wanted, _)| *is_wanted) {
        if !has(&|path| path_key(path).contains(&**part)) {
            unmatched.push(Unmatched::Path(part.to_string()));
        }
    }
    unmatched
}

/// The conflict copies whose originals are visible: each would stand beside its original
/// with the same words (L54).
fn conflict_copies<'a>(view: &View<'a>, visible: PartitionSet) -> HashSet<&'a str> {
    let copies = view.shelf.index().by_keyword(visible, Namespace::Mark, CONFLICT_COPY);
    let stands_beside = |(path, note): (&'a str, &Arc<Note>)| view.original(note).map(|_| path);
    copies.into_iter().filter_map(stands_beside).collect()
}

/// The passage of a note that answers best; its beginning if only other things do.
fn passage(
    view: &View<'_>,
    query: &Query,
    analyzers: &mut Lent<'_>,
    note: &Note,
) -> Result<Passage, Stale> {
    let Some((text, is_as_indexed)) = view.text_now(note)? else { return Ok(Passage::default()) };
    // The frontmatter is not part of what is searched, nor of what is shown (L13).
    let start = note.body_start as usize;
    // Stamps may be too coarse to tell a change.
    let (start, language) = if is_as_indexed && text.is_char_boundary(start) {
        (start, note.language)
    } else {
        let parsed = markdown::parse(&text, &view.reader.zone);
        (
            parsed.body_start,
            view.reader.languages.of_note(parsed.language.as_deref(), &text[parsed.body_start..]),
        )
    };
    let parsed = markdown::parse_body(&text, start);
    let body = &text[start..];
    let in_body = |bytes: &Range<usize>| Some(bytes.start.checked_sub(start)?..bytes.end - start);
    let searched = |span: &Span| {
        let is_aside = span.kind == SpanKind::Aside;
        Some(Searched { bytes: in_body(&span.bytes)?, is_aside })
    };
    let spans: Vec<_> = parsed.spans.iter().filter_map(searched).collect();
    let analyzer = analyzers.of(language);
    let window = best_passage(body, &spans, query, analyzer, PASSAGE_CHARACTERS);
    Ok(window.map_or_else(Passage::default, |window| {
        let line_of = |byte| parsed.lines.line_of(start + byte);
        let first = line_of(window.bytes.start);
        let last = line_of(window.bytes.end.saturating_sub(1).max(window.bytes.start));
        // A window may begin in the section before.
        let found = window.matches.first().map_or(first, |found| line_of(found.start));
        let above = headings_above(&parsed.headings, found);
        let (line, matches) = on_one_line(body, &window);
        Passage {
            text: line,
            matches,
            lines: Some(first..=last),
            anchor: above.last().map(|heading| heading.anchor.clone()),
            headings: above.into_iter().map(|heading| heading.text.clone()).collect(),
        }
    }))
}

/// The headings of the sections that a line lies in, the outermost first.
fn headings_above(headings: &[Heading], line: u32) -> Vec<&Heading> {
    let above =
        headings.iter().filter(|heading| (heading.line..=heading.last_line).contains(&line));
    above.collect()
}

/// A window of a text with every run of white space as one blank, no control characters
/// and `…` for what is left out, and where the matches are in it, in characters.
fn on_one_line(text: &str, window: &Window) -> (String, Vec<Range<usize>>) {
    let mut line = OneLine::default();
    let mut begun = 0;
    let mut marked: Vec<Range<usize>> = Vec::new();
    let mut matches = window.matches.iter().peekable();
    let mut left_out = window.left_out.iter().peekable();
    for (offset, character) in text[window.bytes.clone()].char_indices() {
        let at = window.bytes.start + offset;
        while left_out.next_if(|out| out.end <= at).is_some() {}
        if let Some(out) = left_out.peek().filter(|out| out.start <= at) {
            if out.start == at {
                line.leave_out();
            }
            continue;
        }
        if matches.peek().is_some_and(|found| found.start == at) {
            begun = line.length;
        }
        line.push(character);
        if let Some(found) = matches.next_if(|found| found.end <= at + character.len_utf8())
            && found.start < found.end
        {
            marked.push(begun..line.length);
        }
    }
    (line.finish(), marked)
}

/// A line in the making, and its length in characters.
#[derive(Default)]
struct OneLine {
    text: String,
    length: usize,
}

impl OneLine {
    fn push(&mut self, character: char) {
        if character.is_whitespace() {
            if self.length > 0 && !self.text.ends_with(' ') {
                self.add(' ');
            }
        } else if !character.is_control() {
            self.add(character);
        }
    }

    fn leave_out(&mut self) {
        if !self.text.trim_end().ends_with('…') {
            self.add('…');
        }
    }

    fn add(&mut self, character: char) {
        self.text.push(character);
        self.length += 1;
    }

    fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}
