//! Signed JSON tokens (RFC 7515) and the key sets that verify them (RFC 7517): what an
//! access token and a client's assertion have in common. A leaf: no I/O, no clock, and
//! no opinion on what the claims should say.

pub mod compact;
pub mod key_ring;
