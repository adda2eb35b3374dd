//! How often a request is started over while the vault changes under it.

use std::thread;
use std::time::Duration;

/// The first attempts follow each other at once.
const AT_ONCE: usize = 4;

/// The pauses after them: 2 seconds in all. Then nothing but a vault that never rests
/// is left without an answer.
const PAUSES: [Duration; 7] = [
    Duration::from_millis(15),
    Duration::from_millis(35),
    Duration::from_millis(75),
    Duration::from_millis(155),
    Duration::from_millis(320),
    Duration::from_millis(600),
    Duration::from_millis(800),
];

/// One attempt of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    /// Whether others have failed so often that what changes all the time is taken as it
    /// is, where that is safe.
    pub(super) is_late: bool,
}

/// The attempts of a request, with pauses between the later ones.
pub(super) fn attempts() -> impl Iterator<Item = Attempt> {
    let at_once = (1..=AT_ONCE).map(|number| Attempt { is_late: number == AT_ONCE });
    let later = PAUSES.into_iter().map(|pause| {
        thread::sleep(pause);
        Attempt { is_late: true }
    });
    at_once.chain(later)
}
