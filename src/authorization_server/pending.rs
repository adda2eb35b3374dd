//! Authorizations that wait for the owner, in memory.
//!
//! Each is bound to the browser session that started it, can be taken once, and is
//! gone after ten minutes. A restart loses them all, which costs a click.
//!
//! # Invariants
//!
//! - A link to a waiting authorization is worth nothing in another browser: else an
//!   attacker could start one and have the owner finish it (checklist #147).
//! - Each rendering of the consent page has its own token, and all of them stay good
//!   until one is used. Browsers prefetch and extensions fetch twice; with one token a
//!   page the form on the screen would be dead (checklist #146).

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::authorization_server::authorization::AuthorizationRequest;
use crate::authorization_server::client::ClientId;
use crate::authorization_server::parameters::Parameters;
use crate::authorization_server::request::{Judgement, Refusal};
use crate::authorization_server::session::SessionKey;
use crate::clock::{Clock, UnixTime};
use crate::entropy::Entropy;
use crate::peer::Peer;

/// How many may wait at once: in all, for one browser, and for strangers at one address
/// (checklist #34).
const MAX_WAITING: usize = 500;
const MAX_FOR_ONE_BROWSER: usize = 20;
const MAX_FOR_ONE_ADDRESS: usize = 20;
/// How many renderings of one consent page stay good.
const MAX_RENDERINGS: usize = 16;

/// The waiting authorizations. Cheap to clone.
#[derive(Clone)]
pub(super) struct PendingAuthorizations {
    lifetime: Duration,
    clock: Clock,
    entropy: Entropy,
    waiting: Arc<Mutex<HashMap<Digest, Waiting>>>,
}

/// The name of a waiting authorization, as it stands in our own URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PendingName(String);

/// Shown to the owner of the browser that asked, and not yet answered.
#[derive(Debug)]
pub(super) enum Shown {
    /// Somebody must decide.
    Request(Box<AuthorizationRequest>),
    /// Nothing to decide: once the owner is known, a refusal goes back.
    Refusal,
}

/// Why an answer was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotTaken {
    /// Answered before, expired, or another browser's. One answer for all three.
    #[error("no such authorization waits in this browser")]
    Gone,
    /// The form is none that we rendered for this authorization.
    #[error("the form was not rendered for this authorization")]
    ForeignForm,
}

type Digest = [u8; 32];

impl PendingName {
    /// Takes a name of the form that we give; whether something waits under it is
    /// another question.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (text.len() == 43 && text.bytes().all(is_base64url)).then(|| Self(text.to_owned()))
    }

    /// The name in a query of ours.
    pub(super) fn in_query(query: Option<&str>) -> Option<Self> {
        let parameters = Parameters::parse(query?.as_bytes()).ok()?;
        parameters.single("request").ok()?.and_then(Self::parse)
    }

    /// A page of ours, told which authorization it is about.
    pub(super) fn at(&self, path: &str) -> String {
        format!("{path}?request={}", self.0)
    }

    /// The same where there may be nothing that waits.
    pub(super) fn carried_to(path: &str, name: Option<&Self>) -> String {
        name.map_or_else(|| path.to_owned(), |name| name.at(path))
    }
}

struct Waiting {
    judgement: Judgement,
    browser: SessionKey,
    has_owner: Owner,
    peer: Peer,
    since: UnixTime,
    renderings: Vec<Digest>,
}

/// Whether the browser is known to be a user's. Those of strangers go first when it
/// gets crowded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// Nobody has signed in there yet.
    Unknown,
    /// A user has, some time ago.
    SignedInBefore,
    /// A user's browser.
    SignedIn,
}

impl PendingAuthorizations {
    pub(super) fn new(lifetime: Duration, clock: Clock, entropy: Entropy) -> Self {
        Self { lifetime, clock, entropy, waiting: Arc::default() }
    }

    /// Lets an authorization wait, and returns the name under which it does.
    pub(super) fn add(
        &self,
        judgement: Judgement,
        browser: SessionKey,
        (owner, peer): (Owner, Peer),
    ) -> PendingName {
        let name = PendingName(self.entropy.secret());
        let (since, lifetime) = (self.clock.now(), self.lifetime);
        let mut waiting = self.lock();
        waiting.retain(|_, entry| since.since(entry.since) < lifetime);
        let own = waiting.values().filter(|entry| entry.browser == browser).count();
        if own >= MAX_FOR_ONE_BROWSER {
            evict_oldest(&mut waiting, |entry| entry.browser == browser);
        }
        // Who floods from one address floods out what waits for it there. An address that
        // nobody knows is the world's, and has no bound but that of all.
        let is_neighbour =
            |entry: &Waiting| entry.has_owner == Owner::Unknown && entry.peer == peer;
        let neighbours = || waiting.values().filter(|entry| is_neighbour(entry)).count();
        if owner == Owner::Unknown && peer.is_known() && neighbours() >= MAX_FOR_ONE_ADDRESS {
            evict_oldest(&mut waiting, is_neighbour);
        }
        if waiting.len() >= MAX_WAITING {
            make_room(&mut waiting);
        }
        let renderings = Vec::new();
        let entry = Waiting { judgement, browser, has_owner: owner, peer, since, renderings };
        waiting.insert(digest(&name.0), entry);
        name
    }

    /// The authorization of that name, if it was started in this browser.
    pub(super) fn show(&self, name: &PendingName, browser: SessionKey) -> Option<Shown> {
        self.with(name, browser, |entry| match &entry.judgement {
            Ok(request) => Shown::Request(Box::new(request.clone())),
            Err(_) => Shown::Refusal,
        })
    }

    /// A new form token for the consent page.
    pub(super) fn render(&self, name: &PendingName, browser: SessionKey) -> Option<String> {
        let token = self.entropy.secret();
        self.with(name, browser, |entry| {
            if entry.renderings.len() >= MAX_RENDERINGS {
                entry.renderings.remove(0);
            }
            entry.renderings.push(digest(&token));
        })?;
        Some(token)
    }

    /// Takes a request that the owner has answered on a page that we rendered. The
    /// second to come finds nothing.
    ///
    /// # Errors
    ///
    /// [`NotTaken`]; a foreign form leaves the request waiting.
    pub(super) fn take(
        &self,
        name: &PendingName,
        browser: SessionKey,
        form_token: &str,
    ) -> Result<AuthorizationRequest, NotTaken> {
        let mut waiting = self.lock();
        let key = digest(&name.0);
        let entry = waiting.get(&key).filter(|entry| self.is_for(entry, browser));
        let entry = entry.ok_or(NotTaken::Gone)?;
        // Compared by digest, so the time it takes says nothing of the token.
        if !entry.renderings.contains(&digest(form_token)) {
            return Err(NotTaken::ForeignForm);
        }
        match waiting.remove(&key).map(|entry| entry.judgement) {
            Some(Ok(request)) => Ok(request),
            // A refusal is never rendered as a form.
            Some(Err(_)) | None => Err(NotTaken::Gone),
        }
    }

    /// Takes what is only to be sent back.
    pub(super) fn take_refusal(&self, name: &PendingName, browser: SessionKey) -> Option<Refusal> {
        let mut waiting = self.lock();
        let key = digest(&name.0);
        let entry = waiting.get(&key).filter(|entry| self.is_for(entry, browser))?;
        entry.judgement.as_ref().err()?;
        waiting.remove(&key)?.judgement.err()
    }

    /// Follows a browser to its new session: signing in and out change the name of
    /// the session, but not what waits on the screen.
    pub(super) fn follow(&self, from: SessionKey, to: SessionKey, owner: Owner) {
        for entry in self.lock().values_mut().filter(|entry| entry.browser == from) {
            entry.browser = to;
            entry.has_owner = owner;
            entry.renderings.clear();
        }
    }

    /// Whether a request of this client waits for somebody's answer.
    pub(super) fn waits_for(&self, client: &ClientId) -> bool {
        let now = self.clock.now();
        self.lock().values().any(|entry| {
            let asks = |request: &AuthorizationRequest| request.client.id == *client;
            entry.judgement.as_ref().is_ok_and(asks) && now.since(entry.since) < self.lifetime
        })
    }

    /// Forgets what nobody has answered in time.
    pub(super) fn sweep(&self) {
        let now = self.clock.now();
        self.lock().retain(|_, entry| now.since(entry.since) < self.lifetime);
    }

    /// How many there are, in time or not.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock().len()
    }

    fn with<T>(
        &self,
        name: &PendingName,
        browser: SessionKey,
        act: impl FnOnce(&mut Waiting) -> T,
    ) -> Option<T> {
        let mut waiting = self.lock();
        let entry = waiting.get_mut(&digest(&name.0))?;
        self.is_for(entry, browser).then(|| act(entry))
    }

    fn is_for(&self, entry: &Waiting, browser: SessionKey) -> bool {
        entry.browser == browser && self.clock.now().since(entry.since) < self.lifetime
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the oldest of the least known browsers, in the neighbourhood for which the most
/// are waiting: who has few addresses, or many that lie together, cannot push out those
/// who come from elsewhere.
fn make_room(waiting: &mut HashMap<Digest, Waiting>) {
    let Some(least) = waiting.values().map(|entry| entry.has_owner).min() else { return };
    let mut around: HashMap<Peer, usize> = HashMap::new();
    for entry in waiting.values().filter(|entry| entry.has_owner == least) {
        *around.entry(entry.peer.neighbourhood()).or_default() += 1;
    }
    let most = around.values().max().copied();
    evict_oldest(waiting, |entry| {
        entry.has_owner == least && around.get(&entry.peer.neighbourhood()).copied() == most
    });
}

fn evict_oldest(waiting: &mut HashMap<Digest, Waiting>, among: impl Fn(&Waiting) -> bool) {
    let candidates = waiting.iter().filter(|(_, entry)| among(entry));
    let oldest = candidates.min_by_key(|(_, entry)| entry.since).map(|(key, _)| *key);
    if let Some(key) = oldest {
        waiting.remove(&key);
    }
}

fn digest(secret: &str) -> Digest {
    Sha256::digest(secret).into()
}
