//! Challenges and verifiers.

use super::{CodeChallenge, InvalidCodeChallenge, PkceMismatch};

/// The pair of RFC 7636 appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// Checklist 13, 14, 15, 16; R2
#[test]
fn only_an_s256_challenge_is_one() {
    use InvalidCodeChallenge::{Malformed, Missing, NotS256};
    let cut = &CHALLENGE[1..];
    let long = format!("{CHALLENGE}A");
    let padded = format!("{cut}=");
    let rows = [
        (Some(CHALLENGE), Some("S256"), None),
        (None, None, Some(Missing)),
        (None, Some("S256"), Some(Missing)),
        (Some(CHALLENGE), None, Some(NotS256)),
        (Some(CHALLENGE), Some("plain"), Some(NotS256)),
        (Some(CHALLENGE), Some("s256"), Some(NotS256)),
        (Some(CHALLENGE), Some("S512"), Some(NotS256)),
        (Some(cut), Some("S256"), Some(Malformed)),
        (Some(&*long), Some("S256"), Some(Malformed)),
        (Some(&*padded), Some("S256"), Some(Malformed)),
    ];
    for (challenge, method, expected) in rows {
        let error = CodeChallenge::from_request(challenge, method).err();
        assert_eq!(error, expected, "{challenge:?} {method:?}");
    }
}

/// Checklist 57, 58; RFC 7636 section 4.1
#[test]
fn only_the_right_verifier_fits() {
    let challenge = CodeChallenge::from_request(Some(CHALLENGE), Some("S256")).unwrap();
    assert_eq!(challenge.verify(VERIFIER), Ok(()));
    let other = VERIFIER.replace('d', "e");
    for wrong in [CHALLENGE, &*other, &VERIFIER[1..], "", &format!("{VERIFIER} ")] {
        assert_eq!(challenge.verify(wrong), Err(PkceMismatch), "{wrong}");
    }
}

/// Checklist 58: a verifier that is too short, too long, or of other characters is refused
/// although its digest is right.
#[test]
fn the_form_of_a_verifier_counts_too() {
    use base64::Engine as _;
    use sha2::Digest as _;
    for (verifier, expected) in [
        ("a".repeat(43), Ok(())),
        ("a".repeat(128), Ok(())),
        ("-._~".repeat(11), Ok(())),
        ("a".repeat(42), Err(PkceMismatch)),
        ("a".repeat(129), Err(PkceMismatch)),
        ("a ".repeat(22), Err(PkceMismatch)),
        ("ä".repeat(22), Err(PkceMismatch)),
    ] {
        let digest = sha2::Sha256::digest(&verifier);
        let text = base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(digest);
        let challenge = CodeChallenge::from_request(Some(&text), Some("S256")).unwrap();
        assert_eq!(challenge.verify(&verifier), expected, "{verifier}");
    }
}
