//! Which documents may be among the answers at all, before anything is counted.

use super::Request;
use super::wanted::Wanted;
use crate::search::index::{Namespace, Part};
use crate::search::query::path_key;

/// A set of documents for each part that may be seen.
pub(super) struct Filter {
    /// A bit for each document that is out: deleted, excluded, without a wanted tag.
    out: Vec<Vec<u64>>,
}

impl Filter {
    pub(super) fn new<P>(parts: &[&Part<P>], request: &Request<'_, P>) -> Self {
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

/// A bit for each document that has a tag.
fn with_tag<P>(part: &Part<P>, tag: &str) -> Vec<u64> {
    let lists = part.segment().lists();
    let mut tagged = vec![0; part.segment().documents().div_ceil(64) as usize];
    if let Some(number) = lists.find(Namespace::Tag.byte(), tag) {
        lists.postings(number).each(|document, _, _| set(&mut tagged, document));
    }
    tagged
}

fn set(bits: &mut [u64], document: u32) {
    bits[document as usize / 64] |= 1 << (document % 64);
}
