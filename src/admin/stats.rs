//! `brain-mcp stats`: what a vault consists of, and how well it is indexed.

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::admin::questions::{QuestionFlags, told};
use crate::admin::terminal::{Paint, Role, unless_closed};
use crate::vault::answers::{IndexHealth, VaultStats, Watching};

/// So many folders, tags and files are named on the terminal; JSON has all.
const MOST_NAMED: usize = 15;

/// Runs the command: exit status 1 if there are no notes.
///
/// # Errors
///
/// Whatever keeps the vault from answering, in words for the owner.
pub fn run(flags: &QuestionFlags) -> anyhow::Result<ExitCode> {
    let vault = flags.open()?;
    let stats = vault.stats(&flags.viewer()).map_err(|error| told(error, &vault))?;
    let mut answer = io::stdout().lock();
    let written = if flags.json {
        writeln!(answer, "{:#}", as_json(&stats))
    } else {
        write_stats(&mut answer, &stats, Paint::of(&io::stdout()))
    };
    unless_closed(written)?;
    let is_empty = stats.notes + stats.inbox_notes == 0;
    Ok(if is_empty { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Writes the figures for people.
///
/// # Errors
///
/// Those of `answer`.
pub fn write_stats(answer: &mut impl Write, stats: &VaultStats, paint: Paint) -> io::Result<()> {
    let VaultStats { links: (resolved, broken), health, .. } = stats;
    let mut line = |name: &str, value: &str| {
        let name = paint.text(Role::Title, &format!("{name:<13}"));
        writeln!(answer, "{name}{}", paint_plain(value))
    };
    line("notes", &format!("{}, {}", stats.notes, bytes(stats.bytes)))?;
    line("inbox", &stats.inbox_notes.to_string())?;
    line("links", &format!("{resolved}, and {broken} that lead nowhere"))?;
    line("orphans", &stats.orphans.to_string())?;
    let tags = stats.top_tags.iter().map(|tag| (format!("#{}", tag.tag), tag.notes));
    line("tags", &format!("{}: {}", stats.tags, named(tags)))?;
    let folder = |(name, notes): &(String, usize)| {
        (if name.is_empty() { ".".to_owned() } else { name.clone() }, *notes)
    };
    line("folders", &named(stats.folders.iter().map(folder)))?;
    line("frontmatter", &format!("{} that cannot be read", stats.invalid_frontmatter))?;
    write_health(answer, health, paint)
}

fn write_health(answer: &mut impl Write, health: &IndexHealth, paint: Paint) -> io::Result<()> {
    let mut line = |name: &str, value: &str| {
        let name = paint.text(Role::Title, &format!("{name:<13}"));
        writeln!(answer, "{name}{}", paint_plain(value))
    };
    line("indexed", &format!("{} of {} files", health.indexed, health.files))?;
    if let Some(watching) = &health.watching {
        let how = match watching {
            Watching::Events => "the system tells".to_owned(),
            Watching::Polling(reason) => format!("by looking again and again: {reason}"),
        };
        line("changes", &how)?;
    }
    if let Some(last) = health.last_change {
        let lag = health.lag_milliseconds.map(|lag| format!(", taken in after {lag} ms"));
        line("last change", &format!("{last}{}", lag.unwrap_or_default()))?;
    }
    line("time zone", &health.time_zone)?;
    let skipped = health.skipped.iter().map(|(path, reason)| format!("{path}: {reason}"));
    let copies = health.conflict_copies.iter().map(|(copy, of)| format!("{copy}, of {of}"));
    for (name, files) in [("skipped", skipped.collect::<Vec<_>>()), ("conflicts", copies.collect())]
    {
        for file in files.iter().take(MOST_NAMED) {
            line(name, file)?;
        }
        if files.len() > MOST_NAMED {
            line(name, &format!("and {} more", files.len() - MOST_NAMED))?;
        }
    }
    Ok(())
}

fn paint_plain(value: &str) -> String {
    Paint::Plain.text(Role::Aside, value)
}

fn named(counts: impl Iterator<Item = (String, usize)>) -> String {
    let counts: Vec<String> = counts.map(|(name, notes)| format!("{name} {notes}")).collect();
    let more = counts.len().saturating_sub(MOST_NAMED);
    let shown = counts[..counts.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown}, and {more} more") }
}

#[expect(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// The same for machines.
#[must_use]
pub fn as_json(stats: &VaultStats) -> Value {
    let VaultStats { links: (resolved, broken), health, .. } = stats;
    let folders = stats.folders.iter().map(|(name, notes)| json!({ "name": name, "notes": notes }));
    let tags = stats.top_tags.iter().map(|tag| json!({ "tag": tag.tag, "notes": tag.notes }));
    let skipped = health
        .skipped
        .iter()
        .map(|(path, reason)| json!({ "path": path.as_str(), "reason": reason.to_string() }));
    let copies = health
        .conflict_copies
        .iter()
        .map(|(copy, of)| json!({ "path": copy.as_str(), "of": of.as_str() }));
    let polling = match &health.watching {
        None | Some(Watching::Events) => None,
        Some(Watching::Polling(reason)) => Some(reason),
    };
    json!({
        "notes": stats.notes,
        "inbox_notes": stats.inbox_notes,
        "bytes": stats.bytes,
        "folders": folders.collect::<Vec<_>>(),
        "tags": stats.tags,
        "top_tags": tags.collect::<Vec<_>>(),
        "links": { "resolved": resolved, "broken": broken },
        "orphans": stats.orphans,
        "invalid_frontmatter": stats.invalid_frontmatter,
        "health": {
            "files": health.files,
            "indexed": health.indexed,
            "skipped": skipped.collect::<Vec<_>>(),
            "conflict_copies": copies.collect::<Vec<_>>(),
            "last_change": health.last_change.map(|last| last.to_string()),
            "lag_milliseconds": health.lag_milliseconds,
            "polling_because": polling,
            "time_zone": health.time_zone,
        },
    })
}
