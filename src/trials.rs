//! What property tests share: how many cases they try, inputs that are nearly right, and an
//! account of time that a busy machine does not spoil. For tests only.
//!
//! `PROPTEST_CASES=1000000 cargo test hostile` tries as many cases of each test whose name
//! says that its input is hostile.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::Config;

/// So many cases, or as many as `PROPTEST_CASES` says. Neither build machine nor developer
/// is to wait longer than seconds for the first number.
#[expect(clippy::disallowed_methods, reason = "a test's budget is no setting of the program")]
pub(crate) fn budget(cases: u32) -> Config {
    let default = Config::default();
    let is_told = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if is_told { default.cases } else { cases };
    // A case that failed becomes a test with a name, not a line in a file.
    let (max_local_rejects, max_global_rejects) = (u32::MAX, u32::MAX);
    Config { cases, failure_persistence: None, max_local_rejects, max_global_rejects, ..default }
}

/// One small change of a text.
#[derive(Clone, Debug)]
enum Bend {
    Insert(Index, &'static str),
    Replace(Index, &'static str),
    Remove(Index, Index),
    Repeat(Index, Index),
    TurnCase(Index),
    Escape(Index),
    Cut(Index),
}

/// A text with up to three changes. `parts` are what its grammar is made of.
pub(crate) fn bent(
    text: impl Strategy<Value = String>,
    parts: &'static [&'static str],
) -> impl Strategy<Value = String> {
    (text, proptest::collection::vec(bend(parts), 0..4))
        .prop_map(|(text, bends)| bends.into_iter().fold(text, |text, bend| bend.of(&text)))
}

fn bend(parts: &'static [&'static str]) -> impl Strategy<Value = Bend> {
    let at = any::<Index>;
    prop_oneof![
        3 => (at(), select(parts)).prop_map(|(at, part)| Bend::Insert(at, part)),
        3 => (at(), select(parts)).prop_map(|(at, part)| Bend::Replace(at, part)),
        2 => (at(), at()).prop_map(|(one, other)| Bend::Remove(one, other)),
        1 => (at(), at()).prop_map(|(one, other)| Bend::Repeat(one, other)),
        1 => at().prop_map(Bend::TurnCase),
        1 => at().prop_map(Bend::Escape),
        1 => at().prop_map(Bend::Cut),
    ]
}

impl Bend {
    fn of(&self, text: &str) -> String {
        let places: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let place = |index: &Index| places[index.index(places.len())];
        let span = |one: &Index, other: &Index| {
            let (one, other) = (place(one), place(other));
            // Mostly short, or nothing would be left to be nearly right.
            let (start, end) = (one.min(other), one.max(other));
            let end = if end - start > 8 && one < other { next(text, start) } else { end };
            start..end
        };
        let changed = |span: std::ops::Range<usize>, by: &str| {
            format!("{}{by}{}", &text[..span.start], &text[span.end..])
        };
        match self {
            Self::Insert(at, part) => changed(place(at)..place(at), part),
            Self::Replace(at, part) => changed(place(at)..next(text, place(at)), part),
            Self::Remove(one, other) => changed(span(one, other), ""),
            Self::Repeat(one, other) => {
                let span = span(one, other);
                changed(span.end..span.end, &text[span])
            }
            Self::TurnCase(at) => {
                let span = place(at)..next(text, place(at));
                let turn = |letter: char| {
                    if letter.is_ascii_uppercase() {
                        letter.to_ascii_lowercase()
                    } else {
                        letter.to_ascii_uppercase()
                    }
                };
                changed(span.clone(), &text[span].chars().map(turn).collect::<String>())
            }
            Self::Escape(at) => {
                let span = place(at)..next(text, place(at));
                let escaped = text[span.clone()].bytes().map(|byte| format!("%{byte:02x}"));
                changed(span, &escaped.collect::<Vec<_>>().concat())
            }
            Self::Cut(at) => text[..place(at)].to_owned(),
        }
    }
}

/// Where the character at a place ends.
fn next(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(0, char::len_utf8)
}

/// The time that this thread has computed, in nanoseconds. What other programs do
/// meanwhile is not in it.
#[expect(clippy::disallowed_methods, reason = "the system's account of this thread is no page")]
pub(crate) fn computed() -> u64 {
    let account = std::fs::read_to_string("/proc/thread-self/schedstat").expect("a Linux");
    account.split(' ').next().and_then(|time| time.parse().ok()).expect("nanoseconds")
}

/// Whether reading eight times as much takes less than twenty times as long; quadratic
/// would be sixty-four times. The system's account is a few milliseconds late.
pub(crate) fn is_linear(length: usize, read: impl Fn(usize)) -> bool {
    const LATE: u64 = 5_000_000;
    let time = |length| {
        let begun = computed();
        read(length);
        computed() - begun
    };
    (0..4).any(|_| time(8 * length) < time(length).max(LATE) * 20)
}
