//! Notices that something in the vault has changed, so that it can be looked at before
//! somebody asks.
//!
//! Nothing rests on what is noticed here: every request compares the disk with what it
//! knows. A change that is missed costs time, not truth. So a batch only says where to
//! look.
//!
//! The system's events come from inotify directly. The crate `notify` (8.2) subscribes
//! to the opening of files as well, and would be woken by each page that we read (L50).

#[cfg(target_os = "linux")]
mod events;
#[cfg(not(target_os = "linux"))]
#[path = "watch/no_events.rs"]
mod events;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::warn;

use crate::vault::answers::Watching;
use crate::vault::watch::events::Events;

/// A batch is handed on when nothing has happened for so long.
const QUIET: Duration = Duration::from_millis(50);

/// The same once more paths have changed than by saving a note: a checkout or a sync tool,
/// which pause now and then.
const QUIET_IN_BURST: Duration = Duration::from_millis(250);
const BURST: usize = 3;

/// A batch is handed on after so long, whatever happens.
const LONGEST_BATCH: Duration = Duration::from_secs(5);

/// More changes than this are not told apart.
const MOST_PATHS: usize = 1_000;

/// How often is looked whether the vault's path still leads to the watched folder: no
/// event tells when a folder above it is renamed, or another disk mounted over it.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Between two looks without events there is at least so much time, and so many times
/// the time that a look takes.
const SHORTEST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
const PAUSE_FACTOR: u32 = 20;

/// Events that were refused are asked for again after this.
const RETRY: Duration = Duration::from_secs(30);

/// More folders than this are not watched.
const MOST_FOLDERS: usize = 200_000;

/// What may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Batch {
    /// Files and folders, relative to the vault, as the disk spells them. The vault's own
    /// folder is the empty one.
    Paths(BTreeSet<String>),
    /// Nobody can say what.
    Everything,
}

/// Watches one vault. Ends with its last handle.
#[derive(Debug)]
pub(super) struct Watcher {
    shared: Arc<Shared>,
    bell: UnixStream,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The folders to watch from now on, if they are others than before.
    folders: Option<BTreeSet<Arc<str>>>,
    /// When to look again although nothing may have happened.
    look_at: Option<Instant>,
    watching: Watching,
    is_over: bool,
}

impl Watcher {
    /// Starts watching the vault's own folder; [`Self::keep`] adds those in it.
    ///
    /// `on_batch` is called on the watcher's thread, and nothing is noticed while it
    /// runs (but is afterwards). While there are no events it is called again and again,
    /// so it must cost little if nothing has changed. It must not keep the vault alive
    /// that the watcher belongs to.
    ///
    /// # Errors
    ///
    /// No thread can be started.
    pub(super) fn start(
        root: &Path,
        on_batch: impl FnMut(Batch) + Send + 'static,
    ) -> io::Result<Self> {
        Self::start_within(Limits { most_folders: MOST_FOLDERS, retry: RETRY }, root, on_batch)
    }

    /// The same within limits of the caller's.
    pub(super) fn start_within(
        limits: Limits,
        root: &Path,
        on_batch: impl FnMut(Batch) + Send + 'static,
    ) -> io::Result<Self> {
        let (bell, ring) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        ring.set_nonblocking(true)?;
        let watching = Watching::Polling("watching has not begun".to_owned());
        let state = State { folders: None, look_at: None, watching, is_over: false };
        let shared = Arc::new(Shared { state: Mutex::new(state) });
        let mut sentry = Sentry {
            limits,
            root: root.to_path_buf(),
            shared: Arc::clone(&shared),
            ring,
            folders: BTreeSet::from([Arc::from("")]),
            on_batch,
        };
        let started = thread::Builder::new().name("watcher".to_owned()).spawn(move || sentry.run());
        Ok(Self { shared, bell, thread: Some(started?) })
    }

    /// Watches these folders and no others, relative to the vault. A folder that was not
    /// watched before is named in the next batch, since it may have changed meanwhile.
    pub(super) fn keep(&self, folders: impl IntoIterator<Item = Arc<str>>) {
        self.shared.state().folders = Some(folders.into_iter().collect());
        self.wake();
    }

    /// Hands on a batch of no paths at that time, once: something falls due then that no
    /// event tells. Without events everything is looked at again and again anyway.
    pub(super) fn look_at(&self, time: Option<Instant>) {
        let mut state = self.shared.state();
        if state.look_at != time {
            state.look_at = time;
            drop(state);
            self.wake();
        }
    }

    /// How changes are noticed at the moment.
    pub(super) fn state(&self) -> Watching {
        self.shared.state().watching.clone()
    }

    fn wake(&self) {
        // A full pipe wakes as well.
        let _ = (&self.bell).write(&[0]);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.wake();
        // The callback may have held the last handle of what we are part of.
        let other = self.thread.take().filter(|it| it.thread().id() != thread::current().id());
        // A panic there has been reported by its thread.
        other.map(JoinHandle::join);
    }
}

impl Shared {
    fn look_due_in(&self) -> Option<Duration> {
        Some(self.state().look_at?.saturating_duration_since(Instant::now()))
    }

    /// What a panic left behind is a whole state all the same.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When events are not used, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) most_folders: usize,
    pub(super) retry: Duration,
}

/// What runs on the watcher's thread.
struct Sentry<F> {
    limits: Limits,
    root: PathBuf,
    shared: Arc<Shared>,
    ring: UnixStream,
    /// All that are to be watched.
    folders: BTreeSet<Arc<str>>,
    on_batch: F,
}

/// The changes since the last batch.
#[derive(Debug, Default)]
struct Pending {
    paths: BTreeSet<String>,
    is_everything: bool,
    /// When the first of them came, and the last.
    since: Option<(Instant, Instant)>,
}

impl<F: FnMut(Batch)> Sentry<F> {
    fn run(&mut self) {
        while !self.shared.state().is_over {
            let lost = match Events::begin(&self.root, &self.folders, self.limits.most_folders) {
                Ok(events) => {
                    self.tell(Watching::Events);
                    // Whatever happened before the watches stood.
                    (self.on_batch)(Batch::Everything);
                    self.follow(events)
                }
                Err(lost) => lost,
            };
            match lost {
                Lost::Ended => return,
                // The watches may stand for other folders by now: all are set anew.
                Lost::Overflow | Lost::Moved => {}
                Lost::Gone => {
                    self.tell(Watching::Polling("the vault's folder is gone".to_owned()));
                    self.look();
                }
                Lost::Refused(reason) => {
                    self.tell(Watching::Polling(reason));
                    let until = Instant::now() + self.limits.retry;
                    while Instant::now() < until && !self.shared.state().is_over {
                        self.look();
                    }
                }
            }
        }
    }

    /// Hands on what the events tell, until they no longer do.
    fn follow(&mut self, mut events: Events) -> Lost {
        let watched = inode(&self.root);
        let mut pending = Pending::default();
        loop {
            if self.shared.state().is_over {
                return Lost::Ended;
            }
            if let Some(folders) = self.new_folders() {
                self.folders = folders;
                match events.watch(&self.root, &self.folders) {
                    Ok(added) => pending.add(added),
                    Err(lost) => return lost,
                }
            }
            let pause = pending.due_in();
            if pause.is_some_and(|pause| pause.is_zero()) {
                (self.on_batch)(pending.take());
                continue;
            }
            let look = self.shared.look_due_in();
            if look.is_some_and(|look| look.is_zero()) {
                self.shared.state().look_at = None;
                (self.on_batch)(Batch::Paths(BTreeSet::new()));
                continue;
            }
            let longest = look.map_or(HEARTBEAT, |look| look.min(HEARTBEAT));
            match events.wait(&self.ring, pause.map_or(longest, |pause| pause.min(longest))) {
                Ok(Noticed::Paths(paths)) => pending.add(paths),
                Ok(Noticed::Nothing) if pause.is_none() && inode(&self.root) != watched => {
                    return Lost::Moved;
                }
                Ok(Noticed::Nothing) => {}
                Ok(Noticed::Bell) => self.hush(),
                Err(lost) => return lost,
            }
        }
    }

    /// Has everything looked at, and waits for a while.
    fn look(&mut self) {
        let begun = Instant::now();
        (self.on_batch)(Batch::Everything);
        let pause = (begun.elapsed() * PAUSE_FACTOR).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        let until = Instant::now() + pause;
        while !self.shared.state().is_over {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            wait_for_bell(&self.ring, left);
            self.hush();
            if let Some(folders) = self.new_folders() {
                self.folders = folders;
            }
        }
    }

    fn new_folders(&self) -> Option<BTreeSet<Arc<str>>> {
        let mut folders = self.shared.state().folders.take()?;
        folders.insert(Arc::from(""));
        Some(folders)
    }

    fn tell(&self, watching: Watching) {
        let mut state = self.shared.state();
        if state.watching != watching {
            if let Watching::Polling(reason) = &watching {
                warn!(reason, "changes are found by looking again and again");
            }
            state.watching = watching;
        }
    }

    fn hush(&mut self) {
        let mut rings = [0; 64];
        while matches!(self.ring.read(&mut rings), Ok(count) if count == rings.len()) {}
    }
}

impl Pending {
    fn add(&mut self, paths: BTreeSet<String>) {
        if paths.is_empty() {
            return;
        }
        let now = Instant::now();
        self.since = Some((self.since.map_or(now, |(first, _)| first), now));
        if !self.is_everything {
            self.paths.extend(paths);
        }
        if self.paths.len() > MOST_PATHS {
            self.paths.clear();
            self.is_everything = true;
        }
    }

    /// How long to wait for more; `None` if there is nothing to hand on.
    fn due_in(&self) -> Option<Duration> {
        let (first, last) = self.since?;
        let is_burst = self.is_everything || self.paths.len() > BURST;
        let quiet = if is_burst { QUIET_IN_BURST } else { QUIET };
        let due = (last + quiet).min(first + LONGEST_BATCH);
        Some(due.saturating_duration_since(Instant::now()))
    }

    fn take(&mut self) -> Batch {
        let Self { paths, is_everything, .. } = std::mem::take(self);
        if is_everything { Batch::Everything } else { Batch::Paths(paths) }
    }
}

/// What a wait came to.
#[derive(Debug)]
enum Noticed {
    /// These may have changed; there may be none.
    Paths(BTreeSet<String>),
    /// Somebody rings.
    Bell,
    /// Time is up.
    Nothing,
}

/// Why there are no more events.
#[derive(Debug)]
enum Lost {
    /// The watcher ends.
    Ended,
    /// Too many at once: some are missing.
    Overflow,
    /// The vault's path leads to another folder.
    Moved,
    /// The vault's path leads nowhere.
    Gone,
    /// The system gives none, for this reason.
    Refused(String),
}

/// Waits until somebody rings, or time is up.
fn wait_for_bell(ring: &UnixStream, time: Duration) {
    // An interruption is a wait that was short.
    let _ = poll(&mut [PollFd::new(ring, PollFlags::IN)], timespec(time).as_ref());
}

/// Rounded up: a wait that is too short is followed by another.
fn timespec(time: Duration) -> Option<Timespec> {
    Timespec::try_from(time + Duration::from_millis(1)).ok()
}

fn inode(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}
