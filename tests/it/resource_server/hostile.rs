//! Headers, tokens, scopes and resource indicators that are nearly right.

use std::collections::BTreeSet;

use axum::http::{HeaderMap, HeaderValue};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use brain_mcp::contract::resource::ResourceUri;
use brain_mcp::contract::scope::{Scope, ScopeSet};
use brain_mcp::resource_server::bearer::{BearerToken, NoBearerToken};
use brain_mcp::resource_server::verify::TokenError;
use jsonwebtoken::{Algorithm, EncodingKey};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use super::minting::{ISSUER, Key, NOW, RESOURCE, Server, good_claims};
use crate::support::trials;

/// A token as JSON texts, before anything is encoded.
#[derive(Clone, Debug)]
struct Written {
    header: String,
    claims: String,
}

impl Written {
    fn good() -> Self {
        Self { header: Key::es256().header().to_string(), claims: good_claims().to_string() }
    }

    fn message(&self) -> String {
        let encode = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}", encode(&self.header), encode(&self.claims))
    }

    fn signed(&self) -> String {
        Key::es256().signed(&self.message())
    }

    /// Puts a member into the header or into the claims: before the others or after them,
    /// and instead of the one of its name or beside it.
    fn put(&mut self, in_header: bool, member: &str, is_first: bool, is_instead: bool) {
        let text = if in_header { &mut self.header } else { &mut self.claims };
        if is_instead {
            let (name, _) = member.split_once(':').expect("a member");
            let name = name.trim_matches('"');
            let mut members: serde_json::Map<String, Value> =
                serde_json::from_str(text).unwrap_or_default();
            members.remove(name);
            *text = Value::Object(members).to_string();
        }
        let is_empty = text.len() == 2;
        let (at, comma) = if is_first { (1, (",", "")) } else { (text.len() - 1, ("", ",")) };
        let comma = if is_empty { ("", "") } else { comma };
        text.insert_str(at, &format!("{}{member}{}", comma.1, comma.0));
    }
}

#[rustfmt::skip]
const HEADER: [&str; 24] = [
    r#""alg":"ES256""#, r#""alg":"none""#, r#""alg":"None""#, r#""alg":"nOnE""#, r#""alg":"HS256""#,
    r#""alg":"RS256""#, r#""alg":"ES384""#, r#""alg":"es256""#, r#""alg":["ES256"]"#, r#""alg":null"#,
    r#""typ":"at+jwt""#, r#""typ":"application/at+jwt""#, r#""typ":"JWT""#, r#""typ":"at+jwt ""#,
    r#""kid":"es256-a""#, r#""kid":"es256-b""#, r#""kid":"../../etc/passwd""#, r#""kid":7"#,
    r#""crit":["exp"]"#, r#""crit":[]"#, r#""crit":null"#, r#""b64":false"#,
    r#""jku":"https://evil.example/jwks""#, r#""x5c":["MIIB"]"#,
];

#[rustfmt::skip]
const CLAIMS: [&str; 30] = [
    r#""iss":"https://auth.example.org""#, r#""iss":"https://auth.example.org/""#, r#""iss":"""#,
    r#""aud":"https://wiki.example.org/mcp""#, r#""aud":["https://wiki.example.org/mcp"]"#,
    r#""aud":["https://wiki.example.org/mcp","https://other.example"]"#, r#""aud":[]"#,
    r#""aud":"https://wiki.example.org/mcp/""#, r#""aud":{"x":"https://wiki.example.org/mcp"}"#,
    r#""sub":"owner""#, r#""sub":"someone""#, r#""sub":"""#, r#""sub":["owner"]"#, r#""sub":null"#,
    r#""client_id":"client-2""#, r#""client_id":"""#, r#""jti":"""#, r#""jti":"token-2""#,
    r#""exp":1800000001"#, r#""exp":1800000000"#, r#""exp":1e999"#, r#""exp":-1"#,
    r#""exp":"1900000000""#, r#""iat":1800000060"#, r#""iat":1800000061"#, r#""nbf":1800000061"#,
    r#""gid":"grant-1""#, r#""gid":"grant-2""#, r#""scope":"wiki:read""#,
    r#""extra":[[[[{"iss":"https://evil.example"}]]]]"#,
];

fn changed() -> impl Strategy<Value = Written> {
    let header = select(&HEADER[..]).prop_map(|member| (true, member));
    let claim = select(&CLAIMS[..]).prop_map(|member| (false, member));
    let change = (prop_oneof![header, claim], any::<bool>(), any::<bool>());
    proptest::collection::vec(change, 1..4).prop_map(|changes| {
        let mut written = Written::good();
        for ((in_header, member), is_first, is_instead) in changes {
            written.put(in_header, member, is_first, is_instead);
        }
        written
    })
}

/// The members of a JSON object, or nothing if a name that counts stands there twice.
fn members(text: &str, counting: &[&str]) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    // What is inside of another member is none.
    let outer = text.replace(r#"{"iss":"https://evil.example"}"#, "");
    let is_doubled = |name: &&str| outer.matches(&format!("\"{name}\":")).count() > 1;
    (!counting.iter().any(is_doubled)).then_some(value)
}

/// RFC 9068 section 4 and RFC 8725, in a few lines: whether a token that the issuer's key
/// has really signed is one of the issuer's access tokens for this server.
fn is_good(written: &Written) -> bool {
    let judged = || {
        let header = members(&written.header, &["alg", "typ", "kid", "crit"])?;
        let claims = members(
            &written.claims,
            &["iss", "sub", "aud", "client_id", "jti", "iat", "exp", "nbf", "scope", "gid", "gen"],
        )?;
        let is_type = |typ: &str| typ == "at+jwt" || typ == "application/at+jwt";
        let only = match &claims["aud"] {
            Value::Array(all) if all.len() == 1 => &all[0],
            one => one,
        };
        let is_text = |name: &str| claims[name].as_str().is_some_and(|text| !text.is_empty());
        let is_early = |name: &str| claims[name].as_u64().is_some_and(|time| time > NOW + 60);
        let is_right = header["alg"] == "ES256"
            && header["typ"].as_str().is_some_and(is_type)
            && header["kid"] == "es256-a"
            && header.get("crit").is_none()
            && claims["iss"] == ISSUER
            && *only == RESOURCE
            && is_text("client_id")
            && is_text("jti")
            && claims["sub"] == "owner"
            && claims["gid"] == "grant-1"
            && claims["exp"].as_u64().is_some_and(|end| end > NOW)
            && !is_early("iat")
            && !is_early("nbf");
        Some(is_right)
    };
    judged() == Some(true)
}

const PIECES: [&str; 14] =
    [".", "..", "=", "==", "A", "-", "_", "+", "/", "~", "eyJhbGciOiJub25lIn0", "AAAA", "e30", "0"];

/// What the three parts of a token say, if they say anything.
fn decoded(token: &str) -> Option<Vec<Vec<u8>>> {
    let parts: Vec<_> = token.split('.').collect();
    let parts = (parts.len() == 3).then_some(parts)?;
    parts.into_iter().map(|part| BASE64_URL_SAFE_NO_PAD.decode(part).ok()).collect()
}

/// A good token that nobody signed again after it was changed, or that somebody else signed.
fn forged() -> impl Strategy<Value = String> {
    let good = Written::good().signed();
    let kept = good.rsplit_once('.').expect("a signature").1.to_owned();
    let kept_signature = changed().prop_map(move |written| format!("{}.{kept}", written.message()));
    let unsigned = changed().prop_map(|written| format!("{}.", written.message()));
    let by_another = changed().prop_map(|written| Key::other_es256().signed(&written.message()));
    // With the public key as the secret of an HMAC (RFC 8725 section 2.1), and with the
    // forger's own key in the header (section 3.10).
    let by_public_key = changed().prop_map(|mut written| {
        written.put(true, r#""alg":"HS256""#, false, true);
        let secret = EncodingKey::from_secret(Key::es256().jwk().to_string().as_bytes());
        let message = written.message();
        let signature = jsonwebtoken::crypto::sign(
            message.as_bytes(),
            &secret.expect("a secret"),
            Algorithm::HS256,
        );
        format!("{message}.{}", signature.expect("a signature"))
    });
    let brought = format!("\"jwk\":{}", Key::other_es256().named("es256-a").jwk());
    let by_brought_key = changed().prop_map(move |mut written| {
        written.put(true, &brought, false, true);
        Key::other_es256().signed(&written.message())
    });
    let bent = trials::bent(Just(good), &PIECES);
    prop_oneof![
        1 => kept_signature,
        1 => unsigned,
        1 => by_another,
        1 => by_public_key,
        1 => by_brought_key,
        4 => bent,
    ]
}

/// The names of scopes, and what looks like them.
#[rustfmt::skip]
const SCOPES: [&str; 22] = [
    "wiki:read", "wiki:confidential", "wiki:people", "wiki:write", "wiki:READ", "Wiki:read",
    "wiki:", "wiki:*", "wiki", "*", "read", "wiki:read,wiki:people", "wiki:read\twiki:people",
    "wiki:read\nwiki:write", "wiki:read\u{a0}wiki:people", "\"wiki:write\"", "wiki:people\0",
    "openid", "offline_access", "wiki:re\u{200b}ad", "wiki%3Aread", "",
];

/// Spellings of the resource's parts, each with whether it may stand for it.
const SCHEMES: [(&str, bool); 6] = [
    ("https", true),
    ("HTTPS", true),
    ("http", false),
    ("", false),
    ("ftp", false),
    ("https ", false),
];
const SEPARATORS: [(&str, bool); 6] =
    [("://", true), ("://", true), (":", false), (":/", false), (":///", false), (":\\\\", false)];
const HOSTS: [(&str, bool); 9] = [
    ("wiki.example.org", true),
    ("WIKI.Example.org", true),
    ("wiki.example.org:443", true),
    ("wiki.example.org:80", false),
    ("wiki.example.org.", false),
    ("user@wiki.example.org", false),
    ("wiki.example.org.evil.example", false),
    ("evil.example", false),
    ("wiki.example.org\\evil.example", false),
];
const PATHS: [(&str, bool); 16] = [
    ("", true),
    ("/", true),
    ("/mcp", true),
    ("/mcp/", true),
    ("/MCP", false),
    ("/mcp//", false),
    ("//mcp", false),
    ("/x/../mcp", false),
    ("/mcp/.", false),
    ("/%6dcp", false),
    ("/mcp?", false),
    ("/mcp?x=1", false),
    ("/mcp#", false),
    ("/m\tcp", false),
    ("/mcp ", false),
    ("\\mcp", false),
];

fn bearer(lines: &[HeaderValue]) -> Result<BearerToken, NoBearerToken> {
    let lines = lines.iter().map(|line| ("authorization".parse().expect("a name"), line.clone()));
    BearerToken::from_headers(&lines.collect::<HeaderMap>())
}

/// RFC 6750 section 2.1: `"Bearer" 1*SP b64token`.
fn is_bearer(line: &str) -> bool {
    let line = line.trim_matches([' ', '\t']);
    let Some((scheme, token)) = line.split_once(' ') else { return false };
    let token = token.trim_start_matches([' ', '\t']);
    let body = token.trim_end_matches('=');
    let is_legal = |letter: char| letter.is_ascii_alphanumeric() || "-._~+/".contains(letter);
    scheme.eq_ignore_ascii_case("bearer")
        && !body.is_empty()
        && body.chars().all(is_legal)
        && token.len() <= BearerToken::MAX_BYTES
}

proptest! {
    #![proptest_config(trials::budget(2_048))]

    /// Checklist 137, 139; RFC 8725 sections 2.1 to 2.8: nothing but what the issuer signed is
    /// taken, whatever is done to it.
    #[test]
    fn hostile_tokens_are_refused_unless_they_say_the_same(token in forged()) {
        let server = SERVER.with(Verifier::clone);
        let good = Written::good().signed();
        let taken = server.taken(&token);
        // A signature is random, so there are many for one message.
        let says = |token: &str| decoded(token).map(|mut parts| { parts.pop(); parts });
        prop_assert!(taken.is_err() || says(&token) == says(&good), "{}", token);
    }

    /// Checklist 139; RFC 9068 section 4: of what the issuer's own key has signed, its access
    /// tokens for this server are taken, and no other token is.
    #[test]
    fn hostile_contents_are_taken_if_the_rules_say_so(written in changed()) {
        let server = SERVER.with(Verifier::clone);
        let taken = server.taken(&written.signed());
        prop_assert_eq!(taken.is_ok(), is_good(&written), "{:?}: {:?}", written, taken);
    }
}

proptest! {
    #![proptest_config(trials::budget(8_192))]

    /// Checklist 136, 138; RFC 6750 section 2.1, RFC 9110 section 11.1.
    #[test]
    fn hostile_authorization_headers_are_read_by_the_letter(
        line in trials::bent(
            select(&["Bearer abc.DEF-1_2~+/==", "bearer  x", "Basic b3duZXI6cHc=", "Bearer "][..])
                .prop_map(str::to_owned),
            &["Bearer", " ", "  ", "\t", "=", ",", "\"", "bearer=", ";", "\u{e9}", "Basic ", "."],
        ),
        other in proptest::option::weighted(0.2, "(Bearer abc|Basic x|)"),
    ) {
        let Ok(value) = HeaderValue::from_bytes(line.as_bytes()) else { return Ok(()) };
        let others = other.map(|other| HeaderValue::from_str(&other).expect("legal"));
        let lines: Vec<_> = [value].into_iter().chain(others).collect();
        let read = bearer(&lines);
        let expected = lines.len() == 1 && is_bearer(&line);
        prop_assert_eq!(read.is_ok(), expected, "{:?}: {:?}", lines, read);
        if lines.len() > 1 {
            prop_assert_eq!(read.err(), Some(NoBearerToken::Malformed));
        }
    }

    /// RFC 6749 section 3.3: case-sensitive names between single blanks, in any order and
    /// number. What is not a name of ours opens nothing.
    #[test]
    fn hostile_scopes_grant_what_they_name_and_nothing_else(
        names in proptest::collection::vec(select(&SCOPES[..]), 0..8),
        rotated in 0..8_usize,
    ) {
        let text = names.join(" ");
        let set = ScopeSet::parse_known(&text);
        let named: BTreeSet<&str> = text.split(' ').collect();
        for scope in Scope::ALL {
            prop_assert_eq!(set.contains(scope), named.contains(scope.as_str()), "{:?}", text);
        }
        let printed = set.to_string();
        prop_assert_eq!(ScopeSet::parse_known(&printed), set);
        prop_assert_eq!(ScopeSet::parse_known(&printed).to_string(), printed);
        let mut turned = [names.clone(), names.clone()].concat();
        let places = turned.len().max(1);
        turned.rotate_left(rotated % places);
        prop_assert_eq!(ScopeSet::parse_known(&turned.join(" ")), set);
    }

    /// A name that is bent is another name.
    #[test]
    fn hostile_names_of_scopes_open_nothing(
        name in trials::bent(
            select(&SCOPES[..4]).prop_map(str::to_owned),
            &["wiki:", "read", "*", ":", "\u{212a}", "\u{17f}", "%", "\0", ",", "\t", "\n", "/"],
        ),
    ) {
        let is_ours = Scope::ALL.iter().any(|scope| name == scope.as_str());
        prop_assert!(is_ours || ScopeSet::parse_known(&name).is_empty(), "{:?}", name);
    }

    /// Checklist 20; RFC 8707 section 2: what is made of parts of which each is known to be a
    /// spelling of ours or not.
    #[test]
    fn hostile_resources_are_ours_if_all_their_parts_are(
        scheme in select(&SCHEMES[..]),
        separator in select(&SEPARATORS[..]),
        host in select(&HOSTS[..]),
        path in select(&PATHS[..]),
    ) {
        let ours: ResourceUri = RESOURCE.parse().unwrap();
        let text = [scheme.0, separator.0, host.0, path.0].concat();
        let expected = scheme.1 && separator.1 && host.1 && path.1;
        prop_assert_eq!(ours.is_meant_by(&text), expected, "{:?}", text);
    }

    /// The same for one that is bent: it is ours if it is so by RFC 3986 section 6.2.
    #[test]
    fn hostile_spellings_of_a_resource_are_another_one(
        text in trials::bent(
            select(&[RESOURCE, "https://wiki.example.org", "https://wiki.example.org:443/mcp/"][..])
                .prop_map(str::to_owned),
            &["/", "//", "\\", "?", "#", "@", ":", "..", "/../", "%2f", "%", "\t", "\n", " ", "\u{a0}",
              "evil.example", ".", "mcp", "/mcp", "443", "80", "\u{3002}", "\u{ad}"],
        ),
    ) {
        let ours: ResourceUri = RESOURCE.parse().unwrap();
        let equal = || {
            let (scheme, rest) = text.split_once("://")?;
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let (host, port) = authority.rsplit_once(':').unwrap_or((authority, ""));
            let is_port = port.bytes().all(|byte| byte.is_ascii_digit())
                && (port.is_empty() || port.trim_start_matches('0') == "443");
            let path = path.strip_suffix('/').unwrap_or(path);
            Some(
                scheme.eq_ignore_ascii_case("https")
                    && decode(host) == "wiki.example.org"
                    && is_port
                    && ["", "/mcp"].contains(&path),
            )
        };
        // What a browser would make of other letters than these is not ours to say.
        if decode(&text).is_ascii() {
            prop_assert_eq!(ours.is_meant_by(&text), equal() == Some(true), "{:?}", text);
        }
    }
}

/// With what is percent-encoded decoded (RFC 3986 section 6.2.2.2).
fn decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().to_ascii_lowercase()
}

/// One verifier for all cases of a thread.
#[derive(Clone)]
struct Verifier(std::rc::Rc<(Server, tokio::runtime::Runtime)>);

thread_local! {
    static SERVER: Verifier = {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        Verifier(std::rc::Rc::new((Server::embedded(), runtime)))
    };
}

impl Verifier {
    /// Whether the resource server takes a token, or why not. One that is not even well-formed
    /// never gets to it.
    fn taken(&self, token: &str) -> Result<(), Option<TokenError>> {
        let line = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| None)?;
        let token = bearer(&[line]).map_err(|_| None)?;
        let (server, runtime) = &*self.0;
        runtime.block_on(server.verifier.verify(&token)).map(|_| ()).map_err(Some)
    }
}

/// The longest token that is looked at has 8 KiB; scopes come in forms of 64 KiB.
#[test]
fn hostile_lengths_of_tokens_and_scopes_take_linear_time() {
    let verifier = SERVER.with(Verifier::clone);
    for shape in ["A", ".", "A.", "=", "e30", "W1tb", "eyJhIjp7"] {
        let is_linear = trials::is_linear(1024, |length| {
            let header = BASE64_URL_SAFE_NO_PAD.encode(Key::es256().header().to_string());
            for _ in 0..100 {
                let _either = verifier.taken(&shape.repeat(length / shape.len()));
                let _either =
                    verifier.taken(&format!("{header}.{}.AA", shape.repeat(length / shape.len())));
            }
        });
        assert!(is_linear, "{shape}");
    }
    for shape in [" ", "a", "a ", "wiki:read ", "wiki:"] {
        let is_linear = trials::is_linear(8 * 1024, |length| {
            let _set = ScopeSet::parse_known(&shape.repeat(length / shape.len()));
        });
        assert!(is_linear, "{shape}");
    }
}
