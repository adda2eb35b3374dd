//! An MCP client of revision 2026-07-28: one request, one answer.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::site::{Reply, Site};

const REVISION: &str = "2026-07-28";

/// Calls `/mcp` with one access token.
#[derive(Clone, Debug)]
pub struct McpClient {
    token: String,
}

impl McpClient {
    /// A client that holds this access token.
    pub fn with_token(token: &str) -> Self {
        Self { token: token.to_owned() }
    }

    /// Sends a request; `name` is the tool, prompt or resource that it is about.
    pub async fn request(&self, site: &Site, method: &str, name: &str, params: Value) -> Reply {
        self.try_request(site, method, name, params).await.expect("an answer")
    }

    /// The same; nothing if the connection broke.
    pub async fn try_request(
        &self,
        site: &Site,
        method: &str,
        name: &str,
        params: Value,
    ) -> Option<Reply> {
        site.try_send(self.prepared(method, name, params)).await
    }

    /// A request that is not sent yet.
    pub fn prepared(&self, method: &str, name: &str, params: Value) -> Request<Body> {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut request = Request::post("/mcp")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", method)
            .header("authorization", format!("Bearer {}", self.token));
        if !name.is_empty() {
            request = request.header("mcp-name", name);
        }
        request.body(Body::from(body.to_string())).expect("a request")
    }

    /// Calls a tool; the whole answer. Comes again when it is told to: a debug build beside
    /// other tests may read a vault of thousands of notes for longer than a request waits.
    pub async fn tool(&self, site: &Site, name: &str, arguments: Value) -> Reply {
        let params = json!({ "name": name, "arguments": arguments });
        for _ in 0..20 {
            let reply = self.request(site, "tools/call", name, params.clone()).await;
            if !reply.body.contains("That took too long.") {
                return reply;
            }
        }
        panic!("{name} always takes too long")
    }

    /// The text of a page, or the words of the refusal.
    pub async fn read_page(&self, site: &Site, path: &str) -> Result<String, String> {
        let reply = self.tool(site, "read_page", json!({ "path": path })).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        let result = &reply.json()["result"];
        if result["isError"] == true {
            return Err(result["content"][0]["text"].as_str().expect("words").to_owned());
        }
        Ok(result["structuredContent"]["content"].as_str().expect("a text").to_owned())
    }

    /// The paths that a search finds, in order.
    pub async fn search(&self, site: &Site, query: &str) -> Vec<String> {
        let reply = self.tool(site, "search", json!({ "query": query, "limit": 50 })).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        let json = reply.json();
        let hits = json["result"]["structuredContent"]["results"]
            .as_array()
            .unwrap_or_else(|| panic!("no hits: {}", reply.body));
        hits.iter().map(|hit| hit["path"].as_str().expect("a path").to_owned()).collect()
    }
}
