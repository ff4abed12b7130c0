//! For tests of your own (feature `testing`): a signer that is the exact inverse of
//! [`verify`](crate::verify), a clock to turn by hand, and the conformance suite of stores.

mod clock;
pub mod conformance;
mod executor;
#[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
mod keys;
mod sign;
#[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
mod test_key;

pub use clock::ManualClock;
pub use executor::block_on;
#[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
pub use keys::public_key_of;
pub use sign::{SignError, Signed, Signer, sign};
#[cfg(any(feature = "ed25519", feature = "ecdsa", feature = "rsa"))]
pub use test_key::test_key;
