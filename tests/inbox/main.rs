//! The gate's way into an inbox, and workers: what they answer, repeat, finish, give back and
//! report. The contract of inboxes is the conformance suite's.
#![cfg(all(feature = "inbox", feature = "json", feature = "testing"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod accepting;
mod leases;
mod rig;
mod running;
mod store;
mod working;
