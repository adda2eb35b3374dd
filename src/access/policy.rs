//! The whole read policy, as one function.

use super::class::PageClass;
use crate::contract::scope::{Scope, ScopeSet};

/// Whether a scope opens pages of a class.
///
/// Both enums are matched without `_`, so that a new scope or class does not
/// compile until somebody has decided what it opens.
#[must_use]
pub const fn opens(scope: Scope, class: PageClass) -> bool {
    match class {
        PageClass::Ordinary => match scope {
            Scope::Read => true,
            Scope::Confidential | Scope::People | Scope::Write => false,
        },
        PageClass::Confidential => match scope {
            Scope::Confidential => true,
            Scope::Read | Scope::People | Scope::Write => false,
        },
        PageClass::People => match scope {
            Scope::People => true,
            Scope::Read | Scope::Confidential | Scope::Write => false,
        },
        // No scope, so that no mistake on the consent page can give one away.
        PageClass::Secret => match scope {
            Scope::Read | Scope::Confidential | Scope::People | Scope::Write => false,
        },
    }
}

/// Whether any of `scopes` opens pages of a class. No scope, no page.
#[must_use]
pub fn any_opens(scopes: ScopeSet, class: PageClass) -> bool {
    scopes.iter().any(|scope| opens(scope, class))
}
