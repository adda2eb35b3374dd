//! Passwords: hashed with Argon2id, by two workers and no more.
//!
//! One hash takes 64 MiB. Without a bound, a flood of sign-ins would take the memory
//! of the process that also serves `/mcp`.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use argon2::{Algorithm, Argon2, Params, Version};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

use crate::entropy::Entropy;

/// How many passwords are hashed at once.
const WORKERS: usize = 2;
/// How many may be hashed or wait for it; the next is turned away.
const MAX_QUEUED: usize = 16;
/// The same for browsers in which a user has signed in before: strangers who fill their
/// queue do not keep those out.
const MAX_KNOWN_QUEUED: usize = 4;

/// What one hash costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashingCost {
    /// Memory, in KiB.
    pub memory_kib: u32,
    /// How often the memory is filled.
    pub passes: u32,
}

impl HashingCost {
    /// For production: 64 MiB and three passes, well above the least that OWASP names.
    pub const STRONG: Self = Self { memory_kib: 64 * 1024, passes: 3 };
    /// The least that OWASP names for Argon2id. For tests.
    pub const LEAST: Self = Self { memory_kib: 19 * 1024, passes: 2 };
}

/// A password as somebody typed it, in NFC: the same letters must be the same
/// password on every keyboard. Wiped when dropped, never printed.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

/// A password that may become somebody's.
#[derive(Clone, Debug)]
pub struct NewPassword(Password);

/// Why a password may not become somebody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfitPassword {
    /// NIST SP 800-63B asks for length and for nothing else.
    #[error("the password needs at least {} characters", NewPassword::MIN_CHARACTERS)]
    TooShort,
    /// Longer than any human's or manager's.
    #[error("the password has more than {} characters", NewPassword::MAX_CHARACTERS)]
    TooLong,
    /// The two fields of the form differ.
    #[error("the two passwords are not the same")]
    Unequal,
}

/// What is kept of a password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PasswordHash {
    cost: HashingCost,
    salt: [u8; 16],
    digest: [u8; 32],
}

/// What ends together with a password, besides all sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlsoEnds {
    /// All access that the user gave to apps.
    pub apps: bool,
    /// All passkeys of the user.
    pub passkeys: bool,
}

/// Why a password was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotVerified {
    /// Wrong password, or no such user: one fact, one answer.
    #[error("user name and password do not belong together")]
    Wrong,
    /// Come again.
    #[error("too many passwords are waiting to be checked")]
    Busy,
}

/// Which queue a password waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// From a browser in which a user has signed in before.
    Known,
    /// From anybody.
    Strangers,
}

/// Hashes and verifies. Cheap to clone.
#[derive(Clone)]
pub(super) struct PasswordHasher {
    cost: HashingCost,
    entropy: Entropy,
    workers: Arc<Semaphore>,
    known: Arc<Semaphore>,
    strangers: Arc<Semaphore>,
}

impl Password {
    /// Takes what was typed.
    #[must_use]
    pub fn typed(text: &str) -> Self {
        Self(Zeroizing::new(text.nfc().collect()))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password(…)")
    }
}

impl NewPassword {
    /// The shortest, in characters.
    pub const MIN_CHARACTERS: usize = 12;
    /// The longest, in characters.
    pub const MAX_CHARACTERS: usize = 1024;

    /// Takes a password that was typed twice.
    ///
    /// # Errors
    ///
    /// [`UnfitPassword`].
    pub(super) fn typed_twice(first: &str, second: &str) -> Result<Self, UnfitPassword> {
        if first != second {
            return Err(UnfitPassword::Unequal);
        }
        Self::check(Password::typed(first))
    }

    /// Takes a password from the operator's file. A short one is his decision, made
    /// where nobody can ask back; it is told to the log.
    ///
    /// # Errors
    ///
    /// [`UnfitPassword::TooLong`].
    pub(super) fn given_by_operator(password: Password) -> Result<Self, UnfitPassword> {
        match Self::check(password.clone()) {
            Err(UnfitPassword::TooShort) => {
                tracing::warn!(
                    "the owner's password has fewer than {} characters; it is easily guessed",
                    Self::MIN_CHARACTERS
                );
                Ok(Self(password))
            }
            judged => judged,
        }
    }

    /// Judges a password by its length.
    fn check(password: Password) -> Result<Self, UnfitPassword> {
        match password.0.chars().count() {
            ..Self::MIN_CHARACTERS => Err(UnfitPassword::TooShort),
            length if length > Self::MAX_CHARACTERS => Err(UnfitPassword::TooLong),
            _ => Ok(Self(password)),
        }
    }
}

impl PasswordHash {
    /// What is another one for every password that was ever chosen.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        Sha256::new_with_prefix(self.salt).chain_update(self.digest).finalize().into()
    }
}

impl PasswordHasher {
    pub(super) fn new(cost: HashingCost, entropy: Entropy) -> Self {
        Self {
            cost,
            entropy,
            workers: Arc::new(Semaphore::new(WORKERS)),
            known: Arc::new(Semaphore::new(MAX_KNOWN_QUEUED)),
            strangers: Arc::new(Semaphore::new(MAX_QUEUED)),
        }
    }

    /// Hashes a new password, of somebody who has shown the old one or a link.
    ///
    /// # Errors
    ///
    /// [`NotVerified::Busy`].
    pub(super) async fn hash(&self, password: NewPassword) -> Result<PasswordHash, NotVerified> {
        let (cost, salt) = (self.cost, self.entropy.bytes());
        let digest = self.work(password.0, cost, salt, Queue::Known).await?;
        Ok(PasswordHash { cost, salt, digest })
    }

    /// Compares a password with what is kept of a user's, or with nothing when there
    /// is no such user. Both take the same time (checklist #149).
    ///
    /// # Errors
    ///
    /// [`NotVerified`].
    pub(super) async fn verify(
        &self,
        password: Password,
        kept: Option<&PasswordHash>,
        queue: Queue,
    ) -> Result<(), NotVerified> {
        let (cost, salt) = kept.map_or((self.cost, [0; 16]), |kept| (kept.cost, kept.salt));
        let digest = self.work(password, cost, salt, queue).await?;
        let fits = kept.is_some_and(|kept| digest.ct_eq(&kept.digest).into());
        if fits { Ok(()) } else { Err(NotVerified::Wrong) }
    }

    /// How many passwords are hashed or wait for it.
    pub(super) fn waiting(&self) -> usize {
        MAX_QUEUED + MAX_KNOWN_QUEUED
            - self.strangers.available_permits()
            - self.known.available_permits()
    }

    async fn work(
        &self,
        password: Password,
        cost: HashingCost,
        salt: [u8; 16],
        queue: Queue,
    ) -> Result<[u8; 32], NotVerified> {
        let queue = match queue {
            Queue::Known => &self.known,
            Queue::Strangers => &self.strangers,
        };
        let _place = queue.try_acquire().map_err(|_| NotVerified::Busy)?;
        let workers = Arc::clone(&self.workers);
        let worker = workers.acquire_owned().await.map_err(|_| NotVerified::Busy)?;
        let work = move || {
            // Held by the work and not by the request: a browser that hangs up does
            // not free a worker that is still busy.
            let _worker = worker;
            derive(&password, cost, salt)
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(digest)) => Ok(digest),
            Ok(Err(error)) => {
                tracing::error!(%error, "a password could not be hashed");
                Err(NotVerified::Busy)
            }
            Err(error) => {
                tracing::error!(%error, "the password worker did not finish");
                Err(NotVerified::Busy)
            }
        }
    }
}

fn derive(
    password: &Password,
    cost: HashingCost,
    salt: [u8; 16],
) -> Result<[u8; 32], argon2::Error> {
    let mut digest = [0; 32];
    let parameters = Params::new(cost.memory_kib, cost.passes, 1, Some(digest.len()))?;
    Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters).hash_password_into(
        password.0.as_bytes(),
        &salt,
        &mut digest,
    )?;
    Ok(digest)
}
