//! The authorization server: knows users, clients, grants and keys, and nothing
//! of pages.

pub mod authorization;
mod browsing;
pub mod client;
mod code;
mod endpoints;
pub mod grant;
mod page_error;
mod pages;
mod parameters;
pub mod password;
mod pending;
pub mod pkce;
pub mod redirect_uri;
mod request;
mod session;
mod settings;
pub mod setup;
mod sign_in;
mod store;

use std::sync::Arc;

use axum::Router;

use self::authorization::ApprovedAuthorization;
use self::browsing::Browsing;
use self::client::{ClientId, RegisteredClient};
use self::code::{CodeDigest, IssuedCode};
pub use self::settings::{Lifetimes, Settings};
use self::store::Store;
pub use self::store::{OpenError, StoreError};
use crate::clock::Clock;
use crate::entropy::Entropy;

/// A handle to the authorization server. Cheap to clone.
#[derive(Clone)]
pub struct AuthorizationServer(Arc<Inner>);

struct Inner {
    settings: Settings,
    clock: Clock,
    entropy: Entropy,
    store: Store,
    browsing: Browsing,
}

impl AuthorizationServer {
    /// Opens the server's data directory, and makes it and the keys if they are not
    /// there. Blocks for some milliseconds: call it before serving.
    ///
    /// # Errors
    ///
    /// [`OpenError`], whose text says what to do.
    pub fn open(settings: Settings, clock: Clock, entropy: Entropy) -> Result<Self, OpenError> {
        if !settings.issuer.is_bare_origin() {
            return Err(OpenError::IssuerNotAnOrigin(settings.issuer.to_string()));
        }
        let store = Store::open(&settings.data_dir)?;
        let browsing = Browsing::new(&settings, &clock, &entropy);
        Ok(Self(Arc::new(Inner { settings, clock, entropy, store, browsing })))
    }

    /// Everything that the server answers, pages and endpoints.
    pub fn router(&self) -> Router {
        endpoints::pages().with_state(self.clone())
    }

    /// Turns the user's approval into a code, which the caller hands to the client
    /// and to nobody else.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(crate) async fn issue_code(
        &self,
        approved: ApprovedAuthorization,
    ) -> Result<String, StoreError> {
        let code = self.entropy().secret();
        let digest = CodeDigest::of(&code);
        let now = self.clock().now();
        let settings = self.settings();
        let expires_at = now + settings.lifetimes.code;
        let issued = IssuedCode::new(&approved, settings.resource.as_str(), expires_at);
        self.store()
            .change(move |store| {
                store.note_approval(&issued.terms.client, now)?;
                store.keep_code(digest, &issued)
            })
            .await?;
        Ok(code)
    }

    /// The registered client of that name.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(crate) async fn client(
        &self,
        id: ClientId,
    ) -> Result<Option<RegisteredClient>, StoreError> {
        self.store().read(move |store| store.client(&id)).await
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.0.clock
    }

    pub(crate) fn entropy(&self) -> &Entropy {
        &self.0.entropy
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    fn browsing(&self) -> &Browsing {
        &self.0.browsing
    }
}
