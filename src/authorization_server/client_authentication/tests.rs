use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use form_urlencoded::byte_serialize;
use proptest::prelude::*;

use super::{Credentials, Proof};
use crate::trials;

fn basic(client: &str, secret: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{client}:{secret}")))
}

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

/// The readings of the secret in a header; nothing, if it is refused.
fn readings(header: &str) -> Option<(String, Vec<String>)> {
    let Credentials { client, proof } = Credentials::from_basic(header.as_bytes()).ok()?;
    match proof {
        Proof::Nothing => Some((client, Vec::new())),
        Proof::Secret(secrets) => {
            Some((client, secrets.iter().map(|secret| secret.to_string()).collect()))
        }
        Proof::Assertion(_) => panic!("an assertion in {header}"),
    }
}

proptest! {
    #![proptest_config(trials::budget(2_048))]

    /// RFC 6749 section 2.3.1: whatever name and secret there are, they are read, escaped
    /// as the RFC wants it and as half of the clients send them. Nothing else is tried.
    #[test]
    fn hostile_secrets_are_read_both_ways(
        client in "[a-zA-Z0-9_.~-]{1,24}",
        secret in "\\PC{1,24}",
    ) {
        let (name, escaped) = readings(&basic(&client, &encoded(&secret))).unwrap();
        prop_assert_eq!(&name, &client);
        prop_assert!(escaped.contains(&secret), "{:?}", escaped);
        prop_assert!(escaped.len() <= 2);
        let (name, plain) = readings(&basic(&client, &secret)).unwrap();
        prop_assert_eq!(&name, &client);
        prop_assert!(plain.contains(&secret), "{:?}", plain);
    }

    /// RFC 7617: what is no scheme, no base64 or no pair is refused, and what is read is
    /// what stands there.
    #[test]
    fn hostile_basic_headers_are_read_exactly_or_refused(
        header in trials::bent(
            Just(basic("bmc_client", "a%20secret")),
            &["Basic ", "basic", "Bearer ", " ", "\t", "=", "==", ":", "Og==", "%3A", "é", "\0", ","],
        ),
    ) {
        let pair = header.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
        let decoded = pair.and_then(|(_, encoded)| BASE64_STANDARD.decode(encoded.trim()).ok());
        let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let expected = text.as_deref().and_then(|text| text.split_once(':'));
        match (readings(&header), expected) {
            (None, None) => {}
            (Some((_, secrets)), Some((_, ""))) => prop_assert!(secrets.is_empty()),
            (Some((client, secrets)), Some((name, secret))) => {
                prop_assert!(client == name || name.contains(['%', '+']));
                prop_assert_eq!(secrets.last().map(String::as_str), Some(secret));
            }
            (read, expected) => prop_assert!(false, "{:?} for {:?}", read, expected),
        }
    }

    #[test]
    fn hostile_bytes_are_no_header(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = Credentials::from_basic(&bytes);
    }
}
