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

mod basic;
mod body;
mod body_ab;
#[cfg(feature = "json")]
mod body_borne;
mod body_cd;
mod body_eg;
mod body_hl;
mod body_mo;
mod body_odd;
mod body_pr;
mod body_st;
mod body_ux;
#[cfg(feature = "rsa")]
mod certificates;
mod derived;
#[cfg(feature = "json")]
mod fields;
#[cfg(feature = "form")]
mod form_borne;
#[cfg(feature = "http-signatures")]
mod http_signatures;
#[cfg(feature = "keyed-hash")]
mod hubspot;
#[cfg(feature = "jwt")]
mod jwt;
#[cfg(all(feature = "jwt", feature = "ecdsa"))]
mod jwt_ecdsa;
#[cfg(all(feature = "jwt", feature = "ed25519"))]
mod jwt_ed25519;
#[cfg(all(feature = "jwt", feature = "rsa"))]
mod jwt_rsa;
#[cfg(feature = "keyed-hash")]
mod keyed_hash;
#[cfg(all(feature = "keyed-hash", any(feature = "form", feature = "json")))]
mod keyed_hash_fields;
#[cfg(feature = "ecdsa")]
mod public_ecdsa;
#[cfg(feature = "ed25519")]
mod public_ed25519;
#[cfg(feature = "rsa")]
mod public_rsa;
mod shared;
#[cfg(feature = "form")]
mod sorted;
mod stamped_a_k;
mod stamped_l_z;
mod stamped_last;
mod stamped_odd;
mod standard;
mod standard_named;
mod target;
mod timed;
mod token;
mod token_elsewhere;
mod unverified;

pub use basic::*;
pub use body::*;
pub use body_ab::*;
#[cfg(feature = "json")]
pub use body_borne::*;
pub use body_cd::*;
pub use body_eg::*;
pub use body_hl::*;
pub use body_mo::*;
pub use body_odd::*;
pub use body_pr::*;
pub use body_st::*;
pub use body_ux::*;
#[cfg(feature = "rsa")]
pub use certificates::*;
pub use derived::*;
#[cfg(feature = "json")]
pub use fields::*;
#[cfg(feature = "form")]
pub use form_borne::*;
#[cfg(feature = "http-signatures")]
pub use http_signatures::*;
#[cfg(feature = "keyed-hash")]
pub use hubspot::*;
#[cfg(feature = "jwt")]
pub use jwt::*;
#[cfg(all(feature = "jwt", feature = "ecdsa"))]
pub use jwt_ecdsa::*;
#[cfg(all(feature = "jwt", feature = "ed25519"))]
pub use jwt_ed25519::*;
#[cfg(all(feature = "jwt", feature = "rsa"))]
pub use jwt_rsa::*;
#[cfg(feature = "keyed-hash")]
pub use keyed_hash::*;
#[cfg(all(feature = "keyed-hash", any(feature = "form", feature = "json")))]
pub use keyed_hash_fields::*;
#[cfg(feature = "ecdsa")]
pub use public_ecdsa::*;
#[cfg(feature = "ed25519")]
pub use public_ed25519::*;
#[cfg(feature = "rsa")]
pub use public_rsa::*;
pub use shared::*;
#[cfg(feature = "form")]
pub use sorted::*;
pub use stamped_a_k::*;
pub use stamped_l_z::*;
pub use stamped_last::*;
pub use stamped_odd::*;
pub use standard::*;
pub use standard_named::*;
pub use target::*;
pub use timed::*;
pub use token::*;
pub use token_elsewhere::*;
pub use unverified::*;

use super::{Encoding, Mac, Part, Scheme, Slot};

const FILES: &[&[&Scheme]] = &[
    timed::ROWS,
    standard::ROWS,
    body::ROWS,
    body_ab::ROWS,
    body_cd::ROWS,
    body_eg::ROWS,
    body_hl::ROWS,
    body_mo::ROWS,
    body_pr::ROWS,
    body_st::ROWS,
    body_ux::ROWS,
    body_odd::ROWS,
    derived::ROWS,
    token::ROWS,
    basic::ROWS,
    token_elsewhere::ROWS,
    #[cfg(feature = "json")]
    body_borne::ROWS,
    #[cfg(feature = "json")]
    fields::ROWS,
    #[cfg(feature = "form")]
    form_borne::ROWS,
    standard_named::ROWS,
    stamped_a_k::ROWS,
    stamped_l_z::ROWS,
    stamped_last::ROWS,
    stamped_odd::ROWS,
    shared::ROWS,
    target::ROWS,
    #[cfg(feature = "keyed-hash")]
    hubspot::ROWS,
    #[cfg(feature = "form")]
    sorted::ROWS,
    #[cfg(feature = "rsa")]
    certificates::ROWS,
    #[cfg(feature = "keyed-hash")]
    keyed_hash::ROWS,
    #[cfg(all(feature = "keyed-hash", any(feature = "form", feature = "json")))]
    keyed_hash_fields::ROWS,
    #[cfg(feature = "http-signatures")]
    http_signatures::ROWS,
    #[cfg(feature = "jwt")]
    jwt::ROWS,
    #[cfg(all(feature = "jwt", feature = "ecdsa"))]
    jwt_ecdsa::ROWS,
    #[cfg(all(feature = "jwt", feature = "rsa"))]
    jwt_rsa::ROWS,
    #[cfg(all(feature = "jwt", feature = "ed25519"))]
    jwt_ed25519::ROWS,
    #[cfg(feature = "ed25519")]
    public_ed25519::ROWS,
    #[cfg(feature = "ecdsa")]
    public_ecdsa::ROWS,
    #[cfg(feature = "rsa")]
    public_rsa::ROWS,
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

/// 2001-09-09T01:46:40Z, the first second of ten digits: fewer are no time of any webhook.
#[cfg(any(feature = "form", feature = "json"))]
const TEN_DIGITS: u64 = 1_000_000_000;

/// Why a token may follow the time without a separator.
#[cfg(any(feature = "form", feature = "json"))]
const TOKEN_AFTER_TIME: &str = "the token touches the digits of the time; digits cut off leave fewer than ten, which \
                                are no time, and digits moved to it lie centuries ahead, so the age must be judged";

/// A MAC over the body and nothing else. Most such bodies hold a time, but of the event and not of
/// the attempt: a retry may come days later, so it is no window unless the provider says so.
const fn over_body(name: &'static str, mac: Mac, slot: Slot, encoding: Encoding) -> Scheme {
    Scheme::new(name, mac)
        .signature(slot, encoding)
        .content(&[Part::Body])
}
