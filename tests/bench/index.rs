//! How long the index takes: to be filled, to answer, to be changed.

use brain_mcp::search::analysis::{Analyzer, Language, Languages};
use brain_mcp::search::index::{Batch, Document, Field, Index, PartitionId, PartitionSet, Writer};
use brain_mcp::search::query::Query;
use brain_mcp::search::ranking::Request;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use made::Notes;

mod made;

/// The only partition.
const HERE: PartitionId = PartitionId::new(0).expect("the first");

fn main() {
    divan::main();
}

fn fill(texts: &[String], first: usize) -> Batch<()> {
    let mut analyzer = Analyzer::new(Language::English);
    let mut writer = Writer::default();
    let mut batch = Batch::default();
    for (number, text) in texts.iter().enumerate() {
        let key = format!("note{}.md", first + number);
        let fields = vec![(Field::Title, &text[..20]), (Field::Name, &key), (Field::Body, text)];
        let document = Document { key: &key, fields, keywords: Vec::new(), payload: () };
        batch.added.extend(writer.add(HERE, &mut analyzer, document));
    }
    batch.added.extend(writer.finish());
    batch
}

fn index(notes: &mut Notes, count: usize) -> Index<()> {
    let texts: Vec<String> = (0..count).map(|_| notes.text(700)).collect();
    Index::default().apply(fill(&texts, 0))
}

/// Analysis and index together; 46 MB within 2 s is the budget of a cold start.
#[divan::bench(sample_count = 5)]
fn fill_with_five_hundred_notes(bencher: Bencher<'_, '_>) {
    let mut notes = Notes::new();
    let texts: Vec<String> = (0..500).map(|_| notes.text(700)).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| Index::default().apply(fill(&texts, 0)));
}

/// Three words, as frequent as words of notes are. The slope is what two sizes show.
#[divan::bench(args = [500, 5_000], sample_count = 200)]
fn any_of_three_words(bencher: Bencher<'_, '_>, count: usize) {
    let mut notes = Notes::new();
    let index = index(&mut notes, count);
    bencher.with_inputs(|| query(&notes.text(3))).bench_local_refs(|query| ask(&index, query));
}

/// The costliest that people ask: words of which every note is full.
#[divan::bench(args = [500, 5_000], sample_count = 200)]
fn any_of_four_frequent_words(bencher: Bencher<'_, '_>, count: usize) {
    let mut notes = Notes::new();
    let index = index(&mut notes, count);
    let words = |notes: &mut Notes| -> String {
        (0..4).map(|_| notes.frequent(50).to_owned() + " ").collect()
    };
    bencher.with_inputs(|| query(&words(&mut notes))).bench_local_refs(|query| ask(&index, query));
}

/// Within 1 ms is the budget.
#[divan::bench(sample_count = 100)]
fn change_of_one_note_among_five_thousand(bencher: Bencher<'_, '_>) {
    let mut notes = Notes::new();
    let mut index = index(&mut notes, 5_000);
    let mut number = 0;
    bencher
        .with_inputs(|| {
            number += 1;
            fill(&[notes.text(700)], number)
        })
        .bench_local_values(|batch| index = index.apply(batch));
}

fn query(text: &str) -> Query {
    let day = jiff::civil::date(2024, 5, 17);
    let today = day.to_zoned_datetime(jiff::tz::TimeZone::UTC).expect("a moment");
    Query::parse(text, &Languages::default(), &today)
}

fn ask(index: &Index<()>, query: &Query) -> usize {
    let ranked = index.search(&Request {
        visible: PartitionSet::ALL,
        query,
        accept: None,
        order: &|(), ()| std::cmp::Ordering::Equal,
        limit: 10,
    });
    black_box(ranked.total)
}
