//! The command line: what can be asked of the program, and the commands beside
//! `serve`, which is [`app`](crate::app)'s.

pub mod arguments;
pub mod classify;
