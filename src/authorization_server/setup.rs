//! How users come to their passwords: at the first run, and when one is lost.
//!
//! Either the operator gives it, or a link that works once. There is no default password
//! and no open door: whoever can read the terminal owns the server.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::audit::{Actor, Event, What};
use crate::authorization_server::device::DeviceId;
use crate::authorization_server::password::{
    AlsoEnds, NewPassword, NotVerified, Password, UnfitPassword,
};
use crate::authorization_server::sign_in::SignedIn;
use crate::authorization_server::store::StoreError;
use crate::authorization_server::store::setup_links::{SetupDigest, StoredLink};
use crate::authorization_server::store::users::User;
use crate::clock::UnixTime;

/// The name of the user in the single-owner form.
pub const OWNER: &str = "owner";

/// How long a link works that the owner has asked for.
const LINK_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// A link by which somebody chooses a password. It works once; the one that is printed
/// at a start works until the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupLink {
    /// Whose password it is.
    pub user: String,
    /// The link.
    pub url: String,
}

/// Why a user could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The password in the settings, or in the form.
    #[error(transparent)]
    Unfit(#[from] UnfitPassword),
    /// The link is not the one that was printed last, or has been used.
    #[error("the setup link is not valid")]
    NotTheLink,
    /// Too much work at once.
    #[error("too many passwords are being hashed")]
    Busy,
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AuthorizationServer {
    /// Sees to it that every user of the settings has a password or a way to one.
    /// `password` is for the first of them, for unattended installs; the others, and
    /// the first without it, get a link. Called once at the start.
    ///
    /// # Errors
    ///
    /// [`SetupError`].
    pub async fn first_run(
        &self,
        password: Option<Password>,
    ) -> Result<Vec<SetupLink>, SetupError> {
        let mut password = password;
        let mut links = Vec::new();
        for user in &self.settings().users {
            let name = user.clone();
            let exists = self.store().read(move |store| Ok(store.user(&name)?.is_some())).await?;
            let given = password.take();
            if exists {
                continue;
            }
            if let Some(given) = given {
                let user = self.user_with(user, NewPassword::given_by_operator(given)?).await?;
                self.keep_password(user, AlsoEnds::default()).await?;
                continue;
            }
            links.push(self.open_link(user, None).await?);
        }
        Ok(links)
    }

    /// Makes a link for a user who has lost the password, or has none. It works for a day;
    /// an older one does not work any more.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn new_setup_link(&self, user: &str) -> Result<SetupLink, StoreError> {
        let now = self.clock().now();
        let link = self.open_link(user, Some(now + LINK_LIFETIME)).await?;
        let event = Event::new(now, Actor::Operator, What::SetupLinkMade).of_user(user);
        self.store().change(move |store| store.note(&event)).await?;
        tracing::warn!(user, "a setup link was made at the terminal");
        Ok(link)
    }

    async fn open_link(
        &self,
        user: &str,
        expires_at: Option<UnixTime>,
    ) -> Result<SetupLink, StoreError> {
        let secret = self.entropy().secret();
        let (name, link) = (user.to_owned(), StoredLink { digest: digest(&secret), expires_at });
        self.store().change(move |store| store.keep_setup_link(&name, &link)).await?;
        let url = format!("{}/setup?token={secret}", self.settings().issuer);
        Ok(SetupLink { user: user.to_owned(), url })
    }

    /// Whose link holds this secret.
    ///
    /// # Errors
    ///
    /// [`SetupError::NotTheLink`].
    pub(super) async fn check_setup_secret(
        &self,
        presented: Option<&str>,
    ) -> Result<String, SetupError> {
        let (digest, now) = (digest(presented.unwrap_or_default()), self.clock().now());
        let user = self.store().read(move |store| store.user_of_setup_link(digest, now)).await?;
        user.filter(|user| self.settings().has_user(user)).ok_or(SetupError::NotTheLink)
    }

    /// Gives the user of the link this password. The link is used up by that, every
    /// browser in which the user was signed in is signed out, and what `also` names ends.
    ///
    /// # Errors
    ///
    /// [`SetupError`]; the link stays good unless it is [`SetupError::NotTheLink`].
    pub(super) async fn set_up(
        &self,
        presented: Option<&str>,
        password: NewPassword,
        also: AlsoEnds,
    ) -> Result<SignedIn, SetupError> {
        let name = self.check_setup_secret(presented).await?;
        let digest = digest(presented.unwrap_or_default());
        let user = self.user_with(&name, password).await?;
        let device = DeviceId::new(self.entropy());
        let verified = user.password.clone();
        let signed_in = SignedIn { user: name.clone(), verified, passkey: None, device };
        // Of two browsers with the same link, the one that comes second finds it used.
        let change = self.store().change(move |store| {
            let done = store.use_setup_link(digest, &user, also)?;
            if done {
                let event = Event::new(user.created_at, Actor::User, What::PasswordChanged);
                store.note(&event.of_user(&user.name))?;
            }
            Ok(done)
        });
        if !change.await? {
            return Err(SetupError::NotTheLink);
        }
        tracing::info!(user = name, "the user chose a password by a link");
        Ok(signed_in)
    }

    /// Gives a user another password, at the wish of whoever sits at the terminal.
    ///
    /// # Errors
    ///
    /// [`SetupError`]
    pub(super) async fn set_password(
        &self,
        name: &str,
        password: NewPassword,
        also: AlsoEnds,
    ) -> Result<(), SetupError> {
        let user = self.user_with(name, password).await?;
        self.keep_password(user, also).await?;
        tracing::warn!(user = name, "the password was set at the terminal");
        Ok(())
    }

    async fn keep_password(&self, user: User, also: AlsoEnds) -> Result<(), StoreError> {
        let event = Event::new(user.created_at, Actor::Operator, What::PasswordChanged);
        let event = event.of_user(&user.name);
        let change = self.store().change(move |store| {
            store.note(&event)?;
            store.give_password(&user, also)
        });
        change.await
    }

    async fn user_with(&self, name: &str, password: NewPassword) -> Result<User, SetupError> {
        let hashed = self.browsing().passwords.hash(password).await;
        let password = hashed.map_err(|error| match error {
            NotVerified::Wrong | NotVerified::Busy => SetupError::Busy,
        })?;
        Ok(User { name: name.to_owned(), password, created_at: self.clock().now() })
    }
}

fn digest(secret: &str) -> SetupDigest {
    Sha256::digest(secret).into()
}
