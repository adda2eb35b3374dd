//! Rules that no file fits: a folder that is spelled otherwise, or was renamed since.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Finding, rules};

/// Git's own matching decides, with an attribute of ours for each rule.
const ATTRIBUTE: &str = "brain-mcp-rule-";

/// Asks git which rules of a file fit any file of the vault.
pub(super) fn look(root: &Path, path: &Path, bytes: &[u8]) -> Vec<Finding> {
    let patterns = rules::protecting(root, path, bytes);
    let folder = path.parent().unwrap_or(root);
    if patterns.is_empty() {
        return Vec::new();
    }
    // Where git cannot be asked there are no rules either, and that is told elsewhere.
    let Ok(fitting) = fitting(root, &patterns, &files_below(folder)) else { return Vec::new() };
    let shown = path.strip_prefix(root).unwrap_or(path).display();
    let idle = patterns.iter().filter(|(line, _)| !fitting.contains(line));
    idle.map(|(line, pattern)| {
        Finding::warning(
            format!("{shown}, line {line}: {pattern} fits no file"),
            "see how the folder is called now; upper and lower case count",
        )
    })
    .collect()
}

/// The lines whose patterns fit any of the files.
fn fitting(
    root: &Path,
    patterns: &[(usize, String)],
    files: &[PathBuf],
) -> io::Result<BTreeSet<usize>> {
    let lines = patterns.iter().map(|(line, pattern)| format!("{pattern} {ATTRIBUTE}{line}\n"));
    let asked = lines.collect::<Vec<_>>().concat();
    let place = Scratch::holding(&asked)?;
    let mut git = Command::new("git")
        .arg("-C")
        .arg(root)
        .arg("-c")
        .arg(format!("core.attributesFile={}", place.0.display()))
        .args(["check-attr", "-z", "--stdin", "-a"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut paths = Vec::new();
    for file in files {
        paths.extend_from_slice(file.as_os_str().as_encoded_bytes());
        paths.push(0);
    }
    let mut input = git.stdin.take();
    // In a thread: git answers before it has read all.
    let writer = std::thread::spawn(move || input.take().map(|mut input| input.write_all(&paths)));
    let output = git.wait_with_output()?;
    let _whether_it_read_all = writer.join();
    if !output.status.success() {
        return Err(io::Error::other("git cannot be asked here"));
    }
    let words = output.stdout.split(|byte| *byte == 0).filter_map(|word| str::from_utf8(word).ok());
    let lines = words.filter_map(|word| word.strip_prefix(ATTRIBUTE)?.parse().ok());
    Ok(lines.collect())
}

/// Every file below a folder, relative to it. Links are not followed.
fn files_below(root: &Path) -> Vec<PathBuf> {
    let files = rules::files_below(root, |name| name != ".git").into_iter();
    files.filter_map(|(path, _)| path.strip_prefix(root).ok().map(Path::to_owned)).collect()
}

/// A file of our own outside of the vault, which goes with the value.
struct Scratch(PathBuf);

impl Scratch {
    #[expect(clippy::disallowed_methods, reason = "a file of our own is no page")]
    fn holding(text: &str) -> io::Result<Self> {
        let name = format!("brain-mcp-check-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // Nobody else's file is written to, nor one that a link leads to.
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let scratch = Self(path);
        file.write_all(text.as_bytes())?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
