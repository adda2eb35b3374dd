//! Other people's vaults, where they are at hand: each subset of the read scopes sees
//! exactly its pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use brain_mcp::access::path::VaultPath;

use crate::support::{Browser, McpClient, OAuthClient, TestApp, VaultBuilder};

const READING: [&str; 3] = ["wiki:read", "wiki:confidential", "wiki:people"];

/// Every so many pages are read; all of them would take minutes.
const STRIDE: usize = 37;

#[tokio::test]
async fn til_is_seen_exactly_by_scope() {
    check("til", "git", "python", "git").await;
}

#[tokio::test]
async fn obsidian_hub_is_seen_exactly_by_scope() {
    let (confidential, people) = ("01 - Community", "04 - Guides, Workflows, & Courses");
    check("obsidian-hub", confidential, people, "obsidian").await;
}

/// Serves a vault in which one folder is encrypted and another holds people.
async fn check(name: &str, confidential: &str, people: &str, query: &str) {
    let archive =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../shared/data/vaults/{name}.tar.xz"));
    if !archive.exists() {
        println!("skipped: {name} is not beside this checkout");
        return;
    }
    let vault = VaultBuilder::plain(&[(
        ".gitattributes",
        &format!("\"{confidential}/**\" filter=git-crypt\nwiki/people/** filter=git-crypt\n"),
    )]);
    let unpacked =
        Command::new("tar").arg("-xJf").arg(&archive).arg("-C").arg(vault.root()).status().unwrap();
    assert!(unpacked.success());
    fs::create_dir_all(vault.root().join("wiki")).unwrap();
    fs::rename(vault.root().join(people), vault.root().join("wiki/people")).unwrap();
    vault.run_git(&["init", "-q", "-b", "main"]);
    vault.commit();

    let mut scope_of = BTreeMap::new();
    for path in pages(vault.root()) {
        let scope = if path.starts_with(&format!("{confidential}/")) {
            "wiki:confidential"
        } else if path.starts_with("wiki/people/") {
            "wiki:people"
        } else {
            "wiki:read"
        };
        scope_of.insert(path, scope);
    }
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, name).await;
    let mut browser = Browser::signed_in(&app).await;
    for subset in 0..8_usize {
        let reading = (0..3).filter(|bit| subset & (1 << bit) != 0).map(|bit| READING[bit]);
        let scopes: Vec<&str> = reading.chain(["wiki:write"]).collect();
        let code = client.consent(&app, &mut browser, &scopes).await;
        let answer = client.exchange(&app, &code).await.json();
        let mcp = McpClient::with_token(answer["access_token"].as_str().unwrap());
        if subset == 0 {
            let refused = mcp.tool(&app, "search", serde_json::json!({ "query": query })).await;
            assert_eq!(refused.status, 403, "no read scope, no answer");
            continue;
        }
        let hits = mcp.search(&app, query).await;
        assert!(!hits.is_empty(), "{scopes:?}");
        for hit in &hits {
            assert!(scopes.contains(&scope_of[hit]), "{scopes:?}: {hit}");
        }
        for (path, scope) in scope_of.iter().skip(subset).step_by(STRIDE) {
            let opened = mcp.read_page(&app, path).await.is_ok();
            assert_eq!(opened, scopes.contains(scope), "{scopes:?}: {path}");
        }
    }
    println!("{name}: {} pages", scope_of.len());
}

/// The pages of a folder as the design has them: no hidden files or folders.
fn pages(root: &Path) -> Vec<String> {
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.starts_with('.') {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if VaultPath::is_page_name(name) {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}
