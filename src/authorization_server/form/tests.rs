//! Reading forms.

use proptest::prelude::*;
use proptest::sample::select;

use super::{Form, InvalidForm};
use crate::authorization_server::parameters::Parameters;
use crate::trials;

/// Checklist 4: empty is absent, also where it would be a second one.
#[test]
fn parameters_without_a_value_were_not_sent() {
    let form = Form::parse(b"a=&b&c=1&c=&=x&a=2").unwrap();
    assert_eq!(form.value("a"), Some("2"));
    assert_eq!(form.value("b"), None);
    assert_eq!(form.value("c"), Some("1"));
}

/// Checklist 3, 37; RFC 8707 section 2
#[test]
fn nothing_but_the_resource_may_be_repeated() {
    assert_eq!(Form::parse(b"a=1&a=1"), Err(InvalidForm::Duplicate));
    assert_eq!(Form::parse(b"a=1&%61=2"), Err(InvalidForm::Duplicate));
    let form = Form::parse(b"resource=1&resource=2").unwrap();
    assert_eq!(form.values("resource").collect::<Vec<_>>(), ["1", "2"]);
}

#[test]
fn decoding_is_strict() {
    let form = Form::parse(b"a=x+y%20z%2B&%C3%A4=%e2%82%ac&b=1=2").unwrap();
    assert_eq!(form.value("a"), Some("x y z+"));
    assert_eq!(form.value("\u{e4}"), Some("\u{20ac}"));
    assert_eq!(form.value("b"), Some("1=2"));
    for wrong in [&b"a=%"[..], b"a=%1", b"a=%g1", b"a=%1g", b"%=1", b"a=%c3", b"a=\xc3"] {
        assert_eq!(Form::parse(wrong), Err(InvalidForm::Encoding), "{wrong:?}");
    }
}

/// One way to write a character in a form.
fn written(character: char, style: u8) -> String {
    let mut buffer = [0; 4];
    let bytes = character.encode_utf8(&mut buffer).bytes();
    match (character, style) {
        (' ', 0) => "+".to_owned(),
        ('&' | '=' | '+' | '%' | ' ', _) | (_, 1) => {
            bytes.map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat()
        }
        (_, 2) => bytes.map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat(),
        _ => character.to_string(),
    }
}

/// A name or a value, and one of the ways to write it.
fn text(plain: impl Strategy<Value = String>) -> impl Strategy<Value = (String, String)> {
    (plain, proptest::collection::vec(0..5_u8, 1..5)).prop_map(|(plain, styles)| {
        let styles = styles.into_iter().cycle();
        let written = plain.chars().zip(styles).map(|(letter, style)| written(letter, style));
        let written = written.collect();
        (plain, written)
    })
}

const NAMES: [&str; 8] =
    ["code", "client_id", "scope", "resource", "Code", "code ", "", "re\u{17f}ource"];

fn pairs() -> impl Strategy<Value = Vec<((String, String), (String, String))>> {
    let name = select(&NAMES[..]).prop_map(str::to_owned);
    let value = prop_oneof![Just(String::new()), "[a-z&=+% \u{e9}]{1,4}", ".{1,6}"];
    proptest::collection::vec((text(name), text(value)), 0..6)
}

#[rustfmt::skip]
const PIECES: [&str; 20] = [
    "&", "&&", "=", "==", "+", "%", "%2", "%zz", "%26", "%3D", "%00", "%c3", "%C3%A9", "%ff", ";",
    "\u{e9}", "code=", "&code=1", "&resource=", "[]",
];

/// Whether a part of a form says something in UTF-8: what a decoder that replaces what it
/// cannot read leaves as it is.
fn is_readable(part: &str) -> bool {
    let escapes = part.split('%').skip(1);
    let is_hex = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(part).collect();
    escapes.into_iter().all(is_hex) && String::from_utf8(bytes).is_ok()
}

proptest! {
    #![proptest_config(trials::budget(4_096))]

    /// Checklist 3, 4, 37; RFC 6749 section 3.1: however it is written, each parameter is
    /// read as it was meant, and nothing but the resource stands there twice.
    #[test]
    fn hostile_forms_are_read_as_they_are_meant_or_refused(pairs in pairs()) {
        let written = pairs.iter().map(|((_, name), (_, value))| format!("{name}={value}"));
        let written = written.collect::<Vec<_>>().join("&");
        let sent: Vec<(&str, &str)> = pairs
            .iter()
            .map(|((name, _), (value, _))| (&**name, &**value))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let values = |wanted: &str| -> Vec<&str> {
            sent.iter().filter(|(name, _)| *name == wanted).map(|(_, value)| *value).collect()
        };
        let is_doubled = NAMES.iter().any(|name| *name != "resource" && values(name).len() > 1);
        let form = Form::parse(written.as_bytes());
        prop_assert_eq!(&form.clone().err(), &is_doubled.then_some(InvalidForm::Duplicate));
        let parameters = Parameters::parse(written.as_bytes()).unwrap();
        for name in NAMES {
            let expected = values(name);
            if let Ok(form) = &form {
                prop_assert_eq!(form.values(name).collect::<Vec<_>>(), &*expected);
            }
            prop_assert_eq!(parameters.all(name).collect::<Vec<_>>(), &*expected);
            match parameters.single(name) {
                Ok(value) => prop_assert!(expected.len() < 2 && value == expected.first().copied()),
                Err(_) => prop_assert!(expected.len() > 1),
            }
        }
    }

    /// Nothing is read that a lenient decoder would have to guess at, and what is read is
    /// what that decoder reads.
    #[test]
    fn hostile_encodings_are_never_guessed_at(
        text in trials::bent(
            Just("code=a%20b&scope=wiki%3Aread+wiki:people&resource=x&resource=%C3%A9".to_owned()),
            &PIECES,
        ),
    ) {
        let lenient: Vec<(String, String)> =
            form_urlencoded::parse(text.as_bytes()).into_owned().collect();
        let parts = || text.split('&').flat_map(|pair| pair.splitn(2, '='));
        let is_readable = parts().all(is_readable);
        let given = || lenient.iter().filter(|(_, value)| !value.is_empty());
        let is_doubled = given().any(|(name, _)| {
            name != "resource" && given().filter(|(other, _)| other == name).count() > 1
        });
        match Form::parse(text.as_bytes()) {
            Ok(form) => {
                prop_assert!(is_readable && !is_doubled, "{}", text);
                for (name, _) in given() {
                    let expected: Vec<&str> = given()
                        .filter(|(other, _)| other == name)
                        .map(|(_, value)| &**value)
                        .collect();
                    prop_assert_eq!(form.values(name).collect::<Vec<_>>(), expected);
                }
            }
            Err(_) => prop_assert!(!is_readable || is_doubled, "{}", text),
        }
        prop_assert_eq!(Parameters::parse(text.as_bytes()).is_ok(), is_readable);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Form::parse(&bytes);
    }
}

/// 64 KiB is the longest body that is read.
#[test]
fn hostile_shapes_of_forms_take_linear_time() {
    for shape in ["&", "=", "a", "a&", "=1&", "resource=1&", "%41", "+", "%", "&%72esource=%31"] {
        let is_linear = trials::is_linear(8 * 1024, |length| {
            let text = shape.repeat(length / shape.len());
            if let Ok(form) = Form::parse(text.as_bytes()) {
                let _number = form.values("resource").count();
            }
            if let Ok(parameters) = Parameters::parse(text.as_bytes()) {
                let _number = parameters.all("a").count();
            }
        });
        assert!(is_linear, "{shape}");
    }
    let different = trials::is_linear(8 * 1024, |length| {
        let pairs = (0..length / 8).map(|number| format!("{number:06}=1"));
        assert!(Form::parse(pairs.collect::<Vec<_>>().join("&").as_bytes()).is_ok());
    });
    assert!(different);
}
