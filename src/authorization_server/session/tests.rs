//! Our cookies among those of others.

use axum::http::{HeaderMap, HeaderValue, header};
use proptest::prelude::*;
use proptest::sample::select;

use super::{BrowserCookie, cookie_values};
use crate::authorization_server::device::PresentedDevice;
use crate::contract::issuer::Issuer;
use crate::entropy::Entropy;
use crate::trials;

fn issuer(is_https: bool) -> Issuer {
    let text = if is_https { "https://notes.example" } else { "http://localhost:8080" };
    text.parse().unwrap()
}

/// A cookie of somebody else: any bytes that a header may hold and that end no cookie, or
/// one that nearly has our name, or our name and something that we never gave out.
fn neighbour() -> impl Strategy<Value = Vec<u8>> {
    let bytes = proptest::collection::vec(any::<u8>(), 0..20).prop_map(|bytes| {
        let is_legal = |byte: &u8| *byte >= 0x20 && *byte != 0x7F && *byte != b';';
        bytes.into_iter().filter(is_legal).collect()
    });
    let names = [
        "brain-session",
        "__Host-brain-session",
        "brain-device",
        "__Host-brain-device",
        "Brain-Session",
        "__host-brain-session",
        "brain-session ",
        "a",
        "",
    ];
    let values = ["", "=", "x", "\"", "null", "\u{e9}", "%41", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"];
    let nearly = (select(names.to_vec()), select(values.to_vec()))
        .prop_map(|(name, value)| format!("{name}={value}").into_bytes());
    prop_oneof![bytes, nearly]
}

/// Lines of cookies, with one of ours at a place among them.
fn lines(
    ours: &str,
    neighbours: &[Vec<u8>],
    (place, separator, cut): (usize, &str, usize),
) -> HeaderMap {
    let mut all = neighbours.to_vec();
    all.insert(place % (all.len() + 1), ours.as_bytes().to_vec());
    let (first, second) = all.split_at(cut % (all.len() + 1));
    let mut headers = HeaderMap::new();
    for line in [first, second] {
        let line = HeaderValue::from_bytes(&line.join(separator.as_bytes())).unwrap();
        headers.append(header::COOKIE, line);
    }
    headers
}

proptest! {
    #![proptest_config(trials::budget(4_096))]

    /// Checklist 149, RFC 6265 section 5.4: whoever else sets cookies at our host, the
    /// browser is known by ours.
    #[test]
    fn hostile_neighbours_never_hide_our_cookies(
        neighbours in proptest::collection::vec(neighbour(), 0..6),
        layout in (any::<usize>(), select(&["; ", ";", " ;  "][..]), any::<usize>()),
        is_https in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let issuer = issuer(is_https);
        let cookie = BrowserCookie::new(&Entropy::seeded(seed));
        let (_, set) = cookie.set_cookie(&issuer);
        let pair = set.split(';').next().unwrap();
        let headers = lines(pair, &neighbours, layout);
        let found = BrowserCookie::from_headers(&headers, &issuer);
        prop_assert!(found.is_some_and(|found| found.key() == cookie.key()), "{:?}", headers);
        let name = if is_https { "__Host-brain-device" } else { "brain-device" };
        let pair = format!("{name}={}", "Ab-_".repeat(16));
        let headers = lines(&pair, &neighbours, layout);
        prop_assert!(PresentedDevice::from_headers(&headers, &issuer).is_some(), "{:?}", headers);
    }

    /// Neighbours alone are nobody's browser.
    #[test]
    fn hostile_neighbours_are_not_taken_for_ours(
        neighbours in proptest::collection::vec(neighbour(), 0..6),
        is_https in any::<bool>(),
    ) {
        let headers = lines("a=b", &neighbours, (0, ";", 0));
        prop_assert!(BrowserCookie::from_headers(&headers, &issuer(is_https)).is_none());
        prop_assert!(PresentedDevice::from_headers(&headers, &issuer(is_https)).is_none());
    }
}

#[test]
fn hostile_lengths_of_cookies_take_linear_time() {
    for shape in [";", "=", "a", " ", "brain-session=;", "brain-session=x; ", "\u{e9}"] {
        let is_linear = trials::is_linear(8 * 1024, |length| {
            let line = HeaderValue::from_str(&shape.repeat(length / shape.len())).unwrap();
            let headers = HeaderMap::from_iter([(header::COOKIE, line)]);
            let _number = cookie_values(&headers, "brain-session").count();
        });
        assert!(is_linear, "{shape}");
    }
}
