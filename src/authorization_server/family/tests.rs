//! The refresh rules, as a table and against a model (checklist 5.4, #66-#83).

use std::time::Duration;

use proptest::prelude::*;

use super::{Family, Presented, RefreshPolicy, Refusal, Verdict};
use crate::authorization_server::client::ClientId;
use crate::authorization_server::grant::{EndReason, Grant, GrantId, Terms};
use crate::clock::UnixTime;
use crate::contract::scope::{Scope, ScopeSet};

const POLICY: RefreshPolicy =
    RefreshPolicy { grace: Duration::from_secs(60), idle: Duration::from_secs(2_592_000) };
const START: u64 = 1_800_000_000;

/// The token of a generation, with a secret that says which. The tag was checked
/// before.
fn token(generation: u64) -> Presented {
    let digest = |generation: u64| {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&generation.to_be_bytes());
        digest
    };
    Presented { generation, digest: digest(generation), child: digest(generation + 1) }
}

fn grant() -> Grant {
    let terms = Terms {
        subject: "owner".to_owned(),
        client: ClientId::presented("bmc_client"),
        redirect_uri: None,
        scopes: [Scope::Read, Scope::People].into_iter().collect(),
        resource: "https://notes.example.org/mcp".to_owned(),
        ends_at: UnixTime::from_seconds(START + 15_552_000),
        people_until: UnixTime::from_seconds(START + 3600),
    };
    let id = GrantId::from_bytes([7; 16]);
    Grant::new(id, terms, token(0).digest, UnixTime::from_seconds(START))
}

fn at(seconds: u64) -> UnixTime {
    UnixTime::from_seconds(START + seconds)
}

/// A grant whose tokens were rotated at these seconds.
fn rotated_at(seconds: &[u64]) -> Grant {
    let mut grant = grant();
    for second in seconds {
        let Verdict::Rotate(family) =
            grant.judge(&token(grant.family.generation), at(*second), POLICY)
        else {
            panic!("the current token rotates")
        };
        grant.family = family;
    }
    grant
}

/// Rotations, seen, presented generation, second, verdict (`None`: rotate).
type Row = (&'static [u64], bool, u64, u64, Option<Verdict>);

/// Checklist 67, 71, 73, 74, 75, 76, 78: what each generation gets, by time and by whether the
/// child was seen.
#[test]
fn the_table_of_refresh_rules() {
    let overtaken = || Verdict::Refuse(Refusal::Overtaken);
    let rotate = |grant: &Grant, now| {
        Verdict::Rotate(Family::rotated(&grant.family, token(grant.family.generation).child, now))
    };
    let rows: [Row; 18] = [
        (&[], false, 0, 100, None),
        (&[100], true, 1, 100, None),
        (&[100], true, 0, 100, Some(Verdict::Redeliver)),
        (&[100], true, 0, 160, Some(Verdict::Redeliver)),
        (&[100], true, 0, 161, Some(Verdict::Reuse)),
        (&[100], false, 0, 161, Some(Verdict::Redeliver)),
        (&[100], false, 0, 2_000_000, Some(Verdict::Redeliver)),
        (&[100, 101], false, 0, 101, Some(overtaken())),
        (&[100, 101], true, 0, 160, Some(overtaken())),
        (&[100, 101], true, 0, 161, Some(Verdict::Reuse)),
        (&[100, 101], false, 0, 161, Some(Verdict::Reuse)),
        (&[100, 200], false, 0, 200, Some(Verdict::Reuse)),
        (&[100, 101, 102, 103], false, 0, 103, Some(overtaken())),
        // Older than what is remembered.
        (&[100, 101, 102, 103, 104], false, 0, 104, Some(Verdict::Reuse)),
        (&[100, 101, 102, 103, 104], false, 1, 104, Some(overtaken())),
        (&[100], false, 2, 100, Some(Verdict::Refuse(Refusal::FromTheFuture))),
        (&[], false, 0, 2_592_000, Some(Verdict::Refuse(Refusal::Idle))),
        (&[], false, 0, 15_552_000, Some(Verdict::Refuse(Refusal::Expired))),
    ];
    for (rotations, seen, generation, second, expected) in rows {
        let mut grant = rotated_at(rotations);
        grant.family.is_seen = seen;
        let verdict = grant.judge(&token(generation), at(second), POLICY);
        let expected = expected.unwrap_or_else(|| rotate(&grant, at(second)));
        assert_eq!(verdict, expected, "{rotations:?} {seen} {generation} {second}");
    }
}

/// A token of the right generation with another secret can only come from another
/// history of the same grant (a restored backup): no theft, no success.
#[test]
fn another_secret_is_refused_and_ends_nothing() {
    let grant = rotated_at(&[100]);
    for generation in [0, 1] {
        let other = Presented { digest: [9; 32], ..token(generation) };
        let verdict = grant.judge(&other, at(101), POLICY);
        assert_eq!(verdict, Verdict::Refuse(Refusal::Mismatch));
    }
}

#[test]
fn the_first_reason_for_an_end_stands() {
    let mut grant = grant();
    grant.end(at(1), EndReason::RevokedByClient);
    grant.end(at(2), EndReason::RefreshTokenReused);
    assert_eq!(grant.ended.unwrap().reason, EndReason::RevokedByClient);
    assert_eq!(grant.judge(&token(0), at(3), POLICY), Verdict::Refuse(Refusal::Ended));
}

#[test]
fn people_drops_out_at_its_second() {
    let grant = grant();
    let read: ScopeSet = [Scope::Read].into_iter().collect();
    assert_eq!(grant.scopes_at(at(3599)), Ok(grant.terms.scopes));
    assert_eq!(grant.scopes_at(at(3600)), Ok(read));
    assert_eq!(grant.terms.latest_end(grant.terms.scopes), at(3600));
    assert_eq!(grant.terms.latest_end(read), grant.terms.ends_at);
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    /// Presents the token this many generations before the newest that was handed out.
    Present(u64),
    /// An access token of this many generations ago arrives.
    See(u64),
    /// A token of the right generation and another secret.
    Garble(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let wait = prop_oneof![Just(1), Just(29), Just(30), Just(60), Just(61), Just(4000)];
    let step = prop_oneof![
        3 => wait.prop_map(Step::Wait),
        4 => (0..2_u64).prop_map(Step::Present),
        2 => (2..7_u64).prop_map(Step::Present),
        2 => (0..3_u64).prop_map(Step::See),
        1 => (0..3_u64).prop_map(Step::Garble),
    ];
    proptest::collection::vec(step, 1..60)
}

/// What is known of each generation: when it was handed out, and whether an access
/// token of it arrived while it was the newest.
struct Model {
    made: Vec<u64>,
    seen: Vec<bool>,
    is_over: bool,
}

proptest! {
    /// The rules in the words of the checklist, over the whole history: the grant
    /// keeps four times and two digests, and must decide as if it kept everything.
    #[test]
    fn the_family_decides_like_the_whole_history(steps in steps()) {
        let mut grant = grant();
        let mut model = Model { made: vec![0], seen: vec![false], is_over: false };
        let mut now = 0;
        for step in steps {
            let newest = model.made.len() as u64 - 1;
            match step {
                Step::Wait(seconds) => now += seconds,
                Step::See(age) => if let Some(generation) = newest.checked_sub(age) {
                    if generation == grant.family.generation {
                        grant.family.is_seen = true;
                    }
                    if age == 0 {
                        model.seen[usize::try_from(generation).unwrap()] = true;
                    }
                },
                Step::Garble(age) => if let Some(generation) = newest.checked_sub(age) {
                    let garbled = Presented { digest: [9; 32], ..token(generation) };
                    let verdict = grant.judge(&garbled, at(now), POLICY);
                    // Beyond the two digests that are kept, the tag is the proof.
                    if age < 2 {
                        prop_assert!(matches!(verdict, Verdict::Refuse(_)));
                    }
                },
                Step::Present(age) => if let Some(generation) = newest.checked_sub(age) {
                    let before = grant.clone();
                    let verdict = grant.judge(&token(generation), at(now), POLICY);
                    // #78: a judgement alone changes nothing.
                    prop_assert_eq!(&before, &grant);
                    let index = usize::try_from(generation).unwrap();
                    let replaced = model.made.get(index + 1).map(|made| now - made);
                    match verdict {
                        Verdict::Rotate(family) => {
                            // One live child: only the newest token moves the family on.
                            prop_assert!(age == 0 && !model.is_over);
                            prop_assert_eq!(family.generation, newest + 1);
                            grant.family = family;
                            model.made.push(now);
                            model.seen.push(false);
                        }
                        Verdict::Redeliver => {
                            prop_assert!(age == 1 && !model.is_over);
                            let was_seen = model.seen[index + 1];
                            prop_assert!(replaced.unwrap() <= 60 || !was_seen);
                        }
                        Verdict::Reuse => {
                            prop_assert!(age > 0 && !model.is_over);
                            // #73: nobody is a thief within a minute, as far back as
                            // the grant remembers.
                            prop_assert!(replaced.unwrap() > 60 || age > 4);
                            // #74: nor one whose answer was lost.
                            prop_assert!(age > 1 || model.seen[index + 1]);
                            grant.end(at(now), EndReason::RefreshTokenReused);
                            model.is_over = true;
                        }
                        Verdict::Refuse(refusal) => {
                            let is_overtaken = age > 1 && replaced.unwrap() <= 60;
                            prop_assert!(model.is_over || is_overtaken, "{refusal}");
                        }
                    }
                },
            }
        }
    }
}
