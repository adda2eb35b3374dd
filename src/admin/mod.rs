//! The command line: what can be asked of the program, and the commands beside
//! `serve`, which is [`app`](crate::app)'s.

pub mod arguments;
pub mod classify;
pub mod questions;
pub mod search;
pub mod stats;
pub mod terminal;
