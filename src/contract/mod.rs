//! What the two servers publish about themselves: data only.
//!
//! The authorization server and the resource server meet here and nowhere else.
//! Whatever stands in this module could as well travel over HTTP between two
//! machines, and with a foreign issuer it does.

pub mod claims;
pub mod issuer;
pub mod key_set;
pub mod liveness;
pub mod resource;
pub mod scope;
