//! `/account`: connected apps, taking back, browsers, password, refusals.

use std::time::Duration;

use axum::http::StatusCode;

use super::{Answer, Ask, Browser, CALLBACK, PASSWORD, PageServer};
use crate::authorization_server::client::ClientId;
use crate::authorization_server::testing::Tokens;
use crate::contract::scope::{Scope, ScopeSet};

/// The verifier of the challenge that [`Ask`] sends (RFC 7636 appendix B).
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const NEW_PASSWORD: &str = "another horse battery";

/// An app of that name, connected through the pages with these scopes.
pub(super) async fn connect(
    test: &PageServer,
    browser: &mut Browser,
    name: &str,
    scopes: &[&str],
) -> (ClientId, Tokens) {
    let client = test.named_client(name, &[CALLBACK]).await;
    let page = browser.open(&Ask::of(&client).url()).await;
    let code = browser.allow(&page, scopes).await.code();
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", client.as_str()),
        ("code", &code),
        ("code_verifier", VERIFIER),
    ];
    let tokens = test.base.post_form("/token", &form).await.tokens();
    (client, tokens)
}

async fn refresh(test: &PageServer, client: &ClientId, token: &str) -> StatusCode {
    let form =
        [("grant_type", "refresh_token"), ("client_id", client.as_str()), ("refresh_token", token)];
    test.base.post_form("/token", &form).await.status
}

impl Answer {
    /// The name of the grant in the first form that has one.
    pub(super) fn grant(&self) -> String {
        self.between("name=\"grant\" value=\"").expect("a connection")
    }
}

/// Presses a button of the page.
pub(super) async fn press(browser: &mut Browser, page: &Answer, fields: &[(&str, &str)]) -> Answer {
    let token = page.form_token();
    let mut all = vec![("form", &*token)];
    all.extend_from_slice(fields);
    browser.post("/account", &all).await
}

/// Issue, Build 4: name, place, scopes, created, last used; and nobody else's.
#[tokio::test]
async fn connected_apps_are_listed() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let page = browser.get("/account").await;
    assert!(page.body.contains("No app is connected"), "{}", page.body);
    let (_, tokens) = connect(&test, &mut browser, "Note <b>taker</b>", &["wiki:read"]).await;
    test.wait(Duration::from_secs(60 * 60 - 1));
    test.base.live_scopes(&tokens).unwrap();
    let page = browser.get("/account").await;
    assert_eq!(page.status, StatusCode::OK);
    for expected in [
        "Note &#60;b&#62;taker&#60;/b&#62;",
        "name not verified",
        "app.example",
        "Read ordinary notes",
        "15 January 2027, 08:00 UTC",
        "15 January 2027, 08:59 UTC",
    ] {
        assert!(page.body.contains(expected), "{expected} is not in {}", page.body);
    }
    assert!(!page.body.contains("Read confidential notes"));
    assert!(!page.body.contains(&tokens.access) && !page.body.contains(&tokens.refresh));
}

/// Checklist 126, lesson 20 of the checklist: one click, and it acts at once.
#[tokio::test]
async fn an_app_is_disconnected_at_once() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let (client, tokens) = connect(&test, &mut browser, "One", &["wiki:read"]).await;
    let page = browser.get("/account").await;
    let (other, others) = connect(&test, &mut browser, "Two", &["wiki:read"]).await;
    let grant = page.grant();
    let done = press(&mut browser, &page, &[("grant", &grant), ("change", "disconnect")]).await;
    assert_eq!(done.location(), "/account");
    assert_eq!(test.base.live_scopes(&tokens), None);
    assert_eq!(refresh(&test, &client, &tokens.refresh).await, StatusCode::BAD_REQUEST);
    assert_eq!(refresh(&test, &other, &others.refresh).await, StatusCode::OK);
    let page = browser.open("/account").await;
    assert!(page.body.contains("The app is disconnected"));
    assert!(page.body.contains("you disconnected it"));

    let page = browser.get("/account").await;
    let done = press(&mut browser, &page, &[("change", "disconnect-all")]).await;
    assert_eq!(done.location(), "/account");
    assert_eq!(refresh(&test, &other, &others.refresh).await, StatusCode::BAD_REQUEST);
    // After thirty days nobody has to see it any more.
    test.wait(Duration::from_secs(31 * 24 * 60 * 60));
    let mut browser = test.signed_in().await;
    let page = browser.get("/account").await.body;
    assert!(!page.contains("Ended in the last 30 days"), "only in the trail");
}

/// Issue, Build 4: scopes are narrowed afterwards, for tokens that are out, too; nothing
/// comes back that way.
#[tokio::test]
async fn scopes_are_narrowed_at_once_and_for_good() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let all = ["wiki:read", "wiki:confidential", "wiki:write"];
    let (client, tokens) = connect(&test, &mut browser, "One", &all).await;
    let page = browser.get("/account").await;
    let grant = page.grant();
    let keep = [("grant", &*grant), ("change", "narrow"), ("scope", "wiki:read")];
    assert_eq!(press(&mut browser, &page, &keep).await.location(), "/account");
    let only_read = ScopeSet::from_iter([Scope::Read]);
    assert_eq!(test.base.live_scopes(&tokens), Some(only_read));
    let widen = [
        ("grant", &*grant),
        ("change", "narrow"),
        ("scope", "wiki:confidential"),
        ("scope", "wiki:read"),
    ];
    press(&mut browser, &page, &widen).await;
    assert_eq!(test.base.live_scopes(&tokens), Some(only_read));
    drop(browser);
    let test = test.restart();
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", client.as_str()),
        ("refresh_token", &tokens.refresh),
        ("scope", "wiki:read wiki:confidential wiki:write"),
    ];
    let next = test.base.post_form("/token", &form).await.tokens();
    assert_eq!(next.scope, "wiki:read");
    // To keep nothing is to disconnect.
    let mut browser = test.signed_in().await;
    let page = browser.get("/account").await;
    press(&mut browser, &page, &[("grant", &*grant), ("change", "narrow")]).await;
    assert_eq!(test.base.live_scopes(&next), None);
}

/// Checklist 146, 149: another site, another browser, another user, a link: nothing changes.
#[tokio::test]
async fn only_the_users_own_browser_changes_anything() {
    let test = PageServer::of_users(super::ISSUER, &["owner", "alice"]);
    test.server.first_run(Some(super::Password::typed(PASSWORD))).await.unwrap();
    let mut browser = test.signed_in().await;
    let (_, tokens) = connect(&test, &mut browser, "One", &["wiki:read"]).await;
    let page = browser.get("/account").await;
    let grant = page.grant();
    let fields = [("grant", &*grant), ("change", "disconnect")];
    let mut foreign = browser.clone();
    foreign.headers = vec![("origin", "https://evil.example")];
    assert_eq!(press(&mut foreign, &page, &fields).await.status, StatusCode::FORBIDDEN);
    let without_token = browser.post("/account", &fields).await;
    assert_eq!(without_token.status, StatusCode::FORBIDDEN);
    let mut stranger = test.browser();
    stranger.get("/login").await;
    assert_eq!(press(&mut stranger, &page, &fields).await.status, StatusCode::FORBIDDEN);
    assert_eq!(test.browser().get("/account").await.location(), "/login?to=account");
    browser.get(&format!("/account?change=disconnect&grant={grant}")).await;
    // Alice, who is signed in, knows the name of the grant.
    assert!(!test.server.disconnect("alice", grant.parse().unwrap()).await.unwrap());
    let id = grant.parse().unwrap();
    assert_eq!(test.server.narrow("alice", id, ScopeSet::NONE).await.unwrap(), None);
    assert!(test.base.live_scopes(&tokens).is_some());
    // A link puts no words on the page, not even ours.
    let page = browser.get("/account?done=password").await;
    assert!(!page.body.contains("role=\"status\""));
    for bad in [&[("change", "everything")][..], &[("change", "disconnect"), ("grant", "x")]] {
        assert_eq!(press(&mut browser, &page, bad).await.status, StatusCode::BAD_REQUEST);
    }
}

/// Checklist 79, 149: a new password needs the present one, ends the other browsers and, if it is
/// ticked, every grant; the browser gets a new cookie.
#[tokio::test]
async fn a_new_password_signs_everybody_else_out() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let mut other = test.signed_in().await;
    let (client, tokens) = connect(&test, &mut browser, "One", &["wiki:read"]).await;
    let page = browser.get("/account").await;
    let fields = |present, password, repeated| {
        [
            ("change", "password"),
            ("present", present),
            ("password", password),
            ("repeated", repeated),
        ]
    };
    for (fields, why) in [
        (fields("wrong horse battery", NEW_PASSWORD, NEW_PASSWORD), "present one is not right"),
        (fields(PASSWORD, "short", "short"), "at least 12 characters"),
        (fields(PASSWORD, NEW_PASSWORD, "something else"), "not the same"),
    ] {
        let answer = press(&mut browser, &page, &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(answer.body.contains(why), "{}", answer.body);
    }
    let old_cookies = browser.cookies.clone();
    let good = fields(PASSWORD, NEW_PASSWORD, NEW_PASSWORD);
    assert_eq!(press(&mut browser, &page, &good).await.location(), "/account");
    assert_ne!(browser.cookies, old_cookies);
    assert!(browser.open("/account").await.body.contains("password is changed"));
    assert_eq!(other.get("/account").await.location(), "/login?to=account");
    browser.cookies = old_cookies;
    assert_eq!(browser.get("/account").await.location(), "/login?to=account");
    assert!(test.base.live_scopes(&tokens).is_some(), "apps stay unless it is ticked");
    assert_eq!(test.browser().sign_in("/login", PASSWORD).await.status, StatusCode::FORBIDDEN);
    let mut browser = test.browser();
    assert_eq!(browser.sign_in("/login", NEW_PASSWORD).await.status, StatusCode::SEE_OTHER);
    let page = browser.get("/account").await;
    let mut back = fields(NEW_PASSWORD, PASSWORD, PASSWORD).to_vec();
    back.push(("end_apps", "yes"));
    press(&mut browser, &page, &back).await;
    assert_eq!(refresh(&test, &client, &tokens.refresh).await, StatusCode::BAD_REQUEST);
    assert_eq!(test.base.live_scopes(&tokens), None);
}

#[tokio::test]
async fn other_browsers_are_signed_out() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let mut other = test.signed_in().await;
    let page = browser.get("/account").await;
    assert!(page.body.contains("Another browser"));
    let done = press(&mut browser, &page, &[("change", "sign-out-elsewhere")]).await;
    assert_eq!(done.location(), "/account");
    assert_eq!(other.get("/account").await.location(), "/login?to=account");
    assert!(!browser.get("/account").await.body.contains("Another browser"));
}

/// Checklist 75, Build 4: reuse of a refresh token shows a banner.
#[tokio::test]
async fn a_stolen_token_shows_a_banner() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let (client, tokens) = connect(&test, &mut browser, "Robbed", &["wiki:read"]).await;
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", client.as_str()),
        ("refresh_token", &*tokens.refresh),
    ];
    let next = test.base.post_form("/token", &form).await.tokens();
    test.base.live_scopes(&next).unwrap();
    test.wait(Duration::from_secs(61));
    assert_eq!(refresh(&test, &client, &tokens.refresh).await, StatusCode::BAD_REQUEST);
    let page = browser.get("/account").await;
    assert!(page.body.contains("role=\"alert\""), "{}", page.body);
    assert!(page.body.contains("a token that it had replaced was used again"));
}

/// Issue, Build 4: deny-as-not-found never leaves the owner guessing.
#[tokio::test]
async fn refusals_are_shown_with_their_real_reason() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let (client, _) = connect(&test, &mut browser, "Claude", &["wiki:read"]).await;
    let refusals = &test.server.settings().refusals;
    let now = test.server.clock().now();
    let why = "the page is people, and it lacks wiki:people";
    refusals.note("owner", client.as_str(), "wiki/people/<ada>.md", why, now);
    refusals.note("alice", client.as_str(), "hers.md", why, now);
    let page = browser.get("/account").await;
    assert!(page.body.contains("wiki/people/&#60;ada&#62;.md"), "{}", page.body);
    assert!(page.body.contains(why) && page.body.contains("Claude"));
    assert!(!page.body.contains("hers.md"));
}

/// Checklist 64, 79: a code that was handed out and not exchanged yet is access too.
#[tokio::test]
async fn codes_end_with_the_access_that_they_stand_for() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    connect(&test, &mut browser, "One", &["wiki:read"]).await;
    let page = browser.get("/account").await;
    let grant = page.grant();
    let password = [
        ("change", "password"),
        ("present", PASSWORD),
        ("password", PASSWORD),
        ("repeated", PASSWORD),
        ("end_apps", "yes"),
    ];
    let other = test.named_client("Two", &[CALLBACK]).await;
    for fields in [&[("change", "disconnect-all")][..], &password] {
        let page = browser.open(&Ask::of(&other).url()).await;
        let code = browser.allow(&page, &["wiki:read"]).await.code();
        let page = browser.get("/account").await;
        press(&mut browser, &page, fields).await;
        let form = [
            ("grant_type", "authorization_code"),
            ("client_id", other.as_str()),
            ("code", &code),
            ("code_verifier", VERIFIER),
        ];
        test.base.post_form("/token", &form).await.assert_error(400, "invalid_grant");
    }
    // One app's is not another's.
    let page = browser.open(&Ask::of(&other).url()).await;
    let code = browser.allow(&page, &["wiki:read"]).await.code();
    let page = browser.get("/account").await;
    press(&mut browser, &page, &[("grant", &*grant), ("change", "disconnect")]).await;
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", other.as_str()),
        ("code", &code),
        ("code_verifier", VERIFIER),
    ];
    test.base.post_form("/token", &form).await.tokens();
}

/// Whoever was verifying the old password while it was changed does not come in behind
/// the change; and of two changes at once, one wins.
#[tokio::test]
async fn a_sign_in_under_way_does_not_outlive_the_password() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let cookie = crate::authorization_server::session::BrowserCookie::new(test.server.entropy());
    let visitor = crate::authorization_server::session::Visitor::unknown(cookie);
    let password = super::Password::typed(PASSWORD);
    let late = test.server.sign_in("owner", password, (&visitor, browser.peer)).await.unwrap();
    let page = browser.get("/account").await;
    let fields = [
        ("change", "password"),
        ("present", PASSWORD),
        ("password", NEW_PASSWORD),
        ("repeated", NEW_PASSWORD),
    ];
    let mut twin = browser.clone();
    let (one, two) =
        tokio::join!(press(&mut browser, &page, &fields), press(&mut twin, &page, &fields));
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 422]);
    assert!(test.server.start_session(&visitor, late).await.unwrap().is_none());
}

/// A grant of notes about people alone is over when their hour is, not months later.
#[tokio::test]
async fn a_grant_ends_with_the_last_that_it_gave() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    connect(&test, &mut browser, "Curious", &["wiki:people"]).await;
    assert!(!browser.get("/account").await.body.contains("its time was over"));
    test.wait(Duration::from_secs(60 * 60));
    let mut browser = test.signed_in().await;
    let page = browser.get("/account").await;
    assert!(page.body.contains("its time was over"), "{}", page.body);
    assert!(page.body.contains("15 January 2027, 09:00 UTC"), "{}", page.body);
}

/// One app that was allowed on two devices is one app with two connections, each of which
/// can be ended alone.
#[tokio::test]
async fn connections_of_one_app_stand_together() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let (client, first) = connect(&test, &mut browser, "Twice", &["wiki:read"]).await;
    connect(&test, &mut browser, "Once", &["wiki:read"]).await;
    let page = browser.open(&Ask::of(&client).url()).await;
    let code = browser.allow(&page, &["wiki:read"]).await.code();
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", client.as_str()),
        ("code", &code),
        ("code_verifier", VERIFIER),
    ];
    let second = test.base.post_form("/token", &form).await.tokens();
    test.wait(Duration::from_secs(60));
    test.base.live_scopes(&second).unwrap();

    let page = browser.get("/account").await;
    assert_eq!(page.body.matches("<article").count(), 2, "{}", page.body);
    assert_eq!(page.body.matches("<bdi>Twice</bdi>").count(), 1);
    for heading in ["Connection 1 of 2", "Connection 2 of 2"] {
        assert_eq!(page.body.matches(heading).count(), 1, "{heading}");
    }
    // The first form is that of the connection which was used last.
    let grant = page.grant();
    press(&mut browser, &page, &[("grant", &grant), ("change", "disconnect")]).await;
    assert_eq!(test.base.live_scopes(&second), None);
    assert!(test.base.live_scopes(&first).is_some());
    let page = browser.get("/account").await;
    assert!(!page.body.contains("Connection 1 of"), "{}", page.body);
}

/// When a connection ends however it is used, and when it ends if it is not.
#[tokio::test]
async fn both_ends_of_a_connection_are_told() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    connect(&test, &mut browser, "One", &["wiki:read"]).await;
    let page = browser.get("/account").await;
    let ends = "<dt>Ends at the latest</dt><dd>14 July 2027, 08:00 UTC</dd>";
    let unused = "<dt>Ends if not used</dt><dd>14 February 2027, 08:00 UTC</dd>";
    assert!(page.body.contains(ends) && page.body.contains(unused), "{}", page.body);
}

/// Who wanted to see the account sees it after signing in, and nobody is sent anywhere
/// else by what stands in the address.
#[tokio::test]
async fn signing_in_for_the_account_leads_there() {
    let test = PageServer::new().await;
    let mut browser = test.browser();
    let page = browser.open("/account").await;
    assert_eq!(page.action(), "/login?to=account");
    let wrong = browser.sign_in("/account", "not the password").await;
    assert_eq!(wrong.action(), "/login?to=account");
    let next = browser.sign_in("/account", PASSWORD).await;
    assert_eq!(next.location(), "/account");
    assert_eq!(browser.get("/login?to=account").await.location(), "/account");
    for elsewhere in ["//evil.example", "https://evil.example", "/setup", "account&x=y"] {
        let mut browser = test.browser();
        let next = browser.sign_in(&format!("/login?to={elsewhere}"), PASSWORD).await;
        assert_eq!(next.location(), "/login", "{elsewhere}");
    }
}

/// Checklist 96: what an app asked for cannot rearrange the page that tells of it.
#[tokio::test]
async fn what_was_asked_for_is_shown_as_it_is() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let (client, _) = connect(&test, &mut browser, "Curious", &["wiki:read"]).await;
    let now = test.server.clock().now();
    let asked = "wiki/\u{202E}dm.ada\u{2066}\n\u{7}.md";
    let refusals = &test.server.settings().refusals;
    refusals.note("owner", client.as_str(), asked, "there is no such page", now);
    let page = browser.get("/account").await;
    let shown = "<bdi>wiki/\\u{202e}dm.ada\\u{2066}\\u{a}\\u{7}.md</bdi>";
    assert!(page.body.contains(shown), "{}", page.body);
}

/// Issue 4 "Measured": the page stays one that a person can read and a server can make,
/// however many connections there are; the button that ends all of them does.
#[tokio::test]
async fn a_thousand_connections_do_not_make_a_page_of_a_thousand() {
    let test = PageServer::new().await;
    let mut owner = test.signed_in().await;
    for _ in 0..203 {
        test.base.granted(&[Scope::Read]).await;
    }
    let page = owner.get("/account").await;
    assert_eq!(page.body.matches("name=\"grant\" value=\"").count(), 200);
    assert!(page.body.contains("And 3 more that were used longer ago"), "{}", page.body);
    press(&mut owner, &page, &[("change", "disconnect-all")]).await;
    let page = owner.get("/account").await;
    assert!(page.body.contains("No app is connected."));
    let ended = page.body.split("id=\"ended\"").nth(1).unwrap();
    let ended = ended.split("</section>").next().unwrap();
    assert_eq!(ended.matches("you disconnected it").count(), 50);
    assert!(page.body.contains("all apps were disconnected"), "in the trail");
}

/// Checklist 96, 144: a name can be anything, and is only words on the page that asks and on
/// the one that tells: short, in one line, in its own direction, and no markup.
#[tokio::test]
async fn hostile_names_of_apps_stay_in_their_place() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let marks = format!("Z{}algo", "\u{334}\u{33F}\u{489}".repeat(2_000));
    let long = "Trust me ".repeat(1_200);
    for (name, shown) in [
        ("\u{202E}knaB ruoY\u{2066}\u{200F}", "knaB ruoY"),
        ("Your\nBank\r\n\u{2028}\u{85}says: allow", "Your Bank says: allow"),
        ("<h1>Bank</h1><script>alert(1)</script>", "&#60;h1&#62;Bank"),
        ("\"><img src=x onerror=alert(1)>", "&#34;&#62;&#60;img src=x"),
        ("\u{1F469}\u{200D}\u{1F467} \u{1F3F3}\u{FE0F}\u{200D}\u{1F308} app", "app"),
        (&marks, "Z"),
        (&long, "Trust me Trust me"),
    ] {
        let metadata = serde_json::json!({ "client_name": name, "redirect_uris": [CALLBACK] });
        let answer = test.base.post_json("/register", &metadata).await.json();
        let client = ClientId::presented(answer["client_id"].as_str().unwrap());
        let asking = browser.open(&Ask::of(&client).url()).await;
        let code = browser.allow(&asking, &["wiki:read"]).await.code();
        let form = [
            ("grant_type", "authorization_code"),
            ("client_id", client.as_str()),
            ("code", &code),
            ("code_verifier", VERIFIER),
        ];
        test.base.post_form("/token", &form).await.tokens();
        let telling = browser.get("/account").await;
        for page in [&asking, &telling] {
            let names =
                page.body.split("<bdi>").skip(1).filter_map(|rest| rest.split("</bdi>").next());
            let found = names.clone().find(|found| found.contains(shown));
            let found = found.unwrap_or_else(|| panic!("{shown} is not in {}", page.body));
            assert!(found.chars().count() < 250 && !found.contains(['<', '\n', '"']), "{found}");
            assert!(
                !page.body.contains("onerror=alert(1)>") && !page.body.contains("<script>alert")
            );
            let is_deceptive =
                |letter: char| "\u{202E}\u{2066}\u{200F}\u{2028}\u{85}".contains(letter);
            assert!(!page.body.contains(is_deceptive), "{}", page.body);
            assert!(!page.body.contains(&"\u{334}\u{33F}".repeat(2)), "marks pile up");
        }
        assert_eq!(asking.body.matches("<h1>").count(), 1);
    }
}
