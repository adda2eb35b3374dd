use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::lenient::{limit, text, texts, whole, yes_unless_no};
use crate::mcp::uri::{Target, VaultUri};

#[derive(Debug, PartialEq, Deserialize)]
struct Arguments {
    #[serde(default, deserialize_with = "whole")]
    number: u32,
    #[serde(default, deserialize_with = "text")]
    text: String,
    #[serde(default, deserialize_with = "texts")]
    list: Vec<String>,
    #[serde(default, deserialize_with = "yes_unless_no")]
    flag: bool,
}

fn number(value: Value) -> Option<u32> {
    serde_json::from_value::<Arguments>(json!({ "number": value })).ok().map(|one| one.number)
}

#[test]
fn numbers_are_read_in_every_form_that_models_write() {
    for (value, expected) in [
        (json!(5), 5),
        (json!(5.0), 5),
        (json!(5.9), 5),
        (json!("5"), 5),
        (json!(" 5.0 "), 5),
        (json!(""), 0),
        (json!(null), 0),
        (json!(-3), 0),
        (json!("-3"), 0),
        (json!(4_294_967_296_u64), u32::MAX),
        (json!(1e300), u32::MAX),
        (json!(u64::MAX), u32::MAX),
    ] {
        assert_eq!(number(value.clone()), Some(expected), "{value}");
    }
    for value in [json!("many"), json!("NaN"), json!([5]), json!({}), json!(true)] {
        assert_eq!(number(value.clone()), None, "{value}");
    }
    assert_eq!(limit(0, 10, 100), 10);
    assert_eq!(limit(1, 10, 100), 1);
    assert_eq!(limit(u32::MAX, 10, 100), 100);
}

#[test]
fn null_is_not_given_and_one_text_is_a_list() {
    let read = |value: Value| serde_json::from_value::<Arguments>(value);
    let given = json!({ "number": null, "text": null, "list": null, "flag": null });
    let expected = Arguments { number: 0, text: String::new(), list: vec![], flag: true };
    assert_eq!(read(given).unwrap(), expected);
    assert_eq!(read(json!({ "list": "a.md" })).unwrap().list, ["a.md"]);
    assert_eq!(read(json!({ "list": ["a.md", "b.md"] })).unwrap().list, ["a.md", "b.md"]);
    for (value, expected) in
        [(json!("False"), false), (json!(0), false), (json!("yes"), true), (json!(true), true)]
    {
        assert_eq!(read(json!({ "flag": value })).unwrap().flag, expected, "{value}");
    }
    for wrong in [json!({ "text": 5 }), json!({ "list": [5] }), json!({ "flag": "maybe" })] {
        assert!(read(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn addresses_are_read_as_they_are_written() {
    for (vault, path, expected) in [
        ("", "a.md", "vault://notes/a.md"),
        (
            "",
            "garden/Höhe & Breite #1?.md",
            "vault://notes/garden/H%C3%B6he%20%26%20Breite%20%231%3F.md",
        ),
        ("", "100%25.md", "vault://notes/100%2525.md"),
        ("", "tags", "vault://notes/tags"),
        ("my work", "a.md", "vault://notes/a.md?vault=my%20work"),
        ("notes", "notes/x.md", "vault://notes/notes/x.md?vault=notes"),
    ] {
        let uri = VaultUri::of_note(vault, path);
        assert_eq!(uri.to_string(), expected);
        assert_eq!(VaultUri::parse(expected), Some(uri));
    }
    // RFC 6570 encodes slashes of a simple variable.
    let encoded = VaultUri::parse("VAULT://notes/garden%2FTomatoes.md#watering");
    assert_eq!(encoded, Some(VaultUri::of_note("", "garden/Tomatoes.md")));
    let overview = |vault: &str, target| Some(VaultUri { vault: vault.to_owned(), target });
    assert_eq!(VaultUri::parse("vault://tags"), overview("", Target::Tags));
    assert_eq!(VaultUri::parse("vault://recent/?vault=work"), overview("work", Target::Recent));
    for text in [
        "",
        "vault:",
        "vault://",
        "vault://other",
        "vault://notes",
        "file:///etc/passwd",
        "vault://notes/%ff.md",
        "vault://notes/a.md?path=b.md",
        "väult://notes/a.md",
    ] {
        assert_eq!(VaultUri::parse(text), None, "{text}");
    }
}
