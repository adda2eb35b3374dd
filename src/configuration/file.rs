//! The TOML file → raw configuration.

use std::path::Path;

use toml::{Table, Value};

use super::faults::Faults;
use super::limits::{CLIENTS, Limit, Rate};
use super::raw::{Given, Key, RawConfiguration, RawUser, Source, nearest};

/// Reads the text of the configuration file at `path`, noting everything that is wrong.
#[must_use]
pub fn parse(path: &Path, text: &str, faults: &mut Faults) -> RawConfiguration {
    let mut raw = RawConfiguration::default();
    let table = match text.parse::<Table>() {
        Ok(table) => table,
        Err(error) => {
            let error = error.to_string();
            faults.unread_file(path, format!("it is not TOML: {}", error.trim_end()));
            return raw;
        }
    };
    for (name, value) in table {
        match (&*name, value) {
            ("user", Value::Array(users)) => {
                let users = users.into_iter().enumerate();
                raw.users.extend(users.map(|(index, user)| parse_user(index, user, faults)));
            }
            ("limits", Value::Table(limits)) => {
                for (limit, value) in limits {
                    let source = Source::File(format!("limits.{limit}"));
                    if let Some(value) = scalar(value, &source, faults) {
                        raw.limits.insert(limit, Given { value, source });
                    }
                }
            }
            ("mcp" | "search", Value::Table(table)) => {
                for (key, value) in table {
                    take(&mut raw, Some(&name), &key, value, faults);
                }
            }
            ("user" | "limits" | "mcp" | "search", _) => {
                let tables = "[[user]], [limits], [mcp] or [search]";
                faults.note(&*name, format!("it is a table: write {tables}, not {name} ="));
            }
            (_, value) => take(&mut raw, None, &name, value, faults),
        }
    }
    raw
}

/// Takes one scalar of a table of the file, or of its top.
fn take(
    raw: &mut RawConfiguration,
    table: Option<&str>,
    name: &str,
    value: Value,
    faults: &mut Faults,
) {
    let shown = table.map_or_else(|| name.to_owned(), |table| format!("{table}.{name}"));
    let Some(key) = Key::of_table(table).find(|key| key.name() == name) else {
        let tables = ["user", "limits", "mcp", "search"].into_iter().filter(|_| table.is_none());
        return unknown(&shown, name, Key::of_table(table).map(Key::name).chain(tables), faults);
    };
    let source = Source::File(shown);
    if let Some(value) = scalar(value, &source, faults) {
        raw.scalars.insert(key, Given { value, source });
    }
}

fn parse_user(index: usize, value: Value, faults: &mut Faults) -> RawUser {
    let mut user = RawUser::default();
    let at = |key: &str| Source::File(format!("user[{index}].{key}"));
    let Value::Table(table) = value else {
        faults.note(format!("user[{index}]"), "it must be a table: write [[user]]");
        return user;
    };
    for (name, value) in table {
        match (&*name, value) {
            ("name", value) => {
                user.name = scalar(value, &at("name"), faults)
                    .map(|value| Given { value, source: at("name") });
            }
            ("inbox", value) => {
                user.inbox = scalar(value, &at("inbox"), faults)
                    .map(|value| Given { value, source: at("inbox") });
            }
            ("sub", Value::Array(subjects)) => {
                for value in subjects {
                    if let Some(value) = scalar(value, &at("sub"), faults) {
                        user.subjects.push(Given { value, source: at("sub") });
                    }
                }
            }
            ("vaults", Value::Table(vaults)) => {
                for (vault, value) in vaults {
                    let source = at(&format!("vaults.{vault}"));
                    if let Some(value) = scalar(value, &source, faults) {
                        user.vaults.push((vault, Given { value, source }));
                    }
                }
            }
            ("sub", _) => faults.note(at("sub").to_string(), "write a list: sub = [\"…\"]"),
            ("vaults", _) => {
                let cure = "write a table: vaults = { notes = \"/path\" }";
                faults.note(at("vaults").to_string(), cure);
            }
            _ => {
                unknown(
                    &format!("user[{index}].{name}"),
                    &name,
                    ["name", "sub", "vaults", "inbox"],
                    faults,
                );
            }
        }
    }
    user
}

/// The text of a scalar. Lists of texts are joined by commas, which is how the
/// environment and the flags spell them.
fn scalar(value: Value, source: &Source, faults: &mut Faults) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Integer(number) => Some(number.to_string()),
        Value::Array(items) if items.iter().all(Value::is_str) => {
            Some(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","))
        }
        Value::Array(_)
        | Value::Float(_)
        | Value::Boolean(_)
        | Value::Datetime(_)
        | Value::Table(_) => {
            faults.note(source.to_string(), "it must be a text or a whole number");
            None
        }
    }
}

fn unknown(
    shown: &str,
    name: &str,
    known: impl IntoIterator<Item = &'static str> + Clone,
    faults: &mut Faults,
) {
    let cure = match nearest(name, known.clone()) {
        Some(meant) => format!("no such key; did you mean {meant}?"),
        None => {
            format!("no such key; there are {}", known.into_iter().collect::<Vec<_>>().join(", "))
        }
    };
    faults.note(shown, cure);
}

/// Notes a limit that does not exist.
pub(super) fn unknown_limit(given: &Given, name: &str, faults: &mut Faults) {
    let names = || {
        Limit::ALL.map(Limit::name).into_iter().chain(Rate::ALL.map(Rate::name)).chain([CLIENTS])
    };
    let cure = match nearest(name, names()) {
        Some(meant) => format!("no such limit; did you mean {meant}?"),
        None => {
            format!("no such limit; there are {}", names().collect::<Vec<_>>().join(", "))
        }
    };
    faults.wrong(given, cure);
}
