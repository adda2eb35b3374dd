//! What the pages show: one typed context a template.

use askama::Template;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use crate::authorization_server::account::{Account, Connection, Identity};
use crate::authorization_server::authorization::{AuthorizationRequest, SpanOffer};
use crate::authorization_server::grant::EndReason;
use crate::authorization_server::passkeys::{PasskeyOffer, PasskeyWish};
use crate::authorization_server::redirect_uri::RedirectTarget;
use crate::authorization_server::store::passkeys::StoredPasskey;
use crate::clock::UnixTime;
use crate::contract::issuer::Issuer;
use crate::contract::resource::ResourceUri;
use crate::contract::scope::{Scope, ScopeSet};

/// Headers of every answer to a browser (checklist #148). Most pages have no script, so
/// none may run there.
pub(super) const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    // Not `no-referrer`: that would make browsers hide the origin of our own forms.
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
             frame-ancestors 'none'; form-action 'self'",
        ),
    ),
];

/// The policy of the consent page. Its form is answered by a redirect to the client,
/// and `form-action` would make browsers cancel that, and the client's own next
/// redirect too (oauth-clients B28).
pub(super) const CONSENT_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
     frame-ancestors 'none'",
);

/// The policy of the pages that offer passkeys, which only a script can ask for: ours,
/// from its file.
pub(super) const PASSKEY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; \
     frame-ancestors 'none'; form-action 'self'",
);

/// Who asks and where the answer goes.
pub(super) struct Asker {
    pub(super) id: String,
    pub(super) name: Option<String>,
    /// The host that vouches for it, if one does.
    pub(super) host: Option<String>,
    pub(super) place: RedirectTarget,
}

/// Tells a visitor what this address is.
#[derive(Template)]
#[template(path = "home.html")]
pub(super) struct HomePage {
    pub(super) resource: ResourceUri,
    /// Where its owner signs in, if that is here.
    pub(super) sign_in_url: Option<String>,
}

/// Asks for the password, or a passkey.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub(super) struct SignInPage<'a> {
    pub(super) issuer: &'a Issuer,
    pub(super) action: String,
    pub(super) form_token: String,
    pub(super) user_field: UserField,
    pub(super) asker: Option<Asker>,
    pub(super) problem: Option<String>,
    pub(super) passkey: Option<PasskeyOffer>,
}

/// Whether the sign-in page has to ask who it is.
pub(super) enum UserField {
    /// There is one user only.
    Preset(String),
    /// There are several; this was typed before.
    Asked(String),
}

/// Lets the first visitor choose the owner's password.
#[derive(Template)]
#[template(path = "setup.html")]
pub(super) struct SetupPage<'a> {
    pub(super) issuer: &'a Issuer,
    pub(super) token: &'a str,
    pub(super) user: &'a str,
    /// Whether there are some that can be removed with the old password.
    pub(super) has_passkeys: bool,
    pub(super) shortest: usize,
    pub(super) problem: Option<String>,
}

/// Tells who is signed in, and what to do next.
#[derive(Template)]
#[template(path = "welcome.html")]
pub(super) struct WelcomePage<'a> {
    pub(super) resource: &'a ResourceUri,
    pub(super) user: &'a str,
    pub(super) form_token: String,
}

/// Shows a user what was given away, and lets it be taken back.
#[derive(Template)]
#[template(path = "account.html")]
pub(super) struct AccountPage<'a> {
    pub(super) resource: &'a ResourceUri,
    pub(super) user: &'a str,
    pub(super) form_token: String,
    pub(super) account: Account,
    pub(super) shortest: usize,
    /// What has just been done.
    pub(super) done: Option<&'static str>,
    /// What is wrong with the form for the password.
    pub(super) problem: Option<String>,
    pub(super) can_have_passkeys: bool,
}

/// Lets a user add passkeys and remove them.
#[derive(Template)]
#[template(path = "passkeys.html")]
pub(super) struct PasskeysPage<'a> {
    pub(super) user: &'a str,
    pub(super) form_token: String,
    pub(super) passkeys: Vec<StoredPasskey>,
    /// What adding one takes, where that is possible.
    pub(super) wish: Option<PasskeyWish>,
    /// What has just been done.
    pub(super) done: Option<&'static str>,
    /// What went wrong.
    pub(super) problem: Option<&'static str>,
}

/// Asks the owner.
#[derive(Template)]
#[template(path = "consent.html")]
pub(super) struct ConsentPage<'a> {
    pub(super) asker: Asker,
    /// Whether it is not any more what the owner allowed last time.
    pub(super) has_changed: bool,
    pub(super) offers: Vec<Offer>,
    pub(super) grant_spans: Vec<SpanOffer>,
    pub(super) people_spans: Vec<SpanOffer>,
    pub(super) resource: &'a ResourceUri,
    pub(super) user: &'a str,
    pub(super) action: String,
    pub(super) form_token: String,
    pub(super) sign_out_action: String,
    pub(super) sign_out_token: String,
}

/// Brings the answer to an app that has claimed a scheme. Browsers do not follow a
/// redirect there without a click, so this page goes by itself and has a button.
#[derive(Template)]
#[template(path = "handover.html")]
pub(super) struct HandoverPage {
    pub(super) scheme: String,
    pub(super) location: String,
}

/// Asks before signing out, for who has only followed a link.
#[derive(Template)]
#[template(path = "sign_out.html")]
pub(super) struct SignOutPage {
    pub(super) action: String,
    pub(super) form_token: String,
}

/// Says what went wrong and what to do.
#[derive(Template)]
#[template(path = "message.html")]
pub(super) struct MessagePage {
    pub(super) title: &'static str,
    pub(super) advice: &'static str,
    pub(super) detail: Option<String>,
}

/// One tick box of the consent page.
pub(super) struct Offer {
    pub(super) scope: Scope,
    tick: Tick,
    /// Whether there is an inbox that could be written into.
    has_inbox: bool,
}

/// Whether a box is ticked before the owner has touched it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tick {
    Beforehand,
    ByTheOwner,
}

impl Asker {
    pub(super) fn of(request: &AuthorizationRequest) -> Self {
        Self {
            id: request.client.id.to_string(),
            name: request.client.name.clone(),
            host: request.client.document_host(),
            place: request.redirect_uri.target(),
        }
    }
}

impl Identity {
    /// What a person calls it.
    fn title(&self) -> &str {
        self.host.as_deref().or(self.name.as_deref()).unwrap_or("An app without a name")
    }
}

impl Connection {
    /// Whether it was ended because a spent code or token came back: somebody else may
    /// have had it.
    pub(super) fn is_suspicious(&self) -> bool {
        let reason = self.ended.and_then(|(_, reason)| reason);
        matches!(reason, Some(EndReason::RefreshTokenReused | EndReason::CodeReplayed))
    }

    fn ended_on(&self) -> String {
        moment(&self.ended.map_or(self.ends_at, |(at, _)| at))
    }

    fn why_ended(&self) -> &'static str {
        let reason = self.ended.and_then(|(_, reason)| reason);
        reason.map_or("its time was over", EndReason::as_str)
    }
}

/// What a person calls a scope.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass what they iterate over")]
const fn scope_title(scope: &Scope) -> &'static str {
    match scope {
        Scope::Read => "Read ordinary notes",
        Scope::Confidential => "Read confidential notes",
        Scope::People => "Read notes about people",
        Scope::Write => "Add notes to the inbox",
    }
}

/// A moment for people, to the minute.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass fields by reference")]
fn moment(time: &UnixTime) -> String {
    let seconds = i64::try_from(time.as_seconds()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map_or_else(
        |_| "later".to_owned(),
        |time| time.strftime("%-d %B %Y, %H:%M UTC").to_string(),
    )
}

impl Offer {
    /// The boxes for what was asked. `last_time` is what the owner ticked then; at the
    /// first time it is reading ordinary notes.
    pub(super) fn all(
        requested: ScopeSet,
        last_time: Option<ScopeSet>,
        has_inbox: bool,
    ) -> Vec<Self> {
        let usual = last_time.unwrap_or_else(|| ScopeSet::from_iter([Scope::Read]));
        let tick = |scope| if usual.contains(scope) { Tick::Beforehand } else { Tick::ByTheOwner };
        requested.iter().map(|scope| Self { scope, tick: tick(scope), has_inbox }).collect()
    }

    fn is_ticked(&self) -> bool {
        self.tick == Tick::Beforehand
    }

    const fn is_time_boxed(&self) -> bool {
        matches!(self.scope, Scope::People)
    }

    const fn title(&self) -> &'static str {
        scope_title(&self.scope)
    }

    const fn explanation(&self) -> &'static str {
        match self.scope {
            Scope::Read => {
                "Search and read all notes that are neither encrypted nor marked confidential."
            }
            Scope::Confidential => {
                "Search and read notes that are encrypted or marked confidential, except those about people."
            }
            Scope::People => {
                "Search and read protected notes about people. You are asked each time."
            }
            Scope::Write if self.has_inbox => {
                "Write new notes into the inbox, and add to notes there. Nothing else."
            }
            Scope::Write => {
                "Nothing for now, because you have no inbox. Once one is set up: write new notes into it, and add to notes there."
            }
        }
    }
}

/// Renders a page.
pub(super) fn page(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
