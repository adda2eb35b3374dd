//! Passes changes on to one listener, as fast as it reads.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;

use super::{Listener, Shared};
use crate::access::class::PageClass;
use crate::access::permit::Viewer;
use crate::resource_server::standing::Standing;
use crate::vault::answers::Change;

/// One thing to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mcp) enum News {
    /// Pages have come or gone.
    ListChanged,
    /// A resource has changed, as the client spells it.
    Updated(String),
}

/// What a page was and what it is, as far as it decides who may know of the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    before: Option<PageClass>,
    after: Option<PageClass>,
}

impl Step {
    pub(super) const fn of(change: &Change) -> Self {
        Self { before: change.before, after: change.after }
    }

    /// Whether the viewer may see the page before and after it.
    fn seen_by(self, viewer: &Viewer) -> [bool; 2] {
        [self.before, self.after].map(|class| class.is_some_and(|class| viewer.may_see(class)))
    }

    fn concerns(self, viewer: &Viewer) -> bool {
        self.seen_by(viewer) != [false, false]
    }

    fn changes_list(self, viewer: &Viewer) -> bool {
        let [before, after] = self.seen_by(viewer);
        before != after
    }
}

/// What has happened and is not told yet.
///
/// It is kept for every class alike, and only what is taken out is judged. So however
/// long a listener does not read, or has no token, it is told of what it may see and of
/// nothing else; and there is an end to it, since there are only so many steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::mcp) struct Backlog {
    /// What may have changed the list of pages.
    pub(super) list: BTreeSet<Step>,
    /// By the address of the resource.
    pub(super) updated: BTreeMap<String, BTreeSet<Step>>,
}

impl Backlog {
    pub(in crate::mcp) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.updated.is_empty()
    }

    /// The next thing to tell a viewer who still wants to hear it. What this viewer may
    /// not see is forgotten.
    pub(in crate::mcp) fn next(&mut self, viewer: &Viewer, wanted: &super::Wanted) -> Option<News> {
        let list = std::mem::take(&mut self.list);
        if list.iter().any(|step| step.changes_list(viewer)) {
            return Some(News::ListChanged);
        }
        while let Some((uri, steps)) = self.updated.pop_first() {
            if wanted.has(&uri) && steps.iter().any(|step| step.concerns(viewer)) {
                return Some(News::Updated(uri));
            }
        }
        None
    }
}

/// Tells a listener of the changes in one vault, until it or the vault is gone.
///
/// Changes are taken in at once, also while the listener takes its time. Before each word
/// its token is asked for anew; while none stands, what there is to tell waits.
pub(in crate::mcp) async fn relay(
    vault: String,
    mut changes: UnboundedReceiver<Arc<[Change]>>,
    mut standing: Standing,
    wanted: Shared,
    listener: Listener,
) {
    let mut backlog = Backlog::default();
    loop {
        let viewer = standing.token().as_ref().map(Viewer::of);
        let news = viewer.and_then(|viewer| backlog.next(&viewer, &wanted.lock()));
        let Some(news) = news else {
            tokio::select! {
                batch = changes.recv() => match batch {
                    Some(batch) => wanted.lock().note(&vault, &batch, &mut backlog),
                    None => return,
                },
                () = standing.renewed(), if !backlog.is_empty() => {}
            }
            continue;
        };
        let mut telling = pin!(listener.tell(news));
        loop {
            tokio::select! {
                told = &mut telling => match told {
                    Ok(()) => break,
                    Err(_) => return,
                },
                batch = changes.recv() => match batch {
                    Some(batch) => wanted.lock().note(&vault, &batch, &mut backlog),
                    None => return,
                },
            }
        }
    }
}
