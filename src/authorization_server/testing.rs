//! A server in a temporary directory with a clock that stands still, and a client
//! that makes requests of it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::authorization::{Approval, AuthorizationRequest};
use super::backup::{Backup, RestoreError};
use super::client::{ClientId, RegisteredClient};
use super::client_document::Web;
use super::code::CodeDigest;
use super::pkce::CodeChallenge;
use super::{AuthorizationServer, OpenError, RequestLimits, Settings};
use crate::clock::{Clock, ManualClock, UnixTime};
use crate::contract::claims::AccessTokenClaims;
use crate::contract::liveness::{GrantLiveness as _, GrantReference};
use crate::contract::scope::{Scope, ScopeSet};
use crate::entropy::Entropy;
use crate::peer::Peer;

pub(crate) const ISSUER: &str = "https://notes.example.org";
pub(crate) const RESOURCE: &str = "https://notes.example.org/mcp";
pub(crate) const REDIRECT_URI: &str = "https://client.example.com/callback";
pub(crate) const VERIFIER: &str = "a-verifier-of-more-than-forty-three-characters-0123456789";
/// How long the owner gives `wiki:people` for: what the consent page offers first.
pub(crate) const PEOPLE_SPAN: Duration = Duration::from_secs(60 * 60);
pub(crate) const START: UnixTime = UnixTime::from_seconds(1_800_000_000);

pub(crate) struct TestServer {
    pub(crate) server: AuthorizationServer,
    pub(crate) clock: ManualClock,
    pub(crate) directory: TempDir,
    time: Clock,
    // Each start draws other random bytes, as each start does.
    seed: u64,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// The tokens of one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: String,
    pub(crate) scope: String,
}

pub(crate) fn settings(directory: &TempDir) -> Settings {
    let issuer = ISSUER.parse().unwrap();
    let settings = Settings::new(issuer, RESOURCE.parse().unwrap(), directory.path().join("data"));
    // One address asks for everything here.
    Settings { limits: RequestLimits::NONE, ..settings }
}

impl TestServer {
    pub(crate) fn start() -> Self {
        Self::start_with(1, |_| {})
    }

    /// A server whose random bytes come from this seed.
    pub(crate) fn start_with(seed: u64, adjust: impl FnOnce(&mut Settings)) -> Self {
        Self::start_on(Web::public(Vec::new()).unwrap(), seed, adjust)
    }

    /// The same, which fetches clients' documents from there.
    pub(crate) fn start_on(web: Web, seed: u64, adjust: impl FnOnce(&mut Settings)) -> Self {
        let directory = quick_folder();
        let (time, clock) = Clock::manual(START);
        let mut settings = settings(&directory);
        adjust(&mut settings);
        let entropy = Entropy::seeded(seed);
        let server = AuthorizationServer::open_on(web, settings, time.clone(), entropy).unwrap();
        Self { server, clock, directory, time, seed }
    }

    /// Ends the process, so to speak, and starts another one on the same directory.
    pub(crate) fn restart(self) -> Self {
        self.restart_on(|_| {})
    }

    /// The same, with a change of the data directory in between.
    pub(crate) fn restart_on(self, change: impl FnOnce(&Path)) -> Self {
        self.restart_with(|settings| change(&settings.data_dir))
    }

    /// The same, with other settings.
    pub(crate) fn restart_with(self, change: impl FnOnce(&mut Settings)) -> Self {
        let Self { server, clock, directory, time, seed } = self;
        let seed = seed + 1;
        let mut settings = server.settings().clone();
        drop(server);
        change(&mut settings);
        // What was begun beside the requests still holds the store, for a moment.
        for _ in 0..500 {
            let opened =
                AuthorizationServer::open(settings.clone(), time.clone(), Entropy::seeded(seed));
            match opened {
                Ok(server) => return Self { server, clock, directory, time, seed },
                Err(OpenError::InUse(_)) => std::thread::sleep(Duration::from_millis(10)),
                Err(error) => panic!("{error}"),
            }
        }
        panic!("the data directory was not released")
    }

    /// Stops the server, brings the backup back in its place, and starts anew.
    pub(crate) fn restored(self, backup: &[u8]) -> Self {
        let backup = Backup::read(backup).unwrap();
        self.restart_with(|settings| {
            let (clock, entropy) = (Clock::manual(START).0, Entropy::seeded(9));
            // What the stopped server had begun still holds the directory, for a moment.
            for _ in 0..500 {
                match AuthorizationServer::restore(settings, &backup, true, &clock, &entropy) {
                    Err(RestoreError::Open(OpenError::InUse(_))) => {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    done => return done.unwrap(),
                }
            }
            panic!("the data directory was not released");
        })
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub(crate) fn router(&self) -> Router {
        self.server.router()
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    /// The same from an address.
    pub(crate) async fn send_from(&self, peer: Peer, mut request: Request<Body>) -> Answer {
        request.extensions_mut().insert(peer);
        self.send(request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post_form(&self, path: &str, pairs: &[(&str, &str)]) -> Answer {
        self.send(form_request(path, pairs)).await
    }

    pub(crate) async fn post_json(&self, path: &str, body: &Value) -> Answer {
        self.send(json_request(path, body)).await
    }

    /// Registers a public client of that name.
    pub(crate) async fn client(&self, name: &str) -> RegisteredClient {
        let metadata = json!({ "client_name": name, "redirect_uris": [REDIRECT_URI] });
        let answer = self.post_json("/register", &metadata).await.json();
        let id = ClientId::presented(answer["client_id"].as_str().unwrap());
        self.server.client(id).await.unwrap().unwrap()
    }

    /// The code that the owner's approval of these scopes becomes.
    pub(crate) async fn code(&self, client: &RegisteredClient, scopes: ScopeSet) -> String {
        self.code_of("owner", client, scopes).await
    }

    /// The same for another user.
    pub(crate) async fn code_of(
        &self,
        user: &str,
        client: &RegisteredClient,
        scopes: ScopeSet,
    ) -> String {
        self.code_for((user, REDIRECT_URI), client, scopes).await
    }

    /// The same, and for another place of the client.
    pub(crate) async fn code_for(
        &self,
        (user, redirect_uri): (&str, &str),
        client: &RegisteredClient,
        scopes: ScopeSet,
    ) -> String {
        let now = self.time.now();
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        let request = AuthorizationRequest {
            client: client.clone(),
            redirect_uri: client.matching_redirect_uri(redirect_uri).unwrap(),
            state: None,
            challenge: CodeChallenge::from_request(Some(&challenge), Some("S256")).unwrap(),
            requested: ScopeSet::ALL,
        };
        let ends_at = now + self.server.settings().lifetimes.grant;
        let approval = Approval { scopes, ends_at, people_until: now + PEOPLE_SPAN };
        let approved = request.approve(user, approval).unwrap();
        self.server.issue_code(approved).await.unwrap()
    }

    /// Whether anything is left of a code in the store.
    pub(crate) fn remembers_code(&self, code: &str) -> bool {
        self.server.store().code(CodeDigest::of(code)).unwrap().is_some()
    }

    /// Whether nobody else holds the server, and with it the data directory.
    pub(crate) fn is_the_only_handle(&self) -> bool {
        Arc::strong_count(&self.server.0) == 1
    }

    pub(crate) async fn exchange(&self, client: &RegisteredClient, code: &str) -> Answer {
        let id = client.id.as_str();
        self.post_form("/token", &exchange_form(id, code)).await
    }

    pub(crate) async fn refresh(&self, client: &RegisteredClient, token: &str) -> Answer {
        self.refresh_with(client, token, &[]).await
    }

    pub(crate) async fn refresh_with(
        &self,
        client: &RegisteredClient,
        token: &str,
        more: &[(&str, &str)],
    ) -> Answer {
        let mut form = vec![
            ("grant_type", "refresh_token"),
            ("client_id", client.id.as_str()),
            ("refresh_token", token),
        ];
        form.extend_from_slice(more);
        self.post_form("/token", &form).await
    }

    /// A client with a grant of these scopes, and its first tokens.
    pub(crate) async fn granted(&self, scopes: &[Scope]) -> (RegisteredClient, Tokens) {
        let client = self.client("A client").await;
        let scopes = scopes.iter().copied().collect();
        let code = self.code(&client, scopes).await;
        let tokens = self.exchange(&client, &code).await.tokens();
        (client, tokens)
    }

    pub(crate) fn claims(&self, tokens: &Tokens) -> AccessTokenClaims {
        self.server.signing_keys().read(&tokens.access).unwrap()
    }

    /// What the resource server would learn of the access token's grant.
    pub(crate) fn live_scopes(&self, tokens: &Tokens) -> Option<ScopeSet> {
        let claims = self.claims(tokens);
        self.server.live_scopes(GrantReference {
            grant: &claims.gid,
            generation: claims.generation,
            subject: &claims.sub,
            client: &claims.client_id,
        })
    }
}

/// A folder in memory, where the system has room for one. A disk would make each durable
/// write wait, and nothing of a test has to outlive the machine.
pub(crate) fn quick_folder() -> TempDir {
    const ROOM: u64 = 1 << 30;
    let memory = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(memory).map_or(0, |system| system.f_bavail * system.f_frsize);
    let folder = if room < ROOM { TempDir::new() } else { TempDir::new_in(memory) };
    folder.or_else(|_| TempDir::new()).unwrap()
}

/// Copies the files of a data directory, as a kill at this moment would leave them.
pub(crate) fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_files(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

pub(crate) fn form_request(path: &str, pairs: &[(&str, &str)]) -> Request<Body> {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let request = Request::post(path).header("content-type", "application/x-www-form-urlencoded");
    request.body(Body::from(body)).unwrap()
}

pub(crate) fn json_request(path: &str, body: &Value) -> Request<Body> {
    let request = Request::post(path).header("content-type", "application/json");
    request.body(Body::from(body.to_string())).unwrap()
}

pub(crate) fn exchange_form<'a>(client: &'a str, code: &'a str) -> [(&'a str, &'a str); 5] {
    [
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("code_verifier", VERIFIER),
        ("redirect_uri", REDIRECT_URI),
    ]
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/json", "{self:?}");
        serde_json::from_str(&self.text).unwrap()
    }

    #[track_caller]
    pub(crate) fn tokens(&self) -> Tokens {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        let json = self.json();
        let field = |name: &str| json[name].as_str().unwrap().to_owned();
        Tokens {
            access: field("access_token"),
            refresh: field("refresh_token"),
            scope: field("scope"),
        }
    }

    /// Asserts that this is an OAuth error, and of which kind.
    #[track_caller]
    pub(crate) fn assert_error(&self, status: u16, error: &str) {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        let json = self.json();
        assert_eq!(json["error"], error, "{}", self.text);
        // #40
        let description = json["error_description"].as_str().unwrap();
        assert!(
            description.bytes().all(|b| (0x20..0x7F).contains(&b) && b != b'"' && b != b'\\'),
            "{description}"
        );
        assert_eq!(self.headers["access-control-allow-origin"], "*", "errors too, #130");
    }
}
