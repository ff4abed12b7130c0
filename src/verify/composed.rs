//! Verification of schemes that sign something else than bytes of the request in a row, or carry
//! their signature elsewhere than in a header.

use std::borrow::Cow;

use time::OffsetDateTime;

use crate::{
    scheme::{KeySource, MAX_PUBLIC_KEY_SIGNATURES, MAX_SIGNATURES, Part, Stamp},
    secrets::{Key, Secrets},
};

use super::{
    Invalid, Malformed, Reader, Rejection, Request, Verified,
    compose::{Composer, Miss, Purpose},
    mac, read,
    ring::{self, Tried},
    stamp,
};

/// Most elements that are verified one by one.
#[cfg(feature = "json")]
pub(crate) const MAX_ELEMENTS: usize = 100;

pub(super) fn verify<'a>(
    raw_body: &'a [u8],
    reader: Reader<'a>,
    secrets: &'a Secrets,
    now: OffsetDateTime,
) -> Result<Verified<'a>, Rejection> {
    let scheme = reader.scheme;
    let whole = Request {
        reader,
        body: raw_body,
        element: None,
    };
    let named = key_name(&whole)?;
    let elements = whole.elements()?;
    let (first, others) = elements.split_first().ok_or(Malformed::Json)?;
    let header_stamp = read_stamp(first)?;
    let key = verify_one(*first, secrets, named.as_deref(), now)?;
    for element in others {
        verify_one(*element, secrets, named.as_deref(), now)?;
    }
    let stamp = match scheme.timestamp_source() {
        Some((Stamp::Json(pointer), unit)) => {
            Some(read::body_stamp(raw_body, pointer, unit).ok_or(Malformed::Timestamp)?)
        }
        _ => header_stamp,
    };
    Verified::judge(reader, raw_body, stamp, now, key, secrets)
}

/// What the request says of its key: an id, or the checked address of a certificate.
fn key_name<'a>(request: &Request<'a>) -> Result<Option<Cow<'a, [u8]>>, Rejection> {
    let scheme = request.reader.scheme;
    if let KeySource::Url(slot, rules) = scheme.key_source() {
        let url = request
            .single(&slot)?
            .ok_or(Malformed::MissingValue(slot.name()))?;
        let text = std::str::from_utf8(&url).unwrap_or_default();
        if rules.iter().all(|rule| rule.admit(text).is_none()) {
            return Err(Invalid::KeyUrl.into());
        }
        return Ok(Some(url));
    }
    match scheme.key_id_slot() {
        Some(slot) => Ok(request.single(&slot)?),
        None => Ok(None),
    }
}

fn read_stamp(request: &Request<'_>) -> Result<Option<i128>, Malformed> {
    let scheme = request.reader.scheme;
    let Some((Stamp::Slot(slot), unit)) = scheme.timestamp_source() else {
        return Ok(None);
    };
    let text = request.single(&slot)?;
    let text = text.ok_or(Malformed::MissingValue(slot.name()))?;
    let at = stamp::parse(&text, unit).ok_or(Malformed::Timestamp)?;
    stamp::not_before(at, scheme.earliest).ok_or(Malformed::Timestamp)?;
    Ok(Some(at))
}

fn verify_one<'s>(
    request: Request<'_>,
    secrets: &'s Secrets,
    named: Option<&[u8]>,
    now: OffsetDateTime,
) -> Result<(usize, &'s Key), Rejection> {
    let scheme = request.reader.scheme;
    let slot = scheme.signature.ok_or(Malformed::NoSignature(""))?;
    let values = signature_values(&request)?;
    let items: Vec<&[u8]> = values
        .iter()
        .flat_map(|(slot, value)| slot.items(value))
        .collect();
    let most = if scheme.mac().is_public_key() {
        MAX_PUBLIC_KEY_SIGNATURES
    } else {
        MAX_SIGNATURES
    };
    if items.len() > most {
        return Err(Malformed::TooManySignatures(slot.name()).into());
    }
    let readable = |item: &&[u8]| mac::plausible(scheme.mac(), scheme.encoding(), item);
    if !items.iter().any(readable) {
        return Err(Malformed::NoSignature(slot.name()).into());
    }
    // Once for all keys, unless the key's own texts go into it.
    let shared = match scheme.contents().any(needs_key) {
        true => None,
        false => Some(contents(request, None)?),
    };
    ring::matching(secrets, named, now, slot.name(), |key| {
        let own;
        let contents = match &shared {
            Some(contents) => contents,
            None => {
                own = contents(request, Some(key))?;
                &own
            }
        };
        let mut outcome = Tried::Unreadable;
        for content in contents {
            let parts: [&[u8]; 1] = [content];
            let tag = key.mac.compute(&parts);
            for text in &items {
                match key.mac.compare(&tag, scheme.encoding(), text) {
                    Some(true) => outcome = Tried::Matched,
                    Some(false) if outcome == Tried::Unreadable => outcome = Tried::Unlike,
                    _ => {}
                }
            }
        }
        Ok(outcome)
    })
}

type Values<'a> = Vec<(&'static crate::scheme::Slot, Cow<'a, [u8]>)>;

/// The values that hold signatures; at least one.
fn signature_values<'a>(request: &Request<'a>) -> Result<Values<'a>, Malformed> {
    let scheme = request.reader.scheme;
    let mut values = Vec::new();
    for slot in scheme.signature.iter().chain(scheme.more_signatures) {
        if let Some(value) = request.value(slot)? {
            values.push((slot, value));
        }
    }
    match (values.is_empty(), scheme.signature) {
        (true, Some(slot)) if slot.is_header() => Err(Malformed::MissingHeader(slot.name())),
        (true, Some(slot)) => Err(Malformed::MissingValue(slot.name())),
        _ => Ok(values),
    }
}

fn needs_key(parts: &'static [Part]) -> bool {
    let mut found = false;
    crate::scheme::walk(parts, &mut |part| {
        use crate::scheme::Condition;
        found |= matches!(
            part,
            Part::Secret | Part::Setting(_) | Part::Require(Condition::EqualsSetting(..))
        );
    });
    found
}

/// All contents that the request may be meant for.
fn contents(request: Request<'_>, key: Option<&Key>) -> Result<Vec<Vec<u8>>, Malformed> {
    let composer = Composer {
        request,
        key,
        purpose: Purpose::Verify,
    };
    let mut made = Vec::new();
    let mut first_miss = None;
    for parts in request.reader.scheme.contents() {
        match composer.content(parts) {
            Ok(content) => made.push(content),
            // What cannot be written was not signed; another content may still be.
            Err(Miss::Malformed(what)) if what != Malformed::Encoding => return Err(what),
            Err(miss) => first_miss = first_miss.or(Some(miss)),
        }
    }
    match (made.is_empty(), first_miss) {
        (true, Some(miss)) => Err(miss.into()),
        _ => Ok(made),
    }
}
