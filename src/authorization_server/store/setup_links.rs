//! Links by which users choose a password: one a user, as a digest.

use std::sync::MutexGuard;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::authorization_server::audit::Actor;
use crate::authorization_server::password::AlsoEnds;
use crate::authorization_server::store::users::User;
use crate::authorization_server::store::{Store, StoreError, decode, encode};
use crate::clock::UnixTime;

/// SHA-256 of the secret in a link.
pub(crate) type SetupDigest = [u8; 32];

/// A link that was handed out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredLink {
    pub(crate) digest: SetupDigest,
    /// When it stops working; never, if absent: then it is for a user who has no password
    /// yet, and replaced at the next start.
    pub(crate) expires_at: Option<UnixTime>,
}

impl Store {
    /// Keeps the one link of a user, in the place of an older one.
    pub(crate) fn keep_setup_link(&self, user: &str, link: &StoredLink) -> Result<(), StoreError> {
        let _order = self.begin();
        self.0.trees.setup_links.insert(user, encode(link)?)?;
        Ok(())
    }

    /// Whose link has this digest.
    pub(crate) fn user_of_setup_link(
        &self,
        digest: SetupDigest,
        now: UnixTime,
    ) -> Result<Option<String>, StoreError> {
        let mut found = None;
        for entry in &self.0.trees.setup_links {
            let (user, bytes) = entry?;
            let link: StoredLink = decode(&bytes)?;
            let is_good = link.expires_at.is_none_or(|end| now < end);
            if bool::from(link.digest.ct_eq(&digest)) && is_good {
                found = String::from_utf8(user.to_vec()).ok();
            }
        }
        Ok(found)
    }

    /// Gives the user of a link this password and uses the link up, unless somebody else
    /// was quicker. Answers whether it was done.
    pub(crate) fn use_setup_link(
        &self,
        digest: SetupDigest,
        user: &User,
        also: AlsoEnds,
    ) -> Result<bool, StoreError> {
        let order = self.begin();
        let owner = self.user_of_setup_link(digest, user.created_at)?;
        let is_good = owner.is_some_and(|owner| owner == user.name);
        if is_good {
            self.give_password_in(&order, user, also, Actor::User)?;
        }
        Ok(is_good)
    }

    /// Gives a user a password, whether there is one or not. All sessions and links of the
    /// user end, and what `also` names.
    pub(crate) fn give_password(&self, user: &User, also: AlsoEnds) -> Result<(), StoreError> {
        let order = self.begin();
        self.give_password_in(&order, user, also, Actor::Operator)
    }

    fn give_password_in(
        &self,
        order: &MutexGuard<'_, ()>,
        user: &User,
        also: AlsoEnds,
        by: Actor,
    ) -> Result<(), StoreError> {
        let name = &*user.name;
        for (key, _) in self.sessions_of(name)? {
            self.remove_session(key)?;
        }
        self.end_also(order, name, also, (by, user.created_at))?;
        self.0.trees.setup_links.remove(name)?;
        let created_at = self.user(name)?.map_or(user.created_at, |known| known.created_at);
        let user = User { created_at, ..user.clone() };
        self.0.trees.users.insert(name, encode(&user)?)?;
        Ok(())
    }
}
