//! `write_inbox_note` through the whole server: who may write, what comes of it, and
//! that nothing else ever changes the vault.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use brain_mcp::configuration::People;
use serde_json::{Value, json};

use crate::support::{Browser, McpClient, OAuthClient, Process, Site, TestApp, VaultBuilder};

const TOOL: &str = "write_inbox_note";

async fn serving(vault: &VaultBuilder) -> TestApp {
    let people =
        People::SingleOwner { vault: vault.root().to_owned(), inbox: Some("inbox".to_owned()) };
    TestApp::with(vault.root(), |configuration| configuration.people = people).await
}

async fn client(site: &Site, scopes: &[&str]) -> McpClient {
    let client = OAuthClient::registered(site, "writer").await;
    McpClient::with_token(&client.tokens(site, scopes).await.access)
}

async fn write(mcp: &McpClient, site: &Site, arguments: Value) -> Value {
    let reply = mcp.tool(site, TOOL, arguments).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.json()["result"].take()
}

#[track_caller]
fn words(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().expect("words")
}

/// Design section 6: what is written is told, and can be read by the next request.
#[tokio::test]
async fn a_client_writes_reads_and_appends() {
    let vault = VaultBuilder::git(&[("a.md", "# A\n")]);
    let app = serving(&vault).await;
    let mcp = client(&app, &["wiki:read", "wiki:write"]).await;

    let result = write(&mcp, &app, json!({ "title": "Öl & Gas?", "content": "Dear." })).await;
    let written = &result["structuredContent"];
    assert_eq!(written["path"], "inbox/Öl & Gas-.md", "{result}");
    assert_eq!(written["action"], "created");
    assert_eq!(written["readable"], true);
    assert_eq!(written["bytes_written"], written["size"]);
    let text = "# Öl & Gas?\n\nDear.\n";
    assert_eq!(written["size"], text.len());
    assert_eq!(mcp.read_page(&app, "inbox/Öl & Gas-.md").await.as_deref(), Ok(text));
    assert_eq!(result["content"][0]["text"], "Created inbox/Öl & Gas-.md (20 bytes).");
    let link = &result["content"][1];
    assert_eq!(link["type"], "resource_link");
    assert_eq!(link["uri"], "vault://notes/inbox/%C3%96l%20%26%20Gas-.md");

    let more = json!({ "path": "inbox/Öl & Gas-.md", "mode": "append", "content": "Dearer." });
    let result = write(&mcp, &app, more).await;
    assert_eq!(result["structuredContent"]["action"], "appended");
    assert_ne!(result["structuredContent"]["etag"], written["etag"]);
    let text = mcp.read_page(&app, "inbox/Öl & Gas-.md").await.expect("a page");
    assert!(text.ends_with("Dear.\nDearer.\n"), "{text}");

    // It never overwrites.
    let again = json!({ "path": "inbox/öl & gas-.md", "content": "x" });
    assert!(words(&write(&mcp, &app, again).await).contains("taken"));
    assert_eq!(mcp.read_page(&app, "inbox/Öl & Gas-.md").await, Ok(text));
}

/// Design section 6, B46, B47: without `wiki:write` the answer is a 403 that says what to
/// ask for; with it and without an inbox, a plain sentence.
#[tokio::test]
async fn writing_is_asked_for_by_a_challenge() {
    let vault = VaultBuilder::plain(&[("a.md", "text")]);
    let app = serving(&vault).await;
    let mcp = client(&app, &["wiki:read"]).await;
    for arguments in [json!({ "title": "x", "content": "x" }), json!({ "path": "a.md" })] {
        let reply = mcp.tool(&app, TOOL, arguments).await;
        assert_eq!(reply.status, 403);
        let challenge = reply.header("www-authenticate");
        assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
        assert!(challenge.contains("scope=\"wiki:read wiki:write\""), "{challenge}");
    }
    let app = TestApp::serving(vault.root()).await;
    let mcp = client(&app, &["wiki:read", "wiki:write"]).await;
    let result = write(&mcp, &app, json!({ "title": "x", "content": "x" })).await;
    assert!(words(&result).contains("no inbox"), "{result}");
    assert!(!vault.root().join("inbox").exists());
}

/// L46: what is outside is one answer, byte for byte, whether or not it is there.
#[tokio::test]
async fn every_path_outside_gets_the_same_bytes() {
    let vault = VaultBuilder::git(&[
        (".gitattributes", "closed/** filter=git-crypt\n"),
        ("open/a.md", "text"),
        ("closed/b.md", "text"),
        ("c.private.md", "text"),
    ]);
    let app = serving(&vault).await;
    let mcp = client(&app, &["wiki:read", "wiki:write"]).await;
    let refused = mcp.tool(&app, TOOL, json!({ "path": "missing.md", "content": "x" })).await.body;
    for path in ["open/a.md", "closed/b.md", "closed/x.md", "c.private.md", "../a.md", "/etc/x"] {
        for mode in ["create", "append"] {
            let arguments = json!({ "path": path, "content": "x", "mode": mode });
            assert_eq!(mcp.tool(&app, TOOL, arguments).await.body, refused, "{path}");
        }
    }
}

/// Whatever the arguments are, there is an answer, and nothing is written that was not
/// meant so.
#[tokio::test]
async fn bad_arguments_are_answered() {
    let vault = VaultBuilder::plain(&[("a.md", "text")]);
    let app = serving(&vault).await;
    let mcp = client(&app, &["wiki:read", "wiki:write"]).await;
    let long = "x/".repeat(5_000);
    for arguments in [
        json!({}),
        json!({ "content": "x" }),
        json!({ "title": "x" }),
        json!({ "title": " ", "content": "x" }),
        json!({ "title": "x", "content": "" }),
        json!({ "title": "x", "content": "a\u{0}b" }),
        json!({ "title": "x", "content": 7 }),
        json!({ "title": 7, "content": "x" }),
        json!({ "title": "x", "content": "x", "mode": "overwrite" }),
        json!({ "title": "x", "content": "x", "vault": "nobody's" }),
        json!({ "path": "..", "content": "x" }),
        json!({ "path": "inbox", "content": "x" }),
        json!({ "path": "inbox/", "content": "x" }),
        json!({ "path": "inbox/../a", "content": "x" }),
        json!({ "path": format!("inbox/{long}a.md"), "content": "x" }),
        json!({ "path": "inbox/a\u{0}.md", "content": "x" }),
    ] {
        let reply = mcp.tool(&app, TOOL, arguments.clone()).await;
        assert_eq!(reply.status, 200, "{arguments}");
        let answer = reply.json();
        let is_refused = !answer["error"].is_null() || answer["result"]["isError"] == true;
        assert!(is_refused, "{arguments}: {answer}");
    }
    assert!(!vault.root().join("inbox").exists());
}

/// Build 8: the server changes no file except by writing into the inbox. Every tool
/// runs, every resource and prompt is asked for, and writes fail in every way.
#[tokio::test]
async fn nothing_else_changes_the_vault() {
    let vault = VaultBuilder::git(&[
        (".gitattributes", "closed/** filter=git-crypt\ninbox/closed/** filter=git-crypt\n"),
        ("open/a.md", "# A\n\nalpha #tag [[b]]\n"),
        ("closed/b.md", "# B\n\nalpha\n"),
        ("c.private.md", "alpha\n"),
        ("inbox/taken.md", "alpha\r\n"),
        ("inbox/closed/x.md", "alpha\n"),
    ]);
    let app = serving(&vault).await;
    let all = client(&app, &["wiki:read", "wiki:confidential", "wiki:people", "wiki:write"]).await;
    let some = client(&app, &["wiki:read", "wiki:write"]).await;
    let before = state(vault.root());
    for mcp in [&all, &some] {
        let list = mcp.request(&app, "tools/list", "", json!({})).await.json();
        for tool in list["result"]["tools"].as_array().expect("tools") {
            let name = tool["name"].as_str().expect("a name");
            for path in ["open/a.md", "closed/b.md", "c.private.md", "missing.md"] {
                let arguments = json!({
                    "path": path, "query": "alpha", "tag": "tag", "id": path, "title": "",
                    "content": "", "prefix": "",
                });
                mcp.tool(&app, name, arguments).await;
            }
        }
        for uri in ["vault://tags", "vault://recent", "vault://notes/open/a.md", "vault://x"] {
            mcp.request(&app, "resources/read", uri, json!({ "uri": uri })).await;
        }
        for method in ["resources/list", "resources/templates/list", "prompts/list"] {
            mcp.request(&app, method, "", json!({})).await;
        }
        for (path, content) in [
            ("inbox/taken.md", "x"),
            ("inbox/TAKEN.md", "x"),
            ("inbox/taken.md/x.md", "x"),
            ("inbox/new/x.private.md", "x"),
            ("inbox/new/empty.md", " "),
            ("inbox/new/nul.md", "a\0b"),
            ("inbox/closed/x.md", "x"),
            ("inbox/closed/y.md", "x"),
            ("open/a.md", "x"),
            ("../x.md", "x"),
        ] {
            for mode in ["create", "append"] {
                if (path, mode) == ("inbox/taken.md", "append") {
                    continue;
                }
                let arguments = json!({ "path": path, "content": content, "mode": mode });
                let result = write(mcp, &app, arguments).await;
                words(&result);
            }
        }
    }
    assert_eq!(state(vault.root()), before);
    // The comparison can see a write.
    write(&all, &app, json!({ "title": "new", "content": "x" })).await;
    assert_ne!(state(vault.root()), before);
}

/// Each file and folder with its content, mode and times, git's own included.
fn state(folder: &Path) -> BTreeMap<String, (u32, i64, i64, u64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let content = if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else {
            read(&path)
        };
        let facts =
            (metadata.mode(), metadata.mtime(), metadata.mtime_nsec(), metadata.ino(), content);
        found.insert(path.to_str().expect("text").to_owned(), facts);
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "the test looks at the disk")]
fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

/// Issue "disk full on inbox write": a clear message, nothing half written, nothing lost.
#[tokio::test]
async fn a_full_disk_is_told_and_leaves_nothing() {
    let mount = r#"mount -t tmpfs -o size=64k none "$0" && exec "$@""#;
    let under = |inbox: &Path| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "--mount", "sh", "-c", mount]).arg(inbox);
        unshare
    };
    let vault = VaultBuilder::git(&[("a.md", "text"), ("inbox/hidden-by-the-disk.md", "text")]);
    let inbox = vault.root().join("inbox");
    if !under(&inbox).arg("true").status().is_ok_and(|status| status.success()) {
        println!("skipped: no small disk can be mounted here");
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let server = Process::start_under(under(&inbox), vault.root(), &data, Process::free_port());
    let mcp = client(&server, &["wiki:read", "wiki:write"]).await;
    let inside = server.view_of(&inbox);
    let names = || {
        let entries = fs::read_dir(&inside).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };

    let log = json!({ "path": "inbox/log.md", "content": "a".repeat(30_000) });
    assert_eq!(write(&mcp, &server, log).await["structuredContent"]["size"], 30_001);
    let text = mcp.read_page(&server, "inbox/log.md").await.expect("a page");
    for arguments in [
        json!({ "title": "big", "content": "b".repeat(100_000) }),
        json!({ "path": "inbox/new/folder/big.md", "content": "b".repeat(100_000) }),
        json!({ "path": "inbox/log.md", "mode": "append", "content": "b".repeat(20_000) }),
    ] {
        let result = write(&mcp, &server, arguments).await;
        assert_eq!(words(&result), "The disk is full. Nothing was written.");
        assert_eq!(names(), ["log.md"]);
    }
    assert_eq!(mcp.read_page(&server, "inbox/log.md").await, Ok(text));
    // It goes on as soon as there is room, without a restart.
    fs::remove_file(inside.join("log.md")).unwrap();
    let result = write(&mcp, &server, json!({ "title": "small", "content": "b" })).await;
    assert_eq!(result["structuredContent"]["path"], "inbox/small.md");
    assert_eq!(names(), ["small.md"]);
}

/// A server that is killed while it writes leaves whole notes, and the next one tidies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_leaves_whole_notes() {
    let vault = VaultBuilder::plain(&[("a.md", "text"), ("inbox/log.md", "start\n")]);
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let block = format!("{}\n", "b".repeat(200_000));
    let mut acknowledged = 0;
    for round in 0..4_u64 {
        let mut server =
            Process::start_under(Command::new("env"), vault.root(), &data, Process::free_port());
        let mcp = client(&server, &["wiki:read", "wiki:write"]).await;
        let (site, append) = (server.another(), block.clone());
        let writing = tokio::spawn(async move {
            let mut done = 0;
            loop {
                let arguments =
                    json!({ "path": "inbox/log.md", "mode": "append", "content": append });
                let params = json!({ "name": TOOL, "arguments": arguments });
                match mcp.try_request(&site, "tools/call", TOOL, params).await {
                    Some(reply) if reply.json()["result"]["isError"] != true => done += 1,
                    _ => return done,
                }
            }
        });
        tokio::time::sleep(std::time::Duration::from_millis(60 + 37 * round)).await;
        server.kill();
        acknowledged += writing.await.unwrap();
        let text = String::from_utf8(read(&vault.root().join("inbox/log.md"))).unwrap();
        let blocks = text.strip_prefix("start\n").expect("the start");
        assert_eq!(blocks.len() % block.len(), 0);
        let blocks = blocks.len() / block.len();
        assert!(blocks >= acknowledged, "{blocks} of {acknowledged}");
        assert_eq!(text, format!("start\n{}", block.repeat(blocks)));
    }
    let server =
        Process::start_under(Command::new("env"), vault.root(), &data, Process::free_port());
    let mcp = client(&server, &["wiki:read", "wiki:write"]).await;
    write(&mcp, &server, json!({ "title": "last", "content": "x" })).await;
    let names = fs::read_dir(vault.root().join("inbox")).unwrap().count();
    assert_eq!(names, 2);
}

/// Design sections 4 and 5: every scope is offered, and whoever ticks the one for writing is
/// told whether there is anything to write into.
#[tokio::test]
async fn the_consent_page_says_whether_there_is_an_inbox() {
    let vault = VaultBuilder::plain(&[("a.md", "# A\n")]);
    for (app, has_inbox) in
        [(serving(&vault).await, true), (TestApp::serving(vault.root()).await, false)]
    {
        let client = OAuthClient::registered(&app, "writer").await;
        let mut browser = Browser::signed_in(&app).await;
        let page = browser.open(&app, &client.authorize_url(&app, "wiki:read wiki:write")).await;
        let text = &page.reply().body;
        assert!(text.contains("value=\"wiki:write\""), "{text}");
        assert_eq!(text.contains("because you have no inbox"), !has_inbox, "{text}");
        assert_eq!(text.contains("and add to notes there. Nothing else."), has_inbox, "{text}");
    }
}
