//! The log of the program itself, at its most talkative.

use std::fs;

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use super::support::browser::Page;
use super::support::{Browser, McpClient, OAuthClient, PASSWORD, Process, Tokens, VaultBuilder};

/// Everything that must not be in a log.
#[derive(Default)]
struct Secrets(Vec<(&'static str, String)>);

impl Secrets {
    fn add(&mut self, what: &'static str, secret: &str) {
        assert!(secret.len() >= 8, "{what} is too short to be looked for");
        self.0.push((what, secret.to_owned()));
    }

    fn add_tokens(&mut self, tokens: &Tokens) {
        self.add("an access token", &tokens.access);
        // Where a signature is cut off, the rest is no secret, but is not needed either.
        self.add("claims", tokens.access.split('.').nth(1).unwrap());
        self.add("a refresh token", &tokens.refresh);
    }

    /// The tokens of the forms on a page, and the name of what waits.
    fn add_page(&mut self, page: &Page) {
        let Page::Here(path, reply) = page else { return };
        for part in reply.body.split("name=\"form\" value=\"").skip(1) {
            self.add("a form token", part.split('"').next().unwrap());
        }
        if let Some((_, name)) = path.split_once("request=") {
            self.add("the name of a waiting request", name);
        }
    }

    #[track_caller]
    fn assert_absent(&self, log: &str) {
        for (what, secret) in &self.0 {
            let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            for text in [secret, &encoded] {
                assert!(!log.contains(text), "{what} is in the log");
            }
        }
    }
}

/// B43; house rule 9: whatever the level and the format, no password, cookie, code,
/// token, secret, verifier, state, question or text of a note gets into the log; and each
/// OAuth request is there with what came of it.
#[tokio::test]
async fn the_log_tells_what_came_of_requests_and_no_secret() {
    for format in ["text", "json"] {
        let vault = VaultBuilder::plain(&[("garden.md", "# Garden\n\nThe sesquipedalian tulips.")]);
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let mut server =
            Process::start_talkative(vault.root(), &folder.path().join("data"), format, &log);
        let secrets = dance(&server).await;
        server.kill();
        #[expect(clippy::disallowed_methods, reason = "a log is no page")]
        let log = fs::read_to_string(&log).expect("a log");
        secrets.assert_absent(&log);
        // What is looked for would be found.
        assert!(log.lines().count() > 25 && log.contains("/authorize"), "{log}");
        let lines = |path: &str, outcome: &str| {
            let is_it = |line: &&str| {
                line.contains("OAuth request") && line.contains(path) && line.contains(outcome)
            };
            log.lines().filter(is_it).count()
        };
        for (path, outcome, times) in [
            ("/register", "registered", 2),
            ("/authorize", "the request waits for the user", 2),
            ("/login", "user name and password do not fit", 1),
            ("/login", "signed in", 1),
            ("/consent", "allowed: wiki:read; a code was sent to 127.0.0.1:53000", 1),
            ("/consent", "sent back to 127.0.0.1:53000: access_denied", 1),
            ("/token", "authorization_code: tokens were issued", 1),
            ("/token", "refresh_token: tokens were issued", 1),
            ("/token", "the code was used before; its grant is now revoked", 1),
            ("/token", "client authentication failed: the client is unknown", 1),
            ("/revoke", "the grant was revoked", 1),
            ("/authorize", "refused: the client is not registered", 1),
        ] {
            assert_eq!(lines(path, outcome), times, "{path} {outcome}: {log}");
        }
    }
}

/// A whole life of a connection; all secrets that occurred in it.
async fn dance(server: &Process) -> Secrets {
    let mut secrets = Secrets::default();
    secrets.add("the password", PASSWORD);
    secrets.add("the state", "s t+a/t=e");
    secrets.add("the verifier", "a-verifier-of-more-than-forty-three-characters-0123456789");
    secrets.add("the text of a note", "sesquipedalian");
    secrets.add("a question", "circumlocution");
    let mut browser = Browser::default();
    let page = browser.open(server, "/login").await;
    secrets.add_page(&page);
    for password in ["not quite the password", PASSWORD] {
        secrets.add("a password", password);
        let fill = |form: super::support::forms::Form| form.fill("password", password);
        page.submit_with(&mut browser, server, "Sign in", fill).await;
        browser.cookies().for_each(|cookie| secrets.add("a cookie", cookie));
    }
    let client = OAuthClient::registered(server, "A client").await;
    let page = browser.open(server, &client.authorize_url(server, "wiki:read")).await;
    secrets.add_page(&page);
    let denied = page.submit_with(&mut browser, server, "Deny", |form| form).await;
    assert!(denied.elsewhere().contains("access_denied"));
    let code = client.consent(server, &mut browser, &["wiki:read"]).await;
    secrets.add("a code", &code);
    let tokens = Tokens::of(&client.exchange(server, &code).await.json());
    secrets.add_tokens(&tokens);
    let mcp = McpClient::with_token(&tokens.access);
    assert!(mcp.read_page(server, "garden.md").await.is_ok());
    assert_eq!(mcp.search(server, "circumlocution tulips").await, ["garden.md"]);
    let renewed = Tokens::of(&client.refresh(server, &tokens.refresh).await.json());
    secrets.add_tokens(&renewed);
    assert_eq!(client.revoke(server, &renewed.refresh).await.status, 200);
    assert_eq!(client.exchange(server, &code).await.status, 400);

    // What is refused is no less secret.
    let stranger = OAuthClient { id: "somebody-whom-nobody-knows".to_owned() };
    secrets.add("a text that may be anything", &stranger.id);
    secrets.add("what may be somebody's code", "a-code-of-somebody-else");
    assert_eq!(stranger.exchange(server, "a-code-of-somebody-else").await.status, 401);
    browser.open(server, &stranger.authorize_url(server, "wiki:read")).await;
    let request = Request::post("/register").header("authorization", "Bearer initial-access-token");
    let metadata = json!({
        "redirect_uris": ["https://app.example/callback"],
        "token_endpoint_auth_method": "client_secret_basic",
    });
    let request = request.body(Body::from(metadata.to_string())).expect("a request");
    let registered = server.send(request).await.json();
    secrets.add("an initial access token", "initial-access-token");
    secrets.add("a client secret", registered["client_secret"].as_str().expect("a secret"));
    let bad = McpClient::with_token("a-token-that-is-none");
    secrets.add("a bad token", "a-token-that-is-none");
    assert_eq!(bad.tool(server, "list_tags", json!({})).await.status, 401);
    secrets
}
