//! `brain-mcp search`: the engine that clients ask, from the terminal.

use std::io::{self, Write};
use std::process::ExitCode;

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::access::path::VaultPath;
use crate::admin::arguments::SearchFlags;
use crate::admin::questions::told;
use crate::admin::terminal::{Paint, Role, unless_closed};
use crate::vault::answers::{DateSource, NoteHit, Passage, Passages, SearchRequest, SearchResults};

/// Runs the command: exit status 1 if nothing is found.
///
/// # Errors
///
/// Whatever keeps the vault from answering, in words for the owner.
pub fn run(flags: &SearchFlags) -> anyhow::Result<ExitCode> {
    let vault = flags.question.open()?;
    let request = SearchRequest {
        query: flags.query.join(" "),
        folder: flags.folder.clone().unwrap_or_default(),
        limit: flags.limit,
        shown: Vec::new(),
        passages: Passages::All,
    };
    let found = vault.search_notes(&flags.question.viewer(), &request);
    let results = found.map_err(|error| told(error, &vault))?;
    let mut answer = io::stdout().lock();
    let written = if flags.question.json {
        writeln!(answer, "{:#}", as_json(&results))
    } else {
        write_hits(&mut answer, &results, Paint::of(&io::stdout()))
    };
    unless_closed(written)?;
    Ok(if results.hits.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Writes the hits for people, the best first.
///
/// # Errors
///
/// Those of `answer`.
pub fn write_hits(
    answer: &mut impl Write,
    results: &SearchResults,
    paint: Paint,
) -> io::Result<()> {
    let SearchResults { hits, total, reading, .. } = results;
    for (typed, instead) in &reading.corrected {
        let words = format!("no note has {typed:?}; searched for {instead:?} instead");
        writeln!(answer, "{}", paint.text(Role::Aside, &words))?;
    }
    if hits.is_empty() {
        writeln!(answer, "No note matches {}.", paint.text(Role::Aside, &reading.interpreted))?;
    }
    for filter in &reading.unmatched {
        writeln!(answer, "{}", paint.text(Role::Aside, &filter.to_string()))?;
    }
    for NoteHit { note, passage, .. } in hits {
        let lines = passage.lines.as_ref().map(|lines| format!(":{}", lines.start()));
        let place = format!("{}{}", note.path, lines.unwrap_or_default());
        let day = note.modified.at.to_zoned_datetime(TimeZone::system()).date();
        let title = paint.text(Role::Title, &note.title);
        writeln!(answer, "{title}  {}", paint.text(Role::Aside, &format!("{place}  {day}")))?;
        if !passage.headings.is_empty() {
            let headings = passage.headings.join(" > ");
            writeln!(answer, "  {}", paint.text(Role::Aside, &headings))?;
        }
        if !passage.text.is_empty() {
            writeln!(answer, "  {}", marked(passage, paint))?;
        }
        if !note.tags.is_empty() {
            let tags: Vec<String> = note.tags.iter().map(|tag| format!("#{tag}")).collect();
            writeln!(answer, "  {}", paint.text(Role::Aside, &tags.join(" ")))?;
        }
    }
    if *total > hits.len() {
        writeln!(answer, "{} of {total} notes; --limit shows more.", hits.len())?;
    }
    Ok(())
}

/// The passage with its matches marked. They are counted in characters.
fn marked(passage: &Passage, paint: Paint) -> String {
    let characters: Vec<char> = passage.text.chars().collect();
    let piece = |from: usize, to: usize| -> String {
        characters.get(from..to.min(characters.len())).unwrap_or_default().iter().collect()
    };
    let mut text = String::new();
    let mut end = 0;
    for found in &passage.matches {
        text.push_str(&Paint::Plain.text(Role::Aside, &piece(end, found.start)));
        text.push_str(&paint.text(Role::Match, &piece(found.start, found.end)));
        end = found.end;
    }
    text.push_str(&Paint::Plain.text(Role::Aside, &piece(end, characters.len())));
    text
}

/// The same for machines.
#[must_use]
pub fn as_json(results: &SearchResults) -> Value {
    let SearchResults { hits, total, has_more, reading } = results;
    let hits: Vec<Value> = hits.iter().map(hit_as_json).collect();
    let corrected: Vec<Value> = reading
        .corrected
        .iter()
        .map(|(typed, instead)| json!({ "typed": typed, "instead": instead }))
        .collect();
    let unmatched: Vec<String> = reading.unmatched.iter().map(ToString::to_string).collect();
    json!({
        "interpreted": reading.interpreted,
        "ignored": reading.ignored,
        "corrected": corrected,
        "unmatched": unmatched,
        "total": total,
        "has_more": has_more,
        "hits": hits,
    })
}

fn hit_as_json(hit: &NoteHit) -> Value {
    let NoteHit { note, score, passage } = hit;
    let matches: Vec<[usize; 2]> =
        passage.matches.iter().map(|found| [found.start, found.end]).collect();
    let source = match note.modified.source {
        DateSource::Frontmatter => "frontmatter",
        DateSource::Commit => "commit",
        DateSource::File => "file",
    };
    json!({
        "path": note.path.as_str(),
        "title": note.title,
        "score": score,
        "snippet": passage.text,
        "matches": matches,
        "lines": passage.lines.as_ref().map(|lines| [*lines.start(), *lines.end()]),
        "headings": passage.headings,
        "anchor": passage.anchor,
        "tags": note.tags,
        "modified": note.modified.at.to_string(),
        "modified_from": source,
        "size": note.size,
        "conflict_of": note.conflict_of.as_ref().map(VaultPath::as_str),
    })
}
