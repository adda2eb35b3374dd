use proptest::prelude::*;

use super::{AuthorizeQuery, LocalFault, RefusalCode};
use crate::authorization_server::client::{ClientAuthentication, ClientId, RegisteredClient};
use crate::authorization_server::client_rules::ClientRules;
use crate::authorization_server::redirect_uri::RedirectUri;
use crate::clock::UnixTime;
use crate::contract::issuer::Issuer;
use crate::contract::resource::ResourceUri;

const REGISTERED: &str = "https://app.example/cb?x=1";

fn client() -> RegisteredClient {
    RegisteredClient {
        id: ClientId::presented("client"),
        name: None,
        redirect_uris: vec![RedirectUri::register(REGISTERED).unwrap()],
        authentication: ClientAuthentication::None,
        registered_at: UnixTime::from_seconds(0),
    }
}

fn resource() -> ResourceUri {
    "https://brain.example/mcp".parse().unwrap()
}

fn issuer() -> Issuer {
    "https://brain.example".parse().unwrap()
}

fn name() -> impl Strategy<Value = String> {
    let known = "client_id|redirect_uri|state|scope|resource|response_type|code_challenge\
                 |code_challenge_method|prompt|request|request_uri";
    prop_oneof![4 => known, 1 => ".{0,8}"]
}

fn value() -> impl Strategy<Value = String> {
    let likely = "code|S256|none|https://app\\.example/cb\\?x=1|wiki:read|[A-Za-z0-9_-]{43}";
    prop_oneof![3 => likely, 1 => ".{0,40}"]
}

proptest! {
    /// Whatever is asked, an answer leaves us only for the registered place, and has
    /// our issuer and the state of the request.
    #[test]
    fn nothing_goes_anywhere_but_to_the_registered_place(
        mut pairs in proptest::collection::vec((name(), value()), 0..12),
        state in ".{1,60}",
        presented in prop_oneof![Just(REGISTERED.to_owned()), ".{0,40}"],
    ) {
        pairs.retain(|(name, _)| name != "state" && name != "redirect_uri");
        pairs.push(("state".to_owned(), state.clone()));
        pairs.push(("redirect_uri".to_owned(), presented.clone()));
        let encoded =
            form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
        let query = AuthorizeQuery::parse(encoded.as_bytes()).unwrap();
        match query.judge(client(), &resource(), &ClientRules::default()) {
            Err(fault) => prop_assert!(presented != REGISTERED, "{fault}"),
            Ok(Ok(request)) => {
                prop_assert_eq!(request.redirect_uri.as_str(), REGISTERED);
                prop_assert_eq!(request.state, Some(state));
                prop_assert!(!request.requested.is_empty());
            }
            Ok(Err(refusal)) => {
                let location = refusal.location(&issuer());
                let (place, query) = location.split_once('?').unwrap();
                prop_assert_eq!(place, "https://app.example/cb");
                prop_assert!(location.is_ascii() && !location.contains([' ', '\r', '\n']));
                let sent: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
                let found = |name: &str| -> Vec<&str> {
                    sent.iter().filter(|(known, _)| known == name).map(|(_, value)| &**value).collect()
                };
                prop_assert_eq!(found("state"), [&*state]);
                prop_assert_eq!(found("iss"), ["https://brain.example"]);
                prop_assert_eq!(found("x"), ["1"]);
            }
        }
    }

    /// Bytes of any kind are read or refused.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(query) = AuthorizeQuery::parse(&bytes) {
            let _either = query.client_id();
            let _either = query.judge(client(), &resource(), &ClientRules::default());
        }
    }
}

/// Checklist 40: the rule for descriptions holds for ours: printable ASCII without `"` and `\`.
#[test]
fn descriptions_are_plain() {
    let queries = [
        "",
        "response_type=x",
        "response_type=code",
        "response_type=code&code_challenge=x",
        "response_type=code&code_challenge=x&code_challenge_method=S256",
        "scope=a&scope=b&response_type=code",
        "request=x",
        "request_uri=x",
    ];
    for query in queries {
        let text = format!("redirect_uri=https://app.example/cb?x=1&{query}");
        let text = text.replace("?x", "%3Fx");
        let query = AuthorizeQuery::parse(text.as_bytes()).unwrap();
        let refusal =
            query.judge(client(), &resource(), &ClientRules::default()).unwrap().unwrap_err();
        let plain = |byte: u8| (0x20..0x7F).contains(&byte) && byte != b'"' && byte != b'\\';
        assert!(refusal.description.bytes().all(plain), "{refusal:?}");
        assert_ne!(refusal.code, RefusalCode::AccessDenied);
    }
}

/// Checklist 33: the limit is on what came, before anything is decoded.
#[test]
fn the_limit_counts_bytes() {
    let long = format!("state={}", "%41".repeat(2800));
    assert_eq!(AuthorizeQuery::parse(long.as_bytes()).unwrap_err(), LocalFault::TooLong);
    AuthorizeQuery::parse(&long.as_bytes()[..8192 - 2]).unwrap();
}
