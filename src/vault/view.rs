//! One moment of the vault, as one viewer sees it.
//!
//! Every question about notes is put to a [`View`]; whatever it gives out is
//! visible to its viewer. What is hidden takes no part: not in a look-up, not in a
//! count, not in the choice of what a link means.

use std::ops::Deref;
use std::sync::Arc;

use jiff::Timestamp;

use crate::access::class::{ClassifiedPath, PageClass, class_in_doubt};
use crate::access::path::VaultPath;
use crate::access::permit::Viewer;
use crate::search::index::{Namespace, PartitionSet};
use crate::vault::answers::{DateSource, Modified, NoteSummary};
use crate::vault::catalog::{Note, PageReader, Shelf, partition};
use crate::vault::dates::CommitDates;
use crate::vault::evidence::is_ciphertext;
use crate::vault::files::{NoBytes, PageBytes, Root};
use crate::vault::library::lists::Within;
use crate::vault::links;
use crate::vault::markdown::Link;
use crate::vault::page::{Content, decode};
use crate::vault::snapshot::Snapshot;
use crate::vault::survey::Stability;

/// The disk is not what the index was made from: ask again.
#[derive(Debug)]
pub(super) enum Stale {
    /// This file was changed in place.
    Changed(VaultPath),
    /// This file was removed or replaced.
    Replaced(VaultPath),
}

/// The vault and its viewer, with or without the index.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) viewer: &'a Viewer,
    pub(super) root: &'a Root,
    pub(super) snapshot: &'a Snapshot,
    pub(super) dates: Option<&'a CommitDates>,
    /// The index, for questions that need it.
    pub(super) shelf: Option<&'a Shelf>,
    pub(super) reader: &'a PageReader,
    /// Whether a changed file is good enough, because there is no time to ask again.
    pub(super) takes_changed: bool,
}

/// See the module.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) scene: Scene<'a>,
    pub(super) shelf: &'a Shelf,
}

impl<'a> Deref for View<'a> {
    type Target = Scene<'a>;

    fn deref(&self) -> &Scene<'a> {
        &self.scene
    }
}

/// Whether a question is about the notes of the inbox as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inbox {
    Included,
    LeftOut,
}

impl<'a> View<'a> {
    /// The parts of the index that the viewer may see.
    pub(super) fn visible(&self, inbox: Inbox) -> PartitionSet {
        let places: &[bool] = match inbox {
            Inbox::Included => &[false, true],
            Inbox::LeftOut => &[false],
        };
        let classes = PageClass::ALL.into_iter().filter(|class| self.viewer.may_see(*class));
        classes
            .flat_map(|class| places.iter().map(move |in_inbox| (class, *in_inbox)))
            .filter_map(|(class, in_inbox)| partition(class, in_inbox))
            .collect()
    }

    /// What a question about a folder takes in: naming the inbox, or something in it,
    /// asks for it.
    pub(super) fn inbox_for(&self, folder: &str) -> Inbox {
        let names_inbox =
            self.reader.inbox.as_ref().is_some_and(|inbox| {
                Within::folder(inbox.as_str(), true).has(&format!("{folder}/"))
            });
        if names_inbox { Inbox::Included } else { Inbox::LeftOut }
    }

    /// The visible notes, in no order.
    pub(super) fn notes(&self, inbox: Inbox) -> impl Iterator<Item = &'a Arc<Note>> {
        self.shelf.index().documents(self.visible(inbox)).map(|(_, note)| note)
    }

    /// A visible note, in the inbox or not.
    pub(super) fn note(&self, path: &VaultPath) -> Option<&'a Arc<Note>> {
        self.shelf.index().get(self.visible(Inbox::Included), path.as_str())
    }

    /// The visible note that a link means.
    pub(super) fn resolve(&self, link: &Link, from: &VaultPath) -> Option<VaultPath> {
        links::resolve(link, from, &Linked(self))
    }
}

impl Scene<'_> {
    /// What lists show of a note.
    pub(super) fn summary(&self, note: &Note) -> NoteSummary {
        NoteSummary {
            path: note.path.clone(),
            title: note.title.to_string(),
            tags: note.tags.iter().map(ToString::to_string).collect(),
            modified: self.modified(note),
            size: note.identity.size(),
            conflict_of: self.original(note),
        }
    }

    /// When a note was changed last (L57).
    pub(super) fn modified(&self, note: &Note) -> Modified {
        let by = |source| move |at: Timestamp| Modified { at, source };
        let of_commit = || {
            let disk = &self.snapshot.page(&note.path)?.disk;
            self.dates?.of(disk, &note.identity)
        };
        note.date
            .map(by(DateSource::Frontmatter))
            .or_else(|| of_commit().map(by(DateSource::Commit)))
            .unwrap_or_else(|| by(DateSource::File)(note.identity.modified_at()))
    }

    /// The visible note of which this one is a conflict copy (L54).
    pub(super) fn original(&self, note: &Note) -> Option<VaultPath> {
        note.copy_of.clone().filter(|original| self.may_know_of(original))
    }

    /// Whether the viewer may know that there is a page, which need not be in the index.
    pub(super) fn may_know_of(&self, path: &VaultPath) -> bool {
        let may_see = |class| self.viewer.may_see(class);
        let class = self.snapshot.page(path).map(|page| page.class);
        class.is_some_and(|class| may_see(class) && may_see(class.max(self.class_of_content(path))))
    }

    /// What the content of a page makes of its class: ciphertext is at least
    /// confidential, whatever the rules say.
    fn class_of_content(&self, path: &VaultPath) -> PageClass {
        let is_locked = match self.shelf {
            Some(index) => index.is_locked(path),
            None => match self.read(path) {
                Ok(read) => read.is_some_and(|read| is_ciphertext(&read.bytes)),
                Err(_) => true,
            },
        };
        if is_locked { class_in_doubt(path.as_str()) } else { PageClass::Ordinary }
    }

    /// Reads a visible page.
    pub(super) fn read(&self, path: &VaultPath) -> Result<Option<PageBytes>, Stale> {
        let Some(page) = self.snapshot.page(path) else { return Ok(None) };
        let classified = ClassifiedPath::judged(path.clone(), page.class);
        let Ok(permit) = self.viewer.permit_read(classified) else { return Ok(None) };
        match self.root.read_page(permit, self.snapshot) {
            Ok(read) => Ok(Some(read)),
            Err(NoBytes::Replaced) => Err(Stale::Replaced(path.clone())),
            Err(_) => Ok(None),
        }
    }

    /// The text that a note was indexed from; `None` if there is none any more.
    pub(super) fn text(&self, note: &Note) -> Result<Option<String>, Stale> {
        Ok(self.text_now(note)?.map(|(text, _)| text))
    }

    /// The same, and whether it is that text indeed: there may be no time to ask again.
    pub(super) fn text_now(&self, note: &Note) -> Result<Option<(String, bool)>, Stale> {
        let Some(read) = self.read(&note.path)? else { return Ok(None) };
        let is_as_indexed = read.identity == note.identity;
        // While git is at work, the index waits for it.
        let takes_changed = self.takes_changed || self.snapshot.stability == Stability::InMotion;
        if !is_as_indexed && !takes_changed {
            return Err(Stale::Changed(note.path.clone()));
        }
        Ok(match decode(read.bytes) {
            Content::Text(text) => Some((text, is_as_indexed)),
            Content::Ciphertext | Content::Binary => None,
        })
    }
}

/// The visible notes outside the inbox, to which links may lead.
struct Linked<'a, 'b>(&'b View<'a>);

impl Linked<'_, '_> {
    fn with(&self, namespace: Namespace, key: &str) -> Vec<VaultPath> {
        let found = self.0.shelf.index().by_keyword(self.0.visible(Inbox::LeftOut), namespace, key);
        found.into_iter().map(|(_, note)| note.path.clone()).collect()
    }
}

impl links::Notes for Linked<'_, '_> {
    fn at(&self, path_key: &str) -> Vec<VaultPath> {
        self.with(Namespace::Path, path_key)
    }

    fn named(&self, name_key: &str) -> Vec<VaultPath> {
        self.with(Namespace::Name, name_key)
    }
}
