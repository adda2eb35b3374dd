//! Which documents may be among the answers at all, before anything is counted.

use super::Request;
use super::typo::Corrections;
use super::wanted::Wanted;
use crate::search::index::{Namespace, Part};
use crate::search::query::{Choice, Clause, path_key};

/// A set of documents for each part that may be seen.
pub(super) struct Filter {
    /// A bit for each document that is out: deleted, excluded, without a wanted tag or
    /// what `OR` joins.
    out: Vec<Vec<u64>>,
}

impl Filter {
    /// Words of a choice that nothing visible holds are replaced, as others are.
    pub(super) fn new<P>(
        parts: &[&Part<P>],
        request: &Request<'_, P>,
        corrections: &mut Corrections,
    ) -> Self {
        let out = parts.iter().map(|part| {
            let mut out = part.deleted_bits().to_vec();
            out.resize(part.segment().documents().div_ceil(64) as usize, 0);
            out
        });
        let mut filter = Self { out: out.collect() };
        for clause in &request.query.excluded {
            let unwanted = Wanted::as_typed(parts, clause);
            for ((out, found), part) in filter.out.iter_mut().zip(&unwanted.found).zip(parts) {
                found.each(part, |found| set(out, found.document));
            }
        }
        for (is_wanted, tag) in &request.query.tags {
            for (out, part) in filter.out.iter_mut().zip(parts) {
                let tagged = with_tag(part, tag);
                for (out, tagged) in out.iter_mut().zip(tagged) {
                    *out |= if *is_wanted { !tagged } else { tagged };
                }
            }
        }
        let mut paths = None;
        for choices in &request.query.choices {
            let mut having = vec![Vec::new(); parts.len()];
            for choice in choices {
                let with = match choice {
                    Choice::Tag(tag) => parts.iter().map(|part| with_tag(part, tag)).collect(),
                    Choice::Path(path) => {
                        with_path(parts, paths.get_or_insert_with(|| path_keys(parts)), path)
                    }
                    Choice::Words(clauses) => with_words(parts, clauses, corrections),
                };
                having.iter_mut().zip(with).for_each(|(having, with)| unite(having, &with));
            }
            for (out, having) in filter.out.iter_mut().zip(&having) {
                out.iter_mut().zip(having).for_each(|(out, having)| *out |= !having);
            }
        }
        filter
    }

    /// Whether a document is still in.
    #[inline]
    pub(super) fn lets_in<P>(
        &self,
        parts: &[&Part<P>],
        (part, document): (usize, u32),
        request: &Request<'_, P>,
    ) -> bool {
        if self.out[part][document as usize / 64] >> (document % 64) & 1 == 1 {
            return false;
        }
        let paths = &request.query.paths;
        if paths.is_empty() && request.accept.is_none() {
            return true;
        }
        let segment = parts[part].segment();
        let key = segment.key(document);
        let passes = paths.is_empty() || {
            let key = path_key(key);
            paths.iter().all(|(is_wanted, path)| key.contains(&**path) == *is_wanted)
        };
        passes && request.accept.is_none_or(|accept| accept(key, segment.payload(document)))
    }
}

/// A bit for each document that has all of these, for each part.
fn with_words<P>(
    parts: &[&Part<P>],
    clauses: &[Clause],
    corrections: &mut Corrections,
) -> Vec<Vec<u64>> {
    let mut all: Option<Vec<Vec<u64>>> = None;
    for clause in clauses {
        let wanted = Wanted::find(parts, clause, corrections);
        let with = parts.iter().zip(&wanted.found).map(|(part, found)| {
            let mut bits = none(part);
            found.each(part, |found| set(&mut bits, found.document));
            bits
        });
        match &mut all {
            None => all = Some(with.collect()),
            Some(all) => all.iter_mut().zip(with).for_each(|(all, with)| {
                all.iter_mut().zip(with).for_each(|(all, with)| *all &= with);
            }),
        }
    }
    all.unwrap_or_else(|| parts.iter().map(|part| none(part)).collect())
}

/// The paths of all documents in the form in which they are compared, for each part.
fn path_keys<P>(parts: &[&Part<P>]) -> Vec<Vec<String>> {
    let of = |part: &&Part<P>| {
        let documents = 0..part.segment().documents();
        documents.map(|document| path_key(part.segment().key(document))).collect()
    };
    parts.iter().map(of).collect()
}

/// A bit for each document whose path contains something, for each part.
fn with_path<P>(parts: &[&Part<P>], keys: &[Vec<String>], path: &str) -> Vec<Vec<u64>> {
    let with = |(part, keys): (&&Part<P>, &Vec<String>)| {
        let mut bits = none(part);
        let finder = memchr::memmem::Finder::new(path);
        for (document, key) in (0..).zip(keys) {
            if finder.find(key.as_bytes()).is_some() {
                set(&mut bits, document);
            }
        }
        bits
    };
    parts.iter().zip(keys).map(with).collect()
}

fn unite(bits: &mut Vec<u64>, others: &[u64]) {
    bits.resize(others.len(), 0);
    bits.iter_mut().zip(others).for_each(|(bits, other)| *bits |= other);
}

/// No bit for any document.
fn none<P>(part: &Part<P>) -> Vec<u64> {
    vec![0; part.segment().documents().div_ceil(64) as usize]
}

/// A bit for each document that has a tag.
fn with_tag<P>(part: &Part<P>, tag: &str) -> Vec<u64> {
    let lists = part.segment().lists();
    let mut tagged = none(part);
    if let Some(number) = lists.find(Namespace::Tag.byte(), tag) {
        lists.postings(number).each(|document, _, _| set(&mut tagged, document));
    }
    tagged
}

fn set(bits: &mut [u64], document: u32) {
    bits[document as usize / 64] |= 1 << (document % 64);
}
