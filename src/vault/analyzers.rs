//! Analyzers that are used again: each has a cache of megabytes that is worth keeping.

use std::sync::{Arc, Mutex, PoisonError};

use crate::search::analysis::{Analyzer, Language};

/// So many are kept while nobody needs them.
const MOST_IDLE: usize = 4;

/// Lends analyzers. All clones lend the same.
#[derive(Clone, Default)]
pub(super) struct Analyzers(Arc<Mutex<Vec<(Language, Analyzer)>>>);

/// Analyzers that are lent to one piece of work, one for each language that it needs.
/// They go back when it ends, however it ends.
pub(super) struct Lent<'a> {
    from: &'a Analyzers,
    taken: Vec<(Language, Analyzer)>,
}

impl Lent<'_> {
    /// The one for a language.
    pub(super) fn of(&mut self, language: Language) -> &mut Analyzer {
        let known = self.taken.iter().position(|(its, _)| *its == language);
        let place = known.unwrap_or_else(|| {
            self.taken.push((language, self.from.take(language)));
            self.taken.len() - 1
        });
        &mut self.taken[place].1
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        for (language, analyzer) in self.taken.drain(..) {
            self.from.put_back(language, analyzer);
        }
    }
}

impl Analyzers {
    /// Lends what a piece of work will need.
    pub(super) const fn lend(&self) -> Lent<'_> {
        Lent { from: self, taken: Vec::new() }
    }

    /// One for a language. It need not come back.
    pub(super) fn take(&self, language: Language) -> Analyzer {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle.iter().position(|(its, _)| *its == language);
        known.map_or_else(|| Analyzer::new(language), |place| idle.swap_remove(place).1)
    }

    /// Takes one back.
    pub(super) fn put_back(&self, language: Language, analyzer: Analyzer) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() == MOST_IDLE {
            // That which has waited longest.
            idle.remove(0);
        }
        idle.push((language, analyzer));
    }
}
