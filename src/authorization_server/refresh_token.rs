//! The text of a refresh token, and how one follows from another.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::grant::{Digest, GrantId, Presented};
use super::secrets::{DigestKey, MasterSecret};

/// What a secret scanner finds a leaked token by.
const PREFIX: &str = "bmr_";
const TAG_BYTES: usize = 8;
const CHECKSUM_BYTES: usize = 4;
const BYTES: usize = 16 + 8 + 32 + TAG_BYTES + CHECKSUM_BYTES;

/// A refresh token that this server has made.
///
/// It carries its grant and generation, so that it is found without a table of
/// tokens, and a tag, so that an old token can be told from a forged one although
/// nothing about old tokens is stored.
pub(crate) struct RefreshToken {
    grant: GrantId,
    generation: u64,
    secret: Zeroizing<[u8; 32]>,
}

/// The keys behind refresh tokens.
pub(crate) struct RefreshTokenKeys {
    child: DigestKey,
    tag: DigestKey,
    storage: DigestKey,
}

/// A text that is no refresh token of ours. Says so without asking the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a refresh token of this server")]
pub(crate) struct NotAToken;

impl RefreshTokenKeys {
    pub(crate) fn derive(master: &MasterSecret) -> Self {
        Self {
            child: master.digest_key("refresh token child"),
            tag: master.digest_key("refresh token tag"),
            storage: master.digest_key("refresh token storage"),
        }
    }

    /// The text that the client gets.
    pub(crate) fn write(&self, token: &RefreshToken) -> String {
        let mut bytes = Zeroizing::new(Vec::with_capacity(BYTES));
        bytes.extend_from_slice(token.grant.as_bytes());
        bytes.extend_from_slice(&token.generation.to_be_bytes());
        bytes.extend_from_slice(&*token.secret);
        bytes.extend_from_slice(&self.tag(token));
        let checksum = checksum(&bytes);
        bytes.extend_from_slice(&checksum);
        format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(&*bytes))
    }

    /// Reads a text back, first by its checksum and then by its tag.
    ///
    /// # Errors
    ///
    /// [`NotAToken`].
    pub(crate) fn read(&self, text: &str) -> Result<RefreshToken, NotAToken> {
        let encoded = text.strip_prefix(PREFIX).ok_or(NotAToken)?;
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(encoded).map(Zeroizing::new);
        let bytes = bytes.map_err(|_| NotAToken)?;
        let (body, claimed) = bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or(NotAToken)?;
        if checksum(body) != *claimed {
            return Err(NotAToken);
        }
        let (grant, rest) = body.split_first_chunk::<16>().ok_or(NotAToken)?;
        let (generation, rest) = rest.split_first_chunk::<8>().ok_or(NotAToken)?;
        let (secret, tag) = rest.split_first_chunk::<32>().ok_or(NotAToken)?;
        let token = RefreshToken {
            grant: GrantId::from_bytes(*grant),
            generation: u64::from_be_bytes(*generation),
            secret: Zeroizing::new(*secret),
        };
        // Also false if the lengths differ.
        if bool::from(self.tag(&token).as_slice().ct_eq(tag)) { Ok(token) } else { Err(NotAToken) }
    }

    /// The token that follows. Derived and not drawn, so that whoever presents the
    /// same parent again gets the same child, without the child being stored.
    pub(crate) fn child(&self, parent: &RefreshToken) -> RefreshToken {
        let secret = self.child.digest(&[
            parent.grant.as_bytes(),
            &parent.generation.to_be_bytes(),
            &*parent.secret,
        ]);
        RefreshToken {
            grant: parent.grant,
            generation: parent.generation.saturating_add(1),
            secret: Zeroizing::new(secret),
        }
    }

    /// The only trace of a token that is stored.
    pub(crate) fn digest(&self, token: &RefreshToken) -> Digest {
        self.storage.digest(&[token.grant.as_bytes(), &*token.secret])
    }

    /// What the grant needs to judge the token.
    pub(crate) fn present(&self, token: &RefreshToken) -> Presented {
        Presented {
            generation: token.generation,
            digest: self.digest(token),
            child: self.digest(&self.child(token)),
        }
    }

    fn tag(&self, token: &RefreshToken) -> [u8; TAG_BYTES] {
        let generation = token.generation.to_be_bytes();
        let digest = self.tag.digest(&[token.grant.as_bytes(), &generation, &*token.secret]);
        *digest.first_chunk().expect("8 is less than 32")
    }
}

impl RefreshToken {
    /// The first token of a grant, of fresh random bytes.
    pub(crate) fn first(grant: GrantId, secret: [u8; 32]) -> Self {
        Self { grant, generation: 0, secret: Zeroizing::new(secret) }
    }

    pub(crate) const fn grant(&self) -> GrantId {
        self.grant
    }
}

/// Catches typing and copying faults; the tag is what counts.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    *Sha256::digest(bytes).first_chunk().expect("4 is less than 32")
}
