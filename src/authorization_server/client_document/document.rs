//! A client metadata document → the client that it describes (CIMD section 4.1).

use serde_json::{Map, Value};

use super::url::DocumentUrl;
use crate::authorization_server::client::{
    ClientAuthentication, ClientId, ClientKeys, RegisteredClient,
};
use crate::authorization_server::client_metadata::{
    InvalidMetadata, is_given, must_allow_codes, presentable, redirect_uris, text,
};
use crate::clock::UnixTime;

/// The longest document that is read, in bytes (CIMD section 6.6).
pub(super) const MAX_BYTES: usize = 5 * 1024;

const MAX_REDIRECT_URIS: usize = 50;
/// The largest that is kept of a document, in bytes: records of the store are to be small.
const MAX_RECORD_BYTES: usize = 3 * 1024;

/// Reads a document that came from `url`. Unknown fields mean nothing, and no other URL
/// in it is ever fetched but that of the keys (checklist #119).
///
/// # Errors
///
/// [`InvalidMetadata`]
pub(super) fn read(
    document: &[u8],
    url: &DocumentUrl,
    now: UnixTime,
) -> Result<RegisteredClient, InvalidMetadata> {
    let Ok(Value::Object(metadata)) = serde_json::from_slice(document) else {
        return Err(InvalidMetadata::Field("it is not a JSON object"));
    };
    // Whoever can place a file on a host must not thereby be any client of it (#109).
    if text(&metadata, "client_id")? != Some(url.as_str()) {
        return Err(InvalidMetadata::Field("its client_id is not its own URL"));
    }
    let name = text(&metadata, "client_name")?.and_then(presentable);
    if name.is_none() {
        return Err(InvalidMetadata::Field("it has no client_name"));
    }
    let redirect_uris = redirect_uris(&metadata, MAX_REDIRECT_URIS)?;
    must_allow_codes(&metadata)?;
    let authentication = authentication(&metadata)?;
    let id = ClientId::presented(url.as_str());
    let client = RegisteredClient { id, name, redirect_uris, authentication, registered_at: now };
    let record = serde_json::to_vec(&client);
    if record.map_or(true, |record| record.len() > MAX_RECORD_BYTES) {
        return Err(InvalidMetadata::Field(
            "it says too much; name fewer redirect URIs, or keys by jwks_uri",
        ));
    }
    Ok(client)
}

/// How the client proves who it is. Deployed documents prefer one method and list
/// several; if `none` is among them, it is enough (oauth-clients B26, checklist #116).
fn authentication(metadata: &Map<String, Value>) -> Result<ClientAuthentication, InvalidMetadata> {
    if is_given(metadata, "client_secret") || metadata.contains_key("client_secret_expires_at") {
        return Err(InvalidMetadata::Field("a public document has a client_secret"));
    }
    let methods = methods(metadata)?;
    if methods.iter().any(|method| method.starts_with("client_secret_")) {
        return Err(InvalidMetadata::Field("it wants a shared secret, which it cannot have"));
    }
    let keys = keys(metadata)?;
    let may_sign = methods.contains(&"private_key_jwt");
    match keys {
        Some(keys) if may_sign && methods.contains(&"none") => {
            Ok(ClientAuthentication::NoneOrPrivateKeyJwt { keys })
        }
        _ if methods.is_empty() || methods.contains(&"none") => Ok(ClientAuthentication::None),
        Some(keys) if may_sign => Ok(ClientAuthentication::PrivateKeyJwt { keys }),
        None if may_sign => Err(InvalidMetadata::Field("private_key_jwt needs jwks or jwks_uri")),
        _ => Err(InvalidMetadata::Field(
            "token_endpoint_auth_method must be none or private_key_jwt",
        )),
    }
}

/// Every method that is named, wherever and in whatever shape.
fn methods(metadata: &Map<String, Value>) -> Result<Vec<&str>, InvalidMetadata> {
    let fields = ["token_endpoint_auth_method", "token_endpoint_auth_methods_supported"];
    let mut methods = Vec::new();
    for value in fields.into_iter().filter_map(|field| metadata.get(field)) {
        let listed = match value {
            Value::Null => &[],
            Value::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        for method in listed {
            let method = method.as_str();
            methods.push(method.ok_or(InvalidMetadata::Field("a method is not a string"))?);
        }
    }
    Ok(methods)
}

fn keys(metadata: &Map<String, Value>) -> Result<Option<ClientKeys>, InvalidMetadata> {
    if let Some(set) = metadata.get("jwks").filter(|set| !set.is_null()) {
        let listed = set.get("keys").and_then(Value::as_array);
        let listed = listed.ok_or(InvalidMetadata::Field("jwks is not a key set"))?;
        // The private members of all key types (RFC 7518 section 6).
        let is_private = |key: &Value| ["d", "p", "q", "k"].iter().any(|m| key.get(m).is_some());
        if listed.iter().any(is_private) {
            return Err(InvalidMetadata::Field("a public document has a private key"));
        }
        if is_given(metadata, "jwks_uri") {
            return Err(InvalidMetadata::Field("jwks and jwks_uri exclude each other"));
        }
        return Ok(Some(ClientKeys::Inline(set.to_string())));
    }
    match text(metadata, "jwks_uri")? {
        None => Ok(None),
        Some(uri) => match DocumentUrl::parse(uri) {
            Ok(url) => Ok(Some(ClientKeys::Url(url.as_str().to_owned()))),
            Err(_) => Err(InvalidMetadata::Field("jwks_uri is not an https URL that is fetched")),
        },
    }
}
