//! The resource server: judges bearer tokens and guards `/mcp`.
pub mod verify;
