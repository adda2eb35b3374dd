//! Measures how well the index finds, without a server: nDCG@10 on judged sets, and how
//! many known notes of a vault come back in the first ten.
//!
//! ```text
//! cargo bench --bench quality -- judged ../shared/data/ir/cranfield
//! cargo bench --bench quality -- known VAULT CASES.json     (of tools/ir/known_item.py make)
//! ```

#![expect(clippy::disallowed_methods, reason = "these files are no pages of a vault")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use brain_mcp::search::analysis::{Analyzer, Language, Languages};
use brain_mcp::search::index::{Batch, Document, Field, Index, PartitionId, PartitionSet, Writer};
use brain_mcp::search::query::Query;
use brain_mcp::search::ranking::Request;

/// The only partition.
const HERE: PartitionId = PartitionId::new(0).expect("the first");

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["judged", set] => judged(Path::new(set)),
        ["known", vault, cases] => known(Path::new(vault), Path::new(cases)),
        _ => eprintln!("quality judged SET | quality known VAULT CASES"),
    }
}

/// A note, as far as search is concerned.
struct Note {
    path: String,
    title: String,
    heading: String,
    body: String,
}

fn index(notes: &[Note]) -> Index<()> {
    let mut analyzer = Analyzer::new(Language::English);
    let mut writer = Writer::default();
    let mut added = Vec::new();
    for note in notes {
        let name = Path::new(&note.path).file_stem().and_then(|name| name.to_str()).unwrap_or("");
        let fields = vec![
            (Field::Title, &*note.title),
            (Field::Name, name),
            (Field::Heading, &*note.heading),
            (Field::Body, &*note.body),
        ];
        let document = Document { key: &note.path, fields, keywords: Vec::new(), payload: () };
        added.extend(writer.add(HERE, &mut analyzer, document));
    }
    added.extend(writer.finish());
    Index::default().apply(Batch { removed: Vec::new(), added })
}

/// The keys of the best documents for a query.
fn search(index: &Index<()>, query: &str, limit: usize) -> Vec<String> {
    let today = jiff::civil::date(2024, 5, 17)
        .to_zoned_datetime(jiff::tz::TimeZone::UTC)
        .expect("a moment");
    let query = Query::parse(query, &Languages::default(), &today);
    let request = Request {
        visible: PartitionSet::ALL,
        query: &query,
        accept: None,
        order: &|(), ()| std::cmp::Ordering::Equal,
        limit,
    };
    index.search(&request).hits.into_iter().map(|hit| hit.key.into()).collect()
}

/// nDCG@10 with linear gain and log2 discount over the judged queries, as `trec_eval`
/// has it.
fn judged(set: &Path) {
    let rows = |name: &str| -> Vec<HashMap<String, String>> {
        let text = fs::read_to_string(set.join(name)).expect("a judged set");
        text.lines().map(|line| serde_json::from_str(line).expect("texts by name")).collect()
    };
    let text_of = |row: &HashMap<String, String>, name: &str| {
        row.get(name).map(String::as_str).unwrap_or_default().to_owned()
    };
    let notes: Vec<Note> = rows("corpus.jsonl")
        .iter()
        .map(|row| Note {
            path: text_of(row, "id"),
            title: text_of(row, "title"),
            heading: text_of(row, "title"),
            body: text_of(row, "text"),
        })
        .collect();
    let mut relevant: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in fs::read_to_string(set.join("qrels.tsv")).expect("judgments").lines() {
        let mut cells = line.split('\t').map(str::to_owned);
        let (Some(query), Some(document), Some(gain)) = (cells.next(), cells.next(), cells.next())
        else {
            continue;
        };
        let gain: f64 = gain.parse().expect("a number");
        if gain > 0.0 {
            relevant.entry(query).or_default().insert(document, gain);
        }
    }
    let index = index(&notes);
    let discounted = |gains: &mut dyn Iterator<Item = f64>| -> f64 {
        (2..12_u8).zip(gains).map(|(place, gain)| gain / f64::from(place).log2()).sum()
    };
    let (mut sum, mut queries) = (0.0, 0.0);
    for row in rows("queries.jsonl") {
        let Some(relevant) = relevant.get(&row["id"]) else { continue };
        let found = search(&index, &row["text"], 10);
        let mut ideal: Vec<f64> = relevant.values().copied().collect();
        ideal.sort_unstable_by(|left, right| right.total_cmp(left));
        let gain = |key: &String| relevant.get(key).copied().unwrap_or(0.0);
        sum += discounted(&mut found.iter().map(gain)) / discounted(&mut ideal.into_iter());
        queries += 1.0;
    }
    println!("{}: nDCG@10 {:.4} over {queries} queries", set.display(), sum / queries);
}

/// In how many cases the note comes back in the first ten.
fn known(vault: &Path, cases: &Path) {
    let mut notes = Vec::new();
    collect(vault, &mut notes);
    let notes: Vec<Note> = notes.iter().map(|path| read(vault, path)).collect();
    let index = index(&notes);
    let cases = fs::read_to_string(cases).expect("cases");
    let cases: Vec<HashMap<String, String>> = serde_json::from_str(&cases).expect("cases");
    let mut found = 0;
    let mut missed: HashMap<&str, usize> = HashMap::new();
    for case in &cases {
        if search(&index, &case["query"], 10).contains(&case["path"]) {
            found += 1;
        } else {
            *missed.entry(&case["kind"]).or_default() += 1;
            println!("missed: {} {} {}", case["kind"], case["query"], case["path"]);
        }
    }
    println!("{}: {found} of {}; missed by kind: {missed:?}", vault.display(), cases.len());
}

fn collect(folder: &Path, notes: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if path.is_dir() {
            collect(&path, notes);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            notes.push(path);
        }
    }
}

/// A note without frontmatter; its title is its first heading, else its file name.
fn read(vault: &Path, path: &Path) -> Note {
    let text = String::from_utf8_lossy(&fs::read(path).expect("a note")).into_owned();
    let body = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(&*text, |(_, body)| body);
    let heading = body.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    Note {
        path: path.strip_prefix(vault).expect("in the vault").to_string_lossy().into_owned(),
        title: if heading.is_empty() { name } else { heading }.to_owned(),
        heading: String::new(),
        body: body.to_owned(),
    }
}
