//! Challenges: each for one browser, one ceremony, five minutes and one use.
//!
//! A challenge says by itself when and for whom it was made, under a key of this process;
//! only those that were used are remembered. So nobody who loads the sign-in page often
//! fills the memory, or pushes out the challenge of somebody else.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use subtle::ConstantTimeEq as _;

use super::Base64Url;
use crate::authorization_server::secrets::DigestKey;
use crate::authorization_server::session::SessionKey;
use crate::clock::{Clock, UnixTime};
use crate::entropy::Entropy;

/// What a challenge is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ceremony {
    /// Adding a passkey.
    Add,
    /// Signing in with one.
    SignIn,
}

/// Makes challenges and knows them again.
pub(crate) struct Challenges {
    key: DigestKey,
    clock: Clock,
    entropy: Entropy,
    spent: Mutex<HashMap<Tag, UnixTime>>,
}

/// A challenge of ours that is still good, and that nobody has used yet.
#[derive(Debug)]
pub(super) struct Unspent {
    tag: Tag,
    made_at: UnixTime,
}

/// Why a challenge is not good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChallengeFault {
    #[error("the challenge is none that was made for this browser and this purpose")]
    Foreign,
    #[error("the challenge is too old")]
    Expired,
    #[error("the challenge was used before")]
    Spent,
}

type Tag = [u8; 32];
type Nonce = [u8; 16];

impl Challenges {
    /// How long there is to touch an authenticator.
    pub(crate) const LIFETIME: Duration = Duration::from_secs(5 * 60);

    pub(crate) fn new(clock: &Clock, entropy: &Entropy) -> Self {
        let key = DigestKey::of_this_process(entropy);
        let (clock, entropy) = (clock.clone(), entropy.clone());
        Self { key, clock, entropy, spent: Mutex::default() }
    }

    /// A new one.
    pub(crate) fn make(&self, ceremony: Ceremony, browser: SessionKey) -> Base64Url {
        let (nonce, made_at) = (self.entropy.bytes(), self.clock.now());
        let tag = self.tag(nonce, made_at, ceremony, browser);
        Base64Url([&nonce[..], &made_at.as_seconds().to_be_bytes(), &tag].concat())
    }

    /// Reads one that came back.
    pub(super) fn check(
        &self,
        challenge: &Base64Url,
        ceremony: Ceremony,
        browser: SessionKey,
    ) -> Result<Unspent, ChallengeFault> {
        let unspent = self.read(challenge, ceremony, browser).ok_or(ChallengeFault::Foreign)?;
        let now = self.clock.now();
        if now.since(unspent.made_at) >= Self::LIFETIME {
            return Err(ChallengeFault::Expired);
        }
        Ok(unspent)
    }

    /// Uses one up, behind everything else that is judged: who proves nothing uses up
    /// nothing.
    pub(super) fn spend(&self, challenge: Unspent) -> Result<(), ChallengeFault> {
        let now = self.clock.now();
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.retain(|_, made_at| now.since(*made_at) < Self::LIFETIME);
        match spent.insert(challenge.tag, challenge.made_at) {
            None => Ok(()),
            Some(_) => Err(ChallengeFault::Spent),
        }
    }

    fn read(
        &self,
        challenge: &Base64Url,
        ceremony: Ceremony,
        browser: SessionKey,
    ) -> Option<Unspent> {
        let (nonce, rest) = challenge.0.split_first_chunk()?;
        let (seconds, tag) = rest.split_first_chunk()?;
        let made_at = UnixTime::from_seconds(u64::from_be_bytes(*seconds));
        let expected = self.tag(*nonce, made_at, ceremony, browser);
        let is_ours = bool::from(tag.ct_eq(&expected));
        is_ours.then_some(Unspent { tag: expected, made_at })
    }

    fn tag(&self, nonce: Nonce, made_at: UnixTime, ceremony: Ceremony, browser: SessionKey) -> Tag {
        let ceremony = match ceremony {
            Ceremony::Add => b"add     ",
            Ceremony::SignIn => b"sign in ",
        };
        let seconds = made_at.as_seconds().to_be_bytes();
        self.key.digest(&[ceremony, &nonce, &seconds, browser.as_bytes()])
    }
}
