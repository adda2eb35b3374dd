//! Which documents of a segment hold a word or a phrase.

use crate::search::index::{Lists, Postings, Segment, WORDS};
use crate::search::query::TermGroup;

/// A document that holds what is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) document: u32,
    /// How often.
    pub(super) frequency: u32,
    /// How often of these in its title.
    pub(super) in_title: u32,
}

/// The numbers of those of the terms that the segment has.
pub(super) fn known(lists: &Lists, terms: &[Box<str>]) -> Vec<u32> {
    terms.iter().filter_map(|term| lists.find(WORDS, term)).collect()
}

/// The documents that hold a word in one of its forms or, if it is an identifier, its
/// parts one behind the other.
pub(super) fn with_word<P>(segment: &Segment<P>, word: &TermGroup) -> Vec<Match> {
    let mut found = with_any(segment.lists(), &known(segment.lists(), &word.alternatives));
    if !word.parts.is_empty() {
        // Where the whole identifier stands, its parts stand too: what has both counts
        // once, by the more frequent.
        found.extend(with_sequence(segment, &word.parts));
        combine(&mut found, u32::max);
    }
    found
}

/// The documents that hold one of some terms.
pub(super) fn with_any(lists: &Lists, terms: &[u32]) -> Vec<Match> {
    let mut found = Vec::new();
    for term in terms {
        lists.postings(*term).each(|document, frequency, in_title| {
            found.push(Match { document, frequency, in_title });
        });
    }
    if terms.len() > 1 {
        combine(&mut found, u32::saturating_add);
    }
    found
}

/// The documents that hold words one behind the other, each in one of its forms.
pub(super) fn with_phrase<P>(segment: &Segment<P>, words: &[TermGroup]) -> Vec<Match> {
    let mut sequence: Vec<&[Box<str>]> = Vec::new();
    for word in words {
        if word.parts.is_empty() {
            sequence.push(&word.alternatives);
        } else {
            sequence.extend(word.parts.iter().map(|part| &**part));
        }
    }
    with_sequence(segment, &sequence)
}

fn with_sequence<P, S: AsRef<[Box<str>]>>(segment: &Segment<P>, sequence: &[S]) -> Vec<Match> {
    let lists = segment.lists();
    let mut places: Vec<Place<'_>> = Vec::with_capacity(sequence.len());
    for (offset, terms) in (0..).zip(sequence) {
        let terms = known(lists, terms.as_ref());
        if terms.is_empty() {
            return Vec::new();
        }
        places.push(Place::new(lists, &terms, offset));
    }
    let last_offset = places.last().map_or(0, |place| place.offset);
    // The rarest leads: the others are only looked at where it is.
    places.sort_by_key(|place| place.documents);
    let mut found = Vec::new();
    let (mut starts, mut positions) = (Vec::new(), Vec::new());
    let mut document = 0;
    while let Some(common) = common_document(&mut places, document) {
        document = common + 1;
        common_starts(&places, common, &mut starts, &mut positions);
        let title_length = segment.title_lengths()[common as usize];
        let frequency = count(starts.iter());
        let is_in_title = |start: &&u32| start.saturating_add(last_offset) < title_length;
        let in_title = count(starts.iter().filter(is_in_title));
        if frequency > 0 {
            found.push(Match { document: common, frequency, in_title });
        }
    }
    found
}

/// One place of a sequence, and the terms that may stand there.
struct Place<'l> {
    terms: Vec<Postings<'l>>,
    documents: u64,
    offset: u32,
}

impl<'l> Place<'l> {
    fn new(lists: &'l Lists, terms: &[u32], offset: u32) -> Self {
        let documents = terms.iter().map(|term| u64::from(lists.documents_with(*term))).sum();
        let postings = terms.iter().map(|term| lists.postings(*term));
        let at_first = |mut postings: Postings<'l>| postings.advance().then_some(postings);
        Self { terms: postings.filter_map(at_first).collect(), documents, offset }
    }

    /// The first document, not before `target`, that holds one of the terms.
    fn seek(&mut self, target: u32) -> Option<u32> {
        self.terms.retain_mut(|term| term.seek(target));
        self.terms.iter().map(Postings::document).min()
    }

    /// Where the terms stand in a document that they were moved to, ascending.
    fn positions_in(&self, document: u32, positions: &mut Vec<u32>) {
        positions.clear();
        for term in self.terms.iter().filter(|term| term.document() == document) {
            positions.extend(term.positions());
        }
        if self.terms.len() > 1 {
            positions.sort_unstable();
        }
    }
}

/// The first document, not before `document`, that is at all places.
fn common_document(places: &mut [Place<'_>], mut document: u32) -> Option<u32> {
    loop {
        let target = document;
        for place in &mut *places {
            document = place.seek(document)?;
        }
        if document == target {
            return Some(document);
        }
    }
}

/// Where in a document the sequence begins.
fn common_starts(
    places: &[Place<'_>],
    document: u32,
    starts: &mut Vec<u32>,
    positions: &mut Vec<u32>,
) {
    let Some((first, others)) = places.split_first() else { return starts.clear() };
    first.positions_in(document, starts);
    starts.retain_mut(|start| match start.checked_sub(first.offset) {
        Some(moved) => {
            *start = moved;
            true
        }
        None => false,
    });
    starts.dedup();
    for place in others {
        if starts.is_empty() {
            return;
        }
        place.positions_in(document, positions);
        let mut rest = positions.iter().copied().peekable();
        starts.retain(|start| {
            let wanted = start.saturating_add(place.offset);
            while rest.next_if(|position| *position < wanted).is_some() {}
            rest.peek() == Some(&wanted)
        });
    }
}

/// Sorts by document and makes one match of several in the same document.
fn combine(found: &mut Vec<Match>, both: impl Fn(u32, u32) -> u32) {
    found.sort_by_key(|one| one.document);
    found.dedup_by(|next, kept| {
        let same = next.document == kept.document;
        if same {
            kept.frequency = both(kept.frequency, next.frequency);
            kept.in_title = both(kept.in_title, next.in_title);
        }
        same
    });
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}
