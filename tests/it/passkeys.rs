//! Passkeys, from outside: the built program, a software authenticator, whole dances.

use std::path::Path;
use std::process::{Command, Output};

use axum::http::StatusCode;

use crate::support::browser::Page;
use crate::support::forms::Form;
use crate::support::{
    Browser, McpClient, OAuthClient, PASSWORD, Process, Site, SoftwarePasskey, Tokens, VaultBuilder,
};

const SIGN_IN: &str = "Sign in with a passkey";

/// What a page tells its script.
#[track_caller]
fn told(page: &Page, name: &str) -> String {
    let body = &page.reply().body;
    let found =
        body.split_once(&format!("data-{name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
    found.unwrap_or_else(|| panic!("no {name} in {body}")).0.to_owned()
}

/// Does what the script does, and presses the button.
async fn press(
    browser: &mut Browser,
    site: &Site,
    page: &Page,
    label: &str,
    answer: String,
) -> Page {
    page.submit_with(browser, site, label, |form| form.fill("passkey", &answer)).await
}

async fn show(
    browser: &mut Browser,
    site: &Site,
    url: &str,
    passkey: &mut SoftwarePasskey,
) -> Page {
    let page = browser.open(site, url).await;
    let signed = passkey.signed(&told(&page, "challenge")).to_string();
    press(browser, site, &page, SIGN_IN, signed).await
}

async fn add(site: &Site, passkey: &mut SoftwarePasskey) {
    let mut browser = Browser::signed_in(site).await;
    let page = browser.open(site, "/account/passkeys").await;
    let made = passkey.made(&told(&page, "challenge"), &told(&page, "user-handle")).to_string();
    let name = |form: Form| form.fill("passkey", &made).fill("name", "Telephone");
    let page = page.submit_with(&mut browser, site, "Add a passkey", name).await;
    assert!(page.reply().body.contains("The passkey is added"), "{}", page.reply().body);
}

fn command(data: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_brain-mcp"));
    command.args(line.split(' ')).args(["--data-dir".as_ref(), data.as_os_str()]);
    command.output().unwrap()
}

/// Checklist 149: the whole dance behind a passkey; it is still good when the program was
/// killed, and none is when the owner takes them all back.
#[tokio::test]
async fn an_app_is_connected_behind_a_passkey() {
    let vault = VaultBuilder::plain(&[("a.md", "canary")]);
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path().join("data"), Process::free_port());
    let mut server = Process::start_at_name(vault.root(), &data, port);
    let mut passkey = SoftwarePasskey::new(7, server.issuer());
    assert_eq!(passkey.host, "localhost");
    add(&server, &mut passkey).await;
    server.kill();
    let server = Process::start_at_name(vault.root(), &data, port);

    let client = OAuthClient::registered(&server, "An app").await;
    let mut browser = Browser::default();
    let url = client.authorize_url(&server, "wiki:read");
    let consent = show(&mut browser, &server, &url, &mut passkey).await;
    consent.form("Allow");
    let code = client.consent(&server, &mut browser, &["wiki:read"]).await;
    let answer = client.exchange(&server, &code).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let client = McpClient::with_token(&Tokens::of(&answer.json()).access);
    let query = serde_json::json!({"query": "canary"});
    let found = client.tool(&server, "search", query).await;
    assert!(found.body.contains("a.md"), "{}", found.body);

    let listed = command(&data, "user list --json");
    let users: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(users[0]["passkeys"], 1, "{users}");
    let file = folder.path().join("password");
    std::fs::write(&file, PASSWORD).unwrap();
    let line = format!("owner set-password --password-file {}", file.display());
    let kept = command(&data, &line);
    assert!(String::from_utf8_lossy(&kept.stdout).contains("Passkeys go on signing in"));
    show(&mut Browser::default(), &server, "/login", &mut passkey).await;
    let removed = command(&data, &format!("{line} --remove-passkeys"));
    assert!(removed.status.success(), "{}", String::from_utf8_lossy(&removed.stderr));
    let page = Browser::default().open(&server, "/login").await;
    assert!(!page.reply().body.contains(SIGN_IN), "{}", page.reply().body);
}
