//! A person with a browser and a client: everything from registration to a refresh.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::http::{Answer, Connection};

const REDIRECT_URI: &str = "http://127.0.0.1:53000/callback";
/// How often a sign-in is tried.
const TRIES: usize = 100;
const VERIFIER: &str = "a-verifier-of-more-than-forty-three-characters-0123456789";

/// A browser in which the owner has signed in, on a connection of its own.
pub struct Person {
    connection: Connection,
    origin: String,
    cookies: BTreeMap<String, String>,
}

impl Person {
    pub async fn signed_in(port: u16, password: &str) -> Self {
        let connection = Connection::open(port).await;
        let origin = format!("http://127.0.0.1:{port}");
        let mut person = Self { connection, origin, cookies: BTreeMap::new() };
        // Who signs in beside another is asked to come again (the guard against guessing).
        for _ in 0..TRIES {
            let page = person.get("/login").await.expect(200);
            let token = hidden(&page.body, "form");
            let fields = [("form", &*token), ("user", "owner"), ("password", password)];
            let answer = person.post("/login", &fields).await;
            if answer.status != 429 {
                answer.expect(303);
                return person;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        panic!("no sign-in within {TRIES} tries");
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        let cookies = self.cookies();
        let answer = self.connection.get(path, &[("cookie", &cookies)]).await;
        self.keep_cookies(answer)
    }

    async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let (cookies, origin) = (self.cookies(), self.origin.clone());
        let headers = [("cookie", &*cookies), ("origin", &origin)];
        let answer = self.connection.post(path, &headers, fields).await;
        self.keep_cookies(answer)
    }

    /// Lets a client have what it asks for; the code that comes of it.
    pub async fn allow(&mut self, client: &str) -> String {
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([
                ("response_type", "code"),
                ("client_id", client),
                ("redirect_uri", REDIRECT_URI),
                ("scope", "wiki:read"),
                ("state", "state"),
                ("code_challenge", &challenge),
                ("code_challenge_method", "S256"),
            ])
            .finish();
        let answer = self.get(&format!("/authorize?{query}")).await.expect(303);
        let consent = answer.header("location");
        let consent = consent.strip_prefix(&self.origin).unwrap_or(consent).to_owned();
        let page = self.get(&consent).await.expect(200);
        let token = hidden(&page.body, "form");
        let action = between(&page.body, "<form method=\"post\" action=\"", "\"");
        let action = action.replace("&#38;", "&");
        let path = if action.is_empty() { consent } else { action };
        let fields = [
            ("form", &*token),
            ("scope", "wiki:read"),
            ("grant_for", "30d"),
            ("decision", "allow"),
        ];
        let answer = self.post(&path, &fields).await.expect(303);
        let callback = url::Url::parse(answer.header("location")).expect("a URL");
        let code = callback.query_pairs().find(|(name, _)| name == "code");
        code.expect("a code").1.into_owned()
    }

    fn cookies(&self) -> String {
        let pairs = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join("; ")
    }

    fn keep_cookies(&mut self, answer: Answer) -> Answer {
        let set = answer.headers.iter().filter(|(name, _)| name == "set-cookie");
        for (name, value) in set.filter_map(|(_, cookie)| cookie.split(';').next()?.split_once('='))
        {
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        answer
    }
}

/// Registers a client; its name.
pub async fn register(connection: &mut Connection, name: &str) -> String {
    let body = serde_json::json!({
        "client_name": name,
        "redirect_uris": [REDIRECT_URI],
        "token_endpoint_auth_method": "none",
    });
    let json = [("content-type", "application/json")];
    let answer = connection.send("POST", "/register", &json, &body.to_string()).await;
    answer.expect(201).member("client_id")
}

/// Exchanges a code; the refresh token.
pub async fn exchange(connection: &mut Connection, client: &str, code: &str) -> String {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("client_id", client),
        ("redirect_uri", REDIRECT_URI),
        ("code_verifier", VERIFIER),
    ];
    connection.post("/token", &[], &fields).await.expect(200).member("refresh_token")
}

/// Exchanges a refresh token; the next one.
pub async fn refresh(connection: &mut Connection, client: &str, token: &str) -> String {
    let fields = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
    connection.post("/token", &[], &fields).await.expect(200).member("refresh_token")
}

fn hidden(page: &str, name: &str) -> String {
    between(page, &format!("<input type=\"hidden\" name=\"{name}\" value=\""), "\"").to_owned()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start} in {text}"));
    rest.split_once(end).expect("an end").0
}
