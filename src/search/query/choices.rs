//! `OR`: of several things a note must have one.

use super::items::{Item, QueryField, Sign};
use super::{
    Choice, Clause, MOST_CLAUSES, MOST_FILTERS, MOST_PHRASES, Reading, Sought, path_key, piece,
    tag_key,
};

impl Reading<'_> {
    /// Reads what `OR` joins. Of plain words any may match in any case.
    pub(super) fn read_alternatives(&mut self, items: &[Item<'_>]) {
        let read: Vec<(Choice, String)> = if are_choices(items) {
            items.iter().filter_map(|item| self.choice(item)).collect()
        } else {
            Vec::new()
        };
        if read.is_empty() || read.len() < items.len() {
            for item in items {
                self.read(*item);
            }
            return;
        }
        let (choices, pieces): (Vec<Choice>, Vec<String>) = read.into_iter().unzip();
        self.choose(choices, pieces.join(" OR "));
    }

    fn choice(&mut self, item: &Item<'_>) -> Option<(Choice, String)> {
        match item.field {
            Some(QueryField::Tag) => {
                let key = Some(tag_key(item.text)).filter(|key| !key.is_empty())?;
                let piece = piece("tag:", &key);
                Some((Choice::Tag(key.into()), piece))
            }
            Some(QueryField::Path) => {
                let key = Some(path_key(item.text)).filter(|key| !key.is_empty())?;
                let piece = piece("path:", &key);
                Some((Choice::Path(key.into()), piece))
            }
            _ => {
                let in_title = item.field == Some(QueryField::Title);
                let before = match item.sign {
                    _ if in_title => "title:",
                    Some(_) => "+",
                    None => "",
                };
                let sought = Sought { before, is_required: false, in_title, is_exact: true };
                let (clauses, piece, _) = self.clauses(item, item.text, sought)?;
                Some((Choice::Words(clauses), piece))
            }
        }
    }

    /// Adds a choice, if that is not too much.
    fn choose(&mut self, choices: Vec<Choice>, piece: String) {
        self.has_operators = true;
        if self.query.choices.contains(&choices) {
            return;
        }
        let phrases = clauses(&choices).filter(|clause| clause.is_phrase()).count();
        let known: usize = self.query.choices.iter().map(Vec::len).sum();
        if known + choices.len() > MOST_FILTERS || self.phrases + phrases > MOST_PHRASES {
            return self.ignore(piece);
        }
        self.phrases += phrases;
        if choices.iter().all(|choice| matches!(choice, Choice::Words(_))) {
            let room = MOST_CLAUSES.saturating_sub(self.query.scored.len());
            self.query.scored.extend(clauses(&choices).take(room).cloned());
        } else {
            self.optional.extend(clauses(&choices).cloned());
        }
        self.query.choices.push(choices);
        self.pieces.push(piece);
    }
}

/// Whether items are a choice that says more than that any word may match.
fn are_choices(items: &[Item<'_>]) -> bool {
    let is_day =
        |item: &Item<'_>| matches!(item.field, Some(QueryField::After | QueryField::Before));
    let is_impossible = |item: &Item<'_>| item.sign == Some(Sign::Excluded) || is_day(item);
    let is_demanding = |item: &Item<'_>| item.sign.is_some() || item.field.is_some();
    items.len() > 1 && items.iter().any(is_demanding) && !items.iter().any(is_impossible)
}

fn clauses(choices: &[Choice]) -> impl Iterator<Item = &Clause> {
    choices.iter().flat_map(|choice| match choice {
        Choice::Words(clauses) => clauses.as_slice(),
        Choice::Tag(_) | Choice::Path(_) => &[],
    })
}
