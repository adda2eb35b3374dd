//! What there is, as it is shown and sent: without secrets, and without the types that the
//! rest of the server works with.

use serde::{Deserialize, Serialize};

use crate::authorization_server::account::Connection;
use crate::authorization_server::client::{ClientAuthentication, RegisteredClient};
use crate::authorization_server::grant::Grant;
use crate::authorization_server::signing_key::{self, KeyState};
use crate::clock::UnixTime;

/// A user of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserFacts {
    /// The name to sign in with.
    pub name: String,
    /// When the user first chose a password; absent if that has not happened.
    pub password_since: Option<UnixTime>,
    /// How many passkeys the user has.
    pub passkeys: usize,
    /// How many apps are connected.
    pub apps: usize,
    /// In how many browsers the user is signed in.
    pub browsers: usize,
}

/// A client that is registered or was approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientFacts {
    /// Its name on the wire.
    pub id: String,
    /// What it calls itself.
    pub name: Option<String>,
    /// The host that vouches for it, if one does.
    pub host: Option<String>,
    /// Where answers may go.
    pub redirect_uris: Vec<String>,
    /// How it proves who it is.
    pub authentication: String,
    /// When it registered.
    pub registered_at: UnixTime,
    /// When it last asked for something.
    pub last_used_at: UnixTime,
    /// Whether a user has ever approved it.
    pub was_approved: bool,
    /// How many grants it has that are alive.
    pub grants: usize,
}

/// What a user gave to a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantFacts {
    /// Its name.
    pub id: String,
    /// Who gave it.
    pub user: String,
    /// The client's name on the wire.
    pub client: String,
    /// What a person calls the client.
    pub app: Option<String>,
    /// What it may do now.
    pub scopes: String,
    /// When it was given.
    pub created_at: UnixTime,
    /// When it was last used.
    pub used_at: UnixTime,
    /// When it ends if it is not used, or at the latest.
    pub ends_at: UnixTime,
    /// When it ended, if it has.
    pub ended_at: Option<UnixTime>,
    /// Why it ended, unless its time had come.
    pub end_reason: Option<String>,
}

/// A browser in which a user is signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFacts {
    /// A name for it, made of the digest of its cookie: nobody gets in with it.
    pub id: String,
    /// Who.
    pub user: String,
    /// When the password was typed.
    pub signed_in_at: UnixTime,
    /// When the browser was last heard of, to the minute.
    pub seen_at: UnixTime,
}

/// A signing key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyFacts {
    /// Its name, as tokens say it.
    pub kid: String,
    /// `current`, `next`, `retained` or `revoked`.
    pub state: String,
    /// When it was made.
    pub created_at: UnixTime,
    /// When it came into its state.
    pub since: UnixTime,
}

impl ClientFacts {
    /// What the registration itself says.
    pub(super) fn of(client: &RegisteredClient) -> Self {
        Self {
            id: client.id.to_string(),
            name: client.name.clone(),
            host: client.document_host(),
            redirect_uris: client.redirect_uris.iter().map(|uri| uri.as_str().to_owned()).collect(),
            authentication: match client.authentication {
                ClientAuthentication::None => "none",
                ClientAuthentication::Secret { method, .. } => method.as_str(),
                ClientAuthentication::NoneOrPrivateKeyJwt { .. } => "none or private_key_jwt",
                ClientAuthentication::PrivateKeyJwt { .. } => "private_key_jwt",
            }
            .to_owned(),
            registered_at: client.registered_at,
            last_used_at: client.registered_at,
            was_approved: false,
            grants: 0,
        }
    }
}

impl GrantFacts {
    pub(super) fn of(grant: &Grant, connection: Connection) -> Self {
        let ended = connection.ended;
        Self {
            id: grant.id.to_string(),
            user: grant.terms.subject.clone(),
            client: connection.app.client.to_string(),
            app: connection.app.host.or(connection.app.name),
            scopes: connection.scopes.to_string(),
            created_at: connection.created_at,
            used_at: connection.used_at,
            ends_at: connection.ends_at,
            ended_at: ended.map(|(at, _)| at),
            end_reason: ended.and_then(|(_, reason)| Some(reason?.as_str().to_owned())),
        }
    }
}

impl KeyFacts {
    pub(super) fn of(key: signing_key::KeyFacts) -> Self {
        let state = match key.state {
            KeyState::Next => "next",
            KeyState::Current => "current",
            KeyState::Retained => "retained",
            KeyState::Revoked => "revoked",
        };
        let signing_key::KeyFacts { kid, created_at, since, .. } = key;
        Self { kid, state: state.to_owned(), created_at, since }
    }
}
