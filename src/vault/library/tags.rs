//! The tags of the visible notes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::search::query::tag_key;
use crate::vault::answers::TagCount;
use crate::vault::catalog::with_parents;
use crate::vault::view::{Inbox, View};

/// How often a tag is used, and in which spellings.
#[derive(Default)]
struct Use<'a> {
    notes: usize,
    /// The number of the note that was counted last.
    last_note: Option<usize>,
    spellings: BTreeMap<&'a str, usize>,
}

/// Every tag and every level above one, most frequent first. A note counts once for a
/// tag, however many of the tags below it has.
pub(in crate::vault) fn count(view: &View<'_>, prefix: &str) -> Vec<TagCount> {
    let prefix = tag_key(prefix);
    let mut tallies: Vec<Use<'_>> = Vec::new();
    let mut by_tag: HashMap<String, usize> = HashMap::new();
    // Folding takes long, and most notes use spellings that others use too.
    let mut by_spelling: HashMap<&str, Option<usize>> = HashMap::new();
    for (number, note) in view.notes(Inbox::LeftOut).enumerate() {
        for spelling in note.tags.iter().flat_map(|tag| with_parents(tag)) {
            let place = *by_spelling.entry(spelling).or_insert_with(|| {
                let folded = tag_key(spelling);
                folded.starts_with(&prefix).then(|| {
                    *by_tag.entry(folded).or_insert_with(|| {
                        tallies.push(Use::default());
                        tallies.len() - 1
                    })
                })
            });
            let Some(used) = place.and_then(|place| tallies.get_mut(place)) else { continue };
            if used.last_note.replace(number) != Some(number) {
                used.notes += 1;
                *used.spellings.entry(spelling).or_default() += 1;
            }
        }
    }
    let mut tags: Vec<TagCount> = tallies
        .iter()
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
