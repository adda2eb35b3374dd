//! The pages, driven as a browser drives them, without a socket.

mod account;
mod audit;
mod authorize;
mod bad_input;
mod consent;
mod housekeeping;
mod limits;
mod passkeys;
mod places;
mod sessions;
mod setup;
mod walks;

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use crate::authorization_server::client::{ClientAuthentication, ClientId, RegisteredClient};
use crate::authorization_server::code::{CodeDigest, IssuedCode};
use crate::authorization_server::password::{HashingCost, Password};
use crate::authorization_server::redirect_uri::RedirectUri;
use crate::authorization_server::testing::TestServer;
use crate::authorization_server::{AuthorizationServer, Settings};
use crate::peer::Peer;

const ISSUER: &str = "https://brain.example";
const PASSWORD: &str = "correct horse battery";
/// The challenge of RFC 7636 appendix B.
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const CALLBACK: &str = "https://app.example/callback";

/// A server and its pages.
struct PageServer {
    base: TestServer,
    server: AuthorizationServer,
    router: Router,
}

impl PageServer {
    /// Without an owner.
    fn empty(issuer: &str) -> Self {
        Self::of_users(issuer, &["owner"])
    }

    /// Without a password for any of these users.
    fn of_users(issuer: &str, users: &[&str]) -> Self {
        Self::adjusted(issuer, users, |_| {})
    }

    /// The same with other settings.
    fn adjusted(issuer: &str, users: &[&str], adjust: impl FnOnce(&mut Settings)) -> Self {
        Self::of(TestServer::start_with(1, |settings| {
            settings.users = users.iter().map(|user| (*user).to_owned()).collect();
            settings.issuer = issuer.parse().unwrap();
            settings.resource = format!("{issuer}/mcp").parse().unwrap();
            settings.hashing_cost = HashingCost::LEAST;
            adjust(settings);
        }))
    }

    async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// With an owner, and with other settings.
    async fn with(adjust: impl FnOnce(&mut Settings)) -> Self {
        let test = Self::adjusted(ISSUER, &["owner"], adjust);
        test.server.first_run(Some(Password::typed(PASSWORD))).await.unwrap();
        test
    }

    fn restart(self) -> Self {
        let Self { base, server, router } = self;
        drop((server, router));
        Self::of(base.restart())
    }

    fn of(base: TestServer) -> Self {
        let (server, router) = (base.server.clone(), base.router());
        Self { base, server, router }
    }

    async fn client(&self, redirect_uris: &[&str]) -> ClientId {
        self.named_client("Notebook", redirect_uris).await
    }

    async fn named_client(&self, name: &str, redirect_uris: &[&str]) -> ClientId {
        let client = RegisteredClient {
            id: ClientId::presented(&self.server.entropy().secret()),
            name: Some(name.to_owned()),
            redirect_uris: redirect_uris
                .iter()
                .map(|uri| RedirectUri::register(uri).unwrap())
                .collect(),
            authentication: ClientAuthentication::None,
            registered_at: self.server.clock().now(),
        };
        let (id, policy) = (client.id.clone(), self.server.settings().client_policy());
        let registration = self
            .server
            .store()
            .change(move |store| store.register_client(&client, None, policy, |_| false));
        registration.await.unwrap().unwrap();
        id
    }

    /// What was written down for a code.
    async fn issued(&self, code: &str) -> IssuedCode {
        let digest = CodeDigest::of(code);
        self.server.store().read(move |store| store.code(digest)).await.unwrap().unwrap()
    }

    fn wait(&self, span: Duration) {
        self.base.clock.advance(span);
    }

    fn browser(&self) -> Browser {
        Browser {
            router: self.router.clone(),
            cookies: BTreeMap::new(),
            headers: Vec::new(),
            peer: Peer::UNKNOWN,
        }
    }

    async fn signed_in(&self) -> Browser {
        let mut browser = self.browser();
        let answer = browser.sign_in("/login", PASSWORD).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
        browser
    }
}

/// An authorization request; by default one that is in order.
#[derive(Clone)]
struct Ask(Vec<(&'static str, String)>);

impl Ask {
    fn of(client: &ClientId) -> Self {
        let pairs = [
            ("response_type", "code"),
            ("client_id", client.as_str()),
            ("redirect_uri", CALLBACK),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("state", "xyz"),
        ];
        Self(pairs.map(|(name, value)| (name, value.to_owned())).to_vec())
    }

    fn without(mut self, name: &str) -> Self {
        self.0.retain(|(found, _)| *found != name);
        self
    }

    fn and(mut self, name: &'static str, value: &str) -> Self {
        self.0.push((name, value.to_owned()));
        self
    }

    fn with(self, name: &'static str, value: &str) -> Self {
        self.without(name).and(name, value)
    }

    fn query(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }

    fn url(&self) -> String {
        format!("/authorize?{}", self.query())
    }
}

/// Keeps cookies, follows redirects on this server, and reads forms.
#[derive(Clone)]
struct Browser {
    router: Router,
    cookies: BTreeMap<String, String>,
    /// Sent with every request.
    headers: Vec<(&'static str, &'static str)>,
    /// Where it is.
    peer: Peer,
}

#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Browser {
    async fn send(&mut self, method: Method, url: &str, body: Body) -> Answer {
        let mut request = Request::builder().method(method.clone()).uri(url);
        if !self.cookies.is_empty() {
            let pairs: Vec<_> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header(header::COOKIE, pairs.join("; "));
        }
        if method == Method::POST {
            request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        }
        for (name, value) in &self.headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(body).unwrap();
        request.extensions_mut().insert(self.peer);
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        for cookie in parts.headers.get_all(header::SET_COOKIE) {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// One request, no redirects.
    async fn get(&mut self, url: &str) -> Answer {
        self.send(Method::GET, url, Body::empty()).await
    }

    /// Follows redirects as long as they stay here.
    async fn open(&mut self, url: &str) -> Answer {
        let mut answer = self.get(url).await;
        while answer.stays_here() {
            let next = answer.location().to_owned();
            answer = self.get(&next).await;
        }
        answer
    }

    async fn post(&mut self, url: &str, fields: &[(&str, &str)]) -> Answer {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send(Method::POST, url, Body::from(body)).await
    }

    /// Opens a sign-in page and fills it in.
    async fn sign_in(&mut self, url: &str, password: &str) -> Answer {
        let page = self.open(url).await;
        let fields = [("form", &*page.form_token()), ("user", "owner"), ("password", password)];
        self.post(&page.action(), &fields).await
    }

    /// Presses "Allow" with exactly these boxes ticked.
    async fn allow(&mut self, page: &Answer, scopes: &[&str]) -> Answer {
        let token = page.form_token();
        let mut fields = vec![
            ("form", &*token),
            ("grant_for", "180d"),
            ("people_for", "1h"),
            ("decision", "allow"),
        ];
        fields.extend(scopes.iter().map(|scope| ("scope", *scope)));
        self.post(&page.action(), &fields).await
    }

    async fn deny(&mut self, page: &Answer) -> Answer {
        self.post(&page.action(), &[("form", &page.form_token()), ("decision", "deny")]).await
    }
}

impl Answer {
    fn header(&self, name: impl header::AsHeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn location(&self) -> &str {
        self.header(header::LOCATION)
    }

    fn stays_here(&self) -> bool {
        self.status == StatusCode::SEE_OTHER && self.location().starts_with('/')
    }

    /// The parameters at the redirect URI.
    #[track_caller]
    fn response(&self) -> BTreeMap<String, String> {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{}", self.body);
        let (place, query) = self.location().split_once('?').expect("a query");
        assert!(!place.starts_with('/'), "{place}");
        let pairs: Vec<(String, String)> =
            form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let count = pairs.len();
        let unique: BTreeMap<_, _> = pairs.into_iter().collect();
        assert_eq!(unique.len(), count, "a parameter is there twice: {query}");
        unique
    }

    #[track_caller]
    fn error(&self) -> String {
        self.response().remove("error").expect("an error")
    }

    #[track_caller]
    fn code(&self) -> String {
        self.response().remove("code").expect("a code")
    }

    /// The token of the first form.
    #[track_caller]
    fn form_token(&self) -> String {
        self.between("name=\"form\" value=\"").expect("a form")
    }

    /// Where the first form goes.
    #[track_caller]
    fn action(&self) -> String {
        self.between("action=\"").expect("a form")
    }

    fn between(&self, start: &str) -> Option<String> {
        let (_, rest) = self.body.split_once(start)?;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    }

    #[track_caller]
    fn assert_local_page(&self, status: StatusCode) {
        assert_eq!(self.status, status, "{}", self.body);
        assert_eq!(self.location(), "");
        assert!(self.header(header::CONTENT_TYPE).starts_with("text/html"));
        assert!(self.body.contains("role=\"alert\""), "{}", self.body);
    }
}
