//! Analyzers that are used again: each has a cache of megabytes that is worth keeping.

use std::sync::{Arc, Mutex, PoisonError};

use crate::search::analysis::{Analyzer, Language};

/// So many are kept while nobody needs them.
const MOST_IDLE: usize = 4;

/// Lends analyzers. All clones lend the same.
#[derive(Clone, Default)]
pub(super) struct Analyzers(Arc<Mutex<Vec<(Language, Analyzer)>>>);

impl Analyzers {
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
