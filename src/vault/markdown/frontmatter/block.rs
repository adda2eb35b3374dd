//! Finds the block: from the first line to the line that closes it.

use std::ops::Range;

/// How a block is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// Between `---` and `---` or `...`.
    Yaml,
    /// Between `+++` and `+++`.
    Toml,
}

/// A block of data.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) syntax: Syntax,
    /// With its fences and the end of the last line.
    pub(super) bytes: Range<usize>,
    /// What is between the fences.
    pub(super) inner: Range<usize>,
}

impl Block {
    /// The block at the top of a text, which may have a byte order mark before it.
    pub(super) fn find(source: &str) -> Option<Self> {
        let start = super::start_of(source);
        let mut ends = ends_of_lines(source, start);
        let first = ends.next()?;
        let syntax = match source[start..first].trim_end() {
            "---" => Syntax::Yaml,
            "+++" => Syntax::Toml,
            _ => return None,
        };
        let mut line = first;
        for end in ends {
            let is_last = match source[line..end].trim_end() {
                "---" | "..." => syntax == Syntax::Yaml,
                "+++" => syntax == Syntax::Toml,
                _ => false,
            };
            if is_last {
                return Some(Self { syntax, bytes: start..end, inner: first..line });
            }
            line = end;
        }
        None
    }
}

/// Where the lines end from `start` on, with what ends them.
pub(super) fn ends_of_lines(source: &str, start: usize) -> impl Iterator<Item = usize> {
    let bytes = source.as_bytes();
    memchr::memchr2_iter(b'\n', b'\r', &bytes[start..])
        .map(move |end| start + end)
        .filter(move |end| !(bytes[*end] == b'\r' && bytes.get(end + 1) == Some(&b'\n')))
        .map(|end| end + 1)
        .chain((!source.ends_with(['\n', '\r']) && start < source.len()).then_some(source.len()))
}
