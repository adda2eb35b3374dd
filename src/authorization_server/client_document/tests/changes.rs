//! A client that changes under its name (CIMD section 6.3), or goes away.

use super::super::hostile::{Step, answer};
use super::authorize;
use super::{CALLBACK, HOST, HostileWeb, ID, PATH, approved, assert_refused, assert_waits};
use super::{document, start};
use crate::authorization_server::authorization::AuthorizationRequest;
use crate::authorization_server::client::{ClientId, RegisteredClient};
use crate::authorization_server::pkce::CodeChallenge;
use crate::authorization_server::store::choices::ChoiceKey;
use crate::authorization_server::testing::TestServer;
use crate::contract::scope::{Scope, ScopeSet};

async fn client_now(server: &TestServer) -> RegisteredClient {
    server.server.client_to_ask_for(ClientId::presented(ID)).await.unwrap()
}

fn request(client: &RegisteredClient) -> AuthorizationRequest {
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    AuthorizationRequest {
        redirect_uri: client.matching_redirect_uri(CALLBACK).unwrap(),
        client: client.clone(),
        state: None,
        challenge: CodeChallenge::from_request(Some(challenge), Some("S256")).unwrap(),
        requested: ScopeSet::ALL,
    }
}

/// Checklist 117: another name is nothing new; anything else drops what the owner ticked, and the
/// consent page says that the app has changed.
#[tokio::test]
async fn consent_is_to_what_the_document_said() {
    let web = HostileWeb::start(&[HOST]).await;
    web.publish(PATH, &document(""), "");
    let server = start(&web).await;
    let (client, _) = approved(&server).await;
    let store = server.server.store();
    let ticked = ScopeSet::from_iter([Scope::Read, Scope::Confidential]);
    let remember = |client| {
        let key = ChoiceKey::of("owner", &request(client));
        store.remember_choice(key, &client.id, ticked)
    };
    remember(&client).unwrap();
    let last_choice = |client| store.last_choice(ChoiceKey::of("owner", &request(client))).unwrap();
    let has_changed = async |client: &RegisteredClient| {
        server.server.has_changed_since_approval("owner", client).await.unwrap()
    };

    let renamed = document("").replace("An app", "The app");
    web.publish(PATH, &renamed, "");
    server.advance(24 * 60 * 60);
    let client = client_now(&server).await;
    assert_eq!(client.name.as_deref(), Some("The app"));
    assert_eq!(last_choice(&client), Some(ticked));
    assert!(!has_changed(&client).await);

    let moved = document("").replace("[\"", "[\"https://evil.example/cb\",\"");
    web.publish(PATH, &moved, "");
    server.advance(24 * 60 * 60);
    let client = client_now(&server).await;
    assert_eq!(client.redirect_uris.len(), 2);
    assert_eq!(last_choice(&client), None);
    assert!(has_changed(&client).await);
    let stranger = server.server.has_changed_since_approval("other", &client).await.unwrap();
    assert!(!stranger, "who never approved it is not told of a change");
    // Once approved, it is what it is now.
    server.code_of("other", &client, ticked).await;
    assert!(has_changed(&client).await, "another user's approval is not the owner's");
    server.code(&client, ticked).await;
    assert!(!has_changed(&client).await);
}

/// Checklist 118: while the document cannot be had, nobody new is let in, and whoever has a grant
/// goes on.
#[tokio::test]
async fn an_outage_of_the_host_ends_no_grant() {
    let web = HostileWeb::start(&[HOST]).await;
    web.publish(PATH, &document(""), "");
    let server = start(&web).await;
    let (client, code) = approved(&server).await;
    let tokens = server.exchange(&client, &code).await.tokens();
    web.on(PATH, vec![Step::Send(answer("500 Oops", "", "{}"))]);
    server.advance(24 * 60 * 60);
    assert_refused(&authorize(&server, ID, CALLBACK).await, "status 500");
    let next = server.refresh(&client, &tokens.refresh).await.tokens();
    assert!(server.live_scopes(&next).is_some());
}

/// B27: a host that says that there is no such client takes its grants with it.
#[tokio::test]
async fn a_document_that_is_taken_away_ends_its_grants() {
    for status in ["404 Not Found", "410 Gone"] {
        let web = HostileWeb::start(&[HOST]).await;
        web.publish(PATH, &document(""), "");
        let server = start(&web).await;
        let (client, code) = approved(&server).await;
        let tokens = server.exchange(&client, &code).await.tokens();
        let (other, others_tokens) = server.granted(&[Scope::Read]).await;
        // A slip of the host disconnects nobody.
        web.on(PATH, vec![Step::Send(answer(status, "", "{}"))]);
        server.advance(24 * 60 * 60);
        assert_refused(&authorize(&server, ID, CALLBACK).await, "status 4");
        web.publish(PATH, &document(""), "");
        server.advance(60 * 60);
        assert_waits(&authorize(&server, ID, CALLBACK).await);
        web.on(PATH, vec![Step::Send(answer(status, "", "{}"))]);
        server.advance(24 * 60 * 60);
        assert_refused(&authorize(&server, ID, CALLBACK).await, "status 4");
        assert!(server.live_scopes(&tokens).is_some());
        server.advance(60 * 60);
        assert_refused(&authorize(&server, ID, CALLBACK).await, "status 4");
        assert_eq!(server.live_scopes(&tokens), None);
        let dead = server.refresh(&client, &tokens.refresh).await;
        dead.assert_error(400, "invalid_grant");
        let alive = server.refresh(&other, &others_tokens.refresh).await;
        assert_eq!(alive.status.as_u16(), 200, "nobody else's");
    }
}
