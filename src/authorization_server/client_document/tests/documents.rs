//! What a document must say (CIMD section 4.1), and what deployed clients say.

use super::{CALLBACK, HOST, HostileWeb, ID, PATH, assert_refused, assert_waits, authorize};
use super::{approved, document, document_of, start};
use crate::authorization_server::client::{ClientAuthentication, ClientId, RegisteredClient};
use crate::authorization_server::client_rules::{ClientRules, Registration};
use crate::authorization_server::redirect_uri::RedirectUri;
use crate::authorization_server::testing::{ISSUER, START, TestServer, exchange_form};
use crate::contract::scope::{Scope, ScopeSet};
use serde_json::json;

/// The clients of oauth-clients section 1b, with the redirect URI that each sends.
const DEPLOYED: [(&str, &str); 7] = [
    (
        include_str!("../../../../tests/fixtures/client_documents/claude_ai.json"),
        "https://claude.ai/api/mcp/auth_callback",
    ),
    (
        include_str!("../../../../tests/fixtures/client_documents/claude_code.json"),
        "http://localhost:3118/callback",
    ),
    (
        include_str!("../../../../tests/fixtures/client_documents/chatgpt.json"),
        "https://chatgpt.com/connector_platform_oauth_redirect",
    ),
    (
        include_str!("../../../../tests/fixtures/client_documents/codex.json"),
        "http://127.0.0.1:51123/callback",
    ),
    (
        include_str!("../../../../tests/fixtures/client_documents/vscode.json"),
        "http://127.0.0.1:33418",
    ),
    (
        include_str!("../../../../tests/fixtures/client_documents/zed.json"),
        "http://127.0.0.1:27523/callback",
    ),
    (
        include_str!("../../../../tests/fixtures/client_documents/opencode.json"),
        "http://127.0.0.1:19876/mcp/oauth/callback",
    ),
];

/// Checklist 111, 119, B20, B26, T20: every deployed client gets to the owner and, without a
/// secret, to tokens and new ones; and nothing that its document links to is fetched.
#[tokio::test]
async fn deployed_clients_are_known_by_their_documents() {
    let hosts = ["claude.ai", "chatgpt.com", "vscode.dev", "zed.dev", "opencode.ai"];
    let web = HostileWeb::start(&hosts).await;
    let server = start(&web).await;
    for (document, redirect_uri) in DEPLOYED {
        let parsed: serde_json::Value = serde_json::from_str(document).unwrap();
        let id = parsed["client_id"].as_str().unwrap();
        let path = id.splitn(4, '/').nth(3).unwrap();
        web.publish(&format!("/{path}"), document, "");
        assert_waits(&authorize(&server, id, redirect_uri).await);
        // #111: and nowhere else.
        let elsewhere = authorize(&server, id, "https://evil.example/cb").await;
        assert_refused(&elsewhere, "redirect URI");

        let client = server.server.client_to_ask_for(ClientId::presented(id)).await.unwrap();
        let scopes = ScopeSet::from_iter([Scope::Read]);
        let code = server.code_for(("owner", redirect_uri), &client, scopes).await;
        let form = exchange_form(id, &code)
            .map(|pair| if pair.0 == "redirect_uri" { (pair.0, redirect_uri) } else { pair });
        let tokens = server.post_form("/token", &form).await.tokens();
        assert_eq!(server.claims(&tokens).client_id, id);
        server.refresh(&client, &tokens.refresh).await.tokens();
    }
    // #119: neither logos nor the pages of their makers, nor keys that nobody used.
    assert_eq!(web.requests().len(), DEPLOYED.len());
}

/// Checklist 109, 110, 112, 116 and R11
#[tokio::test]
async fn a_document_that_is_not_in_order_is_no_client() {
    let web = HostileWeb::start(&[HOST]).await;
    for (text, why) in [
        ("[]".to_owned(), "not a JSON object"),
        ("{".to_owned(), "not a JSON object"),
        ("\u{feff}{}".to_owned(), "not a JSON object"),
        (super::document_of("https://other.example/app.json", ""), "client_id"),
        (super::document_of("https://client.example/app.json?", ""), "client_id"),
        (super::document_of("HTTPS://client.example/app.json", ""), "client_id"),
        (format!(r#"{{"client_name":"x","redirect_uris":["{CALLBACK}"]}}"#), "client_id"),
        (format!(r#"{{"client_id":"{ID}","redirect_uris":["{CALLBACK}"]}}"#), "client_name"),
        (
            format!(
                r#"{{"client_id":"{ID}","client_name":"\u202e","redirect_uris":["{CALLBACK}"]}}"#
            ),
            "client_name",
        ),
        (format!(r#"{{"client_id":"{ID}","client_name":"x"}}"#), "redirect_uris"),
        (
            format!(r#"{{"client_id":"{ID}","client_name":"x","redirect_uris":[]}}"#),
            "redirect URIs",
        ),
        (
            format!(
                r#"{{"client_id":"{ID}","client_name":"x","redirect_uris":["javascript:alert(1)"]}}"#
            ),
            "redirect URI number 1",
        ),
        (document(r#","token_endpoint_auth_method":"client_secret_basic""#), "shared secret"),
        (
            document(r#","token_endpoint_auth_methods_supported":["none","client_secret_jwt"]"#),
            "shared secret",
        ),
        (document(r#","client_secret":"hunter2""#), "client_secret"),
        (document(r#","client_secret_expires_at":0"#), "client_secret"),
        (document(r#","token_endpoint_auth_method":"tls_client_auth""#), "private_key_jwt"),
        (document(r#","token_endpoint_auth_method":"private_key_jwt""#), "jwks"),
        (
            document(
                r#","token_endpoint_auth_method":"private_key_jwt","jwks_uri":"http://client.example/k""#,
            ),
            "jwks_uri",
        ),
        (
            document(
                r#","token_endpoint_auth_method":"private_key_jwt","jwks_uri":"https://127.0.0.1/k""#,
            ),
            "jwks_uri",
        ),
        (document(r#","jwks":{"keys":[{"kty":"EC","d":"x"}]}"#), "private key"),
        (document(r#","jwks":{"keys":[{"kty":"oct","k":"x"}]}"#), "private key"),
        (document(r#","jwks":{"keys":[]},"jwks_uri":"https://client.example/k""#), "exclude"),
        (document(r#","grant_types":["client_credentials"]"#), "grant_types"),
        (document(r#","response_types":["token"]"#), "response_types"),
        (document(r#","token_endpoint_auth_method":7"#), "not a string"),
    ] {
        let server = start(&web).await;
        web.publish(PATH, &text, "");
        assert_refused(&authorize(&server, ID, CALLBACK).await, why);
    }
}

/// Checklist 102: a name that is a URL but none that may be fetched costs no connection.
#[tokio::test]
async fn a_name_that_is_no_document_url_is_refused_unfetched() {
    let web = HostileWeb::start(&[HOST]).await;
    let server = start(&web).await;
    for id in
        ["https://client.example", "https://127.0.0.1/app.json", "https://client.example/../x"]
    {
        assert_refused(&authorize(&server, id, CALLBACK).await, "address of a metadata document");
    }
    assert_eq!((web.look_ups(), web.connections_to_private()), (0, 0));
}

/// Checklist 120, B26: clients choose documents by this flag and by `none`.
#[tokio::test]
async fn the_metadata_says_that_documents_are_read() {
    let server = TestServer::start();
    let metadata = server.get("/.well-known/oauth-authorization-server").await.json();
    assert_eq!(metadata["client_id_metadata_document_supported"], true);
    let methods = metadata["token_endpoint_auth_methods_supported"].as_array().unwrap();
    assert!(methods.iter().any(|method| method == "none"));
    assert!(methods.iter().any(|method| method == "private_key_jwt"));
    assert!(metadata["token_endpoint_auth_signing_alg_values_supported"].is_array());
}

/// The operator's rules: no documents at all, or only those of some hosts.
#[tokio::test]
async fn the_operator_chooses_whose_documents_count() {
    let web = HostileWeb::start(&[HOST]).await;
    web.publish(PATH, &document(""), "");
    let rules = |clients: ClientRules| {
        TestServer::start_on(web.web(), 1, |settings| settings.clients = clients)
    };
    let off = rules(ClientRules { documents: false, ..ClientRules::default() });
    assert_refused(&authorize(&off, ID, CALLBACK).await, "not allowed on this server");
    let metadata = off.get("/.well-known/oauth-authorization-server").await.json();
    assert_eq!(metadata["client_id_metadata_document_supported"], false);
    let other =
        rules(ClientRules { allowed: vec!["other.example".into()], ..ClientRules::default() });
    assert_refused(&authorize(&other, ID, CALLBACK).await, "only certain apps");
    assert_eq!(web.requests().len(), 0);
    let this = rules(ClientRules { allowed: vec![HOST.into()], ..ClientRules::default() });
    assert_waits(&authorize(&this, ID, CALLBACK).await);
}

/// Checklist 101: registration can be off, or need an initial access token; the metadata says so.
#[tokio::test]
async fn registration_can_be_off_or_need_a_token() {
    use axum::body::Body;
    use axum::http::Request;

    let rule = |registration| {
        TestServer::start_with(1, |settings| settings.clients.registration = registration)
    };
    let body = format!(r#"{{"redirect_uris":["{CALLBACK}"]}}"#);
    let register = |authorization: &str| {
        let request = Request::post("/register").header("authorization", authorization);
        request.body(Body::from(body.clone())).unwrap()
    };
    let off = rule(Registration::Off);
    off.send(register("Bearer x")).await.assert_error(403, "access_denied");
    let metadata = off.get("/.well-known/oauth-authorization-server").await.json();
    assert!(metadata.get("registration_endpoint").is_none());
    let closed = rule(Registration::with_token("secret-token"));
    let metadata = closed.get("/.well-known/oauth-authorization-server").await.json();
    assert!(metadata["registration_endpoint"].is_string());
    for wrong in ["Bearer other", "Basic secret-token", "secret-token", "Bearer"] {
        let answer = closed.send(register(wrong)).await;
        answer.assert_error(401, "invalid_token");
        assert!(answer.headers["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
    }
    assert_eq!(closed.send(register("bearer secret-token")).await.status.as_u16(), 201);
}

/// The list of hosts holds for registered clients too, by where their answers go.
#[tokio::test]
async fn only_certain_apps_may_register_if_the_operator_says_so() {
    use serde_json::json;

    let allowed = vec!["good.example".into(), "localhost".into(), "cursor:".into()];
    let server = TestServer::start_with(1, |settings| settings.clients.allowed = allowed);
    let register = async |uris: &[&str]| {
        server.post_json("/register", &json!({ "redirect_uris": uris })).await
    };
    for good in ["https://good.example/cb", "http://127.0.0.1/cb", "cursor://x/cb"] {
        assert_eq!(register(&[good]).await.status.as_u16(), 201, "{good}");
    }
    for bad in ["https://bad.example/cb", "https://good.example.evil.example/cb", "vscode://x"] {
        register(&[bad]).await.assert_error(403, "access_denied");
    }
    let mixed = register(&["https://good.example/cb", "https://bad.example/cb"]).await.json();
    let id = mixed["client_id"].as_str().unwrap();
    assert_waits(&authorize(&server, id, "https://good.example/cb").await);
    assert_refused(&authorize(&server, id, "https://bad.example/cb").await, "only certain apps");
}

/// What the operator decides holds for clients that were let in before, too; and ends
/// nothing, should he think better of it.
#[tokio::test]
async fn the_operators_rules_hold_for_connected_clients() {
    let web = HostileWeb::start(&[HOST]).await;
    web.publish(PATH, &document(""), "");
    let server = start(&web).await;
    let (client, code) = approved(&server).await;
    let tokens = server.exchange(&client, &code).await.tokens();
    let (other, others) = server.granted(&[crate::contract::scope::Scope::Read]).await;
    let server = server.restart_with(|settings| settings.clients.documents = false);
    assert_eq!(server.live_scopes(&tokens), None);
    server.refresh(&client, &tokens.refresh).await.assert_error(400, "invalid_grant");
    assert!(server.live_scopes(&others).is_some());
    let server = server.restart_with(|settings| {
        settings.clients.documents = true;
        settings.clients.allowed = vec!["client.example".into()];
    });
    assert!(server.live_scopes(&tokens).is_some());
    assert_eq!(server.live_scopes(&others), None);
    server.refresh(&other, &others.refresh).await.assert_error(400, "invalid_grant");
    assert_eq!(server.refresh(&client, &tokens.refresh).await.status.as_u16(), 200);
}

/// The host that vouches is the client's name, and its id stands in the tokens.
#[tokio::test]
async fn a_published_client_gets_tokens_and_its_host_is_its_name() {
    let web = HostileWeb::start(&[HOST]).await;
    web.publish(PATH, &document(""), "");
    let server = start(&web).await;
    let (client, code) = approved(&server).await;
    assert_eq!(client.document_host().as_deref(), Some(HOST));
    let tokens = server.exchange(&client, &code).await.tokens();
    assert_eq!(server.claims(&tokens).client_id, ID);
    assert!(server.live_scopes(&tokens).is_some());
    // #80: the client is in the store, so a refresh needs nobody's document.
    let server = server.restart();
    assert_eq!(server.refresh(&client, &tokens.refresh).await.status.as_u16(), 200);
    assert_eq!(web.requests().len(), 1);
}

/// Checklist 42: before anybody has approved it, it is unknown at the token endpoint, and nothing
/// is fetched for asking there.
#[tokio::test]
async fn the_token_endpoint_fetches_nothing_for_strangers() {
    let web = HostileWeb::start(&[HOST]).await;
    web.publish(PATH, &document(""), "");
    let server = start(&web).await;
    let answer = server
        .post_form(
            "/token",
            &[("grant_type", "refresh_token"), ("client_id", ID), ("refresh_token", "x")],
        )
        .await;
    answer.assert_error(401, "invalid_client");
    assert_eq!(web.look_ups(), 0);
}

/// What anybody can find at our own address is no client's word about itself, and we do
/// not call ourselves to read it.
#[tokio::test]
async fn an_address_of_our_own_is_no_client() {
    let web = HostileWeb::start(&[HOST, "notes.example.org"]).await;
    let server = start(&web).await;
    for path in ["mcp", "jwks", ".well-known/oauth-authorization-server", "app.json"] {
        let id = format!("{ISSUER}/{path}");
        web.publish(&format!("/{path}"), &document_of(&id, ""), "");
        assert_refused(&authorize(&server, &id, CALLBACK).await, "an address of this server");
    }
    assert_eq!(web.look_ups(), 0);
    let keys =
        format!(r#","token_endpoint_auth_method":"private_key_jwt","jwks_uri":"{ISSUER}/jwks""#);
    web.publish(PATH, &document(&keys), "");
    assert_refused(&authorize(&server, ID, CALLBACK).await, "an address of this server");
}

/// Checklist 144: the consent page names the host that vouches, and the port where it is
/// not the usual one, for behind another port is another server.
#[tokio::test]
async fn a_host_is_named_with_its_port() {
    let id = "https://client.example:8443/app.json";
    let client = RegisteredClient {
        id: ClientId::presented(id),
        name: Some("An app".to_owned()),
        redirect_uris: vec![RedirectUri::register(CALLBACK).unwrap()],
        authentication: ClientAuthentication::None,
        registered_at: START,
    };
    assert_eq!(client.document_host().as_deref(), Some("client.example:8443"));
}

/// Rule of the store: records are small, whatever a document says.
#[tokio::test]
async fn a_document_that_says_too_much_is_no_client() {
    let web = HostileWeb::start(&[HOST]).await;
    let keys = |bytes: usize| {
        let key = json!({ "kty": "RSA", "kid": "one", "e": "AQAB", "n": "A".repeat(bytes) });
        let more = json!({ "keys": [key] });
        document(&format!(r#","token_endpoint_auth_method":"private_key_jwt","jwks":{more}"#))
    };
    let server = start(&web).await;
    web.publish(PATH, &keys(4_000), "");
    assert_refused(&authorize(&server, ID, CALLBACK).await, "jwks_uri");
    // Two keys of 4096 bits would still fit.
    let server = start(&web).await;
    web.publish(PATH, &keys(1_500), "");
    assert_waits(&authorize(&server, ID, CALLBACK).await);
}
