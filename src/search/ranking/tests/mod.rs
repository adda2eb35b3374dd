//! What the tests of the ranking share.

use crate::search::analysis::{Analyzer, Language, Languages};
use crate::search::index::{
    Batch, Document, Field, Index, Namespace, PartitionId, PartitionSet, Segment, Writer,
};
use crate::search::query::Query;
use crate::search::ranking::{Ranked, Request};

mod equality;
mod lessons;
mod naive;

/// A note of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Note {
    title: String,
    body: String,
    tags: Vec<String>,
}

fn note(title: &str, body: &str) -> Note {
    Note { title: title.to_owned(), body: body.to_owned(), tags: Vec::new() }
}

fn partition(number: u8) -> PartitionId {
    PartitionId::new(number).expect("a small number")
}

/// Segments with these notes; the payload of each is the length of its text.
fn segments<'n>(
    notes: impl IntoIterator<Item = (PartitionId, &'n str, &'n Note)>,
) -> Vec<(PartitionId, Segment<usize>)> {
    let mut analyzer = Analyzer::new(Language::English);
    let mut writer = Writer::default();
    let mut segments = Vec::new();
    for (partition, key, note) in notes {
        let document = Document {
            key,
            fields: vec![
                (Field::Title, &*note.title),
                (Field::Name, key),
                (Field::Body, &*note.body),
            ],
            keywords: note.tags.iter().map(|tag| (Namespace::Tag, &**tag)).collect(),
            payload: note.body.len(),
        };
        segments.extend(writer.add(partition, &mut analyzer, document));
    }
    segments.extend(writer.finish());
    segments
}

fn index<'n>(notes: impl IntoIterator<Item = (&'n str, &'n Note)>) -> Index<usize> {
    let notes = notes.into_iter().map(|(key, note)| (partition(0), key, note));
    Index::default().apply(Batch { removed: Vec::new(), added: segments(notes) })
}

fn query(text: &str) -> Query {
    let today = jiff::civil::date(2024, 5, 17)
        .to_zoned_datetime(jiff::tz::TimeZone::UTC)
        .expect("a moment");
    Query::parse(text, &Languages::default(), &today)
}

fn search(index: &Index<usize>, visible: PartitionSet, text: &str) -> Ranked<usize> {
    index.search(&Request {
        visible,
        query: &query(text),
        accept: None,
        order: &usize::cmp,
        limit: 20,
    })
}

/// The keys of what is found, the best first.
fn keys(index: &Index<usize>, text: &str) -> Vec<String> {
    let hits = search(index, PartitionSet::ALL, text).hits;
    hits.into_iter().map(|hit| hit.key.into()).collect()
}
