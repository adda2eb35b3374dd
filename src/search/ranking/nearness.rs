//! Words that stand beside each other in the query count more where they stand beside
//! each other in a document (L20).

use super::matching;
use super::scoring::{Scoring, lengths};
use super::wanted::Wanted;
use crate::search::index::{Part, Postings};

/// How much two words beside each other count, against the rarer of them.
const PAIR_SHARE: f32 = 0.4;

/// Two words of a query that stand beside each other in it, with their lists in a part.
struct Pair<'p> {
    importance: f32,
    first: Vec<Postings<'p>>,
    second: Vec<Postings<'p>>,
}

/// Works out what documents of one part gain.
pub(super) struct Nearness<'p, P> {
    part: &'p Part<P>,
    scoring: Scoring,
    pairs: Vec<Pair<'p>>,
    first: Vec<u32>,
    second: Vec<u32>,
}

impl<'p, P> Nearness<'p, P> {
    pub(super) fn new(part: &'p Part<P>, wanted: &[Wanted], scoring: Scoring) -> Self {
        let lists = |wanted: &Wanted| -> Option<Vec<Postings<'p>>> {
            let lists = part.segment().lists();
            let terms = matching::known(lists, &wanted.plain_word()?.alternatives);
            let first = |term: &u32| {
                let mut postings = lists.postings(*term);
                postings.advance().then_some(postings)
            };
            Some(terms.iter().filter_map(first).collect())
        };
        let pairs = wanted.windows(2).filter_map(|pair| {
            let rarer = pair[0].documents.min(pair[1].documents);
            let importance = scoring.importance(rarer);
            Some(Pair { importance, first: lists(&pair[0])?, second: lists(&pair[1])? })
        });
        Self { part, scoring, pairs: pairs.collect(), first: Vec::new(), second: Vec::new() }
    }

    /// What a document gains. The documents must be asked for in ascending order.
    pub(super) fn gain(&mut self, document: u32) -> f32 {
        let (length, _) = lengths(self.part.segment(), document);
        let mut gain = 0.0;
        for pair in &mut self.pairs {
            let is_there = positions(&mut pair.first, document, &mut self.first)
                && positions(&mut pair.second, document, &mut self.second);
            if is_there {
                let together = beside(&self.first, &self.second);
                if together > 0 {
                    let saturated = self.scoring.saturated(together, length);
                    gain += PAIR_SHARE * pair.importance * saturated;
                }
            }
        }
        gain
    }
}

/// Where in a document the terms stand, ascending; `false` if nowhere.
fn positions(lists: &mut Vec<Postings<'_>>, document: u32, positions: &mut Vec<u32>) -> bool {
    positions.clear();
    lists.retain_mut(|postings| {
        let is_left = postings.seek(document);
        if is_left && postings.document() == document {
            positions.extend(postings.positions());
        }
        is_left
    });
    positions.sort_unstable();
    !positions.is_empty()
}

/// How often one of the second stands right behind one of the first.
fn beside(first: &[u32], second: &[u32]) -> u32 {
    let mut rest = second.iter().peekable();
    let mut together = 0;
    for position in first {
        while rest.next_if(|other| *other <= position).is_some() {}
        if rest.peek().is_some_and(|other| **other == position + 1) {
            together += 1;
        }
    }
    together
}
