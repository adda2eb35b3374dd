//! One P-256 key pair: its name, its public half as it is published, its private half.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::{DecodingKey, EncodingKey};
use p256::SecretKey;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::pkcs8::EncodePrivateKey as _;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::entropy::Entropy;

/// A P-256 key pair.
pub(super) struct KeyPair {
    pub(super) id: String,
    pub(super) private: EncodingKey,
    pub(super) public: DecodingKey,
    pub(super) published: PublicJwk,
}

/// The public half of a key as it is published (RFC 7517, RFC 7518 section 6.2.1).
#[derive(Clone, Debug, Serialize)]
pub(super) struct PublicJwk {
    kty: &'static str,
    crv: &'static str,
    x: String,
    y: String,
    kid: String,
    #[serde(rename = "use")]
    usage: &'static str,
    alg: &'static str,
}

impl KeyPair {
    pub(super) fn new(secret: &SecretKey) -> Self {
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
pub(super) fn draw(entropy: &Entropy) -> SecretKey {
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
