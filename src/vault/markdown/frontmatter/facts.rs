//! What the frontmatter says about its note: title, aliases, tags, language.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::vault::markdown::TagUse;
use crate::vault::markdown::frontmatter::block::ends_of_lines;
use crate::vault::markdown::lines::Lines;

/// The keys of tags (L14). Those of `keywords` may be of several words.
const TAG_KEYS: [&str; 3] = ["tags", "tag", "keywords"];

/// After so many tags that are not written as they are read, no more are looked for.
const MOST_MISSES: usize = 16;

/// Where the block is.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) source: &'a str,
    pub(super) block: Range<usize>,
    pub(super) lines: &'a Lines,
}

/// The value of a key in any letter case.
pub(super) fn value<'a>(values: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    values.get(key).or_else(|| {
        values.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    })
}

pub(super) fn title(values: &Map<String, Value>) -> Option<String> {
    text(value(values, "title")?)
}

pub(super) fn language(values: &Map<String, Value>) -> Option<String> {
    ["lang", "language"].iter().find_map(|key| text(value(values, key)?))
}

pub(super) fn aliases(values: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    for key in ["aliases", "alias"] {
        match value(values, key) {
            Some(Value::Array(items)) => found.extend(items.iter().filter_map(text)),
            Some(Value::String(names)) => {
                let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
                found.extend(names.map(str::to_owned));
            }
            Some(other) => found.extend(text(other)),
            None => {}
        }
    }
    found
}

/// The tags, each with the line in which it stands.
pub(super) fn tags(values: &Map<String, Value>, place: &Place<'_>) -> Vec<TagUse> {
    let mut found = Vec::new();
    for key in TAG_KEYS {
        let Some(value) = value(values, key) else { continue };
        let mut names = Vec::new();
        collect(value, key == "keywords", &mut names);
        if names.is_empty() {
            continue;
        }
        let mut from = place.start_of(key);
        let mut misses = 0;
        for tag in names {
            let behind = &place.source[from..place.block.end];
            let at = if misses < MOST_MISSES { behind.find(&tag) } else { None };
            misses += usize::from(at.is_none());
            let line = place.lines.line_of(from + at.unwrap_or(0));
            from += at.map_or(0, |at| at + tag.len());
            found.push(TagUse { tag, line, is_in_frontmatter: true });
        }
    }
    found
}

impl Place<'_> {
    /// Behind a key at the start of a line; the block's start if it is not there.
    fn start_of(&self, key: &str) -> usize {
        let mut start = self.block.start;
        for end in ends_of_lines(&self.source[..self.block.end], self.block.start) {
            let line = self.source[start..end].trim_start_matches(['"', '\'']);
            let behind = line.get(..key.len()).filter(|name| name.eq_ignore_ascii_case(key));
            if behind.is_some() && !line[key.len()..].starts_with(char::is_alphanumeric) {
                return start + key.len();
            }
            start = end;
        }
        self.block.start
    }
}

/// The tags of a value, at whatever depth.
fn collect(value: &Value, are_phrases: bool, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(text) => found.extend(item_tags(text)),
                    other => collect(other, are_phrases, found),
                }
            }
        }
        Value::String(text) if are_phrases => {
            found.extend(text.split([',', ';']).filter_map(tag));
        }
        Value::String(text) => {
            found.extend(text.split([',', ' ', '\t', '\n']).filter_map(tag));
        }
        Value::Number(_) | Value::Bool(_) => found.extend(text(value)),
        Value::Null | Value::Object(_) => {}
    }
}

/// The tags of one item of a list: one, which may be of several words, unless each of
/// its words has a `#` or commas are between them.
fn item_tags(item: &str) -> Vec<String> {
    let are_marked = item.split_whitespace().all(|word| word.starts_with('#'));
    if are_marked {
        item.split_whitespace().filter_map(tag).collect()
    } else {
        item.split(',').filter_map(tag).collect()
    }
}

/// A tag without `#` and the signs of a list that was written as a text (L7).
fn tag(text: &str) -> Option<String> {
    const AROUND: [char; 6] = ['[', ']', '"', '\'', ' ', '\t'];
    let tag = text.trim_matches(AROUND).trim_start_matches('#').trim_matches('/');
    let tag = tag.trim_matches(AROUND);
    (!tag.is_empty()).then(|| tag.to_owned())
}

/// A value of one line as text.
fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}
