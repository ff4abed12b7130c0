//! The digest of a body in a `Content-Digest` field (RFC 9530).
//!
//! **This is no authentication.** Whoever can change the body can change the digest with it. It
//! finds bodies that were cut or altered by accident; against anyone else it counts only where a
//! signature covers the field, as in [`HttpSignature`](crate::scheme::HttpSignature), which does
//! all of this by itself. So there is no scheme for it in the catalogue.

use std::fmt;

use sfv::BareItemFromInput;
use sha2::{Digest as _, Sha256, Sha512};

use crate::{
    headers::{Headers, Lookup},
    scheme::MAX_HEADER_BYTES,
    verify::fields::{self, Item, Member, Value},
};

/// A body that is the one its digest speaks of. Made by [`check`].
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use = "only this body was checked"]
pub struct CheckedBody<'b>(&'b [u8]);

impl<'b> CheckedBody<'b> {
    /// The raw body, byte for byte what was checked.
    pub const fn bytes(self) -> &'b [u8] {
        self.0
    }
}

impl fmt::Debug for CheckedBody<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedBody")
            .field("body_bytes", &self.0.len())
            .finish_non_exhaustive()
    }
}

/// Why a body did not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DigestError {
    /// There is no `Content-Digest`.
    #[error("header Content-Digest is missing")]
    Missing,
    /// The field occurs on more than one line.
    #[error("header Content-Digest occurs more than once")]
    Repeated,
    /// Longer than [`MAX_HEADER_BYTES`], no dictionary of byte sequences, a key twice, or a digest
    /// of the wrong length.
    #[error("header Content-Digest cannot be read")]
    Unreadable,
    /// Neither `sha-256` nor `sha-512` is there, the two that RFC 9530 §5 lets a receiver rely on.
    #[error("header Content-Digest names no algorithm to rely on")]
    NoKnownAlgorithm,
    /// The body is another one.
    #[error("the body does not match its digest")]
    Mismatch,
}

/// Computes the digests of a raw body and compares them with its `Content-Digest`. Every `sha-256`
/// and `sha-512` must match, and one must be there; other algorithms are not looked at.
///
/// The digest is over the content as transferred: a body that the HTTP stack has decompressed is
/// another one.
///
/// ```
/// use hookproof::content_digest::{self, DigestError};
///
/// let body = br#"{"id":"evt_demo1","type":"order.created","data":{"n":1}}"#;
/// let headers = [("Content-Digest", "sha-256=:3dB4lUy0YukMIoHJY5PrZ9TxvD1D1f5G2brN2Y4pzlk=:")];
///
/// assert_eq!(content_digest::check(body, &headers)?.bytes(), body);
/// assert_eq!(content_digest::check(b"{}", &headers), Err(DigestError::Mismatch));
/// # Ok::<(), DigestError>(())
/// ```
///
/// # Errors
///
/// [`DigestError`].
pub fn check<'b>(body: &'b [u8], headers: &impl Headers) -> Result<CheckedBody<'b>, DigestError> {
    match headers.lookup("Content-Digest") {
        Lookup::Absent => Err(DigestError::Missing),
        Lookup::Many => Err(DigestError::Repeated),
        Lookup::One(field) => recompute(body, field),
    }
}

/// The same for a field's value.
pub(crate) fn recompute<'b>(body: &'b [u8], field: &[u8]) -> Result<CheckedBody<'b>, DigestError> {
    if field.len() > MAX_HEADER_BYTES {
        return Err(DigestError::Unreadable);
    }
    let members = fields::parse(field).map_err(|_| DigestError::Unreadable)?;
    // All are read before anything is hashed.
    let sha256 = digest::<32>(&members, "sha-256")?;
    let sha512 = digest::<64>(&members, "sha-512")?;
    if sha256.is_none() && sha512.is_none() {
        return Err(DigestError::NoKnownAlgorithm);
    }
    let same = sha256.is_none_or(|told| *told == Sha256::digest(body)[..])
        && sha512.is_none_or(|told| *told == Sha512::digest(body)[..]);
    same.then_some(CheckedBody(body))
        .ok_or(DigestError::Mismatch)
}

/// The digest of one algorithm, if the field has it.
fn digest<'m, const LENGTH: usize>(
    members: &'m [Member<'_>],
    algorithm: &str,
) -> Result<Option<&'m [u8; LENGTH]>, DigestError> {
    let member = members.iter().find(|member| member.key() == algorithm);
    match member.map(|member| &member.value) {
        None => Ok(None),
        Some(Value::Item(Item {
            value: BareItemFromInput::ByteSequence(bytes),
            ..
        })) => match bytes.as_slice().try_into() {
            Ok(digest) => Ok(Some(digest)),
            Err(_) => Err(DigestError::Unreadable),
        },
        Some(_) => Err(DigestError::Unreadable),
    }
}
