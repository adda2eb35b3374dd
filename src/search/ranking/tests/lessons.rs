//! What other projects' users complained about, and what the query language promises.

use super::{Note, index, keys, note, search};
use crate::search::index::PartitionSet;

/// L26: rubbish looks unlike a hit: it has none.
#[test]
fn nonsense_words_find_nothing() {
    let soup = note("Garlic soup", "Simmer the garlic slowly.");
    let index = index([("soup.md", &soup)]);
    let found = search(&index, PartitionSet::ALL, "xqzwvk brmpfh qqqqqqqqqq");
    assert!(found.hits.is_empty() && found.total == 0 && found.corrected.is_empty(), "{found:?}");
}

/// L31: notes with all words come first, however often others repeat one of them, and
/// the others follow.
#[test]
fn notes_with_all_words_stand_before_those_with_some() {
    let filler = "lorem ipsum dolor ".repeat(60);
    let both = note("A", &format!("{filler} heat {filler} pump {filler}"));
    let one = note("B", "heat heat heat heat heat heat");
    let none = note("C", "leek");
    let index = index([("a.md", &both), ("b.md", &one), ("c.md", &none)]);
    assert_eq!(keys(&index, "heat pump"), ["a.md", "b.md"]);
    assert_eq!(keys(&index, "+pump heat"), ["a.md"]);
    assert_eq!(keys(&index, "heat -pump"), ["b.md"]);
}

/// A word that nobody has takes nothing from those that have all the others.
#[test]
fn an_unknown_word_does_not_hide_which_notes_have_all_others() {
    let filler = "lorem ipsum dolor ".repeat(60);
    let both = note("A", &format!("{filler} heat {filler} pump {filler}"));
    let one = note("B", "heat heat heat heat heat heat");
    let index = index([("a.md", &both), ("b.md", &one)]);
    assert_eq!(keys(&index, "heat pump xqzwvk"), ["a.md", "b.md"]);
    assert!(keys(&index, "heat +xqzwvk").is_empty());
}

/// L27: what is called exactly so stands first, by title or by file name.
#[test]
fn the_exact_title_comes_first() {
    let exact = note("Docker Compose", "Notes to come.");
    let often = note("Things", &"docker compose ".repeat(30));
    let index = index([("z.md", &exact), ("a.md", &often), ("exact-name.md", &note("X", "y"))]);
    assert_eq!(keys(&index, "docker compose")[0], "z.md");
    assert_eq!(keys(&index, "Docker composes")[0], "z.md");
}

/// L20: words that stand together count more than the same words apart.
#[test]
fn adjacent_words_rank_above_scattered_ones() {
    let scattered = note("A", "the heat of the summer and the water pump");
    let adjacent = note("B", "the summer of the water and the heat pump");
    let index = index([("a.md", &scattered), ("b.md", &adjacent)]);
    assert_eq!(keys(&index, "heat pump"), ["b.md", "a.md"]);
    assert_eq!(keys(&index, "\"heat pump\""), ["b.md"]);
}

/// L16, L18: an identifier is found whole, in parts, and by its parts in another
/// spelling; quoted it finds no less.
#[test]
fn identifiers_are_found_whole_and_in_parts() {
    let ticket = note("A", "Fixed in PIO-1384 by apply_secrets.");
    let other = note("B", "PIO and, far away, 1384");
    let index = index([("a.md", &ticket), ("b.md", &other)]);
    assert_eq!(keys(&index, "PIO-1384")[0], "a.md");
    assert_eq!(keys(&index, "\"PIO-1384\"")[0], "a.md");
    assert_eq!(keys(&index, "apply_secrets"), ["a.md"]);
    assert_eq!(keys(&index, "secrets"), ["a.md"]);
    assert_eq!(keys(&index, "\"apply secrets\""), ["a.md"]);
}

/// Typo tolerance is the last resort: only for a word that no note has, and it is said.
#[test]
fn a_mistyped_word_is_corrected_if_no_note_has_it() {
    let garlic = note("A", "garlic soup");
    let kettle = note("B", "kettle");
    let index = index([("a.md", &garlic), ("b.md", &kettle)]);
    let found = search(&index, PartitionSet::ALL, "gralic");
    assert_eq!(found.corrected, [("gralic".to_owned(), "garlic".to_owned())]);
    assert_eq!(keys(&index, "gralic"), ["a.md"]);
    assert!(search(&index, PartitionSet::ALL, "soup").corrected.is_empty());
    assert!(keys(&index, "title:soup").is_empty(), "a word that is there is not mistyped");
}

/// Words count in the title alone if that is what is asked for.
#[test]
fn a_word_may_be_asked_for_in_the_title() {
    let titled = note("Soup", "leek");
    let other = note("Leek", "soup");
    let index = index([("a.md", &titled), ("b.md", &other)]);
    assert_eq!(keys(&index, "title:soup"), ["a.md"]);
    assert_eq!(keys(&index, "leek -title:leek"), ["a.md"]);
}

/// A query without anything to score lists what the filters leave, in the order that
/// the caller gives, here by length.
#[test]
fn filters_alone_list_in_the_order_of_the_caller() {
    let short = note("A", "leek");
    let long = note("B", "leek and more");
    let tagged = super::Note { tags: vec!["food".to_owned()], ..note("C", "x") };
    let index = index([("b.md", &long), ("a.md", &short), ("c.md", &tagged)]);
    assert_eq!(keys(&index, "-nothing"), ["c.md", "a.md", "b.md"]);
    assert_eq!(keys(&index, "-more"), ["c.md", "a.md"]);
    assert_eq!(keys(&index, "tag:food"), ["c.md"]);
    assert_eq!(keys(&index, "-tag:food path:B"), ["b.md"]);
    assert!(search(&index, PartitionSet::ALL, "-more").hits.iter().all(|hit| hit.score.is_none()));
    assert_eq!(search(&index, PartitionSet::ALL, "-more").total, 2);
    assert!(search(&index, PartitionSet::NONE, "-more").hits.is_empty());
}

#[test]
fn one_of_several_tags_titles_or_paths_will_do() {
    let soup = super::Note { tags: vec!["food".to_owned()], ..note("Soup", "leek") };
    let leek = note("Leek", "soup");
    let ham = super::Note { tags: vec!["work".to_owned()], ..note("Ham", "leek and soup") };
    let index = index([("a.md", &soup), ("b.md", &leek), ("c.md", &ham)]);
    let found = |text| {
        let mut keys = keys(&index, text);
        keys.sort_unstable();
        keys
    };
    assert_eq!(found("title:soup OR title:ham"), ["a.md", "c.md"]);
    assert_eq!(found("leek title:soup OR title:leek"), ["a.md", "b.md"]);
    assert_eq!(found("tag:food OR tag:work"), ["a.md", "c.md"]);
    assert_eq!(found("tag:food OR path:B -ham"), ["a.md", "b.md"]);
    assert_eq!(found("tag:food OR \"leek and soup\""), ["a.md", "c.md"]);
    // Who has the words stands before who only has the tag.
    assert_eq!(keys(&index, "tag:food OR \"leek and soup\""), ["c.md", "a.md"]);
    assert_eq!(keys(&index, "tag:food OR +ham"), ["c.md", "a.md"]);
    assert_eq!(keys(&index, "tag:food OR tag:work OR +nothing"), ["a.md", "c.md"]);
    assert_eq!(found("tag:no OR title:nothing"), Vec::<String>::new());
    // A mistyped word of a choice is corrected as any other.
    assert_eq!(found("title:soupp OR title:nothing"), ["a.md"]);
}

/// L68: hidden notes do not change what is suggested.
#[test]
fn related_notes_share_telling_words() {
    let notes = [
        note("Leek soup", "Simmer leek and potato in stock, then puree the leek."),
        note("Potato soup", "Simmer potato in stock; a leek gives it depth."),
        note("Kernel", "The scheduler preempts threads."),
        note("Threads", "A scheduler of threads in a kernel."),
    ];
    let index = index(["a.md", "b.md", "c.md", "d.md"].into_iter().zip(&notes));
    let related = index.related(PartitionSet::ALL, "a.md", &|_, _| true, 5);
    assert_eq!(related.iter().map(|near| &*near.key).collect::<Vec<_>>(), ["b.md"]);
    assert!(related[0].shared.contains(&"leek".to_owned()), "{related:?}");
    assert!(index.related(PartitionSet::NONE, "a.md", &|_, _| true, 5).is_empty());
}

/// L64: a pasted text in a language that no note has is not corrected word for word.
#[test]
fn the_first_few_words_are_corrected() {
    let words = ["garlic", "lantern", "pumpkin", "butter", "flower", "window", "basket", "letter"];
    let all = note("A", &format!("{} orchard summer", words.join(" ")));
    let index = index([("a.md", &all)]);
    let mistyped: Vec<String> = words.iter().map(|word| format!("{word}x")).collect();
    let text = format!("{0} +{0} {1} orchardx summerx", mistyped[0], mistyped.join(" "));
    let corrected = search(&index, PartitionSet::ALL, &text).corrected;
    let typed: Vec<&String> = corrected.iter().map(|(typed, _)| typed).collect();
    assert_eq!(typed, mistyped.iter().collect::<Vec<_>>());
}

/// What queries of 4 KiB cost, each made to cost much.
/// `cargo test --release --lib figures_of_long -- --ignored --nocapture`
#[test]
#[ignore = "prints figures"]
fn figures_of_long_queries() {
    let mut state = 1_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 11
    };
    let word = |number: u64| -> String {
        let letter = |place: u32| char::from(b'a' + (number / 26_u64.pow(place) % 26) as u8);
        (0..7).map(|place| letter(place % 4)).collect()
    };
    let mut text = || -> String {
        // Few words are frequent, many are rare.
        let mut one = || 60_000_u64 / (1 + random() % 60_000) + random() % 3;
        (0..500).map(|_| word(one() * 7) + " ").collect()
    };
    let notes: Vec<(String, Note)> = (0..10_000)
        .map(|number| (format!("folder {}/A note {number}.md", number % 50), note("N", &text())))
        .collect();
    let index = index(notes.iter().map(|(key, note)| (&**key, note)));
    let list = |piece: &dyn Fn(u64) -> String| {
        let mut text = String::new();
        let mut number = 0;
        while text.len() < 4_096 {
            text += &piece(number);
            text.push(' ');
            number += 1;
        }
        text.truncate(4_096);
        text
    };
    let queries = [
        ("unknown words", list(&|number| word(number * 7919) + "q")),
        ("frequent words", list(&|number| word(number * 7))),
        (
            "phrases",
            list(&|number| format!("\"{} {}\"", word(7 * (number % 16)), word(7 * (number / 16)))),
        ),
        (
            "excluded phrases",
            list(&|number| format!("-\"{} {}\"", word(7 * (number % 16)), word(7 * (number / 16)))),
        ),
        (
            "title phrases",
            list(&|number| {
                format!("title:\"{} {}\"", word(7 * (number % 16)), word(7 * (number / 16)))
            }),
        ),
        (
            "identifiers",
            list(&|number| format!("{}_{}", word(7 * (number % 16)), word(7 * (number / 16)))),
        ),
        ("one long phrase", format!("\"{}\"", list(&|number| word(7 * (number % 5))))),
        ("paths", list(&|number| format!("path:{}", number % 10))),
        ("excluded paths", list(&|number| format!("-path:x{number}"))),
        ("excluded tags", list(&|number| format!("-tag:x{number}"))),
    ];
    for (what, text) in queries {
        let begun = std::time::Instant::now();
        let found = search(&index, PartitionSet::ALL, &text);
        println!("{what}: {:?}, {} notes", begun.elapsed(), found.total);
    }
}
