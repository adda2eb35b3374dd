//! What is a page by its name, and no file: told of to those who might read it.

use crate::access::class::{GitAttributes, NameCase, PageClass, class_in_doubt, judge};
use crate::access::path::VaultPath;
use crate::vault::attributes;
use crate::vault::evidence::Stored;
use crate::vault::git::GitError;
use crate::vault::survey::{Located, Surveyor};
use crate::vault::walk::{OddityKind, Walk};

/// Something that is not opened, with the class that a page there would have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::vault) struct JudgedOddity {
    pub(in crate::vault) path: VaultPath,
    pub(in crate::vault) kind: OddityKind,
    pub(in crate::vault) class: PageClass,
}

impl Surveyor {
    /// What the walk has found of them. Most vaults have none, and git is not asked then.
    pub(super) fn judge_oddities(
        &self,
        walk: &Walk,
        stored: &Stored,
        in_doubt: bool,
    ) -> Result<Vec<JudgedOddity>, GitError> {
        let found: Vec<_> = walk.oddities().collect();
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let (attributes, case) = match (&self.git, &self.located) {
            (Some(git), Some(Located { repository, .. })) => {
                let names = found.iter().map(|oddity| &*oddity.disk);
                let spelling = repository.spelling();
                let answer = attributes::ask(git, names, std::iter::empty(), spelling)?;
                (answer.answers, repository.name_case())
            }
            _ => (vec![GitAttributes::NONE; found.len()], NameCase::Exact),
        };
        let judged = found.into_iter().zip(&attributes).map(|(oddity, attributes)| {
            let path = oddity.path.as_str();
            let class = judge(path, attributes, case).class;
            let is_doubtful = in_doubt || stored.is_encrypted(path);
            let class = if is_doubtful { class.max(class_in_doubt(path)) } else { class };
            JudgedOddity { path: oddity.path.clone(), kind: oddity.kind, class }
        });
        Ok(judged.collect())
    }
}
