//! The command line: what can be asked of the program, and the commands beside
//! `serve`, which is [`app`](crate::app)'s.
//!
//! Those about what the authorization server keeps go one way:
//!
//! ```text
//!  orders ─► Request ─► reach ─┬─ admin.sock ─► socket (in the server) ─┬─► desk ─► Reply ─► tables
//!                              └─ no server: the store itself ──────────┘
//! ```

pub mod arguments;
pub mod classify;
mod desk;
pub mod doctor;
pub mod manage;
pub mod orders;
pub mod protocol;
pub mod questions;
pub mod reach;
pub mod search;
pub mod socket;
pub mod stats;
mod tables;
pub mod terminal;
