//! The first run and `/setup`.

use axum::http::StatusCode;

use super::{Ask, Browser, CALLBACK, ISSUER, PASSWORD, PageServer};
use crate::authorization_server::password::Password;
use crate::authorization_server::setup::SetupLink;

async fn link(test: &PageServer) -> String {
    let links = test.server.first_run(None).await.unwrap();
    let [SetupLink { url, .. }] = &*links else { panic!("{links:?}") };
    url.strip_prefix(ISSUER).expect("a link to the issuer").to_owned()
}

async fn choose(browser: &mut Browser, link: &str, first: &str, second: &str) -> super::Answer {
    let token = link.rsplit_once('=').unwrap().1;
    browser.post("/setup", &[("token", token), ("password", first), ("repeated", second)]).await
}

/// The link makes the owner, signs in, and is used up.
#[tokio::test]
async fn the_link_works_once() {
    let test = PageServer::empty(ISSUER);
    let link = link(&test).await;
    let mut browser = test.browser();
    let page = browser.get(&link).await;
    assert!(page.body.contains("Choose your password"), "{}", page.body);
    let answer = choose(&mut browser, &link, PASSWORD, PASSWORD).await;
    let page = browser.open(answer.location()).await;
    assert!(page.body.contains("Signed in as") && page.body.contains("https://brain.example/mcp"));

    browser.get(&link).await.assert_local_page(StatusCode::NOT_FOUND);
    let again = choose(&mut browser, &link, PASSWORD, PASSWORD).await;
    again.assert_local_page(StatusCode::NOT_FOUND);
    assert_eq!(test.server.first_run(None).await.unwrap(), []);
    let answer = test.browser().sign_in("/login", PASSWORD).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
}

/// Of two browsers with the same link, one becomes the owner.
#[tokio::test(flavor = "multi_thread")]
async fn two_at_once_make_one_owner() {
    let test = PageServer::empty(ISSUER);
    let link = link(&test).await;
    let (mut first, mut second) = (test.browser(), test.browser());
    let (one, two) = tokio::join!(
        choose(&mut first, &link, "first password here", "first password here"),
        choose(&mut second, &link, "second password here", "second password here"),
    );
    let made = [&one, &two].map(|answer| answer.status == StatusCode::SEE_OTHER);
    assert!(made[0] != made[1], "{made:?}");
}

/// Only the newest link works, and a made-up one never.
#[tokio::test]
async fn old_and_made_up_links_do_not_work() {
    let test = PageServer::empty(ISSUER);
    let old = link(&test).await;
    let new = link(&test).await;
    let mut browser = test.browser();
    for bad in [&*old, "/setup", "/setup?token=", "/setup?token=x&token=x", "/setup?token=%ff"] {
        let answer = browser.get(bad).await;
        assert!(answer.status.is_client_error(), "{bad}");
        let answer = choose(&mut browser, &format!("{bad}="), PASSWORD, PASSWORD).await;
        answer.assert_local_page(StatusCode::NOT_FOUND);
    }
    assert_eq!(browser.get(&new).await.status, StatusCode::OK);
}

/// Twelve characters after normalisation, long ones welcome, both fields alike.
#[tokio::test]
async fn unfit_passwords_are_explained_and_cost_nothing() {
    let test = PageServer::empty(ISSUER);
    let link = link(&test).await;
    let mut browser = test.browser();
    let long = "x".repeat(1025);
    // Twelve code points that are six letters.
    let decomposed = "e\u{301}".repeat(6);
    for (first, second) in [
        ("short", "short"),
        ("", ""),
        ("elevenchars", "elevenchars"),
        (&*decomposed, &*decomposed),
        (&*long, &*long),
        (PASSWORD, "correct horse battery."),
    ] {
        let answer = choose(&mut browser, &link, first, second).await;
        answer.assert_local_page(StatusCode::UNPROCESSABLE_ENTITY);
    }
    // NFC and NFD of the same password are the same password.
    let answer =
        choose(&mut browser, &link, &"e\u{301}".repeat(200), &"e\u{301}".repeat(200)).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let answer = test.browser().sign_in("/login", &"é".repeat(200)).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
}

/// The unattended way: the password comes with the settings, once.
#[tokio::test]
async fn a_password_in_the_settings_makes_the_owner_once() {
    let test = PageServer::empty(ISSUER);
    let password = || Some(Password::typed(PASSWORD));
    assert_eq!(test.server.first_run(password()).await.unwrap(), []);
    let other = Some(Password::typed("another password"));
    assert_eq!(test.server.first_run(other).await.unwrap(), []);
    assert_eq!(test.signed_in().await.cookies.len(), 2, "a session and a known browser");
}

/// A short password in the operator's file is his decision; an endless one is a
/// mistake.
#[tokio::test]
async fn a_short_password_of_the_operator_counts() {
    let test = PageServer::empty(ISSUER);
    let endless = Password::typed(&"x".repeat(2_000));
    assert!(test.server.first_run(Some(endless)).await.is_err());
    assert_eq!(test.server.first_run(Some(Password::typed("hunter2"))).await.unwrap(), []);
    let answer = test.browser().sign_in("/login", "hunter2").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
}

/// Before there is an owner, a client's browser is told what to do.
#[tokio::test]
async fn without_an_owner_nobody_can_sign_in() {
    let test = PageServer::empty(ISSUER);
    let client = test.client(&[CALLBACK]).await;
    let answer = test.browser().open(&Ask::of(&client).url()).await;
    answer.assert_local_page(StatusCode::FORBIDDEN);
    assert!(answer.body.contains("setup link"));
}
