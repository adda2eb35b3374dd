//! Which line of the file a byte stands in.

use memchr::memchr2_iter;

/// Where the lines of a text begin. A line ends like an editor ends it: at a line
/// feed, at a carriage return, or at both together. What ends the text ends its last
/// line and begins no other.
#[derive(Debug)]
pub(in crate::vault) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(in crate::vault) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 1);
        starts.push(0);
        for end in memchr2_iter(b'\n', b'\r', bytes) {
            let is_pair = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
            if !is_pair {
                starts.push(end + 1);
            }
        }
        if starts.last() == Some(&bytes.len()) {
            starts.pop();
        }
        Self { starts }
    }

    /// The line of a byte, counted from 1. What is behind the end is in the last one.
    pub(in crate::vault) fn line_of(&self, byte: usize) -> u32 {
        number(self.starts.partition_point(|start| *start <= byte)).max(1)
    }

    /// A line of the text that these are the lines of, with its end; empty if there is
    /// no such line.
    pub(in crate::vault) fn text<'a>(&self, text: &'a str, line: u32) -> &'a str {
        let index = (line as usize).saturating_sub(1);
        let start = self.starts.get(index).copied().unwrap_or(text.len());
        let end = self.starts.get(index + 1).copied().unwrap_or(text.len());
        text.get(start..end).unwrap_or_default()
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        number(self.starts.len())
    }
}

fn number(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}
