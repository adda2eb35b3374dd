//! The protocol side, without a server around it.

mod arguments;
mod bounds;
mod cursors;
mod rendering;
mod schemas;
mod sections;
mod subscriptions;
mod values;

use std::collections::BTreeMap;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use rmcp::handler::server::router::tool::ToolRoute;
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::access::permit::Viewer;
use crate::clock::Clock;
use crate::contract::scope::ScopeSet;
use crate::entropy::Entropy;
use crate::mcp::contain::{Panicked, contain};
use crate::mcp::service::McpServer;
use crate::mcp::toolset::Toolsets;
use crate::mcp::vaults::{UserVaults, Vaults};
use crate::resource_server::verify::VerifiedToken;
use crate::vault::{self, Vault};

fn open_vault() -> Vault {
    let settings = vault::Settings::of("tests/fixtures");
    Vault::open(settings, Clock::system()).expect("a vault")
}

fn server() -> McpServer {
    McpServer::new(Vaults::single(open_vault()), Toolsets::default(), Entropy::seeded(1))
}

fn viewer(subject: &str) -> Viewer {
    Viewer::of(&VerifiedToken::unsigned(subject, "client", ScopeSet::ALL))
}

#[test]
fn the_single_vault_is_everybodys_and_has_no_name() {
    let vaults = Vaults::single(open_vault());
    assert!(vaults.find(&viewer("anybody"), "").is_ok());
    let error = vaults.find(&viewer("anybody"), "work").expect_err("one vault without a name");
    assert!(error.to_string().ends_with(" Leave vault out."), "{error}");
}

#[test]
fn a_user_finds_only_vaults_of_its_own() {
    let user = |names: [&str; 2]| {
        let default = open_vault();
        let mut named = BTreeMap::from(names.map(|name| (name.to_owned(), open_vault())));
        named.insert("default".to_owned(), default.clone());
        UserVaults { default, named }
    };
    let users = [("ann".to_owned(), user(["home", "work"])), ("bob".to_owned(), user(["a", "b"]))];
    let vaults = Vaults::for_users(users);
    let find = |subject: &str, name: &str| vaults.find(&viewer(subject), name);
    for (subject, name) in [("ann", ""), ("ann", "home"), ("ann", "work"), ("bob", "a")] {
        assert!(find(subject, name).is_ok(), "{subject} {name}");
    }
    assert!(!std::ptr::eq(find("ann", "").unwrap(), find("bob", "").unwrap()));
    let names = |subject: &str| {
        let all = vaults.of(&viewer(subject));
        all.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names("bob"), ["a", "b", "default", ""]);
    assert!(names("eve").is_empty());
    for (subject, name) in [("ann", "a"), ("bob", "home"), ("eve", ""), ("eve", "home")] {
        let error = find(subject, name).expect_err("not its own").to_string();
        let own = if subject == "ann" { "default, home, work." } else { "a, b, default." };
        let told = if subject == "eve" { "Leave vault out." } else { own };
        assert!(error.ends_with(told), "{subject} {name}: {error}");
    }
}

#[tokio::test]
async fn a_panic_is_contained_wherever_it_happens() {
    assert_eq!(contain(async { 1 }).await, Ok(1));
    let at_once = async { panic!("at once") };
    assert_eq!(contain(at_once).await, Err::<(), _>(Panicked));
    let later = async {
        tokio::task::yield_now().await;
        panic!("later")
    };
    assert_eq!(contain(later).await, Err::<(), _>(Panicked));
    let off_thread = crate::mcp::tools::off_thread(|| panic!("on another thread"));
    assert_eq!(contain(off_thread).await, Err::<(), _>(Panicked));
}

/// A stateless request to call a tool, from nobody yet.
fn tool_request(tool: &str, arguments: &Value) -> Request<Body> {
    let message = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": { "name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        } },
    });
    Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .body(Body::from(message.to_string()))
        .unwrap()
}

async fn call(server: McpServer, tool: &str) -> Value {
    let request = tool_request(tool, &json!({ "query": "a" }));
    let response = server.into_http(std::sync::Arc::default()).oneshot(request).await.unwrap();
    let body = to_bytes(Body::new(response.into_body()), usize::MAX).await.unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[tokio::test]
async fn a_panicking_tool_answers() {
    let tool = Tool::new("breaks", "Breaks.", JsonObject::new());
    let route = ToolRoute::new_dyn(tool, |_context| Box::pin(async { panic!("inside a tool") }));
    let server = server().with_tool(route);
    let answer = call(server, "breaks").await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let text = &answer["result"]["content"][0]["text"];
    assert_eq!(text, "The vault is temporarily unavailable. Try again later.");
}

/// L64: a call that never ends is answered all the same.
#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_answers() {
    let tool = Tool::new("hangs", "Hangs.", JsonObject::new());
    let route = ToolRoute::new_dyn(tool, |_context| Box::pin(std::future::pending()));
    let answer = call(server().with_tool(route), "hangs").await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("That took too long."), "{text}");
}

/// Without the guard there is no verified token, and without one no viewer.
#[tokio::test]
async fn without_the_guard_a_tool_does_not_run() {
    let answer = call(server(), "search").await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
}
