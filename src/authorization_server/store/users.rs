//! Users: who may sign in.

use std::sync::MutexGuard;

use serde::{Deserialize, Serialize};

use crate::authorization_server::audit::{Actor, Event, What};
use crate::authorization_server::grant::{EndReason, Terms};
use crate::authorization_server::password::{AlsoEnds, PasswordHash};
use crate::authorization_server::session::SessionKey;
use crate::authorization_server::store::sessions::StoredSession;
use crate::authorization_server::store::{Store, StoreError, decode, encode};
use crate::clock::UnixTime;

/// A user, under its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct User {
    /// Also the `sub` of the tokens.
    pub(crate) name: String,
    /// What is kept of the password.
    pub(crate) password: PasswordHash,
    /// When the user was made.
    pub(crate) created_at: UnixTime,
}

/// A password in the place of another one.
#[derive(Clone, Debug)]
pub(crate) struct PasswordChange {
    /// What the present password was compared with.
    pub(crate) verified: PasswordHash,
    pub(crate) new: PasswordHash,
}

impl Store {
    /// The user of that name.
    pub(crate) fn user(&self, name: &str) -> Result<Option<User>, StoreError> {
        self.0.trees.users.get(name)?.map(|bytes| decode(&bytes)).transpose()
    }

    /// Whether anybody has a password yet.
    pub(crate) fn has_users(&self) -> bool {
        !self.0.trees.users.is_empty()
    }

    /// Gives a user another password, if it still is the one that was verified: of two
    /// changes at once, one wins. All sessions end but a new one, and what `also` names.
    /// Answers whether it was changed.
    ///
    /// In one change, the password last: whoever signs in meanwhile with the old one is
    /// before or behind all of it.
    pub(crate) fn change_password(
        &self,
        change: &PasswordChange,
        (key, session): (SessionKey, &StoredSession),
        also: AlsoEnds,
    ) -> Result<bool, StoreError> {
        let order = self.begin();
        let name = &*session.user;
        let Some(mut user) = self.user(name)? else { return Ok(false) };
        if user.password != change.verified {
            return Ok(false);
        }
        for (other, _) in self.sessions_of(name)? {
            self.remove_session(other)?;
        }
        self.put_session(key, session)?;
        self.end_also(&order, name, also, (Actor::User, session.signed_in_at))?;
        user.password = change.new.clone();
        self.0.trees.users.insert(name, encode(&user)?)?;
        Ok(true)
    }

    /// Ends what a user wants to end together with the password, in a change that has
    /// begun.
    pub(super) fn end_also(
        &self,
        order: &MutexGuard<'_, ()>,
        name: &str,
        also: AlsoEnds,
        (by, now): (Actor, UnixTime),
    ) -> Result<(), StoreError> {
        if also.apps {
            let is_own = |terms: &Terms| terms.subject == name;
            self.end_access_in(order, is_own, now, EndReason::PasswordChanged)?;
        }
        if also.passkeys && self.remove_passkeys_of(name)? > 0 {
            self.note(&Event::new(now, by, What::PasskeysRemoved).of_user(name))?;
        }
        Ok(())
    }
}
