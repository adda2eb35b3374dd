//! One authorization, from the request to the owner's answer.
//!
//! The states are types, and each transition consumes the one before: no endpoint
//! can issue a code for a request that nobody was shown.

use std::time::Duration;

use super::client::RegisteredClient;
use super::pkce::CodeChallenge;
use super::redirect_uri::RedirectUri;
use crate::clock::UnixTime;
use crate::contract::scope::ScopeSet;

/// A request that has been checked: its client is known, its redirect URI is one of
/// that client's, and its challenge is usable.
#[derive(Clone, Debug)]
pub struct AuthorizationRequest {
    /// Who asks.
    pub client: RegisteredClient,
    /// Where the answer goes, in the spelling of the request.
    pub redirect_uri: RedirectUri,
    /// Returned unchanged (OAuth 2.1 section 4.1.2).
    pub state: Option<String>,
    /// What the code will be bound to.
    pub challenge: CodeChallenge,
    /// What is asked for. Never empty: a request that names no scope of ours is
    /// offered all of them.
    pub requested: ScopeSet,
}

/// What the owner answered on the consent page.
#[derive(Clone, Copy, Debug)]
pub struct Approval {
    /// What was ticked.
    pub scopes: ScopeSet,
    /// When the grant ends, however often it is refreshed.
    pub ends_at: UnixTime,
    /// When `wiki:people` drops out of the grant. Only means something if it is
    /// among the scopes.
    pub people_until: UnixTime,
}

/// The owner ticked something that was not asked for, or nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidApproval {
    /// Only a forged form can do that.
    #[error("more scopes were ticked than were asked for")]
    Widened,
    /// The same as a refusal (checklist #145).
    #[error("no scope was ticked")]
    Nothing,
}

/// A request that the signed-in owner has allowed, perhaps in part. Only this
/// becomes a code.
///
/// ```compile_fail,E0451
/// # use brain_mcp::authorization_server::authorization::{
/// #     ApprovedAuthorization, Approval, AuthorizationRequest,
/// # };
/// # fn forge(request: AuthorizationRequest, approval: Approval) {
/// let forged = ApprovedAuthorization { request, subject: "owner".into(), approval };
/// # }
/// ```
///
/// Nobody outside can let a request be allowed:
///
/// ```compile_fail,E0624
/// # use brain_mcp::authorization_server::authorization::{Approval, AuthorizationRequest};
/// # fn forge(request: AuthorizationRequest, approval: Approval) {
/// let forged = request.approve("owner", approval);
/// # }
/// ```
#[derive(Debug)]
pub struct ApprovedAuthorization {
    request: AuthorizationRequest,
    subject: String,
    approval: Approval,
}

/// How long a grant lasts, as the consent page offers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrantSpan {
    Day,
    Month,
    HalfYear,
}

/// How long `wiki:people` stays in a grant, as the consent page offers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeopleSpan {
    Hour,
    EightHours,
    Day,
}

/// A duration to choose: its value in the form, and what the owner reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpanOffer {
    pub(super) value: &'static str,
    pub(super) text: String,
}

/// The spans that fit under the operator's limit, so that the page promises no more
/// than it gives. If none does, the shortest stands for the limit.
fn offers<const N: usize>(
    spans: [(&'static str, &'static str, Duration); N],
    limit: Duration,
) -> Vec<SpanOffer> {
    let fitting = spans.iter().filter(|(_, _, duration)| *duration <= limit);
    let mut offers: Vec<SpanOffer> =
        fitting.map(|(value, text, _)| SpanOffer { value, text: (*text).to_owned() }).collect();
    if let (true, Some((value, _, _))) = (offers.is_empty(), spans.first()) {
        offers.push(SpanOffer { value, text: in_words(limit) });
    }
    offers
}

fn in_words(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let units = [(3_600, "hour"), (60, "minute"), (1, "second")];
    let (length, unit) = units
        .into_iter()
        .find(|(length, _)| seconds.is_multiple_of(*length))
        .unwrap_or((1, "second"));
    let count = seconds / length;
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl GrantSpan {
    /// From short to long; the last is offered first.
    pub(super) const ALL: [Self; 3] = [Self::Day, Self::Month, Self::HalfYear];

    /// Its value in the form.
    pub(super) const fn value(self) -> &'static str {
        match self {
            Self::Day => "1d",
            Self::Month => "30d",
            Self::HalfYear => "180d",
        }
    }

    /// What the owner reads.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Day => "1 day",
            Self::Month => "30 days",
            Self::HalfYear => "180 days",
        }
    }

    /// What the page offers where no grant may last longer than `limit`.
    pub(super) fn offers(limit: Duration) -> Vec<SpanOffer> {
        offers(Self::ALL.map(|span| (span.value(), span.text(), span.duration())), limit)
    }

    pub(super) fn duration(self) -> Duration {
        match self {
            Self::Day => DAY,
            Self::Month => 30 * DAY,
            Self::HalfYear => 180 * DAY,
        }
    }

    pub(super) fn parse(value: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|span| span.value() == value)
    }
}

impl PeopleSpan {
    /// From short to long; the first is offered first.
    pub(super) const ALL: [Self; 3] = [Self::Hour, Self::EightHours, Self::Day];

    /// Its value in the form.
    pub(super) const fn value(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::EightHours => "8h",
            Self::Day => "1d",
        }
    }

    /// What the owner reads.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Hour => "1 hour",
            Self::EightHours => "8 hours",
            Self::Day => "1 day",
        }
    }

    /// What the page offers where no grant may last longer than `limit`.
    pub(super) fn offers(limit: Duration) -> Vec<SpanOffer> {
        offers(Self::ALL.map(|span| (span.value(), span.text(), span.duration())), limit)
    }

    pub(super) fn duration(self) -> Duration {
        match self {
            Self::Hour => HOUR,
            Self::EightHours => 8 * HOUR,
            Self::Day => DAY,
        }
    }

    pub(super) fn parse(value: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|span| span.value() == value)
    }
}

impl AuthorizationRequest {
    /// Takes the owner's answer. `subject` is the signed-in user.
    ///
    /// # Errors
    ///
    /// [`InvalidApproval`].
    pub(super) fn approve(
        self,
        subject: &str,
        approval: Approval,
    ) -> Result<ApprovedAuthorization, InvalidApproval> {
        if !approval.scopes.is_subset(self.requested) {
            return Err(InvalidApproval::Widened);
        }
        if approval.scopes.is_empty() {
            return Err(InvalidApproval::Nothing);
        }
        Ok(ApprovedAuthorization { request: self, subject: subject.to_owned(), approval })
    }
}

impl ApprovedAuthorization {
    /// The request that was allowed.
    #[must_use]
    pub const fn request(&self) -> &AuthorizationRequest {
        &self.request
    }

    /// The user who allowed it.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// What was allowed.
    #[must_use]
    pub const fn approval(&self) -> Approval {
        self.approval
    }
}

#[cfg(test)]
mod tests {
    use super::{DAY, Duration, GrantSpan, HOUR, PeopleSpan, SpanOffer};

    fn texts(offers: Vec<SpanOffer>) -> Vec<String> {
        offers.into_iter().map(|offer| offer.text).collect()
    }

    /// The consent page promises nothing that `grant_seconds` then takes away.
    #[test]
    fn no_longer_span_is_offered_than_the_limit() {
        assert_eq!(texts(GrantSpan::offers(180 * DAY)), ["1 day", "30 days", "180 days"]);
        assert_eq!(texts(GrantSpan::offers(60 * DAY)), ["1 day", "30 days"]);
        assert_eq!(texts(GrantSpan::offers(2 * HOUR)), ["2 hours"]);
        assert_eq!(texts(PeopleSpan::offers(2 * HOUR)), ["1 hour"]);
        assert_eq!(texts(PeopleSpan::offers(Duration::from_secs(90))), ["90 seconds"]);
        assert_eq!(texts(PeopleSpan::offers(Duration::from_secs(60))), ["1 minute"]);
    }
}
