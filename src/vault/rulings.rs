//! Keeps what git has said of each page, for as long as nothing has changed that it
//! rests on.
//!
//! What git says of a path follows from the path, from the settings, from the rule files
//! on the disk, and from those in the index where the disk has none. So an answer is
//! used again only while settings and rule files are the same byte for byte and no rule
//! file of the index counts. An answer is kept only if the rules were steady while git
//! was asked: a rule that came and went meanwhile would have been part of it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::access::class::{GitAttributes, NameCase, Ruling, judge};
use crate::vault::attributes;
use crate::vault::evidence::Stored;
use crate::vault::fingerprint::{Fingerprint, Identity};
use crate::vault::git::{Git, GitError};
use crate::vault::repository::Repository;
use crate::vault::walk::{Folder, FoundPage, Listing, Walk};

/// So many different rulings are looked through for one that says the same.
const RECENT: usize = 8;

/// The rulings about every page, by folder.
#[derive(Debug, Default)]
pub(super) struct Rulings {
    basis: Option<Basis>,
    folders: HashMap<Arc<str>, Ruled>,
}

/// The rulings about the pages of one folder, in the order of its listing.
#[derive(Clone, Debug)]
pub(super) struct Ruled {
    pub(super) listing: Arc<Listing>,
    pub(super) rulings: Arc<[Arc<Ruling>]>,
}

impl Ruled {
    /// Whether both are one and the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.listing, &other.listing) && Arc::ptr_eq(&self.rulings, &other.rulings)
    }
}

/// All that answers rest on, beside the path.
#[derive(Debug, PartialEq, Eq)]
enum Basis {
    /// There is no repository: only names count.
    Names,
    Git(Box<GitBasis>),
}

#[derive(Debug, PartialEq, Eq)]
struct GitBasis {
    program: Identity,
    repository: Repository,
    settings: Fingerprint,
    rules: Fingerprint,
}

/// Whom to ask, and in what circumstances.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Names,
    Git(&'a GitSource<'a>),
}

/// A repository, and what is known of it at the moment.
pub(super) struct GitSource<'a> {
    pub(super) git: &'a Git,
    pub(super) repository: &'a Repository,
    /// All that decides where the repository is and how it is set up.
    pub(super) settings: &'a Fingerprint,
    /// All that the survey rests on.
    pub(super) fingerprint: &'a Fingerprint,
    pub(super) stored: &'a Stored,
    pub(super) root: &'a Path,
    /// Whether something is wrong with the rules. Then every question is asked.
    pub(super) in_doubt: bool,
}

/// The rulings of one survey.
#[derive(Debug)]
pub(super) struct Outcome {
    /// One for each folder of the walk.
    pub(super) folders: Vec<Ruled>,
    /// git's words about rules that it dropped; empty if there are none.
    pub(super) complaints: String,
    /// The folders with pages that were asked about now.
    fresh: Vec<usize>,
    basis: Option<Basis>,
}

impl Rulings {
    /// The ruling about every page of a walk. Asks about those that are not known.
    pub(super) fn of(&self, walk: &Walk, source: Source<'_>) -> Result<Outcome, GitError> {
        // Taken before git is asked.
        let basis = source.basis();
        if basis.is_some() && basis == self.basis {
            let mut outcome = self.complete(walk, source, &[])?;
            // git had no complaint about these rules. If it has one now, it is asked about
            // every folder.
            if outcome.complaints.is_empty() {
                outcome.basis = basis;
                return Ok(outcome);
            }
        }
        let rules: Vec<&str> = walk.folders_with_rules().collect();
        let mut outcome = Self::default().complete(walk, source, &rules)?;
        outcome.basis = basis.filter(|_| outcome.complaints.is_empty());
        Ok(outcome)
    }

    /// Keeps what may be used again. Only to be called if the survey came to something.
    pub(super) fn keep(
        &mut self,
        walk: &Walk,
        outcome: &mut Outcome,
        mut steadiness: Steadiness<'_>,
    ) {
        let Some(basis) = outcome.basis.take() else { return };
        let only_names = basis == Basis::Names;
        if self.basis.as_ref() != Some(&basis) {
            self.folders.clear();
            self.basis = Some(basis);
        }
        let mut before = std::mem::take(&mut self.folders);
        let mut fresh = outcome.fresh.iter().copied().peekable();
        for (number, (folder, ruled)) in walk.folders.iter().zip(&outcome.folders).enumerate() {
            let is_fresh = fresh.next_if_eq(&number).is_some();
            let kept = if !is_fresh || only_names || steadiness.covers(&folder.relative) {
                Some(ruled.clone())
            } else {
                // What was known before is still right.
                before.remove(&folder.relative)
            };
            self.folders.extend(kept.map(|kept| (Arc::clone(&folder.relative), kept)));
        }
    }

    /// Takes what is known, and asks about the rest and about the rules of `folders`.
    fn complete(
        &self,
        walk: &Walk,
        source: Source<'_>,
        folders: &[&str],
    ) -> Result<Outcome, GitError> {
        let mut known: Vec<Known> = walk.folders.iter().map(|folder| self.known(folder)).collect();
        let unknown: Vec<&FoundPage> = walk
            .folders
            .iter()
            .zip(&known)
            .flat_map(|(folder, known)| known.missing(folder))
            .collect();
        let (answers, complaints) = source.ask(&unknown, folders)?;
        let case = source.case();
        let mut recent = Recent::default();
        let judged = unknown.iter().zip(&answers);
        let mut judged =
            judged.map(|(page, answer)| recent.share(judge(page.path.as_str(), answer, case)));
        let mut fresh = Vec::new();
        let mut folders = Vec::new();
        for (number, (folder, known)) in walk.folders.iter().zip(&mut known).enumerate() {
            let rulings = match std::mem::replace(known, Known::Some(Vec::new())) {
                Known::All(rulings) => rulings,
                Known::Some(rulings) => {
                    if rulings.iter().any(Option::is_none) {
                        fresh.push(number);
                    }
                    let all = rulings.into_iter().map(|ruling| ruling.or_else(|| judged.next()));
                    // There is an answer to every question: `ask` has seen to it.
                    all.collect::<Option<_>>().ok_or(GitError::Garbled("check-attr"))?
                }
            };
            folders.push(Ruled { listing: Arc::clone(&folder.listing), rulings });
        }
        Ok(Outcome { folders, complaints, fresh, basis: None })
    }

    fn known(&self, folder: &Folder) -> Known {
        let pages = &folder.listing.pages;
        let Some(kept) = self.folders.get(&folder.relative) else {
            return Known::Some(vec![None; pages.len()]);
        };
        if Arc::ptr_eq(&kept.listing, &folder.listing) {
            return Known::All(Arc::clone(&kept.rulings));
        }
        // Both are in the order of their names.
        let mut before = kept.listing.pages.iter().zip(&*kept.rulings).peekable();
        let known = pages.iter().map(|page| {
            while before.next_if(|(known, _)| known.disk < page.disk).is_some() {}
            before
                .next_if(|(known, _)| known.disk == page.disk)
                .map(|(_, ruling)| Arc::clone(ruling))
        });
        Known::Some(known.collect())
    }
}

/// What is known of one folder.
enum Known {
    All(Arc<[Arc<Ruling>]>),
    Some(Vec<Option<Arc<Ruling>>>),
}

impl Known {
    /// The pages of the folder about which nothing is known.
    fn missing<'a>(&self, folder: &'a Folder) -> Vec<&'a FoundPage> {
        let rulings = match self {
            Self::All(_) => &[][..],
            Self::Some(rulings) => rulings,
        };
        let missing = folder.listing.pages.iter().zip(rulings);
        missing.filter(|(_, ruling)| ruling.is_none()).map(|(page, _)| page).collect()
    }
}

impl Source<'_> {
    /// What answers would rest on; `None` if they cannot be used again.
    fn basis(self) -> Option<Basis> {
        match self {
            Self::Names => Some(Basis::Names),
            Self::Git(source) => source.basis().map(Box::new).map(Basis::Git),
        }
    }

    fn case(self) -> NameCase {
        match self {
            Self::Names => NameCase::Exact,
            Self::Git(source) => source.repository.name_case(),
        }
    }

    fn ask(
        self,
        pages: &[&FoundPage],
        folders: &[&str],
    ) -> Result<(Vec<GitAttributes>, String), GitError> {
        let source = match self {
            Self::Git(source) if !(pages.is_empty() && folders.is_empty()) => source,
            _ => return Ok((vec![GitAttributes::NONE; pages.len()], String::new())),
        };
        let spelling = source.repository.spelling();
        let disk = pages.iter().map(|page| &*page.disk);
        let answer = attributes::ask(source.git, disk, folders.iter().copied(), spelling)?;
        Ok((answer.answers, answer.complaints))
    }
}

impl GitSource<'_> {
    fn basis(&self) -> Option<GitBasis> {
        if self.in_doubt || self.index_has_rules_of_its_own() {
            return None;
        }
        Some(GitBasis {
            program: Identity::of(&fs::metadata(self.git.program()).ok()?),
            repository: self.repository.clone(),
            settings: self.settings.clone(),
            rules: self.fingerprint.present_rules(),
        })
    }

    /// Whether git reads a rule file from the index, because the disk has none there,
    /// or none that it would read.
    fn index_has_rules_of_its_own(&self) -> bool {
        let on_disk = |file: &String| self.fingerprint.text(&resolve(self.root, file)).is_some();
        !self.stored.staged_rules().iter().all(on_disk)
    }
}

/// Joins a path that may begin with steps upwards, as git prints it.
fn resolve(root: &Path, mut relative: &str) -> PathBuf {
    let mut folder = root;
    while let (Some(rest), Some(above)) = (relative.strip_prefix("../"), folder.parent()) {
        (relative, folder) = (rest, above);
    }
    folder.join(relative)
}

/// What has not changed for a while, up to now.
pub(super) struct Steadiness<'a> {
    moment: SystemTime,
    fingerprint: &'a Fingerprint,
    root: &'a Path,
    /// Whether the rules outside of the vault's folders are; `None` until it is asked.
    surroundings: Option<bool>,
    folders: HashMap<String, bool>,
}

impl<'a> Steadiness<'a> {
    /// `moment` is when the survey began that saw the fingerprint.
    pub(super) fn since(moment: SystemTime, fingerprint: &'a Fingerprint, root: &'a Path) -> Self {
        Self { moment, fingerprint, root, surroundings: None, folders: HashMap::new() }
    }

    /// Whether no rule about the pages of a folder can have come and gone.
    fn covers(&mut self, folder: &str) -> bool {
        let (fingerprint, moment) = (self.fingerprint, self.moment);
        let outside = || fingerprint.was_steady_since(moment);
        *self.surroundings.get_or_insert_with(outside) && self.covers_inside(folder)
    }

    fn covers_inside(&mut self, folder: &str) -> bool {
        if let Some(known) = self.folders.get(folder) {
            return *known;
        }
        let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
        let metadata = fs::symlink_metadata(self.root.join(folder));
        let is_steady = metadata.is_ok_and(|it| Identity::of(&it).is_settled_at(self.moment))
            && (folder.is_empty() || self.covers_inside(above));
        self.folders.insert(folder.to_owned(), is_steady);
        is_steady
    }
}

/// Rulings that say the same are kept once.
#[derive(Default)]
struct Recent(Vec<Arc<Ruling>>);

impl Recent {
    fn share(&mut self, ruling: Ruling) -> Arc<Ruling> {
        if let Some(known) = self.0.iter().find(|known| ***known == ruling) {
            return Arc::clone(known);
        }
        let ruling = Arc::new(ruling);
        if self.0.len() == RECENT {
            self.0.remove(0);
        }
        self.0.push(Arc::clone(&ruling));
        ruling
    }
}
