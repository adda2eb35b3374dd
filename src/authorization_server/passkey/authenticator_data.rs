//! What an authenticator says (section 6.1).

use super::PasskeyFault;

/// The parts of it that matter here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AuthenticatorData {
    /// SHA-256 of the host that it was asked for.
    pub(super) relying_party: [u8; 32],
    flags: u8,
    /// How often it has signed; zero for ever from those that do not count.
    pub(super) counter: u32,
    /// The id of the passkey, if it was just made.
    pub(super) made: Option<Vec<u8>>,
}

const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const CAN_BE_COPIED: u8 = 1 << 3;
const IS_COPIED: u8 = 1 << 4;
const HAS_CREDENTIAL: u8 = 1 << 6;
const HAS_EXTENSIONS: u8 = 1 << 7;

impl AuthenticatorData {
    /// # Errors
    ///
    /// [`PasskeyFault::Unreadable`]
    pub(super) fn read(bytes: &[u8]) -> Result<Self, PasskeyFault> {
        Self::parse(bytes).ok_or(PasskeyFault::Unreadable)
    }

    pub(super) const fn is_user_present(&self) -> bool {
        self.flags & USER_PRESENT != 0
    }

    pub(super) const fn is_user_verified(&self) -> bool {
        self.flags & USER_VERIFIED != 0
    }

    /// Whether the passkey may be on several devices.
    pub(super) const fn can_be_copied(&self) -> bool {
        self.flags & CAN_BE_COPIED != 0
    }

    /// Whether it is.
    pub(super) const fn is_copied(&self) -> bool {
        self.flags & IS_COPIED != 0
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (relying_party, rest) = bytes.split_first_chunk::<32>()?;
        let (flags, rest) = rest.split_first()?;
        let (counter, rest) = rest.split_first_chunk::<4>()?;
        let has = |flag| flags & flag != 0;
        let made = if has(HAS_CREDENTIAL) {
            let (_model, rest) = rest.split_first_chunk::<16>()?;
            let (length, rest) = rest.split_first_chunk::<2>()?;
            let id = rest.get(..u16::from_be_bytes(*length).into())?;
            Some(id.to_vec())
        } else if has(HAS_EXTENSIONS) || rest.is_empty() {
            None
        } else {
            return None;
        };
        Some(Self {
            relying_party: *relying_party,
            flags: *flags,
            counter: u32::from_be_bytes(*counter),
            made,
        })
    }
}
