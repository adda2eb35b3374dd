//! What must come of each step, in the words of the checklist and of the design. It keeps
//! the whole history in plain lists and knows nothing of how the server does it.

use crate::contract::scope::{Scope, ScopeSet};

pub(super) const MINUTE: u64 = 60;
pub(super) const HOUR: u64 = 60 * MINUTE;
pub(super) const DAY: u64 = 24 * HOUR;

/// The end of a code (checklist 29), of an access token, of a request that waits, of an
/// idle refresh token (design section 9), and how long a parent is answered.
const CODE: u64 = MINUTE;
const ACCESS: u64 = 10 * MINUTE;
const PENDING: u64 = 10 * MINUTE;
const IDLE: u64 = 30 * DAY;
const GRACE: u64 = MINUTE;
/// How many rotations a grant remembers the time of.
const REMEMBERED: usize = 4;

/// Whose request it is, and in which way it is not in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Right,
    OtherClient,
    OtherResource,
    WrongVerifier,
    OtherRedirect,
    NoRedirect,
}

/// One step of a walk. Access tokens are known by when they were issued, and whether they
/// open notes about people. Codes and grants are counted in the order in which they were
/// approved: a grant has the number of its code.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The client sends the owner's browser.
    Ask,
    /// The owner says yes, to people too or not, for as many days.
    Allow { people: bool, days: u64 },
    /// The owner says no.
    Deny,
    /// A code is brought to `/token`.
    Exchange { code: usize, how: How },
    /// A refresh token is brought there.
    Refresh { grant: usize, generation: u64, how: How },
    /// An access token reaches the resource server.
    Use { grant: usize, generation: u64, access: (u64, bool) },
    /// The client gives a refresh token back, or an access token.
    Revoke { grant: usize, access: Option<(u64, bool)>, how: How },
    /// The same metadata is registered again.
    Register,
    /// Time passes.
    Wait(u64),
    /// The hourly tidying.
    Sweep,
    /// The process ends in order, and another begins.
    Restart,
}

/// What a step must show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A page that asks the owner.
    Page,
    /// The browser goes back to the client with a code.
    Code,
    /// The browser goes back with `access_denied`.
    Denied,
    /// There was nothing to answer.
    Gone,
    /// Tokens of this generation.
    Tokens { generation: u64, people: bool },
    /// `invalid_grant`.
    InvalidGrant,
    /// `invalid_target`.
    InvalidTarget,
    /// The token opens this.
    Opens { people: bool },
    /// The token opens nothing.
    OpensNothing,
    /// Nothing to see.
    Done,
}

/// All that has happened in a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) now: u64,
    /// The rule that decided the last step, if it was one of those of [`RULES`].
    pub(super) rule: &'static str,
    asked_at: Option<u64>,
    codes: Vec<Code>,
}

/// The rules that walks must have met to have shown anything.
pub(super) const RULES: [&str; 21] = [
    "code spent",
    "code expired",
    "code tried too often",
    "code of another client",
    "wrong verifier",
    "other redirect URI",
    "other resource",
    "code replayed",
    "request expired or answered",
    "token of another client",
    "grant over",
    "grant expired",
    "token idle",
    "rotated",
    "given again in the grace",
    "given again, never seen",
    "parent reused",
    "overtaken",
    "grandparent reused",
    "access token opens",
    "access token over",
];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Code {
    issued_at: u64,
    people: bool,
    grant_ends: u64,
    wrong_verifiers: u8,
    grant: Option<Grant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Grant {
    is_over: bool,
    /// When each generation was made; the last one is current.
    made_at: Vec<u64>,
    /// Whether an access token of the current generation was used.
    is_seen: bool,
    /// Whether that is certainly on the disk.
    seen_is_kept: bool,
}

impl Model {
    pub(super) const fn new(now: u64) -> Self {
        Self { now, rule: "", asked_at: None, codes: Vec::new() }
    }

    /// Takes a step.
    pub(super) fn step(&mut self, step: Step) -> Outcome {
        self.rule = "";
        match step {
            Step::Ask => {
                self.asked_at = Some(self.now);
                Outcome::Page
            }
            Step::Allow { people, days } => {
                if !self.answered() {
                    return Outcome::Gone;
                }
                self.codes.push(Code {
                    issued_at: self.now,
                    people,
                    grant_ends: self.now + days * DAY,
                    wrong_verifiers: 0,
                    grant: None,
                });
                Outcome::Code
            }
            Step::Deny if self.answered() => Outcome::Denied,
            Step::Deny => Outcome::Gone,
            Step::Exchange { code, how } => self.exchange(code, how),
            Step::Refresh { grant, generation, how } => self.refresh(grant, generation, how),
            Step::Use { grant, generation, access } => self.arrive(grant, generation, access),
            Step::Revoke { grant, access, how } => {
                // An access token that has expired is no token any more (checklist 122).
                let is_token = access.is_none_or(|access| self.now < self.end(grant, access));
                if how == How::Right && is_token {
                    self.grant(grant).is_over = true;
                }
                Outcome::Done
            }
            Step::Wait(seconds) => {
                self.now += seconds;
                Outcome::Done
            }
            Step::Restart => {
                // What waits for the owner is in memory only.
                self.asked_at = None;
                for grant in self.codes.iter_mut().filter_map(|code| code.grant.as_mut()) {
                    grant.seen_is_kept = grant.is_seen;
                }
                Outcome::Done
            }
            Step::Register | Step::Sweep => Outcome::Done,
        }
    }

    /// Everything that may be true after a kill: that a token was seen is the one thing
    /// that is noted without waiting for the disk.
    pub(super) fn after_kill(&self) -> Vec<Self> {
        let mut possible = vec![self.clone()];
        for number in 0..self.codes.len() {
            let grant = self.codes[number].grant.as_ref();
            if grant.is_some_and(|grant| grant.is_seen && !grant.seen_is_kept) {
                let mut forgetful = possible.clone();
                for model in &mut forgetful {
                    model.grant(number).is_seen = false;
                }
                possible.extend(forgetful);
            }
        }
        for model in &mut possible {
            model.step(Step::Restart);
        }
        possible
    }

    /// Whether a client may still refresh something.
    pub(super) fn has_a_living_grant(&self) -> bool {
        self.codes.iter().any(|code| {
            code.grant.as_ref().is_some_and(|grant| {
                let idle_end = grant.made_at.last().expect("a first one") + IDLE;
                !grant.is_over && self.now < code.grant_ends && self.now < idle_end
            })
        })
    }

    fn grant(&mut self, number: usize) -> &mut Grant {
        self.codes[number].grant.as_mut().expect("a token of it was seen")
    }

    fn answered(&mut self) -> bool {
        let waits = self.asked_at.take().is_some_and(|asked_at| self.now < asked_at + PENDING);
        if !waits {
            self.rule = "request expired or answered";
        }
        waits
    }

    /// Checklist 51 to 63.
    fn exchange(&mut self, number: usize, how: How) -> Outcome {
        let now = self.now;
        let code = &mut self.codes[number];
        let (rule, outcome) = if how == How::OtherResource {
            ("other resource", Outcome::InvalidTarget)
        } else if how == How::OtherClient {
            ("code of another client", Outcome::InvalidGrant)
        } else if now >= code.issued_at + CODE {
            ("code expired", Outcome::InvalidGrant)
        } else if code.wrong_verifiers > 2 {
            ("code tried too often", Outcome::InvalidGrant)
        } else if how == How::WrongVerifier {
            code.wrong_verifiers += u8::from(code.grant.is_none());
            ("wrong verifier", Outcome::InvalidGrant)
        } else if how == How::OtherRedirect {
            ("other redirect URI", Outcome::InvalidGrant)
        } else if let Some(grant) = &mut code.grant {
            grant.is_over = true;
            ("code replayed", Outcome::InvalidGrant)
        } else {
            code.grant = Some(Grant {
                is_over: false,
                made_at: vec![now],
                is_seen: false,
                seen_is_kept: false,
            });
            ("code spent", Outcome::Tokens { generation: 0, people: code.people })
        };
        self.rule = rule;
        outcome
    }

    /// Checklist 66 to 78.
    fn refresh(&mut self, number: usize, generation: u64, how: How) -> Outcome {
        let now = self.now;
        let people = self.has_people(number);
        let grant_ends = self.codes[number].grant_ends;
        let grant = self.grant(number);
        let current = grant.made_at.len() - 1;
        let presented = usize::try_from(generation).expect("few generations");
        let tokens = |current: usize| Outcome::Tokens {
            generation: u64::try_from(current).expect("few generations"),
            people,
        };
        let age = current - presented;
        // When the presented one was rotated out.
        let rotated_out = grant.made_at.get(presented + 1);
        let is_recent = rotated_out.is_some_and(|rotated_out| now - rotated_out <= GRACE);
        let (rule, outcome) = if how == How::OtherResource {
            ("other resource", Outcome::InvalidTarget)
        } else if how == How::OtherClient {
            ("token of another client", Outcome::InvalidGrant)
        } else if grant.is_over {
            ("grant over", Outcome::InvalidGrant)
        } else if now >= grant_ends {
            ("grant expired", Outcome::InvalidGrant)
        } else if now >= grant.made_at[current] + IDLE {
            ("token idle", Outcome::InvalidGrant)
        } else if age == 0 {
            grant.made_at.push(now);
            (grant.is_seen, grant.seen_is_kept) = (false, false);
            ("rotated", tokens(current + 1))
        } else if age == 1 && is_recent {
            ("given again in the grace", tokens(current))
        } else if age == 1 && !grant.is_seen {
            ("given again, never seen", tokens(current))
        } else if age == 1 {
            grant.is_over = true;
            ("parent reused", Outcome::InvalidGrant)
        } else if is_recent && age <= REMEMBERED {
            ("overtaken", Outcome::InvalidGrant)
        } else {
            grant.is_over = true;
            ("grandparent reused", Outcome::InvalidGrant)
        };
        self.rule = rule;
        outcome
    }

    /// Checklist 126, 140, and what the refresh rules learn of it.
    fn arrive(&mut self, number: usize, generation: u64, access: (u64, bool)) -> Outcome {
        let is_expired = self.now >= self.end(number, access);
        let grant = self.grant(number);
        if is_expired || grant.is_over {
            self.rule = "access token over";
            return Outcome::OpensNothing;
        }
        if usize::try_from(generation).expect("few generations") + 1 == grant.made_at.len() {
            grant.is_seen = true;
        }
        self.rule = "access token opens";
        Outcome::Opens { people: access.1 }
    }

    /// When an access token ends: with its grant at the latest, and with the hour of
    /// people if it opens them.
    fn end(&self, number: usize, (issued_at, people): (u64, bool)) -> u64 {
        let code = &self.codes[number];
        let latest = if people { code.issued_at + HOUR } else { code.grant_ends };
        latest.min(issued_at + ACCESS)
    }

    /// `wiki:people` ends after an hour (design section 5).
    fn has_people(&self, number: usize) -> bool {
        let code = &self.codes[number];
        code.people && self.now < code.issued_at + HOUR
    }
}

/// The scopes that stand for it.
pub(super) fn scopes(people: bool) -> ScopeSet {
    let all = ScopeSet::from_iter([Scope::Read, Scope::People]);
    if people { all } else { all.without(Scope::People) }
}
