//! Notes that have to do with a note: by links, by tags, by the words they share.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::access::path::VaultPath;
use crate::search::analysis::Analyzer;
use crate::search::index::Namespace;
use crate::search::query::tag_key;
use crate::vault::answers::{RelatedNote, Relation};
use crate::vault::catalog::{KeptLink, Note};
use crate::vault::library::links;
use crate::vault::markdown;
use crate::vault::view::{Inbox, View};

/// What each kind of relation counts at most. A link was made on purpose; words are
/// shared by accident as well.
const LINK: f32 = 1.0;
const SHARED_LINKS: f32 = 0.7;
const SHARED_TAGS: f32 = 0.6;
const SHARED_WORDS: f32 = 0.8;

/// What more notes than this have in common says little, and costs much to look at.
const COMMON: usize = 500;

/// So many notes are compared by their words.
const NEAREST: usize = 50;

/// What speaks for a note.
#[derive(Default)]
struct Evidence {
    score: f32,
    reasons: Vec<(f32, Relation)>,
}

/// The visible notes that are closest to a note, which has this text; at most `limit`.
pub(in crate::vault) fn related(
    view: &View<'_>,
    path: &VaultPath,
    text: &str,
    limit: usize,
) -> Vec<RelatedNote> {
    let Some(note) = view.note(path) else { return Vec::new() };
    let mut found: BTreeMap<VaultPath, Evidence> = BTreeMap::new();
    by_links(view, note, &mut found);
    by_tags(view, note, &mut found);
    by_words(view, note, text, &mut found);
    found.remove(path);
    let mut found: Vec<(VaultPath, Evidence)> = found.into_iter().collect();
    // Stable, so equals stay in the order of their paths.
    found.sort_by(|(_, one), (_, other)| other.score.total_cmp(&one.score));
    let shown = found.into_iter().filter_map(|(path, mut evidence)| {
        let note = view.summary(view.note(&path)?);
        evidence.reasons.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let reasons = evidence.reasons.into_iter().map(|(_, reason)| reason).collect();
        Some(RelatedNote { note, score: evidence.score, reasons })
    });
    shown.take(limit).collect()
}

fn add(found: &mut BTreeMap<VaultPath, Evidence>, path: VaultPath, score: f32, reason: Relation) {
    let evidence = found.entry(path).or_default();
    evidence.score += score;
    evidence.reasons.push((score, reason));
}

/// Links between the two, and links to a third or from it.
fn by_links(view: &View<'_>, note: &Note, found: &mut BTreeMap<VaultPath, Evidence>) {
    let targets = targets(view, note);
    let sources: Vec<VaultPath> =
        links::sources(view, &note.path).into_iter().map(|(note, _)| note.path.clone()).collect();
    let mut linked: Vec<&VaultPath> = targets.iter().chain(&sources).collect();
    linked.sort_unstable();
    linked.dedup();
    for path in linked {
        add(found, path.clone(), LINK, Relation::Links);
    }
    let mut shared: BTreeMap<VaultPath, Vec<(f32, VaultPath)>> = BTreeMap::new();
    for target in &targets {
        let others = links::sources(view, target);
        let weight = rarity(others.len());
        for (other, _) in others.into_iter().take(COMMON) {
            shared.entry(other.path.clone()).or_default().push((weight, target.clone()));
        }
    }
    for source in &sources {
        let others =
            view.note(source).map(|source| self::targets(view, source)).unwrap_or_default();
        let weight = rarity(others.len());
        for other in others.into_iter().take(COMMON) {
            shared.entry(other).or_default().push((weight, source.clone()));
        }
    }
    for (path, thirds) in shared {
        // Many weak hints approach the whole share and never exceed it.
        let sum: f32 = thirds.iter().map(|(weight, _)| weight).sum();
        let score = SHARED_LINKS * sum / (1.0 + sum);
        let strongest = thirds.into_iter().max_by(|(one, _), (other, _)| one.total_cmp(other));
        if let Some((_, third)) = strongest {
            add(found, path, score, Relation::SharedLink(third));
        }
    }
}

/// The notes that a note links to, each once.
fn targets(view: &View<'_>, note: &Note) -> Vec<VaultPath> {
    let links = note.links.iter().map(KeptLink::to_link);
    let mut targets: Vec<VaultPath> =
        links.filter_map(|link| view.resolve(&link, &note.path)).collect();
    targets.sort_unstable();
    targets.dedup();
    targets.retain(|target| *target != note.path);
    targets
}

fn by_tags(view: &View<'_>, note: &Note, found: &mut BTreeMap<VaultPath, Evidence>) {
    let visible = view.visible(Inbox::LeftOut);
    let mut shared: BTreeMap<VaultPath, Vec<(f32, &str)>> = BTreeMap::new();
    for tag in &note.tags {
        let others = view.shelf.index().by_keyword(visible, Namespace::Tag, &tag_key(tag));
        if others.len() > COMMON {
            continue;
        }
        let weight = rarity(others.len());
        for (_, other) in others {
            shared.entry(other.path.clone()).or_default().push((weight, tag));
        }
    }
    for (path, mut tags) in shared {
        let sum: f32 = tags.iter().map(|(weight, _)| weight).sum();
        let score = SHARED_TAGS * sum / (1.0 + sum);
        tags.sort_by(|(one, one_tag), (other, other_tag)| {
            other.total_cmp(one).then_with(|| one_tag.cmp(other_tag))
        });
        let number = u16::try_from(tags.len()).unwrap_or(u16::MAX);
        for (_, tag) in tags {
            let reason = Relation::SharedTag(tag.to_owned());
            add(found, path.clone(), score / f32::from(number), reason);
        }
    }
}

fn by_words(view: &View<'_>, note: &Note, text: &str, found: &mut BTreeMap<VaultPath, Evidence>) {
    let visible = view.visible(Inbox::LeftOut);
    let key = note.path.as_str();
    let nearest = view.shelf.index().related(visible, key, &|_, _| true, NEAREST);
    let most = nearest.first().map_or(1.0, |first| first.score);
    let shared = nearest.iter().flat_map(|near| near.shared.iter().map(String::as_str)).collect();
    let spelled = spellings(view, text, &shared);
    for near in nearest {
        let score = SHARED_WORDS * near.score / most;
        let mut words: Vec<String> = Vec::new();
        for term in near.shared {
            let word = spelled.get(&*term).cloned().unwrap_or(term);
            if !words.contains(&word) {
                words.push(word);
            }
        }
        add(found, near.payload.path.clone(), score, Relation::SharedWords(words));
    }
}

/// The words of a text behind terms, which are stems and joined parts, as they first
/// stand there, in lower case.
fn spellings(view: &View<'_>, text: &str, terms: &HashSet<&str>) -> HashMap<String, String> {
    let parsed = markdown::parse(text, &view.reader.zone);
    let language =
        view.reader.languages.of_note(parsed.language.as_deref(), &text[parsed.body_start..]);
    let mut spelled = HashMap::new();
    Analyzer::new(language).analyze(text, &mut |token| {
        if terms.contains(token.term) && !spelled.contains_key(token.term) {
            let word = text[token.bytes].to_lowercase();
            spelled.insert(token.term.to_owned(), word);
        }
    });
    spelled
}

/// How much it says that two of so many notes have something in common.
fn rarity(notes: usize) -> f32 {
    let notes = u16::try_from(notes).unwrap_or(u16::MAX);
    1.0 / (1.0 + f32::from(notes)).ln().max(1.0)
}
