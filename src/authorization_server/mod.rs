//! The authorization server: knows users, clients, grants and keys, and nothing
//! of pages.
//!
//! ```text
//!  registration ─► RegisteredClient ─► AuthorizationRequest ─► ApprovedAuthorization
//!                                                                  │ issue_code
//!  TokenAnswer ◄─ issuance ◄─ Grant (terms, refresh token family) ◄─ IssuedCode
//! ```
//!
//! What decides is pure: `code` and `family` judge a presented code or refresh token
//! by what is stored and the time. `store` makes the verdict so, on the disk before
//! the client hears of it. `endpoints` translates.

mod account;
pub mod administration;
mod answered;
mod assertion;
pub mod audit;
pub mod authorization;
pub mod backup;
mod body;
mod browsing;
pub mod client;
mod client_authentication;
mod client_document;
mod client_metadata;
mod client_rules;
mod code;
mod data_directory;
mod device;
mod endpoints;
mod error;
mod family;
mod figures;
mod form;
mod grant;
mod issuance;
mod last_uses;
mod limits;
mod liveness;
mod own_page;
mod page_error;
mod pages;
mod parameters;
mod passkey;
mod passkeys;
pub mod password;
mod pending;
pub mod pkce;
pub mod redirect_uri;
mod refresh_token;
mod registration;
mod request;
mod secrets;
mod session;
mod settings;
mod setup;
mod sign_in;
mod signing_key;
mod store;
#[cfg(test)]
pub(crate) mod testing;
mod throttle;
mod token;

use std::path::Path;
use std::sync::Arc;

use axum::Router;

use self::assertion::UsedAssertions;
use self::audit::{Actor, Event, What};
use self::authorization::ApprovedAuthorization;
use self::browsing::Browsing;
use self::client::{ClientId, RegisteredClient};
use self::client_document::{ClientDocuments, Web};
pub use self::client_rules::{ClientRules, Registration};
use self::code::{CodeDigest, IssuedCode};
use self::data_directory::DataDirectory;
use self::device::DeviceKey;
use self::figures::Happening;
use self::last_uses::LastUses;
use self::limits::Limits;
use self::passkeys::Passkeys;
use self::refresh_token::RefreshTokenKeys;
use self::secrets::MasterSecret;
use self::session::is_over;
pub use self::settings::{Lifetimes, RequestLimits, Settings};
pub use self::setup::{OWNER, SetupError, SetupLink};
use self::signing_key::SigningKeys;
use self::store::Store;
pub use self::store::{OpenError, StoreError};
use crate::clock::Clock;
use crate::contract::key_set::PublicKeySet;
use crate::contract::liveness::GrantLiveness;
use crate::contract::resource::ResourceUri;
use crate::entropy::Entropy;
use crate::metrics::Tally;

/// What is left of the pages while a foreign issuer is trusted and nobody signs in here:
/// the one that tells visitors what this address is.
pub fn page_for_visitors(resource: &ResourceUri) -> Router {
    endpoints::front::routes(resource, None)
}

/// A handle to the authorization server. Cheap to clone.
#[derive(Clone)]
pub struct AuthorizationServer(Arc<Inner>);

struct Inner {
    settings: Settings,
    clock: Clock,
    entropy: Entropy,
    signing_keys: SigningKeys,
    refresh_token_keys: RefreshTokenKeys,
    store: Store,
    browsing: Browsing,
    client_documents: ClientDocuments,
    used_assertions: UsedAssertions,
    last_uses: LastUses,
    limits: Limits,
    device_key: DeviceKey,
    happened: Arc<Tally<Happening>>,
    passkeys: Option<Passkeys>,
}

impl AuthorizationServer {
    /// Opens the server's data directory, and makes it and the keys if they are not
    /// there. Blocks for some milliseconds: call it before serving.
    ///
    /// # Errors
    ///
    /// [`OpenError`], whose text says what to do.
    pub fn open(settings: Settings, clock: Clock, entropy: Entropy) -> Result<Self, OpenError> {
        let web = Web::public(settings.clients.private_hosts.clone())?;
        Self::open_on(web, settings, clock, entropy)
    }

    /// The same, with clients' documents from there.
    fn open_on(
        web: Web,
        settings: Settings,
        clock: Clock,
        entropy: Entropy,
    ) -> Result<Self, OpenError> {
        if !settings.issuer.is_bare_origin() {
            return Err(OpenError::IssuerNotAnOrigin(settings.issuer.to_string()));
        }
        let home = Arc::new(DataDirectory::claim(&settings.data_dir)?);
        if home.is_restoring()? {
            return Err(OpenError::RestoreUnfinished(home.path().to_owned()));
        }
        let master = MasterSecret::load(&home, &entropy)?;
        let policy = settings.key_policy();
        let keys = SigningKeys::load(Arc::clone(&home), &master, &entropy, clock.now(), policy)?;
        let refresh_token_keys = RefreshTokenKeys::derive(&master);
        let device_key = DeviceKey::derive(&master);
        let limits = Limits::new(&settings.limits, &clock);
        let happened = Arc::default();
        let store = Store::open(home, Arc::clone(&happened), clock.now())?;
        let browsing = Browsing::new(&settings, &clock, &entropy);
        let passkeys = Passkeys::of(&settings.issuer, &clock, &entropy);
        let client_documents = ClientDocuments::new(web, clock.clone());
        Ok(Self(Arc::new(Inner {
            settings,
            clock,
            entropy,
            signing_keys: keys,
            refresh_token_keys,
            store,
            browsing,
            client_documents,
            used_assertions: UsedAssertions::default(),
            last_uses: LastUses::default(),
            limits,
            device_key,
            happened,
            passkeys,
        })))
    }

    /// Whether a server has ever kept its data there.
    #[must_use]
    pub fn was_set_up(data_dir: &Path) -> bool {
        DataDirectory::is_initialized_at(data_dir)
    }

    /// Where the server keeps its data.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.settings().data_dir
    }

    /// Everything that the server answers, pages and endpoints.
    pub fn router(&self) -> Router {
        let Settings { resource, issuer, .. } = self.settings();
        endpoints::pages(self)
            .merge(endpoints::machine::routes())
            .with_state(self.clone())
            .merge(endpoints::front::routes(resource, Some(issuer)))
    }

    /// The public halves of the signing keys, for the resource server.
    #[must_use]
    pub fn public_key_set(&self) -> PublicKeySet {
        self.signing_keys().public_key_set()
    }

    /// Tells the resource server which grants are alive.
    #[must_use]
    pub fn liveness(&self) -> Arc<dyn GrantLiveness> {
        Arc::new(self.clone())
    }

    /// Forgets what has long expired, in the store and in memory. Called every hour.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(crate) async fn sweep(&self) -> Result<(), StoreError> {
        let now = self.clock().now();
        let browsing = self.browsing();
        browsing.pending.sweep();
        browsing.throttle.sweep();
        browsing.notices.sweep(now);
        self.0.used_assertions.sweep(now);
        let policy = self.settings().refresh_policy();
        let (clients, lifetimes) = (self.settings().client_policy(), self.settings().lifetimes);
        let is_waiting = self.is_waiting();
        let swept = self.store().change(move |store| {
            store.forget_codes(now)?;
            store.forget_events(now)?;
            store.sweep_sessions(|session| is_over(session, &lifetimes, now))?;
            store.forget_grants(policy, now, lifetimes.inactive_client)?;
            // After the grants, which keep them.
            store.forget_clients(now, clients, is_waiting)?;
            store.forget_choices()
        });
        swept.await?;
        self.0.last_uses.forget_unless(|id| self.store().look_at_grant(*id, |_| ()).is_some());
        Ok(())
    }

    /// Whether a user is just deciding about a client.
    pub(crate) fn is_waiting(&self) -> impl Fn(&ClientId) -> bool + Send + 'static {
        let pending = self.browsing().pending.clone();
        move |client| pending.waits_for(client)
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
        let (user, client) = (approved.subject().to_owned(), approved.request().client.clone());
        let what = What::Allowed { scopes: approved.approval().scopes };
        let event = Event::new(now, Actor::User, what).of_user(&user).of_client(&client.id);
        self.store()
            .change(move |store| {
                store.note_approval(&user, &client, now)?;
                store.note(&event)?;
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

    pub(crate) fn signing_keys(&self) -> &SigningKeys {
        &self.0.signing_keys
    }

    pub(crate) fn refresh_token_keys(&self) -> &RefreshTokenKeys {
        &self.0.refresh_token_keys
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    fn device_key(&self) -> &DeviceKey {
        &self.0.device_key
    }

    /// How passkeys are judged; nothing where there can be none.
    fn passkeys(&self) -> Option<&Passkeys> {
        self.0.passkeys.as_ref()
    }

    fn client_documents(&self) -> &ClientDocuments {
        &self.0.client_documents
    }

    fn browsing(&self) -> &Browsing {
        &self.0.browsing
    }
}
