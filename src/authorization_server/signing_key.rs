//! The keys that sign access tokens.
//!
//! Private halves never leave this module. The file that keeps them is sealed under
//! a key of the master secret, with the name of each key as associated data. Every
//! change is one replacement of that file, and comes into force when it is on the disk:
//! a crash leaves the state before or the state after.

mod pair;
mod ring;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jsonwebtoken::{Algorithm, Header, Validation};
use p256::SecretKey;
use serde::{Deserialize, Serialize};

use self::pair::{KeyPair, PublicJwk};
use self::ring::{Drawn, Record, Ring};
pub(crate) use self::ring::{KEY_SET_MAX_AGE, KeyPolicy, KeyState, NotPossible};
use super::AuthorizationServer;
use super::audit::{Actor, What};
use super::data_directory::DataDirectory;
use super::secrets::{MasterSecret, SealingKey};
use super::store::{OpenError, StoreError};
use crate::clock::UnixTime;
use crate::contract::claims::{ACCESS_TOKEN_TYPE, AccessTokenClaims};
use crate::contract::key_set::PublicKeySet;
use crate::entropy::Entropy;

const FILE: &str = "signing-keys.json";

/// The keys of this server: one that signs, one that will sign next, and those that
/// have signed what may still be alive.
pub(crate) struct SigningKeys {
    home: Arc<DataDirectory>,
    sealing: SealingKey,
    entropy: Entropy,
    policy: KeyPolicy,
    /// Held during a change, which looks, writes and then replaces `state`.
    changing: Mutex<()>,
    state: RwLock<Arc<State>>,
}

/// What holds until the next change.
struct State {
    ring: Ring,
    /// The keys that are published, the one that signs first.
    pairs: Vec<Arc<KeyPair>>,
    published: PublicKeySet,
}

#[derive(Serialize)]
struct KeySet<'a> {
    keys: Vec<&'a PublicJwk>,
}

#[derive(Serialize, Deserialize)]
struct KeyFile {
    format: u32,
    keys: Vec<Record>,
}

/// A key as the owner is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyFacts {
    pub(crate) kid: String,
    pub(crate) state: KeyState,
    pub(crate) created_at: UnixTime,
    /// When it came into its state.
    pub(crate) since: UnixTime,
}

/// Why the keys are as they were.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    #[error(transparent)]
    NotPossible(#[from] NotPossible),
    #[error(transparent)]
    File(#[from] OpenError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SigningKeys {
    /// Loads the keys, or makes them if the data directory is new. They are on the disk
    /// before anything is signed with them (checklist #135).
    ///
    /// # Errors
    ///
    /// [`OpenError::SecretLost`], [`OpenError::SecretDamaged`], [`OpenError::Io`].
    pub(crate) fn load(
        home: Arc<DataDirectory>,
        master: &MasterSecret,
        entropy: &Entropy,
        now: UnixTime,
        policy: KeyPolicy,
    ) -> Result<Self, OpenError> {
        let sealing = master.sealing_key("signing keys");
        let damaged = || OpenError::SecretDamaged(home.path().join(FILE));
        let state = match home.read(FILE)? {
            Some(bytes) => {
                let file: KeyFile = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
                State::of(Ring(file.keys), &sealing).ok_or_else(damaged)?
            }
            None => State::nothing(),
        };
        let keys = Self {
            sealing,
            entropy: entropy.clone(),
            policy,
            changing: Mutex::default(),
            state: RwLock::new(Arc::new(state)),
            home,
        };
        keys.keep_up(now)?;
        Ok(keys)
    }

    /// Makes new keys in the place of all that there are: whatever was signed before is
    /// dead.
    ///
    /// # Errors
    ///
    /// [`OpenError`]
    pub(crate) fn replace(
        home: Arc<DataDirectory>,
        master: &MasterSecret,
        entropy: &Entropy,
        now: UnixTime,
        policy: KeyPolicy,
    ) -> Result<(), OpenError> {
        let keys = Self {
            sealing: master.sealing_key("signing keys"),
            entropy: entropy.clone(),
            policy,
            changing: Mutex::default(),
            state: RwLock::new(Arc::new(State::nothing())),
            home,
        };
        keys.keep_up(now).map(drop)
    }

    /// Does what is due: retires, publishes and drops keys. Answers the name of the key
    /// that signs from now on, if that is another one.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; the keys are then as they were.
    pub(crate) fn keep_up(&self, now: UnixTime) -> Result<Option<String>, OpenError> {
        let before = self.state().signer().map(str::to_owned);
        self.change(now, |_| Ok::<_, OpenError>(()))?;
        let after = self.state().signer().map(str::to_owned);
        Ok(after.filter(|after| before.is_some_and(|before| before != *after)))
    }

    /// Lets the next key sign from now on.
    ///
    /// # Errors
    ///
    /// [`KeyError`]
    pub(crate) fn rotate(&self, now: UnixTime) -> Result<(), KeyError> {
        self.change(now, |ring| ring.rotate(now).map_err(KeyError::from))
    }

    /// Takes a key out: what it has signed is dead with the next request.
    ///
    /// # Errors
    ///
    /// [`KeyError`]
    pub(crate) fn revoke(&self, kid: &str, now: UnixTime) -> Result<(), KeyError> {
        self.change(now, |ring| ring.revoke(kid, now).map_err(KeyError::from))
    }

    /// All keys that are known, revoked ones included.
    pub(crate) fn list(&self) -> Vec<KeyFacts> {
        let state = self.state();
        let facts = state.ring.0.iter().map(|key| KeyFacts {
            kid: key.kid.clone(),
            state: key.state,
            created_at: key.created_at,
            since: key.since(),
        });
        facts.collect()
    }

    fn change<E: From<OpenError>>(
        &self,
        now: UnixTime,
        wish: impl FnOnce(&mut Ring) -> Result<(), E>,
    ) -> Result<(), E> {
        let _turn = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.state();
        let mut ring = before.ring.clone();
        wish(&mut ring)?;
        ring.keep_up(now, self.policy, || self.draw());
        if ring == before.ring {
            return Ok(());
        }
        let file = KeyFile { format: 1, keys: ring.0.clone() };
        let text = serde_json::to_vec_pretty(&file).expect("strings and numbers are JSON");
        let damaged = || OpenError::SecretDamaged(self.home.path().join(FILE));
        let after = State::of(ring, &self.sealing).ok_or_else(damaged)?;
        self.home.write(FILE, &text)?;
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(after);
        Ok(())
    }

    fn draw(&self) -> Drawn {
        let secret = pair::draw(&self.entropy);
        let kid = KeyPair::new(&secret).id;
        let sealed = self.sealing.seal(&kid, &secret.to_bytes(), &self.entropy);
        Drawn { kid, sealed: BASE64_STANDARD.encode(sealed) }
    }

    fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The public halves, as they are published.
    pub(crate) fn public_key_set(&self) -> PublicKeySet {
        self.state().published.clone()
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
        let state = self.state();
        let current = &state.pairs[0];
        let header = Header {
            typ: Some(ACCESS_TOKEN_TYPE.to_owned()),
            kid: Some(current.id.clone()),
            ..Header::new(Algorithm::ES256)
        };
        jsonwebtoken::encode(&header, claims, &current.private)
    }

    /// The claims of an access token of ours; nothing for any other text. Whether
    /// it has expired is for the caller to see: this library reads the system clock.
    pub(crate) fn read(&self, token: &str) -> Option<AccessTokenClaims> {
        let kid = jsonwebtoken::decode_header(token).ok()?.kid?;
        let state = self.state();
        let pair = state.pairs.iter().find(|pair| pair.id == kid)?;
        let mut validation = Validation::new(Algorithm::ES256);
        validation.validate_exp = false;
        validation.validate_aud = false;
        let data =
            jsonwebtoken::decode::<AccessTokenClaims>(token, &pair.public, &validation).ok()?;
        (data.header.typ.as_deref() == Some(ACCESS_TOKEN_TYPE)).then_some(data.claims)
    }
}

impl State {
    /// Before the very first key.
    fn nothing() -> Self {
        let published = PublicKeySet::from_json(r#"{"keys":[]}"#);
        Self { ring: Ring::default(), pairs: Vec::new(), published }
    }

    /// Opens the keys; nothing if one cannot be opened, or none signs.
    fn of(ring: Ring, sealing: &SealingKey) -> Option<Self> {
        ring.find(KeyState::Current)?;
        let mut pairs = Vec::new();
        for state in [KeyState::Current, KeyState::Next, KeyState::Retained] {
            for record in ring.0.iter().filter(|record| record.state == state) {
                pairs.push(Arc::new(unseal(record, sealing)?));
            }
        }
        let set = KeySet { keys: pairs.iter().map(|pair| &pair.published).collect() };
        let text = serde_json::to_string(&set).expect("strings are JSON");
        Some(Self { ring, pairs, published: PublicKeySet::from_json(&text) })
    }

    fn signer(&self) -> Option<&str> {
        self.pairs.first().map(|pair| &*pair.id)
    }
}

fn unseal(record: &Record, sealing: &SealingKey) -> Option<KeyPair> {
    let sealed = BASE64_STANDARD.decode(record.sealed.as_ref()?).ok()?;
    let secret = sealing.open(&record.kid, &sealed).ok()?;
    let pair = KeyPair::new(&SecretKey::from_slice(&secret).ok()?);
    (pair.id == record.kid).then_some(pair)
}

impl AuthorizationServer {
    /// Does with the keys what is due; away from the threads that serve.
    ///
    /// # Errors
    ///
    /// [`KeyError`]
    pub(crate) async fn keep_keys_up(&self) -> Result<(), KeyError> {
        let now = self.clock().now();
        let server = self.clone();
        let rotated = self.store().read(move |_| Ok(server.signing_keys().keep_up(now)));
        if let Some(kid) = rotated.await?? {
            self.note_now(Actor::Server, What::KeyRotated).await?;
            tracing::info!(kid, "another key signs from now on");
        }
        Ok(())
    }

    /// Lets the next key sign from now on.
    ///
    /// # Errors
    ///
    /// [`KeyError`]
    pub(crate) async fn rotate_keys(&self) -> Result<(), KeyError> {
        let now = self.clock().now();
        let server = self.clone();
        self.store().read(move |_| Ok(server.signing_keys().rotate(now))).await??;
        self.note_now(Actor::Operator, What::KeyRotated).await?;
        tracing::info!("the owner let another key sign");
        Ok(())
    }

    /// Takes a key out.
    ///
    /// # Errors
    ///
    /// [`KeyError`]
    pub(crate) async fn revoke_key(&self, kid: &str) -> Result<(), KeyError> {
        let (now, server, name) = (self.clock().now(), self.clone(), kid.to_owned());
        self.store().read(move |_| Ok(server.signing_keys().revoke(&name, now))).await??;
        let what = What::KeyRevoked { kid: kid.to_owned() };
        self.note_now(Actor::Operator, what).await?;
        tracing::warn!(kid, "the owner revoked a key; tokens that it signed are dead");
        Ok(())
    }
}
