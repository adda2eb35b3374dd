//! Rule files that say something else than their author meant: git reads these lines
//! without a word, and they protect nothing.

use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use super::Finding;

const FILE: &str = ".gitattributes";

/// The longest line that git reads.
const LONGEST_LINE: usize = 2048;

/// All rule files of a vault, with their bytes. Hidden folders and links are not entered.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "rule files are no pages")]
pub fn files_in(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let all = files_below(root, |name| !name.to_string_lossy().starts_with('.'));
    let is_rule_file = |(path, kind): &(PathBuf, FileType)| {
        kind.is_file() && path.file_name() == Some(FILE.as_ref())
    };
    let rule_files = all.into_iter().filter(is_rule_file).map(|(path, _)| path);
    let mut files: Vec<_> =
        rule_files.filter_map(|path| fs::read(&path).ok().map(|bytes| (path, bytes))).collect();
    files.sort();
    files
}

/// Everything below a folder that is no folder itself, in the folders of names that are
/// entered. Links are not followed.
pub(super) fn files_below(
    root: &Path,
    enters: impl Fn(&OsStr) -> bool,
) -> Vec<(PathBuf, FileType)> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if !kind.is_dir() {
                files.push((entry.path(), kind));
            } else if enters(&entry.file_name()) {
                folders.push(entry.path());
            }
        }
    }
    files
}

/// What is odd about one rule file.
#[must_use]
pub fn read(root: &Path, path: &Path, bytes: &[u8]) -> Vec<Finding> {
    let folder = path.parent().unwrap_or(root);
    let shown = path.strip_prefix(root).unwrap_or(path).display();
    let mut findings = Vec::new();
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || bytes.contains(&0) {
        let what = format!("{shown}: git reads nothing of it, for it is no UTF-8");
        return vec![Finding::fault(what, "save it as UTF-8, without a byte order mark")];
    }
    let mut catches_itself = None;
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line_number = index + 1;
        let mut find = |what: &str, cure: &str| {
            findings.push(Finding::fault(format!("{shown}, line {line_number}: {what}"), cure));
        };
        let text = String::from_utf8_lossy(line);
        let (text, has_mark) = match text.strip_prefix('\u{feff}') {
            Some(rest) => (rest.trim().to_owned(), index > 0),
            None => (text.trim().to_owned(), false),
        };
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let lower = text.to_lowercase();
        if !lower.contains("git-crypt") && !lower.contains("brain-class") {
            if is_of(&text, FILE) {
                catches_itself = None;
            }
            continue;
        }
        if line.len() >= LONGEST_LINE {
            find("it is longer than git reads", "split it into several lines");
            continue;
        }
        if has_mark {
            find("a byte order mark in the middle of the file hides it", "remove the mark");
        }
        let (pattern, attributes) = split(&text);
        if pattern.starts_with("[attr]") && folder != root {
            find("macros count in the top folder only", "move it there");
            continue;
        }
        if let Some((what, cure)) = odd_pattern(&pattern, folder) {
            find(&what, &cure);
        }
        if let Some((what, cure)) = odd_attributes(&attributes) {
            find(what, cure);
        }
        let encrypts = attributes.iter().any(|it| it.starts_with("filter=git-crypt"));
        if encrypts && folder == root && ["*", "**", "**/*", FILE].contains(&&*pattern) {
            catches_itself = Some(line_number);
        }
        if is_of(&text, FILE) && !encrypts {
            catches_itself = None;
        }
    }
    if let Some(line) = catches_itself {
        findings.push(Finding::fault(
            format!("{shown}, line {line}: it encrypts {FILE} itself: in a locked clone git finds no rules"),
            format!("put `{FILE} !filter !diff` behind it"),
        ));
    }
    findings
}

/// The patterns of a rule file that protect something, as they are written, each with the
/// number of its line. Those that [`read`] finds fault with are not among them.
pub(super) fn protecting(root: &Path, path: &Path, bytes: &[u8]) -> Vec<(usize, String)> {
    let faults = read(root, path, bytes);
    let shown = path.strip_prefix(root).unwrap_or(path).display();
    let text = String::from_utf8_lossy(bytes);
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    lines
        .filter_map(|(index, line)| {
            let (line, number) = (line.trim(), index + 1);
            let about = format!("{shown}, line {number}: ");
            let (pattern, attributes) = split(line);
            let is_rule = !line.starts_with('#')
                && !pattern.starts_with("[attr]")
                && attributes
                    .iter()
                    .any(|it| it.starts_with("filter=git-crypt") || it.starts_with("brain-class="))
                && !faults.iter().any(|fault| fault.what.starts_with(&about));
            let written = if line.starts_with('"') { format!("\"{pattern}\"") } else { pattern };
            is_rule.then_some((number, written))
        })
        .collect()
}

fn is_of(line: &str, pattern: &str) -> bool {
    line.split_whitespace().next() == Some(pattern)
}

/// The pattern, which may be quoted, and the attributes.
fn split(line: &str) -> (String, Vec<&str>) {
    let (pattern, rest) = match line.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        Some((quoted, rest)) => (quoted, rest),
        None => line.split_once(char::is_whitespace).unwrap_or((line, "")),
    };
    (pattern.to_owned(), rest.split_whitespace().collect())
}

fn odd_pattern(pattern: &str, folder: &Path) -> Option<(String, String)> {
    let say = |what: &str, cure: String| Some((what.to_owned(), cure));
    let bare = pattern.trim_matches('/');
    if pattern.starts_with('!') {
        return say("git ignores patterns that begin with !", "name what is protected".to_owned());
    }
    if pattern.contains('{') && pattern.contains('}') {
        return say("git knows no braces", "write a line for each".to_owned());
    }
    if pattern.ends_with('/') || (!bare.is_empty() && folder.join(bare).is_dir()) {
        return say("a folder's name matches nothing in it", format!("write `{bare}/**`"));
    }
    let below = bare.strip_suffix("/*")?;
    let has_folders = |entries: fs::ReadDir| {
        entries.flatten().any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
    };
    if fs::read_dir(folder.join(below)).is_ok_and(has_folders) {
        return say("it does not reach into folders below", format!("write `{below}/**`"));
    }
    None
}

fn odd_attributes(attributes: &[&str]) -> Option<(&'static str, &'static str)> {
    let has = |test: &dyn Fn(&str) -> bool| attributes.iter().any(|attribute| test(attribute));
    if has(&|it| it.starts_with('#')) {
        return Some((
            "what stands behind # is no comment here, but attributes",
            "put the comment on a line of its own",
        ));
    }
    if has(&|it| it.starts_with('=') || it.ends_with('=')) {
        return Some(("blanks around = take the value away", "write filter=git-crypt"));
    }
    if has(&|it| it.contains(',')) {
        return Some(("attributes are not separated by commas", "separate them by blanks"));
    }
    let is_misspelled = |it: &str| {
        let value = it.strip_prefix("filter=").unwrap_or_default();
        value.to_lowercase().starts_with("git-crypt") && !value.starts_with("git-crypt")
    };
    if has(&is_misspelled) {
        return Some(("the filter's name is compared with its letter case", "write git-crypt"));
    }
    let protects = |it: &str| it.starts_with("filter=") || it.contains("brain-class");
    let is_off = |it: &str| ["!filter", "-filter"].contains(&it);
    let reads = |it: &str| it.starts_with("diff=git-crypt");
    if has(&reads) && !has(&protects) && !has(&is_off) {
        return Some((
            "diff=git-crypt alone encrypts nothing",
            "write filter=git-crypt diff=git-crypt",
        ));
    }
    if has(&|it| it.contains(['/', '*'])) {
        return Some((
            "a pattern with blanks has to be quoted, or its second word is an attribute",
            "write \"the pattern\" filter=git-crypt",
        ));
    }
    None
}
