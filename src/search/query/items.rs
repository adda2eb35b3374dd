//! A query cut into its items: words, quoted texts, with their signs and fields.
//!
//! Whatever does not fit the language is text.

/// A part of a query between blanks or quotation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item<'q> {
    pub(super) sign: Option<Sign>,
    pub(super) field: Option<QueryField>,
    pub(super) text: &'q str,
    /// With its field and quotation marks: what it is if it does not fit the field.
    pub(super) source: &'q str,
    pub(super) is_quoted: bool,
    /// Whether `OR` stands between it and the item before.
    pub(super) is_alternative: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Required,
    Excluded,
}

/// What a part of a query is about, if not the whole text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueryField {
    Title,
    Tag,
    Path,
    After,
    Before,
}

const FIELDS: [(&str, QueryField); 5] = [
    ("title:", QueryField::Title),
    ("tag:", QueryField::Tag),
    ("path:", QueryField::Path),
    ("after:", QueryField::After),
    ("before:", QueryField::Before),
];

const NOT: &str = "NOT";
const OR: &str = "OR";
const AND: &str = "AND";

/// What follows `NOT` in messages that people look for, as in `HTTP 404 NOT FOUND`.
const MESSAGES: [&str; 14] = [
    "ALLOWED",
    "AVAILABLE",
    "AUTHORIZED",
    "DEFINED",
    "EXIST",
    "EXISTS",
    "FOUND",
    "IMPLEMENTED",
    "NULL",
    "PERMITTED",
    "READY",
    "RESPONDING",
    "SUPPORTED",
    "VALID",
];

/// Cuts a query into its items, in one pass.
pub(super) fn items(query: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut at = 0;
    // L17: a hyphen within a word is no minus.
    let mut is_after_blank = true;
    while let Some(first) = query[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            is_after_blank = true;
            continue;
        }
        if is_after_blank && opens_group(&query[at..]) {
            at += first.len_utf8();
            continue;
        }
        let sign = if is_after_blank { sign_of(&query[at..]) } else { None };
        at += usize::from(sign.is_some());
        let field = if is_after_blank { field_at(&query[at..]) } else { None };
        is_after_blank = false;
        let rest = &query[at..];
        if let Some((length, field)) = field
            && let Some((text, is_quoted, read)) = value(&rest[length..])
        {
            let source = &rest[..length + read];
            let text = if is_quoted { text } else { without_punctuation(text) };
            let field = Some(field);
            let item = Item { sign, field, text, source, is_quoted, is_alternative: false };
            add(&mut items, item);
            at += source.len();
        } else if let Some((text, is_quoted, read)) = value(rest) {
            let (field, source) = (None, text);
            let item = Item { sign, field, text, source, is_quoted, is_alternative: false };
            add(&mut items, item);
            at += read;
        } else {
            // A quotation mark that none follows.
            at += rest.chars().next().map_or(0, char::len_utf8);
        }
    }
    items
}

/// Adds an item. `NOT word` is `-word`, and `OR` makes alternatives, as other engines have
/// it.
fn add<'q>(items: &mut Vec<Item<'q>>, mut item: Item<'q>) {
    let is_free = item.sign.is_none() && !is_message(items, &item);
    if is_free && items.pop_if(|before| before.is(NOT)).is_some() {
        item.sign = Some(Sign::Excluded);
    }
    if items.len() > 1 && items.pop_if(|before| before.is(OR)).is_some() {
        item.is_alternative = true;
    }
    items.push(item);
}

/// Whether `NOT` before this word is a part of what is looked for: a message is all in
/// capitals, or is known.
fn is_message(before: &[Item<'_>], item: &Item<'_>) -> bool {
    if item.field.is_some() || item.is_quoted {
        return false;
    }
    let [.., first, _not] = before else { return MESSAGES.contains(&item.text) };
    let is_capital = |letter: char| !letter.is_alphabetic() || letter.is_uppercase();
    let is_shouted = first.sign.is_none() && first.text.chars().all(is_capital);
    MESSAGES.contains(&item.text) || is_shouted && has_capitals_only(item.text)
}

impl Item<'_> {
    fn is(&self, operator: &str) -> bool {
        let is_word = self.sign.is_none() && self.field.is_none() && !self.is_quoted;
        is_word && self.text == operator
    }
}

fn has_capitals_only(text: &str) -> bool {
    text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase)
}

/// Whether a text would be read as something else than words if it began an item.
pub(super) fn begins_with_field(text: &str) -> bool {
    field_at(text).is_some()
}

/// Whether a text would be read as something else than a word if it were an item.
pub(super) fn is_operator(text: &str) -> bool {
    text == NOT || text == OR || text == AND
}

/// Whether a parenthesis stands here before something that means more than words. Others
/// are text, and no words.
fn opens_group(rest: &str) -> bool {
    let inner = rest.trim_start_matches('(');
    inner.len() < rest.len()
        && (field_at(inner).is_some()
            || sign_of(inner).is_some()
            || inner.strip_prefix(NOT).is_some_and(|rest| rest.starts_with(char::is_whitespace))
            || inner.starts_with(is_quotation_mark))
}

/// The value of a field without the comma behind it, or the parenthesis that it closes.
fn without_punctuation(value: &str) -> &str {
    let mut value = value;
    loop {
        let shorter = value.trim_end_matches([',', ';']);
        let opened = shorter.matches('(').count();
        let shorter = match shorter.strip_suffix(')') {
            Some(inner) if opened < shorter.matches(')').count() => inner,
            _ => shorter,
        };
        if shorter.len() == value.len() {
            return value;
        }
        value = shorter;
    }
}

/// The sign before a word. A lone one is text (L19), and so are several, as in
/// `--dry-run`.
fn sign_of(rest: &str) -> Option<Sign> {
    let mut characters = rest.chars();
    let sign = match characters.next()? {
        '-' => Sign::Excluded,
        '+' => Sign::Required,
        _ => return None,
    };
    let next = characters.next()?;
    (!next.is_whitespace() && next != '-' && next != '+').then_some(sign)
}

fn field_at(rest: &str) -> Option<(usize, QueryField)> {
    let names =
        |name: &str| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let (name, field) = FIELDS.into_iter().find(|(name, _)| names(name))?;
    Some((name.len(), field))
}

/// The text that begins here, whether it stands between quotation marks, and how many
/// bytes it takes with them.
fn value(rest: &str) -> Option<(&str, bool, usize)> {
    let first = rest.chars().next()?;
    if is_quotation_mark(first) {
        let inner = &rest[first.len_utf8()..];
        let (end, closing) = inner.char_indices().find(|(_, sign)| is_quotation_mark(*sign))?;
        return Some((&inner[..end], true, first.len_utf8() + end + closing.len_utf8()));
    }
    let ends = |character: char| character.is_whitespace() || is_quotation_mark(character);
    let end = rest.find(ends).unwrap_or(rest.len());
    (end > 0).then_some((&rest[..end], false, end))
}

/// Editors and phones turn straight quotation marks into others.
pub(super) fn is_quotation_mark(character: char) -> bool {
    matches!(character, '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '＂' | '「' | '」' | '『' | '』')
}
