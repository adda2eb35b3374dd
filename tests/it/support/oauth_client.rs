//! An OAuth client: registers, sends the owner to the consent page, redeems.

use axum::body::Body;
use axum::http::Request;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::browser::Browser;
use super::site::{Reply, Site};

const REDIRECT_URI: &str = "http://127.0.0.1:53000/callback";
const VERIFIER: &str = "a-verifier-of-more-than-forty-three-characters-0123456789";

/// A public client that has registered.
#[derive(Clone, Debug)]
pub struct OAuthClient {
    /// What the server called it.
    pub id: String,
}

/// What the token endpoint gave.
#[derive(Clone, Debug)]
pub struct Tokens {
    /// Access token.
    pub access: String,
    /// Refresh token.
    pub refresh: String,
    /// What it opens, as the server says.
    pub scope: String,
}

impl OAuthClient {
    /// Registers a client (RFC 7591).
    pub async fn registered(site: &Site, name: &str) -> Self {
        Self::try_registered(site, name).await.expect("an answer")
    }

    /// Registers a client; nothing if the connection broke.
    pub async fn try_registered(site: &Site, name: &str) -> Option<Self> {
        let body = json!({
            "client_name": name,
            "redirect_uris": [REDIRECT_URI],
            "token_endpoint_auth_method": "none",
        });
        let request = Request::post("/register")
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .expect("a request");
        let reply = site.try_send(request).await?;
        assert_eq!(reply.status, 201, "{}", reply.body);
        let id = reply.json()["client_id"].as_str().expect("an id").to_owned();
        Some(Self { id })
    }

    /// Where it sends the owner's browser.
    pub fn authorize_url(&self, site: &Site, scope: &str) -> String {
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        let query = [
            ("response_type", "code"),
            ("client_id", &self.id),
            ("redirect_uri", REDIRECT_URI),
            ("scope", scope),
            ("state", "s t+a/t=e"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &site.resource()),
        ];
        let mut url = Url::parse(&format!("{}/authorize", site.issuer())).expect("a URL");
        url.query_pairs_mut().extend_pairs(query);
        url.into()
    }

    /// Goes through the consent page in `browser`, ticking exactly `scopes`; the
    /// code that comes of it.
    pub async fn consent(&self, site: &Site, browser: &mut Browser, scopes: &[&str]) -> String {
        let page = browser.open(site, &self.authorize_url(site, &scopes.join(" "))).await;
        let done = page.submit_with(browser, site, "Allow", |form| form.tick_exactly(scopes)).await;
        let callback = Url::parse(done.elsewhere()).expect("a URL");
        let find = |name: &str| {
            let mut pairs = callback.query_pairs();
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        assert_eq!(find("state").as_deref(), Some("s t+a/t=e"));
        assert_eq!(find("iss").as_deref(), Some(site.issuer()));
        find("code").expect("a code")
    }

    /// Redeems a code.
    pub async fn exchange(&self, site: &Site, code: &str) -> Reply {
        self.try_exchange(site, code).await.expect("an answer")
    }

    /// Redeems a code; nothing if the connection broke.
    pub async fn try_exchange(&self, site: &Site, code: &str) -> Option<Reply> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", &self.id),
            ("redirect_uri", REDIRECT_URI),
            ("code_verifier", VERIFIER),
        ];
        post_form(site, "/token", &fields).await
    }

    /// Redeems a refresh token.
    pub async fn refresh(&self, site: &Site, refresh_token: &str) -> Reply {
        self.try_refresh(site, refresh_token).await.expect("an answer")
    }

    /// Redeems a refresh token; nothing if the connection broke.
    pub async fn try_refresh(&self, site: &Site, refresh_token: &str) -> Option<Reply> {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token),
            ("client_id", &self.id),
        ];
        post_form(site, "/token", &fields).await
    }

    /// Revokes a token (RFC 7009).
    pub async fn revoke(&self, site: &Site, token: &str) -> Reply {
        self.try_revoke(site, token).await.expect("an answer")
    }

    /// Revokes a token; nothing if the connection broke.
    pub async fn try_revoke(&self, site: &Site, token: &str) -> Option<Reply> {
        let fields = [("token", token), ("client_id", &*self.id)];
        post_form(site, "/revoke", &fields).await
    }

    /// The whole way: a fresh sign-in, consent to exactly `scopes`, tokens.
    pub async fn tokens(&self, site: &Site, scopes: &[&str]) -> Tokens {
        let mut browser = Browser::signed_in(site).await;
        let code = self.consent(site, &mut browser, scopes).await;
        let reply = self.exchange(site, &code).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        Tokens::of(&reply.json())
    }
}

impl Tokens {
    /// Reads a token answer.
    pub fn of(answer: &Value) -> Self {
        let text = |name: &str| answer[name].as_str().expect(name).to_owned();
        Self { access: text("access_token"), refresh: text("refresh_token"), scope: text("scope") }
    }
}

/// Posts a form, as clients do at `/token`.
async fn post_form(site: &Site, path: &str, fields: &[(&str, &str)]) -> Option<Reply> {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = Request::post(path)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(body))
        .expect("a request");
    site.try_send(request).await
}
