//! `kill -9` at random points while codes are exchanged and tokens refreshed.
//!
//! What the server has acknowledged must be there after the restart, and nothing
//! that was spent may work again.

use std::time::Duration;

use brain_mcp::entropy::Entropy;
use tokio::task::JoinSet;

use crate::support::{Browser, OAuthClient, Process, Tokens, VaultBuilder};

const ROUNDS: usize = 20;
const FLOWS: usize = 10;

/// What a client knows when the server dies under it.
struct Flow {
    code: String,
    /// The last tokens that were acknowledged, and how many of its requests were.
    tokens: Option<Tokens>,
    /// Tokens that were rotated out, each with the successor that it was given.
    rotated: Vec<(String, String)>,
}

/// Issue "Crash": 200 exchanges with refreshes behind them, 20 kills.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_and_nothing_spent_works_again() {
    let vault = VaultBuilder::plain(&[("a.md", "text")]);
    let data = tempfile::tempdir().unwrap();
    let (data, port) = (data.path().join("data"), Process::free_port());
    let entropy = Entropy::seeded(2026);

    let mut server = Process::start(vault.root(), &data, port);
    let client = OAuthClient::registered(&server, "crash").await;
    let mut browser = Browser::signed_in(&server).await;
    let (mut acknowledged, mut in_doubt) = (0, 0);
    for round in 0..ROUNDS {
        // Everything is made ready first, so that the kill finds them all on their way.
        let mut ready = Vec::new();
        for _ in 0..FLOWS {
            let code = client.consent(&server, &mut browser, &["wiki:read"]).await;
            ready.push((server.another(), code));
        }
        let mut running = JoinSet::new();
        for (site, code) in ready {
            let client = client.clone();
            running.spawn(async move { Flow::run(&client, &site, code).await });
        }
        let [pause] = entropy.bytes::<1>();
        tokio::time::sleep(Duration::from_millis(u64::from(pause % 32))).await;
        server.kill();
        let flows = running.join_all().await;
        server = Process::start(vault.root(), &data, port);
        for flow in flows {
            match &flow.tokens {
                Some(_) => acknowledged += 1,
                None => in_doubt += 1,
            }
            flow.check(&client, &server, round).await;
        }
    }
    println!("{acknowledged} exchanges were acknowledged before a kill, {in_doubt} were not");
    assert!(acknowledged > 0 && in_doubt > 0, "the kills must hit before and after");
}

impl Flow {
    async fn run(client: &OAuthClient, site: &crate::support::Site, code: String) -> Self {
        let mut flow = Self { code, tokens: None, rotated: Vec::new() };
        let Some(reply) = client.try_exchange(site, &flow.code).await else { return flow };
        assert_eq!(reply.status, 200, "{}", reply.body);
        let mut tokens = Tokens::of(&reply.json());
        flow.tokens = Some(tokens.clone());
        for _ in 0..5 {
            let Some(reply) = client.try_refresh(site, &tokens.refresh).await else { return flow };
            assert_eq!(reply.status, 200, "{}", reply.body);
            let next = Tokens::of(&reply.json());
            flow.rotated.push((tokens.refresh, next.refresh.clone()));
            tokens = next;
            flow.tokens = Some(tokens.clone());
        }
        flow
    }

    async fn check(&self, client: &OAuthClient, site: &crate::support::Site, round: usize) {
        let Some(tokens) = &self.tokens else {
            // Not acknowledged: it may have happened or not, but at most once.
            let first = client.exchange(site, &self.code).await;
            if first.status == 200 {
                let second = client.exchange(site, &self.code).await;
                assert_eq!(second.json()["error"], "invalid_grant", "round {round}");
            } else {
                assert_eq!(first.json()["error"], "invalid_grant", "round {round}");
            }
            return;
        };
        let refreshed = client.refresh(site, &tokens.refresh).await;
        assert_eq!(
            refreshed.status, 200,
            "round {round}: acknowledged and lost: {}",
            refreshed.body
        );
        for (parent, child) in &self.rotated {
            // Checklist 5.4: a repeated parent gets its one child again or nothing;
            // there is never a second one.
            let repeated = client.refresh(site, parent).await;
            if repeated.status == 200 {
                assert_eq!(&Tokens::of(&repeated.json()).refresh, child, "round {round}");
            } else {
                assert_eq!(repeated.json()["error"], "invalid_grant", "round {round}");
            }
        }
        let replayed = client.exchange(site, &self.code).await;
        assert_eq!(replayed.json()["error"], "invalid_grant", "round {round}: a code worked twice");
    }
}
