//! Dates as they are written in queries.

use jiff::civil::Date;
use jiff::{Span, ZonedDateTime};

/// The day that a text means: `2024-05-17`, or the first of `2024-05` or `2024`, or
/// one that is as long ago as `7d`, `2w`, `3m`, `1y`, or `today`, `yesterday`.
pub(super) fn day(text: &str, today: &ZonedDateTime) -> Option<Date> {
    // Queries are sentences, too: `after:2024, soup`.
    let text = text.trim().trim_end_matches([',', ';', '.', ')']).to_ascii_lowercase();
    match text.as_str() {
        "today" => return Some(today.date()),
        "yesterday" => return today.date().yesterday().ok(),
        _ => {}
    }
    relative(&text, today).or_else(|| absolute(&text))
}

fn relative(text: &str, today: &ZonedDateTime) -> Option<Date> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let count = number(digits, 1..=4)?;
    let span = match unit {
        "d" => Span::new().try_days(count),
        "w" => Span::new().try_weeks(count),
        "m" => Span::new().try_months(count),
        "y" => Span::new().try_years(count),
        _ => return None,
    };
    today.date().checked_sub(span.ok()?).ok()
}

fn absolute(text: &str) -> Option<Date> {
    let mut fields = text.split(['-', '/']);
    let year = number(fields.next()?, 4..=4)?;
    let month = fields.next().map_or(Some(1), |month| number(month, 1..=2))?;
    let day = fields.next().map_or(Some(1), |day| number(day, 1..=2))?;
    if fields.next().is_some() {
        return None;
    }
    Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
}

fn number(digits: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let is_number =
        lengths.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}
