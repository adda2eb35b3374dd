//! Opens one page for a viewer. Needs no index.

use std::sync::Arc;

use tracing::info;

use crate::access::class::{ClassifiedPath, PageClass, class_in_doubt};
use crate::access::path::VaultPath;
use crate::access::permit::{Hidden, Viewer};
use crate::access::policy::why_hidden;
use crate::vault::attempts::attempts;
use crate::vault::files::NoBytes;
use crate::vault::fingerprint::Identity;
use crate::vault::page::{Content, decode};
use crate::vault::snapshot::Snapshot;
use crate::vault::{Parts, ReadError, Unavailable};

/// A page that a viewer has opened.
pub(super) struct Opened {
    pub(super) path: VaultPath,
    pub(super) class: PageClass,
    pub(super) text: String,
    pub(super) identity: Identity,
    /// What judged it.
    pub(super) snapshot: Arc<Snapshot>,
}

/// Opens a page. A text that is no path is [`ReadError::Hidden`] too.
pub(super) fn open(parts: &Parts, viewer: &Viewer, path: &str) -> Result<Opened, ReadError> {
    for _ in attempts() {
        // First of all, so that what cannot be judged looks the same everywhere.
        let snapshot = parts.keeper.snapshot().ok_or(Unavailable)?;
        let path: VaultPath = path.parse().map_err(|_| Hidden)?;
        let Some(page) = snapshot.page(&path) else {
            refuse(parts, viewer, &path, "there is no such page");
            return Err(Hidden.into());
        };
        let class = page.class;
        let permit = viewer
            .permit_read(ClassifiedPath::judged(path.clone(), class))
            .inspect_err(|_| refuse(parts, viewer, &path, &why_hidden(class)))?;
        let read = parts.root.read_page(permit, &snapshot);
        if read.as_ref().is_err_and(|reason| *reason == NoBytes::Replaced) {
            // The stamps may be too coarse to show it.
            parts.keeper.fresh(page).ok_or(Unavailable)?;
        } else if parts.keeper.confirms(&snapshot) {
            let Ok(read) = read else { return Err(ReadError::NotText) };
            let identity = read.identity;
            let text = text_of(parts, viewer, &path, class, decode(read.bytes))?;
            return Ok(Opened { path, class, text, identity, snapshot });
        }
    }
    Err(Unavailable.into())
}

/// Turns what was read into the answer. Ciphertext is at least confidential,
/// whatever the rules say.
fn text_of(
    parts: &Parts,
    viewer: &Viewer,
    path: &VaultPath,
    class: PageClass,
    content: Content,
) -> Result<String, ReadError> {
    match content {
        Content::Text(text) => Ok(text),
        Content::Binary => Err(ReadError::NotText),
        Content::Ciphertext => {
            let class = class.max(class_in_doubt(path.as_str()));
            if viewer.may_see(class) {
                Err(ReadError::Locked)
            } else {
                refuse(parts, viewer, path, &why_hidden(class));
                Err(Hidden.into())
            }
        }
    }
}

/// Tells the owner the real reason.
fn refuse(parts: &Parts, viewer: &Viewer, path: &VaultPath, reason: &str) {
    let (subject, client) = (viewer.subject(), viewer.client());
    info!(?path, subject, client, "refused: {reason}");
    parts.refusals.note(subject, client, path.as_str(), reason, parts.clock.now());
}
