//! What a browser says that it asked the authenticator, and where (section 5.8.1).

use serde::Deserialize;

use super::{Base64Url, Ceremony, PasskeyFault, RelyingParty};

/// The members that are judged; others may be there.
#[derive(Deserialize)]
pub(super) struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: Base64Url,
    origin: String,
    #[serde(default, rename = "crossOrigin")]
    is_cross_origin: bool,
}

impl ClientData {
    /// Steps 5 to 10 of section 7.1, and 7 to 14 of section 7.2, and what was the
    /// challenge.
    pub(super) fn read(
        bytes: &[u8],
        ceremony: Ceremony,
        party: &RelyingParty,
    ) -> Result<Base64Url, PasskeyFault> {
        // A byte order mark may stand in front ("UTF-8 decode").
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let data: Self = serde_json::from_slice(bytes).map_err(|_| PasskeyFault::Unreadable)?;
        let kind = match ceremony {
            Ceremony::Add => "webauthn.create",
            Ceremony::SignIn => "webauthn.get",
        };
        if data.kind != kind {
            Err(PasskeyFault::Type)
        } else if data.origin != party.origin() || data.is_cross_origin {
            Err(PasskeyFault::Origin)
        } else {
            Ok(data.challenge)
        }
    }
}
