//! How much of notes fits an answer, counted as it is written.

/// The most bytes that notes take in one answer as it is written: twice, as text and in
/// its structure, and escaped. Clients refuse answers of more than 25,000 tokens (L61).
pub(super) const MOST_BYTES: usize = 44_000;

/// How much there may be of a note.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// In characters.
    pub(super) characters: usize,
    /// In bytes of the answer.
    pub(super) bytes: usize,
    /// How many of them a character takes.
    pub(super) written: fn(char) -> usize,
}

/// The bytes of a character in a text of JSON.
pub(super) const fn once(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..'\u{20}' => 6,
        _ => character.len_utf8(),
    }
}

/// The same where it stands in an answer twice.
pub(super) const fn twice(character: char) -> usize {
    2 * once(character)
}

/// The same where it stands there once more as JSON that is text in JSON.
pub(super) const fn as_json_too(character: char) -> usize {
    let nested = match character {
        '"' | '\\' => 4,
        '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 3,
        '\0'..'\u{20}' => 7,
        _ => character.len_utf8(),
    };
    once(character) + nested
}

impl Budget {
    /// So many characters, as far as an answer can hold them.
    pub(super) const fn of(characters: usize) -> Self {
        Self { characters, ..Self::whole(MOST_BYTES, twice) }
    }

    /// So many bytes of the answer.
    pub(super) const fn whole(bytes: usize, written: fn(char) -> usize) -> Self {
        Self { characters: usize::MAX, bytes, written }
    }

    /// One of so many equal shares.
    pub(super) const fn share(self, number: usize) -> Self {
        Self { characters: self.characters / number, bytes: self.bytes / number, ..self }
    }

    /// What is left of it behind a text.
    pub(super) fn less(self, text: &str) -> Self {
        let characters = self.characters.saturating_sub(text.chars().count());
        Self { characters, ..self }.less_bytes(self.bytes_of(text))
    }

    /// What is left of it behind so many bytes of the answer.
    pub(super) const fn less_bytes(self, bytes: usize) -> Self {
        Self { bytes: self.bytes.saturating_sub(bytes), ..self }
    }

    /// Whether it is enough for a text.
    pub(super) fn holds(self, text: &str) -> bool {
        text.chars().count() <= self.characters && self.bytes_of(text) <= self.bytes
    }

    fn bytes_of(self, text: &str) -> usize {
        text.chars().map(self.written).sum()
    }
}
