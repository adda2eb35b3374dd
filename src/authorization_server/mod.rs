//! The authorization server: knows users, clients, grants and keys, and nothing
//! of pages.

pub mod authorization;
pub mod client;
pub mod pkce;
pub mod redirect_uri;
pub mod settings;
