//! One row per provider, and nothing but data.
//!
//! Facts come from the documentation each row names; what is said of retries is from memory of
//! such documentation where a note says *unverified*. Every row has vectors in `tests/vectors/`.

/// Declares rows, and lists them, so that none can be left out of [`ALL`].
macro_rules! catalog {
    ($(
        $(#[doc = $doc:literal])+
        $(#[cfg($cfg:meta)])?
        pub const $name:ident: Scheme = $row:expr;
    )+) => {
        $(
            $(#[doc = $doc])+
            $(#[cfg($cfg)])?
            pub const $name: Scheme = $row;
        )+

        pub(super) const ROWS: &[&Scheme] = &[$($(#[cfg($cfg)])? &$name),+];
    };
}

mod body;
mod shared;
mod stamped_a_k;
mod stamped_l_z;
mod standard;
mod standard_named;
mod timed;
mod token;

pub use body::*;
pub use shared::*;
pub use stamped_a_k::*;
pub use stamped_l_z::*;
pub use standard::*;
pub use standard_named::*;
pub use timed::*;
pub use token::*;

use super::Scheme;

const FILES: &[&[&Scheme]] = &[
    timed::ROWS,
    standard::ROWS,
    body::ROWS,
    token::ROWS,
    standard_named::ROWS,
    stamped_a_k::ROWS,
    stamped_l_z::ROWS,
    shared::ROWS,
];

/// Every row of the catalogue, by name in [`Scheme::by_name`].
pub const ALL: &[&Scheme] = &join::<{ count() }>();

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
const fn join<const N: usize>() -> [&'static Scheme; N] {
    let mut all = [&timed::PLAIN; N];
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

/// A day, for retry horizons.
const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
