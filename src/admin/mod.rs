//! The command line: what can be asked of the program, and the commands that are
//! not `serve`.

pub mod arguments;
pub mod classify;
pub mod serve;
