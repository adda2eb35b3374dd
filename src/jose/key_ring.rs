//! JWK Set text → the keys that may verify a signature.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

use super::compact::CompactJws;

/// The public keys of an issuer. Made from a document that may hold anything;
/// what is no usable signature key is left out, not an error, because a key set
/// serves other readers too (RFC 7517 section 5).
#[derive(Debug, Default)]
pub struct KeyRing(Vec<VerifyingKey>);

#[derive(Debug)]
struct VerifyingKey {
    id: Box<str>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

/// The document is not a key set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the document is not a JWK set")]
pub struct NotAKeySet;

/// RSA keys outside of these bounds are refused: below, they can be factored
/// (RFC 7518 section 3.3); above, a verification costs too much.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

impl KeyRing {
    /// Reads a key set.
    ///
    /// # Errors
    ///
    /// [`NotAKeySet`]
    pub fn parse(json: &[u8]) -> Result<Self, NotAKeySet> {
        #[derive(Deserialize)]
        struct Document {
            keys: Vec<Value>,
        }
        let document: Document = serde_json::from_slice(json).map_err(|_| NotAKeySet)?;
        let keys = document.keys.into_iter().filter_map(|key| {
            let raw: RawKey = serde_json::from_value(key).ok()?;
            raw.into_verifying_key()
        });
        Ok(Self(keys.collect()))
    }

    /// Whether there is no usable key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a key of this name is in the ring.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.0.iter().any(|key| *key.id == *id)
    }

    /// Whether a key of this name, of a kind that fits the algorithm, made the
    /// token's signature.
    ///
    /// A name may stand twice in a set (RFC 7517 section 4.5); each such key is
    /// the issuer's own, so each may verify, but only by its own algorithm.
    #[must_use]
    pub fn verifies(&self, token: &CompactJws<'_>, key_id: &str, algorithm: Algorithm) -> bool {
        let message = token.message.as_bytes();
        self.0.iter().filter(|key| *key.id == *key_id && key.algorithms.contains(&algorithm)).any(
            |key| {
                jsonwebtoken::crypto::verify(token.signature, message, &key.key, algorithm)
                    .unwrap_or(false)
            },
        )
    }
}

/// The members of a JWK (RFC 7517 section 4, RFC 7518 section 6) that matter here.
/// Symmetric keys have none of the last five: a shared secret in a public document
/// is nobody's secret, and it must not turn into an HMAC key.
#[derive(Deserialize)]
struct RawKey {
    kty: String,
    kid: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

impl RawKey {
    fn into_verifying_key(self) -> Option<VerifyingKey> {
        if self.usage.as_deref().is_some_and(|usage| usage != "sig") {
            return None;
        }
        let (fitting, key) = match (self.kty.as_str(), self.crv.as_deref()) {
            ("EC", Some("P-256")) => (vec![Algorithm::ES256], self.elliptic(32)?),
            ("EC", Some("P-384")) => (vec![Algorithm::ES384], self.elliptic(48)?),
            ("OKP", Some("Ed25519")) => (vec![Algorithm::EdDSA], self.edwards()?),
            ("RSA", _) => (vec![Algorithm::RS256, Algorithm::PS256], self.rsa()?),
            _ => return None,
        };
        let algorithms: Vec<_> = match self.alg {
            None => fitting,
            Some(stated) => {
                let stated: Algorithm = stated.parse().ok()?;
                fitting.into_iter().filter(|algorithm| *algorithm == stated).collect()
            }
        };
        (!algorithms.is_empty()).then(|| VerifyingKey { id: self.kid.into(), algorithms, key })
    }

    /// Coordinates have the full length of the field (RFC 7518 section 6.2.1.2).
    fn elliptic(&self, length: usize) -> Option<DecodingKey> {
        let (x, y) = (self.x.as_deref()?, self.y.as_deref()?);
        let full_length = |text| decode(text).is_some_and(|bytes| bytes.len() == length);
        if !full_length(x) || !full_length(y) {
            return None;
        }
        DecodingKey::from_ec_components(x, y).ok()
    }

    fn edwards(&self) -> Option<DecodingKey> {
        let x = self.x.as_deref()?;
        decode(x).filter(|bytes| bytes.len() == 32)?;
        DecodingKey::from_ed_components(x).ok()
    }

    fn rsa(&self) -> Option<DecodingKey> {
        let (modulus, exponent) = (decode(self.n.as_deref()?)?, decode(self.e.as_deref()?)?);
        let start = modulus.iter().position(|byte| *byte != 0)?;
        let modulus = &modulus[start..];
        let leading_zeros = modulus[0].leading_zeros() as usize;
        if !RSA_BITS.contains(&(modulus.len() * 8 - leading_zeros)) {
            return None;
        }
        Some(DecodingKey::from_rsa_raw_components(modulus, &exponent))
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text).ok()
}
