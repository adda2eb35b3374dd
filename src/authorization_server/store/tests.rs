//! Opening, and what must survive it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::TempDir;

use super::durability::Durability;
use super::{OpenError, StoreError, decode, encode};
use crate::authorization_server::audit::{Actor, What};
use crate::authorization_server::backup::Backup;
use crate::authorization_server::client::RegisteredClient;
use crate::authorization_server::code::CodeDigest;
use crate::authorization_server::testing::{START, TestServer, copy_files, settings};
use crate::authorization_server::{AuthorizationServer, Settings};
use crate::clock::Clock;
use crate::contract::scope::{Scope, ScopeSet};
use crate::entropy::Entropy;

fn open(settings: &Settings) -> Result<AuthorizationServer, OpenError> {
    AuthorizationServer::open(settings.clone(), Clock::system(), Entropy::seeded(3))
}

fn error(settings: &Settings) -> OpenError {
    open(settings).err().expect("this must not open")
}

/// Design section 3 and 10: nobody else can read what is in there.
#[test]
fn the_data_directory_is_private() {
    let directory = TempDir::new().unwrap();
    let settings = settings(&directory);
    drop(open(&settings).unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&settings.data_dir), 0o700);
    for secret in ["master.key", "signing-keys.json"] {
        assert_eq!(mode(&settings.data_dir.join(secret)), 0o600, "{secret}");
    }
}

/// A data directory that somebody made beforehand, and a database of an older version,
/// may be open to all. What we put there is not.
#[test]
fn the_database_is_private_wherever_it_is() {
    let directory = TempDir::new().unwrap();
    let settings = settings(&directory);
    let database = settings.data_dir.join("database");
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::create_dir(&settings.data_dir).unwrap();
    set_mode(&settings.data_dir, 0o755);
    drop(open(&settings).unwrap());
    assert_eq!(mode(&database), 0o700);
    set_mode(&database, 0o755);
    drop(open(&settings).unwrap());
    assert_eq!(mode(&database), 0o700);
}

#[test]
fn a_second_process_is_told_so() {
    let directory = TempDir::new().unwrap();
    let settings = settings(&directory);
    let first = open(&settings).unwrap();
    assert!(matches!(error(&settings), OpenError::InUse(_)));
    drop(first);
    assert!(open(&settings).is_ok());
}

/// sled leaves this behind when it is killed at the wrong moment, and would refuse to
/// open ever again.
#[test]
fn an_unfinished_snapshot_is_removed() {
    let directory = TempDir::new().unwrap();
    let settings = settings(&directory);
    drop(open(&settings).unwrap());
    let unfinished = settings.data_dir.join("database/snap.0000000000000FFF.generating");
    fs::write(&unfinished, b"").unwrap();
    drop(open(&settings).unwrap());
    assert!(!unfinished.exists());
}

/// sled can open a damaged database as an empty one; that must not pass for new.
#[test]
fn an_emptied_database_is_not_a_new_one() {
    let directory = TempDir::new().unwrap();
    let settings = settings(&directory);
    drop(open(&settings).unwrap());
    fs::remove_dir_all(settings.data_dir.join("database")).unwrap();
    assert!(matches!(error(&settings), OpenError::Emptied(_)));
    assert!(matches!(error(&settings), OpenError::Emptied(_)), "and still not the second time");
}

/// Without its secrets the server would make new ones, and every token would die.
#[test]
fn lost_or_damaged_secrets_are_not_replaced() {
    for secret in ["master.key", "signing-keys.json"] {
        let directory = TempDir::new().unwrap();
        let settings = settings(&directory);
        drop(open(&settings).unwrap());
        let path = settings.data_dir.join(secret);
        for damage in ["", "x", "{}", "AAAA"] {
            fs::write(&path, damage).unwrap();
            assert!(matches!(error(&settings), OpenError::SecretDamaged(_)), "{secret} {damage}");
        }
        fs::remove_file(&path).unwrap();
        assert!(matches!(error(&settings), OpenError::SecretLost(_)), "{secret}");
    }
}

/// A crash during the very first start leaves some files and no marker.
#[test]
fn an_interrupted_set_up_is_completed() {
    let directory = TempDir::new().unwrap();
    let settings = settings(&directory);
    drop(open(&settings).unwrap());
    fs::remove_file(settings.data_dir.join("initialized")).unwrap();
    fs::remove_file(settings.data_dir.join("signing-keys.json")).unwrap();
    drop(open(&settings).unwrap());
    assert!(settings.data_dir.join("initialized").exists());
}

#[test]
fn the_issuer_must_be_an_origin() {
    let directory = TempDir::new().unwrap();
    for issuer in ["https://notes.example.org/", "https://notes.example.org/auth"] {
        let settings = Settings { issuer: issuer.parse().unwrap(), ..settings(&directory) };
        assert!(matches!(error(&settings), OpenError::IssuerNotAnOrigin(_)));
    }
}

/// A sync that succeeds after one that failed proves nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "a device that cannot be synced")]
fn after_a_failed_sync_nothing_is_durable() {
    let directory = TempDir::new().unwrap();
    let database = sled::open(directory.path()).unwrap();
    // This file cannot be synced.
    let file = fs::File::options().write(true).open("/dev/null").unwrap();
    let durability = Durability::new(database, file);
    assert!(matches!(durability.wait(), Err(StoreError::Sync(_))));
    assert!(matches!(durability.wait(), Err(StoreError::SyncFailedBefore)));
}

#[test]
fn a_record_of_another_format_is_refused_and_not_misread() {
    assert_eq!(decode::<u32>(&encode(&7_u32).unwrap()).unwrap(), 7);
    let newer = br#"{"format":2,"record":7}"#;
    assert!(matches!(decode::<u32>(newer), Err(StoreError::Format(2))));
    assert!(matches!(decode::<u32>(b"7"), Err(StoreError::Record(_))));
}

/// Design section 10: what a client was told is in the files when it is told, not
/// when the process ends well. Each copy is what a kill right after the answer would
/// have left; it is made at once, because sled writes by itself every half second.
#[tokio::test]
async fn what_was_answered_is_in_the_files() {
    let test = TestServer::start();
    let spare = TempDir::new().unwrap();
    let save = |name: &str| copy_files(&test.server.settings().data_dir, &spare.path().join(name));
    let killed_after = |name: &str| {
        TestServer::start().restart_on(|data_dir| {
            fs::remove_dir_all(data_dir).unwrap();
            copy_files(&spare.path().join(name), data_dir);
        })
    };
    let client = test.client("A client").await;
    save("registration");
    let code = test.code(&client, ScopeSet::ALL).await;
    save("approval");
    let first = test.exchange(&client, &code).await.tokens();
    save("exchange");
    let second = test.refresh(&client, &first.refresh).await.tokens();
    save("refresh");
    let form = [("client_id", client.id.as_str()), ("token", &*second.refresh)];
    test.post_form("/revoke", &form).await;
    save("revocation");

    let killed = killed_after("registration");
    assert_eq!(killed.server.client(client.id.clone()).await.unwrap().as_ref(), Some(&client));
    let killed = killed_after("approval");
    assert_eq!(killed.exchange(&client, &code).await.status, 200);
    let killed = killed_after("exchange");
    assert!(killed.live_scopes(&first).is_some());
    killed.exchange(&client, &code).await.assert_error(400, "invalid_grant");
    assert_eq!(killed.live_scopes(&first), None);
    // The second token is good only if the first is known to be used.
    let killed = killed_after("refresh");
    assert_eq!(killed.refresh(&client, &second.refresh).await.status, 200);
    let killed = killed_after("revocation");
    let id = killed.claims(&first).gid.parse().unwrap();
    assert!(killed.server.store().grant(id).unwrap().ended.is_some());
}

/// Rule of the store: large values become files that sled never collects, so the
/// largest records that anybody can make must not be that large.
#[tokio::test]
async fn the_largest_registrations_leave_no_files_behind() {
    let test = TestServer::start();
    for number in 0..200 {
        let uri = format!("https://client.example.com/{number}/");
        let uris = [format!("{uri}a{}", "x".repeat(1990)), format!("{uri}b{}", "x".repeat(1990))];
        let name = "\u{1F600}".repeat(100);
        let metadata = serde_json::json!({ "redirect_uris": uris, "client_name": name });
        assert_eq!(test.post_json("/register", &metadata).await.status, 201);
    }
    let blobs = test.server.settings().data_dir.join("database/blobs");
    assert_eq!(fs::read_dir(blobs).unwrap().count(), 0);
}

#[tokio::test]
async fn a_sweep_forgets_dead_codes_and_keeps_the_living() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    let digest = |code: &str| CodeDigest::of(code);
    let old = digest(&test.code(&client, ScopeSet::ALL).await);
    test.advance(30);
    let young = digest(&test.code(&client, ScopeSet::ALL).await);
    test.advance(30);
    test.server.sweep().await.unwrap();
    assert!(test.server.store().code(old).unwrap().is_none());
    assert!(test.server.store().code(young).unwrap().is_some());
    assert!(test.live_scopes(&tokens).is_some());
}

/// Checklist 47, design section 10: who copies the files learns no code, token, secret or key.
#[tokio::test]
async fn no_secret_stands_in_the_files() {
    let test = TestServer::start();
    let (client, tokens) = test.granted(&[Scope::Read]).await;
    let code = test.code(&client, ScopeSet::ALL).await;
    let tokens_after = test.refresh(&client, &tokens.refresh).await.tokens();
    let metadata = serde_json::json!({
        "redirect_uris": ["https://client.example.com/cb"],
        "token_endpoint_auth_method": "client_secret_post"
    });
    let registered = test.post_json("/register", &metadata).await.json();
    let secret = registered["client_secret"].as_str().unwrap();
    let mut files = Vec::new();
    let mut directories = vec![test.directory.path().to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { directories.push(path) } else { files.push(path) }
        }
    }
    let holds = |needle: &str| {
        files.iter().any(|file| {
            #[expect(clippy::disallowed_methods, reason = "the files of the test itself")]
            let contents = fs::read(file).unwrap();
            contents.windows(needle.len()).any(|window| window == needle.as_bytes())
        })
    };
    assert!(holds(client.id.as_str()), "the search finds what is there");
    for needle in [&code, secret, &tokens.refresh[10..40], &tokens_after.refresh[10..40]] {
        assert!(!holds(needle));
    }
}

/// Rewrites every record of a tree that is about this client.
fn rewrite(tree: &sled::Tree, client: &RegisteredClient, from: &str, to: &str) {
    for entry in tree {
        let (key, value) = entry.unwrap();
        let text = String::from_utf8(value.to_vec()).unwrap();
        if text.contains(client.id.as_str()) {
            assert!(text.contains(from), "{text}");
            tree.insert(key, text.replace(from, to).as_bytes()).unwrap();
        }
    }
}

/// A version that is stricter about where answers may go removes the clients that it would
/// not register any more, tells the owner, and goes on with all others.
#[tokio::test]
async fn clients_that_todays_rules_refuse_are_removed_at_the_start() {
    let test = TestServer::start();
    let (kept, kept_tokens) = test.granted(&[Scope::Read]).await;
    let refused = test.client("Refused").await;
    let code = test.code(&refused, ScopeSet::ALL).await;
    let tokens = test.exchange(&refused, &code).await.tokens();
    let code = test.code(&refused, ScopeSet::ALL).await;
    let trees = &test.server.store().0.trees;
    for tree in [&trees.clients, &trees.grants, &trees.codes] {
        rewrite(tree, &refused, "\"https://client", "\"facetime://client");
    }
    let backup = test.server.backup().await.unwrap();
    let check = async |test: &TestServer| {
        let clients = test.server.client_facts().await.unwrap();
        assert_eq!(clients.iter().map(|it| &*it.id).collect::<Vec<_>>(), [kept.id.as_str()]);
        test.server.sweep().await.unwrap();
        test.exchange(&refused, &code).await.assert_error(401, "invalid_client");
        test.refresh(&refused, &tokens.refresh).await.assert_error(401, "invalid_client");
        let events = test.server.events(None, 100).await.unwrap();
        let removed = events.iter().find(|event| event.what == What::ClientRemoved).unwrap();
        assert_eq!((removed.by, &removed.client), (Actor::Server, &Some(refused.id.to_string())));
    };
    let test = test.restart();
    check(&test).await;
    assert_eq!(test.live_scopes(&tokens), None);
    assert!(test.live_scopes(&kept_tokens).is_some());
    let backup = Backup::read(&backup).unwrap();
    let test = test.restart_with(|settings| {
        std::thread::sleep(std::time::Duration::from_millis(200));
        let (clock, entropy) = (Clock::manual(START).0, Entropy::seeded(9));
        AuthorizationServer::restore(settings, &backup, true, &clock, &entropy).unwrap();
    });
    check(&test).await;
}

/// What is unreadable for any other reason is damage, and not ours to throw away.
#[tokio::test]
async fn a_damaged_client_is_not_removed() {
    let test = TestServer::start();
    let (client, _) = test.granted(&[Scope::Read]).await;
    let clients = &test.server.store().0.trees.clients;
    rewrite(clients, &client, "\"redirect_uris\"", "\"uris\"");
    let test = test.restart();
    assert!(test.server.client_facts().await.is_err());
    assert_eq!(test.server.store().count_clients(), 1);
}
