//! Arguments as models write them: numbers in quotes, `null` for "not given", one
//! text where a list belongs.
//!
//! What is out of range is moved into it, since a refusal costs the model a turn. What
//! makes no sense at all is still an error in words.

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer};
use serde_json::Value;

/// A whole number: also in quotes, or with a fraction, which is cut off. 0 stands for
/// "not given", and for everything below.
pub(super) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let value = Value::deserialize(deserializer)?;
    whole_of(&value).ok_or_else(|| D::Error::custom(format!("{value} is no whole number")))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast from a float stops at the ends of the range, as is wanted"
)]
fn whole_of(value: &Value) -> Option<u32> {
    let number = match value {
        Value::Null => 0.0,
        Value::Number(number) => number.as_f64()?,
        Value::String(text) if text.trim().is_empty() => 0.0,
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| !number.is_nan())?,
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(number as u32)
}

/// A text that may be left out.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text),
        other => Err(D::Error::custom(format!("{other} is no text"))),
    }
}

/// A list of texts; one text is a list of one.
pub(super) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let text = |value| match value {
        Value::String(text) => Ok(text),
        other => Err(D::Error::custom(format!("{other} is no text"))),
    };
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(Vec::new()),
        Value::Array(values) => values.into_iter().map(text).collect(),
        one => Ok(vec![text(one)?]),
    }
}

/// Yes or no, yes if it is not given.
pub(super) fn yes_unless_no<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(true),
        Value::Bool(flag) => Ok(flag),
        Value::Number(number) => Ok(number.as_f64() != Some(0.0)),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "" | "true" | "yes" | "1" => Ok(true),
            "false" | "no" | "0" => Ok(false),
            _ => Err(D::Error::custom("write true or false")),
        },
        other => Err(D::Error::custom(format!("{other} is neither true nor false"))),
    }
}

/// A number of results that was asked for, within what is allowed.
pub(super) const fn limit(given: u32, default: u32, most: u32) -> usize {
    let limit = if given == 0 { default } else { given };
    if limit > most { most as usize } else { limit as usize }
}
