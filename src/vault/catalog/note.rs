//! What is kept of a note in memory: everything but its text.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::access::path::VaultPath;
use crate::search::analysis::Language;
use crate::search::index::{Document, Field, Namespace};
use crate::search::query::tag_key;
use crate::vault::fingerprint::Identity;
use crate::vault::links::{link_keys, name_keys, path_key};
use crate::vault::markdown::{Link, LinkKind, Parsed, SpanKind};
use crate::vault::names::conflict_of;

/// The longest tag that is kept, in bytes. Each level of a tag is a tag too, so the work
/// grows with the square of the length.
const LONGEST_TAG: usize = 500;

/// By this the index finds conflict copies.
pub(in crate::vault) const CONFLICT_COPY: &str = "conflict copy";

/// A note as the index knows it.
#[derive(Debug)]
pub(in crate::vault) struct Note {
    pub(in crate::vault) path: VaultPath,
    pub(in crate::vault) title: Box<str>,
    /// Each once, in the spelling of its first use.
    pub(in crate::vault) tags: Box<[Box<str>]>,
    /// Those that may lead to notes.
    pub(in crate::vault) links: Box<[KeptLink]>,
    /// The language that its words were reduced in.
    pub(in crate::vault) language: Language,
    /// The byte at which its text begins, behind the frontmatter.
    pub(in crate::vault) body_start: u32,
    /// When the note says that it was changed.
    pub(in crate::vault) date: Option<Timestamp>,
    pub(in crate::vault) has_invalid_frontmatter: bool,
    /// The note of which this one is a conflict copy, going by its name.
    pub(in crate::vault) copy_of: Option<VaultPath>,
    /// The file that it was read from.
    pub(in crate::vault) identity: Identity,
}

/// A link of a note, as far as backlinks need it.
#[derive(Debug)]
pub(in crate::vault) struct KeptLink {
    pub(in crate::vault) kind: LinkKind,
    pub(in crate::vault) target: Box<str>,
    pub(in crate::vault) line: u32,
}

impl KeptLink {
    /// In the form that links are resolved in.
    pub(in crate::vault) fn to_link(&self) -> Link {
        Link {
            kind: self.kind,
            target: self.target.to_string(),
            anchor: None,
            text: String::new(),
            line: self.line,
        }
    }
}

impl Note {
    pub(in crate::vault) fn new(
        path: VaultPath,
        parsed: &Parsed,
        language: Language,
        identity: Identity,
    ) -> Self {
        let title = parsed.title.as_deref().unwrap_or_else(|| path.stem()).into();
        let leads_to_notes =
            |link: &&Link| link.kind != LinkKind::External && !link.target.is_empty();
        let kept = |link: &Link| KeptLink {
            kind: link.kind,
            target: link.target.as_str().into(),
            line: link.line,
        };
        Self {
            title,
            tags: distinct_tags(parsed).into_iter().map(Box::from).collect(),
            links: parsed.links.iter().filter(leads_to_notes).map(kept).collect(),
            language,
            // Pages are no larger than 16 MiB.
            body_start: u32::try_from(parsed.body_start).unwrap_or(0),
            date: parsed.date,
            has_invalid_frontmatter: parsed.frontmatter.error.is_some(),
            copy_of: conflict_of(&path).and_then(|original| original.parse().ok()),
            identity,
            path,
        }
    }
}

/// The tags of a note, each once, in the spelling of its first use.
pub(in crate::vault) fn distinct_tags(parsed: &Parsed) -> Vec<&str> {
    let mut seen = HashSet::new();
    let tags = parsed.tags.iter().map(|used| used.tag.as_str());
    tags.filter(|tag| tag.len() <= LONGEST_TAG && seen.insert(tag_key(tag))).collect()
}

/// A tag and all that it lies below: `a/b/c`, `a/b`, `a`.
pub(in crate::vault) fn with_parents(tag: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(tag), |tag| tag.rsplit_once('/').map(|(parent, _)| parent))
}

/// The texts by which a note is looked up as they are.
pub(super) struct Keys {
    tags: Vec<String>,
    links: Vec<String>,
    names: Vec<String>,
    path: String,
}

impl Keys {
    pub(super) fn of(note: &Note) -> Self {
        let tags = note.tags.iter().flat_map(|tag| with_parents(tag)).map(tag_key);
        let links = note.links.iter().map(KeptLink::to_link);
        Self {
            tags: tags.collect(),
            links: links.flat_map(|link| link_keys(&link, &note.path)).collect(),
            names: name_keys(&note.path),
            path: path_key(&note.path),
        }
    }
}

/// What the index is given of a note.
pub(super) fn document<'a>(
    note: &'a Arc<Note>,
    keys: &'a Keys,
    parsed: &'a Parsed,
    text: &'a str,
) -> Document<'a, Arc<Note>> {
    let path = note.path.as_str();
    let mut fields = vec![(Field::Title, &*note.title), (Field::Name, note.path.stem())];
    fields.extend(path.rsplit_once('/').map(|(folders, _)| (Field::Folder, folders)));
    fields.extend(parsed.aliases.iter().map(|alias| (Field::Alias, alias.as_str())));
    fields.extend(note.tags.iter().map(|tag| (Field::Tag, &**tag)));
    fields.extend(parsed.spans.iter().map(|span| {
        let field = match span.kind {
            SpanKind::Heading => Field::Heading,
            SpanKind::Prose | SpanKind::Code => Field::Body,
            SpanKind::Aside => Field::Aside,
        };
        (field, &text[span.bytes.clone()])
    }));
    let all =
        |namespace, texts: &'a [String]| texts.iter().map(move |text| (namespace, text.as_str()));
    let keywords = all(Namespace::Tag, &keys.tags)
        .chain(all(Namespace::Link, &keys.links))
        .chain(all(Namespace::Name, &keys.names))
        .chain([(Namespace::Path, keys.path.as_str())])
        .chain(note.copy_of.as_ref().map(|_| (Namespace::Mark, CONFLICT_COPY)))
        .collect();
    Document { key: path, fields, keywords, payload: Arc::clone(note) }
}
