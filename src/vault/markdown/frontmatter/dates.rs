//! Dates and times as people write them.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::vault::markdown::frontmatter::facts::value;

/// The keys of dates: of the last change before that of the making.
const KEYS: [&str; 12] = [
    "updated",
    "modified",
    "lastmod",
    "last_modified",
    "date_modified",
    "date modified",
    "updated_at",
    "date",
    "created",
    "date_created",
    "date created",
    "created_at",
];

/// When a note says that it was last changed, else made.
pub(super) fn of_note(values: &Map<String, Value>, zone: &TimeZone) -> Option<Timestamp> {
    KEYS.iter().find_map(|key| match value(values, key)? {
        Value::String(text) => moment(text, zone),
        _ => None,
    })
}

/// A moment that is written in ISO 8601 or nearly so, also as a link to a daily note.
fn moment(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    let text = iso(text).unwrap_or_else(|| text.to_owned());
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let time = text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(DateTime::from));
    zone.to_timestamp(time.ok()?).ok()
}

/// A date or a time in the form of ISO 8601, if the text is one: `2024-5-7 10:20 +2`
/// becomes `2024-05-07T10:20+02:00`. A time alone stays as it is.
pub(super) fn iso(text: &str) -> Option<String> {
    let (date, rest) = split_date(text)?;
    if rest.is_empty() {
        return Some(date);
    }
    let time = rest.strip_prefix(['T', 't', ' ', '\t'])?.trim_start();
    let end = time.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.'));
    let (clock, offset) = time.split_at(end.unwrap_or(time.len()));
    let mut parts = clock.splitn(3, ':');
    let hour = padded(parts.next()?)?;
    let minute = padded(parts.next()?)?;
    let second = match parts.next() {
        None => String::new(),
        Some(second) => {
            let (whole, fraction) = second.split_once('.').unwrap_or((second, ""));
            let point = if fraction.is_empty() { "" } else { "." };
            if !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
                return None;
            }
            format!(":{}{point}{fraction}", padded(whole)?)
        }
    };
    Some(format!("{date}T{hour}:{minute}{second}{}", offset_of(offset.trim())?))
}

/// A date with its parts padded, and what is behind it.
fn split_date(text: &str) -> Option<(String, &str)> {
    let mut parts = text.splitn(3, '-');
    let (year, month, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let is_year = year.len() == 4 && year.bytes().all(|digit| digit.is_ascii_digit());
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (day, rest) = rest.split_at(end);
    let date = format!("{year}-{}-{}", padded(month)?, padded(day)?);
    is_year.then_some((date, rest))
}

/// Two digits, where one or two are written.
fn padded(digits: &str) -> Option<String> {
    let is_number = matches!(digits.len(), 1 | 2) && digits.bytes().all(|c| c.is_ascii_digit());
    is_number.then(|| format!("{digits:0>2}"))
}

fn offset_of(offset: &str) -> Option<String> {
    if offset.is_empty() || offset.eq_ignore_ascii_case("z") {
        return Some(offset.to_ascii_uppercase());
    }
    let digits = offset.strip_prefix(['+', '-'])?;
    let (hour, minute) = match (digits.split_once(':'), digits.len()) {
        (Some(parts), _) => parts,
        (None, 4) => digits.split_at(2),
        (None, _) => (digits, "00"),
    };
    Some(format!("{}{}:{}", &offset[..1], padded(hour)?, padded(minute)?))
}
