//! Which redirect URIs can be registered, and what matches them.

use super::{InvalidRedirectUri, RedirectTarget, RedirectUri};

/// #87-#90; B21; R3, T8
#[test]
fn registration() {
    use InvalidRedirectUri::{
        ForbiddenCharacter, ForbiddenScheme, HasDotSegment, HasFragment, HasUserInfo, NotAbsolute,
        PlainHttp, TooLong,
    };
    let long = format!("https://a.example/{}", "x".repeat(2048));
    let rows: &[(&str, Result<(), InvalidRedirectUri>)] = &[
        ("https://claude.ai/api/mcp/auth_callback", Ok(())),
        ("https://a.example", Ok(())),
        ("https://a.example:8443/cb?x=1&y=%20", Ok(())),
        ("http://localhost/callback", Ok(())),
        ("http://localhost:8787/callback", Ok(())),
        ("http://127.0.0.1/", Ok(())),
        ("http://127.0.0.1:33418", Ok(())),
        ("http://[::1]:9/cb", Ok(())),
        ("cursor://anysphere.cursor-mcp/oauth/callback", Ok(())),
        ("vscode://vscode.github-authentication/did-authenticate", Ok(())),
        ("com.example.app:/callback", Ok(())),
        ("com.example.app://", Ok(())),
        ("", Err(NotAbsolute)),
        ("callback", Err(NotAbsolute)),
        ("/callback", Err(NotAbsolute)),
        ("//a.example/cb", Err(NotAbsolute)),
        ("https:a.example/cb", Err(NotAbsolute)),
        ("https:/a.example/cb", Err(NotAbsolute)),
        ("https://", Err(NotAbsolute)),
        ("https:///cb", Err(NotAbsolute)),
        ("http://a.example/cb", Err(PlainHttp)),
        ("http://localhost.a.example/cb", Err(PlainHttp)),
        ("http://10.0.0.1/cb", Err(PlainHttp)),
        ("http://0.0.0.0/cb", Err(PlainHttp)),
        ("HTTP://a.example/cb", Err(PlainHttp)),
        ("javascript:alert(1)", Err(ForbiddenScheme)),
        ("JavaScript:alert(1)", Err(ForbiddenScheme)),
        ("javascript://a.example/%0aalert(1)", Err(ForbiddenScheme)),
        ("data:text/html,x", Err(ForbiddenScheme)),
        ("vbscript:x", Err(ForbiddenScheme)),
        ("file:///etc/passwd", Err(ForbiddenScheme)),
        ("blob:https://a.example/x", Err(ForbiddenScheme)),
        ("about:blank", Err(ForbiddenScheme)),
        ("view-source:https://a.example", Err(ForbiddenScheme)),
        ("ftp://a.example/cb", Err(ForbiddenScheme)),
        ("SMB://a.example/cb", Err(ForbiddenScheme)),
        ("mailto:a.example", Err(ForbiddenScheme)),
        ("jar:https://a.example/x", Err(ForbiddenScheme)),
        ("feed:javascript:alert(1)", Err(ForbiddenScheme)),
        ("app:next:step", Ok(())),
        ("https://a.example/cb#x", Err(HasFragment)),
        ("https://a.example/cb#", Err(HasFragment)),
        ("cursor://a#x", Err(HasFragment)),
        ("https://user@a.example/cb", Err(HasUserInfo)),
        ("https://user:pass@a.example/cb", Err(HasUserInfo)),
        ("http://localhost:80@a.example/cb", Err(HasUserInfo)),
        ("https://@a.example/cb", Err(HasUserInfo)),
        ("https://:@a.example/cb", Err(HasUserInfo)),
        ("https://a.example/../cb", Err(HasDotSegment)),
        ("https://a.example/x/%2e%2E/cb", Err(HasDotSegment)),
        ("https://a.example/.", Err(HasDotSegment)),
        ("https://*.a.example/cb", Err(ForbiddenCharacter)),
        ("https://a.example/*", Err(ForbiddenCharacter)),
        ("https://a.example/a b", Err(ForbiddenCharacter)),
        ("https://a.example/a\tb", Err(ForbiddenCharacter)),
        ("https://a.example/\r\nx", Err(ForbiddenCharacter)),
        ("https://a.example\\@b.example/", Err(ForbiddenCharacter)),
        ("https://ä.example/cb", Err(ForbiddenCharacter)),
        (" https://a.example/cb", Err(ForbiddenCharacter)),
        ("java\nscript:alert(1)", Err(ForbiddenCharacter)),
        (&long, Err(TooLong)),
    ];
    for (text, expected) in rows {
        let registered = RedirectUri::register(text).map(|uri| assert_eq!(uri.as_str(), *text));
        assert_eq!(registered, *expected, "{text}");
    }
}

/// #8-#10; B20; T6, T7, R5; RFC 8252 section 7.3
#[test]
fn matching() {
    let rows = [
        // Byte for byte.
        ("https://a.example/cb", "https://a.example/cb", true),
        ("https://a.example/cb", "https://a.example/cb/", false),
        ("https://a.example/cb", "https://a.example/CB", false),
        ("https://a.example/cb", "https://A.example/cb", false),
        ("https://a.example/cb", "HTTPS://a.example/cb", false),
        ("https://a.example/cb", "https://a.example/%63b", false),
        ("https://a.example/cb", "https://a.example/cb?", false),
        ("https://a.example/cb", "https://a.example/cb?x=1", false),
        ("https://a.example/cb", "https://a.example/cb#", false),
        ("https://a.example/cb", "https://a.example/x/../cb", false),
        ("https://a.example/cb", "https://a.example:443/cb", false),
        ("https://a.example/cb", "https://u@a.example/cb", false),
        ("https://a.example/cb", "https://a.example/cbx", false),
        ("https://a.example", "https://a.example/", false),
        ("https://a.example/cb", "http://a.example/cb", false),
        ("cursor://a/cb", "cursor://a:1/cb", false),
        ("com.example:/cb", "com.example:/cb", true),
        // Loopback: the port is free, and nothing else.
        ("http://127.0.0.1/cb", "http://127.0.0.1:1234/cb", true),
        ("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb", true),
        ("http://127.0.0.1:1/cb", "http://127.0.0.1/cb", true),
        ("http://localhost/cb", "http://localhost:3118/cb", true),
        ("http://[::1]/cb", "http://[::1]:8080/cb", true),
        ("http://127.0.0.1/", "http://127.0.0.1:33418", true),
        ("http://127.0.0.1:33418", "http://127.0.0.1:5/", true),
        ("http://127.0.0.1/cb?x=1", "http://127.0.0.1:9/cb?x=1", true),
        ("http://127.0.0.1/cb", "http://127.0.0.1:9/cb?x=1", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:9/cb/", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:9/CB", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:9/x/../cb", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:9/cb#x", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:x/cb", false),
        ("http://127.0.0.1/cb", "http://u@127.0.0.1/cb", false),
        ("http://127.0.0.1/cb", "http://localhost/cb", false),
        ("http://localhost/cb", "http://127.0.0.1/cb", false),
        ("http://127.0.0.1/cb", "http://[::1]/cb", false),
        ("http://127.0.0.1/cb", "http://127.0.0.2/cb", false),
        ("http://127.0.0.1/cb", "http://2130706433/cb", false),
        ("http://127.0.0.1/cb", "https://127.0.0.1:9/cb", false),
        ("https://127.0.0.1/cb", "https://127.0.0.1:9/cb", false),
        ("https://localhost/cb", "https://localhost:9/cb", false),
        ("http://localhost/cb", "http://localhost.evil.example/cb", false),
        ("http://localhost/cb", "http://localhost:1@evil.example/cb", false),
        ("http://localhost/cb", "http://localhost:1\\@evil.example/cb", false),
        ("http://localhost/cb", "http://LOCALHOST/cb", false),
    ];
    for (registered, presented, expected) in rows {
        let matched = RedirectUri::register(registered).unwrap().match_presented(presented);
        assert_eq!(matched.is_some(), expected, "{registered} {presented}");
        // The answer goes where the request said, to the port that listens.
        assert!(matched.is_none_or(|uri| uri.as_str() == presented));
    }
}

/// #19; O21 section 2.3
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

/// #144: what the owner is told about the place.
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
