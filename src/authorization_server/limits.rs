//! Who has asked how often lately.
//!
//! What a stranger asks for counts against an address. Whoever has shown to be somebody
//! counts for itself: a browser in which a user has signed in before, a grant whose
//! refresh token is genuine. So no stranger's flood, also not one that comes from the
//! same address or through the same proxy, keeps those out.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use sha2::{Digest as _, Sha256};

use super::client::ClientId;
use super::device::DeviceId;
use super::grant::GrantId;
use super::settings::RequestLimits;
use crate::clock::Clock;
use crate::metrics::{Label as _, Tally, labels};
use crate::peer::Peer;
use crate::rates::{Limiter, PerMinute, Wait};

labels! {
    /// What can stop somebody who asks too often.
    pub(super) enum Limit {
        SignIn = "sign_in",
        Passkey = "passkey",
        Authorize = "authorize",
        Pages = "pages",
        Token = "token",
        Refresh = "refresh",
        WrongSecret = "wrong_secret",
        Register = "register",
        Throttle = "wrong_passwords",
        PasswordQueue = "password_queue",
    }
}

/// Whose allowance a page is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asking {
    /// A browser in which a user has signed in before.
    KnownBrowser(DeviceId),
    /// Anybody at this address.
    Stranger(Peer),
}

/// The allowances of everybody.
pub(crate) struct Limits {
    sign_in: Limiter<Asking>,
    passkey: Limiter<Asking>,
    authorize: Limiter<Asking>,
    pages: Limiter<Asking>,
    token: Limiter<Peer>,
    refresh: Limiter<GrantId>,
    wrong_secret: Limiter<([u8; 32], Peer)>,
    register: Limiter<Peer>,
    told: Limiter<&'static str>,
    refused: Tally<Limit>,
}

impl Limits {
    pub(crate) fn new(limits: &RequestLimits, clock: &Clock) -> Self {
        Self {
            sign_in: Limiter::new(limits.sign_in, clock.clone()),
            passkey: Limiter::new(limits.sign_in, clock.clone()),
            authorize: Limiter::new(limits.authorize, clock.clone()),
            pages: Limiter::new(limits.pages, clock.clone()),
            token: Limiter::new(limits.token, clock.clone()),
            refresh: Limiter::new(limits.refresh, clock.clone()),
            wrong_secret: Limiter::new(limits.wrong_secret, clock.clone()),
            register: Limiter::new(limits.register, clock.clone()),
            told: Limiter::new(PerMinute::new(1), clock.clone()),
            refused: Tally::default(),
        }
    }

    /// Before a password is looked at.
    pub(super) fn sign_in(&self, asking: Asking) -> Result<(), Wait> {
        self.tell(Limit::SignIn, self.sign_in.take_shared(&asking, asking.head_count()))
    }

    /// Before a passkey is looked at. As often as a password, but counted apart: who guesses
    /// passwords keeps no passkey out (checklist section 5.8).
    pub(super) fn passkey(&self, asking: Asking) -> Result<(), Wait> {
        self.tell(Limit::Passkey, self.passkey.take_shared(&asking, asking.head_count()))
    }

    /// Before an authorization request is let wait.
    pub(super) fn authorize(&self, asking: Asking) -> Result<(), Wait> {
        self.tell(Limit::Authorize, self.authorize.take_shared(&asking, asking.head_count()))
    }

    /// Before a page is made.
    pub(super) fn page(&self, asking: Asking) -> Result<(), Wait> {
        self.tell(Limit::Pages, self.pages.take_shared(&asking, asking.head_count()))
    }

    /// Before anything is done for a client that has proved nothing yet.
    pub(super) fn token(&self, peer: Peer) -> Result<(), Wait> {
        self.tell(Limit::Token, self.token.take_shared(&peer, peer.head_count()))
    }

    /// Before a genuine refresh token of this grant is judged. Who has one may be behind
    /// an address that others use up.
    pub(super) fn refresh(&self, grant: GrantId) -> Result<(), Wait> {
        self.tell(Limit::Refresh, self.refresh.take(&grant))
    }

    /// Before a secret or a signature is compared; given back by [`Self::proved`].
    /// Only that client, and only from there: nobody keeps a client out by guessing.
    pub(super) fn wrong_secret(&self, client: &ClientId, peer: Peer) -> Result<(), Wait> {
        let key = (Sha256::digest(client.as_str()).into(), peer);
        self.tell(Limit::WrongSecret, self.wrong_secret.take_shared(&key, peer.head_count()))
    }

    /// After a proof that was right.
    pub(super) fn proved(&self, client: &ClientId, peer: Peer) {
        let key = (Sha256::digest(client.as_str()).into(), peer);
        self.wrong_secret.give_back(&key, peer.head_count());
    }

    /// Before a client is registered. Each one is a write to the disk, so all addresses
    /// together have a limit too (checklist #97).
    pub(super) fn register(&self, peer: Peer) -> Result<(), Wait> {
        if peer.is_known() {
            self.tell(Limit::Register, self.register.take(&peer))?;
        }
        let all = Peer::UNKNOWN;
        self.tell(Limit::Register, self.register.take_shared(&all, all.head_count()))
    }

    /// Tells the operator once a minute that a limit was met. The requests themselves are
    /// logged for who looks closely only: else a flood would fill the disk with its log.
    fn tell(&self, limit: Limit, verdict: Result<(), Wait>) -> Result<(), Wait> {
        if verdict.is_err() {
            self.refused.add(limit);
            let limit = limit.name();
            if self.told.take(&limit).is_ok() {
                tracing::warn!(limit, "asked too often; told once a minute");
            }
        }
        verdict
    }

    /// Who was refused so far, by the limit that was met. The bounds on passwords are
    /// elsewhere, and counted here with the others.
    pub(super) const fn refused(&self) -> &Tally<Limit> {
        &self.refused
    }
}

impl Asking {
    const fn head_count(self) -> u32 {
        match self {
            Self::KnownBrowser(_) => 1,
            Self::Stranger(peer) => peer.head_count(),
        }
    }
}

/// What the application found out; [`Peer::UNKNOWN`] where there is no application.
impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or(Self::UNKNOWN))
    }
}
