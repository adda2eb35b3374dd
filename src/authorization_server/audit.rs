//! What happened, for whoever wants to know later: who did what, and when.
//!
//! No event holds a token, a password or a text that a stranger could choose freely, but
//! the names of clients; a user name is only written down if there is such a user, because
//! people type their password into the wrong field.

use serde::{Deserialize, Serialize};

use super::AuthorizationServer;
use super::authorization::AuthorizationRequest;
use super::client::ClientId;
use super::grant::{EndReason, GrantId};
use super::store::StoreError;
use crate::clock::UnixTime;
use crate::contract::scope::ScopeSet;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: UnixTime,
    /// Who did it.
    pub by: Actor,
    /// Whose access or account it is about, if it is somebody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The client that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The grant that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// Who does things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A user, in the browser.
    User,
    /// A client.
    Client,
    /// Somebody who has shown nothing.
    Stranger,
    /// Whoever sits at the terminal, or has written the configuration.
    Operator,
    /// The server by itself.
    Server,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// Somebody showed the password.
    SignedIn,
    /// Somebody did not know it.
    SignInFailed,
    /// Somebody showed a passkey.
    PasskeyShown {
        /// What the user calls it.
        name: String,
    },
    /// Somebody showed a passkey that is not known here, or proved nothing with it.
    PasskeyRefused,
    /// Somebody showed a passkey that must have been copied.
    PasskeyCopied {
        /// What the user calls it.
        name: String,
    },
    /// A user has one more passkey.
    PasskeyAdded {
        /// What the user calls it.
        name: String,
    },
    /// A user has one passkey less.
    PasskeyRemoved {
        /// What the user called it.
        name: String,
    },
    /// A user has no passkey any more.
    PasskeysRemoved,
    /// A browser was signed out.
    SignedOut,
    /// Browsers were signed out from elsewhere.
    SignedOutElsewhere,
    /// A user has another password.
    PasswordChanged,
    /// A link was made by which a password can be chosen.
    SetupLinkMade,
    /// A client registered.
    Registered {
        /// What it calls itself.
        name: Option<String>,
    },
    /// A user allowed what a client had asked for, or some of it.
    Allowed {
        /// What was ticked.
        scopes: ScopeSet,
    },
    /// A user did not.
    Denied {
        /// What was asked for.
        scopes: ScopeSet,
    },
    /// The client fetched its first tokens.
    Connected {
        /// What they open.
        scopes: ScopeSet,
    },
    /// A user took scopes away.
    Narrowed {
        /// What is left.
        scopes: ScopeSet,
    },
    /// Access was ended.
    Ended {
        /// Why.
        reason: EndReason,
    },
    /// A client was removed, with all that it was given.
    ClientRemoved,
    /// Another key signs from now on.
    KeyRotated,
    /// A key is believed no more.
    KeyRevoked {
        /// Its name.
        kid: String,
    },
    /// A backup was made.
    BackupMade,
    /// The data was restored from a backup, and all access ended.
    Restored {
        /// When the backup was made.
        made_at: UnixTime,
    },
}

impl Event {
    /// An event that is about nobody yet.
    pub(super) const fn new(at: UnixTime, by: Actor, what: What) -> Self {
        Self { at, by, user: None, client: None, grant: None, what }
    }

    /// About this user.
    pub(super) fn of_user(self, user: &str) -> Self {
        Self { user: Some(user.to_owned()), ..self }
    }

    /// About this client.
    pub(super) fn of_client(self, client: &ClientId) -> Self {
        Self { client: Some(client.to_string()), ..self }
    }

    /// About this grant.
    pub(super) fn of_grant(self, grant: GrantId) -> Self {
        Self { grant: Some(grant.to_string()), ..self }
    }

    /// Whether strangers can make as many of these as they like. They are kept apart, so
    /// that they push out nothing else.
    pub(super) const fn is_strangers(&self) -> bool {
        matches!(self.what, What::SignInFailed | What::PasskeyRefused | What::Registered { .. })
    }

    /// What happened, in words. `name_of` says what a person calls a client.
    pub fn text(&self, name_of: impl Fn(&str) -> String) -> String {
        let app = self.client.as_deref().map_or_else(|| "all apps".to_owned(), name_of);
        let terminal = if self.by == Actor::Operator { " at the server's terminal" } else { "" };
        match &self.what {
            What::SignedIn => "signed in".to_owned(),
            What::SignInFailed => "somebody tried to sign in with a wrong password".to_owned(),
            What::PasskeyShown { name } => format!("signed in with the passkey “{name}”"),
            What::PasskeyRefused => {
                "somebody tried to sign in with a passkey that is not known here".to_owned()
            }
            What::PasskeyCopied { name } => format!(
                "the passkey “{name}” was refused: its counter went back, so somebody may have \
                 copied it"
            ),
            What::PasskeyAdded { name } => format!("the passkey “{name}” was added"),
            What::PasskeyRemoved { name } => format!("the passkey “{name}” was removed"),
            What::PasskeysRemoved => format!("all passkeys were removed{terminal}"),
            What::SignedOut => format!("signed out{terminal}"),
            What::SignedOutElsewhere => format!("signed out of other browsers{terminal}"),
            What::PasswordChanged => format!("the password was changed{terminal}"),
            What::SetupLinkMade => {
                format!("a link to choose a new password was made{terminal}")
            }
            What::Registered { name } => {
                let name = name.as_ref().map(|name| format!(" as {name}"));
                format!("{app} registered{}", name.unwrap_or_default())
            }
            What::Allowed { scopes } => format!("allowed {app}: {scopes}"),
            What::Denied { scopes } => format!("did not allow {app}: {scopes}"),
            What::Connected { scopes } => format!("{app} was connected: {scopes}"),
            What::Narrowed { scopes } => format!("{app} was left with: {scopes}"),
            What::Ended { reason: EndReason::RevokedByUser } if self.client.is_none() => {
                "all apps were disconnected".to_owned()
            }
            What::Ended { reason } => format!("access of {app} ended: {}", reason.as_str()),
            What::ClientRemoved => format!("{app} was removed{terminal}"),
            What::KeyRotated => format!("another key signs{terminal}"),
            What::KeyRevoked { kid } => format!("the key {kid} was revoked{terminal}"),
            What::BackupMade => format!("a backup was made{terminal}"),
            What::Restored { made_at } => {
                let seconds = i64::try_from(made_at.as_seconds()).unwrap_or(i64::MAX);
                let day = jiff::Timestamp::from_second(seconds).unwrap_or_default();
                format!("restored from a backup of {day}; all access ended")
            }
        }
    }
}

impl AuthorizationServer {
    /// Writes down what is part of no other change.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn note_now(&self, by: Actor, what: What) -> Result<(), StoreError> {
        let event = Event::new(self.clock().now(), by, what);
        self.store().change(move |store| store.note(&event)).await
    }

    /// Writes down that a user did not allow what was asked.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn note_denial(
        &self,
        user: &str,
        request: &AuthorizationRequest,
    ) -> Result<(), StoreError> {
        let what = What::Denied { scopes: request.requested };
        let event = Event::new(self.clock().now(), Actor::User, what).of_user(user);
        let event = event.of_client(&request.client.id);
        self.store().change(move |store| store.note(&event)).await
    }
}
