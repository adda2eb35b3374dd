//! Passkeys of users: offered, shown, added and removed.

use std::fmt::Write as _;

use super::AuthorizationServer;
use super::audit::{Actor, Event, What};
use super::client_metadata::presentable;
use super::device::DeviceId;
use super::endpoints::log::about_user;
use super::limits::Asking;
use super::passkey::{
    ALGORITHMS, Ceremony, Challenges, NewPasskey, PasskeyFault, PasskeyKey, RelyingParty,
    ShownPasskey, user_handle,
};
use super::session::{FreshOwner, Visitor};
use super::sign_in::SignedIn;
use super::store::passkeys::{Added, PasskeyUse, StoredPasskey};
use super::store::{Store, StoreError};
use crate::clock::Clock;
use crate::contract::issuer::Issuer;
use crate::entropy::Entropy;
use crate::peer::Peer;
use crate::rates::Wait;

/// What it takes to judge passkeys.
pub(super) struct Passkeys {
    party: RelyingParty,
    challenges: Challenges,
}

/// What a page tells its script.
pub(super) struct PasskeyOffer {
    /// The host that it is for.
    pub(super) host: String,
    /// Where the page must be.
    pub(super) origin: String,
    pub(super) challenge: String,
    /// How long there is for it.
    pub(super) milliseconds: u128,
}

/// The same for a new passkey.
pub(super) struct PasskeyWish {
    pub(super) offer: PasskeyOffer,
    pub(super) user_handle: String,
    /// The kinds of keys, separated by spaces.
    pub(super) algorithms: String,
    /// The ids of the passkeys that the user has, separated by spaces.
    pub(super) present: String,
}

/// What a user calls a passkey: one line of letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PasskeyName(String);

/// Why a passkey signed nobody in.
#[derive(Debug, thiserror::Error)]
pub(super) enum PasskeyRefused {
    /// It proves nothing.
    #[error("the passkey proves nothing: {0}")]
    Fault(#[from] PasskeyFault),
    /// There can be none here.
    #[error("there are no passkeys at this address")]
    Impossible,
    /// Too many tries from one place.
    #[error(transparent)]
    Wait(#[from] Wait),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a passkey was not added.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotAdded {
    /// It is no passkey for here.
    #[error("the new passkey is not accepted: {0}")]
    Fault(#[from] PasskeyFault),
    /// There can be none here.
    #[error("there are no passkeys at this address")]
    Impossible,
    /// It is kept already.
    #[error("the passkey is known already")]
    Known,
    /// There are enough.
    #[error("the user has as many passkeys as one may have")]
    TooMany,
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Passkeys {
    /// Nothing where there can be no passkeys.
    pub(super) fn of(issuer: &Issuer, clock: &Clock, entropy: &Entropy) -> Option<Self> {
        let party = RelyingParty::of(issuer)?;
        Some(Self { party, challenges: Challenges::new(clock, entropy) })
    }

    fn offer(&self, ceremony: Ceremony, visitor: &Visitor) -> PasskeyOffer {
        PasskeyOffer {
            host: self.party.id().to_owned(),
            origin: self.party.origin().to_owned(),
            challenge: self.challenges.make(ceremony, visitor.cookie().key()).to_string(),
            milliseconds: Challenges::LIFETIME.as_millis(),
        }
    }

    const fn means(&self) -> (&RelyingParty, &Challenges) {
        (&self.party, &self.challenges)
    }
}

impl PasskeyName {
    /// What was typed, without what cannot be seen; something, if that is nothing.
    pub(super) fn typed(text: &str) -> Self {
        Self(presentable(text).unwrap_or_else(|| "Passkey".to_owned()))
    }
}

impl AuthorizationServer {
    /// Whether there can be passkeys at this address.
    pub(super) fn can_have_passkeys(&self) -> bool {
        self.passkeys().is_some()
    }

    /// What the sign-in page needs to offer passkeys. Nothing if nobody has one: then the
    /// page needs no script.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn offer_passkey(
        &self,
        visitor: &Visitor,
    ) -> Result<Option<PasskeyOffer>, StoreError> {
        let Some(passkeys) = self.passkeys() else { return Ok(None) };
        let are_there = self.store().read(|store| Ok(store.has_passkeys())).await?;
        Ok(are_there.then(|| passkeys.offer(Ceremony::SignIn, visitor)))
    }

    /// What the page needs on which passkeys are added.
    pub(super) fn wish_for_passkey(
        &self,
        user: &str,
        present: &[StoredPasskey],
        visitor: &Visitor,
    ) -> Option<PasskeyWish> {
        let passkeys = self.passkeys()?;
        let mut ids = String::new();
        for passkey in present {
            let _ = write!(ids, "{} ", passkey.id);
        }
        Some(PasskeyWish {
            offer: passkeys.offer(Ceremony::Add, visitor),
            user_handle: user_handle(user).to_string(),
            algorithms: ALGORITHMS.map(|algorithm| algorithm.to_string()).join(" "),
            present: ids,
        })
    }

    /// The passkeys of a user, the oldest first.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn passkeys_of(&self, user: &str) -> Result<Vec<StoredPasskey>, StoreError> {
        let user = user.to_owned();
        self.store().read(move |store| store.passkeys_of(&user)).await
    }

    /// Checks what a browser sends of a passkey. Nobody has said who it is; the passkey
    /// does.
    ///
    /// The wait after wrong passwords does not stop it, nor does a failure here bring one
    /// about: a signature cannot be guessed.
    ///
    /// # Errors
    ///
    /// [`PasskeyRefused`]
    pub(super) async fn sign_in_with_passkey(
        &self,
        json: &str,
        (visitor, peer): (&Visitor, Peer),
    ) -> Result<SignedIn, PasskeyRefused> {
        let known = self.known_browser(visitor.device()).await?;
        self.limits().passkey(known.map_or(Asking::Stranger(peer), Asking::KnownBrowser))?;
        let passkeys = self.passkeys().ok_or(PasskeyRefused::Impossible)?;
        let verified = self.verify_passkey(passkeys, json, visitor).await;
        if let Err(PasskeyRefused::Fault(_)) = verified {
            let what = What::PasskeyRefused;
            let event = Event::new(self.clock().now(), Actor::Stranger, what);
            // Not worth a sync of the disk: nobody is told anything by it.
            self.store().read(move |store| store.note(&event)).await?;
        }
        verified
    }

    async fn verify_passkey(
        &self,
        passkeys: &Passkeys,
        json: &str,
        visitor: &Visitor,
    ) -> Result<SignedIn, PasskeyRefused> {
        let shown = ShownPasskey::read(json, passkeys.means(), visitor.cookie().key())?;
        let key = shown.key();
        let find = move |store: &Store| {
            let Some(kept) = store.passkey(key)? else { return Ok(None) };
            Ok(store.user(&kept.user)?.map(|user| (kept, user)))
        };
        let found = self.store().read(find).await?;
        let found = found.filter(|(_, user)| self.settings().has_user(&user.name));
        let (kept, user) = found.ok_or(PasskeyFault::Unknown)?;
        let counter = shown.verify(&kept, &passkeys.challenges)?;
        about_user(&user.name);
        let device = visitor.device().and_then(|presented| {
            self.device_key().recognise(presented, &user.name, &user.password)
        });
        let at = self.clock().now();
        Ok(SignedIn {
            user: user.name,
            verified: user.password,
            passkey: Some(PasskeyUse { key, name: kept.name, counter, at }),
            device: device.unwrap_or_else(|| DeviceId::new(self.entropy())),
        })
    }

    /// Adds a passkey that was just made in the browser of a user.
    ///
    /// # Errors
    ///
    /// [`NotAdded`]
    pub(super) async fn add_passkey(
        &self,
        owner: &FreshOwner,
        PasskeyName(name): PasskeyName,
        json: &str,
    ) -> Result<(), NotAdded> {
        let passkeys = self.passkeys().ok_or(NotAdded::Impossible)?;
        let made = NewPasskey::read(json, passkeys.means(), owner.cookie().key())?;
        let NewPasskey { id, public_key, counter, can_be_copied } = made;
        let now = self.clock().now();
        let event = Event::new(now, Actor::User, What::PasskeyAdded { name: name.clone() });
        let event = event.of_user(owner.name());
        let passkey = StoredPasskey {
            user: owner.name().to_owned(),
            name,
            id,
            public_key,
            counter,
            can_be_copied,
            added_at: now,
            used_at: None,
        };
        let added = self.store().change(move |store| {
            let added = store.add_passkey(&passkey)?;
            if added == Added::Yes {
                store.note(&event)?;
            }
            Ok(added)
        });
        match added.await? {
            Added::Yes => {}
            Added::Known => return Err(NotAdded::Known),
            Added::TooMany => return Err(NotAdded::TooMany),
        }
        tracing::info!(user = owner.name(), "the user added a passkey");
        Ok(())
    }

    /// Gives a passkey of a user another name. Answers whether there is such a one.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn rename_passkey(
        &self,
        user: &str,
        key: PasskeyKey,
        PasskeyName(name): PasskeyName,
    ) -> Result<bool, StoreError> {
        let user = user.to_owned();
        self.store().change(move |store| store.rename_passkey(&user, key, &name)).await
    }

    /// Removes a passkey of a user: it signs nobody in any more. Answers whether there was
    /// such a one.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn remove_passkey(
        &self,
        user: &str,
        key: PasskeyKey,
    ) -> Result<bool, StoreError> {
        let (now, name) = (self.clock().now(), user.to_owned());
        let removed = self.store().change(move |store| {
            let removed = store.remove_passkey(&name, key)?;
            if let Some(passkey) = &removed {
                let what = What::PasskeyRemoved { name: passkey.name.clone() };
                store.note(&Event::new(now, Actor::User, what).of_user(&name))?;
            }
            Ok(removed.is_some())
        });
        let removed = removed.await?;
        if removed {
            tracing::info!(user, "the user removed a passkey");
        }
        Ok(removed)
    }
}
