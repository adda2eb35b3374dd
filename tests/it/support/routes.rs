//! Every route of the server, by what it takes to get in.

use super::site::Site;

/// What a route asks of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// A bearer token.
    Token,
    /// A registered client; answers in JSON.
    Client,
    /// A browser session, or a form that makes one; answers in pages.
    Session,
    /// Nothing: a document for programs, in JSON.
    Document,
    /// Nothing: what everybody may see, the same for all.
    Open,
}

/// The table. A test compares it with the router: a new route is a line here, and is
/// tried without a token and with malformed input by that.
pub const ROUTES: [(&str, Door); 24] = [
    ("/mcp", Door::Token),
    ("/mcp/", Door::Token),
    ("/register", Door::Client),
    ("/token", Door::Client),
    ("/revoke", Door::Client),
    ("/authorize", Door::Session),
    ("/login", Door::Session),
    ("/consent", Door::Session),
    ("/setup", Door::Session),
    ("/logout", Door::Session),
    ("/account", Door::Session),
    ("/account/passkeys", Door::Session),
    ("/jwks", Door::Document),
    ("/health", Door::Document),
    ("/.well-known/oauth-authorization-server", Door::Document),
    ("/.well-known/oauth-authorization-server/mcp", Door::Document),
    ("/.well-known/oauth-protected-resource", Door::Document),
    ("/.well-known/oauth-protected-resource/mcp", Door::Document),
    ("/.well-known/oauth-protected-resource/mcp/", Door::Document),
    ("/mcp/.well-known/oauth-protected-resource", Door::Document),
    ("/", Door::Open),
    ("/assets/style.css", Door::Open),
    ("/assets/icon.svg", Door::Open),
    ("/assets/passkey.js", Door::Open),
];

/// The paths of all routes with this door.
pub fn routes_with(door: Door) -> impl Iterator<Item = &'static str> {
    ROUTES.into_iter().filter(move |(_, other)| *other == door).map(|(path, _)| path)
}

/// The paths that the router really has, sorted.
#[track_caller]
pub fn paths_of(site: &Site) -> Vec<String> {
    // axum tells its routes nowhere else. Should it stop telling them here, nothing is
    // found, and the comparison fails.
    let shown = format!("{:?}", site.router());
    let paths = shown.split("paths: {").nth(1).unwrap_or_default();
    let paths = paths.split('}').next().unwrap_or_default();
    let mut paths: Vec<String> = paths.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    paths.sort();
    paths
}
