//! One row per provider, and nothing but data.
//!
//! Facts come from the documentation each row names; what is said of retries is from memory of
//! such documentation where a note says *unverified*. Every row has vectors in `tests/vectors/`.

mod body;
mod standard;
mod timed;
mod token;

pub use body::*;
pub use standard::*;
pub use timed::*;
pub use token::*;

use super::Scheme;

/// Every row of the catalogue, by name in [`Scheme::by_name`].
pub const ALL: &[&Scheme] = &[
    &PLAIN,
    &STANDARD_WEBHOOKS,
    &SVIX,
    &GITLAB_SIGNING,
    &STRIPE,
    &SLACK,
    &PADDLE,
    &TWITCH,
    &ZOOM,
    &GITHUB,
    #[cfg(feature = "sha1")]
    &GITHUB_SHA1,
    &SHOPIFY,
    &LINEAR,
    &DROPBOX,
    &GITLAB,
];

/// A day, for retry horizons.
const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
