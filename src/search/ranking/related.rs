//! Documents that have to do with another: they share the words by which it differs
//! from the rest.

use std::cmp::Ordering;

use super::best::Best;
use super::matching::Match;
use super::scoring::{Scoring, lengths};
use super::wanted::documents_with;
use crate::search::index::{Index, Part, PartitionSet, WORDS};

/// So many words stand for a document.
const TELLING_TERMS: usize = 24;

/// So many of the shared words are given as the reason.
const MOST_SHARED: usize = 6;

/// One common word is chance.
const FEWEST_SHARED: u32 = 2;

/// A document that has to do with another.
#[derive(Clone, Debug, PartialEq)]
pub struct Related<P> {
    /// What names it.
    pub key: Box<str>,
    /// What comes with it.
    pub payload: P,
    /// Larger is closer; comparable within one answer only.
    pub score: f32,
    /// Terms that both have, the most telling first. They are stems, where words have
    /// one.
    pub shared: Vec<String>,
}

/// A term of the document that others are compared with.
#[derive(Clone, Debug)]
struct Telling {
    term: String,
    /// How much it tells of the document, times how telling it is at all.
    weight: f32,
}

impl<P: Clone> Index<P> {
    /// The documents nearest to the one with a key, by what is visible alone. Empty if
    /// that one is not visible itself.
    #[must_use]
    pub fn related(
        &self,
        visible: PartitionSet,
        key: &str,
        accept: &dyn Fn(&str, &P) -> bool,
        limit: usize,
    ) -> Vec<Related<P>> {
        let parts: Vec<&Part<P>> = self.parts(visible).collect();
        let scoring = Scoring::new(self.statistics(visible));
        let Some((at, document)) = parts.iter().find_map(|part| Some((*part, part.find(key)?)))
        else {
            return Vec::new();
        };
        let telling = telling_terms(&parts, at, document, scoring);
        let mut best = Best::new(limit, |left: &Near<'_, P>, right: &Near<'_, P>| {
            (right.score.total_cmp(&left.score)).then_with(|| left.key().cmp(right.key()))
        });
        for part in &parts {
            for near in near(part, &telling, scoring) {
                let payload = part.segment().payload(near.document);
                if near.key() != key && accept(near.key(), payload) {
                    best.offer(near);
                }
            }
        }
        best.into_sorted().iter().map(|near| near.with_reasons(&telling, scoring)).collect()
    }
}

/// The terms by which a document differs most from the others, the most telling first.
fn telling_terms<P>(
    parts: &[&Part<P>],
    part: &Part<P>,
    document: u32,
    scoring: Scoring,
) -> Vec<Telling> {
    let lists = part.segment().lists();
    let order = |left: &Telling, right: &Telling| -> Ordering {
        (right.weight.total_cmp(&left.weight)).then_with(|| left.term.cmp(&right.term))
    };
    let mut best = Best::new(TELLING_TERMS, order);
    for number in lists.terms_of(document) {
        let (namespace, _) = lists.term(number);
        let term = lists.text(number);
        let is_word = namespace == WORDS && term.chars().any(char::is_alphabetic);
        if !is_word || (term.len() < 3 && term.is_ascii()) {
            continue;
        }
        let with = documents_with(parts, term);
        if with < 2 {
            continue;
        }
        let Some(weight) = weight_in(part, number, document, scoring) else { continue };
        let importance = scoring.importance(with);
        best.offer(Telling { term: term.to_owned(), weight: weight * importance * importance });
    }
    best.into_sorted()
}

/// How much of a document a term is.
fn weight_in<P>(part: &Part<P>, term: u32, document: u32, scoring: Scoring) -> Option<f32> {
    let mut postings = part.segment().lists().postings(term);
    let is_there = postings.advance() && postings.seek(document) && postings.document() == document;
    is_there.then(|| {
        let found =
            Match { document, frequency: postings.frequency(), in_title: postings.in_title() };
        let (length, title_length) = lengths(part.segment(), document);
        scoring.score(found, scoring.norm(length), || title_length)
    })
}

/// A document that shares enough.
struct Near<'p, P> {
    part: &'p Part<P>,
    document: u32,
    score: f32,
}

impl<'p, P> Near<'p, P> {
    fn key(&self) -> &'p str {
        self.part.segment().key(self.document)
    }
}

impl<P: Clone> Near<'_, P> {
    fn with_reasons(&self, telling: &[Telling], scoring: Scoring) -> Related<P> {
        let lists = self.part.segment().lists();
        let mut shared: Vec<(f32, &str)> = telling
            .iter()
            .filter_map(|telling| {
                let number = lists.find(WORDS, &telling.term)?;
                let weight = weight_in(self.part, number, self.document, scoring)?;
                Some((weight * telling.weight, &*telling.term))
            })
            .collect();
        shared.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
        shared.truncate(MOST_SHARED);
        Related {
            key: self.key().into(),
            payload: self.part.segment().payload(self.document).clone(),
            score: self.score,
            shared: shared.into_iter().map(|(_, term)| term.to_owned()).collect(),
        }
    }
}

/// The documents of a part that share enough of the terms, in no order that counts.
fn near<'p, P>(
    part: &'p Part<P>,
    telling: &[Telling],
    scoring: Scoring,
) -> impl Iterator<Item = Near<'p, P>> {
    let segment = part.segment();
    let mut sums = vec![(0.0_f32, 0_u32); segment.documents() as usize];
    for telling in telling {
        let Some(number) = segment.lists().find(WORDS, &telling.term) else { continue };
        segment.lists().postings(number).each(|document, frequency, in_title| {
            let found = Match { document, frequency, in_title };
            let (length, title_length) = lengths(segment, document);
            let (sum, shared) = &mut sums[document as usize];
            *sum += telling.weight * scoring.score(found, scoring.norm(length), || title_length);
            *shared += 1;
        });
    }
    (0..).zip(sums).filter_map(move |(document, (score, shared))| {
        let is_near = shared >= FEWEST_SHARED && !part.is_deleted(document);
        is_near.then_some(Near { part, document, score })
    })
}
