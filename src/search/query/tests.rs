use jiff::civil::date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use proptest::prelude::*;

use super::{Choice, Clause, Query, TermGroup, tag_key};
use crate::search::analysis::{Language, Languages};

fn today() -> ZonedDateTime {
    date(2024, 5, 17).at(15, 30, 0, 0).to_zoned_datetime(TimeZone::UTC).expect("a moment")
}

fn parse(text: &str) -> Query {
    Query::parse(text, &Languages::default(), &today())
}

/// A clause as a reader would write it: `+` required, `title:`, alternatives by `/`,
/// parts by `~`, words of a phrase by blanks.
fn written(clause: &Clause) -> String {
    let word = |word: &TermGroup| {
        let mut forms: Vec<String> = word.alternatives.iter().map(ToString::to_string).collect();
        if !word.parts.is_empty() {
            let parts: Vec<String> = word.parts.iter().map(|terms| terms.join("/")).collect();
            forms.push(parts.join("~"));
        }
        forms.join("/")
    };
    let words: Vec<String> = clause.words.iter().map(word).collect();
    let sign = if clause.is_required { "+" } else { "" };
    let field = if clause.in_title { "title:" } else { "" };
    format!("{sign}{field}{}", words.join(" "))
}

#[track_caller]
fn check(text: &str, scored: &[&str], excluded: &[&str]) {
    let query = parse(text);
    let found: Vec<String> = query.scored.iter().map(written).collect();
    assert_eq!(found, scored, "{text:?}");
    let found: Vec<String> = query.excluded.iter().map(written).collect();
    assert_eq!(found, excluded, "{text:?}");
}

#[test]
fn words_are_looked_for_by_stem_and_as_they_are() {
    check("heat pumps", &["heat", "pump/pumps"], &[]);
    check("Running", &["run/running"], &[]);
    check("", &[], &[]);
    check("?! -- \"\" +", &[], &[]);
}

/// A word of a query is reduced as each language of the vault would do it.
#[test]
fn every_language_of_the_vault_is_asked() {
    let languages = Languages::new([Language::English, Language::German]);
    let query = Query::parse("Häuser", &languages, &today());
    assert_eq!(written(&query.scored[0]), "hauser/haus");
    let query = Query::parse("the die house", &languages, &today());
    assert_eq!(query.ignored, ["the", "die"]);
}

#[test]
fn signs_require_and_exclude() {
    check("+kettle -lid pot", &["+kettl/kettle", "pot"], &["lid"]);
    check("-\"iron lid\" pot", &["pot"], &["iron lid"]);
    check("+\"iron lid\"", &["+iron lid"], &[]);
    check("-lid", &[], &["lid"]);
}

/// L17: a hyphen negates only after a blank or at the start.
#[test]
fn a_hyphen_within_a_word_is_no_minus() {
    check("one-eyed", &["oneey/oneeyed/one~eye/eyed"], &[]);
    check("10-20", &["10-20/10~20"], &[]);
    check("\"lid\"-pot", &["lid", "pot"], &[]);
    check("--dry-run", &["dryrun/dri/dry~run"], &[]);
}

/// L19: a lone dash is text, as is every operator between quotation marks.
#[test]
fn lone_dashes_and_quoted_operators_are_text() {
    check("Soup - Stew", &["soup", "stew"], &[]);
    check("\"ssh -T host\"", &["ssh t host"], &[]);
    check("\"tag:x -y\" z", &["tag x y", "z"], &[]);
}

#[test]
fn quotation_marks_of_every_kind_make_phrases() {
    for text in ["\"iron lid\"", "“iron lid”", "„iron lid“", "«iron lid»", "”iron lid\""]
    {
        check(text, &["iron lid"], &[]);
    }
    check("lid\"iron pot\"", &["lid", "iron pot"], &[]);
    check("\"unbalanced lid", &["unbalanc/unbalanced", "lid"], &[]);
    check("5\" nail", &["5", "nail"], &[]);
    check("-\"lid", &["lid"], &[]);
}

/// L16: an identifier is its whole form, or its parts side by side; quoted it finds
/// what it finds bare.
#[test]
fn identifiers_are_looked_for_whole_and_in_parts() {
    check("load_settings", &["loadsettings/load~set/settings"], &[]);
    check("ABC-42", &["abc42/abc~42"], &[]);
    check("mod::item", &["moditem/mod~item"], &[]);
    check("vue.js", &["vuejs/vue~js"], &[]);
    check("parseLine", &["parselin/parseline/pars/parse~line"], &[]);
    check("g(a)=b*c", &["g~a~b~c"], &[]);
    check("C++", &["c++"], &[]);
    check("5.11.2023", &["5.11.2023/2023-11-05/5~11~2023"], &[]);
    for text in ["load_settings", "ABC-42", "mod::item", "parseLine", "C#", "@a/b", "ﬁx.me"] {
        assert_eq!(parse(text).scored, parse(&format!("\"{text}\"")).scored, "{text}");
    }
}

/// L21: apostrophes are no operators, and make no difference.
#[test]
fn apostrophes_are_part_of_words() {
    check("O'Neill", &["oneil/oneill/o~neill"], &[]);
    check("isn’t", &["isnt"], &[]);
}

#[test]
fn what_has_no_blanks_is_looked_for_by_its_pairs() {
    check("猫", &["猫"], &[]);
    check("花见会", &["花见~见会"], &[]);
    check("今天花见会", &["今天", "天花", "花见", "见会"], &[]);
    check("\"今天花见会\"", &["今天~天花~花见~见会"], &[]);
    check("+今天花见会", &["+今天~天花~花见~见会"], &[]);
    check("도서관에서", &["도서관에서/도서~서관~관에~에서"], &[]);
    check("先run再", &["先", "run", "再"], &[]);
}

#[test]
fn frequent_words_are_ignored_unless_there_are_no_others() {
    let query = parse("how to boil the egg");
    assert_eq!(query.scored.len(), 2);
    assert_eq!(query.ignored, ["how", "to", "the"]);
    assert_eq!(query.interpreted(), "boil egg");
    check("the of", &["the", "of"], &[]);
    check("OR", &["or"], &[]);
    check("tag:x the", &["the"], &[]);
    check("\"to be\" egg", &["to be", "egg"], &[]);
    check("+the egg", &["+the", "egg"], &[]);
    check("eggs and not ham", &["egg/eggs", "ham"], &[]);
}

#[test]
fn what_follows_not_is_excluded() {
    check("eggs NOT ham", &["egg/eggs"], &["ham"]);
    check("eggs AND NOT \"iron lid\"", &["egg/eggs"], &["iron lid"]);
    check("NOT ham", &[], &["ham"]);
    check("eggs NOT title:ham", &["egg/eggs"], &["title:ham"]);
    assert_eq!(parse("eggs NOT tag:ham").tags, [(false, "ham".into())]);
    assert_eq!(parse("eggs NOT ham").interpreted(), "eggs -ham");
    check("database NOT SQL", &["databas/database"], &["sql"]);
    check("eggs NOT \"IRON LID\"", &["egg/eggs"], &["iron lid"]);
    // An error message, a quotation, and a sign of its own.
    check("HTTP 404 NOT OK", &["http", "404", "ok"], &[]);
    check("error NOT FOUND", &["error", "found"], &[]);
    check("eggs \"NOT\" ham", &["egg/eggs", "not", "ham"], &[]);
    check("eggs NOT +ham", &["egg/eggs", "+ham"], &[]);
    check("eggs NOT", &["egg/eggs"], &[]);
}

#[test]
fn of_what_or_joins_one_is_needed() {
    let choices = |text: &str| -> Vec<Vec<String>> {
        let name = |choice: &Choice| match choice {
            Choice::Tag(tag) => format!("tag:{tag}"),
            Choice::Path(path) => format!("path:{path}"),
            Choice::Words(clauses) => {
                let words = clauses.iter().flat_map(|clause| &clause.words);
                words.map(|word| word.typed.clone()).collect::<Vec<_>>().join("~")
            }
        };
        let query = parse(text);
        query.choices.iter().map(|choices| choices.iter().map(name).collect()).collect()
    };
    assert_eq!(choices("title:pot OR title:lid"), [["pot", "lid"]]);
    check("title:pot OR title:lid", &["title:pot", "title:lid"], &[]);
    assert_eq!(
        choices("iron tag:Pot OR tag:lid OR path:Old/"),
        [["tag:pot", "tag:lid", "path:old/"]]
    );
    check("iron tag:pot OR tag:lid", &["iron"], &[]);
    assert_eq!(choices("tag:a OR tag:b tag:c OR +d"), [["tag:a", "tag:b"], ["tag:c", "d"]]);
    assert_eq!(choices("tag:a OR \"iron lid\""), [["tag:a", "iron~lid"]]);
    assert_eq!(parse("tag:a OR \"iron lid\"").interpreted(), "tag:a OR \"iron lid\"");
    // A word that a note may do without counts only if there are no others.
    check("tag:a OR iron", &["iron"], &[]);
    check("tag:a OR iron pot", &["pot"], &[]);
    check("the tag:a OR iron", &["iron"], &[]);
    for (text, is_optional) in [("tag:a OR iron", true), ("pot tag:a OR iron", false)] {
        assert_eq!(parse(text).is_scored_optionally, is_optional, "{text}");
    }
    // Any word may match in any case; days, exclusions and what is nothing are no choice.
    for text in ["pot OR lid", "tag:a OR", "OR tag:a", "tag:a OR -tag:b", "tag:a OR ?"] {
        assert_eq!(choices(text), Vec::<Vec<String>>::new(), "{text}");
    }
    check("pot OR lid", &["pot", "lid"], &[]);
    assert_eq!(parse("pot OR lid").ignored, Vec::<String>::new());
    assert_eq!(choices(&"tag:a OR tag:b ".repeat(9)).len(), 1);
    let many: Vec<String> = (0..99).map(|number| format!("tag:{number}")).collect();
    let many = parse(&many.join(" OR "));
    assert_eq!((many.choices.len(), many.ignored.len()), (0, 1));
}

/// Operators that join nothing are no words beside filters.
#[test]
fn operators_are_looked_for_only_if_there_is_nothing_else() {
    for text in ["tag:x AND path:y", "NOT tag:x AND path:y", "after:2020 AND", "-ham OR"] {
        check(text, &[], if text.contains("ham") { &["ham"] } else { &[] });
    }
    check("AND", &["and"], &[]);
    check("the OR", &["the"], &[]);
}

/// Agents put parentheses around what `OR` joins, and commas behind filters.
#[test]
fn punctuation_around_filters_is_no_part_of_them() {
    let query = parse("(tag:pot OR tag:lid) iron");
    assert_eq!(query.interpreted(), "tag:pot OR tag:lid iron");
    let filtered = |text: &str| parse(text).tags;
    assert_eq!(filtered("tag:pot, iron"), [(true, "pot".into())]);
    assert_eq!(filtered("(NOT (tag:pot)); iron"), [(false, "pot".into())]);
    assert_eq!(parse("path:notes/(old) iron").paths, [(true, "notes/(old)".into())]);
    check("((\"iron lid\"))", &["iron lid"], &[]);
    check("(iron lid)", &["iron", "lid"], &[]);
}

#[test]
fn without_a_letter_nothing_is_asked_and_a_star_asks_for_all() {
    for nothing in ["\"", "+", "- -", "\"\"", "?!", "**"] {
        assert!(parse(nothing).asks_nothing(), "{nothing}");
    }
    assert!(!parse(" * ").asks_nothing());
    assert_eq!(parse("*").interpreted(), "*");
    for something in ["-ham", "tag:x", "after:7d", "the", "x"] {
        assert!(!parse(something).asks_nothing(), "{something}");
    }
}

#[test]
fn titles_tags_and_paths_are_fields() {
    check("title:lid", &["+title:lid"], &[]);
    check("TITLE:\"iron lid\" -title:pot", &["+title:iron lid"], &["title:pot"]);
    let query = parse("tag:#Inbox -tag:\"to do\" path:Wiki/ -path:old");
    let filters = |list: &[(bool, Box<str>)]| -> Vec<(bool, String)> {
        list.iter().map(|(is_wanted, text)| (*is_wanted, text.to_string())).collect()
    };
    assert_eq!(filters(&query.tags), [(true, "inbox".into()), (false, "to do".into())]);
    assert_eq!(filters(&query.paths), [(true, "wiki/".into()), (false, "old".into())]);
    assert!(query.scored.is_empty() && query.whole.is_empty());
}

#[test]
fn what_is_no_field_is_text() {
    check("key:ctrl", &["keyctrl/key~ctrl"], &[]);
    check("after:dinner", &["afterdinner/after~dinner"], &[]);
    check("before:2024-13-01", &["before2024-13-01/befor/before~2024~13~01"], &[]);
    check("tag:# soup", &["tag", "soup"], &[]);
    check("title: soup", &["titl/title", "soup"], &[]);
    check("subtitle:soup", &["subtitlesoup/subtitl/subtitle~soup"], &[]);
    check("after:\"next week\"", &["after next week"], &[]);
}

/// L36: a tag is compared as Obsidian does it.
#[test]
fn tags_have_one_form() {
    assert_eq!(tag_key("#Inbox/To-Read/"), "inbox/to-read");
    assert_eq!(tag_key("E\u{301}TE\u{301}"), "été");
    assert_eq!(tag_key("#"), "");
}

/// L57: `before:` excludes its day, `after:` begins with it.
#[test]
fn dates_are_half_open_ranges() {
    let at = |text: &str| text.parse::<Timestamp>().expect("a timestamp");
    let range = |text: &str| {
        let query = parse(text);
        assert!(query.scored.is_empty(), "{text:?} has words");
        (query.from(), query.until())
    };
    let day = |text: &str| Some(at(&format!("{text}T00:00:00Z")));
    assert_eq!(range("after:2024-03-09"), (day("2024-03-09"), None));
    assert_eq!(range("before:2024-03-09"), (None, day("2024-03-09")));
    assert_eq!(range("after:2023 before:2024"), (day("2023-01-01"), day("2024-01-01")));
    assert_eq!(range("after:2024/2"), (day("2024-02-01"), None));
    assert_eq!(range("after:7d"), (day("2024-05-10"), None));
    assert_eq!(range("before:2w"), (None, day("2024-05-03")));
    assert_eq!(range("after:3M"), (day("2024-02-17"), None));
    assert_eq!(range("after:1y"), (day("2023-05-17"), None));
    assert_eq!(range("after:today before:\"yesterday\""), (day("2024-05-17"), day("2024-05-16")));
    assert_eq!(range("-after:2024-03-09"), (None, day("2024-03-09")));
    assert_eq!(range("after:2020 after:2022 after:2021"), (day("2022-01-01"), None));
    let query = parse("after:2024-03-09 before:2024-03-10");
    assert!(query.covers(at("2024-03-09T00:00:00Z")) && query.covers(at("2024-03-09T23:59:59Z")));
    assert!(!query.covers(at("2024-03-10T00:00:00Z")));
    assert!(!query.covers(at("2024-03-08T23:59:59Z")));
    // The day begins where the server is.
    let zone = TimeZone::fixed(jiff::tz::offset(5));
    let there = today().with_time_zone(zone);
    let query = Query::parse("after:2024-03-09", &Languages::default(), &there);
    assert_eq!(query.from(), Some(at("2024-03-08T19:00:00Z")));
}

#[test]
fn the_normal_form_says_how_a_query_was_read() {
    let interpreted = |text: &str| parse(text).interpreted().to_owned();
    assert_eq!(
        interpreted("  (Heat)  „garden   hose“ +Pump -Tag:Draft after:7d, after:7d the"),
        "Heat \"garden hose\" +Pump -tag:draft after:2024-05-10"
    );
    assert_eq!(interpreted("before:2024 -\"a b\" title:x"), "-\"a b\" title:x before:2024-01-01");
    assert_eq!(interpreted("(title:x"), "title:x");
    assert_eq!(interpreted("x(title:x"), "x(title:x");
    assert_eq!(interpreted("path:\"My Notes\""), "path:\"my notes\"");
    assert_eq!(interpreted("\"the\""), "\"the\"");
}

#[test]
fn a_query_of_mere_words_may_be_a_title() {
    assert_eq!(parse("The iron lids").whole, ["the iron lid".into()]);
    assert_eq!(parse("\"iron lid\"").whole, ["iron lid".into()]);
    assert!(parse("iron -lid").whole.is_empty());
}

#[test]
fn corrections_are_looked_for_too() {
    let mut query = parse("ketle");
    query.correct(&[("ketle".into(), "kettl".into())]);
    assert_eq!(written(&query.scored[0]), "ketl/ketle/kettl");
}

#[test]
fn queries_of_any_length_are_bounded() {
    let long = parse(&"word-with-parts ".repeat(10_000));
    assert!(long.scored.len() <= super::MOST_CLAUSES);
    let long = parse(&"今天花见会".repeat(10_000));
    assert!(long.scored.len() <= super::MOST_CLAUSES);
    for one in ["\"", "-", "+", "a\u{301}", "\u{301}", "é", "猫", "tag:", "-\"", "(", "after:9"] {
        let query = parse(&one.repeat(1_000_000));
        assert!(query.scored.len() + query.excluded.len() <= 2 * super::MOST_CLAUSES);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// L21: nothing that can be typed is an error, and the normal form of what was read
    /// is read as the same.
    #[test]
    fn any_text_is_a_query(text in "(?s).{0,300}") {
        let query = parse(&text);
        let again = parse(query.interpreted());
        prop_assert_eq!(again.interpreted(), query.interpreted());
    }

    #[test]
    fn any_text_of_operators_is_a_query(
        text in r#"([-+"“”:()' ]|tag:|title:|path:|after:|before:|2024|7d|the|pot|lid|C\+\+|a_b|aB|猫花| OR | NOT |X){0,25}"#,
    ) {
        let query = parse(&text);
        let again = parse(query.interpreted());
        prop_assert_eq!(again.interpreted(), query.interpreted());
        prop_assert_eq!(&again.tags, &query.tags);
        prop_assert_eq!(&again.paths, &query.paths);
        prop_assert_eq!(again.choices.len(), query.choices.len());
        prop_assert_eq!((again.from(), again.until()), (query.from(), query.until()));
        prop_assert_eq!(again.scored.len(), query.scored.len());
        prop_assert_eq!(&again.excluded, &query.excluded);
    }
}

/// L64: each filter counts once, and there are not so many that they hold a search up.
#[test]
fn equal_filters_are_one_and_there_are_not_too_many() {
    let equal = parse(&"path:a PATH:A tag:b -tag:b ".repeat(50));
    assert_eq!(equal.paths, [(true, "a".into())]);
    assert_eq!(equal.tags, [(true, "b".into()), (false, "b".into())]);
    let many: Vec<String> = (0..400).map(|number| format!("-path:p{number}")).collect();
    let many = parse(&many.join(" "));
    assert_eq!(many.paths.len(), 32);
    assert_eq!(many.paths[31], (false, "p31".into()));
    assert_eq!(many.ignored.len(), 368);
    assert_eq!(many.ignored[0], "-path:p32");
    assert!(many.interpreted().ends_with("-path:p31"));
}

/// L64: phrases and identifiers are not so many that they hold a search up.
#[test]
fn there_are_not_too_many_phrases() {
    let equal = parse(&"\"two words\" -\"no words\" ".repeat(60));
    assert_eq!((equal.scored.len(), equal.excluded.len()), (60, 1));
    let pieces = |number| format!("\"a{number} b\" -c{number}_d word{number}");
    let many = parse(&(0..100).map(pieces).collect::<Vec<_>>().join(" "));
    let phrases = many.scored.iter().chain(&many.excluded).filter(|clause| clause.is_phrase());
    assert_eq!(phrases.count(), 24);
    assert_eq!(many.ignored[..2], ["\"a12 b\"", "-c12_d"]);
    assert!(many.scored.iter().any(|clause| clause.words[0].typed == "word99"));
    assert!(!many.interpreted().contains("a12"));
}
