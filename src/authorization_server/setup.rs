//! The first run: how users come to their passwords.
//!
//! Either the operator gives the owner's, for unattended installs, or a link is
//! printed for each that works once. There is no default password and no open door: whoever
//! can read the terminal owns the server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::device::DeviceId;
use crate::authorization_server::password::{NewPassword, NotVerified, Password, UnfitPassword};
use crate::authorization_server::sign_in::SignedIn;
use crate::authorization_server::store::StoreError;
use crate::authorization_server::store::users::User;

/// The name of the user in the single-owner form.
pub const OWNER: &str = "owner";

/// A link by which somebody chooses a password. It works once, and until the next
/// start.
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

/// The digests of the secrets in the links, with whose they are, as long as they are
/// good. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct SetupSecrets(Arc<Mutex<Vec<SetupSecret>>>);

struct SetupSecret {
    digest: [u8; 32],
    user: String,
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
                self.make_user(user, NewPassword::given_by_operator(given)?).await?;
                continue;
            }
            let secret = self.entropy().secret();
            self.browsing().setup.open(&secret, user);
            let url = format!("{}/setup?token={secret}", self.settings().issuer);
            links.push(SetupLink { user: user.clone(), url });
        }
        Ok(links)
    }

    /// Whose link holds this secret.
    ///
    /// # Errors
    ///
    /// [`SetupError::NotTheLink`].
    pub(super) fn check_setup_secret(&self, presented: Option<&str>) -> Result<String, SetupError> {
        self.browsing().setup.check(presented.unwrap_or_default())
    }

    /// Makes the user for whoever holds the link, which is used up by that.
    ///
    /// # Errors
    ///
    /// [`SetupError`]; the link stays good unless it is [`SetupError::NotTheLink`].
    pub(super) async fn set_up(
        &self,
        presented: Option<&str>,
        password: NewPassword,
    ) -> Result<SignedIn, SetupError> {
        let name = self.check_setup_secret(presented)?;
        let user = self.make_user(&name, password).await?;
        self.browsing().setup.close(&name);
        Ok(user)
    }

    async fn make_user(&self, name: &str, password: NewPassword) -> Result<SignedIn, SetupError> {
        let password =
            self.browsing().passwords.hash(password).await.map_err(|error| match error {
                NotVerified::Wrong | NotVerified::Busy => SetupError::Busy,
            })?;
        let device = DeviceId::new(self.entropy());
        let verified = password.clone();
        let signed_in = SignedIn { user: name.to_owned(), verified, device };
        let user = User { name: name.to_owned(), password, created_at: self.clock().now() };
        // Of two browsers with the same link, the one that comes second finds it used.
        let made = self.store().change(move |store| store.add_user(&user)).await?;
        made.map_err(|_exists| SetupError::NotTheLink)?;
        tracing::info!(user = name, "the user was made");
        Ok(signed_in)
    }
}

impl SetupSecrets {
    fn open(&self, secret: &str, user: &str) {
        // The link that was printed last is the only good one.
        self.close(user);
        let digest = Sha256::digest(secret).into();
        self.lock().push(SetupSecret { digest, user: user.to_owned() });
    }

    fn check(&self, presented: &str) -> Result<String, SetupError> {
        let digest: [u8; 32] = Sha256::digest(presented).into();
        let secrets = self.lock();
        let found = secrets.iter().find(|kept| kept.digest.ct_eq(&digest).into());
        found.map(|found| found.user.clone()).ok_or(SetupError::NotTheLink)
    }

    fn close(&self, user: &str) {
        self.lock().retain(|secret| secret.user != user);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SetupSecret>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
