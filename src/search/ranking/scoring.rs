//! How much a match counts: BM25 over all text of a document as one field, and a
//! small share for its title.
//!
//! A title of its own, boosted, loses a quarter of the known items on a vault of short
//! notes; one field with a small share of the title loses none.

use super::matching::Match;
use crate::search::index::{Segment, Statistics};

/// How soon further occurrences of a word stop to count.
const SATURATION: f32 = 1.2;

/// How much the length of a document counts: 1 would take a long text for a short one
/// that was written several times.
const LENGTH_SHARE: f32 = 0.7;

/// How much a match in the title counts besides, against one in the text.
const TITLE_SHARE: f32 = 0.5;

/// The same as [`LENGTH_SHARE`], for titles.
const TITLE_LENGTH_SHARE: f32 = 0.4;

/// What scores depend on besides the document: sums over what is visible.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scoring {
    documents: f32,
    /// For each word of a document, so much is added to [`SATURATION`].
    for_each_word: f32,
    for_each_title_word: f32,
}

#[expect(clippy::cast_precision_loss, reason = "the same loss whatever the segments are")]
impl Scoring {
    pub(super) fn new(statistics: Statistics) -> Self {
        let documents = statistics.documents.max(1) as f32;
        let for_each =
            |words: u64, share: f32| SATURATION * share * documents / words.max(1) as f32;
        Self {
            documents,
            for_each_word: for_each(statistics.words, LENGTH_SHARE),
            for_each_title_word: for_each(statistics.title_words, TITLE_LENGTH_SHARE),
        }
    }

    /// How telling something is that so many documents have.
    pub(super) fn importance(self, documents_with: u64) -> f32 {
        let with = documents_with as f32;
        (1.0 + (self.documents - with + 0.5) / (with + 0.5)).ln()
    }

    /// How well a document matches something of importance 1: from 0 to 1 and the share
    /// of the title. `norm` is that of its length.
    #[inline]
    pub(super) fn score(self, found: Match, norm: f32, title_length: impl FnOnce() -> u32) -> f32 {
        let in_text = saturated(found.frequency, norm);
        if found.in_title == 0 {
            return in_text;
        }
        let frequency = found.in_title as f32;
        let norm = SATURATION * (1.0 - TITLE_LENGTH_SHARE)
            + self.for_each_title_word * title_length() as f32;
        in_text + TITLE_SHARE * (frequency / (frequency + norm))
    }

    /// How much so many occurrences in a document of this length are: from 0 to 1.
    #[inline]
    pub(super) fn saturated(self, frequency: u32, length: u32) -> f32 {
        saturated(frequency, self.norm(length))
    }

    /// What the length of a document does to its scores.
    #[inline]
    pub(super) fn norm(self, length: u32) -> f32 {
        SATURATION * (1.0 - LENGTH_SHARE) + self.for_each_word * length as f32
    }
}

#[inline]
#[expect(clippy::cast_precision_loss, reason = "the same loss whatever the segments are")]
fn saturated(frequency: u32, norm: f32) -> f32 {
    let frequency = frequency as f32;
    frequency / (frequency + norm)
}

/// The length of a document and of its title.
pub(super) fn lengths<P>(segment: &Segment<P>, document: u32) -> (u32, u32) {
    (segment.lengths()[document as usize], segment.title_lengths()[document as usize])
}
