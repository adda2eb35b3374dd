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
///
/// What people and agents write for a path means a page as well: without the ending, with
/// an anchor behind it, from the root. A page that the viewer may not see stands in the
/// way of none that the text may mean too, or it would show by that.
pub(super) fn open(parts: &Parts, viewer: &Viewer, path: &str) -> Result<Opened, ReadError> {
    let mut refusal = None;
    for path in meant(path) {
        match open_exactly(parts, viewer, &path)? {
            Ok(opened) => return Ok(opened),
            // The reason of a page that is there says more than that another is not.
            Err(reason) if reason != NO_SUCH_PAGE => refusal = Some((path, reason)),
            Err(reason) => refusal = refusal.or(Some((path, reason))),
        }
    }
    match refusal {
        Some((path, reason)) => refuse(parts, viewer, &path, &reason),
        // A text that is no path at all is answered like one while nothing can be judged.
        None => drop(parts.keeper.snapshot().ok_or(Unavailable)?),
    }
    Err(Hidden.into())
}

const NO_SUCH_PAGE: &str = "there is no such page";

/// The paths that a text may mean, what it says exactly first.
fn meant(text: &str) -> Vec<VaultPath> {
    let exact = text.parse().ok();
    let bare = text.trim().trim_start_matches("./").trim_start_matches('/');
    let bare = bare.split_once('#').map_or(bare, |(path, _)| path);
    let named =
        if VaultPath::is_page_name(bare) { bare.parse() } else { format!("{bare}.md").parse() };
    let mut paths: Vec<VaultPath> = exact.into_iter().chain(named).collect();
    paths.dedup();
    paths
}

/// Opens the page at a path, or says why the viewer gets nothing.
fn open_exactly(
    parts: &Parts,
    viewer: &Viewer,
    path: &VaultPath,
) -> Result<Result<Opened, String>, ReadError> {
    for _ in attempts() {
        let snapshot = parts.keeper.snapshot().ok_or(Unavailable)?;
        let Some(page) = snapshot.page(path) else { return Ok(Err(NO_SUCH_PAGE.to_owned())) };
        let class = page.class;
        let Ok(permit) = viewer.permit_read(ClassifiedPath::judged(path.clone(), class)) else {
            return Ok(Err(why_hidden(class)));
        };
        let read = parts.root.read_page(permit, &snapshot);
        if read.as_ref().is_err_and(|reason| *reason == NoBytes::Replaced) {
            // The stamps may be too coarse to show it.
            parts.keeper.fresh(page).ok_or(Unavailable)?;
        } else if parts.keeper.confirms(&snapshot) {
            let Ok(read) = read else { return Err(ReadError::NotText) };
            let identity = read.identity;
            let text = match text_of(viewer, path, class, decode(read.bytes)) {
                Err(ReadError::Hidden(_)) => {
                    return Ok(Err(why_hidden(class_of_ciphertext(path, class))));
                }
                text => text?,
            };
            return Ok(Ok(Opened { path: path.clone(), class, text, identity, snapshot }));
        }
    }
    Err(Unavailable.into())
}

/// Turns what was read into the answer. Ciphertext is at least confidential,
/// whatever the rules say.
fn text_of(
    viewer: &Viewer,
    path: &VaultPath,
    class: PageClass,
    content: Content,
) -> Result<String, ReadError> {
    match content {
        Content::Text(text) => Ok(text),
        Content::Binary => Err(ReadError::NotText),
        Content::Ciphertext => {
            if viewer.may_see(class_of_ciphertext(path, class)) {
                Err(ReadError::Locked)
            } else {
                Err(Hidden.into())
            }
        }
    }
}

fn class_of_ciphertext(path: &VaultPath, class: PageClass) -> PageClass {
    class.max(class_in_doubt(path.as_str()))
}

/// Tells the owner the real reason.
fn refuse(parts: &Parts, viewer: &Viewer, path: &VaultPath, reason: &str) {
    let (subject, client) = (viewer.subject(), viewer.client());
    info!(?path, subject, client, "refused: {reason}");
    parts.refusals.note(subject, client, path.as_str(), reason, parts.clock.now());
}
