//! YAML to JSON, within bounds.
//!
//! The parser only tells what is written. What it means is decided here, because people
//! write what no schema allows: keys twice, dates without quotes, an alias of an alias.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, StrInput};
use serde_json::{Map, Number, Value};

use crate::vault::markdown::frontmatter::dates::iso;

/// How much the aliases of a block may repeat, in bytes.
const MOST_REPEATED: usize = 1024 * 1024;

/// The entries of a block, and what is wrong with it although it could be read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Reading {
    pub(super) values: Map<String, Value>,
    pub(super) fault: Option<String>,
}

/// Reads a block.
///
/// # Errors
///
/// Why it is no YAML, or no mapping, in words.
pub(super) fn read(inner: &str) -> Result<Reading, String> {
    // A byte order mark within is no text, and the parser takes a lone carriage
    // return for the end of a line as we do.
    let mut reader = Reader {
        parser: Parser::new_from_str(inner),
        anchors: HashMap::new(),
        repeated: 0,
        fault: None,
    };
    loop {
        match reader.next()? {
            Event::StreamStart | Event::DocumentStart(..) => {}
            Event::StreamEnd | Event::DocumentEnd if inner.trim().is_empty() => {
                return Ok(Reading::default());
            }
            event => match reader.value(event)? {
                Value::Object(values) => {
                    let mut rest = reader.next()?;
                    if rest == Event::DocumentEnd {
                        rest = reader.next()?;
                    }
                    let is_whole = rest == Event::StreamEnd;
                    let fault = reader.fault.take();
                    return if is_whole {
                        Ok(Reading { values, fault })
                    } else {
                        Err("it holds several documents".to_owned())
                    };
                }
                _ => return Err("it is no list of keys and values".to_owned()),
            },
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Value>,
    repeated: usize,
    fault: Option<String>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Event<'a>, String> {
        match self.parser.next_event() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => Err(error.to_string()),
            None => Ok(Event::StreamEnd),
        }
    }

    /// The value that begins with an event. The parser bounds how deep they nest.
    fn value(&mut self, event: Event<'a>) -> Result<Value, String> {
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                let value = match style {
                    ScalarStyle::Plain if !is_text => plain(&text),
                    _ => Value::String(text.into_owned()),
                };
                (value, anchor)
            }
            Event::SequenceStart(_, anchor, _) => (self.sequence()?, anchor),
            Event::MappingStart(_, anchor, _) => (self.mapping()?, anchor),
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned().unwrap_or_default();
                self.repeat(&value)?;
                return Ok(value);
            }
            _ => return Err("it is no list of keys and values".to_owned()),
        };
        if anchor != 0 {
            self.repeat(&value)?;
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn sequence(&mut self) -> Result<Value, String> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Value::Array(items)),
                event => items.push(self.value(event)?),
            }
        }
    }

    fn mapping(&mut self) -> Result<Value, String> {
        let mut entries = Map::new();
        loop {
            let key = match self.next()? {
                Event::MappingEnd => return Ok(Value::Object(entries)),
                Event::Scalar(text, ..) => text.into_owned(),
                // `{{title}}` of a template, as a rule.
                _ => return Err("a key is no text".to_owned()),
            };
            let event = self.next()?;
            let value = self.value(event)?;
            match entries.get_mut(&key) {
                None => {
                    entries.insert(key, value);
                }
                Some(entry) => {
                    self.fault.get_or_insert_with(|| format!("the key `{key}` is there twice"));
                    // An empty one of a template must not hide what was filled in.
                    if !value.is_null() {
                        *entry = value;
                    }
                }
            }
        }
    }

    /// Counts what an alias repeats, so that a few lines cannot become gigabytes.
    fn repeat(&mut self, value: &Value) -> Result<(), String> {
        self.repeated += weight(value);
        if self.repeated > MOST_REPEATED {
            return Err("its aliases repeat too much".to_owned());
        }
        Ok(())
    }
}

/// About how many bytes a value takes.
fn weight(value: &Value) -> usize {
    let inner: usize = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| key.len() + weight(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    inner + 32
}

/// What a text without quotes means: YAML 1.2 with the dates of 1.1. What JSON would
/// change (`007`, a number of thirty digits, `.inf`) stays a text.
pub(super) fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    if !text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        return Value::String(text.to_owned());
    }
    number(text)
        .map(Value::Number)
        .or_else(|| iso(text).map(Value::String))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

fn number(text: &str) -> Option<Number> {
    let radix = |digits: &str, radix| i64::from_str_radix(digits, radix).ok().map(Number::from);
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let digits = text.trim_start_matches(['+', '-']);
    let is_padded = digits.len() > 1
        && digits.starts_with('0')
        && digits[1..].starts_with(|next: char| next.is_ascii_digit());
    let of_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if is_padded || !text.bytes().all(of_number) || !digits.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.into());
    }
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_integer {
        return text.parse::<u64>().ok().map(Number::from);
    }
    Number::from_f64(text.parse().ok()?)
}
