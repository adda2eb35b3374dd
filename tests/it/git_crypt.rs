//! A vault with two keys of the real git-crypt, through the whole server: unlocked, half
//! locked, locked. What each caller sees, and what it is told of the rest.

use std::process::Command;
use std::time::Duration;

use axum::http::StatusCode;
use serde_json::json;

use crate::support::{McpClient, OAuthClient, TestApp, VaultBuilder};

const RULES: &str = "\
wiki/people/** filter=git-crypt diff=git-crypt
closed/** filter=git-crypt diff=git-crypt
work/** filter=git-crypt-work diff=git-crypt-work
";

/// The key that a page is encrypted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    None,
    Default,
    Work,
}

/// Every page but the secret one, with the scope that opens it and its key.
const PAGES: [(&str, &str, Key); 4] = [
    ("open.md", "wiki:read", Key::None),
    ("closed/budget.md", "wiki:confidential", Key::Default),
    ("work/plan.md", "wiki:confidential", Key::Work),
    ("wiki/people/ann.md", "wiki:people", Key::Default),
];
const SECRET: &str = "diary.private.md";
const READ_SCOPES: [&str; 3] = ["wiki:read", "wiki:confidential", "wiki:people"];

/// A caller with one of the eight subsets of the read scopes.
struct Caller {
    scopes: Vec<&'static str>,
    mcp: McpClient,
}

/// Issue "Real vault": a token with each of the 8 subsets sees exactly its pages,
/// whatever is locked. `gitattributes.md` rows 1 to 3.
#[tokio::test]
async fn each_caller_sees_its_pages_and_hears_of_locked_ones_only_if_it_may() {
    let Some(vault) = encrypted_vault() else { return };
    let mut app = TestApp::serving(vault.root()).await;
    let callers = callers(&app).await;
    check(&app, &callers, &[]).await;

    git_crypt(&vault, &["lock"]);
    check(&app, &callers, &[Key::Default]).await;

    git_crypt(&vault, &["lock", "--key-name", "work"]);
    check(&app, &callers, &[Key::Default, Key::Work]).await;
    // A server that has never seen the text says the same.
    app = app.restart().await;
    check(&app, &callers, &[Key::Default, Key::Work]).await;

    git_crypt(&vault, &["unlock", ".git/exported/default"]);
    check(&app, &callers, &[Key::Work]).await;
    git_crypt(&vault, &["unlock", ".git/exported/work"]);
    check(&app, &callers, &[]).await;
}

/// Compares what every caller gets with what it should get while `locked` are.
async fn check(app: &TestApp, callers: &[Caller], locked: &[Key]) {
    for Caller { scopes, mcp } in callers {
        let context = format!("{scopes:?} with {locked:?} locked");
        if scopes.is_empty() {
            for (tool, arguments) in [
                ("search", json!({ "query": "tulips" })),
                ("read_page", json!({ "path": "open.md" })),
            ] {
                let refused = mcp.tool(app, tool, arguments).await;
                assert_eq!(refused.status, StatusCode::FORBIDDEN, "{context}");
            }
            continue;
        }
        let missing = mcp.read_page(app, "no/such.md").await.expect_err("no page");
        let mut readable = Vec::new();
        for (path, scope, key) in PAGES {
            let answer = mcp.read_page(app, path).await;
            if !scopes.contains(&scope) {
                assert_eq!(answer, Err(missing.clone()), "{path}, {context}");
            } else if locked.contains(&key) {
                let words = answer.expect_err("a locked page has no text");
                assert!(words.contains("locked"), "{path}, {context}: {words}");
                assert_ne!(words, missing, "{path}, {context}");
            } else {
                let text = answer.unwrap_or_else(|words| panic!("{path}, {context}: {words}"));
                assert_eq!(text, text_of(path), "{path}, {context}");
                readable.push(path);
            }
        }
        assert_eq!(mcp.read_page(app, SECRET).await, Err(missing), "{context}");
        readable.sort_unstable();
        let mut found = Vec::new();
        // git writes its files one by one; what is written is found a moment later.
        for _ in 0..100 {
            found = mcp.search(app, "tulips").await;
            found.sort_unstable();
            if found == readable {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(found, readable, "{context}");
        assert!(mcp.search(app, "GITCRYPT").await.is_empty(), "{context}");
    }
}

/// One caller a subset. `wiki:write` keeps the empty one from being a refusal.
async fn callers(app: &TestApp) -> Vec<Caller> {
    let client = OAuthClient::registered(app, "subsets").await;
    let mut callers = Vec::new();
    for subset in 0..8_usize {
        let scopes: Vec<&'static str> =
            (0..3).filter(|bit| subset & (1 << bit) != 0).map(|bit| READ_SCOPES[bit]).collect();
        let asked = if scopes.is_empty() { vec!["wiki:write"] } else { scopes.clone() };
        let tokens = client.tokens(app, &asked).await;
        assert_eq!(tokens.scope, asked.join(" "));
        callers.push(Caller { scopes, mcp: McpClient::with_token(&tokens.access) });
    }
    callers
}

fn text_of(path: &str) -> String {
    format!("# {path}\n\nTulips in {path}.\n")
}

/// An unlocked repository with two keys, which are exported beside it; or a word about
/// why there is none.
fn encrypted_vault() -> Option<VaultBuilder> {
    if Command::new("git-crypt").arg("--version").output().is_err() {
        assert!(!is_required(), "git-crypt is not installed, and this run must have it");
        eprintln!("skipped: git-crypt is not installed");
        return None;
    }
    let vault = VaultBuilder::plain(&[(".gitattributes", RULES)]);
    vault.run_git(&["init", "-q", "-b", "main"]);
    git_crypt(&vault, &["init"]);
    git_crypt(&vault, &["init", "--key-name", "work"]);
    for path in PAGES.into_iter().map(|(path, ..)| path).chain([SECRET]) {
        vault.write(path, &text_of(path));
    }
    vault.commit();
    vault.write(".git/exported/about", "the keys");
    git_crypt(&vault, &["export-key", ".git/exported/default"]);
    git_crypt(&vault, &["export-key", "--key-name", "work", ".git/exported/work"]);
    Some(vault)
}

#[expect(clippy::disallowed_methods, reason = "the test, not the program, is told so")]
fn is_required() -> bool {
    std::env::var_os("BRAIN_MCP_REQUIRE_GIT_CRYPT").is_some_and(|value| value == "1")
}

fn git_crypt(vault: &VaultBuilder, arguments: &[&str]) {
    let output = Command::new("git-crypt")
        .args(arguments)
        .current_dir(vault.root())
        .output()
        .expect("git-crypt is installed");
    assert!(output.status.success(), "git-crypt {arguments:?}: {output:?}");
}
