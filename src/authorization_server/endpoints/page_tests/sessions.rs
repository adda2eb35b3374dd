//! `/login` and `/logout`: cookies, wrong passwords, fresh sign-ins.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::{StatusCode, header};

use super::{Answer, Ask, Browser, CALLBACK, ISSUER, PASSWORD, PageServer};
use crate::authorization_server::audit::What;
use crate::authorization_server::password::{AlsoEnds, Password};

const COOKIE: &str = "__Host-brain-session";

/// Checklist 149: the cookie's name and attributes.
#[tokio::test]
async fn the_cookie_has_every_attribute() {
    let test = PageServer::new().await;
    let answer = test.browser().get("/login").await;
    let cookie = answer.header(header::SET_COOKIE);
    assert!(cookie.starts_with("__Host-brain-session="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
}

/// Browsers keep `Secure` and `__Host-` cookies of plain http nowhere but on some
/// loopback names, so there they get a plain one.
#[tokio::test]
async fn on_loopback_http_the_cookie_is_plain() {
    let test = PageServer::empty("http://127.0.0.1:8090");
    test.server.first_run(Some(super::Password::typed(PASSWORD))).await.unwrap();
    let answer = test.browser().get("/login").await;
    let cookie = answer.header(header::SET_COOKIE);
    assert!(cookie.starts_with("brain-session="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax"), "{cookie}");
}

/// Checklist 149: signing in and out both give another cookie, and the old ones are worth
/// nothing.
#[tokio::test]
async fn signing_in_and_out_change_the_session() {
    let test = PageServer::new().await;
    let mut browser = test.browser();
    browser.get("/login").await;
    let planted = browser.cookies.clone();
    browser.sign_in("/login", PASSWORD).await;
    let signed_in = browser.cookies.clone();
    assert_ne!(planted, signed_in);

    let mut thief = test.browser();
    thief.cookies = planted;
    assert!(!thief.get("/login").await.body.contains("Signed in as"));
    thief.cookies.clone_from(&signed_in);
    assert!(thief.get("/login").await.body.contains("Signed in as"));

    let page = browser.get("/logout").await;
    let token = page.form_token();
    assert!(browser.get("/login").await.body.contains("Signed in as"), "a GET changes nothing");
    let answer = browser.post("/logout", &[("form", &token)]).await;
    assert_eq!(answer.location(), "/login");
    assert_ne!(browser.cookies, signed_in);
    assert!(!thief.get("/login").await.body.contains("Signed in as"));

    // Signing in again over a session ends that one too.
    let mut browser = test.signed_in().await;
    let first = browser.cookies.clone();
    let client = test.client(&[CALLBACK]).await;
    test.wait(Duration::from_secs(601));
    let page = browser.open(&Ask::of(&client).url()).await;
    let next = browser.sign_in(&page.action(), PASSWORD).await;
    assert_eq!(browser.open(next.location()).await.status, StatusCode::OK);
    thief.cookies = first;
    assert!(!thief.get("/login").await.body.contains("Signed in as"));
}

/// Checklist 149: the store holds a digest, so a copy of it opens no session.
#[tokio::test]
async fn the_store_does_not_know_the_cookie() {
    let test = PageServer::new().await;
    let browser = test.signed_in().await;
    let secret = browser.cookies[COOKIE].clone();
    let database = test.base.directory.path().join("data/database");
    let mut files = vec![database];
    let mut bytes = Vec::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else {
            #[expect(clippy::disallowed_methods, reason = "the test looks at the disk itself")]
            bytes.extend(std::fs::read(path).unwrap());
        }
    }
    assert!(!bytes.is_empty());
    let is_in =
        |needle: &str| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
    assert!(is_in("signed_in_at"), "the rows are readable");
    assert!(!is_in(&secret) && !is_in(PASSWORD));
}

/// Checklist 149: who signed in more than ten minutes ago signs in again before consent, and
/// nothing that waits is lost by it.
#[tokio::test]
async fn consent_wants_a_fresh_sign_in() {
    let test = PageServer::new().await;
    let client = test.client(&[CALLBACK]).await;
    let mut browser = test.signed_in().await;
    test.wait(Duration::from_secs(595));
    let page = browser.open(&Ask::of(&client).url()).await;
    assert!(page.body.contains("value=\"allow\""));
    test.wait(Duration::from_secs(6));
    let stale = browser.allow(&page, &["wiki:read"]).await;
    assert!(stale.location().starts_with("/login?request="), "{stale:?}");
    let page = browser.get(stale.location()).await;
    assert!(page.body.contains("<bdi>Notebook</bdi>"), "{}", page.body);
    let next = browser.sign_in(stale.location(), PASSWORD).await;
    let page = browser.open(next.location()).await;
    browser.allow(&page, &["wiki:read"]).await.code();
}

/// Sessions are rows in the store: a restart ends none, but what waited is gone.
#[tokio::test]
async fn a_restart_keeps_sessions() {
    let test = PageServer::new().await;
    let client = test.client(&[CALLBACK]).await;
    let mut browser = test.signed_in().await;
    let page = browser.open(&Ask::of(&client).url()).await;
    let cookies = browser.cookies.clone();
    drop(browser);
    let test = test.restart();
    let mut browser = test.browser();
    browser.cookies = cookies;
    assert!(browser.get("/login").await.body.contains("Signed in as"));
    browser.allow(&page, &["wiki:read"]).await.assert_local_page(StatusCode::FORBIDDEN);
    let page = browser.open(&Ask::of(&client).url()).await;
    browser.allow(&page, &["wiki:read"]).await.code();
}

/// Design section 9: an hour of rest, twelve hours in all.
#[tokio::test]
async fn sessions_end_by_rest_and_by_age() {
    let is_signed_in = "Signed in as";
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    test.wait(Duration::from_secs(3599));
    assert!(browser.get("/login").await.body.contains(is_signed_in));
    test.wait(Duration::from_secs(3600));
    assert!(!browser.get("/login").await.body.contains(is_signed_in));

    let mut browser = test.signed_in().await;
    for _ in 0..23 {
        test.wait(Duration::from_secs(1800));
        assert!(browser.get("/login").await.body.contains(is_signed_in));
    }
    test.wait(Duration::from_secs(1800));
    assert!(!browser.get("/login").await.body.contains(is_signed_in));
}

/// "Not you?" ends the session, and what waits can be answered by who comes next.
#[tokio::test]
async fn not_you_signs_out_and_the_request_goes_on_waiting() {
    let test = PageServer::new().await;
    let client = test.client(&[CALLBACK]).await;
    let mut browser = test.signed_in().await;
    let page = browser.open(&Ask::of(&client).url()).await;
    let sign_out = page.body.rsplit_once("action=\"").unwrap().1.split('"').next().unwrap();
    assert!(sign_out.starts_with("/logout?request="), "{sign_out}");
    let token = page.body.rsplit_once("name=\"form\" value=\"").unwrap().1.split('"').next();
    let answer = browser.post(sign_out, &[("form", token.unwrap())]).await;
    assert!(answer.location().starts_with("/login?request="));
    // The old form is dead, for it was rendered for who is gone.
    let old = browser.allow(&page, &["wiki:read"]).await;
    assert!(old.location().starts_with("/login?"), "{old:?}");
    let next = browser.sign_in(answer.location(), PASSWORD).await;
    let again = browser.open(next.location()).await;
    browser.allow(&page, &["wiki:read"]).await.assert_local_page(StatusCode::FORBIDDEN);
    browser.allow(&again, &["wiki:read"]).await.code();
}

/// Checklist 149: a wrong password and an unknown user are one answer. That both are hashed,
/// and so take as long, shows in the flood below.
#[tokio::test]
async fn unknown_users_and_wrong_passwords_look_alike() {
    let test = PageServer::new().await;
    let mut browser = test.browser();
    let page = browser.get("/login").await;
    let mut answers = BTreeMap::new();
    for user in ["owner", "nobody"] {
        let fields =
            [("form", &*page.form_token()), ("user", user), ("password", "wrong password")];
        let answer = browser.post("/login", &fields).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        answers.insert(user, (answer.body, answer.headers));
    }
    assert_eq!(answers["owner"], answers["nobody"]);
}

/// Checklist 149: guessing becomes slow, for known and unknown names alike, and the right
/// password works after the wait.
#[tokio::test]
async fn guessing_is_slowed_down_without_a_lock_that_stays() {
    let test = PageServer::new().await;
    for user in ["owner", "nobody"] {
        let mut browser = test.browser();
        let page = browser.get("/login").await;
        let token = page.form_token();
        let try_it = |password: &'static str| {
            let (mut browser, token) = (browser.clone(), token.clone());
            async move {
                let fields = [("form", &*token), ("user", user), ("password", password)];
                browser.post("/login", &fields).await
            }
        };
        for _ in 0..5 {
            assert_eq!(try_it("wrong password").await.status, StatusCode::FORBIDDEN);
        }
        let answer = try_it(PASSWORD).await;
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(answer.header(header::RETRY_AFTER), "1");
        for _ in 0..20 {
            test.wait(Duration::from_secs(300));
            assert_eq!(try_it("wrong password").await.status, StatusCode::FORBIDDEN);
        }
        test.wait(Duration::from_secs(299));
        assert_eq!(try_it(PASSWORD).await.status, StatusCode::TOO_MANY_REQUESTS);
        test.wait(Duration::from_secs(1));
        let answer = try_it(PASSWORD).await;
        let expected = if user == "owner" { StatusCode::SEE_OTHER } else { StatusCode::FORBIDDEN };
        assert_eq!(answer.status, expected);
    }
}

/// Checklist 149: a flood of sign-ins with unknown names fills the queue, since they are hashed
/// like any other. It gets a page that says when to come again, and the owner is not
/// blamed for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_sign_ins_is_told_to_come_again() {
    let test = PageServer::new().await;
    let mut browser = test.browser();
    let token = browser.get("/login").await.form_token();
    let mut flood = tokio::task::JoinSet::new();
    for number in 0..48 {
        let (mut browser, token) = (browser.clone(), token.clone());
        flood.spawn(async move {
            let user = format!("user{number}");
            let fields = [("form", &*token), ("user", &user), ("password", "wrong password")];
            browser.post("/login", &fields).await
        });
    }
    let answers = flood.join_all().await;
    let busy: Vec<_> = answers.iter().filter(|answer| answer.status.is_server_error()).collect();
    assert!(!busy.is_empty());
    for answer in busy {
        answer.assert_local_page(StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.header(header::RETRY_AFTER), "5");
    }
    assert_eq!(browser.sign_in("/login", PASSWORD).await.status, StatusCode::SEE_OTHER);
}

/// One user is not asked for a name.
#[tokio::test]
async fn one_user_is_not_asked_for_a_name() {
    let test = PageServer::new().await;
    let client = test.client(&[CALLBACK]).await;
    let page = test.browser().open(&Ask::of(&client).url()).await;
    assert!(page.body.contains("type=\"hidden\" name=\"user\" value=\"owner\""));
}

/// Several are, each has a link of its own to a password, and each gets its own
/// grants.
#[tokio::test]
async fn several_users_are_asked_who_they_are() {
    let test = PageServer::of_users(super::ISSUER, &["alice", "bob"]);
    let links = test.server.first_run(Some(super::Password::typed(PASSWORD))).await.unwrap();
    let [link] = &*links else { panic!("{links:?}") };
    assert_eq!(link.user, "bob", "the password of the file is for the first");
    let mut browser = test.browser();
    let page = browser.get(link.url.strip_prefix(super::ISSUER).unwrap()).await;
    assert!(page.body.contains("<bdi>bob</bdi>"), "{}", page.body);

    let client = test.client(&[CALLBACK]).await;
    let page = browser.open(&Ask::of(&client).url()).await;
    assert!(page.body.contains("<label for=\"user\">User name</label>"), "{}", page.body);
    let token = page.form_token();
    let fields = [("form", &*token), ("user", "alice"), ("password", "wrong <password>")];
    let wrong = browser.post(&page.action(), &fields).await;
    assert!(wrong.body.contains("value=\"alice\"") && !wrong.body.contains("wrong &"));
    let fields = [("form", &*token), ("user", "alice"), ("password", PASSWORD)];
    let next = browser.post(&page.action(), &fields).await;
    let page = browser.open(next.location()).await;
    let code = browser.allow(&page, &["wiki:read"]).await.code();
    assert_eq!(test.issued(&code).await.terms.subject, "alice");
}

/// Who has just signed in, in another tab, is not asked again.
#[tokio::test]
async fn a_fresh_session_goes_straight_on() {
    let test = PageServer::new().await;
    let client = test.client(&[CALLBACK]).await;
    let mut browser = test.browser();
    let first = browser.open(&Ask::of(&client).url()).await;
    let second = browser.open(&Ask::of(&client).url()).await;
    browser.sign_in(&first.action(), PASSWORD).await;
    let page = browser.open(&second.action()).await;
    browser.allow(&page, &["wiki:read"]).await.code();
}

/// The sign-in form is bound to the browser too: nobody can sign a victim in as
/// somebody else.
#[tokio::test]
async fn the_sign_in_form_is_bound_to_the_browser() {
    let test = PageServer::new().await;
    let page = test.browser().get("/login").await;
    let token = page.form_token();
    let fields = [("form", &*token), ("user", "owner"), ("password", PASSWORD)];
    let mut other = test.browser();
    other.post("/login", &fields).await.assert_local_page(StatusCode::FORBIDDEN);
    other.get("/login").await;
    other.post("/login", &fields).await.assert_local_page(StatusCode::FORBIDDEN);
    let mut foreign = test.browser();
    let page = foreign.get("/login").await;
    foreign.headers = vec![("origin", "https://evil.example")];
    let token = page.form_token();
    let fields = [("form", &*token), ("user", "owner"), ("password", PASSWORD)];
    foreign.post("/login", &fields).await.assert_local_page(StatusCode::FORBIDDEN);
}

/// A second sign-in form that was open when the user signed in in the first goes on to
/// where it leads. What is typed there signs nobody in: not the user again, and nobody
/// else (checklist 149: no login by a form of somebody else's).
#[tokio::test]
async fn a_second_sign_in_form_goes_on() {
    let test = PageServer::of_users(ISSUER, &["owner", "other"]);
    test.server.first_run(Some(Password::typed(PASSWORD))).await.unwrap();
    test.server.give_password(Some("other"), PASSWORD, AlsoEnds::default()).await.unwrap();
    let client = test.client(&[CALLBACK]).await;
    let mut browser = test.browser();
    let (first, second) =
        (browser.open("/login").await, browser.open(&Ask::of(&client).url()).await);
    let typed = |page: &Answer, user: &'static str, password: &'static str| {
        (
            page.action(),
            [("form", page.form_token()), ("user", user.into()), ("password", password.into())],
        )
    };
    let post = async |browser: &mut Browser, (action, fields): (String, [(&str, String); 3])| {
        let fields = fields.each_ref().map(|(name, value)| (*name, &**value));
        browser.post(&action, &fields).await
    };
    assert_eq!(post(&mut browser, typed(&first, "owner", PASSWORD)).await.location(), "/login");
    let cookies = browser.cookies.clone();
    for (user, password) in [("owner", PASSWORD), ("owner", "wrong password"), ("other", PASSWORD)]
    {
        let answer = post(&mut browser, typed(&second, user, password)).await;
        assert!(answer.location().starts_with("/consent?request="), "{}", answer.body);
        assert_eq!(browser.cookies, cookies, "the session is what it was");
        let consent = browser.open(answer.location()).await;
        assert!(consent.body.contains("Signed in as <strong><bdi>owner</bdi>"), "{}", consent.body);
    }
    let events = test.server.events(None, usize::MAX).await.unwrap();
    let tried =
        events.iter().filter(|event| matches!(event.what, What::SignedIn | What::SignInFailed));
    assert_eq!(tried.count(), 1);
    let mut cross_site = browser.clone();
    cross_site.headers.push(("origin", "https://evil.example"));
    let answer = post(&mut cross_site, typed(&second, "owner", PASSWORD)).await;
    answer.assert_local_page(StatusCode::FORBIDDEN);
    let mut stranger = test.browser();
    stranger.open("/login").await;
    let answer = post(&mut stranger, typed(&second, "owner", PASSWORD)).await;
    answer.assert_local_page(StatusCode::FORBIDDEN);
}
