//! The MCP server behind the guard, in every revision that is served.

use axum::Router;
use brain_mcp::clock::Clock;
use brain_mcp::entropy::Entropy;
use brain_mcp::mcp::service::McpServer;
use brain_mcp::mcp::toolset::Toolsets;
use brain_mcp::mcp::vaults::Vaults;
use brain_mcp::vault::{self, Vault};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::minting::{Answer, Key, Server, claims_with, good_claims, request, send};

const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
const STATELESS: &str = "2026-07-28";

/// A vault of three pages: ordinary, secret, and no text. It is no repository, so
/// no git is asked.
fn pages() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
    write("heat-pump.md", b"# Heat pump\n\nThe offer of the plumber came on Monday.\n");
    write("salary.private.md", b"# Salary\n\nThe offer of the plumber is secret.\n");
    write("binary.md", b"a\0b");
    folder
}

fn open(folder: &TempDir) -> Vaults {
    let settings = vault::Settings::of(folder.path());
    Vaults::single(Vault::open(settings, Clock::system()).expect("a vault"))
}

/// For tests that read nothing: the folder is gone when they start.
fn serve(server: &Server) -> Router {
    serve_vault(server, open(&pages()))
}

fn serve_vault(server: &Server, vaults: Vaults) -> Router {
    let mcp = McpServer::new(vaults, Toolsets::default(), Entropy::system());
    server.protected.router(mcp.into_http(server.sessions.manager()))
}

/// A client with a token, and with a session in the older revisions.
struct Client<'a> {
    router: &'a Router,
    token: String,
    version: &'static str,
    session: Option<String>,
}

impl<'a> Client<'a> {
    async fn open(router: &'a Router, token: String, version: &'static str) -> (Self, Value) {
        let mut client = Self { router, token, version, session: None };
        let hello = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = client.post("initialize", hello).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        client.session = Some(answer.header("mcp-session-id").to_owned());
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.send("POST", &done.to_string()).await.status, 202);
        (client, answer.message()["result"].take())
    }

    fn stateless(router: &'a Router, token: String) -> Self {
        Self { router, token, version: STATELESS, session: None }
    }

    /// Asks and returns the result, or the error.
    async fn ask(&self, method: &str, params: Value) -> Value {
        let mut message = self.post(method, params).await.message();
        if message["result"].is_null() { message["error"].take() } else { message["result"].take() }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    async fn post(&self, method: &str, mut params: Value) -> Answer {
        if self.version == STATELESS {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.send("POST", &body.to_string()).await
    }

    async fn send(&self, method: &str, body: &str) -> Answer {
        send(self.router, self.request(method, body)).await
    }

    fn request(&self, method: &str, body: &str) -> axum::extract::Request {
        let mut request = request(method, Some(&self.token), body.to_owned());
        let headers = request.headers_mut();
        headers.insert("host", "wiki.example.org".parse().unwrap());
        headers.insert("mcp-protocol-version", self.version.parse().unwrap());
        if let Some(session) = &self.session {
            headers.insert("mcp-session-id", session.parse().unwrap());
        }
        if self.version == STATELESS {
            let body: Value = serde_json::from_str(body).unwrap();
            let method = body["method"].as_str().unwrap();
            headers.insert("mcp-method", method.parse().unwrap());
            let params = &body["params"];
            if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
                headers.insert("mcp-name", name.parse().unwrap());
            }
        }
        request
    }
}

fn owner_token() -> String {
    Key::es256().token(&good_claims())
}

fn check_tools(list: &Value) {
    let tools = list["tools"].as_array().expect("tools");
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).expect("the tool");
    for tool in tools {
        assert!(tool["title"].is_string() && tool["description"].is_string());
        assert!(tool["description"].as_str().unwrap().contains("Example: {"));
        let writes = tool["name"] == "write_inbox_note";
        assert_eq!(tool["annotations"]["readOnlyHint"], !writes);
        assert_eq!(tool["annotations"]["destructiveHint"], false);
        assert_eq!(tool["annotations"]["idempotentHint"], !writes);
        assert_eq!(tool["annotations"]["openWorldHint"], false);
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["outputSchema"]["type"], "object");
        // Some clients refuse a whole server for one nullable argument.
        assert!(!tool["inputSchema"].to_string().contains("null"));
        assert_eq!(tool["inputSchema"]["properties"]["vault"]["type"], "string");
    }
    assert_eq!(tool("search")["inputSchema"]["required"], json!(["query"]));
    assert_eq!(tool("read_page")["inputSchema"]["required"], json!(["path"]));
    let write = &tool("write_inbox_note")["inputSchema"];
    assert_eq!(write["required"], json!(["content"]));
    let modes = &write["properties"]["mode"];
    assert_eq!(modes["enum"], json!(["create", "append"]), "{modes}");
}

#[tokio::test]
async fn the_older_revisions_have_sessions() {
    let server = Server::embedded();
    let router = serve(&server);
    for version in LEGACY {
        let (client, hello) = Client::open(&router, owner_token(), version).await;
        assert_eq!(hello["protocolVersion"], version);
        assert_eq!(hello["serverInfo"]["name"], "brain-mcp");
        let expected = json!({ "subscribe": true, "listChanged": true });
        assert_eq!(hello["capabilities"]["resources"], expected);
        assert_eq!(hello["capabilities"]["tools"], json!({}), "the catalogue never changes");
        check_tools(&client.ask("tools/list", json!({})).await);
        assert_eq!(client.ask("ping", json!({})).await, json!({}));
    }
}

#[tokio::test]
async fn the_newest_revision_has_none() {
    let server = Server::embedded();
    let router = serve(&server);
    let client = Client::stateless(&router, owner_token());
    let discovered = client.ask("server/discover", json!({})).await;
    let expected = json!(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(discovered["supportedVersions"], expected);
    let answer = client.post("tools/list", json!({})).await;
    assert!(answer.header("content-type").starts_with("application/json"));
    assert_eq!(answer.header("mcp-session-id"), "");
    assert_eq!(answer.header("cache-control"), "no-store");
    let list = &answer.json()["result"];
    check_tools(list);
    assert_eq!(list["cacheScope"], "private");
    // B44: a session that the client remembers from before does not matter.
    let stale = Client { session: Some("stale".to_owned()), ..client };
    check_tools(&stale.ask("tools/list", json!({})).await);
}

/// T21: a revision that is not served is negotiated down, never refused.
#[tokio::test]
async fn other_revisions_are_offered_the_newest_with_sessions() {
    let server = Server::embedded();
    let router = serve(&server);
    for version in ["2024-11-05", "2099-01-01"] {
        let hello = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
        let mut request = request("POST", Some(&owner_token()), body.to_string());
        request.headers_mut().insert("mcp-session-id", "stale".parse().unwrap());
        let answer = send(&router, request).await;
        assert_eq!(answer.message()["result"]["protocolVersion"], "2025-11-25", "{version}");
    }
}

/// Catalogues answer in every revision, and what is in none of them is no fault of the
/// server's.
#[tokio::test]
async fn catalogues_answer_properly() {
    let server = Server::embedded();
    let router = serve(&server);
    let (legacy, _) = Client::open(&router, owner_token(), "2025-11-25").await;
    let stateless = Client::stateless(&router, owner_token());
    for client in [&legacy, &stateless] {
        let ask = async |method: &str, params: Value| client.ask(method, params).await;
        let templates = ask("resources/templates/list", json!({})).await;
        assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "vault://notes/{path}");
        let prompts = ask("prompts/list", json!({})).await;
        let prompts = prompts["prompts"].as_array().expect("prompts");
        let names: Vec<_> = prompts.iter().map(|prompt| prompt["name"].as_str()).collect();
        let expected = ["summarize_topic", "recent_activity", "find_connections", "knowledge_gaps"];
        assert_eq!(names, expected.map(Some));
        assert_eq!(prompts[0]["arguments"][0]["required"], true);
        let completion = json!({
            "ref": { "type": "ref/prompt", "name": "none" },
            "argument": { "name": "topic", "value": "a" },
        });
        let completed = ask("completion/complete", completion).await;
        assert_eq!(completed["completion"]["values"], json!([]));
        let days = json!({
            "ref": { "type": "ref/prompt", "name": "recent_activity" },
            "argument": { "name": "days", "value": "3" },
        });
        let completed = ask("completion/complete", days).await;
        assert_eq!(completed["completion"]["values"], json!(["3", "30"]));
        let missing = ask("resources/read", json!({ "uri": "vault://no" })).await;
        let code = if client.session.is_some() { -32002 } else { -32602 };
        assert_eq!(missing["code"], code, "{missing}");
        assert_eq!(ask("prompts/get", json!({ "name": "no" })).await["code"], -32602);
        let without = ask("prompts/get", json!({ "name": "summarize_topic" })).await;
        assert_eq!(without["code"], -32602);
        assert_eq!(client.call("no_such_tool", json!({})).await["code"], -32602);
    }
    let templates = stateless.ask("resources/templates/list", json!({})).await;
    assert_eq!(templates["cacheScope"], "private");
    assert_eq!(stateless.ask("prompts/list", json!({})).await["cacheScope"], "private");
}

/// A session subscribes to what it likes, and learns nothing by that: missing, hidden
/// and foreign are accepted alike.
#[tokio::test]
async fn sessions_subscribe_and_streams_listen() {
    let server = Server::embedded();
    let router = serve(&server);
    let (legacy, _) = Client::open(&router, owner_token(), "2025-11-25").await;
    for uri in [
        "vault://notes/heat-pump.md",
        "vault://notes/salary.private.md",
        "vault://notes/missing.md",
        "vault://tags",
        "file:///etc/passwd",
    ] {
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            assert_eq!(legacy.ask(method, json!({ "uri": uri })).await, json!({}), "{uri}");
        }
    }
    for params in [json!({}), json!({ "uri": 7 }), json!({ "uri": "x".repeat(100_000) })] {
        assert_eq!(legacy.ask("resources/subscribe", params).await["code"], -32602);
    }
    // Without something to read there is nothing to hear of.
    let token = Key::es256().token(&claims_with(json!({ "scope": "wiki:write" })));
    let (writer, _) = Client::open(&router, token, "2025-11-25").await;
    for (method, params) in [
        ("resources/subscribe", json!({ "uri": "vault://tags" })),
        ("resources/read", json!({ "uri": "vault://tags" })),
        ("prompts/get", json!({ "name": "recent_activity" })),
        ("completion/complete", json!({})),
    ] {
        let refused = writer.post(method, params).await;
        assert_eq!(refused.status, 403, "{method}");
        assert!(refused.header("www-authenticate").contains("wiki:read"), "{method}");
    }
    for method in ["resources/templates/list", "prompts/list", "tools/list"] {
        assert_eq!(writer.post(method, json!({})).await.status, 200, "{method}");
    }
}

/// The stream of `subscriptions/listen`: it begins with what was accepted and ends with
/// its grant (Checklist 140).
#[tokio::test(start_paused = true)]
async fn a_listening_stream_ends_with_its_grant() {
    let (server, folder) = (Server::embedded(), pages());
    let router = serve_vault(&server, open(&folder));
    let client = Client::stateless(&router, owner_token());
    let body = json!({
        "jsonrpc": "2.0", "id": "listen-1", "method": "subscriptions/listen",
        "params": {
            "notifications": {
                "toolsListChanged": true,
                "resourcesListChanged": true,
                "resourceSubscriptions": ["vault://notes/heat-pump.md", "file:///etc/passwd"],
            },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let response = router.clone().oneshot(client.request("POST", &body.to_string())).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut stream = response.into_body();
    let mut first = String::new();
    while !first.contains("acknowledged") {
        let frame = stream.frame().await.expect("an event").expect("no error");
        first.push_str(std::str::from_utf8(&frame.into_data().expect("data")).unwrap());
    }
    assert!(first.contains("vault://notes/heat-pump.md"), "{first}");
    assert!(first.contains("\"resourcesListChanged\":true"), "{first}");
    assert!(!first.contains("passwd") && !first.contains("toolsListChanged"), "{first}");
    server.grant.set(None);
    let rest = tokio::time::timeout(std::time::Duration::from_secs(130), stream.collect()).await;
    assert!(rest.expect("it ends").is_ok());
}

/// Design section 6: a session belongs to the subject and client that opened it.
#[tokio::test]
async fn a_foreign_session_does_not_exist() {
    let server = Server::embedded();
    let router = serve(&server);
    let (owner, _) = Client::open(&router, owner_token(), "2025-11-25").await;
    let other = Key::es256().token(&claims_with(json!({ "client_id": "client-2" })));
    let thief = Client { token: other, session: owner.session.clone(), ..owner };
    let lost = Client { token: owner_token(), session: Some("none-such".to_owned()), ..owner };
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    for (method, body) in [("POST", ping), ("POST", cancel), ("GET", ""), ("DELETE", "")] {
        let stolen = thief.send(method, body).await;
        let unknown = lost.send(method, body).await;
        assert_eq!(stolen.status, 404, "{method} {body}");
        assert_eq!((stolen.status, stolen.text), (unknown.status, unknown.text), "{method}");
    }
    // Refreshed: another token of the same client goes on with the session.
    let refreshed = Key::es256().token(&claims_with(json!({ "jti": "token-2", "gen": 2 })));
    let owner = Client { token: refreshed, ..owner };
    assert_eq!(owner.ask("ping", json!({})).await, json!({}));
    assert_eq!(owner.send("DELETE", "").await.status, 204);
    assert_eq!(owner.send("POST", ping).await.status, 404);
}

#[tokio::test]
async fn the_ninth_session_of_a_client_ends_its_first() {
    let server = Server::embedded();
    let router = serve(&server);
    let mut clients = Vec::new();
    let other = Key::es256().token(&claims_with(json!({ "client_id": "client-2" })));
    let (bystander, _) = Client::open(&router, other, "2025-06-18").await;
    for _ in 0..9 {
        clients.push(Client::open(&router, owner_token(), "2025-06-18").await.0);
    }
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(clients[0].send("POST", ping).await.status, 404);
    assert_eq!(clients[1].send("POST", ping).await.status, 200);
    assert_eq!(clients[8].send("POST", ping).await.status, 200);
    assert_eq!(bystander.send("POST", ping).await.status, 200);
    assert_eq!(server.sessions.manager().sessions.read().await.len(), 9);
}

/// B18: proxies must pass the events of a stream on as they come.
#[tokio::test]
async fn an_event_stream_is_not_buffered() {
    let server = Server::embedded();
    let router = serve(&server);
    let (client, _) = Client::open(&router, owner_token(), "2025-11-25").await;
    let response = router.clone().oneshot(client.request("GET", "")).await.unwrap();
    assert_eq!(response.status(), 200);
    let headers = response.headers();
    assert_eq!(headers["content-type"], "text/event-stream");
    assert_eq!(headers["cache-control"], "no-cache");
    assert_eq!(headers["x-accel-buffering"], "no");
}

/// What a model gets wrong it is told in words; nothing is a 5xx.
#[tokio::test]
async fn bad_arguments_are_tool_errors() {
    let (server, folder) = (Server::embedded(), pages());
    let router = serve_vault(&server, open(&folder));
    let (legacy, _) = Client::open(&router, owner_token(), "2025-11-25").await;
    let stateless = Client::stateless(&router, owner_token());
    let rows = [
        ("search", json!({})),
        ("search", json!({ "query": null })),
        ("search", json!({ "query": 7 })),
        ("search", json!({ "query": " \t\n " })),
        ("search", json!({ "query": "a", "limit": "many" })),
        ("search", json!({ "query": "a", "vault": "other" })),
        ("read_page", json!({})),
        ("read_page", json!({ "path": ["a.md"] })),
        ("read_page", json!({ "path": "a.md", "vault": "other" })),
        ("read_page", json!({ "path": "" })),
        ("read_page", json!({ "path": "../../etc/passwd.md" })),
        ("read_page", json!({ "path": "a\u{0}.md" })),
        ("read_page", json!({ "path": "a".repeat(100_000) })),
    ];
    for client in [&legacy, &stateless] {
        for (tool, arguments) in &rows {
            let result = client.call(tool, arguments.clone()).await;
            assert_eq!(result["isError"], true, "{tool} {arguments} {result}");
            let text = result["content"][0]["text"].as_str().expect("words");
            assert!(!text.is_empty() && text.len() < 300, "{tool}: {text}");
            assert!(result["structuredContent"].is_null());
        }
    }
}

/// What can be understood is no fault: numbers in quotes, fractions, out of range.
#[tokio::test]
async fn sloppy_arguments_are_understood() {
    let (server, folder) = (Server::embedded(), pages());
    let router = serve_vault(&server, open(&folder));
    let client = Client::stateless(&router, owner_token());
    for limit in
        [json!("5"), json!(2.7), json!(-1), json!(0), json!(1e300), json!(u64::MAX), json!(null)]
    {
        let arguments = json!({ "query": "plumber", "limit": limit, "vault": null });
        let found = client.call("search", arguments).await;
        let results = found["structuredContent"]["results"].as_array();
        assert_eq!(results.map(Vec::len), Some(1), "{limit}: {found}");
    }
}

#[tokio::test]
async fn search_answers_for_programs_and_for_models() {
    let (server, folder) = (Server::embedded(), pages());
    let router = serve_vault(&server, open(&folder));
    let (legacy, _) = Client::open(&router, owner_token(), "2025-06-18").await;
    let stateless = Client::stateless(&router, owner_token());
    for client in [&legacy, &stateless] {
        let found = client.call("search", json!({ "query": "plumber offer" })).await;
        assert_eq!(found["isError"], false);
        let results = found["structuredContent"]["results"].as_array().expect("results");
        assert_eq!(results.len(), 1, "the secret page is not even counted: {found}");
        assert_eq!(results[0]["path"], "heat-pump.md");
        assert_eq!(results[0]["title"], "Heat pump");
        assert!(results[0]["snippet"].as_str().unwrap().contains("plumber"));
        assert_eq!(results[0].as_object().unwrap().len(), 3);
        assert_eq!(found["structuredContent"].as_object().unwrap().len(), 1);
        let text = found["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("- Heat pump (heat-pump.md)\n  "), "{text}");

        let nothing = client.call("search", json!({ "query": "secret", "limit": 0 })).await;
        assert_eq!(nothing["structuredContent"], json!({ "results": [] }));
        assert_eq!(nothing["content"][0]["text"], "No note matches.");
    }
}

#[tokio::test]
async fn read_page_answers_for_programs_and_for_models() {
    let (server, folder) = (Server::embedded(), pages());
    let router = serve_vault(&server, open(&folder));
    let (client, _) = Client::open(&router, owner_token(), "2025-11-25").await;
    let page = client.call("read_page", json!({ "path": "heat-pump.md" })).await;
    let content = "# Heat pump\n\nThe offer of the plumber came on Monday.\n";
    let expected = json!({ "path": "heat-pump.md", "title": "Heat pump", "content": content });
    assert_eq!(page["structuredContent"], expected);
    assert_eq!(page["isError"], false);
    assert!(page["content"][0]["text"].as_str().unwrap().ends_with(content));
}

/// Design section 5: refused and missing are one answer, byte for byte.
#[tokio::test]
async fn a_hidden_page_is_a_missing_page() {
    let (server, folder) = (Server::embedded(), pages());
    let router = serve_vault(&server, open(&folder));
    let people_only = Key::es256().token(&claims_with(json!({ "scope": "wiki:people" })));
    let everything = Client::stateless(&router, owner_token());
    let little = Client::stateless(&router, people_only);
    let read = async |client: &Client<'_>, path: &str| {
        let params = json!({ "name": "read_page", "arguments": { "path": path } });
        client.post("tools/call", params).await.text
    };
    let missing = read(&everything, "no-such-page.md").await;
    assert!(missing.contains("There is no such page, or it is not open to this client."));
    for path in ["salary.private.md", "", "..", "/etc/passwd", "../x.md", ".git/config", "x.png"] {
        assert_eq!(read(&everything, path).await, missing, "{path}");
    }
    for path in ["heat-pump.md", "binary.md", "salary.private.md", "no-such-page.md"] {
        assert_eq!(read(&little, path).await, missing, "{path}");
    }
    assert!(read(&everything, "binary.md").await.contains("not readable text"));
}

/// Parameters that are none are a fault of the parameters, not of the method.
#[tokio::test]
async fn unreadable_parameters_are_told_from_unknown_methods() {
    let server = Server::embedded();
    let router = serve(&server);
    let (legacy, _) = Client::open(&router, owner_token(), "2025-11-25").await;
    let stateless = Client::stateless(&router, owner_token());
    for client in [&legacy, &stateless] {
        for params in [
            json!({ "name": "search", "arguments": ["a"] }),
            json!({ "name": "search", "arguments": "a" }),
        ] {
            let answer = client.post("tools/call", params).await;
            assert!(!answer.status.is_server_error());
            assert_eq!(answer.message()["error"]["code"], -32602);
        }
        let unknown = client.post("no/such/method", json!({})).await;
        assert!(!unknown.status.is_server_error());
        assert_eq!(unknown.message()["error"]["code"], -32601);
    }
    let read = legacy.ask("resources/read", json!({ "uri": 7 })).await;
    assert_eq!(read["code"], -32602);
    // Each way to subscribe is a method of its own revisions only.
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        assert_eq!(legacy.ask(method, json!({})).await["code"], -32602, "{method}");
        for params in [json!({}), json!({ "uri": "vault://tags" })] {
            let unknown = stateless.post(method, params).await;
            assert_eq!(unknown.status, 404, "{method}");
            assert_eq!(unknown.message()["error"]["code"], -32601, "{method}");
        }
    }
    let listen = legacy.ask("subscriptions/listen", json!({ "notifications": {} })).await;
    assert_eq!(listen["code"], -32601, "{listen}");
}

/// The reading tools need something to read with (B47).
#[tokio::test]
async fn a_token_without_scopes_may_look_at_the_catalogue_only() {
    let server = Server::embedded();
    let router = serve(&server);
    let token = Key::es256().token(&claims_with(json!({ "scope": "" })));
    let (client, _) = Client::open(&router, token, "2025-11-25").await;
    check_tools(&client.ask("tools/list", json!({})).await);
    let call = client.post("tools/call", json!({ "name": "search", "arguments": {} })).await;
    assert_eq!(call.status, 403);
    assert!(call.header("www-authenticate").contains("scope=\"wiki:read\""));
}

#[tokio::test]
async fn headers_that_disagree_with_the_body_are_refused() {
    let server = Server::embedded();
    let router = serve(&server);
    let client = Client::stateless(&router, owner_token());
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "search", "arguments": {}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientCapabilities": {},
        } },
    });
    let mut request = client.request("POST", &body.to_string());
    request.headers_mut().insert("mcp-name", "read_page".parse().unwrap());
    let answer = send(&router, request).await;
    assert_eq!((answer.status.as_u16(), &answer.json()["error"]["code"]), (400, &json!(-32020)));
}
