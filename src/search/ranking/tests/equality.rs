//! An index answers as one that never saw what is hidden or gone.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

use super::{Note, partition, query, search, segments};
use crate::search::index::{Batch, Index, Namespace, PartitionId, PartitionSet};
use crate::search::ranking::{Ranked, Request};

/// Some of them differ by one letter from others, some not even by that.
const WORDS: &[&str] = &[
    "garlic",
    "garlics",
    "soup",
    "soap",
    "leek",
    "leeks",
    "kettle",
    "nettle",
    "settle",
    "simmer",
    "summer",
    "knowledge",
    "knowledges",
    "the",
    "of",
    "and",
    "node.js",
    "apply_secrets",
    "apply",
    "secrets",
    "東京",
    "東京都",
    "heat",
    "pump",
];

const TAGS: &[&str] = &["food", "food/soup", "work"];

/// What somebody may ask.
fn questions() -> impl Strategy<Value = String> {
    let word = || select(WORDS).prop_map(str::to_owned);
    let mistyped = word().prop_map(|word| {
        let mut letters: Vec<char> = word.chars().collect();
        let middle = letters.len() / 2;
        letters.swap(middle - 1, middle);
        letters.into_iter().collect::<String>()
    });
    let piece = prop_oneof![
        6 => word(),
        1 => mistyped,
        1 => (word(), word()).prop_map(|(one, two)| format!("\"{one} {two}\"")),
        1 => word().prop_map(|word| format!("+{word}")),
        1 => word().prop_map(|word| format!("-{word}")),
        1 => word().prop_map(|word| format!("title:{word}")),
        1 => select(TAGS).prop_map(|tag| format!("tag:{tag}")),
        1 => select(TAGS).prop_map(|tag| format!("-tag:{tag}")),
        1 => (select(TAGS), word()).prop_map(|(tag, word)| format!("tag:{tag} OR +{word}")),
        1 => (word(), word()).prop_map(|(one, two)| format!("title:{one} OR title:{two}")),
    ];
    vec(piece, 1..5).prop_map(|pieces| pieces.join(" "))
}

pub(super) fn texts(longest: usize) -> impl Strategy<Value = String> {
    vec(select(WORDS), 0..longest).prop_map(|words| words.join(" "))
}

pub(super) fn notes() -> impl Strategy<Value = Note> {
    (texts(4), texts(30), vec(select(TAGS), 0..3)).prop_map(|(title, body, tags)| Note {
        title,
        body,
        tags: tags.into_iter().map(str::to_owned).collect(),
    })
}

pub(super) fn question() -> impl Strategy<Value = String> {
    questions()
}

/// What happens to some notes at once: each is written to a partition, or removed.
type Change = BTreeMap<u8, Option<(u8, Note)>>;

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let fate = prop_oneof![
        3 => (0..3_u8, notes()).prop_map(Some),
        1 => Just(None),
    ];
    vec(btree_map(0..24_u8, fate, 1..5), 1..40)
}

/// The notes that are there, with their partitions.
type Vault = BTreeMap<String, (PartitionId, Note)>;

fn make(index: &Index<usize>, vault: &mut Vault, change: &Change) -> Index<usize> {
    let mut batch = Batch::default();
    for (number, fate) in change {
        let key = format!("note{number}.md");
        if let Some((partition, _)) = vault.remove(&key) {
            batch.removed.push((partition, key.clone().into()));
        }
        if let Some((number, note)) = fate {
            vault.insert(key, (partition(*number), note.clone()));
        }
    }
    let written = change.keys().filter_map(|number| {
        let (key, (partition, note)) = vault.get_key_value(&format!("note{number}.md"))?;
        Some((*partition, &**key, note))
    });
    batch.added = segments(written);
    index.apply(batch)
}

/// Everything that an answer is made of, down to the bits.
fn exactly(ranked: Ranked<usize>) -> impl PartialEq + std::fmt::Debug {
    let hits: Vec<_> = ranked
        .hits
        .into_iter()
        .map(|hit| (hit.key, hit.payload, hit.score.map(f32::to_bits)))
        .collect();
    (hits, ranked.total, ranked.corrected)
}

fn assert_equal(
    index: &Index<usize>,
    fresh: &Index<usize>,
    visible: PartitionSet,
    vault: &Vault,
    questions: &[String],
) -> Result<(), TestCaseError> {
    for question in questions {
        let expected = exactly(search(fresh, PartitionSet::ALL, question));
        prop_assert_eq!(exactly(search(index, visible, question)), expected, "{}", question);
        let request = |visible, query| Request {
            visible,
            query,
            accept: Some(&|key: &str, length: &usize| key.contains('1') || *length > 60),
            order: &usize::cmp,
            limit: 3,
        };
        let query = query(question);
        let expected = exactly(fresh.search(&request(PartitionSet::ALL, &query)));
        prop_assert_eq!(exactly(index.search(&request(visible, &query))), expected);
    }
    prop_assert_eq!(index.statistics(visible), fresh.statistics(PartitionSet::ALL));
    for prefix in ["", "f", "food/", "x"] {
        prop_assert_eq!(
            index.keywords(visible, Namespace::Tag, prefix),
            fresh.keywords(PartitionSet::ALL, Namespace::Tag, prefix)
        );
    }
    for tag in TAGS {
        prop_assert_eq!(
            index.by_keyword(visible, Namespace::Tag, tag),
            fresh.by_keyword(PartitionSet::ALL, Namespace::Tag, tag)
        );
    }
    let all: Vec<_> = index.documents(visible).collect();
    prop_assert_eq!(&all, &fresh.documents(PartitionSet::ALL).collect::<Vec<_>>());
    for key in vault.keys() {
        let expected = fresh.get(PartitionSet::ALL, key);
        prop_assert_eq!(index.get(visible, key), expected);
        let near = |index: &Index<usize>, visible| index.related(visible, key, &|_, _| true, 5);
        prop_assert_eq!(near(index, visible), near(fresh, PartitionSet::ALL));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// L67, L68: hits, order, score bits, totals, corrections, tag counts, lists and
    /// related notes are those of an index that only ever saw the visible notes.
    #[test]
    fn an_index_answers_as_if_nothing_else_had_ever_been_in_it(
        changes in changes(),
        questions in vec(question(), 6),
        compacts in any::<bool>(),
    ) {
        let mut vault = Vault::new();
        let mut index = Index::default();
        for change in &changes {
            index = make(&index, &mut vault, change);
            if compacts {
                index = index.compacted().unwrap_or(index);
            }
        }
        for subset in 0..8_u8 {
            let visible: PartitionSet =
                (0..3).filter(|number| subset >> number & 1 == 1).map(partition).collect();
            let seen = vault.iter().filter(|(_, (partition, _))| visible.has(*partition));
            let seen = seen.map(|(key, (_, note))| (partition(0), &**key, note));
            let fresh =
                Index::default().apply(Batch { removed: Vec::new(), added: segments(seen) });
            assert_equal(&index, &fresh, visible, &vault, &questions)?;
        }
    }
}
