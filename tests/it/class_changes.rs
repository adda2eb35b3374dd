//! Rules come and go while clients ask: nothing that was written under a rule comes out.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use brain_mcp::mcp::toolset::Toolset;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::support::{McpClient, OAuthClient, Question, TestApp, Topics, VaultBuilder, questions};

const OPEN: &str = "# no rules\n";
const CLOSED: &str = "notes/** filter=git-crypt diff=git-crypt\n";
const ROUNDS: usize = 200;
const CLIENTS: usize = 4;

/// In everything that is written while the rule stands, and in no question.
const CANARY: &str = "swordfish";

const HARMLESS: &str = "---\ntags: [harmless]\n---\n# Plan\n\nharmless word [[other]]\n";

fn secret(round: usize) -> String {
    format!(
        "---\ntags: [harmless, swordfish{round}]\naliases: [swordfish]\n---\n# Plan swordfish{round}\n\n\
         harmless word swordfish [[other#swordfish]]\n\n## swordfish\n"
    )
}

struct Scene {
    app: Arc<TestApp>,
    vault: VaultBuilder,
    mcp: McpClient,
}

impl Scene {
    async fn new() -> Self {
        let vault = VaultBuilder::git(&[
            (".gitattributes", OPEN),
            ("notes/plan.md", HARMLESS),
            ("other.md", "# Other\n\nharmless word [[plan]] #harmless\n"),
            ("third.md", "# Third\n\nharmless [[other]]\n"),
        ]);
        let app = TestApp::with(vault.root(), |configuration| {
            configuration.toolsets = Toolset::ALL.into_iter().collect();
            configuration.lifetimes.access_token = Duration::from_secs(864_000);
        })
        .await;
        let client = OAuthClient::registered(&app, "reader").await;
        let mcp = McpClient::with_token(&client.tokens(&app, &["wiki:read"]).await.access);
        Self { app: Arc::new(app), vault, mcp }
    }

    fn close(&self) {
        self.vault.write(".gitattributes", CLOSED);
    }

    /// A class is lowered only by two looks that are some seconds apart.
    async fn open(&self) {
        self.vault.write(".gitattributes", OPEN);
        for _ in 0..2 {
            let _look = self.mcp.read_page(&self.app, "notes/plan.md").await;
            self.app.clock.advance(Duration::from_secs(4));
        }
    }
}

/// Issue 3: 200 times a folder goes in and out of a rule, while four clients ask
/// everything there is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_written_under_a_rule_comes_out() {
    let scene = Scene::new().await;
    let paths: BTreeSet<String> =
        ["notes/plan.md", "notes/new.md", "other.md", "third.md"].map(str::to_owned).into();
    let topics = Topics {
        paths: &paths,
        queries: &["harmless word", "plan", "after:1d", "-nothing", "hramless"],
        folders: &["", "notes"],
        tags: &["harmless", ""],
    };
    let asked = Arc::new(questions(&topics));
    let (is_over, answers) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..CLIENTS {
        let (app, mcp, asked) = (Arc::clone(&scene.app), scene.mcp.clone(), Arc::clone(&asked));
        let (is_over, answers) = (Arc::clone(&is_over), Arc::clone(&answers));
        clients.spawn(async move {
            let mut cursor: Option<String> = None;
            for question in asked.iter().cycle().skip(number * asked.len() / CLIENTS) {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let question = match cursor.take() {
                    // The cursor of another list, too: it is refused.
                    Some(cursor) => question.after(&cursor),
                    None => question.clone(),
                };
                let body = ask(&app, &mcp, &question).await;
                assert!(!body.contains(CANARY), "{question:?}: {body}");
                if let Some(next) = next_cursor(&body) {
                    let body = ask(&app, &mcp, &question.after(&next)).await;
                    assert!(!body.contains(CANARY), "{question:?}: {body}");
                    cursor = Some(next);
                }
                answers.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    for round in 0..ROUNDS {
        scene.close();
        scene.vault.write("notes/plan.md", &secret(round));
        scene.vault.write("notes/new.md", &secret(round));
        tokio::time::sleep(Duration::from_millis(round as u64 % 17)).await;
        scene.vault.write("notes/plan.md", HARMLESS);
        fs::remove_file(scene.vault.root().join("notes/new.md")).unwrap();
        scene.open().await;
        assert!(clients.try_join_next().is_none(), "a client has ended");
    }
    is_over.store(true, Ordering::Relaxed);
    while let Some(ended) = clients.join_next().await {
        ended.unwrap();
    }
    println!("{} answers", answers.load(Ordering::Relaxed));
    assert!(answers.load(Ordering::Relaxed) > ROUNDS);
    let page = scene.mcp.read_page(&scene.app, "notes/plan.md").await;
    assert_eq!(page.as_deref(), Ok(HARMLESS), "open again");
}

async fn ask(app: &TestApp, mcp: &McpClient, question: &Question) -> String {
    let Question { method, name, params } = question;
    mcp.request(app, method, name, params.clone()).await.body
}

fn next_cursor(body: &str) -> Option<String> {
    let json: Value = serde_json::from_str(body).ok()?;
    let result = &json["result"];
    let cursors = [&result["nextCursor"], &result["structuredContent"]["next_cursor"]];
    cursors.into_iter().find_map(Value::as_str).map(str::to_owned)
}

/// Who may not see a page is told nothing of it, not even that there is news.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_page_has_no_news() {
    let scene = Scene::new().await;
    scene.close();
    assert!(scene.mcp.read_page(&scene.app, "notes/plan.md").await.is_err());
    let mut stream = Stream::open(&scene).await;
    // What may be seen is told of, so the stream works.
    scene.vault.write("other.md", "# Other\n\nnews\n");
    stream.wait_for("other.md").await;
    stream.quiet().await;
    for round in 0..5 {
        scene.vault.write("notes/plan.md", &secret(round));
        scene.vault.write("notes/new.md", &secret(round));
        scene.vault.write(&format!("notes/deep{round}/new.md"), "swordfish");
        scene.vault.write("x.private.md", &secret(round));
        tokio::time::sleep(Duration::from_millis(150)).await;
        fs::remove_file(scene.vault.root().join("notes/new.md")).unwrap();
        scene.mcp.search(&scene.app, "harmless").await;
    }
    // Flooded with more than anybody keeps.
    for number in 0..300 {
        scene.vault.write("notes/plan.md", &format!("{number}"));
        scene.mcp.search(&scene.app, "harmless").await;
    }
    let news = stream.quiet().await;
    assert_eq!(news, "", "news of what is hidden");
    // Nothing is told of an open page for being looked at again, either.
    scene.vault.write("other.md", "# Other\n\nmore news\n");
    stream.wait_for("other.md").await;
}

/// An open `subscriptions/listen`.
struct Stream(Body);

impl Stream {
    async fn open(scene: &Scene) -> Self {
        let uris = [
            "vault://tags",
            "vault://recent",
            "vault://notes/notes/plan.md",
            "vault://notes/notes/new.md",
            "vault://notes/other.md",
        ];
        let params = json!({
            "notifications": { "resourcesListChanged": true, "resourceSubscriptions": uris },
        });
        let mut request = scene.mcp.prepared("subscriptions/listen", "", params);
        request.headers_mut().insert("host", "127.0.0.1:8090".parse().unwrap());
        let response = scene.app.router().clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        let mut stream = Self(response.into_body());
        stream.wait_for("acknowledged").await;
        stream
    }

    /// Reads until something is told of that.
    async fn wait_for(&mut self, what: &str) {
        for _ in 0..50 {
            let next = tokio::time::timeout(Duration::from_secs(5), self.0.frame()).await;
            let frame = next.expect("some news").expect("it goes on").unwrap();
            if String::from_utf8_lossy(frame.data_ref().unwrap()).contains(what) {
                return;
            }
        }
        panic!("no news of {what}");
    }

    /// All that is told until it is quiet for half a second, without comments.
    async fn quiet(&mut self) -> String {
        let mut told = String::new();
        let pause = Duration::from_millis(500);
        while let Ok(Some(frame)) = tokio::time::timeout(pause, self.0.frame()).await {
            let frame = frame.unwrap();
            told.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap()));
        }
        told.lines().filter(|line| line.starts_with("data: {")).collect()
    }
}
