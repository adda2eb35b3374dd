//! The two responses: of a passkey that was made, and of one that has signed.

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::authenticator_data::AuthenticatorData;
use super::challenge::Unspent;
use super::client_data::ClientData;
use super::{
    Base64Url, Ceremony, Challenges, PasskeyFault, PasskeyKey, PublicKey, RelyingParty, user_handle,
};
use crate::authorization_server::session::SessionKey;
use crate::authorization_server::store::passkeys::StoredPasskey;

/// The longest id that an authenticator may give (step 25 of section 7.1).
const LONGEST_ID: usize = 1023;

/// A passkey that was just made for us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewPasskey {
    pub(crate) id: Base64Url,
    pub(crate) public_key: PublicKey,
    pub(crate) counter: u32,
    pub(crate) can_be_copied: bool,
}

/// A passkey that somebody says to have, before the signature is looked at.
#[derive(Debug)]
pub(crate) struct ShownPasskey {
    key: PasskeyKey,
    user_handle: Base64Url,
    data: AuthenticatorData,
    signed: Vec<u8>,
    signature: Base64Url,
    challenge: Unspent,
}

/// `RegistrationResponseJSON` (section 5.1.8).
#[derive(Deserialize)]
struct Made {
    #[serde(rename = "rawId")]
    id: Base64Url,
    response: MadeResponse,
}

#[derive(Deserialize)]
struct MadeResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: Base64Url,
    #[serde(rename = "authenticatorData")]
    authenticator_data: Base64Url,
    #[serde(rename = "publicKey")]
    public_key: Base64Url,
    #[serde(rename = "publicKeyAlgorithm")]
    algorithm: i64,
}

/// `AuthenticationResponseJSON` (section 5.1.8).
#[derive(Deserialize)]
struct Signed {
    #[serde(rename = "rawId")]
    id: Base64Url,
    response: SignedResponse,
}

#[derive(Deserialize)]
struct SignedResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: Base64Url,
    #[serde(rename = "authenticatorData")]
    authenticator_data: Base64Url,
    signature: Base64Url,
    #[serde(rename = "userHandle")]
    user_handle: Base64Url,
}

impl NewPasskey {
    /// Registers (section 7.1): what a browser sends on a page with a challenge of ours.
    pub(crate) fn read(
        json: &str,
        (party, challenges): (&RelyingParty, &Challenges),
        browser: SessionKey,
    ) -> Result<Self, PasskeyFault> {
        let Made { id, response } =
            serde_json::from_str(json).map_err(|_| PasskeyFault::Unreadable)?;
        let challenge = ClientData::read(&response.client_data.0, Ceremony::Add, party)?;
        let challenge = challenges.check(&challenge, Ceremony::Add, browser)?;
        let data = AuthenticatorData::read(&response.authenticator_data.0)?;
        party.check(&data)?;
        if data.made.as_ref() != Some(&id.0) || id.0.is_empty() || id.0.len() > LONGEST_ID {
            return Err(PasskeyFault::Unreadable);
        }
        let public_key = PublicKey::new(response.algorithm, response.public_key)?;
        challenges.spend(challenge)?;
        let can_be_copied = data.can_be_copied();
        Ok(Self { id, public_key, counter: data.counter, can_be_copied })
    }
}

impl ShownPasskey {
    /// Reads what a browser sends on a page with a challenge of ours.
    pub(crate) fn read(
        json: &str,
        (party, challenges): (&RelyingParty, &Challenges),
        browser: SessionKey,
    ) -> Result<Self, PasskeyFault> {
        let Signed { id, response } =
            serde_json::from_str(json).map_err(|_| PasskeyFault::Unreadable)?;
        let client_data = &response.client_data.0;
        let challenge = ClientData::read(client_data, Ceremony::SignIn, party)?;
        let challenge = challenges.check(&challenge, Ceremony::SignIn, browser)?;
        let data = AuthenticatorData::read(&response.authenticator_data.0)?;
        party.check(&data)?;
        let signed = [&response.authenticator_data.0[..], &Sha256::digest(client_data)].concat();
        Ok(Self {
            key: PasskeyKey::of(&id.0),
            user_handle: response.user_handle,
            data,
            signed,
            signature: response.signature,
            challenge,
        })
    }

    /// As what it is kept, if it is.
    pub(crate) const fn key(&self) -> PasskeyKey {
        self.key
    }

    /// Verifies (section 7.2) that it is this one, and answers its counter. The challenge
    /// is used up by that.
    pub(crate) fn verify(
        self,
        kept: &StoredPasskey,
        challenges: &Challenges,
    ) -> Result<u32, PasskeyFault> {
        // Step 6: nobody has typed a name, so the authenticator says whose it is.
        if self.key != kept.key() || self.user_handle != user_handle(&kept.user) {
            return Err(PasskeyFault::Unknown);
        }
        // Step 19: it cannot change.
        if self.data.can_be_copied() != kept.can_be_copied {
            return Err(PasskeyFault::Backup);
        }
        kept.public_key.verify(&self.signed, &self.signature.0)?;
        challenges.spend(self.challenge)?;
        Ok(self.data.counter)
    }
}
