//! Passkeys of users. A public key is no secret, so they are kept as they are.

use serde::{Deserialize, Serialize};

use crate::authorization_server::passkey::{Base64Url, PasskeyKey, PublicKey};
use crate::authorization_server::store::{Store, StoreError, decode, encode};
use crate::clock::UnixTime;

/// A passkey, under the digest of its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredPasskey {
    /// Whose.
    pub(crate) user: String,
    /// What the user calls it.
    pub(crate) name: String,
    /// What the authenticator calls it.
    pub(crate) id: Base64Url,
    pub(crate) public_key: PublicKey,
    /// How often it has signed, if it counts.
    pub(crate) counter: u32,
    /// Whether it may be on several devices.
    pub(crate) can_be_copied: bool,
    pub(crate) added_at: UnixTime,
    /// When somebody last signed in with it.
    pub(crate) used_at: Option<UnixTime>,
}

/// A passkey that has just proved somebody's presence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PasskeyUse {
    pub(crate) key: PasskeyKey,
    /// What the user calls it.
    pub(crate) name: String,
    pub(crate) counter: u32,
    pub(crate) at: UnixTime,
}

/// What becomes of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Used {
    /// It is noted.
    Yes,
    /// The passkey was removed meanwhile.
    Gone,
    /// It has signed more often than it says: there are two of it (section 6.1.1).
    Copied,
}

/// What becomes of a new passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It is kept.
    Yes,
    /// There is one with this id already.
    Known,
    /// The user has as many as one may have.
    TooMany,
}

impl StoredPasskey {
    pub(crate) fn key(&self) -> PasskeyKey {
        PasskeyKey::of(&self.id.0)
    }

    /// Whether a use with this counter can be the next one. Where neither counts, nothing
    /// can be told (step 22 of section 7.2).
    const fn may_count(&self, counter: u32) -> bool {
        (self.counter == 0 && counter == 0) || counter > self.counter
    }
}

impl Store {
    /// The most that a user may have.
    pub(crate) const MOST_PASSKEYS: usize = 20;

    /// Whether anybody has one.
    pub(crate) fn has_passkeys(&self) -> bool {
        !self.0.trees.passkeys.is_empty()
    }

    pub(crate) fn passkey(&self, key: PasskeyKey) -> Result<Option<StoredPasskey>, StoreError> {
        self.0.trees.passkeys.get(key.as_bytes())?.map(|bytes| decode(&bytes)).transpose()
    }

    /// The passkeys of a user, the oldest first.
    pub(crate) fn passkeys_of(&self, user: &str) -> Result<Vec<StoredPasskey>, StoreError> {
        let mut passkeys = Vec::new();
        for entry in &self.0.trees.passkeys {
            let passkey: StoredPasskey = decode(&entry?.1)?;
            if passkey.user == user {
                passkeys.push(passkey);
            }
        }
        passkeys.sort_by_key(|passkey| (passkey.added_at, passkey.key()));
        Ok(passkeys)
    }

    /// Keeps a new one.
    pub(crate) fn add_passkey(&self, passkey: &StoredPasskey) -> Result<Added, StoreError> {
        let _order = self.begin();
        if self.passkey(passkey.key())?.is_some() {
            return Ok(Added::Known);
        }
        if self.passkeys_of(&passkey.user)?.len() >= Self::MOST_PASSKEYS {
            return Ok(Added::TooMany);
        }
        self.put_passkey(passkey)?;
        Ok(Added::Yes)
    }

    /// Gives a passkey of a user another name. Answers whether there is such a one.
    pub(crate) fn rename_passkey(
        &self,
        user: &str,
        key: PasskeyKey,
        name: &str,
    ) -> Result<bool, StoreError> {
        let _order = self.begin();
        let own = self.passkey(key)?.filter(|passkey| passkey.user == user);
        let Some(passkey) = own else { return Ok(false) };
        self.put_passkey(&StoredPasskey { name: name.to_owned(), ..passkey })?;
        Ok(true)
    }

    /// Removes a passkey of a user, and answers which it was.
    pub(crate) fn remove_passkey(
        &self,
        user: &str,
        key: PasskeyKey,
    ) -> Result<Option<StoredPasskey>, StoreError> {
        let _order = self.begin();
        let own = self.passkey(key)?.filter(|passkey| passkey.user == user);
        if own.is_some() {
            self.0.trees.passkeys.remove(key.as_bytes())?;
        }
        Ok(own)
    }

    /// Removes all passkeys of a user, in a change that has begun. Answers how many.
    pub(super) fn remove_passkeys_of(&self, user: &str) -> Result<usize, StoreError> {
        let passkeys = self.passkeys_of(user)?;
        for passkey in &passkeys {
            self.0.trees.passkeys.remove(passkey.key().as_bytes())?;
        }
        Ok(passkeys.len())
    }

    /// Notes a use, in a change that has begun.
    pub(super) fn use_passkey(&self, user: &str, shown: &PasskeyUse) -> Result<Used, StoreError> {
        let own = self.passkey(shown.key)?.filter(|passkey| passkey.user == user);
        let Some(passkey) = own else { return Ok(Used::Gone) };
        if !passkey.may_count(shown.counter) {
            return Ok(Used::Copied);
        }
        let (counter, used_at) = (shown.counter, Some(shown.at));
        self.put_passkey(&StoredPasskey { counter, used_at, ..passkey })?;
        Ok(Used::Yes)
    }

    fn put_passkey(&self, passkey: &StoredPasskey) -> Result<(), StoreError> {
        self.0.trees.passkeys.insert(passkey.key().as_bytes(), encode(passkey)?)?;
        Ok(())
    }
}
