//! Request body → one JSON-RPC message.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// One message, checked to be JSON-RPC 2.0. What lies behind the guard gets this
/// message written out again and not the bytes that came: two parsers could read
/// a body with a doubled key differently, and only one of them was asked.
#[derive(Debug)]
pub(super) struct Message(Map<String, Value>);

/// Why a body is no message, with the code of JSON-RPC 2.0 section 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    /// Not JSON at all.
    NotJson,
    /// JSON, but not a request, notification or response.
    NotJsonRpc,
    /// An array. Only revision 2025-03-26 had batches, and no client sends them.
    Batch,
    /// More than the guard reads.
    TooLarge,
}

impl Message {
    /// Reads a body.
    pub(super) fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let value: Value = serde_json::from_slice(body).map_err(|_| Malformed::NotJson)?;
        let mut message = match value {
            Value::Object(message) => message,
            Value::Array(_) => return Err(Malformed::Batch),
            _ => return Err(Malformed::NotJsonRpc),
        };
        if message.get("params").is_some_and(Value::is_null) {
            message.remove("params");
        }
        let message = Self(message);
        if message.is_well_formed() { Ok(message) } else { Err(Malformed::NotJsonRpc) }
    }

    /// The method, unless this is a response.
    pub(super) fn method(&self) -> Option<&str> {
        self.0.get("method").and_then(Value::as_str)
    }

    /// The id, if an answer is expected or given.
    pub(super) fn id(&self) -> Option<&Value> {
        self.0.get("id")
    }

    /// Whether an answer is expected.
    pub(super) fn is_request(&self) -> bool {
        self.method().is_some() && self.0.contains_key("id")
    }

    /// A parameter that is a text.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.0.get("params")?.get(name)?.as_str()
    }

    /// The message as JSON text.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        Value::Object(self.0).to_string().into_bytes()
    }

    fn is_well_formed(&self) -> bool {
        let message = &self.0;
        // MCP narrows JSON-RPC: an id is a text or a whole number, never null, and
        // parameters have names.
        let id_fits = message.get("id").is_none_or(|id| id.is_string() || id.is_i64());
        let parameters_fit = message.get("params").is_none_or(Value::is_object);
        let shape_fits = match message.get("method") {
            Some(method) => {
                method.is_string()
                    && !message.contains_key("result")
                    && !message.contains_key("error")
            }
            None => {
                message.contains_key("id")
                    && message.contains_key("result") != message.contains_key("error")
            }
        };
        message.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
            && id_fits
            && parameters_fit
            && shape_fits
    }
}

impl IntoResponse for Malformed {
    fn into_response(self) -> Response {
        let (status, code, text) = match self {
            Self::NotJson => (StatusCode::BAD_REQUEST, -32700, "The body is not JSON."),
            Self::NotJsonRpc => {
                (StatusCode::BAD_REQUEST, -32600, "The body is not a JSON-RPC 2.0 message.")
            }
            Self::Batch => (StatusCode::BAD_REQUEST, -32600, "Batches are not supported."),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, -32600, "The body is too large."),
        };
        let body = json!({
            "jsonrpc": "2.0",
            "id": null,
            "error": { "code": code, "message": text },
        });
        (status, Json(body)).into_response()
    }
}
