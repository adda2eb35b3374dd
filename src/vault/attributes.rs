//! Asks git for the attributes of many paths at once.

use unicode_normalization::UnicodeNormalization as _;

use crate::access::class::GitAttributes;
use crate::vault::git::{Git, GitError};

/// What git said.
#[derive(Debug)]
pub(super) struct Attributes {
    /// One for each path, in the order in which they were asked for.
    pub(super) answers: Vec<GitAttributes>,
    /// git's words about rules that it dropped; empty if there are none.
    pub(super) complaints: String,
}

/// Whether git compares composed names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    AsOnDisk,
    Composed,
}

/// Asks about paths relative to the vault, as the disk spells them.
///
/// git reads the rule file of a folder only when it is asked about something in it.
/// So the folders are asked about too, through the name of their rule file: what git
/// reads, and complains about, must not depend on which pages there are.
pub(super) fn ask<'a>(
    git: &Git,
    pages: impl Iterator<Item = &'a str>,
    folders: impl Iterator<Item = &'a str>,
    spelling: Spelling,
) -> Result<Attributes, GitError> {
    let mut paths: Vec<String> = pages.map(str::to_owned).collect();
    let number_of_pages = paths.len();
    paths.extend(folders.map(|folder| match folder {
        "" => ".gitattributes".to_owned(),
        _ => format!("{folder}/.gitattributes"),
    }));
    if spelling == Spelling::Composed {
        for path in &mut paths {
            *path = path.nfc().collect();
        }
    }
    let mut input: Vec<u8> = Vec::new();
    for path in &paths {
        input.extend_from_slice(path.as_bytes());
        input.push(0);
    }
    let answer = git.ask(&["check-attr", "-z", "--stdin", "filter", "brain-class"], input)?;
    let mut fields = answer.output.split(|byte| *byte == 0);
    let mut answers = Vec::with_capacity(paths.len());
    for path in &paths {
        let filter = value(&mut fields, path, "filter")?;
        let brain_class = value(&mut fields, path, "brain-class")?;
        answers.push(GitAttributes { filter, brain_class });
    }
    // Behind the last NUL there is nothing.
    if fields.next().is_some_and(|rest| !rest.is_empty()) || fields.next().is_some() {
        return Err(GitError::Garbled("check-attr"));
    }
    answers.truncate(number_of_pages);
    Ok(Attributes { answers, complaints: answer.complaints })
}

/// Takes one answer, and checks that it is the answer to the question.
fn value<'a>(
    fields: &mut impl Iterator<Item = &'a [u8]>,
    path: &str,
    attribute: &str,
) -> Result<String, GitError> {
    let garbled = GitError::Garbled("check-attr");
    match (fields.next(), fields.next(), fields.next()) {
        (Some(about), Some(name), Some(value))
            if about == path.as_bytes() && name == attribute.as_bytes() =>
        {
            Ok(match value {
                b"unspecified" | b"unset" => String::new(),
                _ => String::from_utf8_lossy(value).into_owned(),
            })
        }
        _ => Err(garbled),
    }
}
