//! Measures an index of a given size, one time: time and memory to make it, the time of
//! questions and of a change.
//!
//! ```text
//! cargo bench --bench scale -- 48000
//! ```

#![expect(clippy::disallowed_methods, reason = "the system says how much memory is taken")]

use std::time::{Duration, Instant};

use brain_mcp::search::analysis::{Analyzer, Language, Languages};
use brain_mcp::search::index::{Batch, Document, Field, Index, PartitionId, PartitionSet, Writer};
use brain_mcp::search::query::Query;
use brain_mcp::search::ranking::Request;
use made::Notes;

mod made;

/// The only partition.
const HERE: PartitionId = PartitionId::new(0).expect("the first");

fn main() {
    let count = std::env::args().find_map(|one| one.parse().ok()).unwrap_or(2_000);
    let mut notes = Notes::new();
    let mut index = fill(&mut notes, count);
    println!(
        "index {:.1} MB in {} segments; resident {:.1} MB",
        megabytes(index.bytes()),
        index.segments(),
        megabytes(resident()),
    );
    for (name, words, ranks) in [
        ("2-4 of the 40,000 by frequency", 3, 0),
        ("2 of the 50 most frequent words", 2, 50),
        ("4 of the 50 most frequent words", 4, 50),
        ("2 of the 2,000 most frequent words", 2, 2_000),
    ] {
        let question = |notes: &mut Notes| match ranks {
            0 => notes.text(words),
            ranks => (0..words).map(|_| notes.frequent(ranks).to_owned() + " ").collect(),
        };
        report(name, 200, || question(&mut notes), |text| ask(&index, text));
    }
    report(
        "phrase of 2 frequent words",
        200,
        || format!("\"{} {}\"", notes.frequent(50).to_owned(), notes.frequent(50)),
        |text| ask(&index, text),
    );
    report(
        "mistyped word",
        50,
        || format!("{}q", notes.frequent(20_000)),
        |text| ask(&index, text),
    );
    let mut key = 0;
    report(
        "related notes",
        50,
        || {
            key += 7;
            format!("note{}.md", key % count)
        },
        |key| index.related(PartitionSet::ALL, key, &|_, ()| true, 10).len(),
    );
    let mut analyzer = Analyzer::new(Language::English);
    report(
        "change of one note",
        300,
        || notes.text(700),
        |text| {
            let key = format!("note{}.md", text.len() % count);
            let mut writer = Writer::default();
            let _none = writer.add(HERE, &mut analyzer, document(&key, text));
            index =
                index.apply(Batch { removed: vec![(HERE, key.into())], added: writer.finish() });
            index.segments()
        },
    );
    println!("segments after the changes: {}", index.segments());
    let started = Instant::now();
    let mut steps = 0;
    while let Some(next) = index.compacted() {
        index = next;
        steps += 1;
    }
    println!(
        "{steps} steps of compacting in {:?}: {} segments",
        started.elapsed(),
        index.segments()
    );
}

fn document<'t>(key: &'t str, text: &'t str) -> Document<'t, ()> {
    let title = text.get(..20).unwrap_or_default();
    let fields = vec![(Field::Title, title), (Field::Name, key), (Field::Body, text)];
    Document { key, fields, keywords: Vec::new(), payload: () }
}

fn fill(notes: &mut Notes, count: usize) -> Index<()> {
    let mut analyzer = Analyzer::new(Language::English);
    let mut writer = Writer::default();
    let mut added = Vec::new();
    let (mut bytes, mut analyzing, mut indexing) = (0, Duration::ZERO, Duration::ZERO);
    for number in 0..count {
        let (key, text) = (format!("note{number}.md"), notes.text(700));
        bytes += text.len();
        let started = Instant::now();
        let mut terms = 0;
        if number % 16 == 0 {
            analyzer.analyze(&text, &mut |_| terms += 1);
            analyzing += started.elapsed();
        }
        let started = Instant::now();
        added.extend(writer.add(HERE, &mut analyzer, document(&key, &text)));
        indexing += started.elapsed();
    }
    let started = Instant::now();
    added.extend(writer.finish());
    let index = Index::default().apply(Batch { removed: Vec::new(), added });
    indexing += started.elapsed();
    println!(
        "{count} notes, {:.1} MB in {indexing:?}, of which about {:?} analysis",
        megabytes(bytes),
        analyzing * 16
    );
    index
}

fn ask(index: &Index<()>, text: &str) -> usize {
    let today = jiff::civil::date(2024, 5, 17);
    let today = today.to_zoned_datetime(jiff::tz::TimeZone::UTC).expect("a moment");
    let query = Query::parse(text, &Languages::default(), &today);
    let ranked = index.search(&Request {
        visible: PartitionSet::ALL,
        query: &query,
        accept: None,
        order: &|(), ()| std::cmp::Ordering::Equal,
        limit: 10,
    });
    ranked.total
}

/// Asks again and again, and prints how long that takes.
fn report(
    name: &str,
    times: usize,
    mut next: impl FnMut() -> String,
    mut ask: impl FnMut(&str) -> usize,
) {
    let mut results = 0;
    let mut took: Vec<Duration> = (0..times)
        .map(|_| {
            let question = next();
            let started = Instant::now();
            results += ask(&question);
            started.elapsed()
        })
        .collect();
    took.sort_unstable();
    println!(
        "{name}: p50 {:?}, p95 {:?}, most {:?}; {} results",
        took[times / 2],
        took[times * 95 / 100],
        took[times - 1],
        results / times
    );
}

/// The memory that this process takes, in bytes; 0 where the system does not say.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0) * 1024
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
