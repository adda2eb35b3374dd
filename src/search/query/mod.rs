//! The language in which somebody asks. Nothing that can be typed is an error: what
//! does not parse is text.
//!
//! Words (any may match, all are preferred), `"phrase"`, `+required`, `-excluded`,
//! `title:word`, `tag:name`, `path:part`, `after:2024-05-17` (that day and later),
//! `before:2024-05-17` (earlier than that day, so that the two together leave nothing
//! out), each with quotation marks and `-`. `NOT word` is `-word`; of what `OR` joins, a
//! note must have one.

use std::fmt::Write as _;

use jiff::civil::Date;
use jiff::{Timestamp, ZonedDateTime};
use unicode_normalization::UnicodeNormalization as _;

use super::analysis::Languages;
use clause::Sought;
pub use clause::{Choice, Clause, TermGroup};
use dates::day;
use items::{Item, QueryField, Sign, begins_with_field, is_operator, is_quotation_mark, items};
use words::{Chunk, Reader};

mod choices;
mod clause;
mod dates;
mod items;
#[cfg(test)]
mod tests;
mod words;

/// The query that all notes answer.
const EVERYTHING: &str = "*";

/// How much of a query is read, in bytes.
const LONGEST_QUERY: usize = 8 * 1024;

/// The most things that are looked for.
const MOST_CLAUSES: usize = 256;

/// The most different phrases and identifiers: of each, the places of its words are
/// compared in every note that has them all.
const MOST_PHRASES: usize = 24;

/// The most different filters by tag, and by path.
const MOST_FILTERS: usize = 32;

/// What somebody looks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What is scored, in the order of the query. If it is nothing, because there are only
    /// filters and exclusions, notes are listed by date.
    pub scored: Vec<Clause>,
    /// What must not be in a note.
    pub excluded: Vec<Clause>,
    /// Tags in the form of [`tag_key`] that a note must have (`true`) or must not.
    pub tags: Vec<(bool, Box<str>)>,
    /// What the path must contain (`true`) or must not, in lower case.
    pub paths: Vec<(bool, Box<str>)>,
    /// Of each of these a note must have at least one.
    pub choices: Vec<Vec<Choice>>,
    /// Whether a note may answer without anything that is scored, for it has a tag or a
    /// path instead: `tag:x OR word`.
    pub is_scored_optionally: bool,
    /// The whole query as if it were a title, in each language: its terms, separated by
    /// blanks. Empty if it is more than words.
    pub whole: Vec<Box<str>>,
    /// What is left out: frequent words as typed, and phrases and filters beyond the most
    /// that there may be.
    pub ignored: Vec<String>,
    from: Option<Bound>,
    until: Option<Bound>,
    interpreted: String,
}

/// Where a range of time begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bound {
    day: Date,
    at: Timestamp,
}

impl Query {
    /// Reads a query. Words are looked for as each of the languages would have them;
    /// relative dates count from `today`, in whose time zone days begin.
    #[must_use]
    pub fn parse(text: &str, languages: &Languages, today: &ZonedDateTime) -> Self {
        let mut end = text.len().min(LONGEST_QUERY);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        let mut reading = Reading::new(languages, today);
        for alternatives in items(text).chunk_by(|_, next| next.is_alternative) {
            reading.read_alternatives(alternatives);
        }
        reading.finish(text)
    }

    /// Whether it has nothing that can be looked for, such as a lone `"`: no note answers
    /// it. `*` is known everywhere for all there is.
    #[must_use]
    pub fn asks_nothing(&self) -> bool {
        self.scored.is_empty() && self.interpreted.is_empty()
    }

    /// Whether it says where notes are.
    #[must_use]
    pub fn names_paths(&self) -> bool {
        let is_path = |choice: &Choice| matches!(choice, Choice::Path(_));
        !self.paths.is_empty() || self.choices.iter().flatten().any(is_path)
    }

    /// The query in its normal form, which is read as the same query: dates in full,
    /// ignored words left out.
    #[must_use]
    pub fn interpreted(&self) -> &str {
        &self.interpreted
    }

    /// From when on a note must be.
    #[must_use]
    pub fn from(&self) -> Option<Timestamp> {
        self.from.map(|bound| bound.at)
    }

    /// Until when a note must be; that moment no longer counts.
    #[must_use]
    pub fn until(&self) -> Option<Timestamp> {
        self.until.map(|bound| bound.at)
    }

    /// Takes what was searched for instead of words that no note has, (typed, term), so
    /// that passages show it.
    pub fn correct(&mut self, corrected: &[(String, String)]) {
        let words = self.scored.iter_mut().flat_map(|clause| &mut clause.words);
        for word in words {
            let terms = corrected.iter().filter(|(typed, _)| *typed == word.typed);
            word.alternatives.extend(terms.map(|(_, term)| term.as_str().into()));
        }
    }

    /// Whether the date of a note is in the range that is asked for.
    #[must_use]
    pub fn covers(&self, date: Timestamp) -> bool {
        self.from.is_none_or(|from| date >= from.at) && self.until.is_none_or(|end| date < end.at)
    }
}

/// A tag in the form in which tags are compared: composed, in lower case, without `#`
/// and slashes at its ends (L36). A note that has `inbox/to-read` has `inbox` too.
#[must_use]
pub fn tag_key(tag: &str) -> String {
    path_key(tag.trim().trim_start_matches('#').trim_matches('/'))
}

/// A path, or a part of one, in the form in which `path:` compares them.
#[must_use]
pub fn path_key(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    path.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// A query while it is read.
struct Reading<'t> {
    query: Query,
    reader: Reader,
    today: &'t ZonedDateTime,
    /// Words that are only looked for if there are no others.
    stop_words: Vec<(String, Clause)>,
    /// Words of choices that a note may do without: only looked for if nothing else is.
    optional: Vec<Clause>,
    /// The normal form, a piece for each item that means something.
    pieces: Vec<String>,
    has_operators: bool,
    /// How many different phrases and identifiers there are so far.
    phrases: usize,
}

impl<'t> Reading<'t> {
    fn new(languages: &Languages, today: &'t ZonedDateTime) -> Self {
        Self {
            query: Query::default(),
            reader: Reader::new(languages),
            today,
            stop_words: Vec::new(),
            optional: Vec::new(),
            pieces: Vec::new(),
            has_operators: false,
            phrases: 0,
        }
    }

    fn read(&mut self, item: Item<'_>) {
        let is_excluded = item.sign == Some(Sign::Excluded);
        let is_filter = match item.field {
            None | Some(QueryField::Title) => false,
            Some(QueryField::Tag) => self.read_tag(item.text, !is_excluded),
            Some(QueryField::Path) => self.read_path(item.text, !is_excluded),
            Some(QueryField::After) => self.read_day(item.text, !is_excluded),
            Some(QueryField::Before) => self.read_day(item.text, is_excluded),
        };
        self.has_operators |= is_filter || item.sign.is_some();
        if is_filter {
            return;
        }
        if matches!(item.field, None | Some(QueryField::Title)) {
            self.read_text(item, item.text);
        } else {
            // It is no field after all: `after:dinner`.
            let text = item.source.replace(is_quotation_mark, " ");
            self.read_text(Item { field: None, ..item }, &text);
        }
    }

    fn read_tag(&mut self, text: &str, is_wanted: bool) -> bool {
        let key = tag_key(text);
        if key.is_empty() {
            return false;
        }
        let name = if is_wanted { "tag:" } else { "-tag:" };
        self.filter(name, |query| &mut query.tags, (is_wanted, key.into()));
        true
    }

    fn read_path(&mut self, text: &str, is_wanted: bool) -> bool {
        let key = path_key(text);
        if key.is_empty() {
            return false;
        }
        let name = if is_wanted { "path:" } else { "-path:" };
        self.filter(name, |query| &mut query.paths, (is_wanted, key.into()));
        true
    }

    /// Adds a filter to those of its kind, each once and not any number of them: all are
    /// tried on every note.
    fn filter(
        &mut self,
        name: &str,
        filters: impl Fn(&mut Query) -> &mut Vec<(bool, Box<str>)>,
        filter: (bool, Box<str>),
    ) {
        let known = filters(&mut self.query);
        if known.contains(&filter) {
            return;
        }
        if known.len() < MOST_FILTERS {
            known.push(filter.clone());
            self.pieces.push(piece(name, &filter.1));
        } else {
            self.ignore(piece(name, &filter.1));
        }
    }

    /// Says of something that it was left out, once.
    fn ignore(&mut self, typed: String) {
        if !self.query.ignored.contains(&typed) {
            self.query.ignored.push(typed);
        }
    }

    /// Reads the beginning (or the end) of the time that is asked for. Several leave
    /// what they have in common.
    fn read_day(&mut self, text: &str, is_beginning: bool) -> bool {
        let Some(day) = day(text, self.today) else { return false };
        let Ok(start) = day.to_zoned_datetime(self.today.time_zone().clone()) else { return false };
        let bound = Bound { day, at: start.timestamp() };
        if is_beginning {
            let is_later = self.query.from.is_none_or(|from| bound.at > from.at);
            self.query.from = if is_later { Some(bound) } else { self.query.from };
        } else {
            let is_earlier = self.query.until.is_none_or(|until| bound.at < until.at);
            self.query.until = if is_earlier { Some(bound) } else { self.query.until };
        }
        true
    }

    fn read_text(&mut self, item: Item<'_>, text: &str) {
        let in_title = item.field == Some(QueryField::Title);
        let is_excluded = item.sign == Some(Sign::Excluded);
        let is_required = in_title || item.sign == Some(Sign::Required);
        let is_exact = item.is_quoted || in_title || item.sign.is_some();
        self.has_operators |= in_title;
        let before = match (is_excluded, is_required, in_title) {
            (true, _, true) => "-title:",
            (true, _, false) => "-",
            (false, _, true) => "title:",
            (false, true, false) => "+",
            (false, false, false) => "",
        };
        let sought =
            Sought { before, is_required: is_required && !is_excluded, in_title, is_exact };
        let Some((clauses, piece, stop_word)) = self.clauses(&item, text, sought) else { return };
        match stop_word.filter(|_| !is_exact) {
            Some(typed) => {
                let clauses = clauses.into_iter().map(|clause| (typed.clone(), clause));
                self.stop_words.extend(clauses);
            }
            None => self.look_for(clauses, is_excluded, piece),
        }
    }

    /// What a text looks for, how that is written in the normal form, and the word as it is
    /// typed if it is one that is in every text. `None` if there is no word in it.
    fn clauses(
        &mut self,
        item: &Item<'_>,
        text: &str,
        sought: Sought,
    ) -> Option<(Vec<Clause>, String, Option<String>)> {
        let Sought { before, is_required, in_title, is_exact } = sought;
        let clause = |words| Clause { words, is_required, in_title };
        if item.is_quoted && text.trim().contains(char::is_whitespace) {
            let words = self.reader.phrase(text);
            let clauses = (!words.is_empty()).then(|| vec![clause(words)])?;
            return Some((clauses, in_marks(before, text), None));
        }
        let Chunk { typed, groups, is_stop_word } = self.reader.chunk(text.trim(), is_exact)?;
        let piece = if item.is_quoted { in_marks(before, typed) } else { piece(before, typed) };
        let clauses = groups.into_iter().map(|group| clause(vec![group])).collect();
        Some((clauses, piece, is_stop_word.then(|| typed.to_owned())))
    }

    /// Adds what a piece of the query asks for, if that is not too much.
    fn look_for(&mut self, clauses: Vec<Clause>, is_excluded: bool, piece: String) {
        let into = if is_excluded { &mut self.query.excluded } else { &mut self.query.scored };
        let new = |clause: &&Clause| clause.is_phrase() && !into.contains(clause);
        let phrases = self.phrases + clauses.iter().filter(new).count();
        if phrases > MOST_PHRASES {
            return self.ignore(piece);
        }
        self.phrases = phrases;
        for clause in clauses {
            // What is scored counts as often as it is asked for.
            if into.len() < MOST_CLAUSES && !(is_excluded && into.contains(&clause)) {
                into.push(clause);
            }
        }
        self.pieces.push(piece);
    }

    fn finish(mut self, text: &str) -> Query {
        if self.query.scored.is_empty() && !self.optional.is_empty() {
            self.query.scored = std::mem::take(&mut self.optional);
            self.query.scored.truncate(MOST_CLAUSES);
            self.query.is_scored_optionally = true;
        }
        if self.query.scored.is_empty() && !self.stop_words.is_empty() {
            let mut scored = std::mem::take(&mut self.stop_words);
            // An operator that joins nothing is only looked for if there is nothing else.
            let has_more = self.query.from.or(self.query.until).is_some()
                || !self.pieces.is_empty()
                || scored.iter().any(|(typed, _)| !is_operator(typed));
            if has_more {
                self.stop_words = scored.extract_if(.., |(typed, _)| is_operator(typed)).collect();
            }
            for (typed, clause) in scored {
                self.pieces.push(piece("", &typed));
                self.query.scored.push(clause);
            }
            self.query.scored.truncate(MOST_CLAUSES);
        }
        for (typed, _) in std::mem::take(&mut self.stop_words) {
            self.ignore(typed);
        }
        if !self.has_operators {
            self.query.whole = self.reader.titles(text);
        }
        let mut query = self.query;
        if self.pieces.is_empty() && text.trim() == EVERYTHING {
            self.pieces.push(EVERYTHING.to_owned());
        }
        query.interpreted = self.pieces.join(" ");
        let bounds = [("after", query.from), ("before", query.until)];
        for (name, bound) in bounds.into_iter().filter_map(|(name, bound)| Some((name, bound?))) {
            let blank = if query.interpreted.is_empty() { "" } else { " " };
            // Writing to a string never fails.
            let _ = write!(query.interpreted, "{blank}{name}:{}", bound.day);
        }
        query
    }
}

/// A piece of the normal form, in quotation marks where it needs them.
fn piece(before: &str, text: &str) -> String {
    let needs_marks = text.contains(char::is_whitespace)
        || !before.ends_with(':') && begins_with_field(text)
        || before.is_empty() && is_operator(text);
    if needs_marks { in_marks(before, text) } else { format!("{before}{text}") }
}

fn in_marks(before: &str, text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    format!("{before}\"{}\"", words.join(" "))
}
