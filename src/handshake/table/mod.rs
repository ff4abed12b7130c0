//! One row per handshake, and nothing but data.
//!
//! What is from memory of the documentation is marked [`Handshake::unverified`]. Every row has cases
//! in `tests/handshake/`.

use super::Handshake;

/// Declares rows, and lists them, so that none can be left out of [`ALL`].
macro_rules! handshakes {
    ($(
        $(#[doc = $doc:literal])+
        $(#[cfg($cfg:meta)])?
        pub const $name:ident: Handshake = $row:expr;
    )+) => {
        $(
            $(#[doc = $doc])+
            $(#[cfg($cfg)])?
            pub const $name: Handshake = $row;
        )+

        pub(super) const ROWS: &[&Handshake] = &[$($(#[cfg($cfg)])? &$name),+];
    };
}

mod offered;
mod signed;
mod unsigned_a_m;
mod unsigned_n_z;

pub use offered::*;
pub use signed::*;
pub use unsigned_a_m::*;
pub use unsigned_n_z::*;

const FILES: [&[&Handshake]; 4] = [
    unsigned_a_m::ROWS,
    unsigned_n_z::ROWS,
    signed::ROWS,
    offered::ROWS,
];

/// Every row, by name in [`Handshake::by_name`].
pub const ALL: &[&Handshake] = &join::<{ count() }>();

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs in the compiler, where a fault is a compile error"
)]
const fn count() -> usize {
    let (mut rows, mut file) = (0, 0);
    while file < FILES.len() {
        rows += FILES[file].len();
        file += 1;
    }
    rows
}

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs in the compiler, where a fault is a compile error"
)]
const fn join<const N: usize>() -> [&'static Handshake; N] {
    let mut all = [&signed::SLACK; N];
    let (mut at, mut file) = (0, 0);
    while file < FILES.len() {
        let mut row = 0;
        while row < FILES[file].len() {
            all[at] = FILES[file][row];
            at += 1;
            row += 1;
        }
        file += 1;
    }
    all
}
