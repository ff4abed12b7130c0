//! The name of a review.

use std::{fmt, str::FromStr};

use sha2::{Digest, Sha256};

use crate::event::{EventKey, Fingerprint, feed, first_half, hex};

use super::Reason;

/// Names a review by what was delivered, so that the same delivery is one review however often it
/// comes: the first 16 bytes of SHA-256 over a version, the reason, the event key's digest and the
/// fingerprint that was presented, each with its length before it.
///
/// Written as 32 hexadecimal digits, and read from them:
///
/// ```
/// use hookproof::review::ReviewId;
///
/// let id: ReviewId = "00112233445566778899aabbccddeeff".parse()?;
/// assert_eq!(id.to_string(), "00112233445566778899aabbccddeeff");
/// assert!("0011".parse::<ReviewId>().is_err());
/// # Ok::<(), hookproof::review::BadReviewId>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReviewId([u8; 16]);

/// A text that is no [`ReviewId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a review's id is 32 hexadecimal digits")]
pub struct BadReviewId;

impl ReviewId {
    /// The id of the review of this content, delivered for this event.
    pub fn of(reason: Reason, key: &EventKey, presented: Fingerprint) -> Self {
        let mut hash = Sha256::new();
        for part in [
            &b"review-1"[..],
            reason.label().as_bytes(),
            key.digest(),
            presented.as_bytes(),
        ] {
            feed(&mut hash, part);
        }
        Self(first_half(hash))
    }

    /// From stored bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// For storing.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl FromStr for ReviewId {
    type Err = BadReviewId;

    fn from_str(text: &str) -> Result<Self, BadReviewId> {
        let mut bytes = [0; 16];
        match hex::decode_to_slice(text, &mut bytes) {
            Ok(()) => Ok(Self(bytes)),
            Err(_) => Err(BadReviewId),
        }
    }
}

impl fmt::Display for ReviewId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for ReviewId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
