use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use super::{Analyzer, Language, Languages, Token, is_stop_word};

/// The terms of a text, a position each: the extras behind the term that counts,
/// separated by `|`.
fn terms_in(language: Language, text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last_start = 0;
    Analyzer::new(language).analyze(text, &mut |token: Token<'_>| {
        let position = usize::try_from(token.position).expect("a small position");
        assert!(token.bytes.start >= last_start, "{text:?} is not read in order");
        assert!(!token.term.is_empty() && !text[token.bytes.clone()].is_empty());
        last_start = token.bytes.start;
        if token.is_extra {
            assert_eq!(position + 1, words.len(), "an extra of {text:?} stands alone");
            let word = words.last_mut().expect("a word before its extras");
            *word = format!("{word}|{}", token.term);
        } else {
            assert_eq!(position, words.len(), "positions of {text:?} have gaps");
            words.push(token.term.to_owned());
        }
    });
    words
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(terms_in(Language::English, text), expected, "{text:?}");
}

/// Whether all terms that count in the first text are terms of the second.
#[track_caller]
fn finds(query: &str, text: &str) {
    let text = terms_in(Language::English, text);
    let all: Vec<&str> = text.iter().flat_map(|word| word.split('|')).collect();
    for word in terms_in(Language::English, query) {
        let term = word.split('|').next().expect("a term");
        assert!(all.contains(&term), "{query:?}: `{term}` is not in {all:?}");
    }
}

#[test]
fn words_are_found_in_any_letter_case_and_inflection() {
    check("The Gardens, GARDENING; gardens!", &["the", "garden", "garden", "garden"]);
    check("", &[]);
    check(" \t\r\n -- *** ... ", &[]);
}

/// Passages pass over text in which nothing begins like a word that is looked for.
#[test]
fn a_stem_of_four_letters_begins_as_its_word_does() {
    assert!(Analyzer::new(Language::English).keeps_beginnings());
    let beginnings = "hop tr sk pon rel sens organ dig happ gener comm univers d l t v id gent ugl \
        earl onl singl inn out cann herr proce exce bl ac nob agre s th qu y e";
    let endings = ["", "y", "ies", "ied", "ying", "ing", "ed", "e", "es", "s", "ization", "fully"];
    let later = ["ational", "ousness", "iveness", "bility", "ibilities", "ly", "ally", "ement"];
    for beginning in beginnings.split_whitespace() {
        for ending in endings.iter().chain(&later) {
            let word = format!("{beginning}{ending}");
            for stem in terms_in(Language::English, &word) {
                let kept = if stem.len() > 3 { 3 } else { 1 };
                assert_eq!(stem[..kept], word[..kept], "{word}: {stem}");
            }
        }
    }
}

/// L25: marks are folded where they are ornaments, and kept where they make the letter.
#[test]
fn marks_are_folded_in_latin_greek_and_cyrillic_only() {
    check("Crème brûlée", &["creme", "brule"]);
    finds("cafe", "CAFÉ");
    finds("café", "cafe\u{301}");
    finds("strasse", "Straße");
    finds("STRASSE", "straße");
    finds("oresund Kobenhavn", "Øresund København");
    finds("aether", "Æther");
    finds("Lodz", "Łódź");
    finds("Istanbul ilik", "İstanbul ılık");
    finds("Αθηνα", "Αθήνα");
    finds("οδοσ", "ΟΔΟΣ οδός");
    finds("елка", "Ёлка");
    finds("за\u{301}мок", "замок");
    // A panda is no hunter.
    assert_ne!(terms_in(Language::English, "パンダ"), terms_in(Language::English, "ハンタ"));
    finds("パンダ", "ハ\u{309a}ンタ\u{3099}");
    finds("パンダ", "ﾊﾟﾝﾀﾞ");
    check("हिन्दी", &["हिन्दी"]);
    check("שָׁלוֹם", &["שָׁלוֹם"]);
    finds("العربيه", "الْعَـرَبِيَّة");
    finds("احمد", "أحمد");
    // Letters of their own.
    assert_ne!(terms_in(Language::English, "мой"), terms_in(Language::English, "мои"));
    finds("мой", "мои\u{306}");
}

#[test]
fn compatible_forms_are_one() {
    finds("financial", "ﬁnancial");
    finds("ABC123", "ＡＢＣ１２３");
    finds("softhyphen", "soft\u{ad}hyphen");
    check("x² ½", &["x2", "12"]);
}

/// L22, L24: whatever part of a run is asked for is found.
#[test]
fn scripts_without_blanks_are_pairs_of_letters() {
    check("花见会", &["花见|花", "见会|见|会"]);
    check("花", &["花"]);
    check("さくら", &["さく", "くら"]);
    finds("见会", "我们的花见会议");
    finds("言語", "プログラミング言語です");
    finds("グ言", "プログラミング言語です");
    finds("ไทย", "ภาษาไทยง่าย");
    check("กำ", &["ก\u{e4d}า"]);
    finds("ລາວ", "ພາສາລາວງາມ");
    finds("ខ្មែរ", "ភាសាខ្មែរល្អ");
}

/// L23: a word of one or two characters is a word.
#[test]
fn a_character_by_itself_is_found() {
    finds("猫", "我的猫很可爱");
    finds("猫", "一只猫");
    finds("집", "집에서 논다");
    finds("🐘", "an elephant (🐘\u{fe0f})");
    check("👍🏽!", &["👍"]);
}

#[test]
fn korean_words_are_found_whole_and_in_parts() {
    check("도서관", &["도서|도서관|도", "서관|서|관"]);
    check("서울", &["서울|서|울"]);
    finds("도서관", "시립도서관에서");
    finds("한글", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}");
}

/// L22: what is glued to another script is found.
#[test]
fn words_end_at_script_borders() {
    check("先run-docs再", &["先", "run|rundoc", "doc", "再"]);
    check("共50条", &["共", "50", "条"]);
    finds("docs", "请看docs目录");
    check("Δt", &["δt"]);
    check("ΔTime", &["δtime|time"]);
}

/// L16, L18: identifiers are found whole, in parts, and however they are joined.
#[test]
fn identifiers_are_found_whole_and_in_parts() {
    check("load_settings()", &["load|loadsettings", "set"]);
    check("__main__", &["main"]);
    check("ABC-42", &["abc|abc42", "42"]);
    check("mod::item", &["mod|moditem", "item"]);
    check("HTMLPageWriter", &["htmlpagewrit|html|page|writer"]);
    check("parseLine", &["parselin|pars|line"]);
    check("PDFs iPhones", &["pdf", "iphon|phone"]);
    check("vue.js", &["vue|vuejs", "js"]);
    check("@team/toolbox", &["team|teamtoolbox", "toolbox"]);
    check("lib/core/my-file.rs", &["lib|libcoremyfilers", "core", "my|myfilers", "file", "rs"]);
    check(r"D:\var\log", &["d|dvarlog", "var", "log"]);
    check("g(a)=b*c", &["g", "a", "b", "c"]);
    check("C++, C# and F#!", &["c|c++", "c|c#", "and", "f|f#"]);
    check("C++17 page#part", &["c|c++", "17", "page|pagepart", "part"]);
    check("--dry-run", &["dri|dryrun", "run"]);
    check("U.S.A. e.g. R&D", &["u|usa", "s", "a", "e|eg", "g", "r|rd", "d"]);
    check("wait...what end. Next", &["wait", "what", "end", "next"]);
    check("ctrl+alt+x", &["ctrl|ctrlaltx", "alt", "x"]);
    finds("secrets", "apply_secrets");
    finds("javascript", "JavaScript");
    finds("GITHUB", "GitHub");
    finds("e-mails", "email e mail");
    finds("emails", "my e-mail");
}

/// L21: numbers are found as people type them.
#[test]
fn numbers_are_found_as_they_are_written() {
    check("10-20", &["10|10-20", "20"]);
    check("10–20", &["10|10-20", "20"]);
    check("2.71828", &["2|2.71828", "71828"]);
    check("9,876,543", &["9|9876543", "876", "543"]);
    check("9'876'543", &["9|9876543", "876", "543"]);
    check("3,5", &["3|3,5", "5"]);
    check("2025.3.9", &["2025|2025.3.9", "3", "9"]);
    check("75% of #815", &["75", "of", "815"]);
    check("+49 30", &["49", "30"]);
    check("12:30", &["12|12:30", "30"]);
    check("20.04", &["20|20.04", "04"]);
}

#[test]
fn dates_are_one_in_every_order() {
    check("2023-11-05", &["2023|2023-11-05", "11", "05"]);
    check("5.11.2023", &["5|5.11.2023|2023-11-05", "11", "2023"]);
    check("2023/11/5", &["2023|2023/11/5|2023-11-05", "11", "5"]);
    // Month first or day first: nobody knows.
    check("05/11/2023", &["05|05/11/2023", "11", "2023"]);
    check("2023-13-05", &["2023|2023-13-05", "13", "05"]);
}

/// L21: an apostrophe is found in every form, and without it.
#[test]
fn apostrophes_make_no_difference() {
    for text in ["can't", "can’t", "can\u{2bc}t", "can＇t", "cant", "CAN'T"] {
        check(text, &["cant"]);
    }
    check("it's Mary's, they'll we’ve", &["it", "mari", "they", "we"]);
    check("O'Neill's", &["o|oneil", "neill"]);
    check("l'école", &["l|lecol", "ecol"]);
    check("rock'n'roll", &["rock|rocknrol", "n", "roll"]);
    check("'quoted' ‘words’", &["quot", "word"]);
}

#[test]
fn each_language_has_its_stems() {
    assert_eq!(terms_in(Language::German, "Häuser Häusern"), ["haus", "haus"]);
    assert_eq!(terms_in(Language::Russian, "красный красная"), ["красн", "красн"]);
    assert_eq!(terms_in(Language::Russian, "servers"), ["server"]);
    // Without the accents another ending is taken off: both are found.
    let french = terms_in(Language::French, "créés crees");
    let plain = french[1].as_str();
    assert!(french[0].split('|').any(|term| term == plain), "{french:?}");
    // A note in English: words of other scripts stay as they are.
    check("программирование", &["программирование"]);
}

#[test]
fn languages_have_names_and_codes() {
    for language in Language::ALL {
        assert_eq!(language.code().parse(), Ok(*language));
        assert_eq!(language.name().to_uppercase().parse(), Ok(*language));
    }
    assert_eq!("en-GB".parse(), Ok(Language::English));
    assert_eq!(" pt_BR ".parse(), Ok(Language::Portuguese));
    assert_eq!("nb".parse(), Ok(Language::Norwegian));
    let error = "klingon".parse::<Language>().expect_err("no such stemmer").to_string();
    assert!(error.contains("klingon") && error.contains("german"), "{error}");
    let languages = Languages::new([Language::German, Language::English, Language::German]);
    assert_eq!(languages.iter().collect::<Vec<_>>(), [Language::German, Language::English]);
    assert_eq!(languages.of_note(Some("en-US"), "Ende"), Language::English);
    assert_eq!(languages.of_note(Some("fr"), "fin"), Language::German);
    assert_eq!(languages.of_note(None, "end"), Language::German);
    assert_eq!(Languages::new([]), Languages::default());
}

#[test]
fn stop_words_are_those_of_the_language() {
    for word in ["the", "of", "dont", "or", "how"] {
        assert!(is_stop_word(Language::English, word), "{word}");
    }
    assert!(!is_stop_word(Language::English, "kettle"));
    assert!(is_stop_word(Language::German, "fur"));
    assert!(!is_stop_word(Language::German, "the"));
    assert!(!is_stop_word(Language::Tamil, "the"));
}

/// L58: pictures within a text are no words.
#[test]
fn data_addresses_are_left_out() {
    check("see ![x](data:image/png;base64,QUJD+RUZH/aGk=) after", &["see", "x", "after"]);
    check("DATA:text/plain,hello after", &["after"]);
    check("data: a, b data:x", &["data", "a", "b", "data|datax", "x"]);
}

/// What stands for a blank in an address is no part of the word behind it.
#[test]
fn escapes_in_addresses_are_no_words() {
    check(
        "02%20-%20Community/My%20notes.md",
        &["02", "communiti|communitymy", "my", "note|notesmd", "md"],
    );
    check("caf%C3%A9.md", &["caf", "md"]);
    check("5 %20 100%2 %zz 7%20", &["5", "20", "100", "2", "zz", "7", "20"]);
}

/// L58: nobody types a key of a thousand letters.
#[test]
fn overlong_words_are_cut() {
    let long = "k".repeat(5000);
    check(&format!("{long} end"), &[&"k".repeat(64), "end"]);
    check(&"é".repeat(1000), &[&"e".repeat(32)]);
    let chain = terms_in(Language::English, &"ab-".repeat(1000));
    assert_eq!(chain.len(), 1000);
}

/// Every byte is looked at a bounded number of times: runs of whatever repeats take no
/// longer than any other text.
#[test]
fn a_megabyte_of_anything_takes_no_time() {
    for unit in ["\"", "-", "a", "\u{301}", "猫"] {
        check_run(unit, 1_000_000);
    }
    let others = [
        "'",
        "a-",
        "a.",
        "a'",
        "aB",
        "A",
        "_",
        "1,",
        "1",
        "a\u{301}",
        "\u{ad}",
        "é",
        "ß",
        "한",
        "กำ",
        "\u{1112}\u{1161}",
        "ｶﾞ",
        "🐘",
        "::",
        "a::",
        "data:",
        "data:a/",
        "C++",
        "https://a/",
        "\u{200d}",
        "д",
        "ＡＢ",
        "ﷺ",
        "½",
    ];
    for unit in others {
        check_run(unit, 100_000);
    }
}

#[track_caller]
fn check_run(unit: &str, bytes: usize) {
    let text = unit.repeat(bytes / unit.len());
    let start = std::time::Instant::now();
    let mut length = 0;
    Analyzer::new(Language::English)
        .analyze(&text, &mut |token: Token<'_>| length += token.term.len());
    // Two seconds without optimization on a slow machine; quadratic work takes minutes.
    assert!(start.elapsed().as_secs() < 30, "{unit:?} takes {:?}", start.elapsed());
    assert!(length <= 40 * bytes, "{unit:?} makes {length} bytes of terms");
}

/// L58: the index of a note does not grow for ever.
#[test]
fn the_words_of_a_text_are_capped() {
    let mut last = 0;
    let text = "a ".repeat(1_500_000);
    Analyzer::new(Language::English).analyze(&text, &mut |token| last = token.position);
    assert_eq!(last, 999_999);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_terms_in_order(text in "(?s).{0,200}", language in 0..Language::ALL.len()) {
        check_any(Language::ALL[language], &text)?;
    }

    #[test]
    fn any_text_of_awkward_pieces_has_terms_in_order(
        text in r"([a-z]{1,4}|[A-Z]{1,3}|\d{1,4}|[-_.:/\\@#+&,'’ ]|é|e\u{301}|\u{301}|\u{ad}|猫花|カ\u{3099}|ﾊﾟ|한글|\u{1112}\u{1161}|กำ|🐘|ß|Ж|ς|don't|C\+\+|data:a/b,){0,40}",
        language in 0..Language::ALL.len(),
    ) {
        check_any(Language::ALL[language], &text)?;
    }

    /// A word has the same terms whether they are remembered or made anew.
    #[test]
    fn the_cache_changes_no_term(words in proptest::collection::vec(r"[a-zäöüéèçñßжйё]{1,30}", 1..30)) {
        for language in [Language::English, Language::French, Language::German, Language::Russian] {
            let mut stems = super::Stems::new(language);
            for word in words.iter().chain(&words) {
                let anew = pair(&super::Stems::new(language).terms_once(word));
                prop_assert_eq!(pair(&stems.terms(word)), anew);
            }
        }
    }

    /// What is left out of a text are terms that nobody wants, and all positions count.
    #[test]
    fn finding_some_terms_leaves_out_only_others(
        text in r"([a-zA-Z]{1,9}|[éÉäßЖ]|\d|[-_./@' ]|猫花|한글|C\+\+){0,40}",
        wanted in r"[a-z0-9]{1,4}",
        language in 0..Language::ALL.len(),
    ) {
        let language = Language::ALL[language];
        let is_wanted = |first: u8| wanted.as_bytes().contains(&first);
        let found = |is_asked: &dyn Fn(u8) -> bool| {
            let mut found = Vec::new();
            let positions = Analyzer::new(language).find(&text, is_asked, &mut |token| {
                if is_wanted(token.term.as_bytes()[0]) {
                    found.push((token.term.to_owned(), token.position, token.bytes));
                }
            });
            (found, positions)
        };
        prop_assert_eq!(found(&is_wanted), found(&|_| true));
    }

    /// However a text is composed, it has the same terms.
    #[test]
    fn composed_and_decomposed_texts_have_the_same_terms(
        text in r"([a-z]{1,3}|[éüñçåøßǿạ]|[άΰῳ]|[йёї]|[がパヴ]|[각한글]|猫|[-_ .']){0,20}",
        language in 0..Language::ALL.len(),
    ) {
        let language = Language::ALL[language];
        let decomposed: String = text.nfd().collect();
        prop_assert_eq!(terms_in(language, &decomposed), terms_in(language, &text));
    }
}

fn pair(terms: &super::stems::Terms<'_>) -> (String, Option<String>) {
    (terms.first.to_owned(), terms.second.map(str::to_owned))
}

fn check_any(language: Language, text: &str) -> Result<(), TestCaseError> {
    let (mut next_position, mut last_start) = (0, 0);
    let mut failure = None;
    Analyzer::new(language).analyze(text, &mut |token: Token<'_>| {
        let is_in_order = if token.is_extra {
            token.position + 1 == next_position
        } else {
            next_position += 1;
            token.position + 1 == next_position
        };
        let is_in_text = text.get(token.bytes.clone()).is_some_and(|text| !text.is_empty());
        if !is_in_order || !is_in_text || token.term.is_empty() || token.bytes.start < last_start {
            failure = Some(format!("{token:?}"));
        }
        last_start = token.bytes.start;
    });
    prop_assert_eq!(failure, None);
    Ok(())
}

/// A note that names no language is not reduced as one that its script rules out.
#[test]
fn a_script_tells_the_language_of_a_note_that_names_none() {
    let languages = Languages::new([Language::English, Language::Russian, Language::German]);
    let of = |text| languages.of_note(None, text);
    assert_eq!(of("Книги о вине и о хлебе, second edition"), Language::Russian);
    assert_eq!(of("Ein Buch über Wein, или нет"), Language::English);
    assert_eq!(of("2024 — 猫"), Language::English);
    assert_eq!(of(""), Language::English);
    assert_eq!(languages.of_note(Some("de"), "Книги"), Language::German);
    let russian_first = Languages::new([Language::Russian, Language::English]);
    assert_eq!(russian_first.of_note(None, "Books of wine"), Language::English);
    assert_eq!(russian_first.of_note(None, ""), Language::Russian);
}
