//! Tokens that are ours, and tokens that are not.

use jsonwebtoken::{Algorithm, EncodingKey, Header};

use super::AccessTokenClaims;
use crate::authorization_server::testing::TestServer;
use crate::contract::scope::ScopeSet;

fn claims() -> AccessTokenClaims {
    AccessTokenClaims {
        iss: "https://notes.example.org".to_owned(),
        sub: "owner".to_owned(),
        aud: "https://notes.example.org/mcp".to_owned(),
        client_id: "bmc_x".to_owned(),
        iat: 1,
        exp: 2,
        jti: "x".to_owned(),
        scope: ScopeSet::ALL,
        gid: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
        generation: 0,
    }
}

/// RFC 8725 section 3.1, 3.11: `/revoke` reads no token but an access token of ours.
#[test]
fn only_an_access_token_of_this_server_is_read() {
    let test = TestServer::start();
    let keys = test.server.signing_keys();
    let token = keys.sign(&claims()).unwrap();
    assert_eq!(keys.read(&token), Some(claims()));
    let other = TestServer::start_with(2, |_| {});
    assert_eq!(other.server.signing_keys().read(&token), None, "another server's");
    let jwt = Header { typ: Some("JWT".to_owned()), ..Header::new(Algorithm::ES256) };
    let as_jwt = jsonwebtoken::encode(&jwt, &claims(), &keys.current.private).unwrap();
    let shared = test.server.public_key_set();
    let hmac = EncodingKey::from_secret(shared.as_json().as_bytes()).unwrap();
    let typ = Some("at+jwt".to_owned());
    let as_hmac =
        jsonwebtoken::encode(&Header { typ, ..Header::default() }, &claims(), &hmac).unwrap();
    let unsigned = format!("{}.", token.rsplit_once('.').unwrap().0);
    let (head, signature) = token.rsplit_once('.').unwrap();
    let tampered = format!("{head}A.{signature}");
    for wrong in [&as_jwt, &as_hmac, &unsigned, &tampered, "", ".", "..", "a.b.c"] {
        assert_eq!(keys.read(wrong), None, "{wrong}");
    }
}
