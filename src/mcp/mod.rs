//! The MCP server: what a language model sees of the vault.
//!
//! A tool names a [`Viewer`](crate::access::permit::Viewer) in its arguments and
//! gets one only for a request that the guard has let through. From there it asks
//! the vault, which answers for this viewer alone, and puts the answer into words.
//! No tool knows a scope or a file.
//!
//! # Reading order
//!
//! [`vaults`], `caller`, `tools` and what they share (`lenient`, `cursor`, `section`,
//! `render`), `resources`, `prompts`, `completion`, `subscriptions`, [`service`].

mod budget;
mod caller;
mod completion;
mod contain;
mod cursor;
mod lenient;
mod prompts;
mod render;
mod resources;
mod schema;
mod section;
pub mod service;
mod subscriptions;
mod tools;
pub mod toolset;
mod uri;
pub mod vaults;

#[cfg(test)]
mod tests;
