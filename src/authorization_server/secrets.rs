//! The master secret, and the keys that are derived from it.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};
use hkdf::Hkdf;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::data_directory::DataDirectory;
use super::store::OpenError;
use crate::entropy::Entropy;

const FILE: &str = "master.key";
const NONCE_BYTES: usize = 24;

/// 256 bits from which a key for each purpose is derived: whoever copies the
/// database without this file can neither make a token nor read a key.
pub(crate) struct MasterSecret(Hkdf<Sha256>);

/// A key for making and comparing digests.
#[derive(Clone)]
pub(crate) struct DigestKey(Hmac<Sha256>);

/// A key under which other secrets are kept on the disk.
pub(crate) struct SealingKey(XChaCha20Poly1305);

/// What was sealed has been changed, moved, or sealed under another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sealed secret cannot be opened")]
pub(crate) struct SealBroken;

impl MasterSecret {
    /// Loads the secret, or makes it if the data directory is new.
    ///
    /// # Errors
    ///
    /// [`OpenError::SecretLost`], [`OpenError::SecretDamaged`], [`OpenError::Io`].
    pub(crate) fn load(home: &DataDirectory, entropy: &Entropy) -> Result<Self, OpenError> {
        let secret: Zeroizing<Vec<u8>> = if let Some(text) = home.read(FILE)? {
            let decoded = BASE64_STANDARD.decode(text.trim_ascii()).map(Zeroizing::new);
            decoded
                .ok()
                .filter(|secret| secret.len() == 32)
                .ok_or_else(|| OpenError::SecretDamaged(home.path().join(FILE)))?
        } else {
            return Self::replace(home, entropy);
        };
        Ok(Self(Hkdf::new(None, &secret)))
    }

    /// Makes a new one, also in the place of one that nothing depends on any more.
    ///
    /// # Errors
    ///
    /// [`OpenError::Io`]
    pub(crate) fn replace(home: &DataDirectory, entropy: &Entropy) -> Result<Self, OpenError> {
        let fresh = Zeroizing::new(entropy.bytes::<32>());
        let text = Zeroizing::new(format!("{}\n", BASE64_STANDARD.encode(*fresh)));
        home.write(FILE, text.as_bytes())?;
        Ok(Self(Hkdf::new(None, &*fresh)))
    }

    pub(crate) fn digest_key(&self, purpose: &str) -> DigestKey {
        DigestKey(Hmac::new((&*self.derive::<64>(purpose)).into()))
    }

    pub(crate) fn sealing_key(&self, purpose: &str) -> SealingKey {
        SealingKey(XChaCha20Poly1305::new((&*self.derive::<32>(purpose)).into()))
    }

    fn derive<const N: usize>(&self, purpose: &str) -> Zeroizing<[u8; N]> {
        let mut key = Zeroizing::new([0; N]);
        self.0.expand(purpose.as_bytes(), &mut *key).expect("HKDF gives up to 255 times 32 bytes");
        key
    }
}

impl DigestKey {
    /// One that nobody needs after the end of the process.
    pub(crate) fn of_this_process(entropy: &Entropy) -> Self {
        Self(Hmac::new((&entropy.bytes::<64>()).into()))
    }

    /// The digest of the parts, which must be of fixed lengths: they are joined
    /// without separators.
    pub(crate) fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

impl SealingKey {
    /// Encrypts a secret so that it can only be opened under the name that it was
    /// sealed for: nobody can swap two of them.
    pub(crate) fn seal(&self, name: &str, secret: &[u8], entropy: &Entropy) -> Vec<u8> {
        let nonce = entropy.bytes::<NONCE_BYTES>();
        let payload = Payload { msg: secret, aad: name.as_bytes() };
        let sealed = self.0.encrypt((&nonce).into(), payload).expect("a key is short enough");
        [&nonce, &*sealed].concat()
    }

    /// # Errors
    ///
    /// [`SealBroken`].
    pub(crate) fn open(&self, name: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealBroken> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or(SealBroken)?;
        let payload = Payload { msg: sealed, aad: name.as_bytes() };
        self.0.decrypt(nonce.into(), payload).map(Zeroizing::new).map_err(|_| SealBroken)
    }
}
