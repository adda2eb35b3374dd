//! Browsers in which a user has signed in before.
//!
//! Wrong passwords make the next one wait, whoever typed them; so a stranger who keeps
//! guessing would keep the user out. A browser in which the user has signed in before
//! carries a cookie that says so, and has tries of its own. The cookie opens nothing: the
//! password is asked for as ever.
//!
//! It is good for one user and one password, so a new password makes strangers of all
//! browsers but the one in which it was chosen. Nothing is stored.

use axum::http::{HeaderMap, HeaderName, header};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::AuthorizationServer;
use super::password::PasswordHash;
use super::secrets::{DigestKey, MasterSecret};
use super::session::{cookie_values, is_https};
use super::store::StoreError;
use crate::contract::issuer::Issuer;
use crate::entropy::Entropy;

/// The longest that browsers keep a cookie: 400 days (RFC 6265bis section 5.5).
const MAX_AGE_SECONDS: u64 = 400 * 24 * 60 * 60;

/// The name of a browser, drawn when a user first signed in there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DeviceId([u8; 16]);

/// What a browser says that it is. Not believed yet.
#[derive(Clone, Copy)]
pub(super) struct PresentedDevice {
    id: DeviceId,
    tag: [u8; 32],
}

/// The key under which the cookies are made.
pub(super) struct DeviceKey(DigestKey);

impl DeviceId {
    pub(super) fn new(entropy: &Entropy) -> Self {
        Self(entropy.bytes())
    }

    pub(super) const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl PresentedDevice {
    pub(super) fn from_headers(headers: &HeaderMap, issuer: &Issuer) -> Option<Self> {
        cookie_values(headers, cookie_name(issuer)).find_map(Self::read)
    }

    fn read(text: &str) -> Option<Self> {
        let bytes: [u8; 48] = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let (id, tag) = bytes.split_first_chunk::<16>()?;
        Some(Self { id: DeviceId(*id), tag: tag.try_into().ok()? })
    }
}

impl DeviceKey {
    pub(super) fn derive(master: &MasterSecret) -> Self {
        Self(master.digest_key("device cookie"))
    }

    /// The header by which a browser is known again, once this user has signed in there.
    pub(super) fn set_cookie(
        &self,
        id: DeviceId,
        user: &str,
        password: &PasswordHash,
        issuer: &Issuer,
    ) -> (HeaderName, String) {
        let name = cookie_name(issuer);
        let secure = if is_https(issuer) { "; Secure" } else { "" };
        let tag = self.tag(id, user, password);
        let value = BASE64_URL_SAFE_NO_PAD.encode([&id.0[..], &tag[..]].concat());
        let value = format!(
            "{name}={value}; Path=/; Max-Age={MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax{secure}"
        );
        (header::SET_COOKIE, value)
    }

    /// The browser, if this user has signed in there with this password.
    pub(super) fn recognise(
        &self,
        presented: PresentedDevice,
        user: &str,
        password: &PasswordHash,
    ) -> Option<DeviceId> {
        let expected = self.tag(presented.id, user, password);
        bool::from(presented.tag.ct_eq(&expected)).then_some(presented.id)
    }

    fn tag(&self, id: DeviceId, user: &str, password: &PasswordHash) -> [u8; 32] {
        let user: [u8; 32] = Sha256::digest(user).into();
        self.0.digest(&[&id.0, &user, &password.fingerprint()])
    }
}

impl AuthorizationServer {
    /// The browser, if any user has signed in there before.
    pub(super) async fn known_browser(
        &self,
        presented: Option<PresentedDevice>,
    ) -> Result<Option<DeviceId>, StoreError> {
        let Some(presented) = presented else { return Ok(None) };
        let names = self.settings().users.clone();
        let read = self.store().read(move |store| {
            names.iter().map(|name| store.user(name)).collect::<Result<Vec<_>, _>>()
        });
        let users = read.await?;
        let recognise = |user: &super::store::users::User| {
            self.device_key().recognise(presented, &user.name, &user.password)
        };
        Ok(users.iter().flatten().find_map(recognise))
    }
}

fn cookie_name(issuer: &Issuer) -> &'static str {
    if is_https(issuer) { "__Host-brain-device" } else { "brain-device" }
}
