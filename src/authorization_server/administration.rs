//! What whoever sits at the terminal sees and does: everything of all users.

mod facts;

use std::collections::HashMap;

pub use self::facts::{ClientFacts, GrantFacts, KeyFacts, SessionFacts, UserFacts};
use super::AuthorizationServer;
use super::audit::{Actor, Event, What};
use super::client::ClientId;
use super::grant::{EndReason, Grant, GrantId, Terms};
use super::password::{AlsoEnds, NewPassword, UnfitPassword};
use super::session::{SessionKey, is_over};
use super::setup::{SetupError, SetupLink};
use super::signing_key::{KeyError, NotPossible};
use super::store::StoreError;

/// Why a wish was not fulfilled.
#[derive(Debug, thiserror::Error)]
pub enum AdministrationError {
    /// What was named does not exist.
    #[error("there is no such {0}; {list} lists what there is", list = list_of(.0))]
    Missing(&'static str),
    /// It is not the time for it.
    #[error("{0}")]
    NotPossible(String),
    /// A password that may not become anybody's.
    #[error(transparent)]
    Unfit(#[from] UnfitPassword),
    /// The store, or a file.
    #[error("{0}")]
    Failed(String),
}

fn list_of(what: &str) -> String {
    format!("`brain-mcp {what} list`")
}

impl From<StoreError> for AdministrationError {
    fn from(error: StoreError) -> Self {
        Self::Failed(with_causes(&error))
    }
}

impl From<SetupError> for AdministrationError {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Unfit(unfit) => Self::Unfit(unfit),
            SetupError::Store(error) => error.into(),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<KeyError> for AdministrationError {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::NotPossible(NotPossible::NoSuchKey) => Self::Missing("key"),
            KeyError::NotPossible(reason) => Self::NotPossible(reason.to_string()),
            other => Self::Failed(with_causes(&other)),
        }
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn about(user: Option<&str>, event: Event) -> Event {
    match user {
        Some(user) => event.of_user(user),
        None => event,
    }
}

/// The start of a session's digest, in hexadecimal: it is typed, and base64url can begin
/// with a minus.
fn session_name(key: SessionKey) -> String {
    let start = key.as_bytes().first_chunk().expect("8 is less than 32");
    format!("{:016x}", u64::from_be_bytes(*start))
}

impl AuthorizationServer {
    /// The users of the configuration.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn user_facts(&self) -> Result<Vec<UserFacts>, AdministrationError> {
        let (now, names) = (self.clock().now(), self.settings().users.clone());
        let lifetimes = self.settings().lifetimes;
        let read = self.store().read(move |store| {
            let mut facts = Vec::new();
            for name in names {
                let is_alive =
                    |grant: &Grant| grant.terms.subject == name && grant.scopes_at(now).is_ok();
                let apps = store.grants_where(is_alive).len();
                let sessions = store.sessions_of(&name)?;
                let alive = sessions.iter().filter(|(_, it)| !is_over(it, &lifetimes, now));
                let password_since = store.user(&name)?.map(|user| user.created_at);
                let (passkeys, browsers) = (store.passkeys_of(&name)?.len(), alive.count());
                facts.push(UserFacts { name, password_since, passkeys, apps, browsers });
            }
            Ok(facts)
        });
        Ok(read.await?)
    }

    /// The name of the user who is meant: the owner if none is named.
    fn meant_user(&self, named: Option<&str>) -> Result<String, AdministrationError> {
        let users = &self.settings().users;
        match named {
            Some(name) if self.settings().has_user(name) => Ok(name.to_owned()),
            Some(_) => Err(AdministrationError::Missing("user")),
            None => users.first().cloned().ok_or(AdministrationError::Missing("user")),
        }
    }

    /// Nothing that ended and a name that is nobody's is a mistyped name. One that was
    /// taken out of the configuration may still have something.
    fn require_meaning(&self, user: Option<&str>, ended: usize) -> Result<(), AdministrationError> {
        match user {
            Some(name) if ended == 0 && !self.settings().has_user(name) => {
                Err(AdministrationError::Missing("user"))
            }
            _ => Ok(()),
        }
    }

    /// Makes a link by which a user, the owner if none is named, chooses a new password.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn setup_link(&self, user: Option<&str>) -> Result<SetupLink, AdministrationError> {
        let user = self.meant_user(user)?;
        Ok(self.new_setup_link(&user).await?)
    }

    /// Gives a user, the owner if none is named, this password, and answers whose it is
    /// now. The user is signed out everywhere, and what `also` names ends.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn give_password(
        &self,
        user: Option<&str>,
        password: &str,
        also: AlsoEnds,
    ) -> Result<String, AdministrationError> {
        let user = self.meant_user(user)?;
        let password = NewPassword::typed_twice(password, password)?;
        self.set_password(&user, password, also).await?;
        Ok(user)
    }

    /// The clients that are remembered, the one used last first.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn client_facts(&self) -> Result<Vec<ClientFacts>, AdministrationError> {
        let now = self.clock().now();
        let read = self.store().read(move |store| {
            let mut alive: HashMap<ClientId, usize> = HashMap::new();
            for grant in store.grants_where(|grant| grant.scopes_at(now).is_ok()) {
                *alive.entry(grant.terms.client).or_default() += 1;
            }
            let clients = store.all_clients()?.into_iter();
            let mut facts: Vec<ClientFacts> = clients
                .map(|(client, last_used_at, was_approved)| {
                    let grants = alive.get(&client.id).copied().unwrap_or_default();
                    ClientFacts { last_used_at, was_approved, grants, ..ClientFacts::of(&client) }
                })
                .collect();
            facts.sort_by_key(|client| (std::cmp::Reverse(client.last_used_at), client.id.clone()));
            Ok(facts)
        });
        Ok(read.await?)
    }

    /// Forgets a client and ends all that it was given. Answers how many grants ended.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn remove_client(&self, id: &str) -> Result<usize, AdministrationError> {
        let (now, client) = (self.clock().now(), ClientId::presented(id));
        let removed = self.store().change(move |store| {
            let removed = store.withdraw_client(&client, now)?;
            if removed.is_some() {
                let event = Event::new(now, Actor::Operator, What::ClientRemoved);
                store.note(&event.of_client(&client))?;
            }
            Ok(removed)
        });
        let ended = removed.await?.ok_or(AdministrationError::Missing("client"))?;
        tracing::warn!(client = id, ended, "a client was removed at the terminal");
        Ok(ended)
    }

    /// The grants of a user, or of all; those that are alive, or also those that are over.
    /// The one used last comes first.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn grant_facts(
        &self,
        user: Option<&str>,
        also_ended: bool,
    ) -> Result<Vec<GrantFacts>, AdministrationError> {
        let (now, user) = (self.clock().now(), user.map(str::to_owned));
        let read = self.store().read(move |store| {
            let is_meant = |grant: &Grant| {
                user.as_ref().is_none_or(|user| grant.terms.subject == *user)
                    && (also_ended || grant.scopes_at(now).is_ok())
            };
            let grants = store.grants_where(is_meant);
            let mut clients = HashMap::new();
            for grant in &grants {
                let id = &grant.terms.client;
                if !clients.contains_key(id) {
                    clients.insert(id.clone(), store.client(id)?);
                }
            }
            Ok((grants, clients))
        });
        let (grants, clients) = read.await?;
        let mut facts: Vec<GrantFacts> = grants
            .iter()
            .map(|grant| {
                let client = clients.get(&grant.terms.client).and_then(Option::as_ref);
                GrantFacts::of(grant, self.connection(grant, client, now))
            })
            .collect();
        facts.sort_by_key(|grant| (std::cmp::Reverse(grant.used_at), grant.id.clone()));
        Ok(facts)
    }

    /// Ends one grant, and what its client could still make of codes of the same user.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn revoke_grant(&self, id: &str) -> Result<(), AdministrationError> {
        let missing = AdministrationError::Missing("grant");
        let Ok(id) = id.parse::<GrantId>() else { return Err(missing) };
        let alive = self.store().look_at_grant(id, |grant| {
            let terms = &grant.terms;
            grant.ended.is_none().then(|| (terms.subject.clone(), terms.client.clone()))
        });
        let Some((user, client)) = alive.flatten() else { return Err(missing) };
        self.end_grant(id, (user, client), EndReason::RevokedByOperator).await?;
        tracing::warn!(grant = %id, "a grant was revoked at the terminal");
        Ok(())
    }

    /// Ends all grants of a user, or of everybody. Answers how many.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn revoke_grants(&self, user: Option<&str>) -> Result<usize, AdministrationError> {
        let (now, named) = (self.clock().now(), user.map(str::to_owned));
        let is_meant = move |terms: &Terms| named.as_ref().is_none_or(|it| terms.subject == *it);
        let reason = EndReason::RevokedByOperator;
        let event = about(user, Event::new(now, Actor::Operator, What::Ended { reason }));
        let change = self.store().change(move |store| {
            let ended = store.end_access_where(is_meant, now, reason)?;
            if ended > 0 {
                store.note(&event)?;
            }
            Ok(ended)
        });
        let ended = change.await?;
        self.require_meaning(user, ended)?;
        tracing::warn!(user, ended, "grants were revoked at the terminal");
        Ok(ended)
    }

    /// The browsers in which somebody is signed in.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn session_facts(&self) -> Result<Vec<SessionFacts>, AdministrationError> {
        let (now, lifetimes) = (self.clock().now(), self.settings().lifetimes);
        let sessions = self.store().read(|store| store.sessions_where(|_| true)).await?;
        let alive = sessions.into_iter().filter(|(_, session)| !is_over(session, &lifetimes, now));
        let mut facts: Vec<SessionFacts> = alive
            .map(|(key, session)| SessionFacts {
                id: session_name(key),
                user: session.user,
                signed_in_at: session.signed_in_at,
                seen_at: session.seen_at,
            })
            .collect();
        facts.sort_by_key(|session| (std::cmp::Reverse(session.seen_at), session.id.clone()));
        Ok(facts)
    }

    /// Signs one browser out.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn revoke_session(&self, id: &str) -> Result<(), AdministrationError> {
        let name = id.to_owned();
        let event = Event::new(self.clock().now(), Actor::Operator, What::SignedOut);
        let removed = self.store().change(move |store| {
            let sessions = store.sessions_where(|_| true)?;
            let meant = sessions.into_iter().find(|(key, _)| session_name(*key) == name);
            let Some((key, session)) = meant else { return Ok(None) };
            store.note(&event.of_user(&session.user))?;
            store.remove_session(key).map(Some)
        });
        removed.await?.ok_or(AdministrationError::Missing("session"))?;
        tracing::warn!(session = id, "a browser was signed out at the terminal");
        Ok(())
    }

    /// Signs a user, or everybody, out of all browsers. Answers how many those were.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn revoke_sessions(&self, user: Option<&str>) -> Result<usize, AdministrationError> {
        let named = user.map(str::to_owned);
        let event = Event::new(self.clock().now(), Actor::Operator, What::SignedOutElsewhere);
        let event = about(user, event);
        let removed = self.store().change(move |store| {
            let sessions =
                store.sessions_where(|it| named.as_ref().is_none_or(|user| it.user == *user))?;
            for (key, _) in &sessions {
                store.remove_session(*key)?;
            }
            if !sessions.is_empty() {
                store.note(&event)?;
            }
            Ok(sessions.len())
        });
        let removed = removed.await?;
        self.require_meaning(user, removed)?;
        tracing::warn!(user, removed, "browsers were signed out at the terminal");
        Ok(removed)
    }

    /// The newest events, of a user or of all, the newest last.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn events(
        &self,
        user: Option<&str>,
        most: usize,
    ) -> Result<Vec<Event>, AdministrationError> {
        let named = user.map(str::to_owned);
        let read = self.store().read(move |store| {
            let is_meant = |event: &Event| named.is_none() || event.user == named;
            // A flood of strangers' leaves at least half of the lines to the others.
            let strangers = if most == usize::MAX { most } else { most / 2 };
            store.newest_events(most, strangers, is_meant)
        });
        let mut events = read.await?;
        events.reverse();
        Ok(events)
    }

    /// The signing keys.
    #[must_use]
    pub fn key_facts(&self) -> Vec<KeyFacts> {
        self.signing_keys().list().into_iter().map(KeyFacts::of).collect()
    }

    /// Lets the next key sign from now on.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn turn_keys(&self) -> Result<(), AdministrationError> {
        Ok(self.rotate_keys().await?)
    }

    /// Takes a key out: what it has signed is dead with the next request.
    ///
    /// # Errors
    ///
    /// [`AdministrationError`]
    pub async fn withdraw_key(&self, kid: &str) -> Result<(), AdministrationError> {
        Ok(self.revoke_key(kid).await?)
    }
}
