//! Access tokens, and the answer that carries them.

use serde::Serialize;

use super::AuthorizationServer;
use super::error::EndpointError;
use super::grant::Grant;
use crate::clock::UnixTime;
use crate::contract::claims::AccessTokenClaims;
use crate::contract::scope::ScopeSet;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// A successful answer of the token endpoint (OAuth 2.1 section 3.2.3). Nothing in
/// it is ever null or empty: clients stumble over that.
#[derive(Debug, Serialize)]
pub(crate) struct TokenAnswer {
    access_token: String,
    token_type: &'static str,
    expires_in: u64,
    refresh_token: String,
    scope: ScopeSet,
}

impl AuthorizationServer {
    /// Issues an access token of the grant with some of its scopes, to go with a
    /// refresh token of the current generation.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Grant`] if nothing is left of the grant.
    pub(crate) fn answer(
        &self,
        grant: &Grant,
        requested: ScopeSet,
        refresh_token: String,
        now: UnixTime,
    ) -> Result<TokenAnswer, EndpointError> {
        let scope = narrowed(grant.scopes_at(now)?, requested);
        let settings = self.settings();
        let end = (now + settings.lifetimes.access_token).min(grant.terms.latest_end(scope));
        let claims = AccessTokenClaims {
            iss: settings.issuer.to_string(),
            sub: grant.terms.subject.clone(),
            aud: grant.terms.resource.clone(),
            client_id: grant.terms.client.to_string(),
            iat: now.as_seconds(),
            exp: end.as_seconds(),
            jti: BASE64_URL_SAFE_NO_PAD.encode(self.entropy().bytes::<16>()),
            scope,
            gid: grant.id.to_string(),
            generation: grant.line.generation,
        };
        Ok(TokenAnswer {
            access_token: self.signing_keys().sign(&claims)?,
            token_type: "Bearer",
            expires_in: end.since(now).as_secs(),
            refresh_token,
            scope,
        })
    }
}

/// What a request for some scopes gets: those of them that the grant has. If it has
/// none of them, or none were named, all that it has: deployed clients name
/// `offline_access` or scopes that the user has unticked, and an error would lock
/// them out (design section 4, rule 10).
fn narrowed(granted: ScopeSet, requested: ScopeSet) -> ScopeSet {
    let both = granted.intersection(requested);
    if both.is_empty() { granted } else { both }
}
