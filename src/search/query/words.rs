//! What a piece of text in a query looks for.

use std::ops::Range;

use super::TermGroup;
use super::items::begins_with_field;
use crate::search::analysis::{Buffers, Found, Languages, Role, Stems, is_stop_word, scan};

/// The most words of one quoted text or one identifier that are looked for.
const MOST_WORDS: usize = 64;

/// A run in a script without blanks that has more pairs is several words.
const MOST_PAIRS_OF_ONE_WORD: usize = 2;

/// Reads words as each of the vault's languages does.
pub(super) struct Reader {
    languages: Languages,
    stems: Vec<Stems>,
    buffers: Buffers,
}

/// A word of a query with the terms that it may be in a note.
struct Word {
    role: Role,
    position: u32,
    bytes: Range<usize>,
    terms: Vec<Box<str>>,
    is_frequent: bool,
}

/// What a piece of text between blanks looks for.
pub(super) struct Chunk<'q> {
    /// From its first word to its last.
    pub(super) typed: &'q str,
    pub(super) groups: Vec<TermGroup>,
    /// Whether it is one word that is in every text.
    pub(super) is_stop_word: bool,
}

impl Reader {
    pub(super) fn new(languages: &Languages) -> Self {
        Self {
            stems: languages.iter().map(Stems::new).collect(),
            languages: languages.clone(),
            buffers: Buffers::default(),
        }
    }

    /// What a text without blanks looks for; `None` if it has no word. Several words,
    /// as in an identifier, are looked for as one and as a sequence. A long run in a
    /// script without blanks is cut into its pairs, unless it is to be found exactly.
    pub(super) fn chunk<'q>(&mut self, text: &'q str, is_exact: bool) -> Option<Chunk<'q>> {
        let words = self.words(text);
        let mains: Vec<&Word> = words.iter().filter(|word| is_main(word)).collect();
        let (first, last) = (mains.first()?, mains.last()?);
        let end = words.iter().map(|word| word.bytes.end).max().unwrap_or(last.bytes.end);
        let typed = &text[first.bytes.start..end];
        // It is shown between quotation marks, so that it is not taken for a field.
        let is_exact = is_exact || begins_with_field(typed);
        let is_stop_word = mains.len() == 1 && words.len() == 1 && first.is_frequent;
        let mut groups = Vec::new();
        if is_exact || mains.iter().all(|word| word.role == Role::Main) {
            groups.push(group(&words, &mains, text));
        } else {
            for run in runs(&mains) {
                let is_one_word = run[0].role == Role::Main
                    || run.len() <= MOST_PAIRS_OF_ONE_WORD
                    || whole_of(&words, run).is_some();
                if is_one_word {
                    groups.push(group(&words, run, text));
                } else {
                    groups.extend(run.iter().map(|pair| group(&words, &[*pair], text)));
                }
            }
        }
        Some(Chunk { typed, groups, is_stop_word })
    }

    /// The words of a text with blanks, one behind the other.
    pub(super) fn phrase(&mut self, text: &str) -> Vec<TermGroup> {
        let words = self.words(text);
        let mains = words.iter().filter(|word| is_main(word)).take(MOST_WORDS);
        let step = |word: &Word| TermGroup {
            typed: text[word.bytes.clone()].to_owned(),
            alternatives: marked(&words, word).unwrap_or(word).terms.clone(),
            parts: Vec::new(),
        };
        mains.map(step).collect()
    }

    /// The words of a text as those of a whole title, in each language.
    pub(super) fn titles(&mut self, text: &str) -> Vec<Box<str>> {
        let mut titles = vec![String::new(); self.stems.len()];
        let Self { buffers, stems, .. } = self;
        scan(buffers, text, &mut |found: Found<'_>| {
            if matches!(found.role, Role::Main | Role::Pair) {
                for (title, stems) in titles.iter_mut().zip(&mut *stems) {
                    if !title.is_empty() {
                        title.push(' ');
                    }
                    let stem = found.has_stem.then(|| stems.terms_once(found.text).first);
                    title.push_str(stem.unwrap_or(found.text));
                }
            }
        });
        titles.retain(|title| !title.is_empty());
        titles.dedup();
        titles.into_iter().map(String::into_boxed_str).collect()
    }

    fn words(&mut self, text: &str) -> Vec<Word> {
        let mut words = Vec::new();
        let Self { languages, buffers, stems } = self;
        scan(buffers, text, &mut |found: Found<'_>| words.push(word(&found, languages, stems)));
        words
    }
}

fn word(found: &Found<'_>, languages: &Languages, stems: &mut [Stems]) -> Word {
    let mut terms: Vec<Box<str>> = Vec::new();
    let mut add = |term: &str| {
        if !terms.iter().any(|known| **known == *term) {
            terms.push(term.into());
        }
    };
    let mut is_frequent = false;
    if found.has_stem {
        for stems in stems {
            let reduced = stems.terms_once(found.text);
            add(reduced.first);
            reduced.second.map(&mut add);
        }
        let folded = found.folded();
        is_frequent = languages.iter().any(|language| is_stop_word(language, &folded));
        // As it stands it may be the whole of an identifier.
        add(&folded);
    } else {
        add(found.text);
    }
    Word {
        role: found.role,
        position: found.position,
        bytes: found.bytes.clone(),
        terms,
        is_frequent,
    }
}

fn is_main(word: &Word) -> bool {
    matches!(word.role, Role::Main | Role::Pair)
}

/// The word with the signs that belong to it: who asks for `C++` wants no `C`.
fn marked<'w>(words: &'w [Word], main: &Word) -> Option<&'w Word> {
    words.iter().find(|word| word.role == Role::Marked && word.position == main.position)
}

/// Everything that stands for all of some words at once.
fn whole_of<'w>(words: &'w [Word], mains: &[&Word]) -> Option<&'w Word> {
    let (first, last) = (mains.first()?, mains.last()?);
    let bytes = first.bytes.start..last.bytes.end;
    words.iter().find(|word| word.role == Role::Whole && word.bytes == bytes)
}

/// One thing to look for: these words as one, or one behind the other.
fn group(words: &[Word], mains: &[&Word], text: &str) -> TermGroup {
    let bytes = mains.first().map_or(0, |word| word.bytes.start)
        ..mains.last().map_or(0, |word| word.bytes.end);
    let typed = text[bytes.clone()].to_owned();
    if let [main] = mains {
        if let Some(marked) = marked(words, main) {
            let typed = text[marked.bytes.clone()].to_owned();
            return TermGroup { typed, alternatives: marked.terms.clone(), parts: Vec::new() };
        }
        let is_part = |word: &&Word| word.role == Role::Part && word.position == main.position;
        let parts: Vec<_> = words.iter().filter(is_part).map(|part| part.terms.clone()).collect();
        let parts = if parts.len() > 1 { parts } else { Vec::new() };
        return TermGroup { typed, alternatives: main.terms.clone(), parts };
    }
    let is_whole =
        |word: &&Word| matches!(word.role, Role::Whole | Role::Date) && word.bytes == bytes;
    TermGroup {
        typed,
        alternatives: words.iter().filter(is_whole).flat_map(|word| word.terms.clone()).collect(),
        parts: mains.iter().take(MOST_WORDS).map(|word| word.terms.clone()).collect(),
    }
}

/// Cuts words where another script begins.
fn runs<'s, 'w>(mains: &'s [&'w Word]) -> impl Iterator<Item = &'s [&'w Word]> {
    mains.chunk_by(|left, right| {
        left.role == right.role && (left.role == Role::Main || right.bytes.start < left.bytes.end)
    })
}
