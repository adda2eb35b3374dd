//! The keys that sign access tokens.
//!
//! Private halves never leave this module. The file that keeps them is sealed under
//! a key of the master secret, with the name of each key as associated data.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use p256::SecretKey;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::pkcs8::EncodePrivateKey as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::data_directory::DataDirectory;
use super::secrets::{MasterSecret, SealingKey};
use super::store::OpenError;
use crate::clock::UnixTime;
use crate::contract::claims::{ACCESS_TOKEN_TYPE, AccessTokenClaims};
use crate::contract::key_set::PublicKeySet;
use crate::entropy::Entropy;

const FILE: &str = "signing-keys.json";

/// The keys of this server: at present the one that signs.
pub(crate) struct SigningKeys {
    current: SigningKey,
}

/// A P-256 key pair.
struct SigningKey {
    id: String,
    private: EncodingKey,
    public: DecodingKey,
    published: PublicJwk,
}

/// The public half of a key as it is published (RFC 7517, RFC 7518 section 6.2.1).
#[derive(Clone, Debug, Serialize)]
struct PublicJwk {
    kty: &'static str,
    crv: &'static str,
    x: String,
    y: String,
    kid: String,
    #[serde(rename = "use")]
    usage: &'static str,
    alg: &'static str,
}

#[derive(Serialize)]
struct KeySet<'a> {
    keys: [&'a PublicJwk; 1],
}

/// The file. A list with a state for each key, so that rotation can add to it.
#[derive(Serialize, Deserialize)]
struct KeyFile {
    format: u32,
    keys: Vec<SealedKey>,
}

#[derive(Serialize, Deserialize)]
struct SealedKey {
    kid: String,
    state: KeyState,
    created_at: UnixTime,
    sealed: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeyState {
    Current,
}

impl SigningKeys {
    /// Loads the keys, or makes the first one if the data directory is new. It is on
    /// the disk before anything is signed with it (checklist #135).
    ///
    /// # Errors
    ///
    /// [`OpenError::SecretLost`], [`OpenError::SecretDamaged`], [`OpenError::Io`].
    pub(crate) fn load(
        home: &DataDirectory,
        master: &MasterSecret,
        entropy: &Entropy,
        now: UnixTime,
    ) -> Result<Self, OpenError> {
        let sealing = master.sealing_key("signing keys");
        if let Some(bytes) = home.read(FILE)? {
            let current = Self::unseal(&bytes, &sealing);
            return current
                .map(|current| Self { current })
                .ok_or_else(|| OpenError::SecretDamaged(home.path().join(FILE)));
        }
        let secret = draw(entropy);
        let current = SigningKey::new(&secret);
        let sealed = sealing.seal(&current.id, &secret.to_bytes(), entropy);
        let key = SealedKey {
            kid: current.id.clone(),
            state: KeyState::Current,
            created_at: now,
            sealed: BASE64_STANDARD.encode(sealed),
        };
        let file = KeyFile { format: 1, keys: vec![key] };
        let text = serde_json::to_vec_pretty(&file).expect("strings and numbers are JSON");
        home.write(FILE, &text)?;
        Ok(Self { current })
    }

    fn unseal(bytes: &[u8], sealing: &SealingKey) -> Option<SigningKey> {
        let file: KeyFile = serde_json::from_slice(bytes).ok()?;
        let stored = file.keys.iter().find(|key| key.state == KeyState::Current)?;
        let sealed = BASE64_STANDARD.decode(&stored.sealed).ok()?;
        let secret = sealing.open(&stored.kid, &sealed).ok()?;
        let key = SigningKey::new(&SecretKey::from_slice(&secret).ok()?);
        (key.id == stored.kid).then_some(key)
    }

    /// The public halves, as they are published.
    pub(crate) fn public_key_set(&self) -> PublicKeySet {
        let set = KeySet { keys: [&self.current.published] };
        PublicKeySet::from_json(&serde_json::to_string(&set).expect("strings are JSON"))
    }

    /// Signs an access token (RFC 9068 section 2).
    ///
    /// # Errors
    ///
    /// What the signing library says, which it never should.
    pub(crate) fn sign(
        &self,
        claims: &AccessTokenClaims,
    ) -> Result<String, jsonwebtoken::errors::Error> {
        let header = Header {
            typ: Some(ACCESS_TOKEN_TYPE.to_owned()),
            kid: Some(self.current.id.clone()),
            ..Header::new(Algorithm::ES256)
        };
        jsonwebtoken::encode(&header, claims, &self.current.private)
    }

    /// The claims of an access token of ours; nothing for any other text. Whether
    /// it has expired is for the caller to see: this library reads the system clock.
    pub(crate) fn read(&self, token: &str) -> Option<AccessTokenClaims> {
        let mut validation = Validation::new(Algorithm::ES256);
        validation.validate_exp = false;
        validation.validate_aud = false;
        let data =
            jsonwebtoken::decode::<AccessTokenClaims>(token, &self.current.public, &validation)
                .ok()?;
        (data.header.typ.as_deref() == Some(ACCESS_TOKEN_TYPE)).then_some(data.claims)
    }
}

impl SigningKey {
    fn new(secret: &SecretKey) -> Self {
        let point = secret.public_key().to_sec1_point(false);
        let (_, coordinates) = point.as_bytes().split_at(1);
        let (x, y) = coordinates.split_at(32);
        let x = BASE64_URL_SAFE_NO_PAD.encode(x);
        let y = BASE64_URL_SAFE_NO_PAD.encode(y);
        let id = thumbprint(&x, &y);
        let der = secret.to_pkcs8_der().expect("a P-256 key has a PKCS #8 form");
        let public = DecodingKey::from_ec_components(&x, &y).expect("these are base64url");
        let published = PublicJwk {
            kty: "EC",
            crv: "P-256",
            x,
            y,
            kid: id.clone(),
            usage: "sig",
            alg: "ES256",
        };
        Self { id, private: EncodingKey::from_ec_der(der.as_bytes()), public, published }
    }
}

/// A key from random bytes. All but one in 2³² are a valid scalar.
fn draw(entropy: &Entropy) -> SecretKey {
    loop {
        if let Ok(secret) = SecretKey::from_slice(&entropy.bytes::<32>()) {
            return secret;
        }
    }
}

/// The name of a key: the digest of its required members in lexical order (RFC 7638
/// section 3). The coordinates are base64url, so no escaping is needed.
fn thumbprint(x: &str, y: &str) -> String {
    let members = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(members))
}
