//! Numbers for the operator: what is counted, and how it is told to Prometheus.
//!
//! Whoever counts adds to an atomic and waits for nobody. Each part of the server counts
//! its own and tells it here when it is asked; only the application knows all of them.
//!
//! # Invariants
//!
//! - A label is the name of an enum's variant. No text of a request, of a page or of the
//!   configuration ever becomes one, so there are as many series on the first day as in a
//!   year, whoever comes.
//! - What is told here goes to the operator's own listener. No answer to a client depends
//!   on it.

mod exposition;
mod histogram;
mod tally;

pub use exposition::{Exposition, Kind};
pub use histogram::Histogram;
pub(crate) use tally::labels;
pub use tally::{Label, Tally};
