//! Notes whose names other servers have stumbled over, and where vaults lie.

use std::collections::BTreeSet;
use std::process::Command;

use brain_mcp::vault::{Settings, Vault};
use serde_json::{Value, json};

use crate::support::{McpClient, OAuthClient, TestApp, VaultBuilder};

/// Names that collapse into one, that are patterns or markup somewhere, that look
/// encoded, or that are not Latin.
const NAMES: [&str; 18] = [
    "my_file",
    "my-file",
    "my file",
    "My File (1)",
    "a#b",
    "q?",
    "100%",
    "%2e%2e",
    "a&b=c",
    "[x]",
    "{",
    "-dash",
    "x.y.z",
    "back\\slash",
    "quo\"te'",
    "🐘",
    "Übung Größe",
    "日本語ノート",
];

/// L43: the path on the disk is the identity of a note, whatever its name: it is found
/// under it, read by it, listed, linked as a resource and completed. Names that look
/// alike are notes of their own.
#[tokio::test]
async fn every_name_is_found_read_and_linked_as_it_is() {
    let vault = VaultBuilder::plain(&[]);
    for (number, name) in NAMES.iter().enumerate() {
        vault.write(&format!("odd/{name}.md"), &format!("# T{number}\n\nnumberword{number}x\n"));
    }
    let app = TestApp::serving(vault.root()).await;
    let client = OAuthClient::registered(&app, "names").await;
    let mcp = McpClient::with_token(&client.tokens(&app, &["wiki:read"]).await.access);
    let call = async |tool: &str, arguments: Value| {
        mcp.tool(&app, tool, arguments).await.json()["result"].take()
    };
    let ask = async |method: &str, name: &str, params: Value| {
        mcp.request(&app, method, name, params).await.json()["result"].take()
    };
    for (number, name) in NAMES.iter().enumerate() {
        let path = format!("odd/{name}.md");
        let found = call("search_notes", json!({ "query": format!("numberword{number}x") })).await;
        assert_eq!(found["structuredContent"]["total"], 1, "{path}");
        assert_eq!(found["structuredContent"]["hits"][0]["path"], path.as_str());
        let read = call("read_note", json!({ "path": path })).await;
        let note = &read["structuredContent"]["notes"][0];
        assert_eq!(note["content"], format!("# T{number}\n\nnumberword{number}x\n"), "{path}");
        let uri = found["content"][1]["uri"].as_str().expect("a link");
        let resource = ask("resources/read", uri, json!({ "uri": uri })).await;
        assert_eq!(resource["contents"][0]["text"], note["content"], "{uri}");
        let params = json!({
            "ref": { "type": "ref/resource", "uri": "vault://notes/{path}" },
            "argument": { "name": "path", "value": path },
        });
        let completed = ask("completion/complete", "", params).await;
        assert_eq!(completed["completion"]["values"][0], path.as_str());
    }
    let listed = call("list_notes", json!({ "folder": "odd" })).await;
    let notes = listed["structuredContent"]["notes"].as_array().expect("notes");
    let paths: BTreeSet<&str> = notes.iter().filter_map(|note| note["path"].as_str()).collect();
    assert_eq!(paths.len(), NAMES.len());
}

/// L48: a vault may lie in a folder with blanks and signs in its name, with git rules.
#[tokio::test]
async fn a_vault_may_lie_anywhere() {
    let outer = VaultBuilder::plain(&[]);
    let root = outer.root().join("my notes (été) #1 %20");
    std::fs::create_dir(&root).expect("a folder");
    let git = Command::new("git").args(["init", "-q"]).current_dir(&root).status();
    assert!(git.expect("git runs").success());
    std::fs::write(root.join(".gitattributes"), "closed/** filter=git-crypt\n").expect("a file");
    for folder in ["open", "closed"] {
        std::fs::create_dir(root.join(folder)).expect("a folder");
        std::fs::write(root.join(folder).join("a note.md"), "tomato\n").expect("a file");
    }
    let app = TestApp::serving(&root).await;
    let client = OAuthClient::registered(&app, "anywhere").await;
    let mcp = McpClient::with_token(&client.tokens(&app, &["wiki:read"]).await.access);
    assert_eq!(mcp.search(&app, "tomato").await, ["open/a note.md"]);
    assert_eq!(mcp.read_page(&app, "open/a note.md").await.as_deref(), Ok("tomato\n"));
}

/// L47: what the program prints is UTF-8, whatever the locale.
#[test]
fn names_are_printed_in_utf8_whatever_the_locale() {
    let vault = VaultBuilder::plain(&[("Übung 日本語 🐘.md", "text")]);
    let output = Command::new(env!("CARGO_BIN_EXE_brain-mcp"))
        .args(["classify", "--vault"])
        .arg(vault.root())
        .env("LC_ALL", "C")
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("Übung 日本語 🐘.md"), "{text}");
}

/// L69: a folder, or notes by their names, can be kept from every client by one line of
/// the vault's own rules.
#[test]
fn an_owner_can_keep_folders_from_every_client() {
    let vault = VaultBuilder::git(&[
        (".gitattributes", "diary/** brain-class=secret\n*.draft.md brain-class=secret\n"),
        ("diary/today.md", "tomato"),
        ("plan.draft.md", "tomato"),
        ("plan.md", "tomato"),
    ]);
    let settings = Settings::of(vault.root());
    let opened = Vault::open(settings, brain_mcp::clock::Clock::system()).expect("a vault");
    let pages = opened.classification().expect("an answer").pages;
    let classes: Vec<String> =
        pages.iter().map(|page| format!("{} {}", page.path, page.served_as)).collect();
    assert_eq!(classes, ["diary/today.md secret", "plan.draft.md secret", "plan.md ordinary"]);
}
