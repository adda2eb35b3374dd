//! An OAuth 2.1 authorization server and an MCP resource server over a folder of
//! Markdown notes, in one process.
//!
//! ```text
//!  browser ─► authorization_server ─► contract ◄─ resource_server ◄─ access ◄─ vault ◄─ mcp ◄─ client
//!              (passwords, grants,     issuer,      bearer → claims   class ×    files,   tools
//!               private keys)          scopes,                        scope      git
//!                                      public keys
//! ```
//!
//! One request to `/mcp`, read from left to right; each arrow is a type that only
//! the step before can make:
//!
//! ```text
//!  Authorization header ─► BearerToken ─► VerifiedToken ─► Viewer ─┐
//!  "work/plan.md" ─► VaultPath ─► ClassifiedPath ──────────────────┴─► ReadPermit ─► Page ─► result
//! ```
//!
//! # Invariants
//!
//! - The two servers share [`contract`] and nothing else. The resource server gets
//!   the public key set as the text that it would get from a URL.
//! - A page's text leaves [`vault`] only against a
//!   [`ReadPermit`](access::permit::ReadPermit), and every question that the vault
//!   answers is asked by a [`Viewer`](access::permit::Viewer).
//! - Absent and forbidden are one answer, in words, in shape and, where we can, in time.
//! - The class of a page is judged when the page is served, by the installed git.
//! - Nothing a client learns of is answered before it is durable.

pub mod access;
pub mod admin;
pub mod app;
pub mod authorization_server;
pub mod clock;
pub mod configuration;
pub mod contract;
pub mod entropy;
pub mod freshness;
pub mod jose;
pub mod mcp;
pub mod metrics;
pub mod peer;
pub mod rates;
pub mod refusals;
pub mod resource_server;
pub mod search;
pub mod telemetry;
#[cfg(test)]
mod trials;
pub mod vault;

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
