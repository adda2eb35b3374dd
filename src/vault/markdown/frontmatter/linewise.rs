//! Reads `key: value` line by line, where the block is no YAML or TOML as a whole.

use serde_json::{Map, Value};

use crate::vault::markdown::frontmatter::block::{Syntax, ends_of_lines};

/// The entries that can be made out, or `None` if the block is no data but text: a
/// letterhead, or what stands between two rules (L1).
pub(super) fn read(inner: &str, syntax: Syntax) -> Option<Map<String, Value>> {
    let mut reader = Reader::default();
    let mut start = 0;
    for end in ends_of_lines(inner, 0) {
        reader.take(inner[start..end].trim_end(), syntax);
        start = end;
    }
    reader.finish()
}

#[derive(Debug, Default)]
struct Reader {
    values: Map<String, Value>,
    /// The key whose value may follow on lines of its own.
    open: Option<(String, Vec<Value>)>,
    /// Lines that look like data, and those that look like text.
    data: usize,
    text: usize,
    has_known_key: bool,
}

impl Reader {
    fn take(&mut self, line: &str, syntax: Syntax) {
        let trimmed = line.trim_start();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            return;
        }
        let item =
            trimmed.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' '));
        if let (Some(item), Some((_, items))) = (item, &mut self.open) {
            let item = scalar(item);
            items.extend((!item.is_empty()).then_some(Value::String(item)));
            self.data += 1;
        } else if trimmed.len() < line.len() {
            // It belongs to what is above, which is more than one line can say.
            self.data += usize::from(self.open.is_some());
        } else if let Some((key, value)) = key_and_value(line, syntax) {
            self.close();
            self.data += 1;
            self.has_known_key |= is_known(key);
            if value.is_empty() {
                self.open = Some((key.to_owned(), Vec::new()));
            } else {
                self.enter(key.to_owned(), value_of(value));
            }
        } else {
            self.text += 1;
        }
    }

    /// The first that has a value counts.
    fn enter(&mut self, key: String, value: Value) {
        let entry = self.values.entry(key).or_insert(Value::Null);
        if entry.is_null() {
            *entry = value;
        }
    }

    fn close(&mut self) {
        if let Some((key, items)) = self.open.take() {
            let value = if items.is_empty() { Value::Null } else { Value::Array(items) };
            self.enter(key, value);
        }
    }

    fn finish(mut self) -> Option<Map<String, Value>> {
        self.close();
        let is_data = self.text == 0 || (self.has_known_key && self.data >= self.text);
        (is_data && self.data > 0).then_some(self.values)
    }
}

/// Keys that nobody writes into a letterhead at the start of a line.
fn is_known(key: &str) -> bool {
    const KNOWN: [&str; 12] = [
        "title",
        "tags",
        "tag",
        "keywords",
        "aliases",
        "alias",
        "date",
        "created",
        "updated",
        "modified",
        "cssclass",
        "cssclasses",
    ];
    KNOWN.iter().any(|known| known.eq_ignore_ascii_case(key))
}

/// A key of at most a few words, and what is behind its sign.
fn key_and_value(line: &str, syntax: Syntax) -> Option<(&str, &str)> {
    let (key, value) = match syntax {
        Syntax::Yaml => {
            let (key, value) = line.split_once(':')?;
            let is_key = value.is_empty() || value.starts_with([' ', '\t']);
            is_key.then_some((key, value))?
        }
        Syntax::Toml => line.split_once('=')?,
    };
    let key = key.trim().trim_matches(['"', '\'']);
    let of_key = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/');
    let is_key = !key.is_empty() && key.len() <= 80 && key.chars().all(of_key);
    is_key.then_some((key, value.trim()))
}

fn value_of(value: &str) -> Value {
    let list = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    // Not so `[[a link]]`.
    match list.filter(|list| !list.starts_with('[')) {
        Some(list) => {
            list.split(',').map(scalar).filter(|item| !item.is_empty()).map(Value::String).collect()
        }
        None => Value::String(scalar(value)),
    }
}

/// A value without the quotes around it and the comment behind it.
fn scalar(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote))
        {
            return inner.to_owned();
        }
    }
    value.split(" #").next().unwrap_or(value).trim().to_owned()
}
