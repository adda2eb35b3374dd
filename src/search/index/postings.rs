//! The list of the documents that hold a term.
//!
//! A posting is one varint for most: the distance to the document before, and in its
//! lowest two bits how many bytes the only position takes (0 to 2 for one to three
//! bytes). Where these bits are 3, more follows: how often the term occurs, with a bit
//! that says whether it occurs in the title; if so, how often there; and how many bytes
//! its positions take. The positions are apart, so that who only counts does not read
//! them.

use super::lists::as_u32;
use super::varint;

/// After so many postings there is a place at which reading can begin.
pub(super) const POSTINGS_BETWEEN_SKIPS: u32 = 64;

/// A place in a list, counted from its beginning.
#[derive(Clone, Copy, Debug)]
pub(in crate::search) struct Skip {
    /// The document of the posting before.
    pub(super) document: u32,
    /// The next posting.
    pub(super) posting: u32,
    /// Its positions.
    pub(super) positions: u32,
}

/// A posting, apart from its document and the positions themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// How often the term occurs in the document.
    pub(super) frequency: u32,
    /// How often of these in the title.
    pub(super) in_title: u32,
    /// How many bytes its positions take.
    pub(super) position_bytes: u32,
}

/// Reads a list from its beginning to its end.
#[derive(Clone, Debug)]
pub(in crate::search) struct Postings<'l> {
    list: &'l [u8],
    positions: &'l [u8],
    skips: &'l [Skip],
    /// Where the next posting is.
    at: usize,
    /// How many postings there are left, and in all.
    left: u32,
    length: u32,
    document: u32,
    frequency: u32,
    in_title: u32,
    /// The bytes of the positions of the posting that was read last.
    position_start: usize,
    position_end: usize,
}

impl<'l> Postings<'l> {
    pub(super) fn new(list: &'l [u8], positions: &'l [u8], skips: &'l [Skip], length: u32) -> Self {
        Self {
            list,
            positions,
            skips,
            at: 0,
            left: length,
            length,
            document: 0,
            frequency: 0,
            in_title: 0,
            position_start: 0,
            position_end: 0,
        }
    }

    /// Moves to the next document; `false` at the end.
    #[inline]
    pub(in crate::search) fn advance(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let head = varint::read(self.list, &mut self.at);
        self.document += head >> 2;
        self.position_start = self.position_end;
        if head & 3 == 3 {
            let frequency = varint::read(self.list, &mut self.at);
            self.frequency = frequency >> 1;
            self.in_title =
                if frequency & 1 == 0 { 0 } else { varint::read(self.list, &mut self.at) };
            self.position_end += varint::read(self.list, &mut self.at) as usize;
        } else {
            self.frequency = 1;
            self.in_title = 0;
            self.position_end += (head & 3) as usize + 1;
        }
        true
    }

    /// Calls for each document, from the beginning: the document, how often the term occurs
    /// in it, and how often of these in its title. Faster than a step at a time, because
    /// it passes over where the positions are.
    #[inline]
    pub(in crate::search) fn each(&self, mut call: impl FnMut(u32, u32, u32)) {
        let (mut at, mut document) = (0, 0);
        for _ in 0..self.length {
            let head = varint::read(self.list, &mut at);
            document += head >> 2;
            if head & 3 != 3 {
                call(document, 1, 0);
                continue;
            }
            let frequency = varint::read(self.list, &mut at);
            let in_title = if frequency & 1 == 0 { 0 } else { varint::read(self.list, &mut at) };
            let _position_bytes = varint::read(self.list, &mut at);
            call(document, frequency >> 1, in_title);
        }
    }

    /// Moves to the first document that is not before `target`, if it is not there;
    /// `false` if there is none. Call [`advance`](Self::advance) once before.
    pub(in crate::search) fn seek(&mut self, target: u32) -> bool {
        if self.document >= target {
            return true;
        }
        let passed = (self.length - self.left) / POSTINGS_BETWEEN_SKIPS;
        let ahead = self.skips.get(passed as usize..).unwrap_or_default();
        let step = ahead.partition_point(|skip| skip.document < target);
        if let Some(skip) = step.checked_sub(1).and_then(|last| ahead.get(last)) {
            self.at = skip.posting as usize;
            self.document = skip.document;
            self.position_end = skip.positions as usize;
            self.left = self.length - (passed + as_u32(step)) * POSTINGS_BETWEEN_SKIPS;
        }
        while self.advance() {
            if self.document >= target {
                return true;
            }
        }
        // At the end the last document must not look as if it were still to come.
        self.document = u32::MAX;
        false
    }

    /// The document that was reached.
    #[inline]
    pub(in crate::search) fn document(&self) -> u32 {
        self.document
    }

    /// How often the term occurs in it.
    #[inline]
    pub(in crate::search) fn frequency(&self) -> u32 {
        self.frequency
    }

    /// How often of these in its title.
    #[inline]
    pub(in crate::search) fn in_title(&self) -> u32 {
        self.in_title
    }

    /// Where the term stands in it, ascending.
    pub(in crate::search) fn positions(&self) -> impl Iterator<Item = u32> + 'l {
        let bytes = self.position_bytes();
        let (mut at, mut position) = (0, 0_u32);
        std::iter::from_fn(move || {
            (at < bytes.len()).then(|| {
                position = position.saturating_add(varint::read(bytes, &mut at));
                position
            })
        })
    }

    /// The positions as they are stored.
    pub(super) fn position_bytes(&self) -> &'l [u8] {
        self.positions.get(self.position_start..self.position_end).unwrap_or_default()
    }

    pub(super) fn shape(&self) -> Shape {
        Shape {
            frequency: self.frequency,
            in_title: self.in_title,
            position_bytes: as_u32(self.position_bytes().len()),
        }
    }
}

impl Shape {
    /// How many bytes a posting takes, so far behind the one before.
    pub(super) fn length(self, distance: u32) -> u32 {
        let head = varint::length(distance << 2);
        if self.is_plain() {
            return head;
        }
        let title = if self.in_title == 0 { 0 } else { varint::length(self.in_title) };
        head + varint::length(self.frequency << 1) + title + varint::length(self.position_bytes)
    }

    /// Writes a posting.
    pub(super) fn put(self, distance: u32, out: &mut [u8], at: &mut usize) {
        if self.is_plain() {
            return varint::put(out, at, distance << 2 | (self.position_bytes - 1));
        }
        varint::put(out, at, distance << 2 | 3);
        varint::put(out, at, self.frequency << 1 | u32::from(self.in_title > 0));
        if self.in_title > 0 {
            varint::put(out, at, self.in_title);
        }
        varint::put(out, at, self.position_bytes);
    }

    fn is_plain(self) -> bool {
        self.frequency == 1 && self.in_title == 0 && (1..=3).contains(&self.position_bytes)
    }
}
