//! Runs the installed git: one short-lived process a question.
//!
//! A running `git check-attr` never reads a rule file twice, so a daemon would not
//! see the rule that protects a page.

use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Before this version git cut long rule lines instead of dropping them, and set no
/// limit to the size of a rule file.
const OLDEST_VERSION: [u32; 3] = [2, 39, 1];

/// How long git may take. A rule file that is a FIFO would make it wait for ever.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long git may take to read out blobs or history: all of it, the first time.
const PATIENCE_FOR_MUCH: Duration = Duration::from_secs(120);

/// More than this is not read of an answer about history.
const LONGEST_ANSWER: u64 = 256 * 1024 * 1024;

/// All that git gets to know of our environment. Much of the rest (`GIT_DIR`,
/// `GIT_ATTR_SOURCE`, `GIT_CONFIG_…`) changes what it answers.
const KEPT_VARIABLES: [&str; 3] = ["PATH", "HOME", "XDG_CONFIG_HOME"];

/// Settings that are ours, whatever the repository says: none of its programs is
/// started. A vault may come with its `.git` from elsewhere.
const OWN_SETTINGS: [&str; 1] = ["core.fsmonitor=false"];

/// The installed git, asked from within one folder.
#[derive(Debug)]
pub(super) struct Git {
    /// With its whole path: a program that is looked up in a `PATH` of its own is
    /// started by copying this process, which takes the longer the larger we are.
    program: PathBuf,
    folder: PathBuf,
    /// Where this git was built to look for attributes and settings of the machine.
    machine_files: MachineFiles,
}

/// The files of the whole machine that git reads. Not all of them need exist.
#[derive(Clone, Debug, Default)]
pub(super) struct MachineFiles {
    pub(super) attributes: Vec<PathBuf>,
    pub(super) settings: Vec<PathBuf>,
}

/// What git printed.
#[derive(Debug)]
pub(super) struct Answer<T> {
    pub(super) output: T,
    /// Its standard error. Anything there means that a rule was dropped.
    pub(super) complaints: String,
}

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum GitError {
    #[error(
        "git cannot be started ({0}); install git 2.39.1 or newer, or open a folder without .git"
    )]
    NotStarted(io::Error),
    #[error(
        "git is version {0}; 2.39.1 or newer is needed, because older ones read rules differently"
    )]
    TooOld(String),
    #[error("`git {command}` failed: {words}")]
    Failed { command: String, words: String },
    #[error("its repository has its work tree in another place, {0} (core.worktree)")]
    ElsewhereWorkTree(PathBuf),
    #[error("`git {0}` did not answer in time")]
    TimedOut(String),
    #[error("`git {0}` gave an answer that makes no sense")]
    Garbled(&'static str),
}

impl Git {
    /// Finds git and checks its version.
    pub(super) fn find(folder: &Path) -> Result<Self, GitError> {
        let mut git = Self {
            program: program().ok_or_else(not_found)?,
            folder: folder.to_path_buf(),
            machine_files: MachineFiles::default(),
        };
        let version = git.text(&["--version"])?;
        if parse_version(&version).is_none_or(|version| version < OLDEST_VERSION) {
            return Err(GitError::TooOld(version));
        }
        git.machine_files = MachineFiles {
            attributes: git.machine_file("GIT_ATTR_SYSTEM", "gitattributes"),
            settings: git.machine_file("GIT_CONFIG_SYSTEM", "gitconfig"),
        };
        Ok(git)
    }

    pub(super) const fn machine_files(&self) -> &MachineFiles {
        &self.machine_files
    }

    /// The folder that it is asked from.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The program itself: another one may read rules differently.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Where a file of the machine may be. A git before 2.42 does not tell, so the
    /// usual places are watched beside the one that it names.
    fn machine_file(&self, variable: &str, name: &str) -> Vec<PathBuf> {
        let told = self.text(&["var", variable]).ok().filter(|text| !text.is_empty());
        let usual = ["/etc", "/usr/local/etc", "/opt/homebrew/etc"];
        let mut places: Vec<PathBuf> =
            usual.iter().map(|folder| Path::new(folder).join(name)).collect();
        places.extend(told.map(PathBuf::from));
        places.sort();
        places.dedup();
        places
    }

    /// Asks, and takes the answer as text without its final line end.
    pub(super) fn text(&self, arguments: &[&str]) -> Result<String, GitError> {
        let answer = self.ask(arguments, Vec::new())?;
        let text = String::from_utf8(answer.output).map_err(|_| GitError::Garbled("path"))?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Whether a filter has a program that encrypts. Without one, which is how
    /// `git-crypt lock` leaves it, git stores pages as they are and says nothing.
    pub(super) fn encrypts_with(&self, filter: &str) -> Result<bool, GitError> {
        match self.text(&["config", "--get", &format!("filter.{filter}.clean")]) {
            Ok(program) => Ok(!program.is_empty()),
            // It is not set, or not readable.
            Err(GitError::Failed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Asks, and takes the whole answer.
    pub(super) fn ask(
        &self,
        arguments: &[&str],
        input: Vec<u8>,
    ) -> Result<Answer<Vec<u8>>, GitError> {
        self.run(Question { arguments, input, patience: PATIENCE }, |mut stdout| {
            let mut output = Vec::new();
            stdout.read_to_end(&mut output)?;
            Ok(output)
        })
    }

    /// Asks what may take long, and takes the whole answer. One that is too long counts
    /// as a failure. Nobody may wait for it.
    pub(super) fn ask_patiently(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let question = Question { arguments, input: Vec::new(), patience: PATIENCE_FOR_MUCH };
        let answer = self.run(question, |stdout| {
            let mut output = Vec::new();
            stdout.take(LONGEST_ANSWER).read_to_end(&mut output)?;
            Ok(output)
        });
        Ok(answer?.output)
    }

    /// Asks for blobs, and takes the answer as it comes.
    pub(super) fn read_blobs<T: Send + 'static>(
        &self,
        input: Vec<u8>,
        read: impl FnOnce(ChildStdout) -> io::Result<T> + Send + 'static,
    ) -> Result<T, GitError> {
        let arguments = &["cat-file", "--batch"];
        let question = Question { arguments, input, patience: PATIENCE_FOR_MUCH };
        Ok(self.run(question, read)?.output)
    }

    /// Threads of their own feed and drain the pipes: git blocks when its output is
    /// not read, and so would we while it does not read its input. They are not
    /// joined, so that a grandchild that keeps a pipe open cannot hold us.
    fn run<T: Send + 'static>(
        &self,
        question: Question<'_>,
        read: impl FnOnce(ChildStdout) -> io::Result<T> + Send + 'static,
    ) -> Result<Answer<T>, GitError> {
        // The rest of it would fill a screen and help nobody.
        let command = question.arguments.first().copied().unwrap_or_default().to_owned();
        let mut child = self.command(question.arguments).spawn().map_err(GitError::NotStarted)?;
        let (Some(mut stdin), Some(stdout), Some(mut stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(GitError::Garbled("pipe"));
        };
        let input = question.input;
        // A write that fails shows as an answer that is too short.
        thread::spawn(move || stdin.write_all(&input));
        let output = in_thread(move || read(stdout));
        let complaints = in_thread(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).map(|_| bytes)
        });
        let deadline = Instant::now() + question.patience;
        let received = receive(&output, deadline)
            .and_then(|output| receive(&complaints, deadline).map(|words| (output, words)));
        let Some((output, complaints)) = received else {
            // It may have ended by itself in between; then there is nothing to kill.
            let _ = child.kill();
            let _ = child.wait();
            return Err(GitError::TimedOut(command));
        };
        let complaints = String::from_utf8_lossy(&complaints.unwrap_or_default()).trim().to_owned();
        let failed = |words: String| GitError::Failed { command: command.clone(), words };
        let status = child.wait().map_err(|error| failed(error.to_string()))?;
        if !status.success() {
            return Err(failed(if complaints.is_empty() {
                status.to_string()
            } else {
                complaints
            }));
        }
        let output = output.map_err(|error| failed(error.to_string()))?;
        Ok(Answer { output, complaints })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(OWN_SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .args(arguments)
            .current_dir(&self.folder)
            .env_clear()
            .envs(kept_environment())
            .env("LC_ALL", "C")
            // A missing blob of a partial clone is missing: no network while judging.
            .env("GIT_NO_LAZY_FETCH", "1")
            // The same for a git that does not know this yet.
            .env("GIT_ALLOW_PROTOCOL", "none")
            // The index is the owner's; we only read it.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

struct Question<'a> {
    arguments: &'a [&'a str],
    input: Vec<u8>,
    patience: Duration,
}

/// The variables that git sees; where it looks for the user's own settings.
pub(super) fn kept_environment() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
        .filter(|(name, _)| KEPT_VARIABLES.iter().any(|kept| name.as_os_str() == *kept))
}

/// The first git of the `PATH`. A relative folder there does not count: it would mean
/// a folder of the vault, since that is where git is started.
fn program() -> Option<PathBuf> {
    let (_, path) = kept_environment().find(|(name, _)| name == "PATH")?;
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join("git")).find(|program| program.is_file())
}

fn not_found() -> GitError {
    GitError::NotStarted(io::ErrorKind::NotFound.into())
}

fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = channel();
    // Nobody listens any more after a timeout.
    thread::spawn(move || sender.send(work()));
    receiver
}

fn receive<T>(receiver: &Receiver<T>, deadline: Instant) -> Option<T> {
    receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

/// `git version 2.39.5 (Apple Git-154)` → 2, 39, 5.
fn parse_version(text: &str) -> Option<[u32; 3]> {
    let number = text.strip_prefix("git version ")?.split([' ', '-']).next()?;
    let mut parts = number.split('.').map(|part| part.parse().unwrap_or(0));
    Some([parts.next()?, parts.next()?, parts.next().unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::{OLDEST_VERSION, parse_version};

    #[test]
    fn versions_of_every_vendor_are_understood() {
        assert_eq!(parse_version("git version 2.39.5 (Apple Git-154)"), Some([2, 39, 5]));
        assert_eq!(parse_version("git version 2.47.0.windows.1"), Some([2, 47, 0]));
        assert_eq!(parse_version("git version 2.55.0-rc1"), Some([2, 55, 0]));
        assert_eq!(parse_version("git version 3.0"), Some([3, 0, 0]));
        assert_eq!(parse_version("jit 1"), None);
        assert!(parse_version("git version 2.39.0").is_some_and(|old| old < OLDEST_VERSION));
    }
}
