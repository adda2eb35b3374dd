//! Which vault a caller means.

use std::collections::{BTreeMap, HashMap};
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

/// The vaults of one user.
#[derive(Clone, Debug)]
pub struct UserVaults {
    /// The one that is meant when none is named.
    pub default: Vault,
    /// All of them by name, the default one included.
    pub named: BTreeMap<String, Vault>,
}

/// The caller has no vault of that name, or no vault at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("There is no vault of that name for this client.{}", self.cure())]
pub struct NoSuchVault {
    /// The names that the caller has for its own vaults.
    own: Vec<String>,
}

impl NoSuchVault {
    fn cure(&self) -> String {
        match &*self.own {
            [] => " Leave vault out.".to_owned(),
            own => format!(" Leave vault out for the first, or give one of: {}.", own.join(", ")),
        }
    }
}

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

    /// All vaults of `viewer`, by every name that it has for them; the default one has
    /// the empty name too.
    pub(super) fn of(&self, viewer: &Viewer) -> Vec<(String, Vault)> {
        let default = |vault: &Vault| (String::new(), vault.clone());
        match &*self.0 {
            Assignment::Single(vault) => vec![default(vault)],
            Assignment::BySubject(users) => {
                users.get(viewer.subject()).map_or_else(Vec::new, |vaults| {
                    let named = vaults.named.iter();
                    let named = named.map(|(name, vault)| (name.clone(), vault.clone()));
                    named.chain([default(&vaults.default)]).collect()
                })
            }
        }
    }

    /// The vault that `viewer` means by `name`; by an empty name, the default one.
    ///
    /// # Errors
    ///
    /// [`NoSuchVault`]. Another user's vault is no such vault.
    pub fn find(&self, viewer: &Viewer, name: &str) -> Result<&Vault, NoSuchVault> {
        match &*self.0 {
            Assignment::Single(vault) if name.is_empty() => Ok(vault),
            Assignment::Single(_) => Err(NoSuchVault { own: Vec::new() }),
            Assignment::BySubject(users) => {
                let vaults =
                    users.get(viewer.subject()).ok_or_else(|| NoSuchVault { own: Vec::new() })?;
                if name.is_empty() {
                    Ok(&vaults.default)
                } else {
                    let own = || vaults.named.keys().cloned().collect();
                    vaults.named.get(name).ok_or_else(|| NoSuchVault { own: own() })
                }
            }
        }
    }
}
