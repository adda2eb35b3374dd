//! Tells the resource server whether a grant is alive.

use super::AuthorizationServer;
use super::grant::GrantId;
use crate::contract::liveness::{GrantLiveness, GrantReference};
use crate::contract::scope::ScopeSet;

impl GrantLiveness for AuthorizationServer {
    fn live_scopes(&self, reference: GrantReference<'_>) -> Option<ScopeSet> {
        if !self.settings().has_user(reference.subject) {
            return None;
        }
        let id: GrantId = reference.grant.parse().ok()?;
        let now = self.clock().now();
        let (scopes, is_news) = self.store().look_at_grant(id, |grant| {
            let is_its_own = grant.terms.subject == reference.subject
                && grant.terms.client.as_str() == reference.client
                // A newer generation than ours can only come from before a backup
                // was restored: the revocations since then are lost.
                && reference.generation <= grant.family.generation
                && self.settings().clients.still_let_in(&grant.terms);
            let scopes = grant.scopes_at(now).ok().filter(|_| is_its_own)?;
            Some((scopes, reference.generation == grant.family.generation && !grant.family.is_seen))
        })??;
        self.0.last_uses.note(id, now);
        if is_news && self.store().note_seen(id, reference.generation) {
            self.keep_seen(id);
        }
        Some(scopes)
    }
}

impl AuthorizationServer {
    /// Writes the news down, beside the request if there is a runtime to do so.
    fn keep_seen(&self, id: GrantId) {
        let store = self.store().clone();
        let keep = move || {
            if let Err(error) = store.keep_seen(id) {
                // Only makes the refresh rules more lenient after a restart.
                tracing::warn!(grant = %id, %error, "could not note that a token was used");
            }
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(keep)),
            Err(_) => keep(),
        }
    }
}
