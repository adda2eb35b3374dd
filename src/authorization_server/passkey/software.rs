//! An authenticator and its browser, made of software, for tests: it does what it is told,
//! also what no honest one would.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use p256::pkcs8::EncodePublicKey as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// One passkey, and where its browser thinks that it is.
#[derive(Clone)]
pub(crate) struct SoftwarePasskey {
    pub(crate) host: String,
    pub(crate) origin: String,
    /// Of the authenticator data: present, verified and so on.
    pub(crate) flags: u8,
    pub(crate) counter: u32,
    pub(crate) id: Vec<u8>,
    pub(crate) user_handle: String,
    key: SigningKey,
}

impl SoftwarePasskey {
    pub(crate) const PRESENT: u8 = 1;
    pub(crate) const VERIFIED: u8 = 1 << 2;
    const MADE: u8 = 1 << 6;

    /// One whose key comes from this seed, for pages at this origin.
    pub(crate) fn new(seed: u8, origin: &str) -> Self {
        let host = origin.split("://").nth(1).unwrap_or_default();
        Self {
            host: host.split(':').next().unwrap_or_default().to_owned(),
            origin: origin.to_owned(),
            flags: Self::PRESENT | Self::VERIFIED,
            counter: 0,
            id: vec![seed; 16],
            user_handle: String::new(),
            key: SigningKey::from_slice(&[seed; 32]).expect("a key"),
        }
    }

    /// What a browser posts after `navigator.credentials.create`.
    pub(crate) fn made(&mut self, challenge: &str, user_handle: &str) -> Value {
        user_handle.clone_into(&mut self.user_handle);
        let mut data = self.data(self.flags | Self::MADE);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).expect("a short id").to_be_bytes());
        data.extend(&self.id);
        data.extend(b"the key in COSE, which nobody reads here");
        let public_key = self.key.verifying_key().to_public_key_der().expect("DER");
        json!({
            "rawId": text(&self.id),
            "response": {
                "clientDataJSON": text(self.client_data("webauthn.create", challenge).as_bytes()),
                "authenticatorData": text(&data),
                "publicKey": text(public_key.as_bytes()),
                "publicKeyAlgorithm": -7,
            },
        })
    }

    /// What a browser posts after `navigator.credentials.get`.
    pub(crate) fn signed(&mut self, challenge: &str) -> Value {
        let client_data = self.client_data("webauthn.get", challenge);
        let data = self.data(self.flags);
        let signed = [&data[..], &Sha256::digest(&client_data)].concat();
        let signature: Signature = self.key.sign(&signed);
        json!({
            "rawId": text(&self.id),
            "response": {
                "clientDataJSON": text(client_data.as_bytes()),
                "authenticatorData": text(&data),
                "signature": text(signature.to_der().as_bytes()),
                "userHandle": self.user_handle,
            },
        })
    }

    fn client_data(&self, kind: &str, challenge: &str) -> String {
        let (origin, cross) = (&self.origin, false);
        json!({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": cross})
            .to_string()
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        let mut data = Sha256::digest(&self.host).to_vec();
        data.push(flags);
        data.extend(self.counter.to_be_bytes());
        data
    }
}

fn text(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}
