//! Tokens that are ours and tokens that are not; keys that come and go.

mod outside;

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use proptest::prelude::*;

use super::ring::{Drawn, KeyPolicy, KeyState, NotPossible, Ring};
use super::{AccessTokenClaims, KeyError};
use crate::authorization_server::testing::{START, TestServer};
use crate::clock::UnixTime;
use crate::contract::scope::{Scope, ScopeSet};

const DAY: u64 = 86_400;

fn claims() -> AccessTokenClaims {
    AccessTokenClaims {
        iss: "https://notes.example.org".to_owned(),
        sub: "owner".to_owned(),
        aud: "https://notes.example.org/mcp".to_owned(),
        client_id: "bmc_x".to_owned(),
        iat: 1,
        exp: 2,
        jti: "x".to_owned(),
        scope: ScopeSet::ALL,
        gid: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
        generation: 0,
    }
}

/// RFC 8725 section 3.1, 3.11: `/revoke` reads no token but an access token of ours.
#[test]
fn only_an_access_token_of_this_server_is_read() {
    let test = TestServer::start();
    let keys = test.server.signing_keys();
    let token = keys.sign(&claims()).unwrap();
    assert_eq!(keys.read(&token), Some(claims()));
    let other = TestServer::start_with(2, |_| {});
    assert_eq!(other.server.signing_keys().read(&token), None, "another server's");
    let kid = Some(signer(&test));
    let jwt = Header { typ: Some("JWT".to_owned()), kid, ..Header::new(Algorithm::ES256) };
    let as_jwt = jsonwebtoken::encode(&jwt, &claims(), &keys.state().pairs[0].private).unwrap();
    let shared = test.server.public_key_set();
    let hmac = EncodingKey::from_secret(shared.as_json().as_bytes()).unwrap();
    let typ = Some("at+jwt".to_owned());
    let as_hmac = Header { typ, kid: jwt.kid.clone(), ..Header::default() };
    let as_hmac = jsonwebtoken::encode(&as_hmac, &claims(), &hmac).unwrap();
    let unsigned = format!("{}.", token.rsplit_once('.').unwrap().0);
    let (head, signature) = token.rsplit_once('.').unwrap();
    let tampered = format!("{head}A.{signature}");
    for wrong in [&as_jwt, &as_hmac, &unsigned, &tampered, "", ".", "..", "a.b.c"] {
        assert_eq!(keys.read(wrong), None, "{wrong}");
    }
}

/// The names of the published keys.
fn published(test: &TestServer) -> Vec<String> {
    let set = test.server.public_key_set();
    let set: jsonwebtoken::jwk::JwkSet = serde_json::from_str(set.as_json()).unwrap();
    set.keys.into_iter().map(|key| key.common.key_id.unwrap()).collect()
}

/// The name of the key that signs.
fn signer(test: &TestServer) -> String {
    let token = test.server.signing_keys().sign(&claims()).unwrap();
    jsonwebtoken::decode_header(&token).unwrap().kid.unwrap()
}

fn read(test: &TestServer, token: &str) -> bool {
    test.server.signing_keys().read(token).is_some()
}

/// Checklist 134: a key is published before it signs, and believed until the last token
/// that it signed has expired, with a minute for clocks that differ.
#[tokio::test]
async fn keys_take_turns_without_a_gap() {
    let test = TestServer::start();
    let (first, before) = (signer(&test), published(&test));
    let [_, next] = &*before else { panic!("one that signs and one that will: {before:?}") };
    test.advance(90 * DAY - 1);
    test.server.keep_keys_up().await.unwrap();
    assert_eq!(signer(&test), first);
    let token = test.server.signing_keys().sign(&claims()).unwrap();
    test.advance(1);
    test.server.keep_keys_up().await.unwrap();
    assert_eq!(signer(&test), *next, "it was published all the time");
    assert_eq!(published(&test).len(), 3, "and so is the one after it");
    assert!(read(&test, &token));
    test.advance(600 + 59);
    test.server.keep_keys_up().await.unwrap();
    assert!(read(&test, &token) && published(&test).contains(&first));
    test.advance(1);
    test.server.keep_keys_up().await.unwrap();
    assert!(!read(&test, &token) && !published(&test).contains(&first));
}

/// Checklist 134: who keeps the key set for as long as its answer allows has the new key
/// when it signs; neither time nor the owner's wish to rotate goes before that.
#[tokio::test]
async fn a_key_does_not_sign_before_everybody_can_have_it() {
    let test = TestServer::start();
    let first = signer(&test);
    let too_early = test.server.rotate_keys().await.unwrap_err();
    assert!(matches!(too_early, KeyError::NotPossible(NotPossible::TooEarly(_))));
    test.advance(300 + 3600 - 1);
    assert!(test.server.rotate_keys().await.is_err());
    test.advance(1);
    test.server.rotate_keys().await.unwrap();
    assert_ne!(signer(&test), first);
    assert!(test.server.rotate_keys().await.is_err(), "the one after it is young");
    let answer = test.get("/jwks").await;
    assert_eq!(answer.headers["cache-control"], "public, max-age=300");
}

/// Checklist 134: a revoked key is gone at once, and so are its tokens; another signs.
/// Nothing of its private half stays on the disk, and no restart brings it back.
#[tokio::test]
async fn a_revoked_key_is_gone_at_once() {
    let test = TestServer::start();
    let first = signer(&test);
    let (_, tokens) = test.granted(&[Scope::Read]).await;
    test.server.revoke_key(&first).await.unwrap();
    assert!(!read(&test, &tokens.access));
    assert!(!published(&test).contains(&first));
    assert_eq!(published(&test).len(), 2);
    assert_ne!(signer(&test), first, "without waiting");
    let no_more = test.server.revoke_key(&first).await.unwrap_err();
    assert!(matches!(no_more, KeyError::NotPossible(NotPossible::NoSuchKey)));
    let test = test.restart();
    assert!(!published(&test).contains(&first) && !read(&test, &tokens.access));
    let state = |kid: &str| {
        test.server.signing_keys().list().iter().find(|key| key.kid == kid).map(|key| key.state)
    };
    assert_eq!(state(&first), Some(KeyState::Revoked), "the owner is still told");
    let file = test.server.settings().data_dir.join("signing-keys.json");
    #[expect(clippy::disallowed_methods, reason = "the file of the test itself")]
    let file: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    for key in file["keys"].as_array().unwrap() {
        assert_eq!(key.get("sealed").is_none(), key["state"] == "revoked", "{key}");
    }
    let next = published(&test).pop().unwrap();
    test.server.revoke_key(&next).await.unwrap();
    assert!(!published(&test).contains(&next), "also one that has not signed yet");
    test.advance(90 * DAY);
    test.server.keep_keys_up().await.unwrap();
    assert_eq!(
        test.server
            .signing_keys()
            .list()
            .iter()
            .filter(|key| key.state == KeyState::Revoked)
            .count(),
        0
    );
}

/// Checklist 80, 135: what was signed before a rotation is good after it and after a
/// restart; refresh tokens do not depend on it at all.
#[tokio::test]
async fn tokens_survive_a_rotation_and_a_restart() {
    let test = TestServer::start();
    test.advance(2 * 3600);
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    test.server.rotate_keys().await.unwrap();
    let keys = published(&test);
    let test = test.restart();
    assert_eq!(published(&test), keys);
    assert!(test.live_scopes(&tokens).is_some());
    test.refresh(&client, &tokens.refresh).await.tokens();
}

/// A setting that is lowered does not shorten the life of what was signed before.
#[tokio::test]
async fn a_retained_key_outlives_the_longest_token_that_it_signed() {
    let test = TestServer::start_with(1, |settings| {
        settings.lifetimes.access_token = Duration::from_secs(DAY);
    });
    let first = signer(&test);
    let test = test.restart_with(|settings| {
        settings.lifetimes.access_token = Duration::from_secs(60);
    });
    test.advance(2 * 3600);
    test.server.rotate_keys().await.unwrap();
    test.advance(DAY);
    test.server.keep_keys_up().await.unwrap();
    assert!(published(&test).contains(&first));
    test.advance(61);
    test.server.keep_keys_up().await.unwrap();
    assert!(!published(&test).contains(&first));
}

/// Design section 10: the file is replaced as a whole, so a change happens or not. One
/// that cannot be written did not happen, also in memory.
#[tokio::test]
async fn a_change_that_cannot_be_written_did_not_happen() {
    let test = TestServer::start();
    test.advance(2 * 3600);
    let (first, before) = (signer(&test), published(&test));
    let data_dir = test.server.settings().data_dir.clone();
    // Half a file of an earlier crash, in a place that cannot be written to.
    let unfinished = data_dir.join("signing-keys.json.unfinished");
    fs::create_dir(&unfinished).unwrap();
    assert!(matches!(test.server.rotate_keys().await, Err(KeyError::File(_))));
    assert!(matches!(test.server.revoke_key(&first).await, Err(KeyError::File(_))));
    assert_eq!((signer(&test), published(&test)), (first.clone(), before.clone()));
    let test = test.restart();
    assert_eq!((signer(&test), published(&test)), (first.clone(), before));
    fs::remove_dir(&unfinished).unwrap();
    fs::write(&unfinished, "{").unwrap();
    test.server.rotate_keys().await.unwrap();
    assert_ne!(signer(&test), first);
    let mode = fs::metadata(data_dir.join("signing-keys.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// The keys of a version that knew one key only.
#[tokio::test]
async fn a_file_of_an_older_version_is_read() {
    let test = TestServer::start();
    let first = signer(&test);
    let test = test.restart_on(|data_dir| {
        let path = data_dir.join("signing-keys.json");
        #[expect(clippy::disallowed_methods, reason = "the file of the test itself")]
        let old = fs::read_to_string(&path).unwrap();
        let mut file: serde_json::Value = serde_json::from_str(&old).unwrap();
        let keys = file["keys"].as_array_mut().unwrap();
        keys.retain(|key| key["state"] == "current");
        keys[0].as_object_mut().unwrap().retain(|name, _| name != "since" && name != "signed_for");
        fs::write(&path, file.to_string()).unwrap();
    });
    assert_eq!(signer(&test), first);
    assert_eq!(published(&test).len(), 2, "the next one is made");
}

#[tokio::test]
async fn never_is_never() {
    let test = TestServer::start_with(1, |settings| settings.key_rotation = None);
    let first = signer(&test);
    test.advance(20 * 365 * DAY);
    test.server.keep_keys_up().await.unwrap();
    assert_eq!(signer(&test), first);
}

#[derive(Clone, Debug)]
enum Act {
    Wait(u64),
    Rotate,
    Revoke(usize),
    KeepUp,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (0..DAY).prop_map(Act::Wait),
        Just(Act::Rotate),
        (0_usize..4).prop_map(Act::Revoke),
        Just(Act::KeepUp),
    ]
}

proptest! {
    /// Checklist 134: whatever happens, one key signs and one comes next; a key signs only
    /// once it was published for the time of the caches, unless the one before it was
    /// revoked; a token of a key that was not revoked can be verified as long as it lives;
    /// a revoked key is never published again.
    #[test]
    fn keys_keep_their_promises(acts in proptest::collection::vec(act(), 1..60)) {
        let policy = KeyPolicy {
            rotate_after: Some(Duration::from_secs(3 * DAY)),
            token: Duration::from_secs(600),
        };
        let (mut now, mut drawn, mut ring) = (START, 0, Ring::default());
        let mut draw = || {
            drawn += 1;
            Drawn { kid: format!("key {drawn}"), sealed: String::new() }
        };
        ring.keep_up(now, policy, &mut draw);
        let mut first_published: HashMap<String, UnixTime> =
            ring.0.iter().map(|key| (key.kid.clone(), now)).collect();
        let mut last_signed: HashMap<String, UnixTime> = HashMap::new();
        let mut revoked: Vec<String> = Vec::new();
        for act in acts {
            let before = ring.find(KeyState::Current).unwrap().kid.clone();
            let mut was_forced = false;
            match act {
                Act::Wait(seconds) => now = now + Duration::from_secs(seconds),
                Act::Rotate => drop(ring.rotate(now)),
                Act::Revoke(index) => {
                    if let Some(kid) = ring.0.get(index).map(|key| key.kid.clone())
                        && ring.revoke(&kid, now).is_ok()
                    {
                        was_forced = kid == before;
                        revoked.push(kid);
                    }
                }
                Act::KeepUp => {}
            }
            ring.keep_up(now, policy, &mut draw);
            let of = |state| ring.0.iter().filter(move |key| key.state == state);
            prop_assert_eq!((of(KeyState::Current).count(), of(KeyState::Next).count()), (1, 1));
            let published = || ring.0.iter().filter(|key| key.state != KeyState::Revoked);
            for key in published() {
                prop_assert!(!revoked.contains(&key.kid) && key.sealed.is_some());
                first_published.entry(key.kid.clone()).or_insert(now);
            }
            let signer = &ring.find(KeyState::Current).unwrap().kid;
            if *signer != before && !was_forced {
                prop_assert!(now.since(first_published[signer]) >= Duration::from_secs(3900));
            }
            last_signed.insert(signer.clone(), now);
            for (kid, signed_at) in &last_signed {
                let is_alive = now < *signed_at + policy.token;
                let is_published = published().any(|key| key.kid == *kid);
                prop_assert!(!is_alive || is_published || revoked.contains(kid), "{kid}");
            }
        }
    }
}
