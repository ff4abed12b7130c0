//! A second opinion on requests, written from the documentation and sharing no code with the
//! crate: it allocates freely, compares texts, and computes what should have been sent.

use std::borrow::Cow;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE},
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use hookproof::scheme::{
    Encoding, Hash, KeySource, MAX_HEADER_BYTES, MAX_SIGNATURES, Mac, Part, Scheme, SecretFormat,
    Shape, Slot, Stamp, Unit,
};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use sha2::Digest as _;

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

/// Whether this file has an opinion on a scheme: those with a shared secret, whose signature and all
/// that it covers are headers, method, URL and body as they came. The target `anywhere` has the rest.
pub fn knows(scheme: &Scheme) -> bool {
    let header = |slot: &Slot| {
        slot.is_header() && slot.inner_pointer().is_none() && shape_of(slot).is_some()
    };
    let part = |part: &Part| match part {
        Part::Header(slot) => header(slot),
        Part::Text(_) | Part::Timestamp | Part::Body | Part::Method | Part::Url => true,
        Part::Secret => matches!(scheme.mac(), Mac::Hash(_)),
        _ => false,
    };
    let stamp = match scheme.timestamp_source() {
        Some((Stamp::Slot(slot), _)) => header(&slot),
        Some((Stamp::Json(_), _)) | None => true,
        Some(_) => false,
    };
    let envelope = scheme.token_rules().is_some() || scheme.http_signature_rule().is_some();
    !envelope
        && stamp
        && !scheme.mac().is_public_key()
        && scheme.encoding() != Encoding::PercentBase64
        && scheme.signature_slot().is_some_and(|slot| header(&slot))
        && scheme.more_signature_slots().iter().all(header)
        && scheme.key_id_slot().is_none_or(|slot| header(&slot))
        && scheme.parts().iter().all(part)
        && scheme.alternative_contents().is_empty()
        && scheme.key_content().is_empty()
        && scheme.settings().is_empty()
        && scheme.each_element().is_none()
        && scheme.json_field().is_none()
        && !matches!(scheme.key_source(), KeySource::Url(..))
        && !matches!(
            scheme.secret_format(),
            SecretFormat::PublicKey | SecretFormat::TextWithout(_)
        )
}

/// The shapes that this file knows.
fn shape_of(slot: &Slot) -> Option<Shape> {
    let shapes = [Shape::Visible, Shape::Token, Shape::Dotted, Shape::Digits];
    shapes.into_iter().find(|shape| slot.shape(*shape) == *slot)
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
            for line in lines(&fields, slot)? {
                signatures.extend(cut(*slot, line));
            }
        }
    }
    if signatures.len() > MAX_SIGNATURES {
        return None;
    }
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
    let right = |key: &Key| {
        let content = content(scheme, key, &fields, body, true)?.concat();
        Some(signature(scheme, key, &content))
    };
    let mut rights = keys.iter().filter(counts).filter_map(right);
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
            let at = nanos(std::str::from_utf8(text).ok()?, unit)?;
            (at >= i128::from(scheme.earliest_second()) * 1_000_000_000).then_some(Some(at))?
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
        Unit::Millis | Unit::SecondsOrMillis => 1_000_000,
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

/// The same of a slot, which may say that a header can stand on several lines.
fn lines<'f>(fields: &'f Fields, slot: &Slot) -> Option<Vec<&'f [u8]>> {
    if !slot.may_repeat() {
        return one(fields, slot.name()).map(|line| vec![line]);
    }
    let lines: Vec<&[u8]> = find(fields, slot.name()).collect();
    let bytes: usize = lines.iter().map(|line| line.len()).sum();
    (lines.len() <= MAX_SIGNATURES && bytes <= MAX_HEADER_BYTES).then_some(lines)
}

/// The values of a slot.
pub fn cut(slot: Slot, value: &[u8]) -> Vec<&[u8]> {
    let Some(value) = value.strip_prefix(slot.list_prefix().as_bytes()) else {
        return Vec::new();
    };
    let mut items: Vec<&[u8]> = match slot.separator() {
        Some(separator) => value
            .split(|&b| b == separator)
            .map(<[u8]>::trim_ascii)
            .collect(),
        None => vec![value],
    };
    if slot.first() == slot {
        items.truncate(1);
    }
    let prefix = slot.fixed_prefix();
    let optional = slot.optional_word(prefix) == slot;
    let word = optional || slot.word(prefix) == slot;
    let behind_prefix = |item: &'_ [u8]| {
        let tail = item.len().min(prefix.len());
        let (head, _) = item.split_at(tail);
        let here = match word {
            true => head.eq_ignore_ascii_case(prefix.as_bytes()),
            false => head == prefix.as_bytes(),
        };
        match (here, word) {
            (true, true) => {
                Some(tail + (item.len() - tail - item[tail..].trim_ascii_start().len()))
            }
            (true, false) => Some(tail),
            (false, _) => optional.then_some(0),
        }
    };
    let mut values = Vec::new();
    for item in items {
        let Some(start) = behind_prefix(item) else {
            continue;
        };
        let text = &item[start..];
        match slot.mark() {
            None => values.push(text),
            Some(mark) => values.extend(
                text.iter()
                    .position(|&b| b == mark)
                    .map(|at| &text[at + 1..]),
            ),
        }
    }
    values
}

/// The parts of the signed content. Not `strict`: the first of several values, of any form.
pub fn content<'f>(
    scheme: &Scheme,
    key: &'f Key,
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
            Part::Secret => &key.bytes,
            Part::Timestamp => match scheme.timestamp_source()? {
                (Stamp::Slot(slot), _) => value(slot)?,
                _ => return None,
            },
            Part::Header(slot) => {
                let text = value(*slot)?;
                let fits = |b: &u8| match shape_of(slot) {
                    Some(Shape::Digits) => b.is_ascii_digit(),
                    Some(Shape::Visible) => (0x21..=0x7e).contains(b),
                    Some(Shape::Dotted) if *b == b'.' => true,
                    _ => b.is_ascii_alphanumeric() || b"+/=_-".contains(b),
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
        Mac::HmacSha384 => hmac!(sha2::Sha384),
        Mac::HmacSha512 => hmac!(sha2::Sha512),
        Mac::HmacSha1 => hmac!(sha1::Sha1),
        Mac::Token => key.bytes.clone(),
        Mac::Hash(hash) => match hash {
            Hash::Sha256 => sha2::Sha256::digest(content).to_vec(),
            Hash::Sha384 => sha2::Sha384::digest(content).to_vec(),
            Hash::Sha512 => sha2::Sha512::digest(content).to_vec(),
            Hash::Sha1 => sha1::Sha1::digest(content).to_vec(),
            Hash::Md5 => md5::Md5::digest(content).to_vec(),
            Hash::Keccak256 => sha3::Keccak256::digest(content).to_vec(),
            other => panic!("teach the oracle {other:?}"),
        },
        other => panic!("teach the oracle {other:?}"),
    };
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
    match scheme.encoding() {
        Encoding::Plain => tag,
        Encoding::Hex | Encoding::LowerHex => hex(&tag).into(),
        Encoding::HexInBase64 => STANDARD.encode(hex(&tag)).into(),
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
    let seconds = || text.len() < 12;
    let (scale, last) = match unit {
        Unit::Seconds => (1_000_000_000, 253_402_300_799),
        Unit::SecondsOrMillis if seconds() => (1_000_000_000, 99_999_999_999),
        Unit::Millis | Unit::SecondsOrMillis => (1_000_000, 253_402_300_799_000),
        Unit::DateTimeUtc => {
            let zoned = text.contains(['Z', 'z', '+']) || text.len() > 32;
            return (!zoned).then(|| nanos(&format!("{text}Z"), Unit::Rfc3339))?;
        }
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
pub struct Members<'b>(pub Vec<(String, &'b RawValue)>);

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
        Err(_) if matches!(unit, Unit::Rfc3339 | Unit::DateTimeUtc) => None,
        Err(_) if text == "-0" => Some(0),
        Err(_) => nanos(text, unit),
    }
}
