//! Code → tokens, refresh token → tokens, token → end of the grant.

use super::AuthorizationServer;
use super::audit::{Actor, Event, What};
use super::client_authentication::AuthenticatedClient;
use super::code::{self, CodeDigest, Redemption};
use super::endpoints::log::about_grant;
use super::error::EndpointError;
use super::family::{Presented, Verdict};
use super::figures::Happening;
use super::form::Form;
use super::grant::{EndReason, Grant, GrantId};
use super::refresh_token::RefreshToken;
use super::store::codes::GrantDraft;
use super::token::TokenAnswer;
use crate::clock::UnixTime;
use crate::contract::scope::ScopeSet;

impl AuthorizationServer {
    /// Exchanges a code (OAuth 2.1 section 4.1.3).
    ///
    /// # Errors
    ///
    /// [`EndpointError`].
    pub(crate) async fn exchange_code(
        &self,
        client: &AuthenticatedClient,
        form: &Form,
    ) -> Result<TokenAnswer, EndpointError> {
        let redemption = Redemption {
            code: CodeDigest::of(form.required("code")?),
            client: client.id().clone(),
            verifier: form.required("code_verifier")?.to_owned(),
            redirect_uri: form.value("redirect_uri").map(str::to_owned),
        };
        // Before the code is spent, so that the client can try again (RFC 8707
        // section 2.2, checklist #62).
        self.check_resource(form)?;
        let digest = redemption.code;
        let code = self.store().read(move |store| store.code(digest)).await?;
        let known = code.filter(|code| self.settings().has_user(&code.terms.subject));
        // Junk is not worth a sync of the disk.
        let terms = known.ok_or(code::Refusal::Unknown)?.terms;
        let now = self.clock().now();
        let id = GrantId::from_bytes(self.entropy().bytes());
        let token = RefreshToken::first(id, self.entropy().bytes());
        let draft = GrantDraft { id, first: self.refresh_token_keys().digest(&token), now };
        let exchange = self.store().change(move |store| {
            let outcome = store.redeem_code(&redemption, draft)?;
            let what = match &outcome {
                Ok(_) => Some(What::Connected { scopes: terms.scopes }),
                Err(code::Refusal::Replayed) => {
                    Some(What::Ended { reason: EndReason::CodeReplayed })
                }
                Err(_) => None,
            };
            if let Some(what) = what {
                let event = Event::new(now, Actor::Client, what).of_user(&terms.subject);
                let event = event.of_client(&terms.client);
                let is_new = outcome.is_ok();
                store.note(&if is_new { event.of_grant(id) } else { event })?;
            }
            Ok(outcome)
        });
        let grant = exchange.await??;
        let refresh_token = self.refresh_token_keys().write(&token);
        about_grant(id);
        self.answer(&grant, grant.terms.scopes, refresh_token, now)
    }

    /// Exchanges a refresh token (OAuth 2.1 section 4.3). The grant keeps its scopes
    /// however narrow a refresh was (checklist #69).
    ///
    /// # Errors
    ///
    /// [`EndpointError`].
    pub(crate) async fn refresh(
        &self,
        client: &AuthenticatedClient,
        form: &Form,
    ) -> Result<TokenAnswer, EndpointError> {
        let answer = self.judge_refresh(client, form).await;
        self.count(match &answer {
            Ok(_) => Happening::Refreshed,
            Err(_) => Happening::RefreshRefused,
        });
        answer
    }

    async fn judge_refresh(
        &self,
        client: &AuthenticatedClient,
        form: &Form,
    ) -> Result<TokenAnswer, EndpointError> {
        let token = self.refresh_token_keys().read(form.required("refresh_token")?)?;
        self.check_resource(form)?;
        about_grant(token.grant());
        let requested = form.value("scope").map_or(ScopeSet::NONE, ScopeSet::parse_known);
        let id = token.grant();
        let now = self.clock().now();
        let presented = self.refresh_token_keys().present(&token);
        let server = self.clone();
        let client = client.clone();
        // Also for a child that is handed out again: the rotation that made it may
        // not be on the disk yet.
        let outcome = self
            .store()
            .change(move |store| {
                let judged = store
                    .change_grant(id, |grant| server.judge(grant, &client, &presented, now))?;
                if matches!(judged, Some(Err(EndpointError::RefreshTokenReused))) {
                    store.note_end(id, Actor::Client, now)?;
                }
                Ok(judged)
            })
            .await?;
        let grant = outcome.unwrap_or(Err(EndpointError::NoSuchGrant))?;
        let child = self.refresh_token_keys().child(&token);
        let refresh_token = self.refresh_token_keys().write(&child);
        self.answer(&grant, requested, refresh_token, now)
    }

    /// Ends the grant of a token that its client gives back (RFC 7009). Answers
    /// which, if any: an unknown or foreign token is no error.
    ///
    /// An access token ends its grant too. RFC 7009 section 2.1 leaves that open; it
    /// is what a person means who revokes access, and there is one way to be dead.
    ///
    /// # Errors
    ///
    /// [`EndpointError`].
    pub(crate) async fn revoke(
        &self,
        client: &AuthenticatedClient,
        form: &Form,
    ) -> Result<Option<GrantId>, EndpointError> {
        let now = self.clock().now();
        // The hint is not needed: the two kinds cannot be confused.
        let Some(id) = self.grant_of_token(form.required("token")?, now) else {
            return Ok(None);
        };
        about_grant(id);
        let client = client.id().clone();
        let revoked = self
            .store()
            .change(move |store| {
                let revoked = store.change_grant(id, |grant| {
                    let is_its_own = grant.terms.client == client;
                    if is_its_own {
                        grant.end(now, EndReason::RevokedByClient);
                    }
                    is_its_own
                })?;
                if revoked == Some(true) {
                    store.note_end(id, Actor::Client, now)?;
                }
                Ok(revoked)
            })
            .await?;
        Ok(revoked.unwrap_or(false).then_some(id))
    }

    fn grant_of_token(&self, token: &str, now: UnixTime) -> Option<GrantId> {
        if let Ok(token) = self.refresh_token_keys().read(token) {
            return Some(token.grant());
        }
        let claims = self.signing_keys().read(token)?;
        let is_alive = now < UnixTime::from_seconds(claims.exp);
        is_alive.then(|| claims.gid.parse().ok()).flatten()
    }

    /// Judges a refresh token and takes the consequences for its grant.
    fn judge(
        &self,
        grant: &mut Grant,
        client: &AuthenticatedClient,
        presented: &Presented,
        now: UnixTime,
    ) -> Result<Grant, EndpointError> {
        let is_foreign = grant.terms.client != *client.id();
        // The address, the users and the rules of the server may have been changed since.
        let settings = self.settings();
        let is_outdated = grant.terms.resource != settings.resource.as_str()
            || !settings.clients.still_let_in(&grant.terms)
            || !settings.has_user(&grant.terms.subject);
        if is_foreign || is_outdated {
            return Err(EndpointError::NoSuchGrant);
        }
        match grant.judge(presented, now, settings.refresh_policy()) {
            Verdict::Rotate(family) => grant.family = family,
            Verdict::Redeliver => {}
            Verdict::Refuse(refusal) => return Err(refusal.into()),
            Verdict::Reuse => {
                grant.end(now, EndReason::RefreshTokenReused);
                return Err(EndpointError::RefreshTokenReused);
            }
        }
        Ok(grant.clone())
    }

    /// Absent means ours, and there is only one (design section 4, rule 4).
    fn check_resource(&self, form: &Form) -> Result<(), EndpointError> {
        let resource = &self.settings().resource;
        if form.values("resource").all(|indicator| resource.is_meant_by(indicator)) {
            Ok(())
        } else {
            Err(EndpointError::Resource)
        }
    }
}
