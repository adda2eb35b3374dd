//! Passkeys: added, shown and removed through the pages.

use std::time::Duration;

use axum::http::{StatusCode, header};

use super::{Answer, Ask, Browser, CALLBACK, ISSUER, PASSWORD, PageServer};
use crate::authorization_server::audit::What;
use crate::authorization_server::passkey::software::SoftwarePasskey;
use crate::authorization_server::password::{AlsoEnds, HashingCost, Password};
use crate::authorization_server::{RequestLimits, Settings};
use crate::contract::scope::ScopeSet;
use crate::peer::Peer;
use crate::rates::PerMinute;

const MINUTE: Duration = Duration::from_secs(60);
const NO_SUCH: &str = "This passkey is not known here";

impl Answer {
    #[track_caller]
    fn challenge(&self) -> String {
        self.between("data-challenge=\"").unwrap_or_else(|| panic!("no challenge: {}", self.body))
    }

    fn policy(&self) -> &str {
        self.header(header::CONTENT_SECURITY_POLICY)
    }

    /// The name of the first passkey in a form.
    #[track_caller]
    fn passkey(&self) -> String {
        self.between("name=\"key\" value=\"").expect("a passkey")
    }
}

impl Browser {
    /// Adds a passkey, on a page that lets it.
    async fn add(&mut self, passkey: &mut SoftwarePasskey, name: &str) -> Answer {
        let page = self.open("/account/passkeys").await;
        let handle = page.between("data-user-handle=\"").expect("a handle");
        let made = passkey.made(&page.challenge(), &handle).to_string();
        self.change(&page, &[("change", "add"), ("name", name), ("passkey", &made)]).await
    }

    async fn change(&mut self, page: &Answer, fields: &[(&str, &str)]) -> Answer {
        let token = page.form_token();
        let mut all = vec![("form", &*token)];
        all.extend_from_slice(fields);
        self.post("/account/passkeys", &all).await
    }

    /// Opens a sign-in page and shows a passkey there.
    async fn show(&mut self, url: &str, passkey: &mut SoftwarePasskey) -> Answer {
        let page = self.open(url).await;
        let signed = passkey.signed(&page.challenge()).to_string();
        let fields = [("form", &*page.form_token()), ("passkey", &signed)];
        self.post(&page.action(), &fields).await
    }
}

/// A server whose owner has a passkey.
async fn with_passkey() -> (PageServer, SoftwarePasskey) {
    with_passkey_and(|_| {}).await
}

async fn with_passkey_and(adjust: impl FnOnce(&mut Settings)) -> (PageServer, SoftwarePasskey) {
    let test = PageServer::with(adjust).await;
    let mut passkey = SoftwarePasskey::new(7, ISSUER);
    let added = test.signed_in().await.add(&mut passkey, "Telephone").await;
    assert_eq!(added.location(), "/account/passkeys", "{}", added.body);
    (test, passkey)
}

async fn events(test: &PageServer) -> Vec<What> {
    let events = test.server.events(None, usize::MAX).await.unwrap();
    events.into_iter().map(|event| event.what).collect()
}

/// Checklist 149: a passkey signs in, under another session id; what happened is told.
#[tokio::test]
async fn a_passkey_signs_in() {
    let (test, mut passkey) = with_passkey().await;
    let mut browser = test.browser();
    browser.open("/login").await;
    let before = browser.cookies.clone();
    let answer = browser.show("/login?to=account", &mut passkey).await;
    assert_eq!(answer.location(), "/account", "{}", answer.body);
    assert_ne!(browser.cookies["__Host-brain-session"], before["__Host-brain-session"]);
    assert!(browser.cookies.contains_key("__Host-brain-device"), "it is known again");
    let page = browser.get("/account").await;
    for words in
        ["Telephone", "last used 15 January 2027", "signed in with the passkey “Telephone”"]
    {
        assert!(page.body.contains(words), "{words} is not in {}", page.body);
    }
    let name = "Telephone".to_owned();
    let told = events(&test).await;
    assert!(told.contains(&What::PasskeyAdded { name: name.clone() }), "{told:?}");
    assert!(told.contains(&What::PasskeyShown { name }), "{told:?}");
}

/// Checklist 149: on the way to consent, at first and when the sign-in is not fresh
/// any more.
#[tokio::test]
async fn a_passkey_leads_to_consent() {
    let (test, mut passkey) = with_passkey().await;
    let client = test.client(&[CALLBACK]).await;
    let mut browser = test.browser();
    let answer = browser.show(&Ask::of(&client).url(), &mut passkey).await;
    let consent = browser.open(answer.location()).await;
    let code = browser.allow(&consent, &["wiki:read"]).await.code();
    assert_eq!(test.issued(&code).await.terms.subject, "owner");

    test.wait(11 * MINUTE);
    let page = browser.open(&Ask::of(&client).url()).await;
    assert!(page.body.contains("Sign in with a passkey"), "{}", page.body);
    let answer = browser.show(&Ask::of(&client).url(), &mut passkey).await;
    let consent = browser.open(answer.location()).await;
    browser.allow(&consent, &["wiki:read"]).await.code();
}

/// Checklist 148: scripts run where passkeys are offered, and nowhere else; never beside
/// the buttons of consent.
#[tokio::test]
async fn scripts_run_where_passkeys_are_offered_only() {
    let test = PageServer::new().await;
    let client = test.client(&[CALLBACK]).await;
    let page = test.browser().open("/login").await;
    assert!(!page.body.contains("passkey") && !page.policy().contains("script"), "{}", page.body);
    let mut browser = test.signed_in().await;
    assert!(browser.get("/account").await.body.contains("Add a passkey"));
    browser.add(&mut SoftwarePasskey::new(7, ISSUER), "Telephone").await;
    for url in ["/login", "/login?to=passkeys"] {
        let page = test.browser().open(url).await;
        assert!(page.policy().contains("default-src 'none'; script-src 'self';"), "{url}");
        assert!(page.policy().ends_with("form-action 'self'"), "{url}");
        assert!(page.body.contains("<script src=\"/assets/passkey.js\" defer></script>"), "{url}");
        assert!(page.body.contains("data-host=\"brain.example\""), "{url}");
        assert!(page.body.contains("hidden>\n<p class=\"or\">"), "{url}: the script reveals it");
    }
    let ask = Ask::of(&client).url();
    for url in ["/account", "/logout", "/login", &ask] {
        let page = browser.open(url).await;
        assert_eq!(page.status, StatusCode::OK, "{url}");
        assert!(!page.policy().contains("script") && !page.body.contains("<script"), "{url}");
    }
}

/// Checklist 149: one answer for all that proves nothing, and the password is not locked
/// by it.
#[tokio::test]
async fn what_proves_nothing_is_told_apart_by_nobody() {
    let (test, passkey) = with_passkey().await;
    let mut unknown = SoftwarePasskey::new(8, ISSUER);
    unknown.user_handle.clone_from(&passkey.user_handle);
    let mut forged = SoftwarePasskey::new(9, ISSUER);
    forged.user_handle.clone_from(&passkey.user_handle);
    forged.id.clone_from(&passkey.id);
    let mut unverified = passkey.clone();
    unverified.flags = SoftwarePasskey::PRESENT;
    let mut bodies = Vec::new();
    for mut wrong in [unknown, forged, unverified] {
        let mut browser = test.browser();
        let answer = browser.show("/login", &mut wrong).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert!(answer.body.contains(NO_SUCH), "{}", answer.body);
        let secrets = [answer.challenge(), answer.form_token()];
        bodies.push(secrets.iter().fold(answer.body, |body, secret| body.replace(secret, "")));
    }
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
    for _ in 0..30 {
        test.browser().show("/login", &mut SoftwarePasskey::new(8, ISSUER)).await;
    }
    let told = events(&test).await;
    assert!(told.contains(&What::PasskeyRefused) && !told.contains(&What::SignInFailed));
    let answer = test.browser().sign_in("/login", PASSWORD).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "the password waits for nothing");
}

/// Checklist 149 and its section 5.8: nobody keeps a passkey out by guessing passwords.
#[tokio::test]
async fn wrong_passwords_keep_no_passkey_out() {
    let (test, mut passkey) = with_passkey_and(|settings| {
        settings.limits = RequestLimits { sign_in: PerMinute::new(40), ..RequestLimits::NONE };
    })
    .await;
    let at = |last: u8| Peer::at([192, 0, 2, last].into());
    for number in 0..60 {
        let mut stranger = test.browser();
        stranger.peer = at(number % 3);
        stranger.sign_in("/login", "not the password").await;
    }
    let mut owner = test.browser();
    owner.peer = at(0);
    let waiting = owner.sign_in("/login", PASSWORD).await;
    assert_eq!(waiting.status, StatusCode::TOO_MANY_REQUESTS, "{}", waiting.body);
    let answer = owner.show("/login", &mut passkey).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
}

/// Checklist 149: so many tries from one address, and no more.
#[tokio::test]
async fn passkeys_have_a_limit_for_each_address() {
    let (test, mut passkey) = with_passkey_and(|settings| {
        settings.limits = RequestLimits { sign_in: PerMinute::new(5), ..RequestLimits::NONE };
    })
    .await;
    let mut stranger = test.browser();
    stranger.peer = Peer::at([192, 0, 2, 1].into());
    let mut wrong = SoftwarePasskey::new(8, ISSUER);
    for _ in 0..5 {
        assert_eq!(stranger.show("/login", &mut wrong).await.status, StatusCode::FORBIDDEN);
    }
    let answer = stranger.show("/login", &mut wrong).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert_ne!(answer.header(header::RETRY_AFTER), "");
    let mut owner = test.browser();
    owner.peer = Peer::at([192, 0, 2, 2].into());
    assert_eq!(owner.show("/login", &mut passkey).await.status, StatusCode::SEE_OTHER);
}

/// Checklist 149: what was signed in one browser is good there, once, and for five minutes.
#[tokio::test]
async fn a_response_is_good_once_in_one_browser() {
    let (test, mut passkey) = with_passkey().await;
    let (mut one, mut other) = (test.browser(), test.browser());
    let (page, others) = (one.open("/login").await, other.open("/login").await);
    let signed = passkey.signed(&page.challenge()).to_string();
    let there = [("form", &*others.form_token()), ("passkey", &signed)];
    let answer = other.post("/login", &there).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains(NO_SUCH), "{}", answer.body);

    let mut replaying = one.clone();
    let here = [("form", &*page.form_token()), ("passkey", &signed)];
    assert_eq!(one.post("/login", &here).await.status, StatusCode::SEE_OTHER);
    let answer = replaying.post("/login", &here).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);

    let page = replaying.open("/login").await;
    test.wait(5 * MINUTE);
    let late = passkey.signed(&page.challenge()).to_string();
    let fields = [("form", &*page.form_token()), ("passkey", &late)];
    let answer = replaying.post("/login", &fields).await;
    assert!(answer.body.contains("That took too long"), "{}", answer.body);
    // The page that says so has another challenge.
    let signed = passkey.signed(&answer.challenge()).to_string();
    let fields = [("form", &*answer.form_token()), ("passkey", &signed)];
    assert_eq!(replaying.post("/login", &fields).await.status, StatusCode::SEE_OTHER);
}

/// Checklist 146: a page of somebody else signs nobody in.
#[tokio::test]
async fn another_site_posts_no_passkey() {
    let (test, mut passkey) = with_passkey().await;
    let mut browser = test.browser();
    let page = browser.open("/login").await;
    let signed = passkey.signed(&page.challenge()).to_string();
    let answer = browser.post("/login", &[("passkey", &signed)]).await;
    answer.assert_local_page(StatusCode::FORBIDDEN);
    browser.headers.push(("origin", "https://attacker.example"));
    let fields = [("form", &*page.form_token()), ("passkey", &signed)];
    browser.post("/login", &fields).await.assert_local_page(StatusCode::FORBIDDEN);
    browser.headers = vec![("origin", ISSUER), ("sec-fetch-site", "same-origin")];
    assert_eq!(browser.post("/login", &fields).await.status, StatusCode::SEE_OTHER);
}

/// A removed passkey signs nobody in, also not one that was just being shown.
#[tokio::test]
async fn a_removed_passkey_is_worth_nothing() {
    let (test, mut passkey) = with_passkey().await;
    // There is another one, so that the page goes on offering them.
    test.wait(MINUTE);
    let mut browser = test.signed_in().await;
    browser.add(&mut SoftwarePasskey::new(8, ISSUER), "Key ring").await;
    let mut visitor = test.browser();
    let login = visitor.open("/login").await;
    let page = browser.open("/account/passkeys").await;
    let first = page.passkey();
    let removed = browser.change(&page, &[("change", "remove"), ("key", &first)]).await;
    assert_eq!(removed.location(), "/account/passkeys");
    let page = browser.open("/account/passkeys").await;
    assert!(page.body.contains("The passkey is removed"), "{}", page.body);
    assert!(!page.body.contains("Telephone") && page.body.contains("Key ring"));
    let signed = passkey.signed(&login.challenge()).to_string();
    let fields = [("form", &*login.form_token()), ("passkey", &signed)];
    let answer = visitor.post("/login", &fields).await;
    assert!(answer.body.contains(NO_SUCH), "{}", answer.body);
    let name = "Telephone".to_owned();
    assert!(events(&test).await.contains(&What::PasskeyRemoved { name }));
    let again = browser.change(&page, &[("change", "remove"), ("key", &first)]).await;
    let page = browser.open(again.location()).await;
    assert!(page.body.contains("There is no such passkey any more"));
}

/// Checklist 149: adding, renaming and removing ask for a sign-in of the last ten minutes,
/// which may be one with a passkey.
#[tokio::test]
async fn passkeys_change_after_a_fresh_sign_in_only() {
    let (test, mut passkey) = with_passkey().await;
    let mut browser = test.signed_in().await;
    let page = browser.open("/account/passkeys").await;
    let key = page.passkey();
    test.wait(11 * MINUTE);
    assert_eq!(browser.get("/account").await.status, StatusCode::OK, "it is signed in");
    assert_eq!(browser.get("/account/passkeys").await.location(), "/login?to=passkeys");
    let mut second = SoftwarePasskey::new(8, ISSUER);
    let made = second.made(&page.challenge(), &passkey.user_handle).to_string();
    for fields in [
        vec![("change", "add"), ("name", "Second"), ("passkey", &made)],
        vec![("change", "rename"), ("key", &key), ("name", "Second")],
        vec![("change", "remove"), ("key", &key)],
    ] {
        let answer = browser.change(&page, &fields).await;
        assert_eq!(answer.location(), "/login?to=passkeys", "{fields:?}");
    }
    assert!(browser.get("/account").await.body.contains("Telephone"), "it is still there");
    let answer = browser.show("/login?to=passkeys", &mut passkey).await;
    assert_eq!(answer.location(), "/account/passkeys");
    let page = browser.get("/account/passkeys").await;
    let rename = [("change", "rename"), ("key", &*key), ("name", "  Old\u{202E} phone ")];
    browser.change(&page, &rename).await;
    let page = browser.open("/account/passkeys").await;
    assert!(page.body.contains(">Old phone<"), "{}", page.body);
    let visitor = test.browser().get("/account/passkeys").await;
    assert_eq!(visitor.location(), "/login?to=passkeys");
}

/// What cannot be added, and what the page says then.
#[tokio::test]
async fn what_is_no_new_passkey_is_not_added() {
    let (test, mut passkey) = with_passkey().await;
    let mut browser = test.signed_in().await;
    let known = browser.add(&mut passkey, "Again").await;
    assert!(known.body.contains("has been added before"), "{}", known.body);
    let mut unverified = SoftwarePasskey::new(8, ISSUER);
    unverified.flags = SoftwarePasskey::PRESENT;
    let refused = browser.add(&mut unverified, "Unverified").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("The passkey is not added"), "{}", refused.body);
    assert!(refused.policy().contains("script-src"), "it can be tried again");
    for seed in 10..29 {
        let added = browser.add(&mut SoftwarePasskey::new(seed, ISSUER), "").await;
        assert_eq!(added.location(), "/account/passkeys", "{seed}");
    }
    let full = browser.add(&mut SoftwarePasskey::new(30, ISSUER), "").await;
    assert!(full.body.contains("no room for another"), "{}", full.body);
}

/// Step 22 of section 7.2: a counter that goes back means that there are two of it. The
/// owner is told; whoever shows it is told nothing.
#[tokio::test]
async fn a_copied_passkey_is_refused() {
    let (test, mut passkey) = with_passkey().await;
    passkey.counter = 5;
    assert_eq!(test.browser().show("/login", &mut passkey).await.status, StatusCode::SEE_OTHER);
    for counter in [5, 4, 0] {
        passkey.counter = counter;
        let mut browser = test.browser();
        let answer = browser.show("/login", &mut passkey).await;
        assert!(answer.body.contains(NO_SUCH), "{}", answer.body);
        assert_eq!(browser.get("/account").await.location(), "/login?to=account");
    }
    let page = test.signed_in().await.get("/account").await;
    assert!(page.body.contains("somebody may have copied it"), "{}", page.body);
    // As after a restore, when what is kept lags behind.
    passkey.counter = 900;
    assert_eq!(test.browser().show("/login", &mut passkey).await.status, StatusCode::SEE_OTHER);
}

/// Nobody sees, renames or removes another user's passkeys; each signs its own user in.
#[tokio::test]
async fn passkeys_are_one_users() {
    let test = PageServer::adjusted(ISSUER, &["owner", "guest"], |settings| {
        settings.hashing_cost = HashingCost::LEAST;
    });
    test.server.first_run(Some(Password::typed(PASSWORD))).await.unwrap();
    test.server.give_password(Some("guest"), PASSWORD, AlsoEnds::default()).await.unwrap();
    let mut owner = test.signed_in().await;
    let mut owners = SoftwarePasskey::new(7, ISSUER);
    owner.add(&mut owners, "Telephone").await;
    let key = owner.open("/account/passkeys").await.passkey();

    let mut guest = test.browser();
    let page = guest.open("/login").await;
    let fields = [("form", &*page.form_token()), ("user", "guest"), ("password", PASSWORD)];
    guest.post("/login", &fields).await;
    let page = guest.open("/account/passkeys").await;
    assert!(!page.body.contains("Telephone"), "{}", page.body);
    guest.change(&page, &[("change", "remove"), ("key", &key)]).await;
    guest.change(&page, &[("change", "rename"), ("key", &key), ("name", "Mine")]).await;
    assert!(owner.get("/account").await.body.contains("Telephone"));
    let known = guest.add(&mut owners.clone(), "Mine").await;
    assert!(known.body.contains("has been added before"), "{}", known.body);

    let mut guests = SoftwarePasskey::new(8, ISSUER);
    guest.add(&mut guests, "Key ring").await;
    let mut browser = test.browser();
    browser.show("/login", &mut guests).await;
    assert!(browser.get("/account").await.body.contains("<bdi>guest</bdi>"));
    // One that says to be somebody else's.
    guests.user_handle.clone_from(&owners.user_handle);
    let answer = test.browser().show("/login", &mut guests).await;
    assert!(answer.body.contains(NO_SUCH), "{}", answer.body);
}

/// Whoever chooses a new password because of a thief can remove all passkeys with it:
/// by the link, on the account page, and at the terminal.
#[tokio::test]
async fn a_new_password_can_remove_all_passkeys() {
    let (test, mut passkey) = with_passkey().await;
    let choose = async |removes: bool| {
        let link = test.server.setup_link(None).await.unwrap().url;
        let link = link.strip_prefix(ISSUER).unwrap();
        let mut browser = test.browser();
        let page = browser.get(link).await;
        assert!(page.body.contains("Remove all passkeys"), "{}", page.body);
        let token = link.rsplit_once('=').unwrap().1;
        let mut fields = vec![("token", token), ("password", PASSWORD), ("repeated", PASSWORD)];
        fields.extend(removes.then_some(("end_passkeys", "yes")));
        assert_eq!(browser.post("/setup", &fields).await.location(), "/login");
    };
    choose(false).await;
    assert_eq!(test.browser().show("/login", &mut passkey).await.status, StatusCode::SEE_OTHER);
    choose(true).await;
    let page = test.browser().open("/login").await;
    assert!(!page.body.contains("passkey"), "none is left");
    assert!(events(&test).await.contains(&What::PasskeysRemoved));
    let link = test.server.setup_link(None).await.unwrap().url;
    let page = test.browser().get(link.strip_prefix(ISSUER).unwrap()).await;
    assert!(!page.body.contains("Remove all passkeys"), "there are none");

    let mut browser = test.signed_in().await;
    browser.add(&mut passkey, "Telephone").await;
    let page = browser.get("/account").await;
    let mut fields = vec![
        ("change", "password"),
        ("present", PASSWORD),
        ("password", PASSWORD),
        ("repeated", PASSWORD),
    ];
    super::account::press(&mut browser, &page, &fields).await;
    assert!(browser.get("/account").await.body.contains("Telephone"), "it was not ticked");
    let page = browser.get("/account").await;
    fields.push(("end_passkeys", "yes"));
    super::account::press(&mut browser, &page, &fields).await;
    let page = browser.get("/account").await;
    assert!(page.body.contains("You have none"), "{}", page.body);
}

/// No browser makes a passkey for an address; nothing is offered there, and nothing taken.
#[tokio::test]
async fn an_address_has_no_passkeys() {
    let test = PageServer::adjusted("http://127.0.0.1:8090", &["owner"], |_| {});
    test.server.first_run(Some(Password::typed(PASSWORD))).await.unwrap();
    let mut browser = test.signed_in().await;
    let page = browser.get("/account").await;
    assert!(!page.body.contains("passkey"), "{}", page.body);
    let page = browser.get("/account/passkeys").await;
    assert!(page.body.contains("Passkeys need a host name"), "{}", page.body);
    assert!(!page.body.contains("<script"), "{}", page.body);
    let account = browser.get("/account").await;
    let made = SoftwarePasskey::new(7, "http://127.0.0.1:8090").made("", "").to_string();
    let answer = browser.change(&account, &[("change", "add"), ("passkey", &made)]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let mut visitor = test.browser();
    let page = visitor.open("/login").await;
    let fields = [("form", &*page.form_token()), ("passkey", "{}")];
    assert_eq!(visitor.post("/login", &fields).await.status, StatusCode::FORBIDDEN);
}

/// Passkeys outlive the process; challenges do not.
#[tokio::test]
async fn a_restart_keeps_passkeys() {
    let (test, mut passkey) = with_passkey().await;
    let mut browser = test.browser();
    let page = browser.open("/login").await;
    let signed = passkey.signed(&page.challenge()).to_string();
    let cookies = browser.cookies.clone();
    drop(browser);
    let test = test.restart();
    let mut browser = test.browser();
    browser.cookies = cookies;
    let fields = [("form", &*page.form_token()), ("passkey", &signed)];
    let answer = browser.post("/login", &fields).await;
    assert!(answer.body.contains(NO_SUCH), "{}", answer.body);
    let answer = browser.show("/login", &mut passkey).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let client = test.client(&[CALLBACK]).await;
    let consent = browser.open(&Ask::of(&client).url()).await;
    let code = browser.allow(&consent, &["wiki:read"]).await.code();
    assert_ne!(test.issued(&code).await.terms.scopes, ScopeSet::NONE);
}

/// A passkey is the user's as the password is: a restore brings both back. What the
/// authenticator has counted since is more than what comes back, and no sign of a copy.
#[tokio::test]
async fn a_restore_keeps_passkeys() {
    let (test, mut passkey) = with_passkey().await;
    passkey.counter = 3;
    test.browser().show("/login", &mut passkey).await;
    let backup = test.server.backup().await.unwrap();
    passkey.counter = 8;
    test.browser().show("/login", &mut passkey).await;
    let PageServer { base, server, router } = test;
    drop((server, router));
    let test = PageServer::of(base.restored(&backup));
    passkey.counter = 9;
    let answer = test.browser().show("/login", &mut passkey).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let answer = test.browser().show("/login", &mut passkey).await;
    assert!(answer.body.contains(NO_SUCH), "{}", answer.body);
}
