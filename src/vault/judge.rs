//! Turns what was seen into what is served: raising takes effect at once, lowering
//! waits.
//!
//! A checkout writes the looser rules first and the pages later; an editor cuts a
//! rule file to nothing before it writes it anew. So a class is lowered only when
//! git is at rest and two surveys, some time apart, agree.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tracing::warn;

use crate::access::class::{PageClass, class_in_doubt};
use crate::access::path::VaultPath;
use crate::clock::UnixTime;
use crate::vault::snapshot::{ServedPage, Snapshot};
use crate::vault::survey::{Stability, Survey, SurveyedPage};

/// How far apart two surveys are that may lower a class. The clock counts whole
/// seconds, so this is more than two of them for certain.
const LOWERING_WAIT: Duration = Duration::from_secs(3);

/// A class that the rules give a page, and that is lower than what it is served as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lowering {
    class: PageClass,
    since: UnixTime,
}

/// Makes a snapshot out of a survey and of what was served before.
pub(super) fn publish(
    survey: Survey,
    previous: Option<&Snapshot>,
    now: UnixTime,
    begun: Instant,
) -> Snapshot {
    let bench = Bench {
        in_doubt: !survey.doubts.is_empty(),
        in_motion: survey.stability == Stability::InMotion,
        now,
    };
    if previous.is_none_or(|previous| previous.doubts != survey.doubts) {
        for doubt in &survey.doubts {
            warn!(reason = %doubt, "the rules are in doubt; every page counts as confidential or stricter");
        }
    }
    let is_settled = survey.fingerprint.is_settled_at(survey.moment);
    let mut look_again = None;
    let mut pages = BTreeMap::new();
    for (path, page) in survey.pages {
        let (class, lowering) = bench.judge(&path, &page, previous.and_then(|old| old.page(&path)));
        let due = lowering.map(|lowering| lowering.since + LOWERING_WAIT);
        look_again = look_again.into_iter().chain(due).min();
        let SurveyedPage { disk, inode, ruling, twins, .. } = page;
        pages.insert(path, ServedPage { disk, inode, class, ruling, twins, lowering });
    }
    Snapshot {
        pages,
        private_dot_files: survey.private_dot_files,
        fingerprint: survey.fingerprint,
        doubts: survey.doubts,
        is_settled,
        look_again,
        begun,
    }
}

/// The circumstances in which pages are judged.
struct Bench {
    in_doubt: bool,
    in_motion: bool,
    now: UnixTime,
}

impl Bench {
    fn judge(
        &self,
        path: &VaultPath,
        page: &SurveyedPage,
        before: Option<&ServedPage>,
    ) -> (PageClass, Option<Lowering>) {
        let mut wanted = page.class;
        // A page that comes up while git is at work may be older than its rules.
        if self.in_doubt || (self.in_motion && before.is_none()) {
            wanted = wanted.max(class_in_doubt(path.as_str()));
        }
        let Some(before) = before.filter(|before| wanted < before.class) else {
            return (wanted, None);
        };
        if self.in_doubt || self.in_motion {
            return (before.class, None);
        }
        match before.lowering.filter(|lowering| lowering.class == wanted) {
            Some(lowering) if self.now.since(lowering.since) >= LOWERING_WAIT => {
                warn!(%path, from = %before.class, to = %wanted, rule = %page.ruling.rule, "a page is less protected than before");
                (wanted, None)
            }
            Some(lowering) => (before.class, Some(lowering)),
            None => (before.class, Some(Lowering { class: wanted, since: self.now })),
        }
    }
}
