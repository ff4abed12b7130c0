//! Which key of a ring signed a request.

use time::OffsetDateTime;

use crate::{
    scheme::KeySource,
    secrets::{Key, Secrets},
};

use super::{Invalid, KeyNeeded, Malformed, Rejection, printable};

/// What came of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tried {
    Matched,
    Unlike,
    /// No signature is written as the scheme says.
    Unreadable,
}

/// The first key in force that matches. `named` is what the request says of its key.
pub(super) fn matching<'s>(
    secrets: &'s Secrets,
    named: Option<&[u8]>,
    now: OffsetDateTime,
    signature: &'static str,
    mut attempt: impl FnMut(&'s Key) -> Result<Tried, Malformed>,
) -> Result<(usize, &'s Key), Rejection> {
    // The key's name is a hint that nobody signed: it can narrow the choice, never widen it.
    // Keys without an id stay candidates.
    let chosen = |key: &Key| match (named, key.id.as_deref()) {
        (Some(named), Some(id)) => named == id.as_bytes(),
        _ => true,
    };
    let mut in_force = false;
    let mut tried = false;
    let mut decoded = false;
    for (index, key) in secrets.ring().iter().enumerate() {
        if !key.in_force(now) {
            continue;
        }
        in_force = true;
        if !chosen(key) {
            continue;
        }
        tried = true;
        match attempt(key)? {
            Tried::Matched => return Ok((index, key)),
            Tried::Unlike => decoded = true,
            Tried::Unreadable => {}
        }
    }
    if let Some(named) = named
        && !secrets.ring().iter().any(chosen)
    {
        match secrets.scheme().key_source() {
            KeySource::ById(_) if is_key_id(named) => {
                return Err(KeyNeeded::Id(printable(named)).into());
            }
            // A rule of the scheme has let it pass, so it is bounded and visible ASCII.
            KeySource::Url(..) => {
                return Err(KeyNeeded::Url(String::from_utf8_lossy(named).into_owned()).into());
            }
            _ => {}
        }
    }
    Err(match (in_force, tried, decoded) {
        (false, _, _) => Invalid::NoKeyInForce.into(),
        (true, false, _) => Invalid::UnknownKey.into(),
        (true, true, false) => Malformed::NoSignature(signature).into(),
        (true, true, true) => Invalid::Signature.into(),
    })
}

/// Whether a text can be the id of a key to fetch: what is written differently in a log is none.
fn is_key_id(named: &[u8]) -> bool {
    (1..=255).contains(&named.len()) && named.iter().all(u8::is_ascii_graphic)
}
