//! The resource server from outside: tokens made in the test, requests through
//! the production router, no socket unless the test is about one.

mod guard;
mod key_url;
mod mcp;
mod minting;
mod streams;
mod tokens;
