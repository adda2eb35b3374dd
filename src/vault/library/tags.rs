//! The tags of the visible notes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::search::query::tag_key;
use crate::vault::answers::TagCount;
use crate::vault::catalog::with_parents;
use crate::vault::view::{Inbox, View};

/// How often a tag is used, and in which spellings.
#[derive(Default)]
struct Use<'a> {
    notes: usize,
    spellings: BTreeMap<&'a str, usize>,
}

/// Every tag and every level above one, most frequent first. A note counts once for a
/// tag, however many of the tags below it has.
pub(in crate::vault) fn count(view: &View<'_>, prefix: &str) -> Vec<TagCount> {
    let prefix = tag_key(prefix);
    let mut by_tag: HashMap<String, Use<'_>> = HashMap::new();
    for note in view.notes(Inbox::LeftOut) {
        let mut counted = HashSet::new();
        for spelling in note.tags.iter().flat_map(|tag| with_parents(tag)) {
            let folded = tag_key(spelling);
            if !folded.starts_with(&prefix) || counted.contains(&folded) {
                continue;
            }
            let used = by_tag.entry(folded.clone()).or_default();
            used.notes += 1;
            *used.spellings.entry(spelling).or_default() += 1;
            counted.insert(folded);
        }
    }
    let mut tags: Vec<TagCount> = by_tag
        .into_values()
        .map(|used| TagCount { tag: used.usual_spelling().to_owned(), notes: used.notes })
        .collect();
    tags.sort_unstable_by(|one, other| {
        (Reverse(one.notes), &one.tag).cmp(&(Reverse(other.notes), &other.tag))
    });
    tags
}

impl Use<'_> {
    /// The one that most notes have; of equals the first in the alphabet.
    fn usual_spelling(&self) -> &str {
        let most =
            self.spellings.iter().max_by_key(|(spelling, notes)| (**notes, Reverse(**spelling)));
        most.map_or("", |(spelling, _)| spelling)
    }
}
