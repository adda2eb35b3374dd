//! What goes when its time is over, and what stays.

use std::time::Duration;

use axum::http::StatusCode;

use super::{Ask, CALLBACK, PASSWORD, PageServer};
use crate::authorization_server::client::ClientId;
use crate::authorization_server::session::SessionKey;
use crate::authorization_server::store::sessions::StoredSession;
use crate::contract::scope::{Scope, ScopeSet};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl PageServer {
    async fn sweep(&self) {
        self.server.sweep().await.unwrap();
    }

    async fn has_client(&self, id: &ClientId) -> bool {
        self.server.client(id.clone()).await.unwrap().is_some()
    }

    fn sessions(&self) -> Vec<(SessionKey, StoredSession)> {
        self.server.store().sessions_of("owner").unwrap()
    }
}

/// Checklist 99: a sweep removes clients that nobody approved within a day, hundreds at
/// once, with what makes a second registration find them; but none that was approved
/// less than 90 days ago, and none that somebody is just deciding about.
#[tokio::test]
async fn a_sweep_removes_the_unused_clients_and_no_other() {
    let test = PageServer::new().await;
    let mut unused = Vec::new();
    for number in 0..450 {
        unused.push(test.base.client(&format!("unused {number}")).await.id);
    }
    let (granted, _) = test.base.granted(&[Scope::Read]).await;
    let approved = test.base.client("approved").await;
    test.base.code(&approved, ScopeSet::ALL).await;
    let asked_for = test.client(&[CALLBACK]).await;
    test.wait(Duration::from_secs(23 * 60 * 60 + 59 * 60));
    let mut owner = test.browser();
    let page = owner.open(&Ask::of(&asked_for).url()).await;
    test.sweep().await;
    assert!(test.has_client(&unused[0]).await, "a minute is left");

    test.wait(Duration::from_secs(60));
    test.sweep().await;
    for id in &unused {
        assert!(!test.has_client(id).await, "{id}");
    }
    assert_ne!(test.base.client("unused 7").await.id, unused[7], "another one");
    assert!(test.has_client(&granted.id).await);
    assert!(test.has_client(&approved.id).await);
    let next = owner.sign_in(&page.action(), PASSWORD).await;
    let page = owner.open(next.location()).await;
    owner.allow(&page, &["wiki:read"]).await.code();
    test.sweep().await;
    assert!(test.has_client(&asked_for).await, "now it is an approved one");

    let left = test.client(&[CALLBACK]).await;
    test.browser().open(&Ask::of(&left).url()).await;
    test.wait(DAY);
    test.sweep().await;
    assert!(!test.has_client(&left).await, "nobody decided in time");
}

/// Checklist 99: neither a client nor what is known of its grant goes while the grant
/// lives, however long ago it was approved; both do 90 days after the grant.
#[tokio::test]
async fn a_client_outlives_its_grant() {
    let test = PageServer::new().await;
    let (client, mut tokens) = test.base.granted(&[Scope::Read]).await;
    for _ in 0..8 {
        test.wait(20 * DAY);
        test.sweep().await;
        tokens = test.base.refresh(&client, &tokens.refresh).await.tokens();
    }
    // Thirty days without use, and ninety more.
    test.wait(20 * DAY + 89 * DAY);
    test.sweep().await;
    test.base.refresh(&client, &tokens.refresh).await.assert_error(400, "invalid_grant");
    assert!(test.has_client(&client.id).await);
    test.wait(2 * DAY);
    test.sweep().await;
    assert!(!test.has_client(&client.id).await);
    test.base.refresh(&client, &tokens.refresh).await.assert_error(401, "invalid_client");
}

/// Issue, Build 2: sessions, waiting requests, codes and the tombstones of codes go with
/// their time, and nothing that still counts goes with them.
#[tokio::test]
async fn a_sweep_removes_what_has_run_out() {
    let test = PageServer::new().await;
    let client = test.client(&[CALLBACK]).await;
    let first = test.signed_in().await;
    test.wait(Duration::from_secs(50 * 60));
    let mut second = test.signed_in().await;
    let early = second.open(&Ask::of(&client).url()).await;
    test.wait(Duration::from_secs(9 * 60));
    let late = second.open(&Ask::of(&client).url()).await;
    let code = second.allow(&late, &["wiki:read"]).await.code();
    assert_eq!(test.sessions().len(), 2);

    test.wait(Duration::from_secs(59));
    test.sweep().await;
    assert_eq!(test.sessions().len(), 2, "both are within their hour");
    assert!(test.base.remembers_code(&code));
    assert_eq!(test.server.browsing().pending.waiting(), 1);

    test.wait(Duration::from_secs(1));
    test.sweep().await;
    assert_eq!(test.sessions().len(), 1, "{first:?}", first = first.cookies.keys());
    assert!(!test.base.remembers_code(&code));
    assert_eq!(test.server.browsing().pending.waiting(), 0);
    second.allow(&early, &["wiki:read"]).await.assert_local_page(StatusCode::FORBIDDEN);
    assert_eq!(second.get("/account").await.status, StatusCode::OK, "still signed in");
}

/// Checklist 99: what was ticked for a client goes with the client.
#[tokio::test]
async fn a_sweep_removes_what_was_ticked_for_clients_that_are_gone() {
    let test = PageServer::new().await;
    let ticked = || {
        let records = test.server.store().records().unwrap();
        records.iter().filter(|record| record.tree == "choices").count()
    };
    let mut owner = test.signed_in().await;
    let mut clients = Vec::new();
    for callback in [CALLBACK, "https://other.example/callback"] {
        let client = test.client(&[callback]).await;
        let ask = Ask::of(&client).with("redirect_uri", callback);
        let page = owner.open(&ask.url()).await;
        owner.allow(&page, &["wiki:read"]).await.code();
        clients.push(client);
    }
    assert_eq!(ticked(), 2);
    test.server.remove_client(clients[0].as_str()).await.unwrap();
    test.sweep().await;
    assert_eq!(ticked(), 1, "that of the client that is there");
}
