//! For tests of your own (feature `testing`): a signer that is the exact inverse of
//! [`verify`](crate::verify), a clock to turn by hand, and the conformance suite of stores.

mod clock;
pub mod conformance;
mod executor;
mod sign;
#[cfg(feature = "jwt")]
mod token;

pub use clock::ManualClock;
pub use executor::block_on;
pub use sign::{SignError, Signed, Signer, sign};
