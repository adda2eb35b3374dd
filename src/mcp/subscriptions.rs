//! Who is told of which change.
//!
//! A change is told to those who may see the page before or after it, and to nobody
//! else: whoever subscribes to a hidden page hears as little as of a missing one, until
//! it may be seen.

mod relay;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionSink};
use rmcp::{ErrorData, RoleServer};
use tokio::task::JoinSet;

use self::relay::Step;
use super::uri::{Target, VaultUri};
use super::vaults::Vaults;
use crate::access::path::VaultPath;
use crate::access::permit::Viewer;
use crate::resource_server::standing::Standing;
use crate::vault::answers::Change;

pub(super) use self::relay::{Backlog, News, relay};

/// So many resources can one session or stream subscribe to.
pub(super) const MOST: usize = 200;

/// No address of ours is longer: the longest path, every byte encoded.
const LONGEST: usize = 16 * 1024;

/// What somebody wants to hear of: addresses as the client spells them.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted(BTreeMap<String, Subject>);

/// What a subscription is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    /// Something that no vault has, and of which there is never any news.
    Nothing,
    /// One page of a vault.
    Page { vault: String, path: VaultPath },
    /// What changes with every page of a vault.
    Overview { vault: String },
}

impl Wanted {
    /// What a filter asks for, as far as it is ours and not too much.
    pub(super) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut accepted = SubscriptionFilter::new();
        accepted.resources_list_changed = requested.resources_list_changed;
        let uris = requested.resource_subscriptions.iter().flatten();
        let ours: Vec<String> =
            uris.filter(|uri| VaultUri::parse(uri).is_some()).take(MOST).cloned().collect();
        accepted.resource_subscriptions = (!ours.is_empty()).then_some(ours);
        accepted
    }

    /// The resources of a filter that was accepted.
    pub(super) fn of(accepted: &SubscriptionFilter) -> Self {
        let uris = accepted.resource_subscriptions.iter().flatten();
        Self(uris.map(|uri| (uri.clone(), Subject::of(uri))).collect())
    }

    /// Adds a resource, whether it exists or not: all that is missing, hidden or no
    /// address of ours is one, and nothing is ever told of it.
    pub(super) fn add(&mut self, uri: &str) -> Result<(), ErrorData> {
        if uri.len() > LONGEST {
            return Err(ErrorData::invalid_params("The address is too long.", None));
        }
        if self.0.len() >= MOST && !self.0.contains_key(uri) {
            let reason = "There are too many subscriptions; end some of them first.";
            return Err(ErrorData::invalid_params(reason, None));
        }
        self.0.insert(uri.to_owned(), Subject::of(uri));
        Ok(())
    }

    /// Takes a resource out.
    pub(super) fn remove(&mut self, uri: &str) {
        self.0.remove(uri);
    }

    /// Whether somebody wants to hear of a resource.
    fn has(&self, uri: &str) -> bool {
        self.0.contains_key(uri)
    }

    /// Takes down what a batch of changes in one vault means, whoever may know of it.
    pub(super) fn note(&self, vault: &str, changes: &[Change], backlog: &mut Backlog) {
        backlog.updated.retain(|uri, _| self.has(uri));
        let steps: BTreeSet<Step> = changes.iter().map(Step::of).collect();
        let mut pages: HashMap<&VaultPath, Vec<&String>> = HashMap::new();
        for (uri, subject) in &self.0 {
            match subject {
                Subject::Page { vault: other, path } if other == vault => {
                    pages.entry(path).or_default().push(uri);
                }
                Subject::Overview { vault: other } if other == vault => {
                    backlog.updated.entry(uri.clone()).or_default().extend(&steps);
                }
                Subject::Page { .. } | Subject::Overview { .. } | Subject::Nothing => {}
            }
        }
        for change in changes {
            for uri in pages.get(&change.path).into_iter().flatten() {
                let steps = backlog.updated.entry((*uri).clone()).or_default();
                steps.insert(Step::of(change));
            }
        }
        // The list is that of the default vault.
        if vault.is_empty() {
            backlog.list.extend(&steps);
        }
    }
}

impl Subject {
    fn of(uri: &str) -> Self {
        match VaultUri::parse(uri) {
            Some(VaultUri { vault, target: Target::Note(path) }) => {
                path.parse().map_or(Self::Nothing, |path| Self::Page { vault, path })
            }
            Some(VaultUri { vault, .. }) => Self::Overview { vault },
            None => Self::Nothing,
        }
    }
}

/// Where notices go. None of them waits for an answer.
#[derive(Clone)]
pub(super) enum Listener {
    /// A session of the older revisions.
    Session(Peer<RoleServer>),
    /// A stream of `subscriptions/listen`.
    Stream(SubscriptionSink),
    /// A test.
    #[cfg(test)]
    Test(tokio::sync::mpsc::Sender<News>),
}

/// Nobody listens any more.
struct Gone;

impl Listener {
    async fn tell(&self, news: News) -> Result<(), Gone> {
        match (self, news) {
            (Self::Session(peer), News::ListChanged) => {
                peer.notify_resource_list_changed().await.map_err(|_| Gone)
            }
            (Self::Session(peer), News::Updated(uri)) => {
                let update = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(update).await.map_err(|_| Gone)
            }
            (Self::Stream(sink), News::ListChanged) => {
                if sink.accepted().resources_list_changed != Some(true) {
                    return Ok(());
                }
                sink.notify_resource_list_changed().await.map_err(|_| Gone)
            }
            (Self::Stream(sink), News::Updated(uri)) => {
                sink.notify_resource_updated(uri).await.map_err(|_| Gone)
            }
            #[cfg(test)]
            (Self::Test(sender), news) => sender.send(news).await.map_err(|_| Gone),
        }
    }
}

/// What a listener has subscribed to, which changes while it listens.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Wanted>>);

impl Shared {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self(Arc::new(Mutex::new(wanted)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Wanted> {
        // Every change of it is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins to tell a listener of the changes in all vaults of its viewer. It ends when
/// the returned tasks are dropped.
pub(super) fn relays(
    vaults: &Vaults,
    standing: &Standing,
    wanted: &Shared,
    listener: &Listener,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let viewer = standing.token().as_ref().map(Viewer::of);
    for (name, vault) in viewer.iter().flat_map(|viewer| vaults.of(viewer)) {
        let changes = vault.changes();
        tasks.spawn(relay(name, changes, standing.clone(), wanted.clone(), listener.clone()));
    }
    tasks
}

/// The subscriptions of one session.
#[derive(Clone, Default)]
pub(super) struct Session {
    pub(super) wanted: Shared,
    relays: Arc<Mutex<Option<JoinSet<()>>>>,
}

impl Session {
    /// Begins to tell the client, unless that has begun. It ends with the session, whose
    /// last handle takes the tasks with it.
    pub(super) fn begin(&self, vaults: &Vaults, standing: &Standing, peer: Peer<RoleServer>) {
        let mut relays_now = self.relays.lock().unwrap_or_else(PoisonError::into_inner);
        relays_now.get_or_insert_with(|| {
            relays(vaults, standing, &self.wanted, &Listener::Session(peer))
        });
    }
}
