//! Opening, and what must survive it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use super::{OpenError, StoreError, decode, encode};
use crate::authorization_server::testing::{TestServer, settings};
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
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&settings.data_dir), 0o700);
    for secret in ["master.key", "signing-keys.json"] {
        assert_eq!(mode(&settings.data_dir.join(secret)), 0o600, "{secret}");
    }
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

#[test]
fn a_record_of_another_format_is_refused_and_not_misread() {
    assert_eq!(decode::<u32>(&encode(&7_u32).unwrap()).unwrap(), 7);
    let newer = br#"{"format":2,"record":7}"#;
    assert!(matches!(decode::<u32>(newer), Err(StoreError::Format(2))));
    assert!(matches!(decode::<u32>(b"7"), Err(StoreError::Record(_))));
}

/// #47, design section 10: who copies the files learns no code, token, secret or key.
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
