//! Users: who may sign in.

use serde::{Deserialize, Serialize};

use crate::authorization_server::password::PasswordHash;
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

/// There is a user of that name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is such a user already")]
pub(crate) struct UserExists;

impl Store {
    /// The user of that name.
    pub(crate) fn user(&self, name: &str) -> Result<Option<User>, StoreError> {
        self.0.trees.users.get(name)?.map(|bytes| decode(&bytes)).transpose()
    }

    /// Whether anybody has a password yet.
    pub(crate) fn has_users(&self) -> bool {
        !self.0.trees.users.is_empty()
    }

    /// Gives a user another password.
    pub(crate) fn set_password(
        &self,
        name: &str,
        password: &PasswordHash,
    ) -> Result<(), StoreError> {
        let _order = self.begin();
        if let Some(mut user) = self.user(name)? {
            user.password = password.clone();
            self.0.trees.users.insert(name, encode(&user)?)?;
        }
        Ok(())
    }

    /// Makes a user, unless there is one of that name. Of two at once, one wins.
    pub(crate) fn add_user(&self, user: &User) -> Result<Result<(), UserExists>, StoreError> {
        let record = encode(user)?;
        let outcome =
            self.0.trees.users.compare_and_swap(&user.name, None::<&[u8]>, Some(record))?;
        Ok(outcome.map_err(|_| UserExists))
    }
}
