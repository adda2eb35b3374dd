//! Which vault a caller means.

use std::collections::HashMap;
use std::sync::Arc;

use crate::access::permit::Viewer;
use crate::vault::Vault;

/// The vaults of everybody. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Vaults(Arc<Assignment>);

#[derive(Debug)]
enum Assignment {
    /// One owner: whoever the trusted issuer calls by any name is that owner.
    Single(Vault),
    /// By subject. Who is not named here has no vault.
    BySubject(HashMap<String, UserVaults>),
}

/// The vaults of one user, by name; the first is meant when none is named.
#[derive(Clone, Debug)]
pub struct UserVaults(Vec<(String, Vault)>);

impl UserVaults {
    /// A user with one vault, which is the default one.
    #[must_use]
    pub fn new(name: String, vault: Vault) -> Self {
        Self(vec![(name, vault)])
    }

    /// The same user with one vault more.
    #[must_use]
    pub fn and(mut self, name: String, vault: Vault) -> Self {
        self.0.push((name, vault));
        self
    }

    fn find(&self, name: &str) -> Option<&Vault> {
        self.0.iter().find(|(own, _)| name.is_empty() || own == name).map(|(_, vault)| vault)
    }
}

/// The caller has no vault of that name, or no vault at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("There is no vault of that name for this client.")]
pub struct NoSuchVault;

impl Vaults {
    /// One vault for the one owner of this server.
    #[must_use]
    pub fn single(vault: Vault) -> Self {
        Self(Arc::new(Assignment::Single(vault)))
    }

    /// Vaults by the `sub` claim. A user with several subjects stands here once
    /// for each.
    #[must_use]
    pub fn for_users(users: impl IntoIterator<Item = (String, UserVaults)>) -> Self {
        Self(Arc::new(Assignment::BySubject(users.into_iter().collect())))
    }

    /// The vault that `viewer` means by `name`; by an empty name, the default one.
    ///
    /// # Errors
    ///
    /// [`NoSuchVault`]. Another user's vault is no such vault.
    pub fn find(&self, viewer: &Viewer, name: &str) -> Result<&Vault, NoSuchVault> {
        match &*self.0 {
            Assignment::Single(vault) if name.is_empty() => Ok(vault),
            Assignment::Single(_) => Err(NoSuchVault),
            Assignment::BySubject(users) => {
                users.get(viewer.subject()).and_then(|vaults| vaults.find(name)).ok_or(NoSuchVault)
            }
        }
    }
}
