//! What a user ticked last time, to tick it again. It saves clicks and gives nothing:
//! consent is asked for every time.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::authorization_server::authorization::AuthorizationRequest;
use crate::authorization_server::client::ClientId;
use crate::authorization_server::redirect_uri::RedirectTarget;
use crate::authorization_server::store::{Store, StoreError, decode, encode};
use crate::contract::scope::{Scope, ScopeSet};

/// What was ticked, and for whom: it goes with the client.
#[derive(Serialize, Deserialize)]
struct Choice {
    client: ClientId,
    scopes: ScopeSet,
}

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
        let bytes = self.0.trees.choices.get(key.0)?;
        // Versions before this one did not write down for whom. Not worth a page that fails.
        Ok(bytes.and_then(|bytes| decode::<Choice>(&bytes).ok()).map(|choice| choice.scopes))
    }

    /// Remembers what was ticked for a client, but for notes about people: they are a
    /// decision of their own each time (design section 5).
    pub(crate) fn remember_choice(
        &self,
        key: ChoiceKey,
        client: &ClientId,
        scopes: ScopeSet,
    ) -> Result<(), StoreError> {
        let choice = Choice { client: client.clone(), scopes: scopes.without(Scope::People) };
        self.0.trees.choices.insert(key.0, encode(&choice)?)?;
        Ok(())
    }

    /// Forgets what was ticked for clients that there are no more, and what does not say
    /// for whom it was.
    pub(crate) fn forget_choices(&self) -> Result<(), StoreError> {
        for entry in &self.0.trees.choices {
            let (key, bytes) = entry?;
            let client = decode::<Choice>(&bytes).ok().map(|choice| choice.client);
            let is_known = |client: &ClientId| self.0.trees.clients.contains_key(client.as_str());
            if !client.as_ref().map_or(Ok(false), is_known)? {
                let choices = &self.0.trees.choices;
                // One that was made anew since the look stays.
                let _made_anew = choices.compare_and_swap(key, Some(bytes), None::<&[u8]>)?;
            }
        }
        Ok(())
    }
}
