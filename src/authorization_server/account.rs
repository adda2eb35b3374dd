//! What a user sees of what was given away, and takes back.

use std::collections::HashMap;
use std::time::Duration;

use super::AuthorizationServer;
use super::audit::{Actor, Event, What};
use super::client::{ClientId, RegisteredClient};
use super::client_metadata::written_out;
use super::grant::{EndReason, Grant, GrantId, Terms};
use super::password::{AlsoEnds, NewPassword, NotVerified, Password};
use super::pending::Owner;
use super::redirect_uri::RedirectTarget;
use super::session::{Begun, BrowserCookie, Visitor, is_over};
use super::sign_in::{SignInError, SignedIn};
use super::store::StoreError;
use super::store::passkeys::StoredPasskey;
use super::store::sessions::StoredSession;
use super::store::users::PasswordChange;
use crate::clock::UnixTime;
use crate::contract::scope::ScopeSet;
use crate::peer::Peer;
use crate::refusals::Refused;

/// How long an ended connection is still listed.
const ENDED_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How many connections are shown, and how many that have ended: the terminal names all.
const CONNECTIONS: usize = 200;
const ENDED: usize = 50;
/// How many refusals are shown.
const REFUSALS: usize = 50;
/// How many events are shown, and how many of them at most that strangers cause.
const EVENTS: usize = 20;
const STRANGERS_EVENTS: usize = 5;

/// Everything of one user.
pub(super) struct Account {
    /// Apps with connections that are alive, the one used last first.
    pub(super) apps: Vec<App>,
    /// How many connections are alive, those that are not shown included.
    pub(super) connections: usize,
    /// Those that were ended lately, the last one first.
    pub(super) ended: Vec<Connection>,
    /// What was refused lately, with the name of the client.
    pub(super) refused: Vec<(String, Refused)>,
    /// Browsers in which the user is signed in, this one first.
    pub(super) browsers: Vec<Browser>,
    /// The oldest first.
    pub(super) passkeys: Vec<StoredPasskey>,
    /// What happened lately, the last first, in words.
    pub(super) events: Vec<(UnixTime, String)>,
}

/// Who a client is.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) name: Option<String>,
    /// The host that vouches for the client, if one does.
    pub(super) host: Option<String>,
    pub(super) client: ClientId,
}

/// The connections of one client. A client that was allowed on two devices has two.
pub(super) struct App {
    pub(super) identity: Identity,
    /// The one used last first. Never empty.
    pub(super) connections: Vec<Connection>,
}

/// A grant and whom it was given to.
pub(super) struct Connection {
    pub(super) id: GrantId,
    pub(super) app: Identity,
    pub(super) place: Option<RedirectTarget>,
    pub(super) scopes: ScopeSet,
    pub(super) created_at: UnixTime,
    pub(super) used_at: UnixTime,
    /// When it ends, however much it is used.
    pub(super) ends_at: UnixTime,
    /// When it ends before that, if its tokens are not renewed.
    pub(super) ends_unused_at: Option<UnixTime>,
    /// When it ended, and why, unless its time had simply come.
    pub(super) ended: Option<(UnixTime, Option<EndReason>)>,
}

/// A browser session.
pub(super) struct Browser {
    pub(super) is_this: bool,
    pub(super) signed_in_at: UnixTime,
    pub(super) seen_at: UnixTime,
}

impl App {
    /// Puts the connections of each client together, in the order of its first one.
    fn group(connections: Vec<Connection>) -> Vec<Self> {
        let mut apps: Vec<Self> = Vec::new();
        let mut places = HashMap::new();
        for connection in connections {
            let place = *places.entry(connection.app.client.clone()).or_insert_with(|| {
                apps.push(Self { identity: connection.app.clone(), connections: Vec::new() });
                apps.len() - 1
            });
            apps[place].connections.push(connection);
        }
        apps
    }
}

impl Account {
    /// How many connections are alive that are not shown.
    pub(super) fn left_out(&self) -> usize {
        self.connections.saturating_sub(CONNECTIONS)
    }
}

/// Why the password stays as it is.
#[derive(Debug, thiserror::Error)]
pub(super) enum PasswordUnchanged {
    #[error(transparent)]
    Unproven(#[from] SignInError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AuthorizationServer {
    /// Everything of a user, seen from one browser.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn account(
        &self,
        user: &str,
        visitor: &Visitor,
    ) -> Result<Account, StoreError> {
        let now = self.clock().now();
        let name = user.to_owned();
        let read = self.store().read(move |store| {
            let grants = store.grants_where(|grant| grant.terms.subject == name);
            let mut clients = HashMap::new();
            for grant in &grants {
                let id = &grant.terms.client;
                if !clients.contains_key(id) {
                    clients.insert(id.clone(), store.client(id)?);
                }
            }
            let is_own = |event: &Event| event.user.as_deref() == Some(&*name);
            let events = store.newest_events(EVENTS, STRANGERS_EVENTS, is_own)?;
            let (sessions, passkeys) = (store.sessions_of(&name)?, store.passkeys_of(&name)?);
            Ok((grants, clients, sessions, passkeys, events))
        });
        let (grants, clients, sessions, passkeys, events) = read.await?;
        let client_of = |grant: &Grant| clients.get(&grant.terms.client).and_then(Option::as_ref);
        let mut connections = Vec::new();
        let mut ended = Vec::new();
        for grant in &grants {
            let connection = self.connection(grant, client_of(grant), now);
            match connection.ended {
                None => connections.push(connection),
                Some((at, _)) if now.since(at) < ENDED_FOR => ended.push(connection),
                Some(_) => {}
            }
        }
        connections.sort_by_key(|one| (std::cmp::Reverse(one.used_at), one.id));
        let alive = connections.len();
        connections.truncate(CONNECTIONS);
        let apps = App::group(connections);
        ended.sort_by_key(|app| (std::cmp::Reverse(app.ended.map(|(at, _)| at)), app.id));
        let mut places = 0..ENDED;
        ended.retain(|connection| places.next().is_some() || connection.is_suspicious());
        let name_of = |client: &str| {
            let known = clients.values().flatten().find(|known| known.id.as_str() == client);
            known.and_then(|known| known.name.clone()).unwrap_or_else(|| client.to_owned())
        };
        let refused = self.settings().refusals.of(user, REFUSALS);
        let refused = refused.into_iter().map(|refused| {
            // Clients choose it, and the page must not be written on by them.
            let asked = written_out(&refused.asked);
            (name_of(&refused.client), Refused { asked, ..refused })
        });
        let is_alive = |session: &StoredSession| !is_over(session, &self.settings().lifetimes, now);
        let this = visitor.cookie().key();
        let mut browsers: Vec<Browser> = sessions
            .into_iter()
            .filter(|(_, session)| is_alive(session))
            .map(|(key, StoredSession { signed_in_at, seen_at, .. })| Browser {
                is_this: key == this,
                signed_in_at,
                seen_at,
            })
            .collect();
        browsers.sort_by_key(|browser| (!browser.is_this, std::cmp::Reverse(browser.seen_at)));
        let events = events.iter().map(|event| (event.at, event.text(name_of))).collect();
        let refused = refused.collect();
        Ok(Account { apps, connections: alive, ended, refused, browsers, passkeys, events })
    }

    pub(super) fn connection(
        &self,
        grant: &Grant,
        client: Option<&RegisteredClient>,
        now: UnixTime,
    ) -> Connection {
        let scopes = grant.scopes_at(now);
        let policy = self.settings().refresh_policy();
        let natural_end = match grant.is_over_since(policy) {
            over if over <= now => Some((over, None)),
            // Nothing was left of it but notes about people, and their hour is over.
            _ if scopes.is_err() => Some((grant.terms.people_until, None)),
            _ => None,
        };
        Connection {
            id: grant.id,
            app: Identity {
                name: client.and_then(|client| client.name.clone()),
                host: client.and_then(RegisteredClient::document_host),
                client: grant.terms.client.clone(),
            },
            place: grant.terms.redirect_uri.as_ref().map(super::redirect_uri::RedirectUri::target),
            scopes: scopes.unwrap_or(ScopeSet::NONE),
            created_at: grant.created_at,
            used_at: self.0.last_uses.of(grant),
            ends_at: grant.terms.ends_at,
            ends_unused_at: Some(grant.family.idle_end(policy))
                .filter(|idle_end| *idle_end < grant.terms.ends_at),
            ended: grant.ended.map(|ended| (ended.at, Some(ended.reason))).or(natural_end),
        }
    }

    /// Ends one grant of a user, and what else its client was just allowed. Answers
    /// whether there was something to end: another user's grant stays as it is.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn disconnect(&self, user: &str, id: GrantId) -> Result<bool, StoreError> {
        let Some(client) = self.client_of_own(user, id) else { return Ok(false) };
        let ended = self.end_grant(id, (user.to_owned(), client), EndReason::RevokedByUser).await?;
        tracing::info!(user, grant = %id, "the user disconnected an app");
        Ok(ended)
    }

    /// Ends a grant of that user to that client, and the codes that the same two could
    /// still make one of. Answers whether there was such a grant.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn end_grant(
        &self,
        id: GrantId,
        (user, client): (String, ClientId),
        reason: EndReason,
    ) -> Result<bool, StoreError> {
        let now = self.clock().now();
        let by = match reason {
            EndReason::RevokedByOperator => Actor::Operator,
            _ => Actor::User,
        };
        let ended = self.store().change(move |store| {
            let ended = store.change_grant(id, |grant| grant.end(now, reason))?;
            store.note_end(id, by, now)?;
            let is_same = |terms: &Terms| terms.subject == user && terms.client == client;
            store.withdraw_codes(is_same)?;
            Ok(ended.is_some())
        });
        ended.await
    }

    /// Takes scopes away from a grant of a user, for good, and answers what is left of
    /// them; nothing, if that is no grant of the user.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn narrow(
        &self,
        user: &str,
        id: GrantId,
        left: ScopeSet,
    ) -> Result<Option<ScopeSet>, StoreError> {
        let Some(client) = self.client_of_own(user, id) else { return Ok(None) };
        let (now, name) = (self.clock().now(), user.to_owned());
        let narrowed = self.store().change(move |store| {
            let left = store.change_grant(id, |grant| {
                grant.narrow(left, now);
                grant.scopes_at(now).unwrap_or(ScopeSet::NONE)
            })?;
            store.note_end(id, Actor::User, now)?;
            if let Some(scopes) = left.filter(|left| !left.is_empty()) {
                let event = Event::new(now, Actor::User, What::Narrowed { scopes });
                store.note(&event.of_user(&name).of_client(&client).of_grant(id))?;
            }
            Ok(left)
        });
        let left = narrowed.await?;
        let scopes = left.unwrap_or(ScopeSet::NONE);
        tracing::info!(user, grant = %id, %scopes, "the user narrowed what an app may do");
        Ok(left)
    }

    /// The client of a grant, if it is the user's.
    fn client_of_own(&self, user: &str, id: GrantId) -> Option<ClientId> {
        let client = self.store().look_at_grant(id, |grant| {
            (grant.terms.subject == user).then(|| grant.terms.client.clone())
        });
        let client = client.flatten();
        if client.is_none() {
            tracing::warn!(user, grant = %id, "a user named a grant that is not theirs");
        }
        client
    }

    /// Ends all grants of a user, and codes that could still become grants.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn disconnect_all(&self, user: &str) -> Result<(), StoreError> {
        let (now, name, reason) = (self.clock().now(), user.to_owned(), EndReason::RevokedByUser);
        let ended = self.store().change(move |store| {
            let ended = store.end_access_where(|terms| terms.subject == name, now, reason)?;
            // What changes nothing is no event, or pressing a button would fill the trail.
            if ended > 0 {
                let event = Event::new(now, Actor::User, What::Ended { reason });
                store.note(&event.of_user(&name))?;
            }
            Ok(ended)
        });
        let ended = ended.await?;
        tracing::info!(user, ended, "the user disconnected all apps");
        Ok(())
    }

    /// Signs a user out of every browser but this one.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub(super) async fn sign_out_elsewhere(
        &self,
        user: &str,
        visitor: &Visitor,
    ) -> Result<(), StoreError> {
        let (name, key) = (user.to_owned(), visitor.cookie().key());
        let event = Event::new(self.clock().now(), Actor::User, What::SignedOutElsewhere);
        let event = event.of_user(user);
        let change = self.store().change(move |store| {
            let ended = store.remove_other_sessions(&name, key)?;
            if ended > 0 { store.note(&event) } else { Ok(()) }
        });
        change.await?;
        tracing::info!(user, "the user signed out everywhere else");
        Ok(())
    }

    /// Changes the password of a user who shows the present one. Every browser is signed
    /// out but this one, which gets a new cookie; what `also` names ends too (checklist
    /// #79, #149).
    ///
    /// # Errors
    ///
    /// [`PasswordUnchanged`]
    pub(super) async fn change_password(
        &self,
        user: &str,
        (visitor, peer): (&Visitor, Peer),
        (present, new): (Password, NewPassword),
        also: AlsoEnds,
    ) -> Result<Begun, PasswordUnchanged> {
        let signed_in = self.sign_in(user, present, (visitor, peer)).await?;
        let SignedIn { user, verified, device, .. } = signed_in;
        let new = self.browsing().passwords.hash(new).await.map_err(|reason| match reason {
            NotVerified::Wrong | NotVerified::Busy => SignInError::Busy,
        })?;
        let cookie = BrowserCookie::new(self.entropy());
        let (old, key) = (visitor.cookie().key(), cookie.key());
        let now = self.clock().now();
        let begun = self.begun(cookie, (&user, &new), device);
        let change = PasswordChange { verified, new };
        let session = StoredSession { user: user.clone(), signed_in_at: now, seen_at: now };
        let event = Event::new(now, Actor::User, What::PasswordChanged).of_user(&user);
        let changed = self.store().change(move |store| {
            let changed = store.change_password(&change, (key, &session), also)?;
            if changed {
                store.note(&event)?;
            }
            Ok(changed)
        });
        if !changed.await? {
            // Somebody else was quicker, and this was not the present one any more.
            return Err(SignInError::Wrong.into());
        }
        self.browsing().pending.follow(old, key, Owner::SignedIn);
        tracing::info!(user, "the password was changed");
        Ok(begun)
    }
}
