//! A second opinion on requests, written from the documentation and sharing no code with the
//! crate: it allocates freely, compares texts, and computes what should have been sent.

use std::borrow::Cow;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE},
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use hookproof::scheme::{
    Encoding, MAX_HEADER_BYTES, MAX_SIGNATURES, Mac, Part, Scheme, Shape, Slot, Stamp, Unit,
};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::senders::Key;

/// The method of every request here.
pub const METHOD: &str = "POST";

/// The public URL of every request here.
pub const URL: &str = "https://hooks.example.com/in";

/// Names and values.
pub type Fields = Vec<(String, Vec<u8>)>;

/// What verification comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Authentic and fresh.
    Accepted,
    /// Authentic, but outside the allowed age.
    Stale,
    /// Anything else.
    Refused,
}

/// What a receiver that knows `keys` should answer.
pub fn judge(
    scheme: &Scheme,
    keys: &[Key],
    fields: &Fields,
    body: &[u8],
    now: OffsetDateTime,
) -> Answer {
    match authentic(scheme, keys, fields, body, now) {
        None => Answer::Refused,
        Some(stamp) if fresh(scheme, stamp, now) => Answer::Accepted,
        Some(_) => Answer::Stale,
    }
}

/// The signed time in nanoseconds, if the request is authentic; `Some(None)` without one.
fn authentic(
    scheme: &Scheme,
    keys: &[Key],
    fields: &Fields,
    body: &[u8],
    now: OffsetDateTime,
) -> Option<Option<i128>> {
    let fields = one_family(scheme, fields);
    let mut signatures = Vec::new();
    let first = scheme.signature_slot();
    for slot in first.iter().chain(scheme.more_signature_slots()) {
        if count(&fields, slot.name()) > 0 {
            signatures.extend(cut(*slot, one(&fields, slot.name())?));
        }
    }
    if signatures.len() > MAX_SIGNATURES {
        return None;
    }
    let content = content(scheme, &fields, body, true)?.concat();
    let named = match scheme.key_id_header() {
        Some(name) if count(&fields, name) > 0 => Some(one(&fields, name)?),
        _ => None,
    };
    let counts = |key: &&Key| {
        let named = named
            .zip(key.id)
            .is_none_or(|(named, id)| named == id.as_bytes());
        named && key.in_force(now)
    };
    let mut rights = keys
        .iter()
        .filter(counts)
        .map(|key| signature(scheme, key, &content));
    rights
        .any(|right| {
            signatures
                .iter()
                .any(|sent| same(scheme.encoding(), sent, &right))
        })
        .then_some(())?;
    Some(match scheme.timestamp_source() {
        None => None,
        Some((Stamp::Slot(slot), unit)) => {
            let text = only(cut(slot, one(&fields, slot.name())?))?;
            Some(nanos(std::str::from_utf8(text).ok()?, unit)?)
        }
        Some((Stamp::Json(pointer), unit)) => Some(body_time(body, pointer, unit)?),
        Some(_) => return None,
    })
}

fn fresh(scheme: &Scheme, stamp: Option<i128>, now: OffsetDateTime) -> bool {
    let Some((stamp, (_, unit))) = stamp.zip(scheme.timestamp_source()) else {
        return true;
    };
    let step = match unit {
        Unit::Seconds => 1_000_000_000,
        Unit::Millis => 1_000_000,
        _ => 1,
    };
    let now = now.unix_timestamp_nanos().div_euclid(step) * step;
    now.abs_diff(stamp) <= scheme.default_tolerance().as_nanos()
}

/// The headers under the names of the family that the request uses.
pub fn one_family(scheme: &Scheme, fields: &Fields) -> Fields {
    let mut fields = fields.clone();
    let (Some((first, second)), Some(slot)) = (scheme.header_families(), scheme.signature_slot())
    else {
        return fields;
    };
    let begins = |name: &str, with: &str| {
        name.to_ascii_lowercase()
            .starts_with(&with.to_ascii_lowercase())
    };
    if count(&fields, slot.name()) == 0 {
        fields.retain(|(name, _)| !begins(name, first));
        for (name, _) in &mut fields {
            if begins(name, second) {
                *name = format!("{first}{}", &name[second.len()..]);
            }
        }
    }
    fields
}

fn find<'f>(fields: &'f Fields, name: &str) -> impl Iterator<Item = &'f [u8]> {
    let found = fields
        .iter()
        .filter(move |(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| &value[..])
}

/// How often a header occurs.
pub fn count(fields: &Fields, name: &str) -> usize {
    find(fields, name).count()
}

fn only<T>(values: impl IntoIterator<Item = T>) -> Option<T> {
    let mut values = values.into_iter();
    values.next().filter(|_| values.next().is_none())
}

/// The value of a header that occurs once and is short enough.
fn one<'f>(fields: &'f Fields, name: &str) -> Option<&'f [u8]> {
    only(find(fields, name)).filter(|value| value.len() <= MAX_HEADER_BYTES)
}

/// The values of a slot.
pub fn cut(slot: Slot, value: &[u8]) -> Vec<&[u8]> {
    let items: Vec<&[u8]> = match slot.separator() {
        Some(separator) => value
            .split(|&b| b == separator)
            .map(<[u8]>::trim_ascii)
            .collect(),
        None => vec![value],
    };
    let prefix = slot.fixed_prefix().as_bytes();
    items
        .into_iter()
        .filter_map(|item| item.strip_prefix(prefix))
        .collect()
}

/// The parts of the signed content. Not `strict`: the first of several values, of any form.
pub fn content<'f>(
    scheme: &Scheme,
    fields: &'f Fields,
    body: &'f [u8],
    strict: bool,
) -> Option<Vec<Cow<'f, [u8]>>> {
    let value = |slot: Slot| {
        if strict {
            return only(cut(slot, one(fields, slot.name())?));
        }
        cut(slot, find(fields, slot.name()).next()?)
            .into_iter()
            .next()
    };
    let parts = scheme.parts();
    let part = |(index, part): (usize, &Part)| {
        Some(Cow::Borrowed(match part {
            Part::Text(text) => return Some(Cow::Owned(text.as_bytes().to_vec())),
            Part::Body => body,
            Part::Method => METHOD.as_bytes(),
            Part::Url => URL.as_bytes(),
            Part::Timestamp => match scheme.timestamp_source()? {
                (Stamp::Slot(slot), _) => value(slot)?,
                _ => return None,
            },
            Part::Header(slot) => {
                let text = value(*slot)?;
                let token = slot.shape(Shape::Token) == *slot;
                let fits = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-".contains(b);
                let fits = |b: &u8| {
                    if token {
                        fits(b)
                    } else {
                        (0x21..=0x7e).contains(b)
                    }
                };
                let ends = match parts.get(index + 1) {
                    Some(Part::Text(next)) => !text.contains(&next.as_bytes()[0]),
                    _ => true,
                };
                let sound = !text.is_empty() && text.iter().all(fits) && ends;
                if strict && !sound {
                    return None;
                }
                text
            }
            _ => return None,
        }))
    };
    parts.iter().enumerate().map(part).collect()
}

/// What the header should say; of a token scheme, the token.
pub fn signature(scheme: &Scheme, key: &Key, content: &[u8]) -> Vec<u8> {
    macro_rules! hmac {
        ($hash:ty) => {{
            let mut mac = Hmac::<$hash>::new_from_slice(&key.bytes).expect("any length");
            mac.update(content);
            mac.finalize().into_bytes().to_vec()
        }};
    }
    let tag = match scheme.mac() {
        Mac::HmacSha256 => hmac!(sha2::Sha256),
        Mac::HmacSha512 => hmac!(sha2::Sha512),
        Mac::HmacSha1 => hmac!(sha1::Sha1),
        Mac::Token => return key.bytes.clone(),
        other => panic!("teach the oracle {other:?}"),
    };
    match scheme.encoding() {
        Encoding::Hex => tag
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
            .into(),
        Encoding::Base64 => STANDARD.encode(tag).into(),
        Encoding::Base64Url => URL_SAFE.encode(tag).into(),
        other => panic!("teach the oracle {other:?}"),
    }
}

/// Whether two texts are the same signature: hex digits have two cases, and padding may be left
/// out in URLs.
pub fn same(encoding: Encoding, sent: &[u8], right: &[u8]) -> bool {
    match encoding {
        Encoding::Hex => sent.eq_ignore_ascii_case(right),
        Encoding::Base64Url => {
            let padding = |byte: &u8| *byte == b'=';
            sent == right || right.split(padding).next() == Some(sent)
        }
        _ => sent == right,
    }
}

/// A timestamp's text in nanoseconds: no other spelling of the number than the shortest.
fn nanos(text: &str, unit: Unit) -> Option<i128> {
    let (scale, last) = match unit {
        Unit::Seconds => (1_000_000_000, 253_402_300_799),
        Unit::Millis => (1_000_000, 253_402_300_799_000),
        _ => {
            let at = OffsetDateTime::parse(text, &Rfc3339).ok()?;
            let strict = text.bytes().all(|b| (0x21..=0x7e).contains(&b));
            return strict.then(|| at.unix_timestamp_nanos());
        }
    };
    let number: i128 = text.parse().ok()?;
    ((0..=last).contains(&number) && number.to_string() == text).then(|| number * scale)
}

/// The members of a JSON object, with all that occur twice.
struct Members<'b>(Vec<(String, &'b RawValue)>);

impl<'de: 'b, 'b> Deserialize<'de> for Members<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// The time at a pointer through objects.
fn body_time(body: &[u8], pointer: &str, unit: Unit) -> Option<i128> {
    let mut text = serde_json::from_slice::<&RawValue>(body).ok()?.get();
    for token in pointer.split('/').skip(1) {
        let Members(members) = serde_json::from_str(text).ok()?;
        let members = members.into_iter().filter(|(name, _)| name == token);
        text = only(members)?.1.get();
    }
    match serde_json::from_str::<String>(text) {
        Ok(text) => nanos(&text, unit),
        Err(_) if text == "-0" && unit != Unit::Rfc3339 => Some(0),
        Err(_) => nanos(text, unit),
    }
}
