//! What commands and the running server say to each other: one line of JSON there, one
//! back, and the connection is over.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::authorization_server::administration::{
    ClientFacts, GrantFacts, KeyFacts, SessionFacts, UserFacts,
};
use crate::authorization_server::audit::Event;

/// The socket, in the data directory.
pub const SOCKET: &str = "admin.sock";

/// The longest request, in bytes with its line end.
pub const LONGEST_REQUEST: u64 = 64 * 1024;

/// The longest answer that a command reads, in bytes: some 100,000 grants.
pub const LONGEST_ANSWER: u64 = 64 * 1024 * 1024;

/// What a command wants.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// The users of the configuration.
    Users,
    /// A link by which a user, the owner if none is named, chooses a new password.
    SetupLink {
        /// Whose.
        user: Option<String>,
    },
    /// A new password for a user, the owner if none is named.
    SetPassword {
        /// Whose.
        user: Option<String>,
        /// Which.
        password: Secret,
        /// Whether the user's apps are disconnected, too.
        disconnect_apps: bool,
        /// Whether the user's passkeys are removed, too.
        #[serde(default)]
        remove_passkeys: bool,
    },
    /// All clients.
    Clients,
    /// One client.
    Client {
        /// Its name on the wire.
        id: String,
    },
    /// The end of a client and of all that it was given.
    RemoveClient {
        /// Its name on the wire.
        id: String,
    },
    /// Grants.
    Grants {
        /// Of this user only.
        user: Option<String>,
        /// Also those that are over.
        also_ended: bool,
    },
    /// The end of one grant.
    RevokeGrant {
        /// Its name.
        id: String,
    },
    /// The end of all grants.
    RevokeGrants {
        /// Of this user only.
        user: Option<String>,
    },
    /// Browsers in which somebody is signed in.
    Sessions,
    /// Signs one browser out.
    RevokeSession {
        /// Its name.
        id: String,
    },
    /// Signs all browsers out.
    RevokeSessions {
        /// Of this user only.
        user: Option<String>,
    },
    /// The signing keys.
    Keys,
    /// The next key signs from now on.
    RotateKeys,
    /// A key is believed no more.
    RevokeKey {
        /// Its name.
        kid: String,
    },
    /// A backup. Its bytes follow the answer's line.
    Backup,
    /// What happened, the newest last.
    Events {
        /// To this user only.
        user: Option<String>,
        /// The newest of them, so many.
        most: usize,
    },
}

/// A text that is not printed by accident.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It is done, in words for the owner.
    Done(String),
    /// What was named does not exist.
    Missing(String),
    /// It was not done, and why.
    Refused(String),
    /// The link, with whose it is.
    Link {
        /// Whose password is chosen there.
        user: String,
        /// Where.
        url: String,
    },
    /// Users.
    Users(Vec<UserFacts>),
    /// Clients.
    Clients(Vec<ClientFacts>),
    /// One client.
    Client(Box<ClientFacts>),
    /// Grants.
    Grants(Vec<GrantFacts>),
    /// Sessions.
    Sessions(Vec<SessionFacts>),
    /// Keys.
    Keys(Vec<KeyFacts>),
    /// Events.
    Events(Vec<Event>),
    /// A backup of so many bytes.
    Backup {
        /// How many follow the line.
        bytes: u64,
    },
}
