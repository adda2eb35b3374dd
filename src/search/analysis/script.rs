//! What a character is to a reader of words.
//!
//! Written out as ranges, because only a few distinctions matter here: which scripts
//! are written without blanks, and in which a mark is no part of the letter.

use unicode_normalization::char::is_combining_mark;

/// What a character does in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Ends a word.
    Break,
    /// A letter of a script that separates its words.
    Letter,
    /// A digit or another sign for a number.
    Digit,
    /// Belongs to the letter before it.
    Mark,
    /// Invisible; words are written with and without it.
    Ignored,
    /// A letter of a script without blanks between words.
    Dense(Dense),
    /// A picture, which is a word of its own.
    Picture,
}

/// The scripts that are split into pairs of letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dense {
    /// Han characters: each is a word as well.
    Han,
    /// Hiragana, Katakana, Bopomofo. They run on from and into Han.
    Kana,
    /// Hangul: has blanks, but its words end in particles and are compounds.
    Hangul,
    /// Thai, Lao, Khmer, Myanmar and their kin.
    SouthEastAsian,
}

impl Dense {
    /// Whether a run of one may go on with the other.
    pub(super) fn runs_into(self, next: Self) -> bool {
        let is_cjk = |dense| matches!(dense, Self::Han | Self::Kana);
        self == next || is_cjk(self) && is_cjk(next)
    }

    /// Whether a single letter of it is looked for.
    pub(super) fn has_words_of_one_letter(self) -> bool {
        matches!(self, Self::Han | Self::Hangul)
    }
}

/// The scripts that stemming and folding distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Greek,
    Cyrillic,
    Arabic,
    Armenian,
    Hebrew,
    Devanagari,
    Tamil,
    Other,
}

/// The class of any character.
pub(super) fn class_of(character: char) -> Class {
    if character.is_ascii() {
        return match character {
            'a'..='z' | 'A'..='Z' => Class::Letter,
            '0'..='9' => Class::Digit,
            _ => Class::Break,
        };
    }
    // What texts mostly consist of needs no look into tables.
    match character {
        '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{400}'..='\u{481}' => return Class::Letter,
        _ if is_plain(character) => {
            return dense_of(character).map_or(Class::Break, Class::Dense);
        }
        _ if is_apostrophe(character) => return Class::Break,
        _ => {}
    }
    if is_ignored(character) {
        return Class::Ignored;
    }
    if character >= '\u{300}' && (is_combining_mark(character) || is_half_width_mark(character)) {
        return Class::Mark;
    }
    if let Some(dense) = dense_of(character) {
        return Class::Dense(dense);
    }
    if character.is_alphabetic() {
        Class::Letter
    } else if character.is_numeric() {
        Class::Digit
    } else if is_picture(character) {
        Class::Picture
    } else {
        Class::Break
    }
}

/// Whether a character is a letter of Chinese, Japanese or Korean that has one form only.
pub(super) fn is_plain(character: char) -> bool {
    matches!(
        character,
        '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{3041}'..='\u{3096}'
            | '\u{30a1}'..='\u{30fa}'
    )
}

/// Whether a character stands for an apostrophe: people and editors write many.
pub(super) fn is_apostrophe(character: char) -> bool {
    matches!(
        character,
        '\'' | '\u{2019}'
            | '\u{2018}'
            | '\u{2bc}'
            | '\u{2bb}'
            | '\u{2b9}'
            | '\u{ff07}'
            | '\u{b4}'
            | '\u{2032}'
    )
}

/// Soft hyphens, joiners, selectors and marks of direction.
pub(super) fn is_ignored(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{180b}'..='\u{180d}'
            | '\u{200c}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'
            | '\u{2066}'..='\u{2069}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

/// The voiced sound marks of half-width Katakana, which Unicode calls letters.
fn is_half_width_mark(character: char) -> bool {
    matches!(character, '\u{ff9e}' | '\u{ff9f}')
}

/// Pictures, not their modifiers: the elephant, not the colour of a skin.
fn is_picture(character: char) -> bool {
    matches!(character,
        '\u{1f000}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}')
}

/// Letters that continue a syllable which a conjoining consonant began.
pub(super) fn is_jamo_tail(character: char) -> bool {
    matches!(character, '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}')
}

fn dense_of(character: char) -> Option<Dense> {
    let dense = match character {
        '\u{e01}'..='\u{e30}'
        | '\u{e32}'..='\u{e33}'
        | '\u{e40}'..='\u{e46}'
        | '\u{e81}'..='\u{ec6}'
        | '\u{edc}'..='\u{edf}'
        | '\u{1000}'..='\u{103f}'
        | '\u{1050}'..='\u{108f}'
        | '\u{1780}'..='\u{17b3}'
        | '\u{17d7}'
        | '\u{1950}'..='\u{19c9}'
        | '\u{1a20}'..='\u{1a54}'
        | '\u{a9e0}'..='\u{a9ef}'
        | '\u{a9fa}'..='\u{a9fe}'
        | '\u{aa60}'..='\u{aa7a}'
        | '\u{aa80}'..='\u{aadd}' => Dense::SouthEastAsian,
        '\u{1100}'..='\u{11ff}'
        | '\u{3131}'..='\u{318e}'
        | '\u{a960}'..='\u{a97c}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{d7b0}'..='\u{d7fb}'
        | '\u{ffa0}'..='\u{ffdc}' => Dense::Hangul,
        '\u{2e80}'..='\u{2fd5}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{3029}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}' => Dense::Han,
        '\u{3041}'..='\u{3096}'
        | '\u{309d}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}'
        | '\u{3105}'..='\u{312f}'
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{ff66}'..='\u{ff9d}'
        | '\u{1b000}'..='\u{1b167}' => Dense::Kana,
        _ => return None,
    };
    Some(dense)
}

/// The script of a letter.
pub(super) fn script_of(letter: char) -> Script {
    match letter {
        'a'..='z'
        | 'A'..='Z'
        | '\u{aa}'
        | '\u{ba}'
        | '\u{c0}'..='\u{2af}'
        | '\u{1d00}'..='\u{1dbf}'
        | '\u{1e00}'..='\u{1eff}'
        | '\u{2c60}'..='\u{2c7f}'
        | '\u{a720}'..='\u{a7ff}'
        | '\u{ab30}'..='\u{ab64}'
        | '\u{fb00}'..='\u{fb06}'
        | '\u{ff21}'..='\u{ff5a}' => Script::Latin,
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Script::Greek,
        '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8a}' | '\u{a640}'..='\u{a69d}' => {
            Script::Cyrillic
        }
        '\u{600}'..='\u{6ff}'
        | '\u{750}'..='\u{77f}'
        | '\u{8a0}'..='\u{8ff}'
        | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' => Script::Arabic,
        '\u{530}'..='\u{58f}' => Script::Armenian,
        '\u{590}'..='\u{5ff}' => Script::Hebrew,
        '\u{900}'..='\u{97f}' => Script::Devanagari,
        '\u{b80}'..='\u{bff}' => Script::Tamil,
        _ => Script::Other,
    }
}
