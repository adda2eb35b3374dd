//! What a user ticked last time, to tick it again. It saves clicks and gives nothing:
//! consent is asked for every time.

use sha2::{Digest as _, Sha256};

use crate::authorization_server::authorization::AuthorizationRequest;
use crate::authorization_server::redirect_uri::RedirectTarget;
use crate::authorization_server::store::{Store, StoreError, decode, encode};
use crate::contract::scope::{Scope, ScopeSet};

/// Whose choice, and about what: a client *and* the place that its answers go to. A
/// client's name alone is anybody's.
#[derive(Clone, Copy)]
pub(crate) struct ChoiceKey([u8; 32]);

impl ChoiceKey {
    /// The key for a user's choice about a request.
    pub(crate) fn of(user: &str, request: &AuthorizationRequest) -> Self {
        let (kind, place) = match request.redirect_uri.target() {
            RedirectTarget::Website(place) => ("website", place),
            // The port is another one each time.
            RedirectTarget::ThisComputer(_) => ("this computer", String::new()),
            RedirectTarget::App(scheme) => ("app", scheme),
        };
        let parts = [user, request.client.id.as_str(), kind, &place];
        let hash = parts.iter().fold(Sha256::new(), hash_part);
        // A published client can become another one under its name; what was ticked for
        // the one is not ticked for the other (CIMD section 6.3, checklist #117).
        let hash = match request.client.document_host() {
            Some(_) => hash.chain_update(request.client.character()),
            None => hash,
        };
        Self(hash.finalize().into())
    }
}

fn hash_part(hash: Sha256, part: &&str) -> Sha256 {
    // The length first, so that two lists of parts never read alike.
    hash.chain_update(part.len().to_be_bytes()).chain_update(part)
}

impl Store {
    /// What was ticked last time.
    pub(crate) fn last_choice(&self, key: ChoiceKey) -> Result<Option<ScopeSet>, StoreError> {
        self.0.trees.choices.get(key.0)?.map(|bytes| decode(&bytes)).transpose()
    }

    /// Remembers what was ticked, but for notes about people: they are a decision of
    /// their own each time (design section 5).
    pub(crate) fn remember_choice(
        &self,
        key: ChoiceKey,
        scopes: ScopeSet,
    ) -> Result<(), StoreError> {
        self.0.trees.choices.insert(key.0, encode(&scopes.without(Scope::People))?)?;
        Ok(())
    }
}
