//! Cursors: where a list goes on, sealed so that a client can only hand them back.
//!
//! A cursor is encrypted under a key that lives as long as the process, together with
//! everything that it belongs to: who asks, with which client, what, of which vault.
//! It holds what was shown and no position, so that it stays right while notes come
//! and go.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};

use crate::access::permit::Viewer;
use crate::entropy::Entropy;
use crate::vault::answers::ListPlace;

const NONCE_BYTES: usize = 24;

/// So many notes can be marked as shown: a cursor of them has less than 4 kB.
pub(super) const MOST_MARKS: usize = 360;

/// Longer texts are no cursors of ours: twice the longest path, encoded.
const LONGEST: usize = 24 * 1024;

/// Seals and opens cursors.
pub(super) struct Cursors {
    cipher: XChaCha20Poly1305,
    entropy: Entropy,
}

/// The request that a cursor goes on with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    /// Who asks, and with which client.
    pub(super) viewer: &'a Viewer,
    /// The tool or method.
    pub(super) method: &'a str,
    /// The vault, by the name that was given.
    pub(super) vault: &'a str,
    /// The arguments that decide what is listed.
    pub(super) arguments: &'a [&'a str],
}

/// A text that is no cursor of this request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The cursor does not belong to this request, or is too old. Ask again without it.")]
pub(super) struct InvalidCursor;

impl Cursors {
    /// Cursors under a key that nobody else has.
    pub(super) fn new(entropy: Entropy) -> Self {
        Self { cipher: XChaCha20Poly1305::new((&entropy.bytes::<32>()).into()), entropy }
    }

    /// A cursor behind the notes with these marks; none if there are too many.
    pub(super) fn after_marks(&self, request: Request<'_>, marks: &[u64]) -> Option<String> {
        let content: Vec<u8> = marks.iter().flat_map(|mark| mark.to_le_bytes()).collect();
        (marks.len() <= MOST_MARKS).then(|| self.seal(request, &content))
    }

    /// The marks in a cursor; none for an empty one, which begins a list.
    pub(super) fn marks(
        &self,
        request: Request<'_>,
        cursor: &str,
    ) -> Result<Vec<u64>, InvalidCursor> {
        if cursor.is_empty() {
            return Ok(Vec::new());
        }
        let content = self.open(request, cursor)?;
        let (marks, []) = content.as_chunks() else { return Err(InvalidCursor) };
        Ok(marks.iter().map(|mark| u64::from_le_bytes(*mark)).collect())
    }

    /// A cursor behind a place in a list.
    pub(super) fn after_place(&self, request: Request<'_>, place: &ListPlace) -> Option<String> {
        Some(self.seal(request, &serde_json::to_vec(place).ok()?))
    }

    /// The place in a cursor; none for an empty one, which begins a list.
    pub(super) fn place(
        &self,
        request: Request<'_>,
        cursor: &str,
    ) -> Result<Option<ListPlace>, InvalidCursor> {
        if cursor.is_empty() {
            return Ok(None);
        }
        let content = self.open(request, cursor)?;
        serde_json::from_slice(&content).map(Some).map_err(|_| InvalidCursor)
    }

    fn seal(&self, request: Request<'_>, content: &[u8]) -> String {
        let nonce = self.entropy.bytes::<NONCE_BYTES>();
        let payload = Payload { msg: content, aad: &request.bound() };
        let sealed = self.cipher.encrypt((&nonce).into(), payload);
        let sealed = sealed.expect("the cipher takes up to 256 GiB");
        BASE64_URL_SAFE_NO_PAD.encode([&nonce, &*sealed].concat())
    }

    fn open(&self, request: Request<'_>, cursor: &str) -> Result<Vec<u8>, InvalidCursor> {
        if cursor.len() > LONGEST {
            return Err(InvalidCursor);
        }
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(cursor.trim()).map_err(|_| InvalidCursor)?;
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or(InvalidCursor)?;
        let payload = Payload { msg: sealed, aad: &request.bound() };
        self.cipher.decrypt(nonce.into(), payload).map_err(|_| InvalidCursor)
    }
}

impl Request<'_> {
    /// What the cursor is bound to, so written that two requests never look alike.
    fn bound(&self) -> Vec<u8> {
        let head = [self.viewer.subject(), self.viewer.client(), self.method, self.vault];
        let mut bound = Vec::new();
        for part in head.iter().chain(self.arguments) {
            bound.extend(part.len().to_le_bytes());
            bound.extend(part.as_bytes());
        }
        bound
    }
}
