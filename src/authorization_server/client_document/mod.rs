//! Client ID Metadata Documents: clients that publish what they are at a URL, which is
//! also their name (draft-ietf-oauth-client-id-metadata-document, "CIMD").
//!
//! ```text
//!  client_id ─► DocumentUrl ─► Documents (fresh? back-off? budget?) ─► Web ─► document ─► client
//! ```
//!
//! Anybody can make us fetch by sending a browser to `/authorize`. So one URL is fetched
//! once at a time and seldom, failures are remembered for a while, and what is fetched
//! stays in memory. A client comes into the store when a user has approved it.

mod address;
mod budget;
mod document;
mod fetch;
#[cfg(test)]
pub(super) mod hostile;
mod kept;
#[cfg(test)]
mod tests;
pub(super) mod url;

use std::sync::Arc;

pub(crate) use self::fetch::{FetchError, Web};
use self::kept::{Documents, Interest, Shared};
use self::url::{DocumentUrl, InvalidDocumentUrl};
use super::AuthorizationServer;
use super::audit::{Actor, Event, What};
use super::client::{ClientId, ClientKeys, RegisteredClient};
use super::client_metadata::InvalidMetadata;
use super::figures::DocumentFetch;
use super::grant::{EndReason, Grant, Terms};
use super::request::LocalFault;
use super::store::StoreError;
use crate::clock::Clock;
use crate::jose::key_ring::KeyRing;
use crate::metrics::Tally;

/// Why there is no client of a name that is a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DocumentError {
    #[error("the client_id is no address of a metadata document: {0}")]
    Url(#[from] InvalidDocumentUrl),
    #[error("the client's metadata document could not be fetched: {0}")]
    Fetch(#[from] FetchError),
    #[error("the client's metadata document is not in order: {0}")]
    Content(#[from] InvalidMetadata),
    #[error("too many clients' metadata documents are being fetched; try again in a minute")]
    Busy,
}

impl DocumentError {
    /// Whether the host says that there is no such client any more.
    const fn is_withdrawal(self) -> bool {
        matches!(self, Self::Fetch(FetchError::Status(404 | 410)))
    }

    /// Whether nothing was heard of the host, or nothing that it meant.
    pub(super) const fn is_outage(self) -> bool {
        use FetchError::{Connection, NotFound, Status, TooSlow};
        matches!(
            self,
            Self::Busy | Self::Fetch(NotFound | TooSlow | Connection | Status(429 | 500..=599))
        )
    }

    /// What a page may say: not how far the connection came, for the host may be one of
    /// the operator's own network, and the reader anybody.
    pub(super) fn on_a_page(self) -> String {
        use FetchError::{Connection, NotFound, NotPublic, TooSlow};
        match self {
            Self::Fetch(NotPublic | NotFound | Connection | TooSlow) => {
                "the client's metadata document could not be fetched".to_owned()
            }
            told => told.to_string(),
        }
    }
}

/// Why there is nobody to ask for.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoClient {
    /// Told on a page of ours.
    #[error(transparent)]
    Fault(#[from] LocalFault),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The documents that are known at the moment. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ClientDocuments {
    clients: Documents<Arc<RegisteredClient>>,
    keys: Documents<Arc<KeyRing>>,
    shared: Arc<Shared>,
}

/// The longest key set of a client that is read, in bytes.
const MAX_KEY_SET_BYTES: usize = 64 * 1024;

impl ClientDocuments {
    pub(crate) fn new(web: Web, clock: Clock) -> Self {
        let shared = Arc::<Shared>::default();
        let clients = Documents::new(
            web.clone(),
            clock.clone(),
            Arc::clone(&shared),
            document::MAX_BYTES,
            |bytes, url, now| Ok(Arc::new(document::read(bytes, url, now)?)),
        );
        let read_keys = |bytes: &[u8], _: &DocumentUrl, _| {
            let ring = KeyRing::parse(bytes).ok().filter(|ring| !ring.is_empty());
            Ok(Arc::new(ring.ok_or(InvalidMetadata::Field("jwks_uri has no usable key"))?))
        };
        let keys = Documents::new(web, clock, Arc::clone(&shared), MAX_KEY_SET_BYTES, read_keys);
        Self { clients, keys, shared }
    }

    /// What came of all fetches so far.
    pub(super) fn outcomes(&self) -> &Tally<DocumentFetch> {
        &self.shared.outcomes
    }

    /// The client that the document at this URL describes now.
    async fn client(
        &self,
        url: &DocumentUrl,
        interest: Interest,
    ) -> Result<Arc<RegisteredClient>, DocumentError> {
        self.clients.current(url, interest).await
    }

    /// The keys of an approved client, among them one named `key_id` if there is one.
    ///
    /// # Errors
    ///
    /// [`DocumentError`] if none are to be had, not even older ones.
    pub(crate) async fn keys(
        &self,
        keys: &ClientKeys,
        key_id: &str,
    ) -> Result<Arc<KeyRing>, DocumentError> {
        let url = match keys {
            ClientKeys::Inline(set) => {
                let ring = KeyRing::parse(set.as_bytes());
                let broken = InvalidMetadata::Field("jwks is not a key set");
                return Ok(Arc::new(ring.map_err(|_| broken)?));
            }
            ClientKeys::Url(text) => DocumentUrl::parse(text)?,
        };
        let ring = self.keys.current_or_last(&url, Interest::Approved).await?;
        if ring.knows(key_id) {
            return Ok(ring);
        }
        // A client that has just changed its keys. Not oftener than once a minute.
        self.keys.look_again(&url);
        self.keys.current_or_last(&url, Interest::Approved).await
    }
}

impl AuthorizationServer {
    /// The client that an authorization request names, as it describes itself now.
    ///
    /// # Errors
    ///
    /// [`NoClient`]
    pub(super) async fn client_to_ask_for(
        &self,
        id: ClientId,
    ) -> Result<RegisteredClient, NoClient> {
        if !DocumentUrl::is_meant_by(id.as_str()) {
            return Ok(self.client(id).await?.ok_or(LocalFault::UnknownClient)?);
        }
        if !self.settings().clients.documents {
            return Err(LocalFault::DocumentsOff.into());
        }
        let url = DocumentUrl::parse(id.as_str()).map_err(DocumentError::from);
        let url = url.map_err(LocalFault::Document)?;
        // Whatever can be had at our own address is no client's word about itself.
        if self.is_own(&url) {
            return Err(LocalFault::OwnAddress.into());
        }
        if !self.settings().clients.allows_document_of(url.host()) {
            return Err(LocalFault::ClientNotAllowed.into());
        }
        let is_approved = self.client(id.clone()).await?.is_some();
        let interest = if is_approved { Interest::Approved } else { Interest::Stranger };
        match self.client_documents().client(&url, interest).await {
            // Nor are our own keys the keys of a client.
            Ok(client) => match client.authentication.keys() {
                Some(ClientKeys::Url(text))
                    if DocumentUrl::parse(text).is_ok_and(|keys| self.is_own(&keys)) =>
                {
                    Err(LocalFault::OwnAddress.into())
                }
                _ => Ok(RegisteredClient::clone(&client)),
            },
            Err(error) => {
                // The host no longer stands by its client (oauth-clients B27). After any
                // other failure the grants that there are go on (checklist #118).
                if is_approved && self.client_documents().clients.is_gone(&url) {
                    self.end_grants_of(id, EndReason::ClientWithdrawn).await?;
                }
                Err(LocalFault::Document(error).into())
            }
        }
    }

    /// Whether a URL is one of this server.
    fn is_own(&self, url: &DocumentUrl) -> bool {
        let own = [self.settings().issuer.as_str(), self.settings().resource.as_str()];
        own.iter().any(|own| url.is_at_the_origin_of(own))
    }

    /// Where the keys of an approved client are now: its document may hold new ones, or
    /// name another place.
    pub(crate) async fn current_keys(
        &self,
        client: &RegisteredClient,
        approved: &ClientKeys,
    ) -> ClientKeys {
        if let Ok(url) = DocumentUrl::parse(client.id.as_str())
            && let Ok(current) = self.client_documents().client(&url, Interest::Approved).await
            && let Some(keys) = current.authentication.keys()
        {
            return keys.clone();
        }
        approved.clone()
    }

    /// Whether a client with a document was approved before by this user as another one,
    /// its name apart (checklist #117).
    pub(crate) async fn has_changed_since_approval(
        &self,
        user: &str,
        client: &RegisteredClient,
    ) -> Result<bool, StoreError> {
        if client.document_host().is_none() {
            return Ok(false);
        }
        let (user, id) = (user.to_owned(), client.id.clone());
        let approved = self.store().read(move |store| store.approved_character(&user, &id));
        Ok(approved.await?.is_some_and(|approved| approved != client.character()))
    }

    async fn end_grants_of(&self, client: ClientId, reason: EndReason) -> Result<(), StoreError> {
        let now = self.clock().now();
        let is_alive = |grant: &Grant| grant.terms.client == client && grant.ended.is_none();
        if self.store().grants_where(is_alive).is_empty() {
            // Asked by anybody, and not worth a sync of the disk.
            return Ok(());
        }
        let ended = self
            .store()
            .change({
                let client = client.clone();
                move |store| {
                    let is_meant = |terms: &Terms| terms.client == client;
                    let ended = store.end_access_where(is_meant, now, reason)?;
                    let event = Event::new(now, Actor::Server, What::Ended { reason });
                    store.note(&event.of_client(&client))?;
                    Ok(ended)
                }
            })
            .await?;
        if ended > 0 {
            tracing::warn!(%client, ended, "the client withdrew its document; its grants are ended");
        }
        Ok(())
    }
}
