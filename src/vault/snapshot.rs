//! What is served at one moment, and for how long that may be believed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tracing::error;

use crate::access::class::{PageClass, Ruling};
use crate::access::path::VaultPath;
use crate::clock::{Clock, UnixTime};
use crate::vault::fingerprint::{Fingerprint, Inode};
use crate::vault::judge::{Departed, Lowering, publish};
use crate::vault::survey::{
    JudgedOddity, Prospect, Stability, SurveyedPages, Surveyor, Trouble, Twin,
};

/// Every page with its class. Never changed; replaced as a whole.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) pages: Arc<BTreeMap<VaultPath, ServedPage>>,
    /// What they were judged by.
    pub(super) surveyed: Arc<SurveyedPages>,
    pub(super) private_dot_files: Vec<String>,
    /// What is a page by its name only. No class is lowered while we run.
    pub(super) oddities: Vec<JudgedOddity>,
    /// Every folder that was read, relative to the vault.
    pub(super) folders: Vec<Arc<str>>,
    /// The classes of pages that went not long ago, and when they were missed.
    pub(super) departed: BTreeMap<VaultPath, Departed>,
    pub(super) fingerprint: Fingerprint,
    pub(super) doubts: Vec<String>,
    pub(super) stability: Stability,
    /// Whether every change since then would show in the fingerprint.
    pub(super) is_settled: bool,
    /// The same of what the classes rest on, whatever pages come and go.
    pub(super) rules_are_settled: bool,
    /// When a class may be lowered that waits for it.
    pub(super) look_again: Option<UnixTime>,
    pub(super) begun: Instant,
    /// Set when something turned out to be wrong that the stamps of folders do not tell.
    pub(super) is_outdated: AtomicBool,
}

/// A page, and the class that it is served as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServedPage {
    /// As the disk spells it.
    pub(super) disk: Arc<str>,
    pub(super) inode: Inode,
    pub(super) class: PageClass,
    /// What git's attributes alone would make of it.
    pub(super) ruling: Arc<Ruling>,
    pub(super) twins: Vec<Twin>,
    pub(super) lowering: Option<Lowering>,
}

impl Snapshot {
    /// The page of that path.
    pub(super) fn page(&self, path: &VaultPath) -> Option<&ServedPage> {
        self.pages.get(path)
    }

    /// Whether every page of an older snapshot that is still there is served alike.
    fn vouches_for(&self, older: &Self) -> bool {
        let alike = |one: &ServedPage, other: &ServedPage| {
            one.class == other.class && one.inode == other.inode && one.disk == other.disk
        };
        let mut pages = older.pages.iter();
        Arc::ptr_eq(&self.pages, &older.pages)
            || pages.all(|(path, page)| self.page(path).is_none_or(|now| alike(now, page)))
    }
}

fn log_trouble(reason: &str) {
    error!(reason, "the vault cannot be judged; nothing is served");
}

/// Keeps the snapshot that is served, and makes a new one whenever it may be wrong.
#[derive(Debug)]
pub(super) struct Keeper {
    clock: Clock,
    /// The last one that could be made; `None` before the first.
    current: Mutex<Option<Arc<Snapshot>>>,
    /// Held while a snapshot is made, so that requests at the same time share one.
    workshop: Mutex<Workshop>,
    failures: Failures,
}

/// Attempts to judge the vault that came to nothing.
#[derive(Debug, Default)]
struct Failures {
    count: AtomicU64,
    was_the_last: AtomicBool,
}

#[derive(Debug)]
struct Workshop {
    surveyor: Surveyor,
    /// When the last attempt began and what was wrong, if it failed.
    failed: Option<(Instant, String)>,
}

impl Keeper {
    /// Makes the first snapshot.
    ///
    /// # Errors
    ///
    /// What the owner has to put right. What may pass by itself is tried again at the
    /// next request.
    pub(super) fn new(surveyor: Surveyor, clock: Clock) -> Result<Self, String> {
        let workshop = Mutex::new(Workshop { surveyor, failed: None });
        let keeper =
            Self { clock, current: Mutex::new(None), workshop, failures: Failures::default() };
        let made = keeper.make(&mut keeper.workshop(), None);
        match made {
            // Whoever opens the vault tells the owner.
            Err(Trouble::Lasting(reason)) => Err(reason),
            Err(Trouble::Passing(reason)) => {
                log_trouble(&reason);
                Ok(keeper)
            }
            Ok(_) => Ok(keeper),
        }
    }

    /// A snapshot that is right at some moment after the call. `None` if the vault
    /// cannot be judged.
    pub(super) fn snapshot(&self) -> Option<Arc<Snapshot>> {
        let arrived = Instant::now();
        let current = self.current();
        current.filter(|snapshot| self.is_right(snapshot)).or_else(|| self.renew(arrived))
    }

    /// Whether the classes of a snapshot were still right after everything that the
    /// caller did with it. One that does not tell by itself is compared with a new one.
    pub(super) fn confirms(&self, used: &Snapshot) -> bool {
        let arrived = Instant::now();
        if !used.fingerprint.rules_still_hold() {
            used.is_outdated.store(true, Ordering::Release);
            return false;
        }
        used.rules_are_settled || self.renew(arrived).is_some_and(|fresh| fresh.vouches_for(used))
    }

    /// A snapshot made after the call, whatever the present one says, and whatever the
    /// stamps of the folder say that a page is in.
    pub(super) fn fresh(&self, page: &ServedPage) -> Option<Arc<Snapshot>> {
        self.workshop().surveyor.forget_folder_of(&page.disk);
        self.renew(Instant::now())
    }

    /// What a page would be at each of these paths, as the disk spells them, by the rules
    /// alone. `None` if that cannot be said. Whether it still holds is known to the
    /// snapshot that was taken before.
    pub(super) fn judge_paths(&self, paths: &[String]) -> Option<Vec<Prospect>> {
        let judged = self.workshop().surveyor.judge_paths(paths);
        judged.inspect_err(|trouble| log_trouble(&trouble.to_string())).ok()
    }

    /// Why the last survey came to nothing; `None` if it did not.
    pub(super) fn trouble(&self) -> Option<String> {
        self.workshop().failed.as_ref().map(|(_, reason)| reason.clone())
    }

    /// How many attempts to judge the vault came to nothing, and whether the last did.
    pub(super) fn failures(&self) -> (u64, bool) {
        let Failures { count, was_the_last } = &self.failures;
        (count.load(Ordering::Relaxed), was_the_last.load(Ordering::Relaxed))
    }

    fn is_right(&self, snapshot: &Snapshot) -> bool {
        snapshot.is_settled
            && !snapshot.is_outdated.load(Ordering::Acquire)
            && snapshot.look_again.is_none_or(|due| self.clock.now() < due)
            && snapshot.fingerprint.still_holds()
    }

    /// Makes a snapshot, unless somebody has begun one after `arrived`.
    fn renew(&self, arrived: Instant) -> Option<Arc<Snapshot>> {
        let mut workshop = self.workshop();
        let previous = self.current();
        if let Some(shared) = previous.as_ref().filter(|previous| previous.begun >= arrived) {
            return Some(Arc::clone(shared));
        }
        if workshop.failed.as_ref().is_some_and(|(begun, _)| *begun >= arrived) {
            return None;
        }
        let known = workshop.failed.as_ref().map(|(_, reason)| reason.clone());
        let made = self.make(&mut workshop, previous.as_deref()).map_err(|it| it.to_string());
        // Once, not at every request.
        made.inspect_err(|reason| {
            if known.as_ref() != Some(reason) {
                log_trouble(reason);
            }
        })
        .ok()
    }

    fn make(
        &self,
        workshop: &mut Workshop,
        previous: Option<&Snapshot>,
    ) -> Result<Arc<Snapshot>, Trouble> {
        let begun = Instant::now();
        let survey = workshop.surveyor.survey();
        self.failures.count.fetch_add(u64::from(survey.is_err()), Ordering::Relaxed);
        self.failures.was_the_last.store(survey.is_err(), Ordering::Relaxed);
        match survey {
            Ok(survey) => {
                let next = Arc::new(publish(survey, previous, self.clock.now(), begun));
                *self.current.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(Arc::clone(&next));
                workshop.failed = None;
                Ok(next)
            }
            Err(trouble) => {
                workshop.failed = Some((begun, trouble.to_string()));
                Err(trouble)
            }
        }
    }

    /// The last one that could be made, right or not.
    ///
    /// A poisoned lock holds a whole value all the same: it is only ever replaced.
    pub(super) fn current(&self) -> Option<Arc<Snapshot>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a panic left behind in the workshop is made anew by the next survey.
    fn workshop(&self) -> MutexGuard<'_, Workshop> {
        self.workshop.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
