//! Authorization codes: what they are bound to, and when they may be spent.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::authorization::ApprovedAuthorization;
use super::client::ClientId;
use super::grant::{GrantId, Terms};
use super::pkce::{CodeChallenge, PkceMismatch};
use crate::clock::UnixTime;

/// The SHA-256 digest of a code: the only trace of it that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeDigest([u8; 32]);

/// A code that was handed out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IssuedCode {
    /// What the grant will say.
    pub(crate) terms: Terms,
    challenge: CodeChallenge,
    // A digest, because the text may be long and records are to be small.
    redirect_uri: [u8; 32],
    pub(crate) expires_at: UnixTime,
    state: State,
}

/// What has become of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Fresh { failures: u8 },
    Redeemed { grant: GrantId },
}

/// A request to exchange a code, by a client that has been authenticated.
#[derive(Clone, Debug)]
pub(crate) struct Redemption {
    pub(crate) code: CodeDigest,
    pub(crate) client: ClientId,
    pub(crate) verifier: String,
    pub(crate) redirect_uri: Option<String>,
}

/// What is to be done about a presented code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The code is good: it is replaced by this tombstone, and the grant made.
    Redeem(IssuedCode),
    /// A wrong verifier: refused, and counted in this record.
    Count(IssuedCode),
    /// Refused without consequences.
    Refuse(Refusal),
    /// The code was good once, and everything else is right: this grant ends.
    Replay(GrantId),
}

/// Why a code is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the code is unknown")]
    Unknown,
    #[error("the code belongs to another client")]
    OtherClient,
    #[error("the code has expired")]
    Expired,
    #[error("what the code stands for has expired")]
    GrantExpired,
    #[error("the code was tried with wrong verifiers too often")]
    TooManyTries,
    #[error(transparent)]
    Pkce(#[from] PkceMismatch),
    #[error("the redirect URI is not that of the authorization request")]
    OtherRedirectUri,
    #[error("the code was used before; its grant is now revoked")]
    Replayed,
}

impl CodeDigest {
    pub(crate) fn of(code: &str) -> Self {
        Self(Sha256::digest(code).into())
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl IssuedCode {
    /// Wrong verifiers that are forgiven, so that a stranger who has seen the code
    /// cannot spoil it with one request, nor guess for long (checklist #57).
    const FORGIVEN: u8 = 2;

    pub(crate) fn new(
        approved: &ApprovedAuthorization,
        resource: &str,
        expires_at: UnixTime,
    ) -> Self {
        let request = approved.request();
        let approval = approved.approval();
        Self {
            terms: Terms {
                subject: approved.subject().to_owned(),
                client: request.client.id.clone(),
                redirect_uri: Some(request.redirect_uri.clone()),
                scopes: approval.scopes,
                resource: resource.to_owned(),
                ends_at: approval.ends_at,
                people_until: approval.people_until,
            },
            challenge: request.challenge.clone(),
            redirect_uri: Sha256::digest(request.redirect_uri.as_str()).into(),
            expires_at,
            state: State::Fresh { failures: 0 },
        }
    }

    /// Judges a presented code. Whether it was used before comes last: only a request
    /// that would have been right may end a grant, or whoever finds a code in a log
    /// could end the owner's session with it (OAuth 2.1 section 7.5.2).
    pub(crate) fn judge(&self, redemption: &Redemption, now: UnixTime, grant: GrantId) -> Verdict {
        if self.terms.client != redemption.client {
            return Verdict::Refuse(Refusal::OtherClient);
        }
        if now >= self.expires_at {
            return Verdict::Refuse(Refusal::Expired);
        }
        if now >= self.terms.ends_at || self.terms.scopes_at(now).is_empty() {
            return Verdict::Refuse(Refusal::GrantExpired);
        }
        let is_right = self.challenge.verify(&redemption.verifier);
        if let State::Fresh { failures } = self.state {
            if failures > Self::FORGIVEN {
                return Verdict::Refuse(Refusal::TooManyTries);
            }
            if is_right.is_err() {
                let state = State::Fresh { failures: failures + 1 };
                return Verdict::Count(Self { state, ..self.clone() });
            }
        }
        if let Err(mismatch) = is_right {
            return Verdict::Refuse(mismatch.into());
        }
        if redemption.redirect_uri.as_ref().is_some_and(|uri| !self.is_bound_to(uri)) {
            return Verdict::Refuse(Refusal::OtherRedirectUri);
        }
        match self.state {
            State::Fresh { .. } => {
                Verdict::Redeem(Self { state: State::Redeemed { grant }, ..self.clone() })
            }
            State::Redeemed { grant } => Verdict::Replay(grant),
        }
    }

    /// Whether it was not spent yet.
    pub(crate) const fn is_fresh(&self) -> bool {
        matches!(self.state, State::Fresh { .. })
    }

    fn is_bound_to(&self, redirect_uri: &str) -> bool {
        Sha256::digest(redirect_uri).as_slice() == self.redirect_uri
    }
}
