//! Decides who may see which page. Pure: no I/O, no clock, no async.
//!
//! Two facts meet here. A [`VerifiedToken`](crate::resource_server::verify::VerifiedToken)
//! says what the owner granted; git's attributes say what class a page has. Their
//! meeting point is [`policy`], and its only product is a
//! [`ReadPermit`](permit::ReadPermit), without which
//! [`vault`](crate::vault) opens no page.
//!
//! # Invariants
//!
//! - A [`Viewer`](permit::Viewer) comes from a verified token, or is the owner at the
//!   terminal, and comes from nowhere else.
//! - A [`ReadPermit`](permit::ReadPermit) comes from a viewer and a judged page, is
//!   spent by use, and cannot be copied.
//! - A [`WritePermit`](permit::WritePermit) comes from a viewer, a judged path and the
//!   [`Inbox`](inbox::Inbox) that holds it, and is as short-lived.
//! - [`PageClass::Secret`](class::PageClass::Secret) is opened by no scope.
//! - In doubt a class is raised, never lowered.
//!
//! # Reading order
//!
//! [`path`], [`class`], [`inbox`], [`policy`], [`permit`].

pub mod class;
pub mod inbox;
pub mod path;
pub mod permit;
pub mod policy;

#[cfg(test)]
mod tests;
