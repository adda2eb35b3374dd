//! Documents and assertions that are nearly right.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::super::document::read;
use super::super::url::DocumentUrl;
use super::assertions::{Key, claims, key_set};
use super::{CALLBACK, ID, TestServer};
use crate::authorization_server::assertion::claimed_client;
use crate::authorization_server::client::{
    ClientAuthentication, ClientId, ClientKeys, RegisteredClient,
};
use crate::authorization_server::client_metadata::presentable;
use crate::authorization_server::redirect_uri::RedirectUri;
use crate::authorization_server::testing::START;
use crate::trials;

/// Members of a document as JSON text: names, and what may stand there.
const MEMBERS: [(&str, &[&str]); 13] = [
    (
        "client_id",
        &[r#""https://client.example/app.json""#, r#""https://client.example/APP.json""#],
    ),
    ("client_id", &[r#""https://other.example/app.json""#, "null", "[]", r#""""#]),
    ("client_name", &[r#""An app""#, r#""\u202eppa""#, r#""\u200b""#, "7", r#""a\u200b\u0301""#]),
    ("redirect_uris", &[r#"["https://client.example.com/callback"]"#, r#"["http://127.0.0.1/"]"#]),
    ("redirect_uris", &["[]", "{}", r#"["javascript:x"]"#, r#"["https://a.example/#"]"#, "[1]"]),
    ("token_endpoint_auth_method", &[r#""none""#, r#""private_key_jwt""#, r#"["none"]"#, "1"]),
    ("token_endpoint_auth_method", &[r#""client_secret_basic""#, r#""client_secret_jwt""#]),
    ("token_endpoint_auth_methods_supported", &[r#"["none","private_key_jwt"]"#, "null", "[{}]"]),
    ("client_secret", &[r#""x""#, "null", "0", r#""""#]),
    ("jwks_uri", &[r#""https://client.example/jwks.json""#, r#""http://a.example/k""#, "{}"]),
    ("jwks", &[r#"{"keys":[{"kty":"oct","k":"x"}]}"#, r#"{"keys":[]}"#, r#"{"keys":1}"#, "null"]),
    ("grant_types", &[r#"["authorization_code"]"#, r#"["implicit"]"#, "[]", "null", "{}"]),
    ("unknown", &["{}", "[[[[]]]]", "1e400", r#""\ud800""#]),
];

#[rustfmt::skip]
const PIECES: [&str; 18] = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u0000", "\\u202e", "null", "\u{feff}", "\0", "1",
    r#""client_id":"https://other.example/x""#, r#""client_secret":"x","#, "\u{301}", "\u{202e}",
];

/// A good document with some members changed, added or given twice, and a few characters
/// changed after that.
fn document() -> impl Strategy<Value = String> {
    let good = [0, 2, 3, 5].map(|index| (MEMBERS[index].0, MEMBERS[index].1[0]));
    let member = select(&MEMBERS[..])
        .prop_flat_map(|(name, values)| select(values).prop_map(move |value| (name, value)));
    let changes = (proptest::collection::vec((member, any::<bool>()), 0..4), any::<bool>());
    let text = changes.prop_map(move |(changes, is_whole)| {
        let mut members: Vec<_> = if is_whole { good.to_vec() } else { good[..3].to_vec() };
        for ((name, value), is_second) in changes {
            if !is_second {
                members.retain(|(known, _)| *known != name);
            }
            members.push((name, value));
        }
        let members = members.iter().map(|(name, value)| format!("\"{name}\":{value}"));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    });
    prop_oneof![text.clone(), trials::bent(text, &PIECES)]
}

fn url() -> DocumentUrl {
    DocumentUrl::parse(ID).unwrap()
}

proptest! {
    #![proptest_config(trials::budget(4_096))]

    /// Checklist 109, 111, 112, 116, 117: of whatever a host sends, only a client comes that is
    /// that host's own, can be shown, and proves itself by nothing that others know.
    #[test]
    fn hostile_documents_make_no_client_but_their_own(text in document()) {
        let Ok(client) = read(text.as_bytes(), &url(), START) else { return Ok(()) };
        let said: Value = serde_json::from_str(&text).expect("JSON");
        prop_assert_eq!(client.id.as_str(), ID);
        prop_assert_eq!(&said["client_id"], ID);
        let name = client.name.as_deref().expect("a name");
        prop_assert_eq!(presentable(name), client.name.clone());
        let is_hidden = |letter: char| letter.is_control() || "\u{202e}\u{200b}".contains(letter);
        prop_assert!(!name.contains(is_hidden), "{:?}", name);
        prop_assert!(!client.redirect_uris.is_empty());
        for uri in &client.redirect_uris {
            prop_assert!(RedirectUri::register(uri.as_str()).is_ok());
            prop_assert!(said["redirect_uris"].as_array().unwrap().contains(&json!(uri.as_str())));
        }
        prop_assert!(!said["client_secret"].is_string() || said["client_secret"] == "");
        let said_methods = format!(
            "{} {}",
            said["token_endpoint_auth_method"], said["token_endpoint_auth_methods_supported"],
        );
        prop_assert!(!said_methods.contains("\"client_secret_"), "{}", text);
        match &client.authentication {
            ClientAuthentication::Secret { .. } => prop_assert!(false, "a secret: {}", text),
            ClientAuthentication::None => {}
            ClientAuthentication::PrivateKeyJwt { keys } => {
                prop_assert!(!said_methods.contains("\"none\""), "{}", text);
                prop_assert!(are_public(keys), "{}", text);
            }
            ClientAuthentication::NoneOrPrivateKeyJwt { keys } => prop_assert!(are_public(keys)),
        }
        let record = serde_json::to_vec(&client).unwrap();
        prop_assert!(record.len() <= 3 * 1024);
        prop_assert_eq!(serde_json::from_slice::<RegisteredClient>(&record).unwrap(), client);
    }

    /// RFC 7523 section 3, RFC 8725: a good assertion that is changed anywhere, in its text or
    /// in what it says, proves nothing.
    #[test]
    fn hostile_assertions_prove_nothing(assertion in bent_assertion()) {
        let Scene { server, client, keys, good, runtime } = &*SCENE;
        let judged =
            runtime.block_on(server.server.check_assertion(client, keys, &assertion));
        // Not even the good one is spent here: it is in no list of changed ones.
        prop_assert!(judged.is_err() && assertion != *good, "{}", assertion);
        let _either = claimed_client(&assertion);
    }
}

fn are_public(keys: &ClientKeys) -> bool {
    match keys {
        ClientKeys::Inline(set) => !set.contains("\"k\":"),
        ClientKeys::Url(url) => url.starts_with("https://"),
    }
}

struct Scene {
    server: TestServer,
    client: RegisteredClient,
    keys: ClientKeys,
    good: String,
    runtime: tokio::runtime::Runtime,
}

/// One server for all cases.
static SCENE: LazyLock<Scene> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _guard = runtime.enter();
    let key = Key::new("one", 7);
    let keys = ClientKeys::Inline(key_set(&[&key]));
    let client = RegisteredClient {
        id: ClientId::presented(ID),
        name: Some("An app".to_owned()),
        redirect_uris: vec![RedirectUri::register(CALLBACK).unwrap()],
        authentication: ClientAuthentication::PrivateKeyJwt { keys: keys.clone() },
        registered_at: START,
    };
    let good = key.sign(&claims("good", 0));
    let server = TestServer::start();
    Scene { server, client, keys, good, runtime }
});

/// Members of a header or of claims, as JSON text.
const SAID: [&str; 24] = [
    r#""alg":"none""#,
    r#""alg":"None""#,
    r#""alg":"HS256""#,
    r#""alg":"ES384""#,
    r#""alg":"RS256""#,
    r#""alg":"ES256""#,
    r#""alg":["ES256"]"#,
    r#""kid":"one""#,
    r#""kid":"two""#,
    r#""kid":null"#,
    r#""crit":["exp"]"#,
    r#""crit":null"#,
    r#""jku":"https://evil.example/jwks""#,
    r#""typ":"JWT""#,
    r#""jwk":{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"one"}"#,
    r#""b64":false"#,
    r#""iss":"https://client.example/app.json""#,
    r#""iss":"https://other.example/app.json""#,
    r#""sub":"https://client.example/app.json""#,
    r#""exp":1800000500"#,
    r#""exp":1e300"#,
    r#""jti":"other""#,
    r#""aud":["https://notes.example.org"]"#,
    r#""nested":[[[[[[[[]]]]]]]]"#,
];

const JWT_PIECES: [&str; 14] = [
    ".",
    "..",
    "=",
    "==",
    "A",
    "-",
    "_",
    "+",
    "/",
    "%2E",
    "eyJhbGciOiJub25lIn0",
    " ",
    "\n",
    "\u{e9}",
];

/// A good assertion of which a part, or its text, was changed.
fn bent_assertion() -> impl Strategy<Value = String> {
    let member = select(&SAID[..]);
    let written = (0..2_usize, proptest::collection::vec((member, any::<bool>()), 1..4)).prop_map(
        |(part, members)| {
            let mut parts: Vec<String> = SCENE.good.split('.').map(str::to_owned).collect();
            let bytes = decoded(&parts[part]).expect("base64url");
            let mut text = String::from_utf8(bytes).expect("JSON");
            for (member, is_first) in members {
                // Before the others or after them: who reads the first of two, and who the
                // last, must both refuse it.
                let at = if is_first { 1 } else { text.len() - 1 };
                let with_comma = if is_first { format!("{member},") } else { format!(",{member}") };
                text.insert_str(at, &with_comma);
            }
            parts[part] = encoded(text.as_bytes());
            parts.join(".")
        },
    );
    let other_key = Key::new("one", 8).sign(&claims("forged", 0));
    let spliced = (0..2_usize, 1..3_usize).prop_map(move |(from, to)| {
        let (own, other): (Vec<&str>, Vec<&str>) =
            (SCENE.good.split('.').collect(), other_key.split('.').collect());
        let mut parts = own;
        parts[from..=to].copy_from_slice(&other[from..=to]);
        parts.join(".")
    });
    let bent = Just(()).prop_flat_map(|()| trials::bent(Just(SCENE.good.clone()), &JWT_PIECES));
    prop_oneof![3 => written, 1 => spliced, 3 => bent]
        .prop_filter("what was not changed", |assertion| *assertion != SCENE.good)
}

fn decoded(part: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::prelude::BASE64_URL_SAFE_NO_PAD.decode(part).ok()
}

fn encoded(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// The one that the others are made from is good, or they would show nothing.
#[test]
fn the_assertion_that_hostile_ones_are_made_from_is_good() {
    let Scene { server, client, keys, runtime, .. } = &*SCENE;
    let another = Key::new("one", 7).sign(&claims("another", 0));
    runtime.block_on(server.server.check_assertion(client, keys, &another)).expect("good");
}

/// As long as a document may be.
#[test]
fn hostile_shapes_of_documents_take_linear_time() {
    let shapes = ["[", "{\"a\":", "\"\\u0301\"", "[],", "\"https://a.example/\",", "\u{301}", " "];
    for shape in shapes {
        let is_linear = trials::is_linear(640, |length| {
            let heap = shape.repeat(length / shape.len());
            let name = "\u{301}\u{345}".repeat(length / 4);
            for _ in 0..100 {
                let lists = format!(r#"{{"client_id":"{ID}","redirect_uris":[{heap}"#);
                let names = format!(r#"{{"client_id":"{ID}","client_name":"a{name}"}}"#);
                let _either = read(lists.as_bytes(), &url(), START);
                let _either = read(names.as_bytes(), &url(), START);
            }
        });
        assert!(is_linear, "{shape}");
    }
}
