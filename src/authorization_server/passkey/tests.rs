//! Responses that prove something, and the many ways in which one proves nothing.

use std::time::Duration;

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::software::SoftwarePasskey;
use super::{
    Base64Url, Ceremony, ChallengeFault, Challenges, NewPasskey, PasskeyFault, PublicKey,
    RelyingParty, ShownPasskey, user_handle,
};
use crate::authorization_server::session::{BrowserCookie, SessionKey};
use crate::authorization_server::store::passkeys::StoredPasskey;
use crate::clock::{Clock, ManualClock, UnixTime};
use crate::entropy::Entropy;

const ORIGIN: &str = "https://brain.example";

/// Everything on our side, a browser, and a passkey that was added there.
struct Scene {
    party: RelyingParty,
    challenges: Challenges,
    time: ManualClock,
    browser: SessionKey,
    passkey: SoftwarePasskey,
    kept: StoredPasskey,
}

impl Scene {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(adjust: impl FnOnce(&mut SoftwarePasskey)) -> Self {
        let (clock, time) = Clock::manual(UnixTime::from_seconds(1_800_000_000));
        let entropy = Entropy::seeded(1);
        let party = RelyingParty::of(&ORIGIN.parse().unwrap()).unwrap();
        let challenges = Challenges::new(&clock, &entropy);
        let browser = BrowserCookie::new(&entropy).key();
        let mut passkey = SoftwarePasskey::new(7, ORIGIN);
        adjust(&mut passkey);
        let challenge = challenges.make(Ceremony::Add, browser).to_string();
        let response = passkey.made(&challenge, &user_handle("owner").to_string()).to_string();
        let made = NewPasskey::read(&response, (&party, &challenges), browser).unwrap();
        let NewPasskey { id, public_key, counter, can_be_copied } = made;
        let kept = StoredPasskey {
            user: "owner".to_owned(),
            name: "Telephone".to_owned(),
            id,
            public_key,
            counter,
            can_be_copied,
            added_at: clock.now(),
            used_at: None,
        };
        Self { party, challenges, time, browser, passkey, kept }
    }

    fn challenge(&self, ceremony: Ceremony) -> String {
        self.challenges.make(ceremony, self.browser).to_string()
    }

    fn judge(&self, response: &Value) -> Result<u32, PasskeyFault> {
        let means = (&self.party, &self.challenges);
        let shown = ShownPasskey::read(&response.to_string(), means, self.browser)?;
        shown.verify(&self.kept, &self.challenges)
    }

    /// Signs in with a passkey that was changed before that.
    fn sign_in(&self, change: impl FnOnce(&mut SoftwarePasskey)) -> Result<u32, PasskeyFault> {
        let mut passkey = self.passkey.clone();
        change(&mut passkey);
        self.judge(&passkey.signed(&self.challenge(Ceremony::SignIn)))
    }

    /// Adds one that was changed before that.
    fn add(&self, change: impl FnOnce(&mut SoftwarePasskey)) -> Result<NewPasskey, PasskeyFault> {
        let mut passkey = SoftwarePasskey::new(8, ORIGIN);
        change(&mut passkey);
        let response = passkey.made(&self.challenge(Ceremony::Add), "");
        self.read_new(&response)
    }

    fn read_new(&self, response: &Value) -> Result<NewPasskey, PasskeyFault> {
        let means = (&self.party, &self.challenges);
        NewPasskey::read(&response.to_string(), means, self.browser)
    }
}

/// Checklist section 5.8, WebAuthn sections 7.1 and 7.2.
#[test]
fn a_passkey_is_added_and_shown() {
    let scene = Scene::new();
    assert_eq!(scene.kept.id.0, scene.passkey.id);
    assert_eq!(scene.sign_in(|_| {}), Ok(0));
    assert_eq!(scene.sign_in(|passkey| passkey.counter = 41), Ok(41));
}

/// An address is no relying party: browsers refuse it, so nobody is offered anything.
#[test]
fn passkeys_are_for_names_only() {
    let party = |issuer: &str| RelyingParty::of(&issuer.parse().unwrap());
    assert_eq!(party("https://brain.example:8443").unwrap().id(), "brain.example");
    assert_eq!(party("http://localhost:8090").unwrap().id(), "localhost");
    for address in ["http://127.0.0.1:8080", "http://[::1]:8080", "https://192.0.2.1"] {
        assert_eq!(party(address), None, "{address}");
    }
}

#[test]
fn a_challenge_is_good_once() {
    let scene = Scene::new();
    let challenge = scene.challenge(Ceremony::SignIn);
    let response = scene.passkey.clone().signed(&challenge);
    assert_eq!(scene.judge(&response), Ok(0));
    assert_eq!(scene.judge(&response), Err(ChallengeFault::Spent.into()));
    let again = scene.passkey.clone().signed(&challenge);
    assert_eq!(scene.judge(&again), Err(ChallengeFault::Spent.into()));

    let challenge = scene.challenge(Ceremony::Add);
    let mut passkey = SoftwarePasskey::new(9, ORIGIN);
    scene.read_new(&passkey.made(&challenge, "")).unwrap();
    let second = scene.read_new(&SoftwarePasskey::new(10, ORIGIN).made(&challenge, ""));
    assert_eq!(second, Err(ChallengeFault::Spent.into()));
}

/// One that proves nothing uses up nothing: nobody takes a challenge away from who owns it.
#[test]
fn a_wrong_signature_leaves_the_challenge() {
    let scene = Scene::new();
    let challenge = scene.challenge(Ceremony::SignIn);
    let mut stranger = SoftwarePasskey::new(8, ORIGIN);
    stranger.id.clone_from(&scene.passkey.id);
    stranger.user_handle.clone_from(&scene.passkey.user_handle);
    assert_eq!(scene.judge(&stranger.signed(&challenge)), Err(PasskeyFault::Signature));
    assert_eq!(scene.judge(&scene.passkey.clone().signed(&challenge)), Ok(0));
}

#[test]
fn a_challenge_is_for_five_minutes() {
    let scene = Scene::new();
    let (early, late) = (scene.challenge(Ceremony::SignIn), scene.challenge(Ceremony::SignIn));
    scene.time.advance(Duration::from_secs(299));
    assert_eq!(scene.judge(&scene.passkey.clone().signed(&early)), Ok(0));
    scene.time.advance(Duration::from_secs(1));
    let late = scene.judge(&scene.passkey.clone().signed(&late));
    assert_eq!(late, Err(ChallengeFault::Expired.into()));
}

#[test]
fn a_challenge_is_for_one_browser_and_one_purpose() {
    let scene = Scene::new();
    let foreign = Err(ChallengeFault::Foreign.into());
    let other = BrowserCookie::new(&Entropy::seeded(2)).key();
    let restarted = Challenges::new(&Clock::system(), &Entropy::seeded(3));
    for challenge in [
        scene.challenges.make(Ceremony::SignIn, other).to_string(),
        scene.challenge(Ceremony::Add),
        restarted.make(Ceremony::SignIn, scene.browser).to_string(),
        Base64Url(vec![7; 56]).to_string(),
        Base64Url(vec![7; 32]).to_string(),
        String::new(),
    ] {
        let response = scene.passkey.clone().signed(&challenge);
        assert_eq!(scene.judge(&response), foreign, "{challenge}");
    }
    let for_signing_in = scene.challenge(Ceremony::SignIn);
    let made = SoftwarePasskey::new(9, ORIGIN).made(&for_signing_in, "");
    assert_eq!(scene.read_new(&made), Err(ChallengeFault::Foreign.into()));
}

type Lie = fn(&mut SoftwarePasskey);

/// Other origins, other hosts, nobody present, nobody verified: the same rules for both.
#[test]
fn what_the_browser_and_the_authenticator_say_must_be_right() {
    let scene = Scene::new();
    let lies: [(Lie, PasskeyFault); 9] = [
        (|it| it.origin = "https://brain.example.attacker.example".into(), PasskeyFault::Origin),
        (|it| it.origin = "https://sub.brain.example".into(), PasskeyFault::Origin),
        (|it| it.origin = "https://brain.example:8443".into(), PasskeyFault::Origin),
        (|it| it.origin = "http://brain.example".into(), PasskeyFault::Origin),
        (|it| it.origin = "https://BRAIN.example".into(), PasskeyFault::Origin),
        (|it| it.host = "attacker.example".into(), PasskeyFault::RelyingParty),
        (|it| it.flags = SoftwarePasskey::VERIFIED, PasskeyFault::NotPresent),
        (|it| it.flags = SoftwarePasskey::PRESENT, PasskeyFault::NotVerified),
        // A copy of what cannot be copied.
        (|it| it.flags |= 1 << 4, PasskeyFault::Backup),
    ];
    for (number, (lie, fault)) in lies.into_iter().enumerate() {
        assert_eq!(scene.sign_in(lie), Err(fault), "lie {number}");
        assert_eq!(scene.add(lie), Err(fault), "lie {number}");
    }
    assert_eq!(scene.sign_in(|it| it.flags |= 1 << 3), Err(PasskeyFault::Backup), "it changed");
    let synced = Scene::with(|it| it.flags |= 1 << 3);
    assert_eq!(synced.sign_in(|it| it.flags |= 1 << 4), Ok(0), "now on two devices");
    assert_eq!(synced.sign_in(|it| it.flags &= !(1 << 3)), Err(PasskeyFault::Backup));
}

#[test]
fn a_page_in_a_frame_of_another_site_adds_nothing() {
    let scene = Scene::new();
    let framed = |mut response: Value, kind: &str, challenge: &str| {
        let data = json!({
            "type": kind, "challenge": challenge, "origin": ORIGIN, "crossOrigin": true,
            "topOrigin": "https://attacker.example",
        });
        let data = Base64Url(data.to_string().into_bytes()).to_string();
        response["response"]["clientDataJSON"] = data.into();
        response
    };
    let challenge = scene.challenge(Ceremony::Add);
    let made = SoftwarePasskey::new(9, ORIGIN).made(&challenge, "");
    let made = framed(made, "webauthn.create", &challenge);
    assert_eq!(scene.read_new(&made), Err(PasskeyFault::Origin));
    let challenge = scene.challenge(Ceremony::SignIn);
    let signed = framed(scene.passkey.clone().signed(&challenge), "webauthn.get", &challenge);
    assert_eq!(scene.judge(&signed), Err(PasskeyFault::Origin));
}

#[test]
fn one_response_is_not_the_other() {
    let scene = Scene::new();
    let challenge = scene.challenge(Ceremony::SignIn);
    let mut signed = scene.passkey.clone().signed(&challenge);
    let made = scene.passkey.clone().made(&challenge, "");
    signed["response"]["clientDataJSON"] = made["response"]["clientDataJSON"].clone();
    assert_eq!(scene.judge(&signed), Err(PasskeyFault::Type));
    assert_eq!(scene.judge(&made), Err(PasskeyFault::Unreadable));
}

/// The authenticator names the user; a passkey of one signs no other in.
#[test]
fn a_passkey_is_one_users() {
    let scene = Scene::new();
    let other = user_handle("other").to_string();
    assert_eq!(scene.sign_in(|it| it.user_handle = other), Err(PasskeyFault::Unknown));
    assert_eq!(scene.sign_in(|it| it.user_handle.clear()), Err(PasskeyFault::Unknown));
    assert_eq!(scene.sign_in(|it| it.id = vec![8; 16]), Err(PasskeyFault::Unknown));
}

/// Nothing that was signed can be changed behind that.
#[test]
fn every_bit_counts() {
    let scene = Scene::new();
    let challenge = scene.challenge(Ceremony::SignIn);
    let response = scene.passkey.clone().signed(&challenge);
    for member in ["clientDataJSON", "authenticatorData", "signature", "userHandle"] {
        let text = response["response"][member].as_str().unwrap().to_owned();
        let bytes = Base64Url::try_from(text).unwrap().0;
        for position in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[position / 8] ^= 1 << (position % 8);
            let mut response = response.clone();
            response["response"][member] = Base64Url(bytes).to_string().into();
            scene.judge(&response).expect_err(member);
        }
    }
    assert_eq!(scene.judge(&response), Ok(0));
}

/// An RSA key of 1,024 bits, with which nothing is signed.
const SHORT_KEY: &str = "\
    MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCrQ-UXajSEaHtk3V_rdNTkABncC3hYeVX4iAo49PmRWzVdHucaf9\
    gPjgOa0Dw6uofIlEqL6Ug0oYEM_Uo9mG8hvR9LobZdrkWOLkHPV3QOlWUMnqkBB3FQzjRwmM3CmzJivZukOXgpoQ8_\
    TA8tvJbXbX76ZQNHIK7elZtEkefYHQIDAQAB";

/// One that is taken signs in: what is too short for that is refused when it is added
/// (RFC 8812 section 2).
#[test]
fn keys_that_are_too_short_are_not_taken() {
    let der = Base64Url::try_from(SHORT_KEY.to_owned()).unwrap();
    assert_eq!(PublicKey::new(-257, der), Err(PasskeyFault::Key));
}

#[test]
fn keys_that_were_not_asked_for_are_not_taken() {
    let scene = Scene::new();
    let made = || SoftwarePasskey::new(9, ORIGIN).made(&scene.challenge(Ceremony::Add), "");
    for algorithm in [0, -6, -35, -37, -257, -8, -259, 7] {
        let mut response = made();
        response["response"]["publicKeyAlgorithm"] = algorithm.into();
        assert_eq!(scene.read_new(&response), Err(PasskeyFault::Key), "{algorithm}");
    }
    for key in ["", "AA", "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"] {
        let mut response = made();
        response["response"]["publicKey"] = key.into();
        assert_eq!(scene.read_new(&response), Err(PasskeyFault::Key), "{key}");
    }
    let mut response = made();
    response["rawId"] = "AAAA".into();
    assert_eq!(scene.read_new(&response), Err(PasskeyFault::Unreadable), "another id");
    assert_eq!(scene.add(|it| it.id.clear()), Err(PasskeyFault::Unreadable));
    assert_eq!(scene.add(|it| it.id = vec![1; 1024]), Err(PasskeyFault::Unreadable));
    scene.add(|it| it.id = vec![1; 1023]).unwrap();
}

/// What browsers promise to hand out (section 5.2.1.1): `EdDSA` and RS256 beside ES256.
#[test]
fn other_kinds_of_keys_verify() {
    let pair = Ed25519KeyPair::generate().unwrap();
    let der = Base64Url(pair.public_key().as_der().unwrap().as_ref().to_vec());
    let key = PublicKey::new(-8, der.clone()).unwrap();
    let signature = pair.sign(b"message");
    assert_eq!(key.verify(b"message", signature.as_ref()), Ok(()));
    assert_eq!(key.verify(b"massage", signature.as_ref()), Err(PasskeyFault::Signature));
    assert_eq!(PublicKey::new(-7, der), Err(PasskeyFault::Key));

    let pair = RsaKeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).unwrap();
    let der = Base64Url(pair.public_key().as_der().unwrap().as_ref().to_vec());
    let key = PublicKey::new(-257, der).unwrap();
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), b"message", &mut signature).unwrap();
    assert_eq!(key.verify(b"message", &signature), Ok(()));
    signature[0] ^= 1;
    assert_eq!(key.verify(b"message", &signature), Err(PasskeyFault::Signature));
}

/// A response with anything in the place of one of its members.
fn tampered(base: Value) -> impl Strategy<Value = Value> {
    let member = prop::sample::select(vec![
        "rawId",
        "clientDataJSON",
        "authenticatorData",
        "signature",
        "userHandle",
        "publicKey",
    ]);
    let anything = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200)
            .prop_map(|bytes| Value::from(Base64Url(bytes).to_string())),
        ".{0,40}".prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
    ];
    (member, anything).prop_map(move |(member, anything)| {
        let mut response = base.clone();
        match member {
            "rawId" => response["rawId"] = anything,
            member => response["response"][member] = anything,
        }
        response
    })
}

proptest! {
    /// Nothing that can be sent crashes, and nothing but what was signed proves anything.
    #[test]
    fn no_bytes_are_a_passkey(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let scene = Scene::new();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let means = (&scene.party, &scene.challenges);
        prop_assert!(NewPasskey::read(&text, means, scene.browser).is_err());
        prop_assert!(ShownPasskey::read(&text, means, scene.browser).is_err());
    }

    #[test]
    fn no_tampered_response_is_a_passkey(
        response in tampered(SoftwarePasskey::new(7, ORIGIN).signed("")),
        is_challenged in any::<bool>(),
    ) {
        let scene = Scene::new();
        let honest = scene.passkey.clone().signed(&scene.challenge(Ceremony::SignIn));
        let mut response = response;
        if is_challenged {
            for member in ["clientDataJSON", "authenticatorData", "signature", "userHandle"] {
                let untouched = SoftwarePasskey::new(7, ORIGIN).signed("");
                if response["response"][member] == untouched["response"][member] {
                    response["response"][member] = honest["response"][member].clone();
                }
            }
        }
        let is_honest = response["rawId"] == honest["rawId"]
            && response["response"].as_object().unwrap().iter().all(|(member, value)| {
                *value == honest["response"][member] || honest["response"][member].is_null()
            });
        prop_assert_eq!(scene.judge(&response).is_ok(), is_honest, "{}", response);
    }

    #[test]
    fn no_tampered_new_passkey_crashes(
        response in tampered(SoftwarePasskey::new(7, ORIGIN).made("", "")),
    ) {
        let scene = Scene::new();
        prop_assert!(scene.read_new(&response).is_err(), "it has no challenge of ours");
    }
}
