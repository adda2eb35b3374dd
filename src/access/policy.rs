//! The whole policy: who reads what, and who writes what.

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

/// Why a page of a class is not shown, for the owner: the end of a sentence about the
/// client.
#[must_use]
pub fn why_hidden(class: PageClass) -> String {
    let keys: Vec<&str> =
        Scope::ALL.into_iter().filter(|scope| opens(*scope, class)).map(Scope::as_str).collect();
    match &*keys {
        [] => "secret pages are shown to nobody".to_owned(),
        keys => format!("the page is {class}, and it lacks {}", keys.join(" and ")),
    }
}

/// Whether a scope lets notes of a class be written into the inbox. What may be read
/// does not matter here: a client may leave a note that it cannot read again.
///
/// Matched without `_`, for the same reason as in [`opens`].
#[must_use]
pub const fn accepts(scope: Scope, class: PageClass) -> bool {
    match class {
        PageClass::Ordinary | PageClass::Confidential | PageClass::People => match scope {
            Scope::Write => true,
            Scope::Read | Scope::Confidential | Scope::People => false,
        },
        // A secret page is never served. One that a client has written would be
        // neither the owner's secret nor anybody's note.
        PageClass::Secret => match scope {
            Scope::Read | Scope::Confidential | Scope::People | Scope::Write => false,
        },
    }
}

/// Whether any of `scopes` lets notes of a class be written.
#[must_use]
pub fn any_accepts(scopes: ScopeSet, class: PageClass) -> bool {
    scopes.iter().any(|scope| accepts(scope, class))
}
