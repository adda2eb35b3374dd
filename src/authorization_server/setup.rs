//! The first run: who becomes the owner.
//!
//! Either the operator gives a password, for unattended installs, or a link is
//! printed that works once. There is no default password and no open door: whoever
//! can read the terminal owns the server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::password::{NewPassword, NotVerified, Password, UnfitPassword};
use crate::authorization_server::sign_in::SignedIn;
use crate::authorization_server::store::users::User;
use crate::authorization_server::store::{Store, StoreError};

/// The name of the user in the single-owner form.
pub const OWNER: &str = "owner";

/// What the first run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstRun {
    /// There is an owner already.
    Ready,
    /// The owner was made with the password from the settings.
    OwnerMade,
    /// Somebody has to open this link and choose a password. It works once, and until
    /// the next start.
    OpenThisLink(String),
}

/// Why the owner could not be made.
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

/// The digest of the secret in the link, as long as it is good. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct SetupSecret(Arc<Mutex<Option<[u8; 32]>>>);

impl AuthorizationServer {
    /// Makes the owner, if there is none and `password` is given; else makes the link
    /// by which somebody becomes the owner. Called once at the start.
    ///
    /// # Errors
    ///
    /// [`SetupError`].
    pub async fn first_run(&self, password: Option<Password>) -> Result<FirstRun, SetupError> {
        if !self.store().read(Store::user_names).await?.is_empty() {
            return Ok(FirstRun::Ready);
        }
        if let Some(password) = password {
            self.make_owner(NewPassword::check(password)?).await?;
            return Ok(FirstRun::OwnerMade);
        }
        let secret = self.entropy().secret();
        self.browsing().setup.open(&secret);
        Ok(FirstRun::OpenThisLink(format!("{}/setup?token={secret}", self.settings().issuer)))
    }

    /// Whether this is the secret of the link.
    ///
    /// # Errors
    ///
    /// [`SetupError::NotTheLink`].
    pub(super) fn check_setup_secret(&self, presented: Option<&str>) -> Result<(), SetupError> {
        self.browsing().setup.check(presented.unwrap_or_default())
    }

    /// Makes the owner for whoever holds the link, which is used up by that.
    ///
    /// # Errors
    ///
    /// [`SetupError`]; the link stays good unless it is [`SetupError::NotTheLink`].
    pub(super) async fn set_up(
        &self,
        presented: Option<&str>,
        password: NewPassword,
    ) -> Result<SignedIn, SetupError> {
        self.check_setup_secret(presented)?;
        let owner = self.make_owner(password).await?;
        self.browsing().setup.close();
        Ok(owner)
    }

    async fn make_owner(&self, password: NewPassword) -> Result<SignedIn, SetupError> {
        let password =
            self.browsing().passwords.hash(password).await.map_err(|error| match error {
                NotVerified::Wrong | NotVerified::Busy => SetupError::Busy,
            })?;
        let user = User { name: OWNER.to_owned(), password, created_at: self.clock().now() };
        // Of two browsers with the same link, the one that comes second finds it used.
        let made = self.store().change(move |store| store.add_user(&user)).await?;
        made.map_err(|_exists| SetupError::NotTheLink)?;
        tracing::info!(user = OWNER, "the owner was made");
        Ok(SignedIn::by_setting_up(OWNER.to_owned()))
    }
}

impl SetupSecret {
    fn open(&self, secret: &str) {
        *self.lock() = Some(Sha256::digest(secret).into());
    }

    fn check(&self, presented: &str) -> Result<(), SetupError> {
        let digest: [u8; 32] = Sha256::digest(presented).into();
        let fits = self.lock().is_some_and(|kept| kept.ct_eq(&digest).into());
        if fits { Ok(()) } else { Err(SetupError::NotTheLink) }
    }

    fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<[u8; 32]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
