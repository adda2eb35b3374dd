//! The events of Linux: one inotify watch a folder.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::mem::MaybeUninit;
use std::ops::Bound;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::access::class::is_private_name;
use crate::access::path::VaultPath;
use crate::vault::names::is_leftover;
use crate::vault::watch::{Lost, Noticed, timespec};

/// Everything that may change a page, a folder or a rule, and nothing that reading does.
const WATCHED: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW)
    .union(WatchFlags::EXCL_UNLINK);

/// Names that decide about classes and are no pages.
const RULE_NAMES: [&str; 2] = [".gitattributes", ".git"];

/// The watches, and what each stands for.
#[derive(Debug)]
pub(super) struct Events {
    queue: OwnedFd,
    folders: HashMap<i32, Arc<str>>,
    watches: BTreeMap<Arc<str>, i32>,
    /// Each costs the kernel about a kilobyte.
    most: usize,
}

impl Events {
    /// Watches these folders from now on, if they are not more than `most`.
    pub(super) fn begin(
        root: &Path,
        folders: &BTreeSet<Arc<str>>,
        most: usize,
    ) -> Result<Self, Lost> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)
            .map_err(|error| refused("", error))?;
        let (names, watches) = (HashMap::new(), BTreeMap::new());
        let mut events = Self { queue, folders: names, watches, most };
        events.watch(root, folders)?;
        Ok(events)
    }

    /// Watches these folders and no others. Returns those that were not watched before.
    pub(super) fn watch(
        &mut self,
        root: &Path,
        folders: &BTreeSet<Arc<str>>,
    ) -> Result<BTreeSet<String>, Lost> {
        if folders.len() > self.most {
            let number = folders.len();
            return Err(Lost::Refused(format!("{number} folders are too many to be watched")));
        }
        let is_gone = |folder: &&Arc<str>| !folders.contains(*folder);
        let gone: Vec<Arc<str>> = self.watches.keys().filter(is_gone).cloned().collect();
        for folder in gone {
            self.drop_watch(&folder);
        }
        let mut added = BTreeSet::new();
        for folder in folders {
            if self.watches.contains_key(folder) {
                continue;
            }
            match inotify::add_watch(&self.queue, root.join(&**folder), WATCHED) {
                Ok(watch) => {
                    self.folders.insert(watch, Arc::clone(folder));
                    self.watches.insert(Arc::clone(folder), watch);
                    added.insert(folder.to_string());
                }
                // Gone again, or closed to us: the folder above tells when that changes.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP)
                    if !folder.is_empty() => {}
                Err(error) => return Err(refused(folder, error)),
            }
        }
        Ok(added)
    }

    /// Waits for events, for somebody who rings, or until time is up.
    pub(super) fn wait(&mut self, ring: &UnixStream, time: Duration) -> Result<Noticed, Lost> {
        let mut sources =
            [PollFd::new(&self.queue, PollFlags::IN), PollFd::new(ring, PollFlags::IN)];
        match poll(&mut sources, timespec(time).as_ref()) {
            Ok(0) | Err(Errno::INTR) => return Ok(Noticed::Nothing),
            Ok(_) => {}
            Err(error) => return Err(refused("", error)),
        }
        let rings = !sources[1].revents().is_empty();
        if sources[0].revents().is_empty() && rings {
            return Ok(Noticed::Bell);
        }
        // The bell rings on: what has happened before is dealt with first.
        self.read().map(Noticed::Paths)
    }

    fn read(&mut self) -> Result<BTreeSet<String>, Lost> {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut paths = BTreeSet::new();
        let mut happened = Vec::new();
        let mut reader = Reader::new(&self.queue, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    // A name that is not UTF-8 cannot be asked for.
                    let name = event.file_name().map(|name| name.to_str().unwrap_or_default());
                    happened.push((event.wd(), event.events(), name.map(str::to_owned)));
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(refused("", error)),
            }
        }
        for (watch, what, name) in happened {
            self.take(watch, what, name.as_deref(), &mut paths)?;
        }
        Ok(paths)
    }

    fn take(
        &mut self,
        watch: i32,
        what: ReadFlags,
        name: Option<&str>,
        paths: &mut BTreeSet<String>,
    ) -> Result<(), Lost> {
        if what.contains(ReadFlags::QUEUE_OVERFLOW) {
            return Err(Lost::Overflow);
        }
        let Some(folder) = self.folders.get(&watch).cloned() else { return Ok(()) };
        let Some(name) = name else {
            let ends = ReadFlags::IGNORED
                | ReadFlags::DELETE_SELF
                | ReadFlags::MOVE_SELF
                | ReadFlags::UNMOUNT;
            if what.intersects(ends) {
                if folder.is_empty() {
                    return Err(Lost::Moved);
                }
                self.drop_tree(&folder);
            }
            paths.insert(folder.to_string());
            return Ok(());
        };
        let is_folder = what.contains(ReadFlags::ISDIR);
        if !matters(name, is_folder) {
            return Ok(());
        }
        let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        if is_folder && what.intersects(ReadFlags::MOVED_FROM | ReadFlags::DELETE) {
            // Its watches would go on telling under the old name.
            self.drop_tree(&path);
        }
        paths.insert(path);
        Ok(())
    }

    fn drop_tree(&mut self, folder: &str) {
        let below = format!("{folder}/");
        let inside = self
            .watches
            .range::<str, _>((Bound::Included(&*below), Bound::Unbounded))
            .map(|(path, _)| Arc::clone(path));
        let inside: Vec<_> = inside.take_while(|path| path.starts_with(&below)).collect();
        for path in inside {
            self.drop_watch(&path);
        }
        self.drop_watch(folder);
    }

    fn drop_watch(&mut self, folder: &str) {
        if let Some(watch) = self.watches.remove(folder) {
            self.folders.remove(&watch);
            // It may be gone with its folder.
            let _ = inotify::remove_watch(&self.queue, watch);
        }
    }
}

/// Whether a change under this name may concern a page.
fn matters(name: &str, is_folder: bool) -> bool {
    let is_hidden = name.starts_with('.');
    let is_page = VaultPath::is_page_name(name) && !is_leftover(name);
    RULE_NAMES.contains(&name)
        || (is_folder && !is_hidden)
        || (is_page && (!is_hidden || is_private_name(name)))
}

fn refused(folder: &str, error: Errno) -> Lost {
    let limit = |which: &str| {
        Lost::Refused(format!("the system watches no more folders (fs.inotify.{which})"))
    };
    match error {
        Errno::NOSPC => limit("max_user_watches"),
        Errno::MFILE => limit("max_user_instances"),
        Errno::NOENT | Errno::NOTDIR if folder.is_empty() => Lost::Gone,
        error => Lost::Refused(format!("the system does not watch: {}", io::Error::from(error))),
    }
}
