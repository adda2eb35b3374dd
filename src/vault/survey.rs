//! Looks at the vault once: what the disk has, and what git says of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use unicode_normalization::UnicodeNormalization as _;

use crate::access::class::{GitAttributes, NameCase, PageClass, Ruling, class_in_doubt, judge};
use crate::access::path::VaultPath;
use crate::vault::attributes;
use crate::vault::evidence::{Blobs, EncryptedPaths};
use crate::vault::files::Root;
use crate::vault::fingerprint::{Fingerprint, Inode, Watch, stamping_time};
use crate::vault::git::{Git, GitError};
use crate::vault::repository::{Repository, is_in_repository, watch_for_repository};
use crate::vault::rules;
use crate::vault::walk::{FoundPage, Walk, walk};

/// A survey is started over this often when the vault changes under it.
const ATTEMPTS: usize = 4;

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
}

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
    pub(super) pages: BTreeMap<VaultPath, SurveyedPage>,
    pub(super) private_dot_files: Vec<String>,
    pub(super) fingerprint: Fingerprint,
    /// Why the rules cannot be believed, in words for the owner.
    pub(super) doubts: Vec<String>,
    pub(super) stability: Stability,
}

/// A page, and what speaks for which class, apart from doubt and from the past.
#[derive(Clone, Debug)]
pub(super) struct SurveyedPage {
    /// As the disk spells it.
    pub(super) disk: String,
    pub(super) inode: Inode,
    /// What git's attributes make of it.
    pub(super) ruling: Ruling,
    /// The same, raised by evidence and by other names of the same file.
    pub(super) class: PageClass,
    /// Other spellings on the disk that are the same path when composed.
    pub(super) twins: Vec<Twin>,
}

/// A file that is not served, because another has the same path when composed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Twin {
    pub(super) disk: String,
    pub(super) ruling: Ruling,
}

/// What a page would be at a path, by the rules alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prospect {
    pub(super) class: PageClass,
    /// Whether git-crypt is to encrypt it and is not set up to: git would store it as it
    /// is (gitattributes.md section 2).
    pub(super) would_stay_plain: bool,
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

/// What git adds to the names on the disk.
struct Judgement {
    attributes: Vec<GitAttributes>,
    encrypted: EncryptedPaths,
    case: NameCase,
}

impl Surveyor {
    pub(super) fn new(root: Arc<Root>) -> Self {
        Self { root, git: None, located: None, blobs: Blobs::default() }
    }

    /// Looks until nothing changed in between.
    pub(super) fn survey(&mut self) -> Result<Survey, Trouble> {
        for _ in 0..ATTEMPTS {
            if let Some(survey) = self.attempt()? {
                return Ok(survey);
            }
        }
        Err(Trouble::Passing("the vault changes faster than it can be judged".to_owned()))
    }

    /// What a page would be at each of these paths, as the disk spells them, whether or
    /// not there is one. The repository is where the last survey found it.
    pub(super) fn judge_paths(&mut self, paths: &[String]) -> Result<Vec<Prospect>, Trouble> {
        let composed = |path: &String| path.nfc().collect::<String>();
        let Some(git) = &self.git else {
            let by_name = |path| judge(&composed(path), &GitAttributes::NONE, NameCase::Exact);
            let prospect = |path| Prospect { class: by_name(path).class, would_stay_plain: false };
            return Ok(paths.iter().map(prospect).collect());
        };
        let Some(Located { repository, .. }) = &self.located else {
            return Err(Trouble::Passing("the repository is not where it was".to_owned()));
        };
        let names = paths.iter().map(|path| &**path);
        let answer = attributes::ask(git, names, std::iter::empty(), repository.spelling())?;
        if !answer.complaints.is_empty() {
            return Err(Trouble::Passing(format!("git says: {}", answer.complaints)));
        }
        let encrypted = self.blobs.encrypted_paths(git)?;
        let prospect = |(path, attributes): (&String, &GitAttributes)| {
            let path = composed(path);
            let class = judge(&path, attributes, repository.name_case()).class;
            let evidence = encrypted.contains(&path).then(|| class_in_doubt(&path));
            let would_stay_plain =
                attributes.is_encrypted() && !git.encrypts_with(&attributes.filter)?;
            Ok(Prospect { class: class.max(evidence.unwrap_or(class)), would_stay_plain })
        };
        paths.iter().zip(&answer.answers).map(prospect).collect()
    }

    fn attempt(&mut self) -> Result<Option<Survey>, Trouble> {
        let moment = stamping_time();
        let root = Arc::clone(&self.root);
        if self.git.is_none() && is_in_repository(root.path()) {
            self.git = Some(Git::find(root.path())?);
        }
        if !self.locate()? {
            return Ok(None);
        }
        let walk = walk(&root)
            .map_err(|error| Trouble::Passing(format!("the vault cannot be read: {error}")))?;
        let fingerprint = self.look(&walk);
        if let Some(pause) = fingerprint.unfinished_for(stamping_time()) {
            std::thread::sleep(pause);
            return Ok(None);
        }
        let mut doubts = Vec::new();
        let mut stability = Stability::Settled;
        let judgement =
            if let (Some(git), Some(Located { repository, .. })) = (&self.git, &self.located) {
                doubts = rules::inspect(&fingerprint)?;
                doubts.extend(repository.doubts(&fingerprint));
                stability = repository.stability(&fingerprint);
                judge_with_git(git, repository, &mut self.blobs, &walk, &mut doubts)
            } else {
                Ok(Judgement::by_name(&walk))
            };
        // Whatever failed meanwhile may have failed for that.
        if !fingerprint.rules_still_hold() {
            return Ok(None);
        }
        let judgement = judgement?;
        self.refuse_lost_rules(&judgement.encrypted, &fingerprint)?;
        let private_dot_files =
            walk.private_dot_files.iter().map(|(disk, _)| disk.clone()).collect();
        let pages = judgement.pages(walk);
        Ok(Some(Survey { moment, pages, private_dot_files, fingerprint, doubts, stability }))
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
        self.located = is_steady.then_some(Located { repository, settings });
        Ok(is_steady)
    }

    fn look(&self, walk: &Walk) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        let root = self.root.path();
        for folder in &walk.folders {
            fingerprint.remember(root.join(&folder.relative), folder.identity);
        }
        if let (Some(git), Some(located)) = (&self.git, &self.located) {
            fingerprint.extend(&located.settings);
            // In every folder, for a rule file may come.
            for folder in walk.folders_with_rules() {
                let file = root.join(folder).join(".gitattributes");
                fingerprint.look(file, Watch::TreeFile);
            }
            located.repository.watch_rules(git, root, &mut fingerprint);
        } else {
            watch_for_repository(root, &mut fingerprint);
        }
        fingerprint
    }

    /// git falls back to the index when the disk has no rule file. Ciphertext there
    /// means that the rules are lost, as with ciphertext on the disk.
    fn refuse_lost_rules(
        &self,
        encrypted: &EncryptedPaths,
        fingerprint: &Fingerprint,
    ) -> Result<(), Trouble> {
        let lost = |file: &PathBuf| !fingerprint.has(file);
        let mut files = encrypted.rule_files().map(|file| self.root.path().join(file));
        files.find(lost).map_or(Ok(()), |file| Err(rules::ciphertext(&file)))
    }
}

fn judge_with_git(
    git: &Git,
    repository: &Repository,
    blobs: &mut Blobs,
    walk: &Walk,
    doubts: &mut Vec<String>,
) -> Result<Judgement, GitError> {
    let pages = walk.pages.iter().map(|page| &*page.disk);
    let answer = attributes::ask(git, pages, walk.folders_with_rules(), repository.spelling())?;
    doubts.extend(answer.complaints.lines().map(|line| format!("git says: {line}")));
    let encrypted = blobs.encrypted_paths(git)?;
    Ok(Judgement { attributes: answer.answers, encrypted, case: repository.name_case() })
}

impl Judgement {
    /// Without a repository only names count.
    fn by_name(walk: &Walk) -> Self {
        let attributes = vec![GitAttributes::NONE; walk.pages.len()];
        Self { attributes, encrypted: EncryptedPaths::default(), case: NameCase::Exact }
    }

    fn pages(self, walk: Walk) -> BTreeMap<VaultPath, SurveyedPage> {
        let mut pages: BTreeMap<VaultPath, SurveyedPage> = BTreeMap::new();
        let mut strictest = BTreeMap::new();
        for (_, inode) in &walk.private_dot_files {
            strictest.insert(*inode, PageClass::Secret);
        }
        for (found, attributes) in walk.pages.into_iter().zip(&self.attributes) {
            let FoundPage { path, disk, inode } = found;
            let ruling = judge(path.as_str(), attributes, self.case);
            let class = if self.encrypted.contains(path.as_str()) {
                ruling.class.max(class_in_doubt(path.as_str()))
            } else {
                ruling.class
            };
            let strict = strictest.entry(inode).or_insert(class);
            *strict = class.max(*strict);
            let page = SurveyedPage { disk, inode, ruling, class, twins: Vec::new() };
            // Two names on the disk that are one after composition: the first in
            // byte order is served, with the stricter class of the two.
            match pages.get_mut(&path) {
                None => {
                    pages.insert(path, page);
                }
                Some(first) => {
                    first.class = first.class.max(page.class);
                    first.twins.push(Twin { disk: page.disk, ruling: page.ruling });
                }
            }
        }
        // Two names of one file: both are as strict as the stricter.
        for page in pages.values_mut() {
            page.class =
                strictest.get(&page.inode).map_or(page.class, |class| page.class.max(*class));
        }
        pages
    }
}
