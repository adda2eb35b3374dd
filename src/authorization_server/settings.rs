//! What an operator can choose about the authorization server.

use std::path::PathBuf;
use std::time::Duration;

use super::client_rules::ClientRules;
use super::family::RefreshPolicy;
use super::password::HashingCost;
use super::setup::OWNER;
use super::signing_key::KeyPolicy;
use super::store::clients::ClientPolicy;
use crate::contract::issuer::Issuer;
use crate::contract::resource::ResourceUri;
use crate::rates::PerMinute;
use crate::refusals::Refusals;

/// What the authorization server has to be told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its name: a bare origin.
    pub issuer: Issuer,
    /// The one resource that tokens are made for.
    pub resource: ResourceUri,
    /// Where it keeps its database and its keys.
    pub data_dir: PathBuf,
    /// Who may sign in. Never empty; the first is the owner.
    pub users: Vec<String>,
    /// Those of them who have an inbox; the others are told what writing is good for.
    pub with_inbox: Vec<String>,
    /// How long things last.
    pub lifetimes: Lifetimes,
    /// How often things may be asked for.
    pub limits: RequestLimits,
    /// How long a key signs until the next one takes over; for ever if absent.
    pub key_rotation: Option<Duration>,
    /// What hashing a password costs.
    pub hashing_cost: HashingCost,
    /// The most clients that may be registered at a time.
    pub client_limit: usize,
    /// Which clients may come.
    pub clients: ClientRules,
    /// What the resource server refused lately, to show it to the user.
    pub refusals: Refusals,
}

/// How long things last (design section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// An authorization code.
    pub code: Duration,
    /// An access token.
    pub access_token: Duration,
    /// A refresh token that is not used.
    pub refresh_idle: Duration,
    /// A grant, unless the user chooses otherwise on the consent page.
    pub grant: Duration,
    /// A refresh token that was just replaced.
    pub grace: Duration,
    /// A request that waits for the user's answer.
    pub pending: Duration,
    /// A browser session.
    pub session: Duration,
    /// A browser session that is not used.
    pub session_idle: Duration,
    /// How long after signing in a user may approve.
    pub fresh_login: Duration,
    /// A registered client that no user has approved.
    pub unused_client: Duration,
    /// A registered client without grants, and what is remembered of grants that are
    /// over: a client must outlive its tokens, or it could not be told that they are
    /// dead.
    pub inactive_client: Duration,
}

/// How often things may be asked for (design section 9, oauth-clients B19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Passwords that come from one address, or from one browser in which the user has
    /// signed in before.
    pub sign_in: PerMinute,
    /// Authorization requests from one address, or from one such browser.
    pub authorize: PerMinute,
    /// Pages of all kinds, from one address.
    pub pages: PerMinute,
    /// Requests to `/token` and `/revoke` from one address. It may be that of a whole
    /// cloud.
    pub token: PerMinute,
    /// Refreshes of one grant, which count for no address.
    pub refresh: PerMinute,
    /// Wrong proofs of one client from one address (checklist #48).
    pub wrong_secret: PerMinute,
    /// Registrations from one address.
    pub register: PerMinute,
}

impl RequestLimits {
    /// No limits. For tests, in which one address asks for everything.
    pub const NONE: Self = Self {
        sign_in: PerMinute::UNLIMITED,
        authorize: PerMinute::UNLIMITED,
        pages: PerMinute::UNLIMITED,
        token: PerMinute::UNLIMITED,
        refresh: PerMinute::UNLIMITED,
        wrong_secret: PerMinute::UNLIMITED,
        register: PerMinute::UNLIMITED,
    };
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            sign_in: PerMinute::new(10),
            // A page is loaded again sooner than a password is typed again.
            authorize: PerMinute::new(20),
            pages: PerMinute::new(120),
            token: PerMinute::new(600),
            refresh: PerMinute::new(60),
            wrong_secret: PerMinute::new(10),
            register: PerMinute::new(30),
        }
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Settings {
    /// How long a key signs unless the owner chooses otherwise.
    pub const KEY_ROTATION: Duration = Duration::from_secs(90 * 24 * 60 * 60);

    /// The most clients unless the owner chooses otherwise.
    pub const CLIENTS: usize = 1_000;

    /// Settings with the defaults for everything that has one.
    #[must_use]
    pub fn new(issuer: Issuer, resource: ResourceUri, data_dir: PathBuf) -> Self {
        Self {
            issuer,
            resource,
            data_dir,
            users: vec![OWNER.to_owned()],
            with_inbox: Vec::new(),
            lifetimes: Lifetimes::default(),
            limits: RequestLimits::default(),
            key_rotation: Some(Self::KEY_ROTATION),
            hashing_cost: HashingCost::STRONG,
            client_limit: Self::CLIENTS,
            clients: ClientRules::default(),
            refusals: Refusals::default(),
        }
    }

    /// Whether there is such a user. Who is no longer in the settings is nobody,
    /// whatever the store remembers.
    pub(super) fn has_user(&self, name: &str) -> bool {
        self.users.iter().any(|user| user == name)
    }

    /// Whether a user has an inbox that clients could write into.
    pub(super) fn has_inbox(&self, name: &str) -> bool {
        self.with_inbox.iter().any(|user| user == name)
    }

    pub(super) const fn refresh_policy(&self) -> RefreshPolicy {
        RefreshPolicy { grace: self.lifetimes.grace, idle: self.lifetimes.refresh_idle }
    }

    pub(super) const fn key_policy(&self) -> KeyPolicy {
        KeyPolicy { rotate_after: self.key_rotation, token: self.lifetimes.access_token }
    }

    pub(super) const fn client_policy(&self) -> ClientPolicy {
        ClientPolicy {
            unused: self.lifetimes.unused_client,
            inactive: self.lifetimes.inactive_client,
            limit: self.client_limit,
        }
    }
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self {
            code: MINUTE,
            access_token: 10 * MINUTE,
            refresh_idle: 30 * DAY,
            grant: 180 * DAY,
            grace: MINUTE,
            pending: 10 * MINUTE,
            session: 12 * HOUR,
            session_idle: HOUR,
            fresh_login: 10 * MINUTE,
            unused_client: DAY,
            inactive_client: 90 * DAY,
        }
    }
}
