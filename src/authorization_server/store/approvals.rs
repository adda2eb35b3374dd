//! As what each user approved a client last. A client that publishes its own document can
//! become another one under its name, and what one user approved says nothing about what
//! another did (CIMD section 6.3).

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::authorization_server::client::{ClientId, RegisteredClient};
use crate::authorization_server::store::{STEP, Store, StoreError, decode, encode};

#[derive(Serialize, Deserialize)]
struct Approval {
    client: ClientId,
    character: [u8; 32],
}

fn key(user: &str, client: &ClientId) -> [u8; 32] {
    // The length first, so that two pairs never read alike.
    let hash = Sha256::new().chain_update(user.len().to_be_bytes()).chain_update(user);
    hash.chain_update(client.as_str()).finalize().into()
}

/// Whether this version can read a record.
pub(super) fn is_readable(value: &[u8]) -> bool {
    decode::<Approval>(value).is_ok()
}

impl Store {
    /// What the client was when that user approved it last, if ever.
    pub(crate) fn approved_character(
        &self,
        user: &str,
        client: &ClientId,
    ) -> Result<Option<[u8; 32]>, StoreError> {
        let bytes = self.0.trees.approvals.get(key(user, client))?;
        let approval = bytes.map(|bytes| decode::<Approval>(&bytes)).transpose()?;
        Ok(approval.map(|approval| approval.character))
    }

    /// Notes as what a user approves a client.
    pub(super) fn note_character(
        &self,
        user: &str,
        client: &RegisteredClient,
    ) -> Result<(), StoreError> {
        let approval = Approval { client: client.id.clone(), character: client.character() };
        self.0.trees.approvals.insert(key(user, &client.id), encode(&approval)?)?;
        Ok(())
    }

    /// Forgets approvals of clients that there are no more.
    pub(super) fn forget_approvals(&self) -> Result<(), StoreError> {
        let mut orphans = Vec::new();
        for entry in &self.0.trees.approvals {
            let (key, bytes) = entry?;
            let client = decode::<Approval>(&bytes)?.client;
            if !self.0.trees.clients.contains_key(client.as_str())? {
                orphans.push((key, client));
            }
        }
        for orphans in orphans.chunks(STEP) {
            let _order = self.begin();
            for (key, client) in orphans {
                // It may have been approved anew since the look.
                if !self.0.trees.clients.contains_key(client.as_str())? {
                    self.0.trees.approvals.remove(key)?;
                }
            }
        }
        Ok(())
    }
}
