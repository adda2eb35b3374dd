//! What a query looks for, found in every segment that may be seen.

use super::matching::{self, Match};
use super::typo::Corrections;
use crate::search::index::{Part, WORDS};
use crate::search::query::{Clause, TermGroup};

/// Of a longer query the rarest words are scored. Each costs time, and the frequent
/// ones of so many add next to nothing.
const MOST_SCORED: usize = 64;

/// A part of a query, with the documents that answer it.
pub(super) struct Wanted {
    /// The words in the form in which they are looked for.
    pub(super) words: Vec<TermGroup>,
    pub(super) is_required: bool,
    /// How often the query asks for it.
    pub(super) times: u16,
    /// For each part that may be seen.
    pub(super) found: Vec<Found>,
    /// How many documents answer it.
    pub(super) documents: u64,
    in_title: bool,
}

/// What a segment has of something that is wanted.
pub(super) enum Found {
    /// The documents of one term.
    Term(u32),
    /// These documents, ascending.
    Listed(Vec<Match>),
}

impl Wanted {
    /// Finds what a query asks for, in its order.
    pub(super) fn of<P>(
        parts: &[&Part<P>],
        clauses: &[Clause],
        corrections: &mut Corrections,
    ) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut asked: Vec<&Clause> = Vec::new();
        for clause in clauses {
            if let Some(place) = asked.iter().position(|before| *before == clause) {
                all[place].times = all[place].times.saturating_add(1);
            } else {
                asked.push(clause);
                all.push(Self::find(parts, clause, corrections));
            }
        }
        let mut frequencies: Vec<u64> = all.iter().map(|wanted| wanted.documents).collect();
        if let Some(most) = (frequencies.len() > MOST_SCORED)
            .then(|| *frequencies.select_nth_unstable(MOST_SCORED - 1).1)
        {
            let mut left = MOST_SCORED;
            all.retain(|wanted| {
                let is_kept = wanted.is_required || (wanted.documents <= most && left > 0);
                left -= usize::from(is_kept && left > 0);
                is_kept
            });
        }
        all
    }

    /// Finds what a part of a query asks for. A word that nothing visible holds is
    /// replaced by the nearest that something does; then `corrections` has both.
    pub(super) fn find<P>(
        parts: &[&Part<P>],
        clause: &Clause,
        corrections: &mut Corrections,
    ) -> Self {
        let mut wanted = Self::as_typed(parts, clause);
        if let [word] = &*wanted.words
            && wanted.documents == 0
            && let Some(instead) = corrections.instead_of(parts, word)
        {
            wanted.words = vec![TermGroup {
                alternatives: vec![instead.into()],
                parts: Vec::new(),
                ..word.clone()
            }];
            wanted.look(parts);
        }
        wanted
    }

    /// Finds what a part of a query asks for, and nothing else.
    pub(super) fn as_typed<P>(parts: &[&Part<P>], clause: &Clause) -> Self {
        let mut wanted = Self {
            words: clause.words.clone(),
            is_required: clause.is_required,
            times: 1,
            found: Vec::new(),
            documents: 0,
            in_title: clause.in_title,
        };
        wanted.look(parts);
        wanted
    }

    fn look<P>(&mut self, parts: &[&Part<P>]) {
        self.found = parts.iter().map(|part| self.found_in(part)).collect();
        self.documents =
            self.found.iter().zip(parts).map(|(found, part)| found.documents(part)).sum();
    }

    fn found_in<P>(&self, part: &Part<P>) -> Found {
        let segment = part.segment();
        let listed = match &*self.words {
            [word] if word.parts.is_empty() => {
                let terms = matching::known(segment.lists(), &word.alternatives);
                match &*terms {
                    [term] if !self.in_title => return Found::Term(*term),
                    terms => matching::with_any(segment.lists(), terms),
                }
            }
            [word] => matching::with_word(segment, word),
            words => matching::with_phrase(segment, words),
        };
        Found::Listed(if self.in_title {
            listed.into_iter().filter(|found| found.in_title > 0).collect()
        } else {
            listed
        })
    }

    /// What a document that answers it counts: see `gather`.
    pub(super) fn count(&self) -> u32 {
        1 | u32::from(self.is_required) << 16
    }

    /// Whether this is one plain word, which stands beside others or not.
    pub(super) fn plain_word(&self) -> Option<&TermGroup> {
        match &*self.words {
            [word] if word.parts.is_empty() && !self.in_title => Some(word),
            _ => None,
        }
    }
}

impl Found {
    /// How many documents of a part these are, deleted ones aside.
    fn documents<P>(&self, part: &Part<P>) -> u64 {
        match self {
            Self::Term(term) => u64::from(part.documents_with(*term)),
            Self::Listed(found) => {
                found.iter().filter(|found| !part.is_deleted(found.document)).count() as u64
            }
        }
    }

    /// Calls for each document, ascending, deleted ones included.
    #[inline]
    pub(super) fn each<P>(&self, part: &Part<P>, mut call: impl FnMut(Match)) {
        match self {
            Self::Term(term) => {
                let postings = part.segment().lists().postings(*term);
                postings.each(|document, frequency, in_title| {
                    call(Match { document, frequency, in_title });
                });
            }
            Self::Listed(found) => found.iter().copied().for_each(call),
        }
    }
}

/// How many documents that may be seen hold a word.
pub(super) fn documents_with<P>(parts: &[&Part<P>], term: &str) -> u64 {
    let with = |part: &&Part<P>| {
        let number = part.segment().lists().find(WORDS, term);
        number.map_or(0, |number| u64::from(part.documents_with(number)))
    };
    parts.iter().map(with).sum()
}
