//! Which documents answer a query, the best first.
//!
//! Scores are made from integers, summed over the partitions that the asker may see,
//! and from the document alone, in the order of the query: the same documents get the
//! same scores, to the last bit, whatever else the index holds or has held, and however
//! it is cut into segments. What is left equal is told apart by key.
//!
//! First comes what is called exactly so, then what has all words, then the rest.

use std::cmp::Ordering;

use crate::search::index::{Index, Part, PartitionSet};
use crate::search::query::Query;

pub use related::Related;

use filter::Filter;
use gather::{Search, listed};
use scoring::Scoring;
use typo::Corrections;
use wanted::Wanted;

mod best;
mod filter;
mod gather;
mod matching;
mod nearness;
mod related;
mod scoring;
mod typo;
mod wanted;

#[cfg(test)]
mod tests;

/// Whether a document counts, by its key and its payload.
pub type Accept<'a, P> = dyn Fn(&str, &P) -> bool + 'a;

/// The order of two documents, by their payloads.
pub type Order<'a, P> = dyn Fn(&P, &P) -> Ordering + 'a;

/// A question to an index.
pub struct Request<'r, P> {
    /// What the asker may see. Nothing else has any influence.
    pub visible: PartitionSet,
    /// What is looked for.
    pub query: &'r Query,
    /// Which of the documents, by key and payload; all if there is nothing here.
    pub accept: Option<&'r Accept<'r, P>>,
    /// The order of documents without anything that is scored, such as those of a query
    /// that only excludes. What is equal in it is told apart by key.
    pub order: &'r Order<'r, P>,
    /// At most so many documents.
    pub limit: usize,
}

/// What answers a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<P> {
    /// The documents, the best first.
    pub hits: Vec<Hit<P>>,
    /// How many answer it, those beyond the limit included.
    pub total: usize,
    /// What was looked for instead of words that no visible document holds, the first
    /// few of them: the word as typed, and the term.
    pub corrected: Vec<(String, String)>,
}

/// A document that answers a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit<P> {
    /// What names it.
    pub key: Box<str>,
    /// What comes with it.
    pub payload: P,
    /// How well it answers: no document has more than one that stands before it.
    /// Comparable within one answer only. `None` if nothing was scored.
    pub score: Option<f32>,
}

/// So many of the best are looked at more closely, whatever the limit is.
const CANDIDATES: usize = 100;

/// A document that may be among the best.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    rank: Rank,
    score: f32,
    /// Among the parts that may be seen.
    part: usize,
    document: u32,
}

/// What counts before the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    SomeWords,
    AllWords,
    /// The query is the whole title, alias or file name.
    Title,
}

impl<P: Clone> Index<P> {
    /// The documents that answer a query.
    #[must_use]
    pub fn search(&self, request: &Request<'_, P>) -> Ranked<P> {
        let parts: Vec<&Part<P>> = self.parts(request.visible).collect();
        let mut corrections = Corrections::default();
        let filter = Filter::new(&parts, request, &mut corrections);
        let wanted = Wanted::of(&parts, &request.query.scored, &mut corrections);
        let (hits, total) = if request.query.asks_nothing() {
            (Vec::new(), 0)
        } else if request.query.scored.is_empty() {
            listed(&parts, &filter, request)
        } else {
            let scoring = Scoring::new(self.statistics(request.visible));
            let unscored = request.query.is_scored_optionally.then_some(request.order);
            Search { parts: &parts, wanted: &wanted, scoring, filter: &filter, unscored }
                .run(request)
        };
        Ranked { hits, total, corrected: corrections.made }
    }
}
