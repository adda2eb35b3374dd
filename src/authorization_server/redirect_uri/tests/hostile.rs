//! Redirect URIs that somebody bends until they might pass, beside a model that knows the
//! parts that they were made of, and beside the URL parser of a browser.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use url::Url;

use crate::authorization_server::redirect_uri::RedirectUri;
use crate::trials;

/// What kind of place a scheme leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leads {
    ToTheWeb,
    Plainly,
    ToAnApp,
    Astray,
}

const SCHEMES: [(&str, Leads); 14] = [
    ("https", Leads::ToTheWeb),
    ("HTTPS", Leads::ToTheWeb),
    ("http", Leads::Plainly),
    ("http", Leads::Plainly),
    ("http", Leads::Plainly),
    ("HTTP", Leads::Plainly),
    ("cursor", Leads::ToAnApp),
    ("com.example.app", Leads::ToAnApp),
    ("javascript", Leads::Astray),
    ("JavaScript", Leads::Astray),
    ("data", Leads::Astray),
    ("ftp", Leads::Astray),
    ("wss", Leads::Astray),
    ("mailto", Leads::Astray),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    /// One of RFC 8252 section 7.3, `localhost` among them.
    Loopback,
    Elsewhere,
    /// No host on the web; an app may call anything its own.
    OnlyOfAnApp,
    /// No host at all.
    Broken,
}

const HOSTS: [(&str, Host); 24] = [
    ("127.0.0.1", Host::Loopback),
    ("127.0.0.1", Host::Loopback),
    ("127.0.0.2", Host::Loopback),
    ("127.1", Host::Loopback),
    ("0x7f.1", Host::Loopback),
    ("2130706433", Host::Loopback),
    ("[::1]", Host::Loopback),
    ("[0:0::1]", Host::Loopback),
    ("localhost", Host::Loopback),
    ("LOCALHOST", Host::Loopback),
    ("localhost.", Host::Elsewhere),
    ("localhost.app.example", Host::Elsewhere),
    ("127.0.0.1.app.example", Host::Elsewhere),
    ("app.localhost", Host::Elsewhere),
    ("[::ffff:127.0.0.1]", Host::Elsewhere),
    ("[::]", Host::Elsewhere),
    ("10.0.0.1", Host::Elsewhere),
    ("0.0.0.0", Host::Elsewhere),
    ("app.example", Host::Elsewhere),
    ("xn--bcher-kva.example", Host::Elsewhere),
    ("1.2.3.4.5", Host::OnlyOfAnApp),
    ("256.256.256.256", Host::OnlyOfAnApp),
    ("[::1", Host::Broken),
    ("app%2eexample", Host::Broken),
];

/// Each with whether it may be registered.
const PORTS: [(&str, bool); 9] = [
    ("", true),
    (":", true),
    (":1", true),
    (":53000", true),
    (":080", true),
    (":65535", true),
    (":65536", false),
    (":x", false),
    (":-1", false),
];
const PATHS: [(&str, bool); 20] = [
    ("", true),
    ("/", true),
    ("/cb", true),
    ("/cb", true),
    ("/CB", true),
    ("/cb/", true),
    ("//cb", true),
    ("/a/cb", true),
    ("/%63b", true),
    ("/cb;v=..", true),
    ("/...", true),
    ("/@/:1", true),
    ("/a/../cb", false),
    ("/%2e%2E/cb", false),
    ("/.%2e", false),
    ("/.", false),
    ("/\\cb", false),
    ("/cb%", false),
    ("/cb%0g", false),
    ("/c b", false),
];
const QUERIES: [(&str, bool); 10] = [
    ("", true),
    ("", true),
    ("?", true),
    ("?x=1", true),
    ("?x=/../", true),
    ("?u=https://evil.example/", true),
    ("?x=%", false),
    ("?x=\u{fc}", false),
    ("#", false),
    ("?x#y", false),
];

#[derive(Clone, Debug)]
struct Parts {
    scheme: (&'static str, Leads),
    user: &'static str,
    host: (&'static str, Host),
    port: (&'static str, bool),
    path: (&'static str, bool),
    query: (&'static str, bool),
}

impl Parts {
    fn text(&self) -> String {
        let Self { scheme, user, host, port, path, query } = self;
        [scheme.0, "://", user, host.0, port.0, path.0, query.0].concat()
    }

    /// Checklist 87 to 90, RFC 8252 section 7.
    fn may_be_registered(&self) -> bool {
        let fits = match (self.scheme.1, self.host.1) {
            (Leads::Astray, _) | (_, Host::Broken) => false,
            (Leads::Plainly, host) => host == Host::Loopback,
            (Leads::ToTheWeb, host) => host != Host::OnlyOfAnApp,
            (Leads::ToAnApp, _) => true,
        };
        fits && self.user.is_empty() && self.port.1 && self.path.1 && self.query.1
    }

    /// Checklist 8 to 10, RFC 8252 section 7.3.
    fn is_matched_by(&self, presented: &Self) -> bool {
        let is_loopback = |it: &Self| it.scheme.0 == "http" && it.host.1 == Host::Loopback;
        let path = |it: &Self| if it.path.0.is_empty() { "/" } else { it.path.0 };
        let is_same_but_for_the_port = self.host.0 == presented.host.0
            && path(self) == path(presented)
            && self.query.0 == presented.query.0;
        self.text() == presented.text()
            || (is_loopback(self)
                && is_loopback(presented)
                && presented.may_be_registered()
                && is_same_but_for_the_port)
    }
}

fn parts() -> impl Strategy<Value = Parts> {
    let user = select(&["", "", "", "", "", "", "u@", "u:p@", "@"][..]);
    let all = (
        select(&SCHEMES[..]),
        user,
        select(&HOSTS[..]),
        select(&PORTS[..]),
        select(&PATHS[..]),
        select(&QUERIES[..]),
    );
    all.prop_map(|(scheme, user, host, port, path, query)| Parts {
        scheme,
        user,
        host,
        port,
        path,
        query,
    })
}

/// Two that are the same in most of their parts.
fn pair() -> impl Strategy<Value = (Parts, Parts)> {
    let kept = || option::weighted(0.8, Just(()));
    (parts(), parts(), (kept(), kept(), kept(), kept(), kept())).prop_map(|(one, other, kept)| {
        let second = Parts {
            scheme: if kept.0.is_some() { one.scheme } else { other.scheme },
            user: if kept.0.is_some() { one.user } else { other.user },
            host: if kept.1.is_some() { one.host } else { other.host },
            port: if kept.2.is_some() { one.port } else { other.port },
            path: if kept.3.is_some() { one.path } else { other.path },
            query: if kept.4.is_some() { one.query } else { other.query },
        };
        (one, second)
    })
}

/// What was registered, for the bending of texts.
const REGISTERED: [&str; 12] = [
    "http://127.0.0.1/",
    "http://127.0.0.1:33418/cb",
    "http://127.0.0.1/cb?x=1",
    "http://localhost:8787/callback",
    "http://[::1]:9/cb",
    "http://127.1",
    "https://app.example/cb",
    "https://app.example:8443/cb?x=1&y=%20",
    "https://app.example",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "com.example.app:/callback",
    "com.example.app:callback",
];

#[rustfmt::skip]
const PIECES: [&str; 48] = [
    "/", "//", "?", "#", "@", ":", "\\", ".", "..", "/../", "%2e", "%2F", "%00", "%", "%zz",
    "\t", "\n", "\r", "\0", " ", "\u{a0}", "\u{3002}", "\u{ff0f}", "\u{202e}", "\u{130}", "*", "&", "=",
    "evil.example", "evil.example/", "@evil.example", ".evil.example", "localhost", "127.0.0.1",
    "[::1]", "[", "]", "http:", "https://", "javascript:", "data:", "0", "1", "53000", "99999",
    "x", "cb", "code=",
];

/// The parts of a URI by the regular expression of RFC 3986 appendix B, of which this is
/// the half that a loopback URI has.
fn split(text: &str) -> Option<(&str, &str, &str, Option<&str>)> {
    let rest = text.strip_prefix("http://")?;
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(a, b)| (a, Some(b)));
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let digits = authority.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let host = digits.strip_suffix(':').unwrap_or(authority);
    Some((host, &authority[host.len()..], if path.is_empty() { "/" } else { path }, query))
}

fn is_matched(registered: &str, presented: &str) -> bool {
    let is_same = || {
        let (one, other) = (split(registered)?, split(presented)?);
        let port = other.1.trim_start_matches(':').trim_start_matches('0');
        let is_port = port.is_empty() || port.parse::<u16>().is_ok();
        Some((one.0, one.2, one.3) == (other.0, other.2, other.3) && is_port)
    };
    let is_loopback = ["127.", "localhost", "[::1]"]
        .iter()
        .any(|host| registered.strip_prefix("http://").is_some_and(|rest| rest.starts_with(host)));
    registered == presented || (is_loopback && is_same() == Some(true))
}

proptest! {
    #![proptest_config(trials::budget(8_192))]

    /// Checklist 8, 9, 10, 87, 88, 89, 90: what is made of parts of which each is known to be
    /// right or wrong.
    #[test]
    fn hostile_redirect_uris_fare_as_their_parts_do((one, other) in pair()) {
        let (registered, presented) = (one.text(), other.text());
        let uri = RedirectUri::register(&registered);
        prop_assert_eq!(uri.is_ok(), one.may_be_registered(), "{}: {:?}", registered, uri);
        if let Ok(uri) = uri {
            let matched = uri.match_presented(&presented).is_some();
            prop_assert_eq!(matched, one.is_matched_by(&other), "{} {}", registered, presented);
        }
    }

    /// Checklist 7, 8, 9, 10: what was registered, bent a little, is taken if the rules say
    /// so, and never leads to another host as a browser sees it.
    #[test]
    fn hostile_spellings_never_lead_to_another_host(
        registered in select(&REGISTERED[..]),
        presented in select(&REGISTERED[..]).prop_flat_map(|text| {
            trials::bent(Just(text.to_owned()), &PIECES)
        }),
    ) {
        let uri = RedirectUri::register(registered).unwrap();
        let matched = uri.match_presented(&presented);
        let expected = is_matched(registered, &presented);
        prop_assert_eq!(matched.is_some(), expected, "{} {:?}", registered, presented);
        if let Some(matched) = matched {
            prop_assert_eq!(matched.as_str(), &presented);
            let (ours, theirs) = (Url::parse(registered).unwrap(), Url::parse(&presented).unwrap());
            prop_assert_eq!(ours.scheme(), theirs.scheme());
            prop_assert_eq!(ours.host(), theirs.host());
            prop_assert_eq!(ours.path(), theirs.path());
            prop_assert_eq!(ours.query(), theirs.query());
            prop_assert!(ours.port() == theirs.port() || ours.scheme() == "http");
        }
    }

    /// Checklist 87 to 90: what can be registered is read by a browser as it is written.
    #[test]
    fn hostile_texts_that_are_registered_mean_what_they_say(
        text in select(&REGISTERED[..]).prop_flat_map(|text| {
            trials::bent(Just(text.to_owned()), &PIECES)
        }),
        code in "[A-Za-z0-9_-]{1,43}",
    ) {
        let Ok(uri) = RedirectUri::register(&text) else { return Ok(()) };
        let url = Url::parse(&text).unwrap();
        prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{:?}", text);
        prop_assert!(url.username().is_empty() && url.password().is_none() && !text.contains('#'));
        prop_assert!(!["javascript", "data"].contains(&url.scheme()));
        if let "http" | "https" = url.scheme() {
            let (_, rest) = text.split_once("://").expect("an authority");
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            let (authority, behind) = rest.split_at(end);
            let path = behind.split('?').next().unwrap_or_default();
            prop_assert_eq!(url.path(), if path.is_empty() { "/" } else { path }, "{}", text);
            let host = url.host_str().expect("a host");
            let is_name = authority.to_ascii_lowercase().starts_with(host);
            prop_assert!(is_name || host.parse::<std::net::Ipv4Addr>().is_ok() || host.starts_with('['), "{}", text);
        }
        // What goes back goes there, with the code as the only one of its name.
        let sent = uri.with_parameters(&[("code", &code)]);
        let sent = Url::parse(&sent).unwrap();
        prop_assert_eq!(sent.host(), url.host());
        prop_assert_eq!(sent.path(), url.path());
        let codes: Vec<_> = sent.query_pairs().filter(|(name, _)| name == "code").collect();
        prop_assert_eq!(codes.len(), 1);
        prop_assert_eq!(&*codes[0].1, &code);
    }
}

/// A long text is refused for its length, so this is about what is shorter.
#[test]
fn hostile_lengths_take_linear_time() {
    for shape in ["/", "/.", "%2e", "[", ":", "?", "&a=", "@", "a."] {
        let is_linear = trials::is_linear(RedirectUri::MAX_BYTES / 8, |length| {
            let text = format!("http://localhost/{}", shape.repeat(length / shape.len()));
            for _ in 0..200 {
                let _either =
                    RedirectUri::register(&text[..text.len().min(RedirectUri::MAX_BYTES)]);
            }
        });
        assert!(is_linear, "{shape}");
    }
}
