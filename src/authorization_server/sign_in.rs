//! Signing in: from a name and a password to [`SignedIn`].

use crate::authorization_server::AuthorizationServer;
use crate::authorization_server::audit::{Actor, Event, What};
use crate::authorization_server::device::DeviceId;
use crate::authorization_server::endpoints::log::about_user;
use crate::authorization_server::limits::{Asking, Limit};
use crate::authorization_server::password::{NotVerified, Password, PasswordHash, Queue};
use crate::authorization_server::session::Visitor;
use crate::authorization_server::store::passkeys::PasskeyUse;
use crate::authorization_server::store::{Store, StoreError};
use crate::peer::Peer;
use crate::rates::Wait;

/// Proof that a user has just shown the password or a passkey. It starts one session,
/// unless the password was changed meanwhile, or the passkey removed: verifying takes a
/// moment, and whoever knew the old one must not come in behind the change.
#[derive(Debug)]
pub(super) struct SignedIn {
    pub(super) user: String,
    /// What the password was compared with, or would have been.
    pub(super) verified: PasswordHash,
    /// What was shown instead of it.
    pub(super) passkey: Option<PasskeyUse>,
    /// As what the browser is known again.
    pub(super) device: DeviceId,
}

/// Why nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub(super) enum SignInError {
    /// Wrong password, or no such user.
    #[error("user name and password do not belong together")]
    Wrong,
    /// Too many wrong tries for this name; none is judged until the wait is over.
    #[error("too many tries: {0}")]
    Wait(#[from] Wait),
    /// Too many sign-ins at once.
    #[error("too many passwords are waiting to be checked")]
    Busy,
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AuthorizationServer {
    /// Checks a name and a password that come from a browser at an address.
    ///
    /// # Errors
    ///
    /// [`SignInError`]. An unknown name takes as long as a wrong password and gives
    /// the same answer.
    pub(super) async fn sign_in(
        &self,
        name: &str,
        password: Password,
        (visitor, peer): (&Visitor, Peer),
    ) -> Result<SignedIn, SignInError> {
        let browsing = self.browsing();
        let asked = self.settings().has_user(name).then(|| name.to_owned());
        let find = move |store: &Store| asked.map_or(Ok(None), |asked| store.user(&asked));
        let user = self.store().read(find).await?;
        let kept = user.as_ref().map(|user| &user.password);
        let device = visitor.device().zip(kept).and_then(|(presented, password)| {
            self.device_key().recognise(presented, name, password)
        });
        let (asking, queue) = match device {
            Some(device) => (Asking::KnownBrowser(device), Queue::Known),
            None => (Asking::Stranger(peer), Queue::Strangers),
        };
        self.limits().sign_in(asking)?;
        let throttled = browsing.throttle.begin(name, asking);
        throttled.inspect_err(|_| self.limits().refused().add(Limit::Throttle))?;
        match browsing.passwords.verify(password, kept, queue).await {
            Ok(()) => {
                browsing.throttle.forget(name, asking);
                about_user(name);
                let verified = user.map(|user| user.password).ok_or(SignInError::Wrong)?;
                let device = device.unwrap_or_else(|| DeviceId::new(self.entropy()));
                Ok(SignedIn { user: name.to_owned(), verified, passkey: None, device })
            }
            Err(NotVerified::Wrong) => {
                let event = Event::new(self.clock().now(), Actor::Stranger, What::SignInFailed);
                let is_known = self.settings().has_user(name);
                let event = if is_known { event.of_user(name) } else { event };
                // Not worth a sync of the disk: nobody is told anything by it.
                self.store().read(move |store| store.note(&event)).await?;
                Err(SignInError::Wrong)
            }
            Err(NotVerified::Busy) => {
                browsing.throttle.take_back(name, asking);
                self.limits().refused().add(Limit::PasswordQueue);
                Err(SignInError::Busy)
            }
        }
    }
}
