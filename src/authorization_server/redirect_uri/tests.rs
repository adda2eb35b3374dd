//! Which redirect URIs can be registered, and what matches them.

mod hostile;

use serde::Deserialize;

use super::{InvalidRedirectUri, RedirectTarget, RedirectUri};

/// Cases made by hand, each with what it stands for: numbers of the checklist, and the
/// B-, T- and R-numbers of what is known of clients.
#[derive(Deserialize)]
struct Cases {
    /// Rules, URI, and `ok` or the variant of [`InvalidRedirectUri`].
    registration: Vec<(String, String, String)>,
    /// Rules, registered URI, presented URI, and whether they match.
    matching: Vec<(String, String, String, bool)>,
}

impl Cases {
    fn read() -> Self {
        let text = include_str!("../../../tests/fixtures/redirect_uris.json");
        serde_json::from_str(text).expect("the table")
    }
}

/// Checklist 87, 88, 89, 90: what can be registered, by RFC 8252 section 7, RFC 9700
/// section 4.1 and OAuth 2.1 section 2.3; B21, R3, T8.
#[test]
fn registration() {
    let cases = Cases::read().registration;
    assert!(cases.len() >= 150, "{}", cases.len());
    let mut wrong = Vec::new();
    for (rules, uri, expected) in cases {
        let outcome = match RedirectUri::register(&uri) {
            Ok(kept) => {
                assert_eq!(kept.as_str(), uri, "not a byte of it is changed");
                "ok".to_owned()
            }
            Err(error) => format!("{error:?}"),
        };
        if outcome != expected {
            wrong.push(format!("{rules}: {uri:?} is {outcome}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let at_the_limit = format!("https://a.example/{}", "x".repeat(RedirectUri::MAX_BYTES - 18));
    assert_eq!(RedirectUri::register(&at_the_limit).map(|_| ()), Ok(()));
    let above = RedirectUri::register(&format!("{at_the_limit}x"));
    assert_eq!(above, Err(InvalidRedirectUri::TooLong));
}

/// Checklist 8, 9, 10: what matches what was registered, by RFC 9700 section 2.1 and
/// RFC 8252 section 7.3; B20, T6, T7, R4, R5.
#[test]
fn matching() {
    let cases = Cases::read().matching;
    assert!(cases.len() >= 150, "{}", cases.len());
    let mut wrong = Vec::new();
    for (rules, registered, presented, expected) in cases {
        let matched = RedirectUri::register(&registered)
            .unwrap_or_else(|error| panic!("{registered}: {error}"))
            .match_presented(&presented);
        if matched.is_some() != expected {
            wrong.push(format!("{rules}: {registered:?} and {presented:?} must be {expected}"));
        }
        // The answer goes where the request said, to the port that listens.
        assert!(matched.is_none_or(|uri| uri.as_str() == presented));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checklist 19: OAuth 2.1 section 2.3.
#[test]
fn parameters_are_added_and_never_doubled() {
    let rows = [
        ("https://a.example/cb", "https://a.example/cb?code=a+b&state=%26%3D"),
        ("https://a.example", "https://a.example?code=a+b&state=%26%3D"),
        ("https://a.example/cb?", "https://a.example/cb?code=a+b&state=%26%3D"),
        ("https://a.example/cb?x=%20y", "https://a.example/cb?x=%20y&code=a+b&state=%26%3D"),
        ("https://a.example/cb?state=1&x=2", "https://a.example/cb?x=2&code=a+b&state=%26%3D"),
        ("https://a.example/cb?c%6Fde=1", "https://a.example/cb?code=a+b&state=%26%3D"),
        ("com.example:/cb", "com.example:/cb?code=a+b&state=%26%3D"),
    ];
    for (uri, expected) in rows {
        let uri = RedirectUri::register(uri).unwrap();
        assert_eq!(uri.with_parameters(&[("code", "a b"), ("state", "&=")]), expected);
    }
}

/// Checklist 144: what the owner is told about the place.
#[test]
fn targets() {
    let rows = [
        ("https://a.example/cb", RedirectTarget::Website("a.example".to_owned())),
        ("https://a.example:8443/", RedirectTarget::Website("a.example:8443".to_owned())),
        ("https://localhost/", RedirectTarget::ThisComputer("localhost".to_owned())),
        ("http://127.0.0.1:9/cb", RedirectTarget::ThisComputer("127.0.0.1:9".to_owned())),
        ("http://[::1]:9/cb", RedirectTarget::ThisComputer("[::1]:9".to_owned())),
        ("cursor://anysphere/cb", RedirectTarget::App("cursor".to_owned())),
    ];
    for (uri, expected) in rows {
        assert_eq!(RedirectUri::register(uri).unwrap().target(), expected);
    }
}

/// House rule 2: no reader of JSON makes a place to send browsers to.
#[test]
fn stored_text_passes_the_rules_again() {
    let read = serde_json::from_str::<RedirectUri>;
    assert!(read(r#""https://client.example/cb""#).is_ok());
    for text in [r#""javascript:alert(1)""#, r#""http://client.example/""#, r#""""#] {
        read(text).expect_err(text);
    }
    let kept = RedirectUri::register("https://client.example/cb").expect("a good one");
    assert_eq!(serde_json::to_string(&kept).expect("JSON"), r#""https://client.example/cb""#);
}
