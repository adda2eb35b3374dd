//! Whether the rule files are in a state in which git's answer can be believed.

use std::path::Path;

use crate::vault::evidence::is_ciphertext;
use crate::vault::fingerprint::{Fingerprint, Seen, Strange};
use crate::vault::survey::Trouble;

/// Looks through every rule file.
///
/// Returns why git's answer is in doubt, in words for the owner; empty if it is not.
///
/// # Errors
///
/// [`Trouble`] if git must not be asked at all: it would wait for ever, or answer as
/// if there were no rules.
pub(super) fn inspect(fingerprint: &Fingerprint) -> Result<Vec<String>, Trouble> {
    let mut doubts = Vec::new();
    for (path, seen) in fingerprint.rule_files() {
        match seen {
            Seen::Nothing | Seen::Stamped(_) | Seen::Present(_) => {}
            Seen::Text(bytes, _) if is_ciphertext(bytes) => return Err(ciphertext(path)),
            Seen::Text(bytes, _) => {
                doubts.extend(oddity(bytes).map(|oddity| describe(path, oddity)));
            }
            Seen::Strange(Strange::Directory) => doubts.push(describe(path, "is a folder")),
            Seen::Strange(Strange::Link) => {
                doubts.push(describe(path, "is a symbolic link, which git does not follow"));
            }
            Seen::Strange(Strange::Special) => {
                return Err(Trouble::Passing(describe(path, "is no regular file")));
            }
            Seen::Strange(Strange::TooLarge) => {
                return Err(Trouble::Passing(describe(path, "is larger than 100 MiB")));
            }
            Seen::Strange(Strange::Unreadable) => {
                return Err(Trouble::Passing(describe(path, "cannot be read")));
            }
        }
    }
    Ok(doubts)
}

/// In a clone that is locked, a rule such as `* filter=git-crypt` has encrypted the
/// rule file too. git then finds no rules, and every page would be ordinary.
pub(super) fn ciphertext(path: &Path) -> Trouble {
    Trouble::Lasting(describe(
        path,
        "is encrypted; unlock it with git-crypt, or keep it out of its own rules with a line `.gitattributes !filter !diff`",
    ))
}

/// What git reads without a word, but not as its author meant it.
fn oddity(bytes: &[u8]) -> Option<&'static str> {
    let conflict_marks: [&[u8]; 2] = [b"<<<<<<< ", b">>>>>>> "];
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        Some("is UTF-16, in which git sees no rules")
    } else if bytes.contains(&0) {
        Some("holds a NUL, which hides rules from git")
    } else if bytes
        .split(|byte| *byte == b'\n')
        .any(|line| conflict_marks.iter().any(|mark| line.starts_with(mark)))
    {
        Some("holds the marks of a merge conflict")
    } else {
        None
    }
}

fn describe(path: &Path, what: &str) -> String {
    format!("the rule file {} {what}", path.display())
}
