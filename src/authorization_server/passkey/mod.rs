//! Passkeys (WebAuthn Level 3): what a browser sends, judged by what it was asked.
//!
//! ```text
//!  page with a challenge ─► browser, authenticator ─► form with a response (JSON)
//!                                                          │ ClientData, AuthenticatorData
//!                 stored passkey ◄─ NewPasskey ◄─ Ceremony ┴─► ShownPasskey ─► sign-in
//! ```
//!
//! No attestation is asked for: which make of authenticator a user has is the user's
//! business. So there is no certificate and no CBOR to read here: the browser hands out
//! the public key as X.509 has it (section 5.2.1.1), and what else is needed stands at
//! fixed places.

mod authenticator_data;
mod base64url;
mod challenge;
mod client_data;
mod public_key;
mod relying_party;
mod response;
#[cfg(test)]
pub(crate) mod software;
#[cfg(test)]
mod tests;

use std::fmt;

use sha2::{Digest as _, Sha256};

pub(crate) use self::base64url::Base64Url;
pub(super) use self::challenge::{Ceremony, ChallengeFault, Challenges};
pub(crate) use self::public_key::{ALGORITHMS, PublicKey};
pub(super) use self::relying_party::RelyingParty;
pub(super) use self::response::{NewPasskey, ShownPasskey};

/// The name of a passkey in our memory: SHA-256 of the id that the authenticator gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PasskeyKey([u8; 32]);

/// Why a response proves nothing. `Display` is for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PasskeyFault {
    #[error("the response cannot be read")]
    Unreadable,
    #[error("it answers another question")]
    Type,
    #[error(transparent)]
    Challenge(#[from] ChallengeFault),
    #[error("it was made on a page of another origin, or in a frame of one")]
    Origin,
    #[error("it was made for another host")]
    RelyingParty,
    #[error("nobody touched the authenticator")]
    NotPresent,
    #[error("the authenticator has not verified who it is")]
    NotVerified,
    #[error("what it says about copies of the passkey contradicts itself")]
    Backup,
    #[error("its key is of a kind that was not asked for, or no key")]
    Key,
    #[error("there is no such passkey of this user")]
    Unknown,
    #[error("its signature is wrong")]
    Signature,
}

impl PasskeyKey {
    pub(crate) fn of(id: &[u8]) -> Self {
        Self(Sha256::digest(id).into())
    }

    /// As a form names it.
    pub(crate) fn named(text: &str) -> Option<Self> {
        let bytes = Base64Url::try_from(text.to_owned()).ok()?;
        bytes.0.try_into().ok().map(Self)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PasskeyKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Base64Url(self.0.to_vec()).fmt(formatter)
    }
}

/// As what an authenticator knows a user: it tells nothing to who reads it there
/// (section 14.6.1), and survives a restore.
pub(super) fn user_handle(user: &str) -> Base64Url {
    Base64Url(Sha256::new_with_prefix("passkey user\0").chain_update(user).finalize().to_vec())
}
