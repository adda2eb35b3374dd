//! The integration tests, as one binary: one link, one set of helpers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

/// Page classes equal what git itself says.
mod attributes_against_git;
/// Bearer tokens and the guard, against embedded and foreign issuers.
mod resource_server;
