//! Turns what was seen into what is served: raising takes effect at once, lowering
//! waits.
//!
//! A checkout writes the looser rules first and the pages later; an editor cuts a
//! rule file to nothing before it writes it anew. So a class is lowered only when
//! git is at rest and two surveys, some time apart, agree.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tracing::warn;

use crate::access::class::{PageClass, class_in_doubt};
use crate::access::path::VaultPath;
use crate::clock::UnixTime;
use crate::vault::fingerprint::Inode;
use crate::vault::snapshot::{ServedPage, Snapshot};
use crate::vault::survey::{JudgedOddity, Stability, Survey, SurveyedPage};

/// How far apart two surveys are that may lower a class. The clock counts whole
/// seconds, so this is more than two of them for certain.
const LOWERING_WAIT: Duration = Duration::from_secs(3);

/// A class that the rules give a page, and that is lower than what it is served as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lowering {
    class: PageClass,
    since: UnixTime,
}

/// What a page was that is no longer there. A page that comes back at once is not a
/// new one: git and sync tools replace a file by removing and making it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Departed {
    class: PageClass,
    inode: Inode,
    since: UnixTime,
}

impl Departed {
    const fn from_page(page: &ServedPage, since: UnixTime) -> Self {
        Self { class: page.class, inode: page.inode, since }
    }
}

/// The class that a page had when it was seen last.
#[derive(Clone, Copy)]
struct Before {
    class: PageClass,
    lowering: Option<Lowering>,
}

impl Before {
    /// The stricter of what the path was and what the file was under any name. A rule
    /// that names a folder does not go with it when it is renamed.
    fn with_file(before: Option<Self>, file: Option<PageClass>) -> Option<Self> {
        match (before, file) {
            (Some(before), Some(class)) if class <= before.class => Some(before),
            (_, Some(class)) => Some(Self { class, lowering: None }),
            (before, None) => before,
        }
    }
}

/// The class of each file in a snapshot, or shortly before it, by all of its names.
fn classes_of_files(previous: &Snapshot) -> HashMap<Inode, PageClass> {
    let pages = previous.pages.values().map(|page| (page.inode, page.class));
    let gone = previous.departed.values().map(|departed| (departed.inode, departed.class));
    let mut classes = HashMap::new();
    for (inode, class) in pages.chain(gone) {
        let strictest = classes.entry(inode).or_insert(class);
        *strictest = class.max(*strictest);
    }
    classes
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
    let (pages, look_again) = match previous.filter(|previous| previous.has_settled_on(&survey)) {
        Some(previous) => (Arc::clone(&previous.pages), None),
        None => judge_pages(&survey, previous, &bench),
    };
    let departed = previous.map(|previous| departed(previous, &pages, &bench)).unwrap_or_default();
    Snapshot {
        pages,
        departed,
        is_settled: survey.fingerprint.is_settled_at(survey.moment),
        rules_are_settled: survey.fingerprint.rules_are_settled_at(survey.moment),
        surveyed: survey.pages,
        private_dot_files: survey.private_dot_files,
        oddities: at_least_as_strict(survey.oddities, previous),
        folders: survey.folders,
        fingerprint: survey.fingerprint,
        doubts: survey.doubts,
        stability: survey.stability,
        look_again,
        begun,
        is_outdated: AtomicBool::new(false),
    }
}

/// Oddities with the class that they have now or had before, whichever is stricter: they
/// are told of for help only, and nobody waits for them.
fn at_least_as_strict(
    oddities: Vec<JudgedOddity>,
    previous: Option<&Snapshot>,
) -> Vec<JudgedOddity> {
    let before = |path: &VaultPath| {
        let odd = previous?.oddities.iter().find(|before| before.path == *path);
        odd.map(|before| before.class).max(previous?.page(path).map(|page| page.class))
    };
    let raised = oddities.into_iter().map(|oddity| {
        let class = before(&oddity.path).map_or(oddity.class, |class| class.max(oddity.class));
        JudgedOddity { class, ..oddity }
    });
    raised.collect()
}

type Pages = Arc<BTreeMap<VaultPath, ServedPage>>;

/// Judges every page. Says as well when a class may be lowered that waits for it.
fn judge_pages(
    survey: &Survey,
    previous: Option<&Snapshot>,
    bench: &Bench,
) -> (Pages, Option<UnixTime>) {
    let files = previous.map(classes_of_files).unwrap_or_default();
    // Both are in the order of their paths.
    let mut served = previous.into_iter().flat_map(|previous| &*previous.pages).peekable();
    let departed = previous.map(|previous| &previous.departed).filter(|it| !it.is_empty());
    let mut look_again = None;
    let mut pages = Vec::with_capacity(survey.pages.len());
    for (path, page) in &*survey.pages {
        while served.next_if(|(before, _)| *before < path).is_some() {}
        let before = served
            .next_if(|(before, _)| *before == path)
            .map(|(_, page)| Before { class: page.class, lowering: page.lowering })
            .or_else(|| {
                let departed = departed?.get(path)?;
                Some(Before { class: departed.class, lowering: None })
            });
        let mut wanted = page.class;
        if bench.in_motion && before.is_none() {
            // A page that comes up while git is at work may be older than its rules.
            wanted = wanted.max(class_in_doubt(path.as_str()));
        }
        let before = Before::with_file(before, files.get(&page.inode).copied());
        let (class, lowering) = bench.judge(path, page, wanted, before);
        let due = lowering.map(|lowering| lowering.since + LOWERING_WAIT);
        look_again = look_again.into_iter().chain(due).min();
        let SurveyedPage { disk, inode, ruling, twins, .. } = page.clone();
        pages.push((path.clone(), ServedPage { disk, inode, class, ruling, twins, lowering }));
    }
    (Arc::new(pages.into_iter().collect()), look_again)
}

/// The pages that are missing since the previous snapshot, or since one shortly before.
fn departed(previous: &Snapshot, pages: &Pages, bench: &Bench) -> BTreeMap<VaultPath, Departed> {
    // Both are in the order of their paths.
    let mut now = pages.keys().peekable();
    let mut is_missing = |path: &VaultPath| {
        while now.next_if(|now| *now < path).is_some() {}
        now.next_if(|now| *now == path).is_none()
    };
    let pages_before = (!Arc::ptr_eq(pages, &previous.pages)).then_some(&*previous.pages);
    let went = pages_before
        .into_iter()
        .flatten()
        .filter(|(path, _)| is_missing(path))
        .map(|(path, page)| (path.clone(), Departed::from_page(page, bench.now)));
    let went: Vec<_> = went.collect();
    let gone = previous.departed.iter().filter(|(path, departed)| {
        (bench.in_motion || bench.now.since(departed.since) < LOWERING_WAIT)
            && !pages.contains_key(*path)
    });
    gone.map(|(path, departed)| (path.clone(), *departed)).chain(went).collect()
}

impl Snapshot {
    /// Whether judging a survey would come to the same pages again: it found what this
    /// one was judged by, and nothing is waited for or in doubt, now or then.
    fn has_settled_on(&self, survey: &Survey) -> bool {
        Arc::ptr_eq(&self.surveyed, &survey.pages)
            && self.look_again.is_none()
            && self.departed.is_empty()
            && self.doubts.is_empty()
            && survey.doubts.is_empty()
            && self.stability == Stability::Settled
            && survey.stability == Stability::Settled
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
        mut wanted: PageClass,
        before: Option<Before>,
    ) -> (PageClass, Option<Lowering>) {
        if self.in_doubt {
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
