use std::time::{Duration, Instant};

use super::values::opened;
use crate::mcp::budget::{Budget, MOST_BYTES, as_json_too, once, twice};
use crate::mcp::render::opened::{as_text, part_of};
use crate::mcp::section::{Lines, Part, Rest, Start, excerpt, find};

const TEXT: &str = "# 🍅 Tomatoes\nfirst\nsecond ^quote\n## Watering\nevery day\n### In <b>summer</b>\n\
    twice\n## Offers\nnone\n# Beans\n## Watering\nseldom\n";

const HEADINGS: [(u8, &str, &str, u32, u32); 6] = [
    (1, "🍅 Tomatoes", "-tomatoes", 1, 9),
    (2, "Watering", "watering", 4, 7),
    (3, "In summer", "in-summer", 6, 7),
    (2, "Offers", "offers", 8, 9),
    (1, "Beans", "beans", 10, 12),
    (2, "Watering", "watering-1", 11, 12),
];

#[track_caller]
fn section(name: &str) -> (u32, u32) {
    let note = opened(TEXT, &HEADINGS);
    let lines = Lines::of(TEXT);
    let found = find(&note.parsed, &lines, &Part::Section(name.to_owned()));
    let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
    (*found.lines.start(), *found.lines.end())
}

/// L62, L63: a section is named by its text with or without `#`, by its anchor, by a
/// path, with or without emoji and markup, and it goes on to the next heading of its
/// level.
#[test]
fn sections_are_found_by_every_name_that_people_use() {
    for name in ["Offers", "offers", "## Offers", "##Offers", "#offers", " Offers ", "OFFERS"] {
        assert_eq!(section(name), (8, 9), "{name}");
    }
    for name in ["🍅 Tomatoes", "Tomatoes", "# Tomatoes", "#-tomatoes", "-tomatoes"] {
        assert_eq!(section(name), (1, 9), "{name}");
    }
    for name in ["In summer", "in-summer", "### In <b>summer</b>", "Watering > In summer"] {
        assert_eq!(section(name), (6, 7), "{name}");
    }
    assert_eq!(section("Tomatoes > In summer"), (6, 7), "a step may be left out");
    assert_eq!(section("Watering"), (4, 7), "the first of several");
    for name in ["watering-1", "#watering-1", "Beans > Watering", "# Beans > ## Watering"] {
        assert_eq!(section(name), (11, 12), "{name}");
    }
}

/// L64: many headings of one name do not hold the server up, whichever way they are
/// asked for.
#[test]
fn headings_without_number_take_no_time_without_end() {
    let same: Vec<_> = (1..=60_000).map(|line| (1, "same", "same", line, line)).collect();
    let note = opened(&"# same\n".repeat(60_000), &same);
    let lines = Lines::of(&note.text);
    let long = format!("same{}", " > same".repeat(1_000));
    for name in ["same > same", "none > same", "\u{1f345} none", &long] {
        let begun = Instant::now();
        let found = find(&note.parsed, &lines, &Part::Section(name.to_owned()));
        assert!(found.is_err(), "none lies below another");
        assert!(begun.elapsed() < Duration::from_secs(5), "{name}: {:?}", begun.elapsed());
    }
}

#[test]
fn a_heading_that_is_not_there_is_answered_with_those_that_are() {
    let note = opened(TEXT, &HEADINGS);
    for name in ["Nothing", "Offers > Watering", "#", "<b>", ">", "first"] {
        let found = find(&note.parsed, &Lines::of(TEXT), &Part::Section(name.to_owned()));
        let reason = found.expect_err(name).to_string();
        assert!(reason.contains("It has: 🍅 Tomatoes, Watering"), "{name}: {reason}");
    }
    let bare = opened("text", &[]);
    let found = find(&bare.parsed, &Lines::of("text"), &Part::Section("A".to_owned()));
    assert!(found.expect_err("none").to_string().contains("no headings"));
}

#[test]
fn of_several_sections_the_first_is_shown_and_the_others_are_named() {
    let part =
        part_of(&opened(TEXT, &HEADINGS), &Part::Section("Watering".to_owned()), Budget::of(1_000));
    let text = as_text(&part.unwrap());
    assert!(text.starts_with("a/note.md (lines 4-7 of 12)\n\n## Watering\n"), "{text}");
    assert!(text.contains("the others: #watering-1 (line 11)."), "{text}");
}

#[test]
fn blocks_and_lines() {
    let note = opened(TEXT, &HEADINGS);
    let lines = Lines::of(TEXT);
    let found = |part: &Part| find(&note.parsed, &lines, part).map(|found| found.lines);
    for id in ["quote", "^quote", "#^quote", "Quote"] {
        assert_eq!(found(&Part::Block(id.to_owned())), Ok(2..=3), "{id}");
    }
    assert!(found(&Part::Block("none".to_owned())).is_err());
    assert_eq!(found(&Part::Lines(3, 5)), Ok(3..=5));
    assert_eq!(found(&Part::Lines(3, 0)), Ok(3..=12), "to the end");
    assert_eq!(found(&Part::Lines(0, 3)), Ok(1..=3), "from the beginning");
    assert_eq!(found(&Part::Lines(5, 2)), Ok(5..=5), "never backwards");
    assert_eq!(found(&Part::Lines(3, 999)), Ok(3..=12));
    let reason = found(&Part::Lines(13, 14)).expect_err("behind the end").to_string();
    assert_eq!(reason, "The note has 12 lines.");
}

/// L8: lines are counted as editors do, and keep their ends.
#[test]
fn lines_end_with_any_of_the_three_ends() {
    for (text, expected) in [
        ("", vec![]),
        ("a", vec!["a"]),
        ("a\n", vec!["a\n"]),
        ("a\n\n", vec!["a\n", "\n"]),
        ("a\r\nb\rc\nd", vec!["a\r\n", "b\r", "c\n", "d"]),
        ("\r\r\n", vec!["\r", "\r\n"]),
    ] {
        let lines = Lines::of(text);
        let found: Vec<&str> = (1..=lines.count()).map(|line| lines.text(&(line..=line))).collect();
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(lines.text(&(1..=lines.count())), text);
    }
}

/// Going on with what is said to be left out reads every character once, whatever the
/// budget.
#[test]
fn what_is_left_out_can_be_got() {
    for most in 0..60 {
        let (mut start, mut read) = (Start { line: 1, character: 1 }, String::new());
        loop {
            let part =
                part_of(&opened(TEXT, &[]), &Part::Rest(start, 0), Budget::of(most)).unwrap();
            let text = serde_json::to_value(&part).unwrap();
            read.push_str(text["content"].as_str().unwrap());
            let number = |name: &str| text[name].as_u64().unwrap_or(0).try_into().unwrap();
            let next =
                Start { line: number("next_start_line"), character: number("next_start_char") };
            if next.line == 0 {
                break;
            }
            assert!((next.line, next.character) > (start.line, start.character), "no step back");
            let left_out = text["left_out"].as_str().unwrap();
            assert!(left_out.ends_with(&format!("; go on with {next}.")), "{left_out}");
            start = next;
        }
        assert_eq!(read, TEXT, "{most}");
    }
}

/// L61: one line may be longer than everything that an answer can hold.
#[test]
fn a_line_that_is_too_long_is_cut_between_characters() {
    let text = format!("{}\nnext\n", "\u{754c}".repeat(50_000));
    let lines = Lines::of(&text);
    let cut = excerpt(&lines, &(1..=2), 0, Budget::of(1_000_000));
    let shown = cut.text.chars().count();
    assert!(2 * cut.text.len() <= MOST_BYTES && 2 * cut.text.len() > MOST_BYTES - 6);
    assert!(cut.text.chars().all(|one| one == '\u{754c}'));
    let character = u32::try_from(shown + 1).unwrap();
    let next = Start { line: 1, character };
    let rest = Rest::EndOfLine { next, shown: 1..=shown, characters: 50_001, end: 2 };
    assert_eq!(cut.rest, rest);
    let end = excerpt(&lines, &(1..=2), 49_999, Budget::of(2));
    assert_eq!((&*end.text, end.rest), ("\u{754c}\n", Rest::Lines(2..=2)));
    let behind = excerpt(&lines, &(1..=2), 99_999, Budget::of(100));
    assert_eq!((&*behind.text, behind.rest), ("next\n", Rest::Nothing));
    let note = opened(&text, &[]);
    let part = part_of(&note, &Part::Lines(1, 1), Budget::of(10)).unwrap();
    let left_out = serde_json::to_value(&part).unwrap()["left_out"].clone();
    let expected = "Line 1 has 50001 characters, of which 1-10 are shown; \
        go on with start_line 1, start_char 11, end_line 1.";
    assert_eq!(left_out, expected);
}

/// What a budget takes for a text is what JSON takes.
#[test]
fn a_budget_counts_what_is_written() {
    let text: String =
        (0..0x300).filter_map(char::from_u32).chain(['\u{754c}', '\u{1f345}']).collect();
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let sum = |written: fn(char) -> usize| text.chars().map(written).sum::<usize>() + 2;
    let nested = json(&json(&text)).len() - "\"\\\"\\\"\"".len();
    assert_eq!(sum(once), json(&text).len());
    assert_eq!(sum(as_json_too) - 2, json(&text).len() - 2 + nested);
}

/// Of a long note the outline comes first, with lines and sizes, then the beginning.
#[test]
fn a_long_note_begins_with_its_outline() {
    let part = part_of(&opened(TEXT, &HEADINGS), &Part::Whole, Budget::of(100)).unwrap();
    let value = serde_json::to_value(&part).unwrap();
    assert_eq!(value["outline"].as_array().unwrap().len(), 6);
    let expected = serde_json::json!({
        "level": 2, "heading": "Offers", "anchor": "offers", "lines": [8, 9], "characters": 15,
    });
    assert_eq!(value["outline"][3], expected);
    assert_eq!(value["lines"], serde_json::json!([1, 4]));
    assert_eq!(value["next_start_line"], 5);
    assert_eq!(value["total_lines"], 12);
    assert_eq!(value["etag"], "etag-1");
    let text = as_text(&part);
    assert!(text.contains("\n  - Watering (4-7, "), "{text}");
    assert!(text.ends_with("[Lines 5-12 are left out; go on with start_line 5.]"), "{text}");
    let short = part_of(&opened(TEXT, &HEADINGS), &Part::Whole, Budget::of(10_000)).unwrap();
    assert!(serde_json::to_value(&short).unwrap()["outline"].is_null());
}

#[test]
fn an_empty_note_is_a_note() {
    let part = part_of(&opened("", &[]), &Part::Whole, Budget::of(100)).unwrap();
    assert_eq!(serde_json::to_value(&part).unwrap()["total_lines"], 0);
}

/// L61: several notes share one budget, in bytes too.
#[test]
fn a_budget_is_shared() {
    let text = "界\n".repeat(20_000);
    let mut budget = Budget::of(36_000);
    let mut bytes = 0;
    for number in 0..5 {
        let part = part_of(&opened(&text, &[]), &Part::Whole, budget.share(5 - number)).unwrap();
        budget = part.rest_of(budget);
        let part = serde_json::to_value(&part).unwrap();
        bytes += part["content"].as_str().unwrap().chars().map(twice).sum::<usize>();
    }
    assert!((MOST_BYTES - 50..=MOST_BYTES).contains(&bytes), "{bytes}");
}
