//! How long a fetched document is used without asking again.

use std::time::Duration;

/// What an answer's `Cache-Control` says counts between these bounds: below, everybody
/// who asks us would have us ask others; above, a withdrawn key would live on. In seconds.
const BOUNDS: std::ops::RangeInclusive<u64> = 5 * 60..=24 * 60 * 60;
/// The same, if the answer does not say.
const BY_DEFAULT: u64 = 60 * 60;

/// How long an answer with this `Cache-Control` stays fresh (RFC 9111 section 5.2.2).
#[must_use]
pub fn lifetime(cache_control: Option<&str>) -> Duration {
    let directives = cache_control.unwrap_or_default().split(',').map(str::trim);
    let mut seconds = BY_DEFAULT;
    for directive in directives {
        let lower = directive.to_ascii_lowercase();
        if matches!(lower.as_str(), "no-store" | "no-cache") {
            seconds = 0;
            break;
        }
        if let Some(age) = lower.strip_prefix("max-age=") {
            seconds = age.trim_matches('"').parse().unwrap_or(0);
        }
    }
    Duration::from_secs(seconds.clamp(*BOUNDS.start(), *BOUNDS.end()))
}
