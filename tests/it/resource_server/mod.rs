//! The resource server from outside: tokens made in the test, requests through
//! the production router, no socket unless the test is about one.

mod guard;
mod hostile;
mod key_url;
mod mcp;
pub(crate) mod minting;
mod streams;
mod tokens;
