use super::{Folded, Query};

fn relevance(query: &str, title: &str, body: &str) -> Option<super::Relevance> {
    Query::parse(query)
        .expect("a query with words")
        .relevance(&Folded::of(title), &Folded::of(body))
}

#[test]
fn an_empty_query_asks_nothing() {
    assert_eq!(Query::parse(""), None);
    assert_eq!(Query::parse(" \t\n"), None);
}

#[test]
fn every_word_must_appear_in_any_letter_case() {
    assert!(relevance("Soup GARLIC", "A soup", "with garlic").is_some());
    assert!(relevance("soup onion", "A soup", "with garlic").is_none());
    assert!(relevance("ÉCLAIR", "", "e\u{301}clair").is_some());
    assert!(relevance("straße", "", "Die STRAßE").is_some());
}

#[test]
fn the_title_counts_before_the_number_of_occurrences() {
    let in_title = relevance("soup", "Soup", "").expect("a match");
    let often = relevance("soup", "Food", "soup soup soup").expect("a match");
    let once = relevance("soup", "Food", "soup").expect("a match");
    assert!(in_title < often);
    assert!(often < once);
}

#[test]
fn a_snippet_is_one_line_around_the_first_match() {
    let text = format!("{}\n\nthe  İNeedle\tis here\n{}", "hay ".repeat(100), "straw ".repeat(100));
    let query = Query::parse("needle").expect("a query with words");
    let snippet = query.snippet(&text);
    assert!(snippet.contains("the İNeedle is here straw"), "{snippet}");
    assert!(snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
    assert!(!snippet.contains('\n'));
    assert!(snippet.chars().count() <= super::SNIPPET_CHARACTERS + 2);
    assert_eq!(query.snippet("short"), "short");
    assert_eq!(query.snippet(""), "");
}

#[test]
fn quotation_marks_are_not_looked_for() {
    assert!(relevance("\"garlic soup\"", "", "soup with garlic").is_some());
    assert!(relevance("“garlic”", "", "garlic").is_some());
    assert!(relevance("\"", "", "soup").is_none());
}
