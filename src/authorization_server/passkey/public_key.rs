//! The public half of a passkey.

use aws_lc_rs::rsa::PublicEncryptingKey;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256,
    VerificationAlgorithm,
};
use serde::{Deserialize, Serialize};

use super::{Base64Url, PasskeyFault};

// Numbers of COSE (RFC 9053 section 2, RFC 8812 section 2).
const EDDSA: i64 = -8;
const ES256: i64 = -7;
const RS256: i64 = -257;

/// The kinds that are asked for, the best first. Browsers can hand out the keys of these
/// three (section 5.2.1.1).
pub(crate) const ALGORITHMS: [i64; 3] = [EDDSA, ES256, RS256];

/// A public key and what it signs with. Made only of what can verify a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PublicKey {
    algorithm: i64,
    /// `SubjectPublicKeyInfo` (RFC 5280 section 4.1).
    der: Base64Url,
}

impl PublicKey {
    /// # Errors
    ///
    /// [`PasskeyFault::Key`]
    pub(super) fn new(algorithm: i64, der: Base64Url) -> Result<Self, PasskeyFault> {
        let key = Self { algorithm, der };
        // Parsing does not look at the length, and a signature by what is too short or too
        // long is never right.
        if algorithm == RS256 {
            PublicEncryptingKey::from_der(&key.der.0).map_err(|_| PasskeyFault::Key)?;
        }
        key.parse().map(|_| key)
    }

    /// Whether this key made the signature.
    ///
    /// # Errors
    ///
    /// [`PasskeyFault::Signature`]
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), PasskeyFault> {
        let verified = self.parse()?.verify_sig(message, signature);
        verified.map_err(|_| PasskeyFault::Signature)
    }

    fn parse(&self) -> Result<ParsedPublicKey, PasskeyFault> {
        let algorithm: &'static dyn VerificationAlgorithm = match self.algorithm {
            EDDSA => &ED25519,
            ES256 => &ECDSA_P256_SHA256_ASN1,
            RS256 => &RSA_PKCS1_2048_8192_SHA256,
            _ => return Err(PasskeyFault::Key),
        };
        ParsedPublicKey::new(algorithm, &self.der.0).map_err(|_| PasskeyFault::Key)
    }
}
