//! Random walks from registration to the end of a grant, beside a model that says what
//! must come of each step.

mod crashes;
mod model;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

use self::model::{DAY, HOUR, How, MINUTE, Model, Outcome, RULES, Step, scopes};
use super::{Answer, Ask, Browser, CALLBACK, ISSUER, PASSWORD, PageServer};
use crate::authorization_server::client::ClientId;
use crate::authorization_server::password::{HashingCost, Password};
use crate::authorization_server::testing::{TestServer, Tokens, copy_files, quick_folder};
use crate::contract::scope::{Scope, ScopeSet};
use crate::entropy::Entropy;

/// The verifier of RFC 7636 appendix B, and one that is not it.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const WRONG_VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXX";
const OTHER_CALLBACK: &str = "https://app.example/other";

/// What a client and a browser have learnt in one walk.
#[derive(Clone, Default)]
struct Known {
    page: Option<std::sync::Arc<Answer>>,
    codes: Vec<String>,
    /// The form token of the page that was denied last.
    denied: Option<String>,
    /// By grant and generation.
    refresh: BTreeMap<(usize, u64), String>,
    access: Vec<Access>,
}

#[derive(Clone)]
struct Access {
    grant: usize,
    generation: u64,
    /// When it was issued, and whether it opens notes about people.
    issued: (u64, bool),
    text: String,
}

/// A server that many walks are made on, one after the other.
struct Ground {
    test: PageServer,
    browser: Browser,
    client: ClientId,
    other: ClientId,
    random: Entropy,
    /// How often each rule has decided, and how often the process has ended.
    met: BTreeMap<&'static str, usize>,
}

impl Ground {
    async fn new(seed: u64) -> Self {
        let base = TestServer::start_with(1000 * seed, |settings| {
            settings.issuer = ISSUER.parse().unwrap();
            settings.resource = format!("{ISSUER}/mcp").parse().unwrap();
            // The password is real and is asked for; only its hash is cheap.
            settings.hashing_cost = HashingCost { memory_kib: 8, passes: 1 };
        });
        base.server.first_run(Some(Password::typed(PASSWORD))).await.unwrap();
        let test = PageServer::of(base);
        let browser = test.browser();
        let nobody = ClientId::presented("nobody");
        let random = Entropy::seeded(seed);
        let (client, other, met) = (nobody.clone(), nobody, BTreeMap::new());
        let mut ground = Self { test, browser, client, other, random, met };
        ground.register_both().await;
        ground
    }

    fn below(&self, end: usize) -> usize {
        let number = u64::from_be_bytes(self.random.bytes());
        usize::try_from(number % u64::try_from(end).unwrap()).unwrap()
    }

    fn one_of<T: Copy>(&self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    fn now(&self) -> u64 {
        self.test.server.clock().now().as_seconds()
    }

    async fn register_both(&mut self) {
        self.client = self.register("walks").await;
        self.other = self.register("strolls").await;
    }

    async fn register(&self, name: &str) -> ClientId {
        let places = [CALLBACK, OTHER_CALLBACK];
        let metadata = json!({ "client_name": name, "redirect_uris": places });
        let request = Request::post("/register").header("content-type", "application/json");
        let (status, answer) = self.send(request, metadata.to_string()).await;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
        ClientId::presented(answer["client_id"].as_str().unwrap())
    }

    async fn send(
        &self,
        request: axum::http::request::Builder,
        body: String,
    ) -> (StatusCode, Value) {
        let request = request.body(Body::from(body)).unwrap();
        let response = self.test.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    async fn post(&self, path: &str, pairs: &[(&str, &str)]) -> (StatusCode, Value) {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let content_type = "application/x-www-form-urlencoded";
        self.send(Request::post(path).header("content-type", content_type), body).await
    }

    /// Ends the process, so to speak, and starts another on the same directory, in which
    /// `change` may play what a crash has done.
    fn restart(mut self, change: impl FnOnce(&std::path::Path)) -> Self {
        self.browser.router = Router::new();
        let PageServer { base, server, router } = self.test;
        drop((server, router));
        self.test = PageServer::of(base.restart_on(change));
        self.browser.router = self.test.router.clone();
        self
    }

    /// What a kill right now would leave. Taken again if something was being written, which
    /// a kill would not have torn as copying does.
    fn files(&self) -> TempDir {
        let data = &self.test.server.settings().data_dir;
        loop {
            let copy = quick_folder();
            let before = crashes::sizes(data);
            copy_files(data, copy.path());
            if crashes::sizes(data) == before {
                return copy;
            }
        }
    }

    fn allow(&self) -> Step {
        Step::Allow { people: self.below(3) == 0, days: self.one_of(&[1, 30, 180]) }
    }

    /// A step that makes sense after what is known.
    fn choose(&self, known: &Known) -> Step {
        const SPANS: [u64; 16] = [
            1,
            20,
            59,
            MINUTE,
            MINUTE + 1,
            2 * MINUTE,
            9 * MINUTE,
            10 * MINUTE,
            11 * MINUTE,
            HOUR,
            HOUR + 1,
            DAY,
            10 * DAY,
            30 * DAY,
            40 * DAY,
            180 * DAY,
        ];
        loop {
            let step = match self.below(100) {
                0..3 => Step::Ask,
                3..7 if known.page.is_some() => self.allow(),
                7..9 if known.page.is_some() => Step::Deny,
                9..22 if !known.codes.is_empty() => {
                    let how = [
                        How::OtherClient,
                        How::OtherResource,
                        How::WrongVerifier,
                        How::OtherRedirect,
                        How::NoRedirect,
                    ];
                    let how = if self.below(2) == 0 { How::Right } else { self.one_of(&how) };
                    // Mostly the newest.
                    let last = known.codes.len() - 1;
                    let code = if self.below(4) == 0 { self.below(last + 1) } else { last };
                    Step::Exchange { code, how }
                }
                22..55 if !known.refresh.is_empty() => {
                    let how = match self.below(10) {
                        0 => How::OtherClient,
                        1 => How::OtherResource,
                        _ => How::Right,
                    };
                    let tokens: Vec<_> = known.refresh.keys().copied().collect();
                    let (grant, mut generation) = self.one_of(&tokens);
                    let of_grant = tokens.iter().filter(|token| token.0 == grant);
                    let newest = of_grant.map(|token| token.1).max().unwrap();
                    match self.below(4) {
                        0 | 1 => generation = newest,
                        2 => generation = newest.saturating_sub(1),
                        _ => {}
                    }
                    Step::Refresh { grant, generation, how }
                }
                55..70 if !known.access.is_empty() => {
                    let newest = known.access.len() - 1;
                    let index = if self.below(3) == 0 { self.below(newest + 1) } else { newest };
                    let Access { grant, generation, issued, .. } = known.access[index];
                    Step::Use { grant, generation, access: issued }
                }
                70..73 if !known.access.is_empty() => {
                    let Access { grant, issued, .. } = known.access[self.below(known.access.len())];
                    let access = (self.below(2) == 0).then_some(issued);
                    let how = if self.below(2) == 0 { How::Right } else { How::OtherClient };
                    Step::Revoke { grant, access, how }
                }
                73..74 => Step::Register,
                74..98 => {
                    // Mostly short, or little would happen between the ends.
                    let last = if self.below(5) == 0 { SPANS.len() } else { 7 };
                    Step::Wait(SPANS[self.below(last)])
                }
                98..99 => Step::Sweep,
                _ => continue,
            };
            return step;
        }
    }

    async fn deny(&mut self, known: &mut Known) -> Outcome {
        let page = known.page.as_ref().unwrap();
        let answer = self.browser.deny(page).await;
        if !answer.location().starts_with(CALLBACK) {
            return Outcome::Gone;
        }
        assert_eq!(answer.error(), "access_denied");
        let token = Some(page.form_token());
        // The same form at once: the same answer, and nothing new.
        if known.denied == token {
            return Outcome::Gone;
        }
        known.denied = token;
        Outcome::Denied
    }

    /// Takes a step, and tells what came of it.
    async fn take(&mut self, step: Step, known: &mut Known) -> Outcome {
        match step {
            Step::Ask => {
                self.browser.cookies.clear();
                let signed_in = self.browser.sign_in("/login", PASSWORD).await;
                assert_eq!(signed_in.status, StatusCode::SEE_OTHER, "{}", signed_in.body);
                let page = self.browser.open(&Ask::of(&self.client).url()).await;
                assert!(page.body.contains("value=\"allow\""), "{}", page.body);
                known.page = Some(page.into());
                Outcome::Page
            }
            Step::Allow { people, days } => {
                let page = known.page.as_ref().unwrap();
                let (form, days) = (page.form_token(), format!("{days}d"));
                let mut fields = vec![
                    ("form", &*form),
                    ("scope", "wiki:read"),
                    ("grant_for", &days),
                    ("people_for", "1h"),
                    ("decision", "allow"),
                ];
                if people {
                    fields.push(("scope", "wiki:people"));
                }
                let answer = self.browser.post(&page.action(), &fields).await;
                if !answer.location().starts_with(CALLBACK) {
                    return Outcome::Gone;
                }
                let code = answer.code();
                if known.codes.contains(&code) {
                    // The same form at once: the same answer, and nothing new.
                    return Outcome::Gone;
                }
                known.codes.push(code);
                Outcome::Code
            }
            Step::Deny => self.deny(known).await,
            Step::Exchange { code, how } => {
                let code = known.codes[code].clone();
                let mut form = vec![("grant_type", "authorization_code"), ("code", &*code)];
                form.push(match how {
                    How::WrongVerifier => ("code_verifier", WRONG_VERIFIER),
                    _ => ("code_verifier", VERIFIER),
                });
                match how {
                    How::OtherRedirect => form.push(("redirect_uri", OTHER_CALLBACK)),
                    How::NoRedirect => {}
                    _ => form.push(("redirect_uri", CALLBACK)),
                }
                self.token(how, form, known).await
            }
            Step::Refresh { grant, generation, how } => {
                let token = known.refresh[&(grant, generation)].clone();
                let form = vec![("grant_type", "refresh_token"), ("refresh_token", &*token)];
                self.token(how, form, known).await
            }
            Step::Use { grant, generation, access } => {
                let is_meant = |it: &&Access| {
                    (it.grant, it.generation, it.issued) == (grant, generation, access)
                };
                self.arrive(known.access.iter().find(is_meant).unwrap())
            }
            Step::Revoke { grant, access, how } => {
                let token = match access {
                    Some(issued) => {
                        let is_meant = |it: &&Access| it.grant == grant && it.issued == issued;
                        &known.access.iter().find(is_meant).unwrap().text
                    }
                    None => known.refresh.iter().find(|(key, _)| key.0 == grant).unwrap().1,
                };
                let form = [("client_id", self.sender(how)), ("token", token)];
                let (status, answer) = self.post("/revoke", &form).await;
                assert_eq!(status, StatusCode::OK, "{answer}");
                Outcome::Done
            }
            Step::Register => {
                assert_eq!(self.register("walks").await, self.client);
                Outcome::Done
            }
            Step::Wait(seconds) => {
                self.test.wait(Duration::from_secs(seconds));
                Outcome::Done
            }
            Step::Sweep => {
                self.test.server.sweep().await.unwrap();
                // Clients that nobody needs any more are gone with it.
                self.register_both().await;
                Outcome::Done
            }
            Step::Restart => unreachable!("a restart takes the ground away"),
        }
    }

    fn sender(&self, how: How) -> &str {
        if how == How::OtherClient { self.other.as_str() } else { self.client.as_str() }
    }

    /// A request to `/token`.
    async fn token<'a>(
        &'a self,
        how: How,
        mut form: Vec<(&'a str, &'a str)>,
        known: &mut Known,
    ) -> Outcome {
        form.push(("client_id", self.sender(how)));
        if how == How::OtherResource {
            form.push(("resource", "https://elsewhere.example/mcp"));
        }
        let (status, answer) = self.post("/token", &form).await;
        if status != StatusCode::OK {
            assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
            return match answer["error"].as_str().unwrap() {
                "invalid_grant" => Outcome::InvalidGrant,
                "invalid_target" => Outcome::InvalidTarget,
                other => panic!("{other}: {answer}"),
            };
        }
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        let claims = self.test.server.signing_keys().read(&text("access_token")).unwrap();
        let people = text("scope").contains("people");
        assert_eq!(text("scope"), scopes(people).to_string());
        assert_eq!(claims.scope, scopes(people));
        let (asked_with, value) = form[1];
        let grant = match asked_with {
            "code" => known.codes.iter().position(|code| code == value).unwrap(),
            _ => known.refresh.iter().find(|(_, token)| *token == value).unwrap().0.0,
        };
        let generation = claims.generation;
        // Of each generation there is one refresh token, and no other generation has it.
        let refresh = text("refresh_token");
        let others = known.refresh.iter().filter(|(key, _)| **key != (grant, generation));
        assert!(others.map(|(_, token)| token).all(|token| *token != refresh));
        let first = known.refresh.entry((grant, generation)).or_insert_with(|| refresh.clone());
        assert_eq!(*first, refresh, "another child of the same parent");
        known.access.push(Access {
            grant,
            generation,
            issued: (self.now(), people),
            text: text("access_token"),
        });
        Outcome::Tokens { generation, people }
    }

    /// What the resource server makes of an access token.
    fn arrive(&self, access: &Access) -> Outcome {
        let tokens =
            Tokens { access: access.text.clone(), refresh: String::new(), scope: String::new() };
        let claims = self.test.base.claims(&tokens);
        // It looks at the clock first, and asks for the grant only then.
        if self.now() >= claims.exp {
            return Outcome::OpensNothing;
        }
        match self.test.base.live_scopes(&tokens) {
            None => Outcome::OpensNothing,
            Some(live) => {
                let opens: ScopeSet = live.intersection(claims.scope);
                Outcome::Opens { people: opens.contains(Scope::People) }
            }
        }
    }

    fn meet(&mut self, rule: &'static str) {
        *self.met.entry(rule).or_default() += 1;
    }

    /// One walk of so many steps.
    async fn walk(mut self, steps: usize, seed: u64) -> Self {
        let mut known = Known::default();
        let mut possible = vec![Model::new(self.now())];
        let mut way = format!("ground {seed}");
        let mut last = None;
        for number in 0..steps {
            let step = match (number, last) {
                (0, _) => Step::Ask,
                (1, _) if self.below(8) != 0 => self.allow(),
                (2, Some(Step::Allow { .. })) => match self.below(16) {
                    0 => Step::Exchange { code: 0, how: How::WrongVerifier },
                    1..4 => self.choose(&known),
                    _ => Step::Exchange { code: 0, how: How::Right },
                },
                // Once more the same: what is done twice is what has rules.
                (3.., Some(Step::Exchange { code, how: How::WrongVerifier }))
                    if self.below(2) == 0 =>
                {
                    Step::Exchange { code, how: How::WrongVerifier }
                }
                (2.., Some(step)) if self.below(6) == 0 => step,
                _ => self.choose(&known),
            };
            last = Some(step);
            let crash = if number > 1 { self.below(2000) } else { 2000 };
            match crash {
                0 | 1 => {
                    self = self.restart(|_| {});
                    self.meet("restart");
                    write!(way, "\n  restart").unwrap();
                    for model in &mut possible {
                        model.step(Step::Restart);
                    }
                }
                2 | 3 => {
                    let left = self.files();
                    self = self.restart(|data| crashes::put(&left, data));
                    self.meet("kill");
                    write!(way, "\n  kill").unwrap();
                    possible = possible.iter().flat_map(Model::after_kill).collect();
                }
                _ => {}
            }
            write!(way, "\n  {step:?}").unwrap();
            let client = self.client.clone();
            let outcome = self.take(step, &mut known).await;
            write!(way, " -> {outcome:?}").unwrap();
            let before = possible.clone();
            possible.retain_mut(|model| model.step(step) == outcome);
            assert!(!possible.is_empty(), "{way}\nbut before it was one of {before:#?}");
            possible.dedup();
            self.meet(possible[0].rule);
            if client != self.client {
                // Checklist 99.
                assert!(!possible.iter().any(Model::has_a_living_grant), "{way}");
                break;
            }
        }
        self
    }
}

/// Issue 4, "state-machine property test"; Checklist 29, 51, 52, 53, 54, 57, 59, 60, 61, 62,
/// 63, 66, 67, 70, 71, 73, 74, 75, 76, 78, 80, 123, 126: ten thousand random walks of
/// asking, allowing, denying, exchanging, refreshing, using, revoking, waiting, restarts and
/// kills do what a model says that has only lists and the rules.
#[test]
fn ten_thousand_walks_end_where_the_model_does() {
    const WALKS: usize = 10_000;
    let runners: Vec<_> = (1..=2)
        .map(|seed| {
            thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(async {
                    let mut ground = Ground::new(seed).await;
                    for number in 0..WALKS / 2 {
                        if number % 10 == 0 {
                            ground.register_both().await;
                        }
                        let steps = 5 + ground.below(9);
                        ground = ground.walk(steps, seed).await;
                    }
                    ground.met
                })
            })
        })
        .collect();
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    for (rule, times) in runners.into_iter().flat_map(|runner| runner.join().unwrap()) {
        *met.entry(rule).or_default() += times;
    }
    for rule in RULES.into_iter().chain(["restart", "kill"]) {
        assert!(met.get(rule).is_some_and(|times| *times >= 10), "{rule}: {met:?}");
    }
    println!("{met:?}");
}
