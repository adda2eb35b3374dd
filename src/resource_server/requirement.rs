//! Which scope a message needs before it may reach the MCP server.
//!
//! A tool cannot set an HTTP status, and only a 403 with a challenge makes a
//! client ask for more (B46, B47). So this one question is answered out here. It
//! opens nothing: what a caller sees is decided by `access`, page by page.

use super::json_rpc::Message;
use crate::contract::scope::{Scope, ScopeSet};

/// What the token must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requirement {
    /// Any good token will do.
    Nothing,
    /// Something must be readable, no matter what.
    AnyReading,
    /// The inbox must be writable.
    Writing,
}

/// What every caller may ask: the handshake, and the catalogues. The list of resources
/// and the stream of notices are such, too: they say of pages what the caller may know,
/// and to somebody who may read nothing that is nothing. Many clients ask for them
/// unbidden, and a refusal would send their users to the consent page.
const FREE: [&str; 10] = [
    "initialize",
    "ping",
    "logging/setLevel",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "server/discover",
    "subscriptions/listen",
    "tools/list",
    "resources/unsubscribe",
];

/// The tool that writes.
const WRITING_TOOL: &str = "write_inbox_note";

impl Requirement {
    /// What `message` needs. A method that is not known here needs a reading scope.
    pub(super) fn of(message: &Message) -> Self {
        match message.method() {
            Some("tools/call") if message.parameter("name") == Some(WRITING_TOOL) => Self::Writing,
            Some(method) if message.is_request() && !FREE.contains(&method) => Self::AnyReading,
            // Notifications and responses ask for nothing.
            _ => Self::Nothing,
        }
    }

    /// The scopes to ask for, if those at hand do not do: what is missing on top
    /// of what the client has, because a new token replaces the old one (B47).
    pub(super) fn missing_from(self, held: ScopeSet) -> Option<ScopeSet> {
        let (enough, scope) = match self {
            Self::Nothing => return None,
            Self::AnyReading => (!held.intersection(ScopeSet::READING).is_empty(), Scope::Read),
            Self::Writing => (held.contains(Scope::Write), Scope::Write),
        };
        (!enough).then(|| held.union(ScopeSet::from_iter([scope])))
    }
}
