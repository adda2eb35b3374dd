//! Whom passkeys are made for.

use sha2::{Digest as _, Sha256};
use url::{Host, Url};

use super::PasskeyFault;
use super::authenticator_data::AuthenticatorData;
use crate::contract::issuer::Issuer;

/// The host of our pages, as authenticators know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RelyingParty {
    id: String,
    origin: String,
}

impl RelyingParty {
    /// The one for these pages. Nothing where there can be no passkeys: a relying party
    /// has the name of a domain, and an address is none (section 5.4.2).
    pub(crate) fn of(issuer: &Issuer) -> Option<Self> {
        let url = Url::parse(issuer.as_str()).ok()?;
        match url.host()? {
            Host::Domain(id) => {
                Some(Self { id: id.to_owned(), origin: issuer.as_str().to_owned() })
            }
            Host::Ipv4(_) | Host::Ipv6(_) => None,
        }
    }

    /// The host.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Where our pages are.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// Steps 15 to 19 of section 7.1, and 16 to 20 of section 7.2: for us, touched, and
    /// with the user verified.
    pub(super) fn check(&self, data: &AuthenticatorData) -> Result<(), PasskeyFault> {
        if data.relying_party != <[u8; 32]>::from(Sha256::digest(&self.id)) {
            Err(PasskeyFault::RelyingParty)
        } else if !data.is_user_present() {
            Err(PasskeyFault::NotPresent)
        } else if !data.is_user_verified() {
            Err(PasskeyFault::NotVerified)
        } else if data.is_copied() && !data.can_be_copied() {
            Err(PasskeyFault::Backup)
        } else {
            Ok(())
        }
    }
}
