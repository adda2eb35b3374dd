//! What the owner does from the command line.

pub mod classify;
