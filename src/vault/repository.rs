//! Where the repository around a vault keeps what decides about classes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::access::class::NameCase;
use crate::vault::attributes::Spelling;
use crate::vault::fingerprint::{Fingerprint, Watch};
use crate::vault::git::{Git, GitError, kept_environment};
use crate::vault::survey::Stability;

/// Paths in git's own folder, as `git rev-parse --git-path` spells them.
const INFO_ATTRIBUTES: &str = "info/attributes";
const INDEX: &str = "index";
const INDEX_LOCK: &str = "index.lock";
/// Files that `git rev-parse` reads as text.
const SETTINGS: [&str; 2] = ["config", "config.worktree"];
/// What says which commit is checked out: its blobs are evidence.
const HEADS: [&str; 3] = ["HEAD", "packed-refs", "reftable/tables.list"];
/// What git puts into its folder.
const OF_REPOSITORIES: [&str; 10] = [
    "HEAD",
    "config",
    "objects",
    "refs",
    "reftable",
    "index",
    "info",
    "hooks",
    "packed-refs",
    "commondir",
];
/// What stands there while rules may be half one branch's and half another's.
const UNDERWAY: [&str; 5] =
    ["MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD"];

/// The places and settings of one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    top: PathBuf,
    own: Vec<(&'static str, PathBuf)>,
    common_folder: PathBuf,
    settings: Settings,
    personal_attributes: Vec<PathBuf>,
}

/// What git's configuration says that concerns us.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Settings {
    files: BTreeSet<PathBuf>,
    case_is_folded: Toggle,
    names_are_composed: Toggle,
    attribute_tree: Option<String>,
    attributes_file_is_set: Toggle,
}

/// A setting that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Toggle {
    #[default]
    Off,
    On,
}

/// Whether there is a repository here or in a folder above.
pub(super) fn is_in_repository(root: &Path) -> bool {
    // A bare repository has no `.git`; opening it must fail, not serve its insides.
    let is_bare = ["HEAD", "objects", "refs"].iter().all(|name| root.join(name).exists());
    is_bare || git_places(root).any(|place| may_be_repository(&place))
}

/// Whether there is anything of a repository at a place of that name. A folder without
/// any of git's own files is none to git either; a damaged repository has some, and is
/// not taken for a folder without rules.
fn may_be_repository(place: &Path) -> bool {
    let is_there = |path: &Path| match fs::symlink_metadata(path) {
        Ok(metadata) => Some(metadata.is_dir()),
        Err(error) => (error.kind() != io::ErrorKind::NotFound).then_some(false),
    };
    match is_there(place) {
        None => false,
        Some(false) => true,
        Some(true) => OF_REPOSITORIES.iter().any(|name| is_there(&place.join(name)).is_some()),
    }
}

/// Where a repository that contains `root` may have its `.git`.
fn git_places(root: &Path) -> impl Iterator<Item = PathBuf> {
    root.ancestors().map(|folder| folder.join(".git"))
}

/// Watches for a repository to come or go.
pub(super) fn watch_for_repository(root: &Path, fingerprint: &mut Fingerprint) {
    for place in git_places(root) {
        // A folder, or a file that names one.
        fingerprint.look(place.clone(), Watch::Presence);
        // A folder that was none may become one.
        fingerprint.look(place.join("HEAD"), Watch::Presence);
        fingerprint.look(place, Watch::Settings);
    }
}

impl Repository {
    /// Asks git.
    pub(super) fn locate(git: &Git, root: &Path) -> Result<Self, GitError> {
        let names: Vec<&'static str> = [INFO_ATTRIBUTES, INDEX, INDEX_LOCK]
            .into_iter()
            .chain(SETTINGS)
            .chain(HEADS)
            .chain(UNDERWAY)
            .collect();
        let mut arguments = vec!["rev-parse", "--show-toplevel", "--git-common-dir"];
        for name in &names {
            arguments.extend(["--git-path", name]);
        }
        let answer = git.text(&arguments)?;
        let mut lines = answer.split('\n').map(|line| root.join(line));
        let (Some(top), Some(common_folder)) = (lines.next(), lines.next()) else {
            return Err(GitError::Garbled("rev-parse"));
        };
        // git would read the rules there, and take our paths for paths in there.
        if !root.starts_with(&top) {
            return Err(GitError::ElsewhereWorkTree(top));
        }
        let paths: Vec<PathBuf> = lines.collect();
        // A line too many: a folder has a line end in its name.
        if paths.len() != names.len() {
            return Err(GitError::Garbled("rev-parse"));
        }
        let settings = Settings::read(git, &top)?;
        let personal_attributes = personal_attributes(git, &settings, root, &top)?;
        let own = names.into_iter().zip(paths).collect();
        Ok(Self { top, own, common_folder, settings, personal_attributes })
    }

    /// Watches everything that decides where these places are and what the settings
    /// say. While it holds, git need not be asked again.
    pub(super) fn watch_settings(&self, git: &Git, root: &Path) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        watch_for_repository(root, &mut fingerprint);
        // Settings may depend on the branch.
        let own = self.own(&SETTINGS).chain(self.own(&["HEAD"]));
        let all = own.chain(&self.settings.files).chain(&git.machine_files().settings);
        for file in all {
            fingerprint.look(file.clone(), Watch::Settings);
        }
        fingerprint
    }

    /// Watches the rules and the state of git that lie outside the vault's own folders,
    /// beside the settings, which `fingerprint` has already.
    pub(super) fn watch_rules(&self, git: &Git, root: &Path, fingerprint: &mut Fingerprint) {
        for folder in root.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.top)) {
            fingerprint.look(folder.join(".gitattributes"), Watch::TreeFile);
        }
        let outside = self.own(&[INFO_ATTRIBUTES]).chain(&self.personal_attributes);
        for file in outside.chain(&git.machine_files().attributes) {
            fingerprint.look(file.clone(), Watch::OutsideFile);
        }
        for file in self.own(&[INDEX]).chain(self.own(&HEADS)) {
            fingerprint.look(file.clone(), Watch::Stamps);
        }
        if let Some(branch) = self.branch_file(fingerprint) {
            fingerprint.look(branch, Watch::Stamps);
        }
        for file in self.own(&[INDEX_LOCK]).chain(self.own(&UNDERWAY)) {
            fingerprint.look(file.clone(), Watch::Presence);
        }
    }

    /// Where the index is.
    pub(super) fn index(&self) -> Option<&Path> {
        self.own(&[INDEX]).next().map(PathBuf::as_path)
    }

    /// The rule files above the vault, as they are called from there: `../.gitattributes`.
    pub(super) fn rules_above(&self, root: &Path) -> Vec<String> {
        let above = root.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.top));
        (1..=above.count()).map(|steps| format!("{}.gitattributes", "../".repeat(steps))).collect()
    }

    /// Whether git is writing, or waits for the end of a merge.
    pub(super) fn stability(&self, fingerprint: &Fingerprint) -> Stability {
        let mut signs = self.own(&[INDEX_LOCK]).chain(self.own(&UNDERWAY));
        if signs.any(|file| fingerprint.has(file)) {
            Stability::InMotion
        } else {
            Stability::Settled
        }
    }

    /// Why its state makes git's answer doubtful, in words for the owner.
    pub(super) fn doubts(&self, fingerprint: &Fingerprint) -> Vec<String> {
        let tree = self.settings.attribute_tree.as_ref().map(|tree| {
            format!("attr.tree = {tree} makes git read rules from there, not from the disk")
        });
        let underway = self
            .own(&UNDERWAY)
            .find(|file| fingerprint.has(file))
            .map(|_| "a merge, rebase, cherry-pick or revert is not finished".to_owned());
        tree.into_iter().chain(underway).collect()
    }

    /// How git compares names.
    pub(super) const fn name_case(&self) -> NameCase {
        match self.settings.case_is_folded {
            Toggle::On => NameCase::Folded,
            Toggle::Off => NameCase::Exact,
        }
    }

    /// How names are to be spelt for git. It may compose those that it reads from the
    /// disk, but not those on the standard input of check-attr.
    pub(super) fn spelling(&self) -> Spelling {
        match self.settings.names_are_composed {
            Toggle::On => Spelling::Composed,
            Toggle::Off => Spelling::AsOnDisk,
        }
    }

    fn own(&self, names: &[&str]) -> impl Iterator<Item = &PathBuf> {
        self.own.iter().filter(|(name, _)| names.contains(name)).map(|(_, path)| path)
    }

    /// The file that moves with a commit on the current branch.
    fn branch_file(&self, fingerprint: &Fingerprint) -> Option<PathBuf> {
        let head = self.own(&["HEAD"]).find_map(|head| fingerprint.text(head))?;
        let branch = std::str::from_utf8(head).ok()?.strip_prefix("ref: ")?;
        Some(self.common_folder.join(branch.trim_end()))
    }
}

impl Settings {
    fn read(git: &Git, top: &Path) -> Result<Self, GitError> {
        let answer = git.ask(&["config", "--list", "-z", "--show-origin"], Vec::new())?;
        let text = String::from_utf8_lossy(&answer.output);
        let mut fields = text.split_terminator('\0');
        let mut settings = Self::default();
        while let (Some(origin), Some(entry)) = (fields.next(), fields.next()) {
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            let file = origin.strip_prefix("file:").map(|file| top.join(file));
            settings.add(key, value, file.as_deref());
            settings.files.extend(file);
        }
        settings.files.extend(usual_settings());
        Ok(settings)
    }

    fn add(&mut self, key: &str, value: &str, file: Option<&Path>) {
        match key {
            "core.ignorecase" => self.case_is_folded = toggle(value),
            "core.precomposeunicode" => self.names_are_composed = toggle(value),
            "core.attributesfile" => self.attributes_file_is_set = Toggle::On,
            "attr.tree" => self.attribute_tree = Some(value.to_owned()),
            _ if key.starts_with("include.") || key.starts_with("includeif.") => {
                // The file may not be there yet, and then is the origin of nothing.
                let included = expand_home(value);
                let folder = file.and_then(Path::parent).unwrap_or(Path::new("/"));
                self.files.insert(folder.join(included));
            }
            _ => {}
        }
    }
}

fn toggle(value: &str) -> Toggle {
    match &*value.to_ascii_lowercase() {
        "" | "false" | "no" | "off" | "0" => Toggle::Off,
        _ => Toggle::On,
    }
}

/// The attribute files of the user: the one that is configured, else the usual ones.
fn personal_attributes(
    git: &Git,
    settings: &Settings,
    root: &Path,
    top: &Path,
) -> Result<Vec<PathBuf>, GitError> {
    if settings.attributes_file_is_set == Toggle::Off {
        return Ok(usual_files("attributes"));
    }
    let file = git.text(&["config", "--type=path", "--get", "core.attributesFile"])?;
    // A relative one is looked for where git runs, which is the top for most commands.
    Ok([root.join(&file), top.join(&file)]
        .into_iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect())
}

/// Where the user's own settings may be, now or later.
fn usual_settings() -> Vec<PathBuf> {
    let mut files = usual_files("config");
    files.extend(variable("HOME").map(|home| home.join(".gitconfig")));
    files
}

/// `$XDG_CONFIG_HOME/git/NAME` and `$HOME/.config/git/NAME`.
fn usual_files(name: &str) -> Vec<PathBuf> {
    let personal = variable("HOME").map(|home| home.join(".config"));
    let folders = variable("XDG_CONFIG_HOME").into_iter().chain(personal);
    folders.map(|folder| folder.join("git").join(name)).collect()
}

fn expand_home(value: &str) -> PathBuf {
    match (value.strip_prefix("~/"), variable("HOME")) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(value),
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    kept_environment()
        .find(|(kept, value)| kept == OsStr::new(name) && !value.is_empty())
        .map(|(_, value)| PathBuf::from(value))
}
