//! Where the issuer's public keys come from: the process itself or a URL.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jsonwebtoken::Algorithm;
use reqwest::header::CACHE_CONTROL;
use reqwest::redirect::Policy;
use tokio::sync::Mutex;
use url::Url;

use crate::clock::{Clock, UnixTime};
use crate::contract::key_set::PublicKeySet;
use crate::contract::resource::is_loopback;
use crate::freshness;
use crate::jose::key_ring::KeyRing;

/// The keys of the trusted issuer. Cheap to clone.
#[derive(Clone)]
pub struct KeySource(Source);

#[derive(Clone)]
enum Source {
    Embedded(Arc<Embedded>),
    Remote(Arc<Remote>),
}

type Document = dyn Fn() -> PublicKeySet + Send + Sync;

struct Embedded {
    document: Arc<Document>,
    parsed: RwLock<Option<(PublicKeySet, Arc<KeyRing>)>>,
}

struct Remote {
    url: Url,
    client: reqwest::Client,
    state: RwLock<State>,
    /// Held during a fetch, so that a hundred requests with a new `kid` make one.
    fetching: Mutex<()>,
}

#[derive(Default)]
struct State {
    keys: Option<Cached>,
    last_attempt: Option<UnixTime>,
    /// The last fetch that only a token with an unknown `kid` gave reason for.
    last_search: Option<UnixTime>,
}

/// Why the key set is fetched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// There is none, or it is no longer fresh.
    Renewal,
    /// It is fresh, but has no key of the name that a token gives.
    Search,
}

#[derive(Clone)]
struct Cached {
    ring: Arc<KeyRing>,
    fresh_until: UnixTime,
}

/// There are no keys to judge a token with. Not the token's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the issuer's key set cannot be had at the moment")]
pub struct KeysUnavailable;

/// Why a URL cannot be a key source.
#[derive(Debug, thiserror::Error)]
pub enum InvalidKeyUrl {
    /// Plain http to another machine, or no URL at all: whoever can change the
    /// answer on its way decides whose tokens are good.
    #[error("it must be an https URL (plain http is for loopback addresses only)")]
    NotHttps,
    /// The HTTP client could not be built.
    #[error("the HTTP client cannot be built: {0}")]
    Client(reqwest::Error),
}

/// How long an old key set is used when a newer one cannot be had. A short outage
/// of the issuer must not be an outage of ours.
const STALE_FOR: Duration = Duration::from_secs(60 * 60);
/// Between two fetches for a `kid` that is not in a fresh key set. Anybody can
/// make up such a token. Other fetches do not count: the issuer may have got a new
/// key right after one.
const UNKNOWN_KEY_PAUSE: Duration = Duration::from_secs(60);
/// Between two fetches while there is no fresh key set.
const FAILURE_PAUSE: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

impl KeySource {
    /// The keys of the embedded authorization server, as it publishes them. Asked
    /// for every token, so a withdrawn key fails at once (checklist #134).
    #[must_use]
    pub fn embedded(document: Arc<Document>) -> Self {
        Self(Source::Embedded(Arc::new(Embedded { document, parsed: RwLock::default() })))
    }

    /// The keys of a foreign issuer.
    ///
    /// # Errors
    ///
    /// [`InvalidKeyUrl`].
    pub fn url(text: &str) -> Result<Self, InvalidKeyUrl> {
        let url = Url::parse(text).map_err(|_| InvalidKeyUrl::NotHttps)?;
        let loopback = is_loopback(&url);
        if url.scheme() != "https" && !(url.scheme() == "http" && loopback) {
            return Err(InvalidKeyUrl::NotHttps);
        }
        // A redirect could lead to plain http or to another party's keys.
        let mut builder = reqwest::Client::builder().redirect(Policy::none()).timeout(TIMEOUT);
        if loopback {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(InvalidKeyUrl::Client)?;
        let (state, fetching) = (RwLock::default(), Mutex::default());
        Ok(Self(Source::Remote(Arc::new(Remote { url, client, state, fetching }))))
    }

    /// The algorithms that a token may be signed with. Fixed here, never taken
    /// from the token (RFC 8725 section 3.1).
    pub(super) const fn algorithms(&self) -> &'static [Algorithm] {
        match self.0 {
            Source::Embedded(_) => &[Algorithm::ES256],
            Source::Remote(_) => &[
                Algorithm::ES256,
                Algorithm::ES384,
                Algorithm::RS256,
                Algorithm::PS256,
                Algorithm::EdDSA,
            ],
        }
    }

    /// The key ring in which to look for `key_id`. It need not be in there.
    pub(super) async fn ring_for(
        &self,
        key_id: &str,
        clock: &Clock,
    ) -> Result<Arc<KeyRing>, KeysUnavailable> {
        match &self.0 {
            Source::Embedded(embedded) => embedded.ring(),
            Source::Remote(remote) => Arc::clone(remote).ring_for(key_id, clock).await,
        }
    }
}

impl KeySource {
    /// Whether the issuer still stands by a key that has verified a token before. For
    /// streams that outlive their request; of a foreign issuer it is what was fetched
    /// last.
    pub(super) fn still_has(&self, key_id: &str) -> bool {
        match &self.0 {
            Source::Embedded(embedded) => embedded.ring().is_ok_and(|ring| ring.knows(key_id)),
            Source::Remote(remote) => {
                remote.cached().is_none_or(|cached| cached.ring.knows(key_id))
            }
        }
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Embedded(_) => formatter.write_str("KeySource(embedded)"),
            Source::Remote(remote) => write!(formatter, "KeySource({})", remote.url),
        }
    }
}

impl Embedded {
    /// The parsed document; parsed again only when its text has changed.
    fn ring(&self) -> Result<Arc<KeyRing>, KeysUnavailable> {
        let document = (self.document)();
        let parsed = self.parsed.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((text, ring)) = parsed
            && text == document
        {
            return Ok(ring);
        }
        let ring = KeyRing::parse(document.as_json().as_bytes())
            .map(Arc::new)
            .inspect_err(|error| tracing::error!(%error, "our own key set cannot be read"))
            .map_err(|_| KeysUnavailable)?;
        *self.parsed.write().unwrap_or_else(PoisonError::into_inner) =
            Some((document, Arc::clone(&ring)));
        Ok(ring)
    }
}

impl Remote {
    async fn ring_for(
        self: Arc<Self>,
        key_id: &str,
        clock: &Clock,
    ) -> Result<Arc<KeyRing>, KeysUnavailable> {
        if self.occasion(key_id, clock.now()).is_some() {
            let (remote, key_id, clock) = (Arc::clone(&self), key_id.to_owned(), clock.clone());
            // In a task of its own: a client that hangs up must not undo the fetch
            // that others wait for.
            let fetch = tokio::spawn(async move {
                let _turn = remote.fetching.lock().await;
                if let Some(occasion) = remote.occasion(&key_id, clock.now()) {
                    remote.refresh(occasion, &clock).await;
                }
            });
            if let Err(error) = fetch.await {
                tracing::error!(%error, "the fetch of the key set broke off");
            }
        }
        let now = clock.now();
        self.cached()
            .filter(|cached| now < cached.fresh_until + STALE_FOR)
            .map(|cached| cached.ring)
            .ok_or(KeysUnavailable)
    }

    fn cached(&self) -> Option<Cached> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).keys.clone()
    }

    /// Why to fetch for a token with this `kid`, if at all.
    fn occasion(&self, key_id: &str, now: UnixTime) -> Option<Occasion> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let (occasion, last, pause) = match &state.keys {
            Some(cached) if now < cached.fresh_until => {
                if cached.ring.knows(key_id) {
                    return None;
                }
                (Occasion::Search, state.last_search, UNKNOWN_KEY_PAUSE)
            }
            _ => (Occasion::Renewal, state.last_attempt, FAILURE_PAUSE),
        };
        // A last time in the future means that the clock was set back since.
        let is_due = last.is_none_or(|last| now < last || now.since(last) >= pause);
        is_due.then_some(occasion)
    }

    async fn refresh(&self, occasion: Occasion, clock: &Clock) {
        let outcome = self.fetch().await;
        let now = clock.now();
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.last_attempt = Some(now);
        if occasion == Occasion::Search {
            state.last_search = Some(now);
        }
        match outcome {
            Ok((ring, lifetime)) => {
                state.keys = Some(Cached { ring: Arc::new(ring), fresh_until: now + lifetime });
            }
            Err(error) => tracing::error!(
                url = %self.url, %error,
                "the issuer's key set cannot be fetched; tokens cannot be verified without it"
            ),
        }
    }

    async fn fetch(&self) -> Result<(KeyRing, Duration), FetchError> {
        let mut response = self.client.get(self.url.clone()).send().await?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(FetchError::Status(response.status()));
        }
        let cache_control = response.headers().get(CACHE_CONTROL);
        let lifetime = freshness::lifetime(cache_control.and_then(|value| value.to_str().ok()));
        let mut document = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if document.len() + chunk.len() > MAX_DOCUMENT_BYTES {
                return Err(FetchError::TooLarge);
            }
            document.extend_from_slice(&chunk);
        }
        let ring = KeyRing::parse(&document).map_err(|_| FetchError::NotAKeySet)?;
        if ring.is_empty() { Err(FetchError::NotAKeySet) } else { Ok((ring, lifetime)) }
    }
}

#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error("{0}")]
    Http(#[from] reqwest::Error),
    #[error("the answer was {0}")]
    Status(reqwest::StatusCode),
    #[error("the document is larger than {MAX_DOCUMENT_BYTES} bytes")]
    TooLarge,
    #[error("the document holds no usable signature key")]
    NotAKeySet,
}
