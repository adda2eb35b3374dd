//! What comes back, and what must not.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use proptest::prelude::*;

use super::{Backup, InvalidBackup, RestoreError};
use crate::authorization_server::client::RegisteredClient;
use crate::authorization_server::device::{DeviceId, PresentedDevice};
use crate::authorization_server::grant::EndReason;
use crate::authorization_server::password::Password;
use crate::authorization_server::store::backup::LEFT_OUT;
use crate::authorization_server::testing::{START, TestServer, Tokens};
use crate::authorization_server::{AuthorizationServer, OpenError, Settings};
use crate::clock::Clock;
use crate::contract::scope::{Scope, ScopeSet};
use crate::entropy::Entropy;

/// A clock like that of the servers that make the backups.
fn at_the_start() -> Clock {
    Clock::manual(START).0
}

/// Everything that was ever handed out, with what became of it.
#[derive(Default)]
struct Handed {
    tokens: Vec<(RegisteredClient, Tokens)>,
    codes: Vec<(RegisteredClient, String)>,
}

#[derive(Clone, Debug)]
enum Act {
    Connect,
    Ask,
    Refresh(usize),
    GiveBack(usize),
    Revoke(usize),
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => Just(Act::Connect),
        1 => Just(Act::Ask),
        4 => (0_usize..8).prop_map(Act::Refresh),
        1 => (0_usize..8).prop_map(Act::GiveBack),
        1 => (0_usize..8).prop_map(Act::Revoke),
        1 => (0_u64..120).prop_map(Act::Wait),
    ]
}

impl Handed {
    async fn run(&mut self, test: &TestServer, acts: &[Act]) {
        for act in acts {
            let pick = |index: usize| self.tokens.get(index % self.tokens.len().max(1)).cloned();
            match *act {
                Act::Connect => self.tokens.push(test.granted(&[Scope::Read, Scope::People]).await),
                Act::Ask => {
                    let client = test.client("A client").await;
                    let code = test.code(&client, ScopeSet::ALL).await;
                    self.codes.push((client, code));
                }
                Act::Refresh(index) => {
                    let Some((client, tokens)) = pick(index) else { continue };
                    let answer = test.refresh(&client, &tokens.refresh).await;
                    if answer.status == 200 {
                        self.tokens.push((client, answer.tokens()));
                    }
                }
                Act::GiveBack(index) => {
                    let Some((client, tokens)) = pick(index) else { continue };
                    let form = [("client_id", client.id.as_str()), ("token", &*tokens.refresh)];
                    test.post_form("/revoke", &form).await;
                }
                Act::Revoke(index) => {
                    let Some((_, tokens)) = pick(index) else { continue };
                    if let Some(claims) = test.server.signing_keys().read(&tokens.access) {
                        // One that is over already is no such grant any more.
                        let _over = test.server.revoke_grant(&claims.gid).await;
                    }
                }
                Act::Wait(seconds) => test.advance(seconds),
            }
        }
    }

    /// Nothing of it lets anybody in.
    async fn assert_dead(&self, test: &TestServer) {
        for (client, tokens) in &self.tokens {
            assert!(test.server.signing_keys().read(&tokens.access).is_none());
            let refreshed = test.refresh(client, &tokens.refresh).await;
            assert!(refreshed.status.is_client_error(), "{}", refreshed.text);
        }
        for (client, code) in &self.codes {
            let exchanged = test.exchange(client, code).await;
            assert!(exchanged.status.is_client_error(), "{}", exchanged.text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Issue 4 "safe after restore", checklist 5.9: whatever happened before a backup and
    /// after it, once it is restored no token, code or grant of before lets anybody in, and
    /// what was revoked stays revoked; all that the backup knew is listed, and ended; and
    /// whoever connects anew gets in.
    #[test]
    fn nothing_comes_back_to_life(
        before in proptest::collection::vec(act(), 0..12),
        after in proptest::collection::vec(act(), 0..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (test, mut handed) = (TestServer::start(), Handed::default());
            handed.run(&test, &before).await;
            let known = test.server.grant_facts(None, true).await.unwrap();
            let clients = test.server.client_facts().await.unwrap();
            let backup = test.server.backup().await.unwrap();
            handed.run(&test, &after).await;
            let test = test.restored(&backup);
            handed.assert_dead(&test).await;
            let listed = test.server.grant_facts(None, true).await.unwrap();
            let ids = |grants: &[crate::authorization_server::administration::GrantFacts]| {
                grants.iter().map(|grant| grant.id.clone()).collect::<BTreeSet<_>>()
            };
            assert_eq!(ids(&listed), ids(&known));
            for grant in &listed {
                let ended_before = known.iter().any(|it| it.id == grant.id && it.end_reason.is_some());
                let reason = grant.end_reason.as_deref().unwrap();
                assert_eq!(reason == EndReason::Restored.as_str(), !ended_before, "{grant:?}");
            }
            for client in clients {
                assert!(test.server.client_facts().await.unwrap().iter().any(|it| it.id == client.id));
            }
            let (_, tokens) = test.granted(&[Scope::Read]).await;
            assert!(test.live_scopes(&tokens).is_some());
        });
    }

    /// A file that is not what was written is refused before anything is touched.
    #[test]
    fn a_damaged_backup_is_refused(at in any::<prop::sample::Index>(), bit in 0_u8..8, cut in any::<bool>()) {
        let whole = backup_of_one_grant();
        let at = at.index(whole.len());
        let mut damaged = whole.clone();
        if cut { damaged.truncate(at) } else { damaged[at] ^= 1 << bit }
        prop_assert!(Backup::read(&damaged).is_err());
    }
}

fn backup_of_one_grant() -> Vec<u8> {
    use std::sync::OnceLock;
    static WHOLE: OnceLock<Vec<u8>> = OnceLock::new();
    let make = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let test = TestServer::start();
            test.granted(&[Scope::Read]).await;
            test.server.backup().await.unwrap()
        })
    };
    WHOLE.get_or_init(make).clone()
}

#[test]
fn a_backup_of_a_newer_version_is_told_from_a_damaged_one() {
    let newer = br#"{"brain_mcp_backup":2,"made_at":1,"issuer":"x","records":0}"#;
    assert_eq!(Backup::read(newer).unwrap_err(), InvalidBackup::Version(2));
    for foreign in [&b""[..], b"{}", b"PK\x03\x04", b"null\nnull\n"] {
        assert_eq!(Backup::read(foreign).unwrap_err(), InvalidBackup::Foreign);
    }
    let cut = backup_of_one_grant();
    let cut = &cut[..cut.len() - 20];
    assert_eq!(Backup::read(cut).unwrap_err(), InvalidBackup::Damaged);
}

/// Checklist 47: no code, token, secret or key is in a backup, nor what a session or a
/// setup link could be known by.
#[tokio::test]
async fn no_secret_is_in_a_backup() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    let code = test.code(&client, ScopeSet::ALL).await;
    let link = test.server.setup_link(None).await.unwrap();
    let backup = Backup::read(&test.server.backup().await.unwrap()).unwrap();
    let all: Vec<u8> = backup.records.iter().flat_map(|record| record.value.clone()).collect();
    let holds = |needle: &str| all.windows(needle.len()).any(|window| window == needle.as_bytes());
    assert!(holds(client.id.as_str()), "the search finds what is there");
    let secret = link.url.rsplit_once('=').unwrap().1;
    for needle in [&code, secret, &tokens.access, &tokens.refresh[10..40], "sealed"] {
        assert!(!holds(needle), "{needle}");
    }
    for record in &backup.records {
        assert!(!LEFT_OUT.contains(&record.tree));
    }
}

/// Whoever adds a tree has to say whether it is kept: one that is forgotten would be lost.
#[tokio::test]
async fn every_tree_is_kept_or_left_out() {
    let test = TestServer::start();
    let trees = test.server.store().tree_names();
    let decided: BTreeSet<String> = crate::authorization_server::store::backup::KEPT
        .iter()
        .chain(&LEFT_OUT)
        .map(|name| (*name).to_owned())
        .collect();
    assert_eq!(trees, decided);
}

/// Design section 10: what belongs together is in a backup together, while clients
/// register and connect.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_is_of_one_moment() {
    let test = std::sync::Arc::new(TestServer::start());
    let mut busy = tokio::task::JoinSet::new();
    for worker in 0..4 {
        let test = std::sync::Arc::clone(&test);
        busy.spawn(async move {
            for number in 0..15 {
                let client = test.client(&format!("Client {worker} {number}")).await;
                let code = test.code(&client, ScopeSet::ALL).await;
                test.exchange(&client, &code).await.tokens();
            }
        });
    }
    let mut backups = Vec::new();
    while busy.try_join_next().is_some() || !busy.is_empty() {
        backups.push(Backup::read(&test.server.backup().await.unwrap()).unwrap());
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let sizes: BTreeSet<usize> = backups.iter().map(|backup| backup.records.len()).collect();
    assert!(sizes.len() > 2, "they were made meanwhile: {sizes:?}");
    for backup in backups {
        let of = |tree: &'static str| backup.records.iter().filter(move |it| it.tree == tree);
        let clients: BTreeSet<&[u8]> = of("clients").map(|it| &*it.key).collect();
        let digests: BTreeSet<&[u8]> = of("client_digests").map(|it| &*it.value).collect();
        assert_eq!(clients, digests, "a client and what it is recognized by");
        for grant in of("grants") {
            let grant: serde_json::Value = serde_json::from_slice(&grant.value).unwrap();
            let client = grant["record"]["terms"]["client"].as_str().unwrap();
            assert!(clients.contains(client.as_bytes()), "a grant of nobody");
        }
    }
}

fn open(test: &TestServer) -> Result<AuthorizationServer, OpenError> {
    let settings = test.server.settings().clone();
    AuthorizationServer::open(settings, Clock::system(), Entropy::seeded(3))
}

/// A crash at any step of a restore leaves a directory that no server starts on, and that
/// the next restore completes; the old database is not lost.
#[tokio::test]
async fn an_interrupted_restore_is_completed_by_the_next() {
    let source = TestServer::start();
    source.granted(&[Scope::Read]).await;
    let whole = source.server.backup().await.unwrap();
    for step in 0..4 {
        let test = TestServer::start();
        let (_, mine) = test.granted(&[Scope::Read]).await;
        let mut seen = Vec::new();
        let test = test.restart_with(|settings| {
            let directory = settings.data_dir.clone();
            let at = |name: &str| directory.join(name);
            interrupt(&directory, step);
            let opened =
                AuthorizationServer::open(settings.clone(), Clock::system(), Entropy::seeded(3));
            match (step, opened.err()) {
                (0, Some(OpenError::Emptied(_))) | (1.., Some(OpenError::RestoreUnfinished(_))) => {
                }
                (_, other) => panic!("step {step}: {other:?}"),
            }
            let backup = Backup::read(&whole).unwrap();
            let (clock, entropy) = (at_the_start(), Entropy::seeded(9));
            AuthorizationServer::restore(settings, &backup, true, &clock, &entropy).unwrap();
            assert!(at("database.replaced/conf").exists(), "the old one is kept");
            assert!(!at("restoring").exists());
            seen.push(step);
        });
        assert_eq!(seen, [step]);
        assert!(open(&test).is_err(), "it runs");
        assert!(test.server.signing_keys().read(&mine.access).is_none());
        let grants = test.server.grant_facts(None, true).await.unwrap();
        assert_eq!(grants.len(), 1, "those of the backup");
    }
}

/// What a crash before each step of a restore leaves behind.
fn interrupt(directory: &Path, step: usize) {
    let at = |name: &str| directory.join(name);
    // Until the directory is let go, the files are still in use.
    std::thread::sleep(std::time::Duration::from_millis(200));
    fs::rename(at("database"), at("database.replaced")).unwrap();
    if step >= 1 {
        fs::write(at("restoring"), "").unwrap();
    }
    if step >= 2 {
        fs::create_dir(at("database")).unwrap();
        fs::write(at("database/conf"), "half").unwrap();
    }
    if step >= 3 {
        fs::remove_file(at("signing-keys.json")).unwrap();
    }
}

/// Without `--replace` nothing that is there is touched; on a machine that has nothing, a
/// backup is enough to begin with.
#[tokio::test]
async fn a_backup_is_enough_to_begin_with() {
    let source = TestServer::start();
    let (client, _) = source.granted(&[Scope::Read]).await;
    let whole = source.server.backup().await.unwrap();
    let backup = Backup::read(&whole).unwrap();
    let settings = source.server.settings().clone();
    let (clock, entropy) = (at_the_start(), Entropy::seeded(9));
    let restore = |settings: &Settings, replaces| {
        AuthorizationServer::restore(settings, &backup, replaces, &clock, &entropy)
    };
    let running = restore(&settings, true).unwrap_err();
    assert!(matches!(running, RestoreError::Open(OpenError::InUse(_))), "{running}");
    let source = source.restart_with(|settings| {
        std::thread::sleep(std::time::Duration::from_millis(200));
        let occupied = restore(settings, false).unwrap_err();
        assert!(matches!(occupied, RestoreError::Occupied(_)), "{occupied}");
    });
    assert_eq!(source.server.grant_facts(None, false).await.unwrap().len(), 1);

    let empty = tempfile::TempDir::new().unwrap();
    let settings = Settings { data_dir: empty.path().join("data"), ..settings };
    restore(&settings, false).unwrap();
    let server = AuthorizationServer::open(settings, clock.clone(), entropy.clone()).unwrap();
    assert!(server.client(client.id).await.unwrap().is_some());
    assert_eq!(server.grant_facts(None, false).await.unwrap(), []);
}

/// Who restores the wrong backup and then the right one has lost nothing: what was there
/// first stays beside both.
#[tokio::test]
async fn a_second_restore_keeps_what_the_first_replaced() {
    let test = TestServer::start();
    let empty = test.server.backup().await.unwrap();
    let (client, _) = test.granted(&[Scope::Read]).await;
    let directory = test.server.settings().data_dir.clone();
    let test = test.restored(&empty);
    assert!(test.server.client(client.id.clone()).await.unwrap().is_none());
    let test = test.restored(&empty);
    let kept = directory.join("database.replaced");
    let test = test.restart_with(|settings| {
        std::thread::sleep(std::time::Duration::from_millis(200));
        let present = settings.data_dir.join("database");
        fs::rename(&present, settings.data_dir.join("set aside")).unwrap();
        fs::rename(&kept, &present).unwrap();
    });
    assert!(test.server.client(client.id).await.unwrap().is_some(), "the original");
}

/// Whoever made the file chose every text in it, and none of them rules the terminal.
#[tokio::test]
async fn no_text_of_a_backup_is_shown_as_it_is() {
    let test = TestServer::start();
    test.granted(&[Scope::Read]).await;
    let whole = String::from_utf8(test.server.backup().await.unwrap()).unwrap();
    let (body, _) = whole.trim_end().rsplit_once('\n').unwrap();
    let issuer = test.server.settings().issuer.as_str();
    for (from, to) in [
        (format!("\"{issuer}\""), r#""x\u001b[2J""#.to_owned()),
        (r#""tree":"clients""#.to_owned(), r#""tree":"a\u001b[31mb""#.to_owned()),
    ] {
        let body = body.replacen(&from, &to, 1) + "\n";
        let foot = super::checksum(body.as_bytes());
        let edited = format!("{body}{{\"sha256\":\"{foot}\"}}\n");
        let error = Backup::read(edited.as_bytes()).unwrap_err();
        assert_ne!(error, InvalidBackup::Damaged, "{to}");
        assert!(!error.to_string().contains('\u{1b}'), "{to}");
    }
}

/// A master secret that is lost is no obstacle: nothing that comes back depends on it.
#[tokio::test]
async fn lost_keys_are_no_obstacle() {
    let test = TestServer::start();
    let (_, tokens) = test.granted(&[Scope::Read]).await;
    let whole = test.server.backup().await.unwrap();
    for lost in ["master.key", "signing-keys.json"] {
        fs::remove_file(test.server.settings().data_dir.join(lost)).unwrap();
    }
    let test = test.restored(&whole);
    assert!(test.server.signing_keys().read(&tokens.access).is_none());
    test.granted(&[Scope::Read]).await;
}

/// The file with one text in the place of another, and the checksum that goes with it.
fn edited(whole: &[u8], from: &str, to: &str) -> Vec<u8> {
    let whole = std::str::from_utf8(whole).unwrap();
    let (body, _) = whole.trim_end().rsplit_once('\n').unwrap();
    assert!(body.contains(from), "{from}");
    let body = body.replacen(from, to, 1) + "\n";
    let foot = super::checksum(body.as_bytes());
    format!("{body}{{\"sha256\":\"{foot}\"}}\n").into_bytes()
}

/// A key that no record of that tree has would not be found, or, as a number of the trail,
/// would have the next events overwrite what is there.
#[tokio::test]
async fn a_backup_with_odd_keys_is_refused() {
    let test = TestServer::start();
    test.granted(&[Scope::Read]).await;
    test.server.first_run(Some(Password::typed("correct horse battery"))).await.unwrap();
    let whole = test.server.backup().await.unwrap();
    let backup = Backup::read(&whole).unwrap();
    for tree in ["users", "clients", "client_digests", "grants", "audit"] {
        let record = backup.records.iter().find(|record| record.tree == tree).unwrap();
        let key = BASE64_STANDARD.encode(&record.key);
        let long = BASE64_STANDARD.encode([&record.key[..], b"x"].concat());
        let mut odd = vec![String::new(), long];
        if tree == "audit" {
            odd.extend(
                [u64::MAX, u64::MAX / 2 + 1].map(|it| BASE64_STANDARD.encode(it.to_be_bytes())),
            );
        }
        for odd in odd {
            let (key, odd) = (format!("\"key\":\"{key}\""), format!("\"key\":\"{odd}\""));
            let refused = Backup::read(&edited(&whole, &key, &odd)).unwrap_err();
            assert_eq!(refused, InvalidBackup::Record, "{tree} {odd}");
        }
    }
}

/// What is dated after its backup was made would outlive everything else, and a backup of
/// the future was made by a clock that is wrong, or by somebody.
#[tokio::test]
async fn a_backup_of_the_future_is_refused() {
    let test = TestServer::start();
    test.granted(&[Scope::Read]).await;
    let whole = test.server.backup().await.unwrap();
    let made_at = Backup::read(&whole).unwrap().made_at().as_seconds();
    let dated =
        |at: u64| edited(&whole, &format!("\"made_at\":{made_at}"), &format!("\"made_at\":{at}"));
    for odd in [u64::MAX, u64::MAX / 2, 10_000_000_000_000] {
        assert_eq!(Backup::read(&dated(odd)).unwrap_err(), InvalidBackup::Time, "{odd}");
    }
    assert_eq!(Backup::read(&dated(1)).unwrap_err(), InvalidBackup::Time, "before its events");
    let tomorrow = Backup::read(&dated(made_at + 3 * 24 * 60 * 60)).unwrap();
    let empty = tempfile::TempDir::new().unwrap();
    let data_dir = empty.path().join("data");
    let settings = Settings { data_dir: data_dir.clone(), ..test.server.settings().clone() };
    let (clock, entropy) = (at_the_start(), Entropy::seeded(9));
    let refused = AuthorizationServer::restore(&settings, &tomorrow, false, &clock, &entropy);
    assert!(matches!(refused, Err(RestoreError::FromTheFuture)), "{refused:?}");
    assert!(!data_dir.join("database").exists(), "nothing is touched");
}

/// Issue 4 "safe after restore": a browser that was a stranger again since the backup, by a
/// new password, is not known by the old one that comes back.
#[tokio::test]
async fn browsers_are_strangers_after_a_restore() {
    let test = TestServer::start();
    test.server.first_run(Some(Password::typed("correct horse battery"))).await.unwrap();
    let whole = test.server.backup().await.unwrap();
    let user = test.server.store().user("owner").unwrap().unwrap();
    let (device, issuer) = (DeviceId::new(test.server.entropy()), &test.server.settings().issuer);
    let key = test.server.device_key();
    let (_, cookie) = key.set_cookie(device, "owner", &user.password, issuer);
    let mut headers = HeaderMap::new();
    headers.insert("cookie", cookie.split(';').next().unwrap().parse().unwrap());
    let presented = PresentedDevice::from_headers(&headers, issuer);
    assert_eq!(test.server.known_browser(presented).await.unwrap(), Some(device));
    let test = test.restored(&whole);
    assert_eq!(test.server.store().user("owner").unwrap().unwrap().password, user.password);
    assert_eq!(test.server.known_browser(presented).await.unwrap(), None);
}
