//! Scores all documents that have a word of the query, and chooses the best.

use std::cmp::Ordering;

use super::best::Best;
use super::filter::Filter;
use super::matching::Match;
use super::nearness::Nearness;
use super::scoring::Scoring;
use super::wanted::Wanted;
use super::{CANDIDATES, Candidate, Hit, Order, Rank, Request};
use crate::search::index::{Part, WHOLE_TITLES};

/// A query with everything that its scores depend on.
pub(super) struct Search<'s, P> {
    pub(super) parts: &'s [&'s Part<P>],
    pub(super) wanted: &'s [Wanted],
    pub(super) scoring: Scoring,
    pub(super) filter: &'s Filter,
    /// If documents may answer without anything that is scored: the order of those whose
    /// scores are equal.
    pub(super) unscored: Option<&'s Order<'s, P>>,
}

/// What was found so far for each document of a part.
#[derive(Default)]
struct Tally {
    /// What the length of a document does to its scores.
    norms: Vec<f32>,
    scores: Vec<f32>,
    /// How much of what is wanted was found; in the upper half, of what is required.
    counts: Vec<u32>,
}

/// The upper half of a count.
const REQUIRED: u32 = 1 << 16;

impl<P: Clone> Search<'_, P> {
    /// The best documents, and the number of all.
    pub(super) fn run(&self, request: &Request<'_, P>) -> (Vec<Hit<P>>, usize) {
        let counted = |wanted: &&Wanted| wanted.documents > 0;
        let all = self.wanted.iter().filter(counted).map(Wanted::count).sum::<u32>() % REQUIRED;
        let required = self.wanted.iter().map(Wanted::count).sum::<u32>() / REQUIRED;
        let order = |left: &Candidate, right: &Candidate| self.order(left, right);
        let mut best = Best::new(request.limit.max(CANDIDATES), order);
        let mut total = 0;
        let mut tally = Tally::default();
        for place in 0..self.parts.len() {
            if !self.tally(place, &mut tally) && self.unscored.is_none() {
                continue;
            }
            let titles = self.with_whole_title(place, request);
            let mut titles = titles.iter().peekable();
            for (document, (count, score)) in (0..).zip(tally.counts.iter().zip(&tally.scores)) {
                if *count == 0 && self.unscored.is_none()
                    || count / REQUIRED < required
                    || !self.filter.lets_in(self.parts, (place, document), request)
                {
                    continue;
                }
                total += 1;
                while titles.next_if(|title| **title < document).is_some() {}
                let rank = if titles.peek() == Some(&&document) {
                    Rank::Title
                } else if count % REQUIRED == all {
                    Rank::AllWords
                } else {
                    Rank::SomeWords
                };
                best.offer(Candidate { rank, score: *score, part: place, document });
            }
        }
        let mut candidates = best.into_sorted();
        self.look_closely(&mut candidates);
        candidates.truncate(request.limit);
        (self.hits(&candidates), total)
    }

    /// Adds up what each document of a part has of the query; `false` if none has
    /// anything.
    fn tally(&self, place: usize, tally: &mut Tally) -> bool {
        let part = self.parts[place];
        let segment = part.segment();
        let documents = segment.documents() as usize;
        tally.norms.clear();
        tally.norms.extend(segment.lengths().iter().map(|length| self.scoring.norm(*length)));
        tally.scores.clear();
        tally.scores.resize(documents, 0.0);
        tally.counts.clear();
        tally.counts.resize(documents, 0);
        let mut has_any = false;
        for wanted in self.wanted {
            let importance = self.scoring.importance(wanted.documents) * f32::from(wanted.times);
            let count = wanted.count();
            wanted.found[place].each(part, |found: Match| {
                let document = found.document as usize;
                let title_length = || segment.title_lengths()[document];
                let score = self.scoring.score(found, tally.norms[document], title_length);
                tally.scores[document] += importance * score;
                tally.counts[document] += count;
                has_any = true;
            });
        }
        has_any
    }

    /// The documents of a part that are called exactly what the query says, ascending.
    fn with_whole_title(&self, place: usize, request: &Request<'_, P>) -> Vec<u32> {
        let lists = self.parts[place].segment().lists();
        let mut found = Vec::new();
        for title in &request.query.whole {
            if let Some(number) = lists.find(WHOLE_TITLES, title) {
                lists.postings(number).each(|document, _, _| found.push(document));
            }
        }
        found.sort_unstable();
        found
    }

    /// Adds to the first candidates what they gain by words that stand together. They
    /// are as many whatever the limit is, so that it changes no order; who gains
    /// nothing stays behind them.
    fn look_closely(&self, candidates: &mut [Candidate]) {
        let most = candidates.len().min(CANDIDATES);
        let closely = &mut candidates[..most];
        closely.sort_unstable_by_key(|candidate| (candidate.part, candidate.document));
        for same_part in closely.chunk_by_mut(|left, right| left.part == right.part) {
            let part = self.parts[same_part[0].part];
            let mut nearness = Nearness::new(part, self.wanted, self.scoring);
            for candidate in same_part {
                candidate.score += nearness.gain(candidate.document);
            }
        }
        closely.sort_unstable_by(|left, right| self.order(left, right));
    }

    /// The better first.
    fn order(&self, left: &Candidate, right: &Candidate) -> Ordering {
        let key = |one: &Candidate| self.parts[one.part].segment().key(one.document);
        let payload = |one: &Candidate| self.parts[one.part].segment().payload(one.document);
        let unscored = |order: &Order<'_, P>| order(payload(left), payload(right));
        (right.rank.cmp(&left.rank))
            .then_with(|| right.score.total_cmp(&left.score))
            .then_with(|| self.unscored.map_or(Ordering::Equal, unscored))
            .then_with(|| key(left).cmp(key(right)))
    }

    fn hits(&self, candidates: &[Candidate]) -> Vec<Hit<P>> {
        // More than any document can score within its rank: the text counts 1, the title
        // 0.5, two neighbours 0.4 each.
        let step: f32 = self
            .wanted
            .iter()
            .map(|wanted| 3.0 * self.scoring.importance(wanted.documents) * f32::from(wanted.times))
            .sum();
        let hit = |candidate: &Candidate| {
            let segment = self.parts[candidate.part].segment();
            let above = match candidate.rank {
                Rank::SomeWords => 0.0,
                Rank::AllWords => step,
                Rank::Title => 2.0 * step,
            };
            Hit {
                key: segment.key(candidate.document).into(),
                payload: segment.payload(candidate.document).clone(),
                score: Some(candidate.score + above),
            }
        };
        candidates.iter().map(hit).collect()
    }
}

/// The first documents in the order of the request, and the number of all that the
/// filter lets in.
pub(super) fn listed<P: Clone>(
    parts: &[&Part<P>],
    filter: &Filter,
    request: &Request<'_, P>,
) -> (Vec<Hit<P>>, usize) {
    let of = |(place, document): (usize, u32)| {
        let segment = parts[place].segment();
        (segment.key(document), segment.payload(document))
    };
    let mut best = Best::new(request.limit, |left: &(usize, u32), right: &(usize, u32)| {
        let ((left_key, left), (right_key, right)) = (of(*left), of(*right));
        (request.order)(left, right).then_with(|| left_key.cmp(right_key))
    });
    let mut total = 0;
    for (place, part) in parts.iter().enumerate() {
        for document in 0..part.segment().documents() {
            if filter.lets_in(parts, (place, document), request) {
                total += 1;
                best.offer((place, document));
            }
        }
    }
    let hit = |at| {
        let (key, payload) = of(at);
        Hit { key: key.into(), payload: payload.clone(), score: None }
    };
    (best.into_sorted().into_iter().map(hit).collect(), total)
}
