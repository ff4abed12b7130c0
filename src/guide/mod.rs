//! The guide: the design and what follows from it, in prose whose code is compiled.
//!
//! * [`design`]: the contract between the parts of this crate.
//! * [`schemes`]: what each provider signs, and its traps.
//! * [`handshakes`]: how each provider checks an endpoint, and what it wants to hear.
//! * [`stores`]: how to choose, run and write a store.
//! * [`operations`]: running it: roles, sizes, retention, alerts, and what to do when.
//! * `inbox`: accept now, process later, and what is kept for review (feature `inbox`).
//! * [`misuse`]: mistakes that do not compile, and those that do.

#[doc = include_str!("design.md")]
pub mod design {}

#[doc = include_str!("schemes.md")]
pub mod schemes {}

#[doc = include_str!("handshakes.md")]
pub mod handshakes {}

#[doc = include_str!("stores.md")]
pub mod stores {}

#[doc = include_str!("operations.md")]
pub mod operations {}
#[cfg(feature = "inbox")]
#[doc = include_str!("inbox.md")]
pub mod inbox {}

#[doc = include_str!("misuse.md")]
pub mod misuse {}
