use std::ops::Range;

use jiff::civil::date;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::{Searched, Window, best_passage};
use crate::search::analysis::{Analyzer, Language, Languages};
use crate::search::query::Query;

fn parse(query: &str) -> Query {
    let today = date(2024, 5, 17).to_zoned_datetime(TimeZone::UTC).expect("a moment");
    Query::parse(query, &Languages::default(), &today)
}

fn find(text: &str, spans: &[Range<usize>], query: &str, most: usize) -> Option<Window> {
    let read = |bytes: &Range<usize>| Searched { bytes: bytes.clone(), is_aside: false };
    let spans: Vec<_> = spans.iter().map(read).collect();
    best_passage(text, &spans, &parse(query), &mut Analyzer::new(Language::English), most)
}

/// The one span of a text that is searched as a whole.
fn whole(text: &str) -> Vec<Range<usize>> {
    std::iter::once(0..text.len()).collect()
}

/// The window with its matches in brackets.
fn shown(text: &str, query: &str, most: usize) -> String {
    let window = find(text, &whole(text), query, most).expect("a window");
    let mut shown = String::new();
    let mut at = window.bytes.start;
    for found in &window.matches {
        shown.extend([&text[at..found.start], "[", &text[found.clone()], "]"]);
        at = found.end;
    }
    shown + &text[at..window.bytes.end]
}

#[test]
fn the_window_has_most_of_the_words() {
    let hay = "dry straw ".repeat(50);
    let text = format!("kettle {hay} iron kettle with a lid {hay} lid lid lid {hay}");
    let shown = shown(&text, "kettles iron lids", 60);
    assert!(shown.contains("[iron] [kettle] with a [lid]"), "{shown}");
    assert!(shown.chars().count() <= 60 + 6, "{shown}");
}

/// L20: words side by side come before the same words scattered.
#[test]
fn words_side_by_side_and_phrases_come_first() {
    let hay = "dry straw ".repeat(50);
    let text = format!("lid of the iron pot {hay} an iron lid here {hay}");
    assert!(shown(&text, "iron lid", 60).contains("an [iron] [lid] here"));
    let shown = shown(&text, "\"iron lid\"", 60);
    assert!(shown.contains("an [iron lid] here"), "{shown}");
}

#[test]
fn what_matches_is_marked_in_the_form_in_which_it_stands() {
    assert_eq!(shown("Der Café, cafe\u{301}s", "cafe", 99), "Der [Café], [cafe\u{301}s]");
    assert_eq!(shown("call load_settings now", "settings", 99), "call load_[settings] now");
    assert_eq!(shown("call load_settings now", "loadSettings", 99), "call [load_settings] now");
    assert_eq!(shown("call loadSettings now", "load_settings", 99), "call [loadSettings] now");
    assert_eq!(shown("about C and C++ code", "C++", 99), "about C and [C++] code");
    assert_eq!(shown("今天的花见会议", "花见会", 99), "今天的[花见会]议");
    assert_eq!(shown("very big, very very big", "\"very very\"", 99), "very big, [very very] big");
    // A phrase is no set of words.
    assert_eq!(shown("iron pot, iron lid", "\"iron lid\"", 99), "iron pot, [iron lid]");
}

/// L32: a phrase reaches over line breaks, list markers and emphasis.
#[test]
fn phrases_reach_over_markup() {
    let text = "- an **iron**\n- *lid*, cast";
    assert_eq!(shown(text, "\"iron lid\"", 99), "- an **[iron**\n- *lid]*, cast");
    // And from one span into the next.
    let spans = [0..2, 5..8];
    let window = find("an  | iron", &[2..3, 5..10], "iron", 99).expect("a window");
    assert_eq!(window.matches, std::slice::from_ref(&(6..10)));
    let window = find("pot  lid", &spans, "\"po lid\"", 99).expect("a window");
    assert_eq!(window.matches, std::slice::from_ref(&(0..8)));
}

/// L8: a line that ends in two characters is not two lines.
#[test]
fn a_window_begins_at_a_paragraph_however_lines_end() {
    for end in ["\n", "\r\n"] {
        let text = ["before", "", "first", "second iron", ""].join(end);
        assert_eq!(shown(&text, "iron", 99), format!("first{end}second [iron]"));
    }
}

#[test]
fn without_a_match_it_is_the_beginning() {
    assert_eq!(shown("  first words and more", "zebra", 11), "first words");
    assert_eq!(shown("first", "", 11), "first");
    assert_eq!(find("", &[], "x", 10), None);
    assert_eq!(find("   ", &whole("   "), "x", 10), None);
    // Spans that are not in the text are not looked at.
    assert_eq!(find("é", &[1..2, 5..9], "x", 10), None);
}

/// L29: whatever the script, a window begins and ends between characters.
#[test]
fn windows_cut_no_character() {
    let text = "日本語の文章🐘と“引用”、そしてカフェ".repeat(20);
    for most in 0..40 {
        let window = find(&text, &whole(&text), "カフェ", most).expect("a window");
        assert!(text[window.bytes.clone()].chars().count() <= most);
        for found in &window.matches {
            assert!(text.get(found.clone()).is_some());
        }
    }
}

#[test]
fn a_note_of_one_word_takes_no_longer_than_another() {
    let text = "word ".repeat(200_000);
    let shown = shown(&text, "word words \"word word\"", 200);
    assert!(shown.starts_with("[word word"), "{shown}");
    let text = format!("{}{}lid", "lid ".repeat(9_000), "straw ".repeat(200_000));
    assert!(find(&text, &whole(&text), "lid", 200).is_some());
}

/// What need not be taken apart is not looked at, and makes no difference: the same text
/// with a letter in each part that is not ASCII is taken apart as a whole.
#[test]
fn parts_that_are_passed_over_have_nothing_that_is_looked_for() {
    let parts = [
        "load_settings or loadSettings",
        "a_bcd and x::abcd",
        "Skies, dying ponies; tried hoping",
        "2024-05-17 or 17.05.2024",
        "nothing of it",
        "don't go -- PDFs",
        "in the sky, to die; a pony hopes and tries",
        "abc DEF-123",
    ];
    let queries = [
        "settings",
        "loadSettings",
        "abcd",
        "sky",
        "die",
        "pony",
        "hope",
        "try",
        "2024-05-17",
        "dont",
        "pdf",
        "\"it don't\"",
        "def-123",
        "skies tries",
        "\"nothing of it\"",
        "bcd",
    ];
    for query in queries {
        let spans_of = |parts: &[String]| {
            let mut at = 0;
            let spans = parts.iter().map(|part| {
                at += part.len() + 1;
                at - part.len() - 1..at - 1
            });
            (parts.join("\n"), spans.collect::<Vec<_>>())
        };
        let marked = |suffix: &str| {
            let parts: Vec<String> = parts.iter().map(|part| format!("{part}{suffix}")).collect();
            let (text, spans) = spans_of(&parts);
            let window = find(&text, &spans, query, 1_000).expect("a window");
            let matches = window.matches.iter().map(|found| text[found.clone()].to_owned());
            matches.map(|found| found.replace(suffix, "")).collect::<Vec<_>>()
        };
        // A sign that is no letter, and so no word.
        assert_eq!(marked(" !"), marked(" –"), "{query}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_a_window_within_its_bounds(
        text in r"([a-c]{1,3}|é|猫花|한글말|aB|[_ \n.'-]|🐘|\PC){0,40}",
        query in r#"([a-c]{1,3}|é|猫花|한글말|aB|[_ "'-]){0,6}"#,
        most in 0usize..30,
    ) {
        if let Some(window) = find(&text, &whole(&text), &query, most) {
            let shown = text.get(window.bytes.clone());
            prop_assert!(shown.is_some_and(|shown| shown.chars().count() <= most));
            let mut end = window.bytes.start;
            for found in &window.matches {
                prop_assert!(found.start >= end && found.start < found.end);
                prop_assert!(text.get(found.clone()).is_some());
                end = found.end;
            }
            prop_assert!(end <= window.bytes.end);
        }
    }
}

/// What is shown of a text in which each stretch of `marked` is aside.
fn shown_beside(text: &str, asides: &[&str], query: &str, most: usize) -> (String, Window) {
    let mut spans = Vec::new();
    let mut at = 0;
    for aside in asides {
        let start = at + text[at..].find(aside).expect("it is there");
        spans.push(Searched { bytes: at..start, is_aside: false });
        at = start + aside.len();
        spans.push(Searched { bytes: start..at, is_aside: true });
    }
    spans.push(Searched { bytes: at..text.len(), is_aside: false });
    spans.sort_by_key(|span| span.is_aside);
    let analyzer = &mut Analyzer::new(Language::English);
    let window = best_passage(text, &spans, &parse(query), analyzer, most).expect("a window");
    let mut shown = String::new();
    let mut at = window.bytes.start;
    for out in &window.left_out {
        shown.push_str(&text[at..out.start]);
        shown.push('…');
        at = out.end;
    }
    shown.push_str(&text[at..window.bytes.end]);
    (shown, window)
}

#[test]
fn what_is_read_comes_before_addresses_and_comments() {
    let badge = "https://img.example/github/iron-kettle/iron/kettle?color=573E7A";
    let comment = "<!-- nobody reads this about an iron kettle -->";
    let text =
        format!("{comment}\n\n![Version]({badge}) Badges.\n\nAn iron [kettle]({badge}) here.");
    let (shown, window) = shown_beside(&text, &[comment, badge, badge], "iron kettle", 60);
    assert_eq!(shown, "An iron [kettle](…) here.");
    let matched: Vec<&str> = window.matches.iter().map(|found| &text[found.clone()]).collect();
    assert_eq!(matched, ["iron", "kettle"]);
    // What stands only there is found all the same, and begins between words.
    let (shown, window) = shown_beside(&text, &[comment, badge, badge], "color", 90);
    assert!(shown.contains("iron/kettle?color=573E7A"), "{shown}");
    assert_eq!(&text[window.matches[0].clone()], "color");
    let (shown, _) = shown_beside(&text, &[comment, badge, badge], "badges", 60);
    assert_eq!(shown, "![Version](…) Badges.\n\nAn iron [kettle](…) here.");
}

#[test]
fn a_window_begins_with_what_is_read() {
    let comment = "<!-- a comment of forty characters at least -->";
    let text = format!("{comment} {comment}\nthe lid is here");
    let (shown, _) = shown_beside(&text, &[comment, comment], "lid", 60);
    assert_eq!(shown, "the lid is here");
    let (shown, _) = shown_beside(&text, &[comment, comment], "nothing", 60);
    assert_eq!(shown, "the lid is here");
}

/// A window ends with what is read, and so do its lines.
#[test]
fn a_window_ends_with_what_is_read() {
    let comment = "<!-- a comment of forty characters at least -->";
    let text = format!("the lid is here\n\n{comment}\n{comment}\n");
    let (shown, window) = shown_beside(&text, &[comment, comment], "lid", 60);
    assert_eq!(shown, "the lid is here");
    assert_eq!(window.bytes, 0..15);
}

/// L64: many words that match much take no longer than their text.
#[test]
fn asides_full_of_repeated_words_take_no_longer() {
    let aside = "zq ".repeat(30_000);
    let text = format!("x {aside} y");
    let span = |bytes: Range<usize>, is_aside| Searched { bytes, is_aside };
    let spans = [span(0..2, false), span(2..2 + aside.len(), true)];
    let analyzer = &mut Analyzer::new(Language::English);
    let begun = std::time::Instant::now();
    best_passage(&text, &spans, &parse(&"zq ".repeat(256)), analyzer, 240).expect("a window");
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}

#[test]
fn short_tags_stay() {
    let (shown, _) = shown_beside("press <kbd>Ctrl</kbd> twice", &["<kbd>", "</kbd>"], "ctrl", 60);
    assert_eq!(shown, "press <kbd>Ctrl</kbd> twice");
}
