//! The questions that a vault answers about its notes.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use jiff::{Timestamp, ZonedDateTime};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::access::path::VaultPath;
use crate::access::permit::Viewer;
use crate::search::query::Query;
use crate::vault::answers::{
    Change, ListPlace, ListRequest, NoteLinks, NoteList, OpenNote, RelatedNote, SearchRequest,
    SearchResults, TagCount, VaultStats,
};
use crate::vault::attempts::attempts;
use crate::vault::catalog::{Note, Suspects};
use crate::vault::dates::CommitDates;
use crate::vault::reading::{self, Opened};
use crate::vault::snapshot::Snapshot;
use crate::vault::view::{Scene, Stale, View};
use crate::vault::{Parts, ReadError, Unavailable, Vault, library, markdown, page};

impl Vault {
    /// Searches with the full query language.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn search_notes(
        &self,
        viewer: &Viewer,
        request: &SearchRequest,
    ) -> Result<SearchResults, Unavailable> {
        let query = Query::parse(&request.query, &self.0.reader.languages, &self.now());
        self.ask(viewer, |view| library::search::search(view, &query, request))
    }

    /// Opens one note for a viewer.
    ///
    /// # Errors
    ///
    /// [`ReadError`]; a text that is no path is [`ReadError::Hidden`] too.
    pub fn open_note(&self, viewer: &Viewer, path: &str) -> Result<OpenNote, ReadError> {
        let Opened { path, class, text, identity, snapshot } =
            reading::open(&self.0, viewer, path)?;
        let parsed = markdown::parse(&text, &self.0.reader.zone);
        let dates = self.dates();
        let scene = self.scene(viewer, &snapshot, dates.as_deref());
        let language =
            self.0.reader.languages.of_note(parsed.language.as_deref(), &text[parsed.body_start..]);
        let summary = scene.summary(&Note::new(path, &parsed, language, identity));
        Ok(OpenNote { summary, class, etag: page::etag(&text), text, parsed })
    }

    /// Lists notes. A folder that is absent or holds nothing visible has no notes.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn list_notes(
        &self,
        viewer: &Viewer,
        request: &ListRequest,
    ) -> Result<NoteList, Unavailable> {
        self.ask(viewer, |view| Ok(library::lists::list(view, request)))
    }

    /// The tags that begin with `prefix` (letter case aside), most frequent first.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn tags(&self, viewer: &Viewer, prefix: &str) -> Result<Vec<TagCount>, Unavailable> {
        self.ask(viewer, |view| Ok(library::tags::count(view, prefix)))
    }

    /// The notes that have a tag or one below it, the newest first.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn notes_with_tag(
        &self,
        viewer: &Viewer,
        tag: &str,
        limit: usize,
        after: Option<&ListPlace>,
    ) -> Result<NoteList, Unavailable> {
        self.ask(viewer, |view| Ok(library::lists::with_tag(view, tag, limit, after)))
    }

    /// The links from and to one note.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub fn links(&self, viewer: &Viewer, path: &str) -> Result<NoteLinks, ReadError> {
        let page = reading::open(&self.0, viewer, path)?;
        let parsed = markdown::parse(&page.text, &self.0.reader.zone);
        let links = self.ask(viewer, |view| {
            Ok(NoteLinks {
                forward: library::links::forward(view, &page.path, &parsed.links),
                back: library::links::back(view, &page.path)?,
            })
        })?;
        Ok(links)
    }

    /// The notes that have to do with one note, the closest first.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub fn related(
        &self,
        viewer: &Viewer,
        path: &str,
        limit: usize,
    ) -> Result<Vec<RelatedNote>, ReadError> {
        let page = reading::open(&self.0, viewer, path)?;
        Ok(self.ask(viewer, |view| {
            Ok(library::related::related(view, &page.path, &page.text, limit))
        })?)
    }

    /// What the vault consists of.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn stats(&self, viewer: &Viewer) -> Result<VaultStats, Unavailable> {
        self.ask(viewer, |view| Ok(library::stats::gather(view, self.watching())))
    }

    /// Paths that begin with `prefix`, or whose file name does, or its title: for
    /// completion while somebody types.
    ///
    /// # Errors
    ///
    /// [`Unavailable`].
    pub fn complete_path(
        &self,
        viewer: &Viewer,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<VaultPath>, Unavailable> {
        self.ask(viewer, |view| Ok(library::lists::complete(view, prefix, limit)))
    }

    /// Batches of changes from now on. They wait for the receiver in memory, so it must
    /// take them at once.
    #[must_use]
    pub fn changes(&self) -> UnboundedReceiver<Arc<[Change]>> {
        self.0.catalog.changes()
    }

    /// Puts a question to one moment of the vault, and to another one if the vault has
    /// changed meanwhile.
    fn ask<T>(
        &self,
        viewer: &Viewer,
        question: impl Fn(&View<'_>) -> Result<T, Stale>,
    ) -> Result<T, Unavailable> {
        let mut changed = HashSet::new();
        for attempt in attempts() {
            let snapshot = self.0.keeper.snapshot().ok_or(Unavailable)?;
            let suspects =
                if self.is_followed() { Suspects::Paths(&changed) } else { Suspects::All };
            let now = self.0.catalog.shelf(&self.0.keeper, &snapshot, suspects, &|_, _| ());
            let dates = self.dates();
            let scene = self.scene(viewer, now.of(), dates.as_deref());
            let scene = Scene { takes_changed: attempt.is_late, shelf: Some(&now), ..scene };
            match question(&View { scene, shelf: &now }) {
                Ok(answer) if self.0.keeper.confirms(now.of()) => return Ok(answer),
                Ok(_) => {}
                Err(Stale::Changed(path)) => {
                    changed.insert(path);
                }
                // The stamps may be too coarse to show it.
                Err(Stale::Replaced(path)) => {
                    let replaced = now.of().page(&path);
                    replaced.and_then(|page| self.0.keeper.fresh(page)).ok_or(Unavailable)?;
                }
            }
        }
        Err(Unavailable)
    }

    fn scene<'a>(
        &'a self,
        viewer: &'a Viewer,
        snapshot: &'a Snapshot,
        dates: Option<&'a CommitDates>,
    ) -> Scene<'a> {
        let Parts { root, reader, .. } = &*self.0;
        Scene { viewer, root, reader, snapshot, dates, shelf: None, takes_changed: false }
    }

    fn dates(&self) -> Option<Arc<CommitDates>> {
        self.0.dates.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn now(&self) -> ZonedDateTime {
        let seconds = i64::try_from(self.0.clock.now().as_seconds()).unwrap_or(i64::MAX);
        let now = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
        now.to_zoned_datetime(self.0.reader.zone.clone())
    }
}
