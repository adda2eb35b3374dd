//! The endpoints that clients call, by request and answer.

mod bad_input;
mod codes;
mod limits;
mod manners;
mod refresh;
mod registration;
mod revocation;
