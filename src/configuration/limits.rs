//! Limits by name.

use std::time::Duration;

use super::check::Checker;
use super::faults::Faults;
use super::file::unknown_limit;
use super::raw::{Key, RawConfiguration};
use super::{BAD_TOKEN_LIMIT, MCP_LIMIT};
use crate::authorization_server::{Lifetimes, RequestLimits, Settings as AuthorizationSettings};
use crate::rates::PerMinute;

/// One limit of `[limits]`, in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Code,
    AccessToken,
    RefreshIdle,
    RefreshGrace,
    Grant,
    Pending,
    Session,
    SessionIdle,
    FreshSignIn,
}

impl Limit {
    pub(super) const ALL: [Self; 9] = [
        Self::Code,
        Self::AccessToken,
        Self::RefreshIdle,
        Self::RefreshGrace,
        Self::Grant,
        Self::Pending,
        Self::Session,
        Self::SessionIdle,
        Self::FreshSignIn,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Code => "code_seconds",
            Self::AccessToken => "access_token_seconds",
            Self::RefreshIdle => "refresh_idle_seconds",
            Self::RefreshGrace => "refresh_grace_seconds",
            Self::Grant => "grant_seconds",
            Self::Pending => "pending_seconds",
            Self::Session => "session_seconds",
            Self::SessionIdle => "session_idle_seconds",
            Self::FreshSignIn => "fresh_sign_in_seconds",
        }
    }

    /// The longest that makes sense: OAuth 2.1 section 4.1.2 caps the code at ten
    /// minutes, and an access token that lives for days is no access token.
    const fn longest(self) -> u64 {
        const DAY: u64 = 86_400;
        match self {
            Self::Code | Self::RefreshGrace => 600,
            Self::AccessToken => DAY,
            Self::Pending | Self::FreshSignIn => 3_600,
            Self::Session | Self::SessionIdle => 30 * DAY,
            Self::RefreshIdle | Self::Grant => 3_650 * DAY,
        }
    }

    /// A grace of nothing is the strict text of OAuth 2.1; a lifetime of nothing is
    /// a mistake.
    const fn shortest(self) -> u64 {
        match self {
            Self::RefreshGrace => 0,
            Self::Code
            | Self::AccessToken
            | Self::RefreshIdle
            | Self::Grant
            | Self::Pending
            | Self::Session
            | Self::SessionIdle
            | Self::FreshSignIn => 1,
        }
    }

    const fn of(self, lifetimes: &mut Lifetimes) -> &mut Duration {
        match self {
            Self::Code => &mut lifetimes.code,
            Self::AccessToken => &mut lifetimes.access_token,
            Self::RefreshIdle => &mut lifetimes.refresh_idle,
            Self::RefreshGrace => &mut lifetimes.grace,
            Self::Grant => &mut lifetimes.grant,
            Self::Pending => &mut lifetimes.pending,
            Self::Session => &mut lifetimes.session,
            Self::SessionIdle => &mut lifetimes.session_idle,
            Self::FreshSignIn => &mut lifetimes.fresh_login,
        }
    }
}

/// One limit of `[limits]`, in times a minute. Zero is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rate {
    Mcp,
    BadToken,
    SignIn,
    Authorize,
    Pages,
    Token,
    Refresh,
    WrongSecret,
    Register,
}

impl Checker<'_> {
    /// How long a signing key is used; for ever if that was the choice.
    pub(super) fn key_rotation(&mut self) -> Option<Duration> {
        const LONGEST: u64 = 3_650;
        let Some(given) = self.given(Key::KeyRotationDays) else {
            return Some(AuthorizationSettings::KEY_ROTATION);
        };
        match given.value.parse() {
            Ok(0) => None,
            Ok(days @ 1..=LONGEST) => Some(Duration::from_secs(days * 86_400)),
            _ => {
                let cure = format!("write a number of days up to {LONGEST}, or 0 for never");
                self.faults.wrong(given, cure);
                None
            }
        }
    }
}

impl Rate {
    pub(super) const ALL: [Self; 9] = [
        Self::Mcp,
        Self::BadToken,
        Self::SignIn,
        Self::Authorize,
        Self::Pages,
        Self::Token,
        Self::Refresh,
        Self::WrongSecret,
        Self::Register,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp_per_minute",
            Self::BadToken => "bad_token_per_minute",
            Self::SignIn => "sign_in_per_minute",
            Self::Authorize => "authorize_per_minute",
            Self::Pages => "pages_per_minute",
            Self::Token => "token_per_minute",
            Self::Refresh => "refresh_per_minute",
            Self::WrongSecret => "wrong_secret_per_minute",
            Self::Register => "register_per_minute",
        }
    }

    const fn of(self, limits: &mut AllLimits) -> &mut PerMinute {
        match self {
            Self::Mcp => &mut limits.mcp_limit,
            Self::BadToken => &mut limits.bad_token_limit,
            Self::SignIn => &mut limits.request_limits.sign_in,
            Self::Authorize => &mut limits.request_limits.authorize,
            Self::Pages => &mut limits.request_limits.pages,
            Self::Token => &mut limits.request_limits.token,
            Self::Refresh => &mut limits.request_limits.refresh,
            Self::WrongSecret => &mut limits.request_limits.wrong_secret,
            Self::Register => &mut limits.request_limits.register,
        }
    }
}

/// The name of the most clients that may be known at a time.
pub(super) const CLIENTS: &str = "clients";

/// More make each registration slow once they are reached.
const MOST_CLIENTS: usize = 100_000;

/// All of `[limits]`.
pub(super) struct AllLimits {
    pub(super) lifetimes: Lifetimes,
    pub(super) request_limits: RequestLimits,
    pub(super) mcp_limit: PerMinute,
    pub(super) bad_token_limit: PerMinute,
    pub(super) client_limit: usize,
}

impl AllLimits {
    /// The defaults, with what was given in their place.
    pub(super) fn read(raw: &RawConfiguration, faults: &mut Faults) -> Self {
        let mut limits = Self {
            lifetimes: Lifetimes::default(),
            request_limits: RequestLimits::default(),
            mcp_limit: MCP_LIMIT,
            bad_token_limit: BAD_TOKEN_LIMIT,
            client_limit: AuthorizationSettings::CLIENTS,
        };
        for (name, given) in &raw.limits {
            if let Some(limit) = Limit::ALL.into_iter().find(|limit| limit.name() == name) {
                let (shortest, longest) = (limit.shortest(), limit.longest());
                match given.value.parse::<u64>() {
                    Ok(seconds) if (shortest..=longest).contains(&seconds) => {
                        *limit.of(&mut limits.lifetimes) = Duration::from_secs(seconds);
                    }
                    _ => faults.wrong(
                        given,
                        format!(
                            "it must be a whole number of seconds from {shortest} to {longest}"
                        ),
                    ),
                }
            } else if let Some(rate) = Rate::ALL.into_iter().find(|rate| rate.name() == name) {
                match given.value.parse::<u32>() {
                    Ok(times @ 0..=PerMinute::MOST) => {
                        *rate.of(&mut limits) = PerMinute::new(times);
                    }
                    _ => faults.wrong(
                        given,
                        format!(
                            "it must be a whole number from 1 to {}, or 0 for no limit",
                            PerMinute::MOST
                        ),
                    ),
                }
            } else if name == CLIENTS {
                let is_sound = |clients: &usize| (1..=MOST_CLIENTS).contains(clients);
                if let Some(clients) = given.value.parse().ok().filter(is_sound) {
                    limits.client_limit = clients;
                } else {
                    let cure = format!("it must be a whole number from 1 to {MOST_CLIENTS}");
                    faults.wrong(given, cure);
                }
            } else {
                unknown_limit(given, name, faults);
            }
        }
        limits
    }
}
