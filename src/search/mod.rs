//! Finds notes by their words: a leaf that knows neither pages nor permissions.

pub mod analysis;
pub mod index;
pub mod passage;
pub mod query;
pub mod ranking;
