//! The only source of random bytes.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

/// A handle to a cryptographic generator. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Entropy(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Seeded(Arc<Mutex<StdRng>>),
}

impl Entropy {
    /// The thread's generator, seeded by the operating system.
    #[must_use]
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// The same bytes for the same seed: for tests that must be repeatable.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Source::Seeded(Arc::new(Mutex::new(StdRng::seed_from_u64(seed)))))
    }

    /// `N` fresh random bytes.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one place that may ask")]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        match &self.0 {
            Source::System => rand::rng().fill_bytes(&mut bytes),
            Source::Seeded(generator) => {
                generator.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut bytes);
            }
        }
        bytes
    }

    /// A secret of 256 bits as 43 characters of base64url: twice what OAuth 2.1
    /// section 7.7 asks of a code.
    #[must_use]
    pub fn secret(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.bytes::<32>())
    }
}
