//! Answers to consent forms, for some seconds: a form that comes twice gets one answer.
//!
//! A double click sends a form twice, and the browser hangs up on the first. So the second
//! waits for the first, which goes on, and is told the same. Nothing is decided twice by that: a
//! form is what one browser sends of one rendering, to the last byte, and the code is the
//! one that was made.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use super::code::CodeDigest;
use super::pending::PendingName;
use super::redirect_uri::RedirectUri;
use super::session::SessionKey;
use crate::clock::{Clock, UnixTime};

/// How long the same answer is given again.
const REPEATED_FOR: Duration = Duration::from_secs(10);
/// A bound on memory. Beyond it a form that comes twice is told that it was answered.
const MOST: usize = 1_000;

/// What was answered lately. Cheap to clone.
#[derive(Clone)]
pub(super) struct Answered {
    clock: Clock,
    forms: Arc<Mutex<HashMap<FormDigest, Entry>>>,
}

/// A browser on its way back to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SentBack {
    pub(super) redirect_uri: RedirectUri,
    pub(super) location: String,
    /// What the client gets, if it gets something.
    pub(super) code: Option<CodeDigest>,
    /// For the log.
    pub(super) outcome: String,
}

/// All of a form that was posted, and by which browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FormDigest([u8; 32]);

/// Whose turn it is.
pub(super) enum Turn {
    /// The form is to be judged.
    First(FirstTurn),
    /// It was, a moment ago.
    Again(SentBack),
}

/// The turn of the first: it ends with an answer, or with none, and then it is the next
/// one's.
pub(super) struct FirstTurn {
    answered: Answered,
    form: FormDigest,
    sender: watch::Sender<Option<SentBack>>,
}

struct Entry {
    since: UnixTime,
    answer: watch::Receiver<Option<SentBack>>,
}

impl FormDigest {
    pub(super) fn of(name: &PendingName, browser: SessionKey, body: &[u8]) -> Self {
        let hash = Sha256::new_with_prefix(browser.as_bytes()).chain_update(name.at(""));
        Self(hash.chain_update([0]).chain_update(body).finalize().into())
    }
}

impl Answered {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, forms: Arc::default() }
    }

    /// Waits for the answer to this form, if it is just being judged.
    pub(super) async fn begin(&self, form: FormDigest) -> Turn {
        loop {
            let mut earlier = match self.enter(form) {
                Ok(turn) => return Turn::First(turn),
                Err(earlier) => earlier,
            };
            // An error means that the first has come to nothing.
            if let Ok(answer) = earlier.wait_for(Option::is_some).await
                && let Some(answer) = answer.clone()
            {
                return Turn::Again(answer);
            }
        }
    }

    fn enter(&self, form: FormDigest) -> Result<FirstTurn, watch::Receiver<Option<SentBack>>> {
        let now = self.clock.now();
        let mut forms = self.lock();
        forms.retain(|_, entry| now.since(entry.since) < REPEATED_FOR);
        if let Some(entry) = forms.get(&form) {
            return Err(entry.answer.clone());
        }
        let (sender, answer) = watch::channel(None);
        if forms.len() < MOST {
            forms.insert(form, Entry { since: now, answer });
        }
        Ok(FirstTurn { answered: self.clone(), form, sender })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<FormDigest, Entry>> {
        self.forms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FirstTurn {
    /// Lets everybody know who has sent the same.
    pub(super) fn end(self, answer: SentBack) {
        self.sender.send_replace(Some(answer));
    }
}

impl Drop for FirstTurn {
    fn drop(&mut self) {
        if self.sender.borrow().is_none() {
            self.answered.lock().remove(&self.form);
        }
    }
}
