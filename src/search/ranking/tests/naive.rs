//! An index answers as filtering and the formula, written down directly, do.

use std::collections::BTreeMap;

use proptest::collection::btree_map;
use proptest::prelude::*;

use super::equality::{notes, question};
use super::{Note, index, query, search};
use crate::search::analysis::{Analyzer, Language};
use crate::search::index::PartitionSet;
use crate::search::query::{Choice, Clause, Query, TermGroup, path_key};

/// A note as its terms: each with its position, and where the title ends.
struct Plain {
    key: String,
    tags: Vec<String>,
    terms: Vec<(String, usize)>,
    length: usize,
    title_length: usize,
    names: Vec<String>,
}

fn plain(key: &str, note: &Note) -> Plain {
    let mut analyzer = Analyzer::new(Language::English);
    let (mut terms, mut length, mut next, mut title_length) = (Vec::new(), 0, 0, 0);
    let mut names = Vec::new();
    for (field, text) in [&*note.title, key, &*note.body].into_iter().enumerate() {
        let base = if next == 0 { 0 } else { next + 8 };
        let mut whole = Vec::new();
        analyzer.analyze(text, &mut |token| {
            let position = base + token.position as usize;
            terms.push((token.term.to_owned(), position));
            next = next.max(position + 1);
            if !token.is_extra {
                length += 1;
                whole.push(token.term.to_owned());
            }
        });
        if field == 0 {
            title_length = next;
        }
        if field < 2 {
            names.push(whole.join(" "));
        }
    }
    Plain { key: key.to_owned(), tags: note.tags.clone(), terms, length, title_length, names }
}

impl Plain {
    fn has(&self, term: &str, position: usize) -> bool {
        self.terms.iter().any(|(own, at)| own == term && *at == position)
    }

    /// Where a sequence begins, each place of it being one of some terms.
    fn starts(&self, sequence: &[Vec<Box<str>>]) -> Vec<usize> {
        let all = self.terms.iter().map(|(_, at)| *at).max().map_or(0, |last| last + 1);
        let is_start = |start: &usize| {
            (0..).zip(sequence).all(|(offset, terms): (usize, _)| {
                terms.iter().any(|term| self.has(term, start + offset))
            })
        };
        (0..all).filter(is_start).collect()
    }

    /// How often a part of a query occurs, and how often of these in the title.
    fn frequency(&self, clause: &Clause) -> (usize, usize) {
        let in_title = |starts: &[usize], length: usize| {
            starts.iter().filter(|start| *start + length <= self.title_length).count()
        };
        let found = if let [word] = &*clause.words {
            let at: Vec<usize> = self
                .terms
                .iter()
                .filter(|(term, _)| word.alternatives.iter().any(|own| **own == **term))
                .map(|(_, at)| *at)
                .collect();
            let parts = if word.parts.is_empty() { Vec::new() } else { self.starts(&word.parts) };
            let titles = in_title(&parts, word.parts.len());
            (at.len().max(parts.len()), in_title(&at, 1).max(titles))
        } else {
            let sequence: Vec<Vec<Box<str>>> = clause.words.iter().flat_map(places).collect();
            let starts = self.starts(&sequence);
            (starts.len(), in_title(&starts, sequence.len()))
        };
        if clause.in_title && found.1 == 0 { (0, 0) } else { found }
    }
}

fn places(word: &TermGroup) -> Vec<Vec<Box<str>>> {
    if word.parts.is_empty() { vec![word.alternatives.clone()] } else { word.parts.clone() }
}

impl Plain {
    fn has_one(&self, choice: &Choice) -> bool {
        match choice {
            Choice::Tag(tag) => self.tags.iter().any(|own| **own == **tag),
            Choice::Path(path) => path_key(&self.key).contains(&**path),
            Choice::Words(clauses) => clauses.iter().all(|clause| self.frequency(clause).0 > 0),
        }
    }
}

/// The notes that answer a query, the best first, with their scores within their rank.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn answer(all: &[Plain], query: &Query) -> Vec<(String, u8, f64)> {
    let documents = all.len().max(1) as f64;
    let mean = |total: usize| total.max(1) as f64 / documents;
    let mean_length = mean(all.iter().map(|note| note.length).sum());
    let mean_title = mean(all.iter().map(|note| note.title_length).sum());
    let norm =
        |share: f64, length: usize, mean: f64| 1.2 * (1.0 - share + share * length as f64 / mean);
    let saturated = |frequency: usize, norm: f64| frequency as f64 / (frequency as f64 + norm);
    let with = |clause: &Clause| all.iter().filter(|note| note.frequency(clause).0 > 0).count();
    let importance = |with: usize| {
        let with = with as f64;
        (1.0 + (documents - with + 0.5) / (with + 0.5)).ln()
    };
    let mut distinct: Vec<&Clause> = Vec::new();
    for clause in &query.scored {
        if !distinct.contains(&clause) {
            distinct.push(clause);
        }
    }
    let mut found = Vec::new();
    for note in all {
        let is_out = query.excluded.iter().any(|clause| note.frequency(clause).0 > 0)
            || query
                .tags
                .iter()
                .any(|(is_wanted, tag)| note.tags.iter().any(|own| **own == **tag) != *is_wanted)
            || !query
                .choices
                .iter()
                .all(|choices| choices.iter().any(|choice| note.has_one(choice)))
            || query.scored.iter().any(|one| one.is_required && note.frequency(one).0 == 0);
        let has_any = query.scored.iter().any(|clause| note.frequency(clause).0 > 0);
        if is_out || !(has_any || query.scored.is_empty() || query.is_scored_optionally) {
            continue;
        }
        let text_norm = norm(0.7, note.length, mean_length);
        let mut score = 0.0;
        for clause in &query.scored {
            let (frequency, in_title) = note.frequency(clause);
            let title = saturated(in_title, norm(0.4, note.title_length, mean_title));
            score += importance(with(clause)) * (saturated(frequency, text_norm) + 0.5 * title);
        }
        for pair in distinct.windows(2) {
            let ([first], [second]) = (&*pair[0].words, &*pair[1].words) else { continue };
            let is_plain = pair.iter().all(|one| !one.in_title && one.words[0].parts.is_empty());
            if is_plain {
                let sequence = [first.alternatives.clone(), second.alternatives.clone()];
                let together = note.starts(&sequence).len();
                let rarer = with(pair[0]).min(with(pair[1]));
                score += 0.4 * importance(rarer) * saturated(together, text_norm);
            }
        }
        let has_all =
            distinct.iter().all(|clause| with(clause) == 0 || note.frequency(clause).0 > 0);
        let is_title =
            query.whole.iter().any(|whole| note.names.iter().any(|own| **own == **whole));
        let rank = if is_title { 2 } else { u8::from(has_all) };
        found.push((note.key.clone(), rank, score));
    }
    found.sort_by(|left, right| {
        (right.1.cmp(&left.1)).then(right.2.total_cmp(&left.2)).then_with(|| left.0.cmp(&right.0))
    });
    found
}

proptest! {
    /// What is found, in which order, and how many: as the formula has it. Notes whose
    /// scores are equal but for rounding may stand either way.
    #[test]
    fn an_index_finds_what_the_formula_finds(
        vault in btree_map("[a-d]{1,2}", notes(), 1..12),
        question in question(),
    ) {
        let index = index(vault.iter().map(|(key, note)| (&**key, note)));
        let found = search(&index, PartitionSet::ALL, &question);
        let query = query(&question);
        prop_assume!(found.corrected.is_empty());
        let all: Vec<Plain> = vault.iter().map(|(key, note)| plain(key, note)).collect();
        let expected = answer(&all, &query);
        prop_assert_eq!(found.total, expected.len(), "{}", question);
        if query.scored.is_empty() {
            return Ok(());
        }
        let rank_and_score: BTreeMap<&str, (u8, f64)> =
            expected.iter().map(|(key, rank, score)| (&**key, (*rank, *score))).collect();
        for (hit, (_, rank, score)) in found.hits.iter().zip(&expected) {
            let Some((own_rank, own_score)) = rank_and_score.get(&*hit.key) else {
                return Err(TestCaseError::fail(format!("{} is no answer", hit.key)));
            };
            prop_assert_eq!(own_rank, rank, "{}", question);
            prop_assert!((own_score - score).abs() < 1e-4 * score.max(1.0), "{}", question);
        }
        let scores: Vec<f32> = found.hits.iter().filter_map(|hit| hit.score).collect();
        prop_assert!(scores.is_sorted_by(|left, right| left >= right), "{scores:?}");
    }
}
