//! Browser sessions: cookies, and who has signed in.
//!
//! Every browser that starts an authorization gets a cookie, so that what it started
//! is bound to it. Signing in and out replace the cookie (checklist #149); a session
//! row exists only for who has signed in, under the digest of the cookie.

#[cfg(test)]
mod tests;

use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::authorization_server::audit::{Actor, Event, What};
use crate::authorization_server::device::{DeviceId, PresentedDevice};
use crate::authorization_server::page_error::PageError;
use crate::authorization_server::password::PasswordHash;
use crate::authorization_server::pending::{Owner, PendingName};
use crate::authorization_server::sign_in::SignedIn;
use crate::authorization_server::store::StoreError;
use crate::authorization_server::store::sessions::{Start, StoredSession};
use crate::authorization_server::{AuthorizationServer, Lifetimes};
use crate::clock::UnixTime;
use crate::contract::issuer::Issuer;
use crate::entropy::Entropy;

/// Resting is measured to the minute, which saves a write for nearly every request.
const SEEN_STEP: Duration = Duration::from_secs(60);

/// The name of a session in our memory: SHA-256 of its cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SessionKey([u8; 32]);

/// The secret that a browser shows us.
#[derive(Clone)]
pub(super) struct BrowserCookie(String);

/// Whoever sends a request: always known by a cookie, sometimes by name.
pub(super) struct Visitor {
    cookie: BrowserCookie,
    is_new: bool,
    session: Option<StoredSession>,
    device: Option<PresentedDevice>,
}

/// A session that has just begun: what the browser has to be given.
pub(super) struct Begun {
    pub(super) cookie: BrowserCookie,
    set_cookies: [(header::HeaderName, String); 2],
}

/// A user who has signed in in this browser within the last ten minutes.
///
/// Naming it in a handler's arguments is what demands that; everybody else is sent to
/// sign in, and comes back.
pub(super) struct FreshOwner {
    name: String,
    cookie: BrowserCookie,
}

impl SessionKey {
    /// The key of a row.
    pub(crate) fn stored(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl BrowserCookie {
    pub(super) fn new(entropy: &Entropy) -> Self {
        Self(entropy.secret())
    }

    /// Where the session is.
    pub(super) fn key(&self) -> SessionKey {
        SessionKey(Sha256::digest(&self.0).into())
    }

    /// What proves that a form was rendered for this browser. Whoever can compute it
    /// has the cookie already.
    pub(super) fn form_token(&self) -> String {
        let digest = Sha256::new_with_prefix("form token\0").chain_update(&self.0).finalize();
        BASE64_URL_SAFE_NO_PAD.encode(digest)
    }

    /// The header that sets the cookie. It goes with the browser's session; ours ends
    /// earlier.
    pub(super) fn set_cookie(&self, issuer: &Issuer) -> (header::HeaderName, String) {
        let name = cookie_name(issuer);
        let secure = if is_https(issuer) { "; Secure" } else { "" };
        let value = format!("{name}={}; Path=/; HttpOnly; SameSite=Lax{secure}", self.0);
        (header::SET_COOKIE, value)
    }

    fn from_headers(headers: &HeaderMap, issuer: &Issuer) -> Option<Self> {
        // Only what we could have made ourselves.
        let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        cookie_values(headers, cookie_name(issuer))
            .find(|secret| secret.len() == 43 && secret.bytes().all(is_base64url))
            .map(|secret| Self(secret.to_owned()))
    }
}

impl Visitor {
    /// Somebody whom nobody has signed in.
    #[cfg(test)]
    pub(super) const fn unknown(cookie: BrowserCookie) -> Self {
        Self { cookie, is_new: false, session: None, device: None }
    }

    /// What the browser says that it is, from a sign-in before this one.
    pub(super) const fn device(&self) -> Option<PresentedDevice> {
        self.device
    }

    pub(super) const fn cookie(&self) -> &BrowserCookie {
        &self.cookie
    }

    /// The user who has signed in here.
    pub(super) fn user(&self) -> Option<&str> {
        self.session.as_ref().map(|session| &*session.user)
    }

    /// Makes sure that the browser has the cookie by which we will know it again.
    pub(super) fn with_cookie(&self, issuer: &Issuer, response: impl IntoResponse) -> Response {
        if self.is_new {
            ([self.cookie.set_cookie(issuer)], response).into_response()
        } else {
            response.into_response()
        }
    }

    /// Checks the token of a form that was rendered for this browser.
    ///
    /// # Errors
    ///
    /// [`PageError::ForeignForm`].
    pub(super) fn check_form_token(&self, presented: Option<&str>) -> Result<(), PageError> {
        let expected = self.cookie.form_token();
        let fits =
            presented.is_some_and(|token| token.as_bytes().ct_eq(expected.as_bytes()).into());
        if fits { Ok(()) } else { Err(PageError::ForeignForm) }
    }

    /// The user, if signed in recently enough for consent.
    pub(super) fn fresh_owner(&self, server: &AuthorizationServer) -> Option<FreshOwner> {
        let (now, longest) = (server.clock().now(), server.settings().lifetimes.fresh_login);
        let session = self.session.as_ref()?;
        let is_fresh = now.since(session.signed_in_at) <= longest;
        is_fresh.then(|| FreshOwner { name: session.user.clone(), cookie: self.cookie.clone() })
    }
}

impl Begun {
    /// The headers that set the cookies.
    pub(super) fn set_cookies(self) -> AppendHeaders<[(header::HeaderName, String); 2]> {
        AppendHeaders(self.set_cookies)
    }
}

impl FreshOwner {
    /// The name of the user.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn cookie(&self) -> &BrowserCookie {
        &self.cookie
    }
}

impl AuthorizationServer {
    /// Starts a session for a user who has just signed in. The browser gets a new
    /// cookie, so that one planted there before is worth nothing; what it had started
    /// goes with it. Nothing if what was shown is not good any more.
    pub(super) async fn start_session(
        &self,
        visitor: &Visitor,
        SignedIn { user, verified, passkey, device }: SignedIn,
    ) -> Result<Option<Begun>, StoreError> {
        let cookie = BrowserCookie::new(self.entropy());
        let (old, new) = (visitor.cookie.key(), cookie.key());
        let (now, lifetimes) = (self.clock().now(), self.settings().lifetimes);
        let begun = self.begun(cookie, (&user, &verified), device);
        let session = StoredSession { user, signed_in_at: now, seen_at: now };
        let change = self.store().change(move |store| {
            store.sweep_sessions(|session| is_over(session, &lifetimes, now))?;
            let proof = (&verified, passkey.as_ref());
            let start = store.begin_session((old, new), &session, proof)?;
            let name = passkey.map(|passkey| passkey.name);
            let (by, what) = match (start, name) {
                (Start::Begun, None) => (Actor::User, What::SignedIn),
                (Start::Begun, Some(name)) => (Actor::User, What::PasskeyShown { name }),
                (Start::Copied, Some(name)) => (Actor::Stranger, What::PasskeyCopied { name }),
                (Start::Copied | Start::Overtaken, _) => return Ok(start),
            };
            store.note(&Event::new(now, by, what).of_user(&session.user))?;
            Ok(start)
        });
        match change.await? {
            Start::Begun => {}
            Start::Overtaken => return Ok(None),
            Start::Copied => {
                tracing::warn!("a passkey was refused: there must be two of it");
                return Ok(None);
            }
        }
        self.browsing().pending.follow(old, new, Owner::SignedIn);
        Ok(Some(begun))
    }

    /// The cookies of a session that begins for a user with this password.
    pub(super) fn begun(
        &self,
        cookie: BrowserCookie,
        (user, password): (&str, &PasswordHash),
        device: DeviceId,
    ) -> Begun {
        let issuer = &self.settings().issuer;
        let known_again = self.device_key().set_cookie(device, user, password, issuer);
        let set_cookies = [cookie.set_cookie(issuer), known_again];
        Begun { cookie, set_cookies }
    }

    /// Ends the session here and not only in the browser. What waits for an answer
    /// goes on waiting, for somebody else to sign in.
    pub(super) async fn end_session(&self, visitor: &Visitor) -> Result<BrowserCookie, StoreError> {
        let cookie = BrowserCookie::new(self.entropy());
        let old = visitor.cookie.key();
        let event = Event::new(self.clock().now(), Actor::User, What::SignedOut);
        let event = visitor.user().map(|user| event.of_user(user));
        let change = self.store().change(move |store| {
            event.map_or(Ok(()), |event| store.note(&event))?;
            store.remove_session(old)
        });
        change.await?;
        self.browsing().pending.follow(old, cookie.key(), Owner::SignedInBefore);
        Ok(cookie)
    }

    async fn visitor(&self, headers: &HeaderMap) -> Result<Visitor, StoreError> {
        let issuer = &self.settings().issuer;
        let device = PresentedDevice::from_headers(headers, issuer);
        let Some(cookie) = BrowserCookie::from_headers(headers, issuer) else {
            let cookie = BrowserCookie::new(self.entropy());
            return Ok(Visitor { cookie, is_new: true, session: None, device });
        };
        let (key, now, lifetimes) = (cookie.key(), self.clock().now(), self.settings().lifetimes);
        let session = self.store().read(move |store| store.session(key)).await?;
        let session = session.filter(|session| {
            self.settings().has_user(&session.user) && !is_over(session, &lifetimes, now)
        });
        if session.as_ref().is_some_and(|session| now.since(session.seen_at) >= SEEN_STEP) {
            self.store().change(move |store| store.touch_session(key, now)).await?;
        }
        Ok(Visitor { session, cookie, is_new: false, device })
    }
}

impl FromRequestParts<AuthorizationServer> for Visitor {
    type Rejection = PageError;

    async fn from_request_parts(
        parts: &mut Parts,
        server: &AuthorizationServer,
    ) -> Result<Self, PageError> {
        Ok(server.visitor(&parts.headers).await?)
    }
}

impl FromRequestParts<AuthorizationServer> for FreshOwner {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        server: &AuthorizationServer,
    ) -> Result<Self, Response> {
        let visitor = server.visitor(&parts.headers).await;
        let visitor = visitor.map_err(|error| PageError::from(error).into_response())?;
        visitor.fresh_owner(server).ok_or_else(|| {
            let way_back = PendingName::in_query(parts.uri.query());
            Redirect::to(&PendingName::carried_to("/login", way_back.as_ref())).into_response()
        })
    }
}

/// Whether a session has run out.
pub(super) fn is_over(session: &StoredSession, lifetimes: &Lifetimes, now: UnixTime) -> bool {
    now.since(session.signed_in_at) >= lifetimes.session
        || now.since(session.seen_at) >= lifetimes.session_idle
}

/// The values of the cookies of that name. Other programs at the same host set cookies too,
/// in any bytes and under any name; theirs must not hide ours.
pub(super) fn cookie_values<'a>(
    headers: &'a HeaderMap,
    name: &'a str,
) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b';'))
        .filter_map(|pair| str::from_utf8(pair).ok()?.trim().split_once('='))
        .filter(move |(found, _)| *found == name)
        .map(|(_, value)| value)
}

pub(super) fn is_https(issuer: &Issuer) -> bool {
    issuer.as_str().starts_with("https://")
}

/// `__Host-` keeps other hosts of the domain from setting it; browsers accept that
/// name over https only (RFC 6265bis section 4.1.3.2).
fn cookie_name(issuer: &Issuer) -> &'static str {
    if is_https(issuer) { "__Host-brain-session" } else { "brain-session" }
}
