//! Words that are joined by signs or by letter case: identifiers, numbers, dates,
//! contractions.

use std::ops::Range;

use super::scan::{Found, LONGEST_TERM, Role, Scan};
use super::script::{Class, class_of, is_apostrophe, is_ignored, script_of};

/// The most words that count as one compound. What is longer is no name.
const MOST_PIECES: usize = 16;

/// The most parts of a word in camel case; letters of more are a key or a hash.
const MOST_PARTS: usize = 8;

/// The longest word with signs behind it: `notepad++`.
const LONGEST_MARKED: usize = 16;

/// A run of letters and digits.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) bytes: Range<usize>,
    /// Its lower case, in the buffer.
    pub(super) lower: Range<usize>,
    /// Whether it is to be reduced to a stem.
    pub(super) has_stem: bool,
    pub(super) is_camel_case: bool,
    /// What joins it to the piece before.
    pub(super) joiner: Option<Joiner>,
}

/// What stands between two pieces of a compound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joiner {
    /// `'` in all its forms.
    Apostrophe,
    /// `-` in all its forms.
    Hyphen,
    /// `.`, `,`, `_`, `+`, `&`.
    Weak(char),
    /// `/`, `\`, `:`, `::`, `@`, `#`, `->`: between names that stand alone as well.
    Strong(char),
}

impl Joiner {
    /// How it is written where it joins digits; without it, 10-20 were 1020.
    fn between_digits(self, following_digits: usize) -> Option<char> {
        match self {
            Self::Apostrophe | Self::Weak('_') => None,
            // A comma groups thousands, or begins decimals.
            Self::Weak(',') => (following_digits != 3).then_some(','),
            Self::Hyphen => Some('-'),
            Self::Weak(sign) | Self::Strong(sign) => Some(sign),
        }
    }
}

impl Scan<'_> {
    /// Reads a word, or words that are joined, from here on.
    pub(super) fn compound(&mut self) {
        self.buffers.lower.clear();
        let first = self.piece(self.at);
        if self.skips_data(&first) {
            return;
        }
        self.at = first.bytes.end;
        let Some(mut link) = self.joiner_at(self.at) else {
            self.emit_piece(&first);
            self.emit_marked(&first);
            self.emit_parts(&first);
            self.position += 1;
            return;
        };
        let mut pieces = std::mem::take(&mut self.buffers.pieces);
        pieces.clear();
        pieces.push(first);
        loop {
            let (joiner, start) = link;
            let mut piece = self.piece(start);
            self.at = piece.bytes.end;
            piece.joiner = Some(joiner);
            if !self.contracts(&mut pieces, &piece) {
                pieces.push(piece);
            }
            match self.joiner_at(self.at) {
                Some(next) if pieces.len() < MOST_PIECES => link = next,
                _ => break,
            }
        }
        self.emit_compound(&pieces);
        self.buffers.pieces = pieces;
    }

    /// `it's` is `it`, as is `we'll` `we`; `don't` is `dont`, which is how it is
    /// written in a hurry.
    fn contracts(&mut self, pieces: &mut [Piece], piece: &Piece) -> bool {
        let Some(last) = pieces.last_mut() else { return false };
        if piece.joiner != Some(Joiner::Apostrophe) || !last.has_stem {
            return false;
        }
        let lower = &self.buffers.lower;
        match &lower[piece.lower.clone()] {
            "s" | "ll" | "re" | "ve" | "d" | "m" => true,
            "t" if lower[last.lower.clone()].ends_with('n') => {
                last.lower.end = piece.lower.end;
                last.bytes.end = piece.bytes.end;
                true
            }
            _ => false,
        }
    }

    fn emit_compound(&mut self, pieces: &[Piece]) {
        let is_strong = |piece: &Piece| matches!(piece.joiner, Some(Joiner::Strong(_)));
        for (index, piece) in pieces.iter().enumerate() {
            self.emit_piece(piece);
            if index == 0 {
                self.emit_whole(pieces);
            }
            if index == 0 || is_strong(piece) {
                let later = &pieces[index + 1..];
                let length = later.iter().position(is_strong).unwrap_or(later.len());
                // All of it has been the whole.
                if index + length + 1 < pieces.len() || index > 0 {
                    self.emit_whole(&pieces[index..=index + length]);
                }
            }
            if index + 1 == pieces.len() {
                self.emit_marked(piece);
            }
            self.emit_parts(piece);
            self.position += 1;
        }
    }

    fn emit_piece(&mut self, piece: &Piece) {
        let lower = std::mem::take(&mut self.buffers.lower);
        self.emit(Found {
            text: &lower[piece.lower.clone()],
            has_stem: piece.has_stem,
            role: Role::Main,
            position: self.position,
            bytes: piece.bytes.clone(),
        });
        self.buffers.lower = lower;
    }

    /// Emits several pieces as one word, without what joins them, so that `cloudinit`
    /// and `cloud-init` find each other.
    fn emit_whole(&mut self, pieces: &[Piece]) {
        let [first, .., last] = pieces else { return };
        let bytes = first.bytes.start..last.bytes.end;
        let length: usize = pieces.iter().map(|piece| piece.lower.len() + 1).sum();
        if length > LONGEST_TERM {
            return;
        }
        let mut joined = std::mem::take(&mut self.buffers.joined);
        joined.clear();
        for piece in pieces {
            let lower = &self.buffers.lower[piece.lower.clone()];
            let digits = lower.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0
                && !joined.is_empty()
                && joined.ends_with(|last: char| last.is_ascii_digit())
            {
                joined.extend(piece.joiner.and_then(|joiner| joiner.between_digits(digits)));
            }
            joined.push_str(lower);
        }
        // A hyphen joins words of a language, the other signs names.
        let is_word = |piece: &Piece| {
            piece.has_stem
                && matches!(piece.joiner, None | Some(Joiner::Hyphen | Joiner::Apostrophe))
        };
        let has_stem = first.has_stem && pieces[1..].iter().all(is_word);
        let position = self.position;
        let role = Role::Whole;
        self.emit(Found { text: &joined, has_stem, role, position, bytes: bytes.clone() });
        if let Some(date) = iso_date(pieces, &self.buffers.lower)
            && date != joined
        {
            let role = Role::Date;
            self.emit(Found { text: &date, has_stem: false, role, position, bytes });
        }
        self.buffers.joined = joined;
    }

    /// `C++` and `C#` are not `C`.
    fn emit_marked(&mut self, piece: &Piece) {
        let rest = &self.text.as_bytes()[piece.bytes.end..];
        let mark = match rest {
            [b'+', b'+', ..] => "++",
            [b'#', ..] => "#",
            _ => return,
        };
        let end = piece.bytes.end + mark.len();
        let is_glued = self.character_at(end).is_some_and(begins_word);
        if !piece.has_stem || piece.bytes.len() > LONGEST_MARKED || mark == "#" && is_glued {
            return;
        }
        let mut joined = std::mem::take(&mut self.buffers.joined);
        joined.clear();
        joined.push_str(&self.buffers.lower[piece.lower.clone()]);
        joined.push_str(mark);
        let bytes = piece.bytes.start..end;
        let position = self.position;
        let role = Role::Marked;
        self.emit(Found { text: &joined, has_stem: false, role, position, bytes });
        self.buffers.joined = joined;
    }

    /// The parts of a word in camel case. They share its position: as a phrase,
    /// `GitHub Actions` has two words.
    fn emit_parts(&mut self, piece: &Piece) {
        if !piece.is_camel_case {
            return;
        }
        let source = &self.text[piece.bytes.clone()];
        let mut joined = std::mem::take(&mut self.buffers.joined);
        for part in parts(source) {
            joined.clear();
            super::fold::push_lower(&source[part.clone()], &mut joined);
            let has_digit = source[part.clone()].contains(|letter: char| letter.is_numeric());
            let bytes = piece.bytes.start + part.start..piece.bytes.start + part.end;
            let position = self.position;
            let role = Role::Part;
            self.emit(Found { text: &joined, has_stem: !has_digit, role, position, bytes });
        }
        self.buffers.joined = joined;
    }

    /// What joins the words before and behind `at`, and where the second begins.
    fn joiner_at(&self, at: usize) -> Option<(Joiner, usize)> {
        let rest = &self.text.as_bytes()[at..];
        let first = *rest.first()?;
        if first <= b' ' {
            return None;
        }
        let (joiner, length) = match rest {
            [b'-', b'>', ..] => (Joiner::Strong('>'), 2),
            [b'-', ..] => (Joiner::Hyphen, 1),
            [b':', b':' | b'\\' | b'/', ..] => (Joiner::Strong(':'), 2),
            [b'\\', b'\\', ..] => (Joiner::Strong('\\'), 2),
            [b':' | b'/' | b'\\' | b'@' | b'#', ..] => (Joiner::Strong(char::from(first)), 1),
            [b'_', ..] => {
                (Joiner::Weak('_'), rest.iter().take_while(|byte| **byte == b'_').count())
            }
            [b'.' | b'+' | b'&', ..] => (Joiner::Weak(char::from(first)), 1),
            [b',', next, ..] => {
                let is_number = self.text.as_bytes()[..at].last().is_some_and(u8::is_ascii_digit);
                (is_number && next.is_ascii_digit()).then_some((Joiner::Weak(','), 1))?
            }
            [b'\'', ..] => (Joiner::Apostrophe, 1),
            [0x80..=0xff, ..] => {
                let sign = self.character_at(at)?;
                let joiner = match sign {
                    '\u{2010}'..='\u{2013}' | '\u{2212}' => Joiner::Hyphen,
                    sign if is_apostrophe(sign) => Joiner::Apostrophe,
                    _ => return None,
                };
                (joiner, sign.len_utf8())
            }
            _ => return None,
        };
        let next = at + length;
        self.character_at(next).is_some_and(begins_word).then_some((joiner, next))
    }
}

fn begins_word(character: char) -> bool {
    matches!(class_of(character), Class::Letter | Class::Digit)
}

/// The date of a compound of three numbers, as ISO 8601 writes it: 2024-5-17,
/// 2024/05/17 or 17.05.2024. Where day and month may be meant either way, there is none.
fn iso_date(pieces: &[Piece], lower: &str) -> Option<String> {
    let [first, second, third] = pieces else { return None };
    let (year, month, day) = match (second.joiner?, third.joiner?) {
        (Joiner::Hyphen, Joiner::Hyphen) | (Joiner::Strong('/'), Joiner::Strong('/')) => {
            (first, second, third)
        }
        (Joiner::Weak('.'), Joiner::Weak('.')) => (third, second, first),
        _ => return None,
    };
    let number = |piece: &Piece, lengths: std::ops::RangeInclusive<usize>| {
        let digits = &lower[piece.lower.clone()];
        lengths.contains(&digits.len()).then(|| digits.parse::<u16>().ok())?
    };
    let (year, month, day) = (number(year, 4..=4)?, number(month, 1..=2)?, number(day, 1..=2)?);
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// Whether a word has parts by letter case or by script.
pub(super) fn is_camel_case(word: &str) -> bool {
    parts(word).any(|part| part.len() < word.len())
}

/// The parts of a word by letter case or by script, those of a single letter left out;
/// none if there are so many that it is no name.
fn parts(word: &str) -> impl Iterator<Item = Range<usize>> {
    let mut starts = [0; MOST_PARTS + 1];
    let mut count = 1;
    let mut before: Option<(usize, char)> = None;
    let letters = word.char_indices().filter(|(_, letter)| is_letter_or_digit(*letter));
    for (at, letter) in letters {
        if let Some((place, previous)) = before {
            let follows = word[at + letter.len_utf8()..].chars().next();
            let border = if is_border(previous, letter) {
                Some(at)
            } else if ends_capitals(&word[..place], previous, letter, follows) {
                Some(place)
            } else {
                None
            };
            if let Some(border) = border
                && border > starts[count - 1]
            {
                if count == MOST_PARTS {
                    count = 0;
                    break;
                }
                starts[count] = border;
                count += 1;
            }
        }
        before = Some((at, letter));
    }
    starts[count] = word.len();
    let is_long = move |part: &Range<usize>| {
        word[part.clone()].chars().filter(|letter| is_letter_or_digit(*letter)).nth(1).is_some()
    };
    (0..count).map(move |part| starts[part]..starts[part + 1]).filter(is_long)
}

fn is_letter_or_digit(character: char) -> bool {
    matches!(class_of(character), Class::Letter | Class::Digit) && !is_ignored(character)
}

/// Whether a part ends between two letters: `userLogin`.
fn is_border(previous: char, letter: char) -> bool {
    let is_upper = letter.is_uppercase();
    is_upper && !previous.is_uppercase()
        || previous.is_alphabetic()
            && letter.is_alphabetic()
            && script_of(previous) != script_of(letter)
}

/// Whether `previous` begins a part, because capitals end with it: the S of
/// `HTTPServer`. The s of `PDFs` is a plural.
fn ends_capitals(before: &str, previous: char, letter: char, follows: Option<char>) -> bool {
    let is_plural = letter == 's' && !follows.is_some_and(char::is_alphanumeric);
    previous.is_uppercase()
        && letter.is_lowercase()
        && !is_plural
        && before.chars().next_back().is_some_and(char::is_uppercase)
}
