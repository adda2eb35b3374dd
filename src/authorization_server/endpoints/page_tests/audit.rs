//! What is written down of all that happens, and who is shown it.

use std::time::Duration;

use axum::http::StatusCode;

use super::account::{connect, press};
use super::{Ask, CALLBACK, ISSUER, PASSWORD, PageServer};
use crate::authorization_server::audit::{Actor, Event, What};
use crate::authorization_server::grant::EndReason;
use crate::authorization_server::password::AlsoEnds;
use crate::contract::scope::{Scope, ScopeSet};

const DAY: u64 = 86_400;

async fn events(test: &PageServer) -> Vec<Event> {
    test.server.events(None, usize::MAX).await.unwrap()
}

/// The names of the events, as they are exported.
fn kinds(events: &[Event]) -> Vec<String> {
    let kind = |event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned();
    events.iter().map(kind).collect()
}

/// What changes nothing is no event: else whoever presses a button again and again would
/// push out what has happened.
#[tokio::test]
async fn what_ends_nothing_is_not_written_down() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let before = kinds(&events(&test).await);
    for change in ["disconnect-all", "sign-out-elsewhere"] {
        let page = browser.get("/account").await;
        press(&mut browser, &page, &[("change", change)]).await;
    }
    assert_eq!(test.server.revoke_grants(Some("owner")).await.unwrap(), 0);
    assert!(test.server.revoke_grants(Some("onwer")).await.is_err(), "mistyped");
    assert!(test.server.revoke_sessions(Some("onwer")).await.is_err(), "mistyped");
    assert_eq!(kinds(&events(&test).await), before);
}

/// Issue 4 "Audit trail": who did what and when, in order, and nothing secret.
#[tokio::test]
async fn a_whole_life_is_written_down() {
    let test = PageServer::new().await;
    let typed = "my secret password";
    test.browser().sign_in("/login", typed).await;
    drop(test.signed_in().await);
    let mut browser = test.signed_in().await;
    let client = test.named_client("Notebook", &[CALLBACK]).await;
    let page = browser.open(&Ask::of(&client).url()).await;
    browser.deny(&page).await;
    let scopes = ["wiki:read", "wiki:confidential"];
    let (_, tokens) = connect(&test, &mut browser, "Notebook", &scopes).await;
    let page = browser.get("/account").await;
    let grant = page.grant();
    let narrow = [("grant", &*grant), ("change", "narrow"), ("scope", "wiki:read")];
    press(&mut browser, &page, &narrow).await;
    let page = browser.get("/account").await;
    let grant = page.grant();
    let disconnect = [("grant", &*grant), ("change", "disconnect")];
    press(&mut browser, &page, &disconnect).await;
    let page = browser.get("/account").await;
    press(&mut browser, &page, &[("change", "sign-out-elsewhere")]).await;
    let page = browser.get("/account").await;
    let new = "another horse battery";
    let password =
        [("change", "password"), ("present", PASSWORD), ("password", new), ("repeated", new)];
    press(&mut browser, &page, &password).await;

    let all = events(&test).await;
    assert_eq!(
        kinds(&all),
        [
            "password_changed",
            "sign_in_failed",
            "signed_in",
            "signed_in",
            "denied",
            "allowed",
            "connected",
            "narrowed",
            "ended",
            "signed_out_elsewhere",
            "password_changed",
        ]
    );
    assert_eq!((all[0].by, all[1].by, all[10].by), (Actor::Operator, Actor::Stranger, Actor::User));
    assert!(all.iter().all(|event| event.user.as_deref() == Some("owner")));
    assert_eq!(all[5].what, What::Allowed { scopes: all_of(&scopes) });
    assert_eq!(all[7].what, What::Narrowed { scopes: all_of(&["wiki:read"]) });
    assert_eq!(all[8].what, What::Ended { reason: EndReason::RevokedByUser });
    assert!(all[6].grant.is_some() && all[6].grant == all[8].grant);
    let exported = serde_json::to_string(&all).unwrap();
    for secret in [typed, PASSWORD, new, &*tokens.access, &*tokens.refresh] {
        assert!(!exported.contains(secret), "{secret}");
    }

    let page = browser.get("/account").await.body;
    let lately = page.split("What happened lately").nth(1).expect("a section");
    for text in [
        "somebody tried to sign in with a wrong password",
        "allowed Notebook: wiki:read wiki:confidential",
        "access of Notebook ended: you disconnected it",
        "the password was changed at the server&#39;s terminal",
    ] {
        assert!(lately.contains(text), "{text}\nnot in {lately}");
    }
    drop(browser);
    let test = test.restart();
    assert_eq!(events(&test).await, all, "it is kept");
}

fn all_of(names: &[&str]) -> ScopeSet {
    Scope::ALL.into_iter().filter(|scope| names.contains(&scope.as_str())).collect()
}

/// Checklist 75: that a refresh token was used again is written down, with whose it was.
/// So is a code that was, and what a client gives back.
#[tokio::test]
async fn reuse_and_revocation_are_written_down() {
    let test = PageServer::new().await;
    let (client, tokens) = test.base.granted(&[Scope::Read]).await;
    let next = test.base.refresh(&client, &tokens.refresh).await.tokens();
    test.base.refresh(&client, &next.refresh).await.tokens();
    test.wait(Duration::from_secs(61));
    test.base.refresh(&client, &tokens.refresh).await.assert_error(400, "invalid_grant");
    let code = test.base.code(&client, ScopeSet::ALL).await;
    test.base.exchange(&client, &code).await.tokens();
    test.base.exchange(&client, &code).await.assert_error(400, "invalid_grant");
    let (client, tokens) = test.base.granted(&[Scope::Read]).await;
    let form = [("client_id", client.id.as_str()), ("token", &*tokens.refresh)];
    for _ in 0..2 {
        test.wait(Duration::from_secs(1));
        assert_eq!(test.base.post_form("/revoke", &form).await.status, StatusCode::OK);
    }
    let ended: Vec<What> = events(&test)
        .await
        .into_iter()
        .filter(|event| matches!(event.what, What::Ended { .. }))
        .inspect(|event| {
            assert_eq!((event.by, &*event.user.clone().unwrap()), (Actor::Client, "owner"));
        })
        .map(|event| event.what)
        .collect();
    let because = |reason| What::Ended { reason };
    assert_eq!(
        ended,
        [
            because(EndReason::RefreshTokenReused),
            because(EndReason::CodeReplayed),
            because(EndReason::RevokedByClient)
        ]
    );
}

/// People type their password where the name goes: a name that is nobody's is not kept.
#[tokio::test]
async fn names_that_are_nobodys_are_not_kept() {
    let test = PageServer::of_users(ISSUER, &["alice", "bob"]);
    test.server.first_run(None).await.unwrap();
    test.server.give_password(Some("alice"), PASSWORD, AlsoEnds::default()).await.unwrap();
    let mut browser = test.browser();
    let page = browser.get("/login").await;
    let token = page.form_token();
    let form = [("form", &*token), ("user", "hunter2hunter2"), ("password", "x")];
    browser.post("/login", &form).await;
    let all = events(&test).await;
    assert_eq!(all.last().unwrap().what, What::SignInFailed);
    assert_eq!(all.last().unwrap().user, None);
}

/// Issue 4 "Audit trail": strangers can fill their own part and push out nothing else;
/// all of it is bounded, by number and by age.
#[tokio::test]
async fn strangers_push_out_nothing_of_the_users() {
    let test = PageServer::new().await;
    let mut browser = test.signed_in().await;
    let failed = |test: &PageServer| {
        let now = test.server.clock().now();
        Event::new(now, Actor::Stranger, What::SignInFailed).of_user("owner")
    };
    let flood = failed(&test);
    let noted =
        test.server.store().read(move |store| (0..2_100).try_for_each(|_| store.note(&flood)));
    noted.await.unwrap();
    let all = events(&test).await;
    assert_eq!(all.len(), 2_002);
    assert_eq!(kinds(&all)[..2], ["password_changed", "signed_in"]);
    let page = browser.get("/account").await.body;
    let lately = page.split("What happened lately").nth(1).expect("a section");
    assert!(lately.contains("signed in"), "{lately}");
    assert_eq!(lately.matches("a wrong password").count(), 5);
    assert_eq!(test.server.events(None, 2).await.unwrap().len(), 2);

    let signed_in = Event::new(test.server.clock().now(), Actor::User, What::SignedIn);
    let noted =
        test.server.store().read(move |store| (0..10_100).try_for_each(|_| store.note(&signed_in)));
    noted.await.unwrap();
    assert_eq!(events(&test).await.len(), 12_000);
    // The bounds are those of what is stored, and not of one process.
    drop(browser);
    let test = test.restart();
    let one_more = failed(&test);
    test.server.store().read(move |store| store.note(&one_more)).await.unwrap();
    assert_eq!(events(&test).await.len(), 12_000);
    test.wait(Duration::from_secs(31 * DAY));
    test.server.sweep().await.unwrap();
    assert_eq!(events(&test).await.len(), 10_000);
    test.wait(Duration::from_secs(370 * DAY));
    test.server.sweep().await.unwrap();
    assert_eq!(events(&test).await, []);
}
