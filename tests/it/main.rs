//! Integration tests, in one binary.

mod resource_server;
