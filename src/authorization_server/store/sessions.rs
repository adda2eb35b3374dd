//! Browser sessions of users who have signed in, under the digest of their cookie.

use serde::{Deserialize, Serialize};

use crate::authorization_server::password::PasswordHash;
use crate::authorization_server::session::SessionKey;
use crate::authorization_server::store::passkeys::{PasskeyUse, Used};
use crate::authorization_server::store::{Store, StoreError, decode, encode};
use crate::clock::UnixTime;

/// A browser in which somebody has signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredSession {
    /// Who.
    pub(crate) user: String,
    /// When the password was typed, or a passkey shown.
    pub(crate) signed_in_at: UnixTime,
    /// When the browser was last heard of, to the minute.
    pub(crate) seen_at: UnixTime,
}

/// What becomes of a session that somebody wants to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// It has begun.
    Begun,
    /// What was shown is not good any more: it was changed or removed meanwhile.
    Overtaken,
    /// There are two of the passkey that was shown.
    Copied,
}

impl Store {
    /// The session of that cookie, alive or not.
    pub(crate) fn session(&self, key: SessionKey) -> Result<Option<StoredSession>, StoreError> {
        self.0.trees.sessions.get(key.as_bytes())?.map(|bytes| decode(&bytes)).transpose()
    }

    /// Begins a session in the place of the one under the old key, if the user's password
    /// still is what it was, and the passkey, if one was shown, is still there.
    pub(crate) fn begin_session(
        &self,
        (old, new): (SessionKey, SessionKey),
        session: &StoredSession,
        (password, passkey): (&PasswordHash, Option<&PasskeyUse>),
    ) -> Result<Start, StoreError> {
        let _order = self.begin();
        if self.user(&session.user)?.is_none_or(|user| user.password != *password) {
            return Ok(Start::Overtaken);
        }
        if let Some(passkey) = passkey {
            match self.use_passkey(&session.user, passkey)? {
                Used::Yes => {}
                Used::Gone => return Ok(Start::Overtaken),
                Used::Copied => return Ok(Start::Copied),
            }
        }
        self.remove_session(old)?;
        self.put_session(new, session)?;
        Ok(Start::Begun)
    }

    /// Keeps a session.
    pub(super) fn put_session(
        &self,
        key: SessionKey,
        session: &StoredSession,
    ) -> Result<(), StoreError> {
        self.0.trees.sessions.insert(key.as_bytes(), encode(session)?)?;
        Ok(())
    }

    /// Notes that a session was used, unless it has been ended meanwhile: a request
    /// that was under way at sign-out must not bring it back.
    pub(crate) fn touch_session(
        &self,
        key: SessionKey,
        seen_at: UnixTime,
    ) -> Result<(), StoreError> {
        let sessions = &self.0.trees.sessions;
        let Some(bytes) = sessions.get(key.as_bytes())? else { return Ok(()) };
        let session = StoredSession { seen_at, ..decode(&bytes)? };
        let record = encode(&session)?;
        // Who loses here was overtaken by another touch or by the end of the session.
        let _overtaken = sessions.compare_and_swap(key.as_bytes(), Some(bytes), Some(record))?;
        Ok(())
    }

    /// The sessions of a user, with their keys.
    pub(crate) fn sessions_of(
        &self,
        user: &str,
    ) -> Result<Vec<(SessionKey, StoredSession)>, StoreError> {
        self.sessions_where(|session| session.user == user)
    }

    /// The sessions that `is_meant` picks, with their keys.
    pub(crate) fn sessions_where(
        &self,
        is_meant: impl Fn(&StoredSession) -> bool,
    ) -> Result<Vec<(SessionKey, StoredSession)>, StoreError> {
        let mut sessions = Vec::new();
        for entry in &self.0.trees.sessions {
            let (key, bytes) = entry?;
            let session: StoredSession = decode(&bytes)?;
            if let Some(key) = SessionKey::stored(&key)
                && is_meant(&session)
            {
                sessions.push((key, session));
            }
        }
        Ok(sessions)
    }

    /// Ends all sessions of a user but one. Answers how many those were.
    pub(crate) fn remove_other_sessions(
        &self,
        user: &str,
        kept: SessionKey,
    ) -> Result<usize, StoreError> {
        let mut others = self.sessions_of(user)?;
        others.retain(|(key, _)| *key != kept);
        for (key, _) in &others {
            self.remove_session(*key)?;
        }
        Ok(others.len())
    }

    /// Ends a session.
    pub(crate) fn remove_session(&self, key: SessionKey) -> Result<(), StoreError> {
        self.0.trees.sessions.remove(key.as_bytes())?;
        Ok(())
    }

    /// Removes the sessions for which `is_over` holds.
    pub(crate) fn sweep_sessions(
        &self,
        is_over: impl Fn(&StoredSession) -> bool,
    ) -> Result<(), StoreError> {
        for entry in &self.0.trees.sessions {
            let (key, bytes) = entry?;
            if is_over(&decode(&bytes)?) {
                self.0.trees.sessions.remove(key)?;
            }
        }
        Ok(())
    }
}
