//! What a page would be at a path, whether or not there is one.

use unicode_normalization::UnicodeNormalization as _;

use crate::access::class::{GitAttributes, NameCase, PageClass, class_in_doubt, judge};
use crate::vault::attributes;
use crate::vault::fingerprint::stamping_time;
use crate::vault::survey::{Located, Surveyor, Trouble, index_place};

/// What a page would be at a path, by the rules alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::vault) struct Prospect {
    pub(in crate::vault) class: PageClass,
    /// Whether git-crypt is to encrypt it and is not set up to: git would store it as it
    /// is (gitattributes.md section 2).
    pub(in crate::vault) would_stay_plain: bool,
}

impl Surveyor {
    /// What a page would be at each of these paths, as the disk spells them, whether or
    /// not there is one. The repository is where the last survey found it.
    pub(in crate::vault) fn judge_paths(
        &mut self,
        paths: &[String],
    ) -> Result<Vec<Prospect>, Trouble> {
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
        let place = index_place(repository, &self.root);
        let stored = self.blobs.stored(git, &place, stamping_time())?;
        let prospect = |(path, attributes): (&String, &GitAttributes)| {
            let path = composed(path);
            let class = judge(&path, attributes, repository.name_case()).class;
            let evidence = stored.is_encrypted(&path).then(|| class_in_doubt(&path));
            let would_stay_plain =
                attributes.is_encrypted() && !git.encrypts_with(&attributes.filter)?;
            Ok(Prospect { class: class.max(evidence.unwrap_or(class)), would_stay_plain })
        };
        paths.iter().zip(&answer.answers).map(prospect).collect()
    }
}
