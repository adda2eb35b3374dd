//! Clients that publish themselves, against servers that mean harm.

mod assertions;
mod changes;
mod documents;
mod fetching;
mod hostile;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::hostile::HostileWeb;
use crate::authorization_server::client::{ClientId, RegisteredClient};
use crate::authorization_server::testing::{Answer, TestServer, VERIFIER};
use crate::contract::scope::{Scope, ScopeSet};

const HOST: &str = "client.example";
const PATH: &str = "/app.json";
const ID: &str = "https://client.example/app.json";
/// The redirect URI of [`document`], which the shared test helpers use too.
const CALLBACK: &str = "https://client.example.com/callback";

/// A document in good order, with more members.
fn document(more: &str) -> String {
    document_of(ID, more)
}

fn document_of(id: &str, more: &str) -> String {
    format!(r#"{{"client_id":"{id}","client_name":"An app","redirect_uris":["{CALLBACK}"]{more}}}"#)
}

async fn start(web: &HostileWeb) -> TestServer {
    TestServer::start_on(web.web(), 1, |_| {})
}

/// Sends a browser to `/authorize` for a client.
async fn authorize(server: &TestServer, client: &str, redirect_uri: &str) -> Answer {
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", redirect_uri),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", "s"),
        ])
        .finish();
    server.get(&format!("/authorize?{query}")).await
}

/// Asserts that the request waits for the owner's sign-in.
#[track_caller]
fn assert_waits(answer: &Answer) {
    assert_eq!(answer.status.as_u16(), 303, "{}", answer.text);
    assert!(answer.headers["location"].to_str().unwrap().starts_with("/login"));
}

/// Asserts that it ended on a page of ours, which says why.
#[track_caller]
fn assert_refused(answer: &Answer, why: &str) {
    assert_eq!(answer.status.as_u16(), 400, "{}", answer.text);
    assert!(answer.headers.get("location").is_none());
    assert!(answer.text.contains(why), "{}", answer.text);
}

/// The client as it is known now, and the code that the owner's approval of reading
/// becomes.
async fn approved(server: &TestServer) -> (RegisteredClient, String) {
    let id = ClientId::presented(ID);
    let client = server.server.client_to_ask_for(id).await.unwrap();
    let code = server.code(&client, ScopeSet::from_iter([Scope::Read])).await;
    (client, code)
}
