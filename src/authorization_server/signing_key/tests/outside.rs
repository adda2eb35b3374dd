//! Keys that come and go, as a resource server elsewhere sees it that keeps the key set for
//! as long as it may, and as clients see it that refresh meanwhile.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::IntoResponse as _;
use jsonwebtoken::decode_header;
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use super::{KeyState, published, signer};
use crate::authorization_server::client::RegisteredClient;
use crate::authorization_server::testing::{ISSUER, RESOURCE, TestServer, Tokens};
use crate::contract::scope::Scope;
use crate::resource_server::bearer::BearerToken;
use crate::resource_server::key_source::KeySource;
use crate::resource_server::verify::{ForeignGrants, TokenError, TokenVerifier};

const CLIENTS: usize = 32;
/// An hour and the time of the caches: a key signs no earlier after its publication.
const LEAD: u64 = 3_600 + 300;

/// Where others read the key set: behind a socket, whatever server is behind it now.
#[derive(Clone)]
struct Address {
    router: Arc<Mutex<Option<Router>>>,
    asked: Arc<Mutex<usize>>,
    url: String,
}

impl Address {
    async fn of(test: &TestServer) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        let router = Arc::new(Mutex::new(Some(test.router())));
        let address = Self { router, asked: Arc::default(), url };
        let answering = address.clone();
        let fallback = Router::new().fallback(move |request: Request| {
            *answering.asked.lock().unwrap() += 1;
            let router = answering.router.lock().unwrap().clone();
            async move {
                match router {
                    Some(router) => router.oneshot(request).await.unwrap(),
                    None => axum::http::StatusCode::BAD_GATEWAY.into_response(),
                }
            }
        });
        tokio::spawn(async move { axum::serve(listener, fallback).await });
        address
    }

    fn leads_to(&self, test: Option<&TestServer>) {
        *self.router.lock().unwrap() = test.map(TestServer::router);
    }

    fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }

    /// A resource server that has nothing but the address.
    fn reader(&self, test: &TestServer) -> TokenVerifier {
        TokenVerifier::new(
            ISSUER.parse().unwrap(),
            RESOURCE.parse().unwrap(),
            KeySource::url(&self.url).unwrap(),
            Arc::new(ForeignGrants),
            test.server.clock().clone(),
        )
    }
}

async fn judge(reader: &TokenVerifier, tokens: &Tokens) -> Result<(), TokenError> {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", format!("Bearer {}", tokens.access).parse().unwrap());
    reader.verify(&BearerToken::from_headers(&headers).unwrap()).await.map(|_| ())
}

fn key_of(tokens: &Tokens) -> String {
    decode_header(&tokens.access).unwrap().kid.unwrap()
}

/// All clients refresh a few times, all at once, while the keys are changed. All tokens of it.
async fn refreshed_while(
    test: TestServer,
    clients: &mut [(RegisteredClient, Tokens)],
    change: impl AsyncFnOnce(&TestServer),
) -> (TestServer, Vec<Tokens>) {
    let test = Arc::new(test);
    let mut running = JoinSet::new();
    for (index, (client, tokens)) in clients.iter().cloned().enumerate() {
        let test = Arc::clone(&test);
        running.spawn(async move {
            let mut all = vec![tokens];
            for _ in 0..4 {
                let last = &all.last().unwrap().refresh;
                all.push(test.refresh(&client, last).await.tokens());
            }
            (index, all)
        });
    }
    let mut issued = Vec::new();
    // After the first of them, and before the last.
    let (index, first) = running.join_next().await.unwrap().unwrap();
    change(&test).await;
    let others = running.join_all().await;
    for (index, tokens) in others.into_iter().chain([(index, first)]) {
        clients[index].1 = tokens.last().unwrap().clone();
        issued.extend(tokens);
    }
    (Arc::into_inner(test).expect("all have ended"), issued)
}

/// Checklist 80, 134, 135: next, current, retained and revoked, while clients refresh and
/// with restarts between, and a reader whose key set is as old as it may be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_change_under_load_and_nobody_outside_is_the_worse_for_it() {
    let mut test = TestServer::start();
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(test.granted(&[Scope::Read]).await);
    }
    let address = Address::of(&test).await;
    let (first, second) = (signer(&test), published(&test)[1].clone());
    test.advance(LEAD - 299);
    let reader = address.reader(&test);
    // It knows the key that comes next, before anything is signed with it.
    let (client, tokens) = &mut clients[0];
    *tokens = test.refresh(client, &tokens.refresh).await.tokens();
    assert_eq!(judge(&reader, tokens).await, Ok(()));
    assert_eq!(address.asked(), 1);
    test.advance(299);

    let mut issued;
    (test, issued) = refreshed_while(test, &mut clients, async |test| {
        test.server.rotate_keys().await.unwrap();
    })
    .await;
    issued.retain(|tokens| test.claims(tokens).exp > test.server.clock().now().as_seconds());
    let signed_by = |kid: &str| issued.iter().filter(|tokens| key_of(tokens) == kid).count();
    assert!(signed_by(&first) > 0 && signed_by(&second) > 0, "rotated amid the refreshes");
    for tokens in &issued {
        assert_eq!(judge(&reader, tokens).await, Ok(()), "what was signed before and after");
    }
    assert_eq!(address.asked(), 1, "nothing had to be fetched for the new key");

    // A restart keeps who signs, who is believed and who comes next. While nobody answers,
    // the reader goes on with what it has.
    let keys = published(&test);
    address.leads_to(None);
    test.advance(2);
    assert_eq!(judge(&reader, &issued[0]).await, Ok(()));
    test = test.restart();
    address.leads_to(Some(&test));
    assert_eq!((signer(&test), published(&test)), (second.clone(), keys));
    for (client, tokens) in &mut clients {
        *tokens = test.refresh(client, &tokens.refresh).await.tokens();
        assert_eq!(key_of(tokens), second);
        assert_eq!(judge(&reader, tokens).await, Ok(()));
    }

    // The retained key goes when the last token that it signed is dead, and not before.
    let of_first = issued.iter().filter(|tokens| key_of(tokens) == first);
    let last_of_first = of_first.max_by_key(|tokens| test.claims(tokens).exp).unwrap().clone();
    test.advance(597);
    test.server.keep_keys_up().await.unwrap();
    assert!(published(&test).contains(&first));
    assert_eq!(judge(&address.reader(&test), &last_of_first).await, Ok(()));
    test.advance(70);
    test.server.keep_keys_up().await.unwrap();
    assert!(!published(&test).contains(&first));
    assert!(judge(&reader, &last_of_first).await.is_err());

    // Revoked under load: its tokens are dead here at once, and elsewhere when the key set
    // that was kept is no longer fresh; those of the key that took over are good everywhere.
    let (before, stale) = (clients[1].1.clone(), address.reader(&test));
    let (client, _) = clients[1].clone();
    let before = test.refresh(&client, &before.refresh).await.tokens();
    clients[1].1 = before.clone();
    assert_eq!(judge(&stale, &before).await, Ok(()));
    (test, issued) = refreshed_while(test, &mut clients, async |test| {
        test.server.revoke_key(&second).await.unwrap();
    })
    .await;
    let third = signer(&test);
    assert!(third != first && third != second);
    assert_eq!(test.server.signing_keys().read(&before.access), None);
    address.leads_to(None);
    test = test.restart();
    address.leads_to(Some(&test));
    assert_eq!(signer(&test), third, "a revocation is kept");
    for tokens in issued.iter().filter(|tokens| key_of(tokens) == third) {
        assert_eq!(judge(&stale, tokens).await, Ok(()), "the new key is looked for");
    }
    test.advance(301);
    for reader in [&stale, &reader, &address.reader(&test)] {
        assert_eq!(judge(reader, &before).await, Err(TokenError::UnknownKey));
    }
    for (client, tokens) in &clients {
        let renewed = test.refresh(client, &tokens.refresh).await.tokens();
        assert_eq!(key_of(&renewed), third);
        assert_eq!(judge(&stale, &renewed).await, Ok(()));
    }
    let states: Vec<KeyState> =
        test.server.signing_keys().state().ring.0.iter().map(|key| key.state).collect();
    assert_eq!(states.iter().filter(|state| **state == KeyState::Revoked).count(), 1);
}
