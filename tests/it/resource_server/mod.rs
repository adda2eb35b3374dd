//! The resource server from outside: tokens made in the test, requests through
//! the production router, no socket unless the test is about one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

mod guard;
mod key_url;
mod mcp;
mod minting;
mod streams;
mod tokens;
