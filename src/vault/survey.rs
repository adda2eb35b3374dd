//! Looks at the vault once: what the disk has, and what git says of it.

mod oddities;
mod prospect;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::access::class::{PageClass, Ruling, class_in_doubt};
use crate::access::path::VaultPath;
use crate::vault::attempts::attempts;
use crate::vault::evidence::{Blobs, IndexPlace, Stored};
use crate::vault::files::Root;
use crate::vault::fingerprint::{Fingerprint, Inode, Watch, stamping_time};
use crate::vault::git::{Git, GitError};
use crate::vault::repository::{Repository, is_in_repository, watch_for_repository};
use crate::vault::rules;
use crate::vault::rulings::{GitSource, Outcome, Ruled, Rulings, Source, Steadiness};
use crate::vault::walk::{FoundPage, Listings, Walk, walk};

pub(super) use self::oddities::JudgedOddity;
pub(super) use self::prospect::Prospect;

/// Looks at one vault, again and again. Remembers what need not be read twice.
#[derive(Debug)]
pub(super) struct Surveyor {
    root: Arc<Root>,
    /// Set when a repository is found, and never forgotten: a vault whose `.git` is
    /// moved away has not become a folder without rules.
    git: Option<Git>,
    /// Where the repository was found last, and what that rests on.
    located: Option<Located>,
    blobs: Blobs,
    listings: Listings,
    rulings: Rulings,
    /// What a vault without a repository has stored.
    nothing: Arc<Stored>,
    /// The pages of the last survey, and what they were put together from.
    assembled: Option<Assembled>,
}

/// Pages, and what they follow from.
#[derive(Debug)]
struct Assembled {
    folders: Vec<Ruled>,
    stored: Arc<Stored>,
    pages: Arc<SurveyedPages>,
}

/// Every page that the disk has.
pub(super) type SurveyedPages = BTreeMap<VaultPath, SurveyedPage>;

/// A repository, and all that would have to change for it to be another.
#[derive(Clone, Debug)]
struct Located {
    repository: Repository,
    settings: Fingerprint,
}

/// What was seen at one moment.
#[derive(Debug)]
pub(super) struct Survey {
    /// When looking began.
    pub(super) moment: SystemTime,
    /// The same as last time if nothing has changed.
    pub(super) pages: Arc<SurveyedPages>,
    pub(super) private_dot_files: Vec<String>,
    pub(super) oddities: Vec<JudgedOddity>,
    /// Every folder that was read, relative to the vault.
    pub(super) folders: Vec<Arc<str>>,
    pub(super) fingerprint: Fingerprint,
    /// Why the rules cannot be believed, in words for the owner.
    pub(super) doubts: Vec<String>,
    pub(super) stability: Stability,
}

/// A page, and what speaks for which class, apart from doubt and from the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SurveyedPage {
    /// As the disk spells it.
    pub(super) disk: Arc<str>,
    pub(super) inode: Inode,
    /// What git's attributes make of it.
    pub(super) ruling: Arc<Ruling>,
    /// The same, raised by evidence and by other names of the same file.
    pub(super) class: PageClass,
    /// Other spellings on the disk that are the same path when composed.
    pub(super) twins: Vec<Twin>,
}

/// A file that is not served, because another has the same path when composed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Twin {
    pub(super) disk: Arc<str>,
    pub(super) ruling: Arc<Ruling>,
}

/// Whether git is at work in the vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stability {
    /// It is not.
    Settled,
    /// Files of two states may lie side by side.
    InMotion,
}

/// Why a survey came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// The owner has to change something before anything can be served.
    #[error("{0}")]
    Lasting(String),
    /// It may pass, or be put right while we run.
    #[error("{0}")]
    Passing(String),
}

impl From<GitError> for Trouble {
    fn from(error: GitError) -> Self {
        match error {
            GitError::TimedOut(_) => Self::Passing(error.to_string()),
            GitError::NotStarted(_)
            | GitError::TooOld(_)
            | GitError::Failed { .. }
            | GitError::ElsewhereWorkTree(_)
            | GitError::Garbled(_) => Self::Lasting(error.to_string()),
        }
    }
}

impl Surveyor {
    pub(super) fn new(root: Arc<Root>) -> Self {
        Self {
            root,
            git: None,
            located: None,
            blobs: Blobs::default(),
            listings: Listings::default(),
            rulings: Rulings::default(),
            nothing: Arc::default(),
            assembled: None,
        }
    }

    /// Reads the folder of a file anew at the next survey, whatever its stamps say.
    pub(super) fn forget_folder_of(&mut self, disk: &str) {
        self.listings.forget(disk.rsplit_once('/').map_or("", |(folder, _)| folder));
    }

    /// Looks until nothing changed in between.
    pub(super) fn survey(&mut self) -> Result<Survey, Trouble> {
        for _ in attempts() {
            if let Some(survey) = self.attempt()? {
                return Ok(survey);
            }
        }
        Err(Trouble::Passing("the vault changes faster than it can be judged".to_owned()))
    }

    fn attempt(&mut self) -> Result<Option<Survey>, Trouble> {
        let moment = stamping_time();
        let root = Arc::clone(&self.root);
        self.follow_root()?;
        if self.git.is_none() && is_in_repository(root.path()) {
            self.git = Some(Git::find(root.path())?);
        }
        if !self.locate()? {
            return Ok(None);
        }
        let walk = walk(&root, &mut self.listings, moment)
            .map_err(|error| Trouble::Passing(format!("the vault cannot be read: {error}")))?;
        let fingerprint = self.look(&walk);
        if let Some(pause) = fingerprint.unfinished_for(stamping_time()) {
            std::thread::sleep(pause);
            return Ok(None);
        }
        let mut doubts = Vec::new();
        let mut stability = Stability::Settled;
        if let (Some(_), Some(Located { repository, .. })) = (&self.git, &self.located) {
            doubts = rules::inspect(&fingerprint)?;
            doubts.extend(repository.doubts(&fingerprint));
            stability = repository.stability(&fingerprint);
        }
        let judgement = self.stored(moment).and_then(|stored| {
            let outcome = self.rule(&walk, &fingerprint, &stored, &doubts)?;
            let oddities = self.judge_oddities(&walk, &stored, !doubts.is_empty())?;
            Ok((outcome, stored, oddities))
        });
        // Whatever failed meanwhile may have failed for that.
        if !fingerprint.rules_still_hold() {
            return Ok(None);
        }
        let (mut outcome, stored, oddities) = judgement?;
        self.refuse_lost_rules(&stored, &fingerprint)?;
        let steadiness = Steadiness::since(moment, &fingerprint, root.path());
        self.rulings.keep(&walk, &mut outcome, steadiness);
        doubts.extend(outcome.complaints.lines().map(|line| format!("git says: {line}")));
        let private_dot_files = walk.private_dot_files().map(|(disk, _)| disk.clone()).collect();
        let folders = walk.folders.iter().map(|folder| Arc::clone(&folder.relative)).collect();
        let pages = self.assemble(&walk, outcome.folders, stored);
        Ok(Some(Survey {
            moment,
            pages,
            private_dot_files,
            oddities,
            folders,
            fingerprint,
            doubts,
            stability,
        }))
    }

    /// Goes on with another folder that has come in the vault's place, if it is the same
    /// vault: restored, or mounted again. Nothing that is known of the old one counts.
    fn follow_root(&mut self) -> Result<(), Trouble> {
        let gone = |error| Trouble::Passing(format!("the vault's folder is gone: {error}"));
        let Some(folder) = self.root.successor().map_err(gone)? else { return Ok(()) };
        let is_same_vault = match (&self.git, self.blobs.tree()) {
            // It has the commit that was checked out last.
            (Some(git), Some(tree)) => git.ask(&["cat-file", "-e", tree], Vec::new()).is_ok(),
            (Some(_), None) => false,
            // Without rules only names count. A folder that has none of those that the
            // vault had is where its disk is not mounted, say.
            (None, _) => {
                let top = self.assembled.as_ref().and_then(|before| before.folders.first());
                let mut names = top.into_iter().flat_map(|top| top.listing.names());
                names.any(|name| folder.symlink_metadata(name).is_ok())
            }
        };
        if !is_same_vault {
            let words = "another folder is in the place of the vault; restart to serve that";
            return Err(Trouble::Passing(words.to_owned()));
        }
        self.root.go_on_with(folder);
        let git = self.git.take();
        *self = Self { git, ..Self::new(Arc::clone(&self.root)) };
        Ok(())
    }

    /// Finds the repository, unless it must be where it was. Says whether it was found
    /// without a change in between.
    fn locate(&mut self) -> Result<bool, Trouble> {
        let Some(git) = &self.git else { return Ok(true) };
        if self.located.as_ref().is_some_and(|located| located.settings.still_holds()) {
            return Ok(true);
        }
        let root = self.root.path();
        let repository = Repository::locate(git, root)?;
        let settings = repository.watch_settings(git, root);
        // Asked again: they may have changed before they were looked at.
        let is_steady = Repository::locate(git, root)? == repository;
        self.blobs.forget_lists();
        self.located = is_steady.then_some(Located { repository, settings });
        Ok(is_steady)
    }

    fn look(&self, walk: &Walk) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        let root = self.root.path();
        // Before anything is released, the path still leads to this folder.
        fingerprint.look(root.to_path_buf(), Watch::Presence);
        for folder in &walk.folders {
            fingerprint.remember(root.join(&*folder.relative), folder.listing.identity);
        }
        if let (Some(git), Some(located)) = (&self.git, &self.located) {
            fingerprint.extend(&located.settings);
            // In every folder, for a rule file may come.
            for folder in walk.folders_with_rules() {
                let file = root.join(folder).join(".gitattributes");
                fingerprint.look(file, Watch::InnerTreeFile);
            }
            located.repository.watch_rules(git, root, &mut fingerprint);
        } else {
            watch_for_repository(root, &mut fingerprint);
        }
        fingerprint
    }

    /// What git has stored; nothing if there is no repository.
    fn stored(&mut self, moment: SystemTime) -> Result<Arc<Stored>, GitError> {
        let (Some(git), Some(located)) = (&self.git, &self.located) else {
            return Ok(Arc::clone(&self.nothing));
        };
        let place = index_place(&located.repository, &self.root);
        self.blobs.stored(git, &place, moment)
    }

    fn rule(
        &self,
        walk: &Walk,
        fingerprint: &Fingerprint,
        stored: &Stored,
        doubts: &[String],
    ) -> Result<Outcome, GitError> {
        let (Some(git), Some(located)) = (&self.git, &self.located) else {
            return self.rulings.of(walk, Source::Names);
        };
        let source = GitSource {
            git,
            repository: &located.repository,
            settings: &located.settings,
            fingerprint,
            stored,
            root: self.root.path(),
            in_doubt: !doubts.is_empty(),
        };
        self.rulings.of(walk, Source::Git(&source))
    }

    /// git falls back to the index when the disk has no rule file. Ciphertext there
    /// means that the rules are lost, as with ciphertext on the disk.
    fn refuse_lost_rules(&self, stored: &Stored, fingerprint: &Fingerprint) -> Result<(), Trouble> {
        let lost = |file: &PathBuf| !fingerprint.has(file);
        let mut files = stored.encrypted_rule_files().map(|file| self.root.path().join(file));
        files.find(lost).map_or(Ok(()), |file| Err(rules::ciphertext(&file)))
    }

    /// Puts the pages together, unless they follow from the same as the last time.
    fn assemble(
        &mut self,
        walk: &Walk,
        folders: Vec<Ruled>,
        stored: Arc<Stored>,
    ) -> Arc<SurveyedPages> {
        let is_same = |before: &&Assembled| {
            let mut folders_before = before.folders.iter().zip(&folders);
            Arc::ptr_eq(&before.stored, &stored)
                && before.folders.len() == folders.len()
                && folders_before.all(|(one, other)| one.is_same(other))
        };
        if let Some(before) = self.assembled.as_ref().filter(is_same) {
            return Arc::clone(&before.pages);
        }
        let pages = Arc::new(pages(walk, &folders, &stored));
        self.assembled = Some(Assembled { folders, stored, pages: Arc::clone(&pages) });
        pages
    }
}

fn index_place<'a>(repository: &'a Repository, root: &Root) -> IndexPlace<'a> {
    let rules_above = repository.rules_above(root.path());
    IndexPlace { file: repository.index(), rules_above, case: repository.name_case() }
}

fn pages(walk: &Walk, folders: &[Ruled], stored: &Stored) -> SurveyedPages {
    let number = folders.iter().map(|folder| folder.rulings.len()).sum();
    let mut strictest: HashMap<Inode, PageClass> = HashMap::with_capacity(number);
    for (_, inode) in walk.private_dot_files() {
        strictest.insert(*inode, PageClass::Secret);
    }
    let mut found: Vec<(VaultPath, SurveyedPage)> = Vec::with_capacity(number);
    let ruled = folders.iter().flat_map(|folder| folder.listing.pages.iter().zip(&*folder.rulings));
    for (FoundPage { path, disk, inode }, ruling) in ruled {
        let class = if stored.is_encrypted(path.as_str()) {
            ruling.class.max(class_in_doubt(path.as_str()))
        } else {
            ruling.class
        };
        let strict = strictest.entry(*inode).or_insert(class);
        *strict = class.max(*strict);
        let (disk, ruling) = (Arc::clone(disk), Arc::clone(ruling));
        let page = SurveyedPage { disk, inode: *inode, ruling, class, twins: Vec::new() };
        found.push((path.clone(), page));
    }
    // Two names on the disk that are one after composition: the first in byte order is
    // served, with the stricter class of the two.
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found.dedup_by(|(path, page), (first_path, first)| {
        let is_twin = path == first_path;
        if is_twin {
            first.class = first.class.max(page.class);
            let (disk, ruling) = (Arc::clone(&page.disk), Arc::clone(&page.ruling));
            first.twins.push(Twin { disk, ruling });
        }
        is_twin
    });
    // Two names of one file: both are as strict as the stricter.
    for (_, page) in &mut found {
        page.class = strictest.get(&page.inode).map_or(page.class, |class| page.class.max(*class));
    }
    found.into_iter().collect()
}
