//! Writing: new notes into the inbox, and text behind notes that are there.
//!
//! This is the only way into the vault that changes it. What a client may do is
//! decided before the disk is looked at, by the rules for the path alone: then the
//! answer is the same whether or not there are hidden pages and folders.
//!
//! - A client that sees the class of a place writes there by name. A title that is
//!   taken gets a number (L44); a path that is taken is refused. Names that differ in
//!   letter case count as one only if the client sees a page of that name: rules tell
//!   letter case apart, so a hidden one would show.
//! - A client that does not see that class may leave a note by its title, and gets a
//!   name with a mark that comes from the text and the time: which names there are
//!   does not matter. It may not name a path there, nor add to a note.
//! - What remains is what has the very name and is not to be known of by its rules,
//!   for nothing is ever overwritten. A page that is stricter than the rules for its
//!   path (a hard link, a file that git has stored encrypted) is answered as its class
//!   is anywhere: a title gets a mark, a path is not open. A file that is no page, and
//!   one whose text is encrypted against the rules, is a name that is taken; a link,
//!   a file or another repository on the way is no folder. Whoever knows such a name
//!   learns that something has it, and no more.
//!
//! # Reading order
//!
//! `name`, `text`, `place`, `disk`, `target`, and here.

mod disk;
mod name;
mod place;
mod target;
mod text;

use std::io;

use tracing::{info, warn};

use crate::access::class::{ClassifiedPath, PageClass, class_in_doubt};
use crate::access::path::VaultPath;
use crate::access::permit::{ReadPermit, Viewer, WritePermit};
use crate::vault::files::LARGEST_PAGE;
use crate::vault::inbox::disk::{Draft, Published, Turn};
use crate::vault::inbox::place::{Place, Sight};
use crate::vault::inbox::target::{Choice, Target};
use crate::vault::page::{Content, decode, etag};
use crate::vault::snapshot::Snapshot;
use crate::vault::survey::Prospect;
use crate::vault::{Unavailable, Vault};

/// A write is started over this often when the vault changes under it.
const ATTEMPTS: usize = 8;

/// What a client wants to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteToWrite {
    /// What the note is called; its file name is made from that unless there is a path.
    /// Empty if the client gave none.
    pub title: String,
    /// The path of the note in the vault; empty if the client gave none.
    pub path: String,
    /// The text, in Markdown.
    pub content: String,
    /// What to do with it.
    pub mode: WriteMode,
}

/// What to do with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// Make a new note of it.
    Create,
    /// Put it behind the text of a note; make one if there is none.
    Append,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenNote {
    /// Where it is.
    pub path: VaultPath,
    /// What was done.
    pub deed: Deed,
    /// How many bytes were added.
    pub bytes_written: u64,
    /// How many bytes the note has now.
    pub size: u64,
    /// Changes whenever the text does; the same as reading gives.
    pub etag: String,
    /// Whether the client that wrote it can also read it.
    pub is_readable: bool,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// There is a note more.
    Created,
    /// A note has grown.
    Appended,
}

/// Why nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The client was not given leave to write.
    #[error("the client may not write")]
    NotGranted,
    /// The owner has named no folder for it.
    #[error("no inbox is configured")]
    NoInbox,
    /// There is no text.
    #[error("there is nothing to write")]
    Empty,
    /// The text holds a NUL, or the note is no UTF-8 text.
    #[error("it is no text")]
    NotText,
    /// Neither a title nor a path was given.
    #[error("there is neither a title nor a path")]
    Nameless,
    /// The path is not in the inbox, or is none; what there is does not matter.
    #[error("the path is not in the inbox")]
    Outside,
    /// A note of that name would be secret, so nobody could ever read it.
    #[error("a note of that name would never be served")]
    Secret,
    /// The client does not see notes of the class that the place has; what there is does
    /// not matter.
    #[error("the client does not see notes at that place")]
    NotOpen,
    /// Something has that name.
    #[error("the name is taken")]
    Taken,
    /// On the way is something that is no folder of the vault.
    #[error("something on the way is no folder")]
    InTheWay,
    /// The rules want the note encrypted, and git-crypt is not set up here: git would
    /// store it as plain text.
    #[error("the note would not be encrypted")]
    NotEncrypted,
    /// git-crypt is locked on this machine.
    #[error("the note is locked on this machine")]
    Locked,
    /// The note would be larger than what is read.
    #[error("the note would be too large")]
    TooLarge,
    /// The disk has no room.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The account that the server runs as may not write there.
    #[error("the system does not permit it: {0}")]
    NotPermitted(String),
    /// Others write all the time.
    #[error("the vault changes faster than it can be written to")]
    Busy,
    /// The system's words.
    #[error("the system refuses: {0}")]
    Failed(String),
    /// The vault cannot be judged, or its rules are in doubt.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        let words = error.to_string();
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full(words),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NotPermitted(words)
            }
            _ => Self::Failed(words),
        }
    }
}

impl Vault {
    /// Writes one note into the inbox. It can be read and found at once.
    ///
    /// # Errors
    ///
    /// [`WriteError`]. Then the vault is as it was.
    pub fn write_note(
        &self,
        viewer: &Viewer,
        note: &NoteToWrite,
    ) -> Result<WrittenNote, WriteError> {
        let (subject, client) = (viewer.subject(), viewer.client());
        match self.try_to_write(viewer, note) {
            Ok(written) => {
                let WrittenNote { path, deed, bytes_written, .. } = &written;
                info!(%path, ?deed, bytes = bytes_written, subject, client, "wrote into the inbox");
                self.take_in(path);
                Ok(written)
            }
            Err(error) => {
                match &error {
                    WriteError::Full(_) | WriteError::NotPermitted(_) | WriteError::Failed(_) => {
                        warn!(reason = %error, subject, client, "could not write into the inbox");
                    }
                    _ => info!(reason = %error, subject, client, "wrote nothing into the inbox"),
                }
                Err(error)
            }
        }
    }

    fn try_to_write(&self, viewer: &Viewer, note: &NoteToWrite) -> Result<WrittenNote, WriteError> {
        if !viewer.may_write() {
            return Err(WriteError::NotGranted);
        }
        let inbox = self.0.reader.inbox.as_ref().ok_or(WriteError::NoInbox)?;
        if note.content.trim().is_empty() {
            return Err(WriteError::Empty);
        }
        if note.content.contains('\0') {
            return Err(WriteError::NotText);
        }
        let target = Target::of(note, inbox)?;
        let _one_at_a_time = self.0.writing.lock();
        let turn = Turn::take(&self.0.root.folder())?.ok_or(WriteError::Busy)?;
        let writing = Writing { vault: self, viewer, note, target: &target, turn: &turn };
        for _ in 0..ATTEMPTS {
            if let Some(written) = writing.attempt()? {
                return Ok(written);
            }
        }
        Err(WriteError::Busy)
    }
}

/// One write, and what it needs.
struct Writing<'a> {
    vault: &'a Vault,
    viewer: &'a Viewer,
    note: &'a NoteToWrite,
    target: &'a Target,
    turn: &'a Turn,
}

impl Writing<'_> {
    /// `None` if something changed meanwhile. Then nothing was written.
    fn attempt(&self) -> Result<Option<WrittenNote>, WriteError> {
        let parts = &self.vault.0;
        let snapshot = parts.keeper.snapshot().ok_or(Unavailable)?;
        // While the rules are in doubt, nobody knows what would have to be encrypted.
        if !snapshot.doubts.is_empty() {
            return Err(Unavailable.into());
        }
        let judge = |paths: &[String]| parts.keeper.judge_paths(paths).ok_or(Unavailable);
        self.target.check(self.viewer, judge)?;
        let sight = Sight { viewer: self.viewer, snapshot: &snapshot };
        let place = Place::find(&parts.root.folder(), self.target.folders(), &sight)?;
        let judge_names = |names: &[String]| {
            let paths: Vec<String> = names.iter().map(|name| place.disk_path(name)).collect();
            judge(&paths)
        };
        match self.target.choose(&sight, self.note, &place, judge_names)? {
            Choice::New { name, prospect } => self.create(&snapshot, place, &name, prospect),
            Choice::Old { disk, prospect } => self.append(&snapshot, &place, &disk, prospect),
        }
    }

    fn create(
        &self,
        snapshot: &Snapshot,
        place: Place,
        name: &str,
        prospect: Prospect,
    ) -> Result<Option<WrittenNote>, WriteError> {
        let path = place.vault_path(name).ok_or(WriteError::Outside)?;
        let permit = self.permit(path.clone(), prospect)?;
        let text = text::new_note(&self.note.title, path.stem(), &self.note.content);
        if text.len() as u64 > LARGEST_PAGE {
            return Err(WriteError::TooLarge);
        }
        let disk = place.disk_path(name);
        let place = place.make()?;
        self.turn.tidy(&place.folder)?;
        let draft = Draft::new(&place.folder, &text)?;
        if !self.still_holds(snapshot, &place.folder, &disk) {
            return Ok(None);
        }
        if draft.publish(permit)? == Published::Taken {
            return Ok(None);
        }
        place.keep()?;
        Ok(Some(self.written(path, Deed::Created, text.len(), &text)))
    }

    fn append(
        &self,
        snapshot: &Snapshot,
        place: &Place,
        disk: &str,
        prospect: Prospect,
    ) -> Result<Option<WrittenNote>, WriteError> {
        let root = &self.vault.0.root;
        let path = place.vault_path(disk).ok_or(WriteError::Outside)?;
        let Ok(before) = root.read_page(self.leave_to_read(snapshot, &path)?, snapshot) else {
            return Ok(None);
        };
        let old = match decode(before.bytes.clone()) {
            Content::Ciphertext => {
                let class = prospect.class.max(class_in_doubt(path.as_str()));
                let may_know = self.viewer.may_see(class);
                return Err(if may_know { WriteError::Locked } else { WriteError::Taken });
            }
            Content::Text(_) => String::from_utf8(before.bytes).map_err(|_| WriteError::NotText)?,
            Content::Binary => return Err(WriteError::NotText),
        };
        let text = text::appended(&old, &self.note.content);
        if text.len() as u64 > LARGEST_PAGE {
            return Err(WriteError::TooLarge);
        }
        let permit = self.permit(path.clone(), prospect)?;
        self.turn.tidy(place.folder())?;
        let draft = Draft::in_place_of(place.folder(), disk, &text)?;
        // Somebody may have saved the note in the meantime. That is looked at as late as
        // can be: what is saved between this and the next step is lost.
        let now = root.read_page(self.leave_to_read(snapshot, &path)?, snapshot);
        let is_same =
            now.is_ok_and(|now| now.bytes == old.as_bytes() && now.identity == before.identity);
        if !is_same || !self.still_holds(snapshot, place.folder(), &place.disk_path(disk)) {
            return Ok(None);
        }
        let path = draft.replace(permit, disk)?;
        Ok(Some(self.written(path, Deed::Appended, text.len() - old.len(), &text)))
    }

    /// Leave to read the note that something is to be put behind.
    fn leave_to_read(
        &self,
        snapshot: &Snapshot,
        path: &VaultPath,
    ) -> Result<ReadPermit, WriteError> {
        let page = snapshot.page(path).ok_or(WriteError::Taken)?;
        let page = ClassifiedPath::judged(path.clone(), page.class);
        self.viewer.permit_read(page).map_err(|_| WriteError::NotOpen)
    }

    fn permit(&self, path: VaultPath, prospect: Prospect) -> Result<WritePermit, WriteError> {
        let Prospect { class, would_stay_plain } = prospect;
        if would_stay_plain {
            return Err(WriteError::NotEncrypted);
        }
        let inbox = self.vault.0.reader.inbox.as_ref().ok_or(WriteError::NoInbox)?;
        let refused =
            if class == PageClass::Secret { WriteError::Secret } else { WriteError::Outside };
        self.viewer.permit_write(inbox, ClassifiedPath::judged(path, class)).map_err(|_| refused)
    }

    /// Whether the rules are those that the place was judged by, and the folder is still
    /// where it was found.
    fn still_holds(&self, snapshot: &Snapshot, folder: &cap_std::fs::Dir, disk: &str) -> bool {
        let parts = &self.vault.0;
        let is_there = parts.root.holds(folder, disk.rsplit_once('/').map_or("", |(way, _)| way));
        is_there && parts.keeper.confirms(snapshot)
    }

    fn written(&self, path: VaultPath, deed: Deed, bytes: usize, text: &str) -> WrittenNote {
        // Looked at anew, so that it can be read at once and what is said here is true.
        let now = self.vault.0.keeper.snapshot();
        let page = now.and_then(|now| now.page(&path).map(|page| page.class));
        let is_readable = page.is_some_and(|class| self.viewer.may_see(class));
        let etag = match decode(text.as_bytes().to_vec()) {
            Content::Text(text) => etag(&text),
            Content::Ciphertext | Content::Binary => etag(text),
        };
        WrittenNote {
            path,
            deed,
            bytes_written: bytes as u64,
            size: text.len() as u64,
            etag,
            is_readable,
        }
    }
}
