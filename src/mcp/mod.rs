//! The MCP server: what a language model sees of the vault.
//!
//! A tool names a [`Viewer`](crate::access::permit::Viewer) in its arguments and
//! gets one only for a request that the guard has let through. From there it asks
//! the vault, which answers for this viewer alone, and puts the answer into words.
//! No tool knows a scope, a class or a file.
//!
//! # Reading order
//!
//! [`vaults`], `caller`, `tools`, [`service`].

mod caller;
mod contain;
pub mod service;
mod tools;
pub mod vaults;

#[cfg(test)]
mod tests;
