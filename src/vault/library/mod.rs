//! Answers questions about many notes. Each takes a [`View`](crate::vault::view::View),
//! so whatever comes out is made of what one viewer may see.

pub(super) mod links;
pub(super) mod lists;
pub(super) mod related;
pub(super) mod search;
pub(super) mod stats;
pub(super) mod tags;
