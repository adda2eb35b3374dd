//! The block of data at the top of a note, in every form that people have.

mod block;
mod dates;
mod facts;
mod linewise;
mod yaml;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::vault::markdown::lines::Lines;
use crate::vault::markdown::{Frontmatter, TagUse};

use self::block::{Block, Syntax};
use self::yaml::Reading;

/// The largest block that is read as YAML or TOML, in bytes. People write a few
/// hundred; what a program has dumped there is read line by line.
const LARGEST: usize = 256 * 1024;

/// Where the text begins: behind a byte order mark.
pub(super) fn start_of(source: &str) -> usize {
    if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// The frontmatter and what it says about the note.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) frontmatter: Frontmatter,
    pub(super) title: Option<String>,
    pub(super) aliases: Vec<String>,
    pub(super) tags: Vec<TagUse>,
    pub(super) date: Option<Timestamp>,
    pub(super) language: Option<String>,
}

/// Reads what is at the top of `source`, behind a byte order mark.
pub(super) fn read(source: &str, lines: &Lines, zone: &TimeZone) -> Head {
    let Some(block) = Block::find(source) else { return Head::default() };
    let inner = &source[block.inner.clone()];
    let (values, error) = match values(inner, block.syntax) {
        Ok(Reading { values, fault }) => (values, fault),
        Err(error) => {
            let Some(values) = linewise::read(inner, block.syntax) else {
                // A letterhead or a rule, and what follows it: text (L1).
                let frontmatter = Frontmatter { error: Some(error), ..Frontmatter::default() };
                return Head { frontmatter, ..Head::default() };
            };
            (values, Some(error))
        }
    };
    let place = facts::Place { source, block: block.inner.clone(), lines };
    Head {
        title: facts::title(&values),
        aliases: facts::aliases(&values),
        tags: facts::tags(&values, &place),
        date: dates::of_note(&values, zone),
        language: facts::language(&values),
        frontmatter: Frontmatter { values, error, bytes: block.bytes },
    }
}

/// The entries of a block.
fn values(inner: &str, syntax: Syntax) -> Result<Reading, String> {
    if inner.len() > LARGEST {
        return Err(format!("it is larger than {} KiB", LARGEST / 1024));
    }
    match syntax {
        Syntax::Yaml => yaml::read(inner),
        Syntax::Toml => {
            let table = toml::from_str(inner).map_err(|error| error.message().to_owned())?;
            Ok(Reading { values: of_toml(table), fault: None })
        }
    }
}

fn of_toml(table: toml::Table) -> Map<String, Value> {
    table.into_iter().map(|(key, value)| (key, json_of_toml(value))).collect()
}

fn json_of_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        // JSON has no infinity; its name says what stood there.
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map_or_else(|| number.to_string().into(), Value::Number),
        toml::Value::Boolean(truth) => truth.into(),
        toml::Value::Datetime(moment) => moment.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(json_of_toml).collect(),
        toml::Value::Table(table) => of_toml(table).into(),
    }
}
