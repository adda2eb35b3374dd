//! Who is looking, and the leave to read or to write one page.

use super::class::{ClassifiedPath, PageClass};
use super::inbox::Inbox;
use super::path::VaultPath;
use super::policy;
use crate::contract::scope::ScopeSet;
use crate::resource_server::verify::VerifiedToken;

/// A verified caller, with what it may see.
///
/// ```compile_fail,E0451
/// # use brain_mcp::{access::permit::Viewer, contract::scope::ScopeSet};
/// let forged = Viewer { subject: "owner".into(), client: "c".into(), scopes: ScopeSet::ALL };
/// ```
///
/// ```compile_fail,E0624
/// # use brain_mcp::{access::permit::Viewer, contract::scope::ScopeSet};
/// let forged = Viewer::at_the_terminal(ScopeSet::ALL);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Viewer {
    subject: Box<str>,
    client: Box<str>,
    scopes: ScopeSet,
}

impl Viewer {
    /// The viewer behind a verified token.
    #[must_use]
    pub fn of(token: &VerifiedToken) -> Self {
        Self {
            subject: token.subject().into(),
            client: token.client().into(),
            scopes: token.scopes(),
        }
    }

    /// The owner at a terminal of the machine that has the notes. There is no token:
    /// who can start the program on the folder can read the folder. Secret pages stay
    /// out all the same.
    ///
    /// Only [`admin`](crate::admin) may call this; a test of the source holds the other
    /// modules to it.
    pub(crate) fn at_the_terminal(scopes: ScopeSet) -> Self {
        Self { subject: "owner".into(), client: "terminal".into(), scopes }
    }

    /// A viewer without a token.
    #[cfg(test)]
    pub(crate) fn for_tests(scopes: ScopeSet) -> Self {
        Self { subject: "owner".into(), client: "test".into(), scopes }
    }

    /// The `sub` of the token.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The OAuth client that asks.
    #[must_use]
    pub fn client(&self) -> &str {
        &self.client
    }

    /// Whether pages of this class exist for this viewer.
    #[must_use]
    pub fn may_see(&self, class: PageClass) -> bool {
        policy::any_opens(self.scopes, class)
    }

    /// Leave to read one page.
    ///
    /// # Errors
    ///
    /// [`Hidden`]: for this viewer the page does not exist.
    pub fn permit_read(&self, page: ClassifiedPath) -> Result<ReadPermit, Hidden> {
        if self.may_see(page.class()) { Ok(ReadPermit(page)) } else { Err(Hidden) }
    }

    /// Whether this viewer may write into an inbox at all.
    #[must_use]
    pub fn may_write(&self) -> bool {
        PageClass::ALL.into_iter().any(|class| policy::any_accepts(self.scopes, class))
    }

    /// Leave to write one note of the inbox. The class is that of the path, whether or
    /// not there is anything at it.
    ///
    /// # Errors
    ///
    /// [`NotWritable`]: the path is elsewhere, or no scope accepts notes of this class.
    pub fn permit_write(
        &self,
        inbox: &Inbox,
        note: ClassifiedPath,
    ) -> Result<WritePermit, NotWritable> {
        if inbox.holds(note.path()) && policy::any_accepts(self.scopes, note.class()) {
            Ok(WritePermit(note))
        } else {
            Err(NotWritable)
        }
    }
}

/// Leave to read one page, once.
///
/// Neither `Clone` nor `Copy`, and made only by [`Viewer::permit_read`].
///
/// ```compile_fail,E0423
/// # use brain_mcp::access::{class::ClassifiedPath, permit::ReadPermit};
/// # fn forge(page: ClassifiedPath) {
/// let forged = ReadPermit(page);
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # use brain_mcp::access::permit::{OpenPermit as _, ReadPermit};
/// # fn read_twice(permit: ReadPermit) {
/// let (once, twice) = (permit.into_path(), permit.into_path());
/// # }
/// ```
///
/// ```compile_fail,E0308
/// # use brain_mcp::access::permit::ReadPermit;
/// # fn copy(permit: &ReadPermit) -> ReadPermit {
/// permit.clone()
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a permit that is not used opens nothing"]
pub struct ReadPermit(ClassifiedPath);

/// Leave to take one page into the index, once. What is in there is kept apart by
/// class, and every question to it says which classes the viewer may see.
///
/// ```compile_fail,E0423
/// # use brain_mcp::access::{class::ClassifiedPath, permit::IndexPermit};
/// # fn forge(page: ClassifiedPath) {
/// let forged = IndexPermit(page);
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a permit that is not used opens nothing"]
pub struct IndexPermit(ClassifiedPath);

impl IndexPermit {
    /// Leave for a page of any class but one.
    ///
    /// # Errors
    ///
    /// [`Hidden`]: secret pages are never indexed.
    pub fn for_page(page: ClassifiedPath) -> Result<Self, Hidden> {
        if page.class() == PageClass::Secret { Err(Hidden) } else { Ok(Self(page)) }
    }
}

/// Leave to open one page, whatever for: [`ReadPermit`] or [`IndexPermit`].
pub trait OpenPermit: sealed::Sealed {
    /// Spends the permit.
    #[must_use]
    fn into_path(self) -> VaultPath;
}

impl OpenPermit for ReadPermit {
    fn into_path(self) -> VaultPath {
        let Self(page) = self;
        page.path().clone()
    }
}

impl OpenPermit for IndexPermit {
    fn into_path(self) -> VaultPath {
        let Self(page) = self;
        page.path().clone()
    }
}

/// No other module makes a permit of its own.
mod sealed {
    pub trait Sealed {}
    impl Sealed for super::ReadPermit {}
    impl Sealed for super::IndexPermit {}
}

/// Absent or forbidden: one answer, so that nobody can tell which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such page")]
pub struct Hidden;

/// Leave to write one note of the inbox, once.
///
/// Neither `Clone` nor `Copy`, and made only by [`Viewer::permit_write`].
///
/// ```compile_fail,E0423
/// # use brain_mcp::access::{class::ClassifiedPath, permit::WritePermit};
/// # fn forge(note: ClassifiedPath) {
/// let forged = WritePermit(note);
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # use brain_mcp::access::permit::WritePermit;
/// # fn write_twice(permit: WritePermit) {
/// let (once, twice) = (permit.into_path(), permit.into_path());
/// # }
/// ```
///
/// ```compile_fail,E0308
/// # use brain_mcp::access::permit::WritePermit;
/// # fn copy(permit: &WritePermit) -> WritePermit {
/// permit.clone()
/// # }
/// ```
///
/// Leave to read is no leave to write.
///
/// ```compile_fail,E0308
/// # use brain_mcp::access::permit::{ReadPermit, WritePermit};
/// # fn widen(permit: ReadPermit) -> WritePermit {
/// permit
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a permit that is not used writes nothing"]
pub struct WritePermit(ClassifiedPath);

impl WritePermit {
    /// Spends the permit.
    #[must_use]
    pub fn into_path(self) -> VaultPath {
        let WritePermit(note) = self;
        note.path().clone()
    }
}

/// The viewer may not write there, whether or not there is something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this viewer may not write there")]
pub struct NotWritable;
