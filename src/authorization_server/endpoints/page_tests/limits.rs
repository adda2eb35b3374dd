//! What a flood of strangers does to a person: nothing.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Method, StatusCode, header};

use super::{Answer, Ask, Browser, CALLBACK, ISSUER, PASSWORD, PageServer};
use crate::authorization_server::RequestLimits;
use crate::authorization_server::client::ClientId;
use crate::authorization_server::device::PresentedDevice;
use crate::peer::Peer;

/// A server with the limits that it has by default, and an owner.
async fn limited() -> PageServer {
    PageServer::with(|settings| settings.limits = RequestLimits::default()).await
}

fn at(last: u8) -> Peer {
    Peer::at([192, 0, 2, last].into())
}

impl PageServer {
    fn browser_at(&self, peer: Peer) -> Browser {
        Browser { peer, ..self.browser() }
    }

    /// Somebody who asks as often as the server answers, in a new browser each time.
    /// Says how often it did.
    async fn flood(&self, client: &ClientId, peer: Peer, times: usize) -> usize {
        let mut answered = 0;
        for _ in 0..times {
            let answer = self.browser_at(peer).get(&Ask::of(client).url()).await;
            answered += usize::from(answer.status == StatusCode::SEE_OTHER);
        }
        answered
    }
}

async fn guess(browser: &mut Browser, form_token: &str) -> Answer {
    let fields = [("form", form_token), ("user", "owner"), ("password", "a wrong guess")];
    browser.post("/login", &fields).await
}

#[track_caller]
fn assert_too_many(answer: &Answer) {
    answer.assert_local_page(StatusCode::TOO_MANY_REQUESTS);
    let wait: u64 = answer.header(header::RETRY_AFTER).parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(answer.header(header::X_FRAME_OPTIONS), "DENY");
}

/// Checklist 34: 505 requests that nobody signed in for do not push out the one that the
/// owner is just signing in for, though nobody has signed in there either; not from one
/// address within a minute or within ten.
#[tokio::test]
async fn a_flood_pushes_out_nobody_elses_request() {
    let test = limited().await;
    let client = test.client(&[CALLBACK]).await;
    let mut owner = test.browser_at(at(1));
    let page = owner.open(&Ask::of(&client).url()).await;
    let mut answered = test.flood(&client, at(2), 505).await;
    assert_eq!(answered, 20);
    for _ in 0..9 {
        test.wait(Duration::from_secs(60));
        answered += test.flood(&client, at(2), 60).await;
    }
    assert!(answered >= 200, "{answered}");
    let next = owner.sign_in(&page.action(), PASSWORD).await;
    let page = owner.open(next.location()).await;
    owner.allow(&page, &["wiki:read"]).await.code();
}

/// Checklist 34, B19: the same through a proxy that names nobody. Who has signed in there
/// before is told from strangers by the browser; who has not asks again once signed in.
#[tokio::test]
async fn a_flood_through_the_same_proxy_does_not_either() {
    let test = limited().await;
    let client = test.client(&[CALLBACK]).await;
    let mut owner = test.signed_in().await;
    test.wait(Duration::from_secs(13 * 60 * 60));
    let page = owner.open(&Ask::of(&client).url()).await;
    assert!(page.body.contains("type=\"password\""), "the session is over: {}", page.body);
    assert_eq!(test.flood(&client, Peer::UNKNOWN, 505).await, 400);
    test.wait(Duration::from_secs(60));
    assert_eq!(test.flood(&client, Peer::UNKNOWN, 505).await, 400);
    assert!(!page.action().is_empty());
    let next = owner.sign_in(&page.action(), PASSWORD).await;
    let page = owner.open(next.location()).await;
    owner.allow(&page, &["wiki:read"]).await.code();
    // And asks anew while the strangers have used up what is there for strangers.
    assert_eq!(test.flood(&client, Peer::UNKNOWN, 5).await, 0);
    let page = owner.open(&Ask::of(&client).url()).await;
    owner.allow(&page, &["wiki:read"]).await.code();
}

/// Checklist 100, B24: 1005 registrations push out none that somebody decides about.
#[tokio::test]
async fn a_flood_of_registrations_pushes_out_nobody_who_is_asked_for() {
    let test = PageServer::with(|settings| settings.client_limit = 10).await;
    let client = test.client(&[CALLBACK]).await;
    let mut owner = test.browser();
    let page = owner.open(&Ask::of(&client).url()).await;
    for number in 0..30 {
        test.wait(Duration::from_secs(1));
        test.base.client(&format!("flood {number}")).await;
    }
    let next = owner.sign_in(&page.action(), PASSWORD).await;
    let page = owner.open(next.location()).await;
    owner.allow(&page, &["wiki:read"]).await.code();
    assert!(test.server.client(client).await.unwrap().is_some());
}

/// Issue, Build 8: two tabs, reloads, and passwords mistyped now and then never meet a
/// limit.
#[tokio::test]
async fn a_person_with_two_tabs_never_waits() {
    let test = limited().await;
    let client = test.client(&[CALLBACK]).await;
    let mut person = test.browser_at(at(1));
    for _ in 0..3 {
        for _ in 0..2 {
            let first = person.open(&Ask::of(&client).url()).await;
            let second = person.open(&Ask::of(&client).url()).await;
            for page in [&first, &second, &first, &second] {
                let action = page.between("action=\"").unwrap();
                assert_eq!(person.open(&action).await.status, StatusCode::OK);
            }
        }
        let page = person.open("/login").await;
        if page.body.contains("type=\"password\"") {
            guess(&mut person, &page.form_token()).await;
            let next = person.sign_in("/login", PASSWORD).await;
            assert_eq!(next.status, StatusCode::SEE_OTHER);
        }
        assert_eq!(person.open("/account").await.status, StatusCode::OK);
        test.wait(Duration::from_secs(5));
    }
}

/// Design section 9: ten passwords a minute from one address, whatever the names. Pages
/// are not counted among them, and other addresses go on.
#[tokio::test]
async fn passwords_are_limited_by_address() {
    let test = limited().await;
    let mut stranger = test.browser_at(at(1));
    let token = stranger.get("/login").await.form_token();
    for number in 0..10 {
        let user = format!("user{number}");
        let fields = [("form", &*token), ("user", &user), ("password", "a wrong guess")];
        assert_eq!(stranger.post("/login", &fields).await.status, StatusCode::FORBIDDEN);
    }
    let answer = stranger.sign_in("/login", PASSWORD).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.header(header::RETRY_AFTER), "6");
    assert!(answer.body.contains("wait 6 s") && answer.body.contains("type=\"password\""));
    let mut other = test.browser_at(at(2));
    assert_eq!(other.sign_in("/login", PASSWORD).await.status, StatusCode::SEE_OTHER);
    test.wait(Duration::from_secs(6));
    assert_eq!(stranger.sign_in("/login", PASSWORD).await.status, StatusCode::SEE_OTHER);
}

/// Checklist 97, 149: pages of all kinds have a limit for each address. A browser in
/// which the owner has signed in gets its pages beyond it.
#[tokio::test]
async fn pages_are_limited_by_address() {
    let test = limited().await;
    let mut owner = test.browser_at(at(1));
    owner.sign_in("/login", PASSWORD).await;
    let mut stranger = test.browser_at(at(1));
    for path in ["/login", "/account", "/logout", "/setup", "/consent"].iter().cycle().take(118) {
        assert_ne!(stranger.get(path).await.status, StatusCode::TOO_MANY_REQUESTS, "{path}");
    }
    for path in ["/login", "/account", "/authorize", "/setup", "/consent", "/logout"] {
        assert_too_many(&stranger.get(path).await);
        assert_too_many(&stranger.send(Method::POST, path, Body::empty()).await);
        assert_ne!(owner.get(path).await.status, StatusCode::TOO_MANY_REQUESTS, "{path}");
    }
    stranger.cookies = owner.cookies.clone();
    stranger.cookies.insert("__Host-brain-device".to_owned(), "A".repeat(64));
    assert_too_many(&stranger.get("/account").await);
    assert_eq!(test.browser_at(at(2)).get("/login").await.status, StatusCode::OK);
}

/// Checklist 149: strangers who keep guessing, from one address or from hundreds, do not
/// keep the owner out of a browser in which the owner has signed in before.
#[tokio::test]
async fn strangers_cannot_keep_the_owner_out() {
    let test = limited().await;
    let mut owner = test.browser_at(at(250));
    owner.sign_in("/login", PASSWORD).await;
    test.wait(Duration::from_secs(13 * 60 * 60));
    // One after the other as soon as one may, each from another address.
    for last in 0..=60 {
        let mut stranger = test.browser_at(at(last));
        let token = stranger.get("/login").await.form_token();
        assert_eq!(guess(&mut stranger, &token).await.status, StatusCode::FORBIDDEN, "{last}");
        if last >= 19 {
            test.wait(Duration::from_secs(300));
        }
    }
    let mut stranger = test.browser_at(at(61));
    let token = stranger.get("/login").await.form_token();
    guess(&mut stranger, &token).await;
    let answer = test.browser_at(at(62)).sign_in("/login", PASSWORD).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS, "a stranger waits");
    assert_eq!(answer.header(header::RETRY_AFTER), "300");
    let answer = owner.sign_in("/login", PASSWORD).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
}

/// Checklist 149: one who guesses from one address does not even keep the owner out of a
/// browser that is new.
#[tokio::test]
async fn one_stranger_keeps_nobody_else_waiting() {
    let test = limited().await;
    let mut stranger = test.browser_at(at(1));
    let token = stranger.get("/login").await.form_token();
    for _ in 0..20 {
        guess(&mut stranger, &token).await;
        test.wait(Duration::from_secs(60));
    }
    let mut owner = test.browser_at(at(2));
    assert_eq!(owner.sign_in("/login", PASSWORD).await.status, StatusCode::SEE_OTHER);
}

/// Checklist 149: what a browser is known again by is no session, is good for one
/// password and one user, and cannot be made or changed by anybody.
#[tokio::test]
async fn a_known_browser_is_known_by_a_cookie_that_opens_nothing() {
    let test = limited().await;
    let mut owner = test.browser();
    let page = owner.get("/login").await;
    let fields = [("form", &*page.form_token()), ("user", "owner"), ("password", PASSWORD)];
    let answer = owner.post("/login", &fields).await;
    let cookies: Vec<_> = answer.headers.get_all(header::SET_COOKIE).iter().collect();
    let device = cookies[1].to_str().unwrap();
    let attributes = "; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax; Secure";
    assert!(device.starts_with("__Host-brain-device=") && device.ends_with(attributes), "{device}");

    let is_known = async |browser: &Browser| {
        let pairs = browser.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, pairs.collect::<Vec<_>>().join("; ").parse().unwrap());
        let presented = PresentedDevice::from_headers(&headers, &ISSUER.parse().unwrap());
        test.server.known_browser(presented).await.unwrap().is_some()
    };
    assert!(is_known(&owner).await);
    let mut thief = test.browser();
    thief.cookies = owner.cookies.clone();
    thief.cookies.remove("__Host-brain-session");
    assert!(is_known(&thief).await);
    assert!(!thief.get("/login").await.body.contains("Signed in as"), "it opens nothing");

    let known = owner.cookies["__Host-brain-device"].clone();
    for at in 0..known.len() {
        let mut forged = known.clone().into_bytes();
        forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
        let forged = String::from_utf8(forged).unwrap();
        thief.cookies.insert("__Host-brain-device".to_owned(), forged);
        assert!(!is_known(&thief).await, "{at}");
    }

    let page = owner.get("/account").await;
    let token = page.form_token();
    let new = "another horse battery";
    let fields = [
        ("form", &*token),
        ("change", "password"),
        ("present", PASSWORD),
        ("password", new),
        ("repeated", new),
    ];
    assert_eq!(owner.post("/account", &fields).await.status, StatusCode::SEE_OTHER);
    assert!(is_known(&owner).await, "the browser in which it was changed");
    thief.cookies.insert("__Host-brain-device".to_owned(), known);
    assert!(!is_known(&thief).await, "any other");
}
