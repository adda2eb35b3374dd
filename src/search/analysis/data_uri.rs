//! Pictures that are written into a text as `data:` addresses: no words are in them.

use super::compound::Piece;
use super::scan::Scan;

/// The longest type of such an address: `image/svg+xml;charset=utf-8;base64`.
const LONGEST_TYPE: usize = 100;

impl Scan<'_> {
    /// Goes behind a `data:` address if one begins with this word.
    pub(super) fn skips_data(&mut self, word: &Piece) -> bool {
        let bytes = self.text.as_bytes();
        if word.bytes.len() != 4
            || bytes.get(word.bytes.end) != Some(&b':')
            || !bytes[word.bytes.clone()].eq_ignore_ascii_case(b"data")
        {
            return false;
        }
        let rest = &bytes[word.bytes.end + 1..];
        let is_in_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"/+.;=-_".contains(byte);
        let length = rest.iter().take(LONGEST_TYPE).take_while(|byte| is_in_type(byte)).count();
        let (media_type, content) = rest.split_at(length);
        if !media_type.contains(&b'/') || content.first() != Some(&b',') {
            return false;
        }
        let is_in_address =
            |byte: &u8| byte.is_ascii_graphic() && !b"\"'`<>()[]{}|\\".contains(byte);
        let length = content.iter().take_while(|byte| is_in_address(byte)).count();
        self.at = word.bytes.end + 1 + media_type.len() + length;
        true
    }
}
