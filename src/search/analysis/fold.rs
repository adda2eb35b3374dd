//! One spelling for what people type in many: letter case, width, marks.

use unicode_normalization::char::{decompose_canonical, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

use super::script::{Class, Script, class_of, is_ignored, script_of};

/// Appends a word in lower case, in Unicode normalization form KC, without what is
/// invisible. Its marks stay: a stemmer may need them.
pub(super) fn push_lower(source: &str, lower: &mut String) {
    let start = lower.len();
    if source.is_ascii() {
        lower.push_str(source);
        lower[start..].make_ascii_lowercase();
    } else if is_nfkc_quick(source.chars()) == IsNormalized::Yes {
        let visible = source.chars().filter(|character| !is_ignored(*character));
        lower.extend(visible.flat_map(char::to_lowercase));
    } else {
        // Normalization may bring in what is no part of a word: the stroke of '½'.
        let is_kept = |character: &char| {
            !matches!(class_of(*character), Class::Break | Class::Ignored | Class::Picture)
        };
        lower.extend(source.nfkc().flat_map(char::to_lowercase).nfc().filter(is_kept));
    }
    if lower.len() == start {
        // A letter that consists of signs: a word is never nothing.
        lower.push_str(source);
    }
}

/// Appends the folded form of a word that [`push_lower`] has made: Latin and Greek
/// letters without marks and ligatures, Cyrillic without stress and with 'ё' as 'е',
/// Arabic without vowel points and with one form of alef. 'й' and 'ї' are letters of
/// their own, and the marks of all other scripts are part of what is written: without
/// dakuten, a panda is a hunter.
pub(super) fn push_folded(lower: &str, folded: &mut String) {
    if lower.is_ascii() {
        folded.push_str(lower);
        return;
    }
    let start = folded.len();
    let mut loses_marks = false;
    for letter in lower.chars() {
        if letter.is_ascii() {
            loses_marks = true;
            folded.push(letter);
            continue;
        }
        if is_combining_mark(letter) {
            if !loses_marks && !is_arabic_vowel_point(letter) {
                folded.push(letter);
            }
            continue;
        }
        let script = script_of(letter);
        loses_marks = matches!(script, Script::Latin | Script::Greek | Script::Cyrillic);
        match script {
            Script::Latin | Script::Greek => push_base(letter, folded),
            Script::Cyrillic => folded.push(match letter {
                'ё' | 'ѐ' => 'е',
                'ѝ' => 'и',
                other => other,
            }),
            Script::Arabic => push_arabic(letter, folded),
            _ => folded.push(letter),
        }
    }
    if folded.len() == start {
        folded.push_str(lower);
    }
}

/// Appends a Latin or Greek letter without its marks.
fn push_base(letter: char, folded: &mut String) {
    let mut base = None;
    decompose_canonical(letter, |part| {
        base.get_or_insert(part);
    });
    match base.unwrap_or(letter) {
        'ß' => folded.push_str("ss"),
        'æ' => folded.push_str("ae"),
        'œ' => folded.push_str("oe"),
        'þ' => folded.push_str("th"),
        'ø' => folded.push('o'),
        'đ' | 'ð' => folded.push('d'),
        'ł' => folded.push('l'),
        'ħ' => folded.push('h'),
        'ı' => folded.push('i'),
        'ŋ' => folded.push('n'),
        'ŧ' => folded.push('t'),
        'ſ' => folded.push('s'),
        'ς' => folded.push('σ'),
        other => folded.push(other),
    }
}

/// The forms of alef, yeh and teh that are interchanged in everyday writing; the line
/// that only stretches a word is dropped.
fn push_arabic(letter: char, folded: &mut String) {
    match letter {
        '\u{640}' => {}
        'أ' | 'إ' | 'آ' | 'ٱ' => folded.push('ا'),
        'ى' => folded.push('ي'),
        'ة' => folded.push('ه'),
        other => folded.push(other),
    }
}

/// Short vowels, nunation, shadda, sukun, and the hamza that composes with alef.
fn is_arabic_vowel_point(mark: char) -> bool {
    matches!(mark, '\u{64b}'..='\u{655}' | '\u{670}')
}
