//! Which of the matches of a text are shown.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Something that a query looks for, where it stands.
#[derive(Clone, Debug)]
pub(super) struct Match {
    pub(super) bytes: Range<usize>,
    /// Which clause of the query it answers.
    pub(super) goal: usize,
    pub(super) position: u32,
    pub(super) is_aside: bool,
}

/// How good a stretch of matches is: what counts more comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Quality {
    goals_that_are_read: usize,
    goals: usize,
    neighbours: usize,
    matches_that_are_read: usize,
}

/// What a stretch of matches has of one goal.
#[derive(Clone, Copy, Default)]
struct Count {
    read: usize,
    all: usize,
}

/// How often each goal is met in a stretch of matches.
#[derive(Default)]
struct Counts {
    of_goals: HashMap<usize, Count>,
    goals_that_are_read: usize,
    asides: usize,
}

impl Counts {
    fn add(&mut self, found: &Match) {
        let count = self.of_goals.entry(found.goal).or_default();
        count.all += 1;
        if found.is_aside {
            self.asides += 1;
        } else {
            count.read += 1;
            self.goals_that_are_read += usize::from(count.read == 1);
        }
    }

    fn remove(&mut self, found: &Match) {
        let Entry::Occupied(mut entry) = self.of_goals.entry(found.goal) else { return };
        let count = entry.get_mut();
        count.all -= 1;
        if found.is_aside {
            self.asides -= 1;
        } else {
            count.read -= 1;
            self.goals_that_are_read -= usize::from(count.read == 0);
        }
        if count.all == 0 {
            entry.remove();
        }
    }
}

/// The matches that fit into one window and answer most of the query; of what is aside
/// only those that what is read does not answer.
pub(super) fn best_stretch<'m>(
    text: &str,
    matches: &'m [Match],
    max_chars: usize,
) -> Vec<&'m Match> {
    let best = &matches[most_in_one_window(text, matches, max_chars)];
    let read = best.iter().filter(|found| !found.is_aside).map(|found| found.goal);
    let read: HashSet<usize> = read.collect();
    best.iter().filter(|found| !found.is_aside || !read.contains(&found.goal)).collect()
}

fn most_in_one_window(text: &str, matches: &[Match], max_chars: usize) -> Range<usize> {
    let mut counts = Counts::default();
    let mut neighbours = 0;
    let mut best = (Quality::default(), 0..0);
    let mut end = 0;
    // Characters between the first match of the stretch and the end of its last.
    let mut length = Length { text, from: 0, to: 0, characters: 0, most: max_chars };
    for start in 0..matches.len() {
        length.start_at(matches[start].bytes.start);
        if end < start + 1 {
            // A match that is longer than a window is still the best there is.
            end = start + 1;
            counts.add(&matches[start]);
            length.reach(matches[start].bytes.end);
        }
        while let Some(next) = matches.get(end) {
            if length.with(next.bytes.end) > max_chars {
                break;
            }
            length.reach(next.bytes.end);
            counts.add(next);
            neighbours += usize::from(are_neighbours(&matches[end - 1], next));
            end += 1;
        }
        let quality = Quality {
            goals_that_are_read: counts.goals_that_are_read,
            goals: counts.of_goals.len(),
            neighbours,
            matches_that_are_read: end - start - counts.asides,
        };
        if quality > best.0 {
            best = (quality, start..end);
        }
        counts.remove(&matches[start]);
        if start + 1 < end {
            neighbours -= usize::from(are_neighbours(&matches[start], &matches[start + 1]));
        }
    }
    best.1
}

/// Whether two words that are read stand side by side as in the query.
fn are_neighbours(first: &Match, second: &Match) -> bool {
    let are_read = !first.is_aside && !second.is_aside;
    are_read && first.goal + 1 == second.goal && first.position + 1 == second.position
}

/// Counts the characters of a stretch of text whose ends only move forward.
struct Length<'t> {
    text: &'t str,
    from: usize,
    to: usize,
    characters: usize,
    /// Beyond so many, none is counted: the next match may be a book away.
    most: usize,
}

impl Length<'_> {
    fn start_at(&mut self, from: usize) {
        let to = self.to.max(from);
        let gone = self.text[self.from..from.min(self.to)].chars().count();
        self.characters -= gone.min(self.characters);
        (self.from, self.to) = (from, to);
    }

    fn with(&self, to: usize) -> usize {
        let more = self.text.get(self.to..to).unwrap_or_default();
        self.characters + more.chars().take(self.most + 1).count()
    }

    fn reach(&mut self, to: usize) {
        self.characters = self.with(to);
        self.to = self.to.max(to);
    }
}
