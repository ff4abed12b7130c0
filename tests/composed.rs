//! Sign, then flip any one bit, for every scheme whose content is put together out of values from
//! anywhere in a request. Whatever still passes must mean the same as before, as far as the
//! signature covers it; what it means is read here by other means than the crate's.
#![cfg(all(feature = "json", feature = "testing", feature = "form"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![allow(clippy::arithmetic_side_effects)]

mod common;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof::{
    KeyError, Secret, Secrets,
    headers::{Headers, Lookup},
    scheme::{self, Encoding, Extent, Part, Place, Scheme, Slot, Stamp, Transform},
    testing::{Signed, Signer},
};
use serde_json::Value;
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const SECRET: &str = "a-secret-of-sufficient-length";
const FORM: &str = "application/x-www-form-urlencoded";

fn composed() -> impl Iterator<Item = &'static Scheme> {
    scheme::ALL
        .iter()
        .copied()
        .filter(|scheme| common::is_composed(scheme))
}

fn secrets(scheme: &'static Scheme, text: &str) -> Secrets {
    let secret = common::with_settings(scheme, common::secret(scheme, text));
    Secrets::new(scheme, [secret]).unwrap()
}

/// Every request that a scheme can be signed for: with a form, with JSON, with nothing in it.
fn requests(scheme: &'static Scheme) -> Vec<Signed> {
    let form = b"A=1&b=x%2By&A=2";
    let json = common::body(scheme, NOW);
    let mut requests = Vec::new();
    for (kind, body) in [
        (Some(FORM), &form[..]),
        (Some("application/json"), &json),
        (None, b""),
    ] {
        for url in [
            "https://hooks.example.com/in",
            "https://hooks.example.com/in?b=2&a=1",
        ] {
            let secret = common::signing_secret(scheme, SECRET);
            let secret: Secret = common::with_settings(scheme, secret);
            let mut signer = Signer::new(scheme, secret).at(NOW).target("POST", url);
            if let Some(kind) = kind {
                signer = signer.header("Content-Type", kind);
            }
            requests.extend(signer.sign(body).ok());
        }
    }
    assert!(!requests.is_empty(), "{} signs nothing", scheme.name());
    requests
}

fn accepts(secrets: &Secrets, request: &Signed) -> bool {
    hookproof::verify(&request.body, request, secrets, NOW).is_ok()
}

#[test]
fn what_is_signed_verifies_and_under_another_key_it_does_not() {
    for scheme in composed() {
        for request in requests(scheme) {
            assert!(
                accepts(&secrets(scheme, SECRET), &request),
                "{}: {request:?}",
                scheme.name()
            );
            let other = secrets(scheme, "another-secret-of-some-length");
            assert!(!accepts(&other, &request), "{}", scheme.name());
        }
    }
}

/// Content makes a key only where the body is covered; and a copy that outlives its request names
/// the same event.
#[test]
fn a_copy_is_named_as_its_delivery_is() {
    for scheme in scheme::ALL {
        let (name, secrets) = (scheme.name(), secrets(scheme, SECRET));
        let mut seen = 0;
        for request in requests(scheme) {
            // A time inside the body needs a body that has one.
            let Ok(delivery) = hookproof::verify(&request.body, &request, &secrets, NOW) else {
                continue;
            };
            seen += 1;
            let content = delivery.content_key("t");
            assert_eq!(content.is_ok(), scheme.coverage().body, "{name}");
            if !scheme.coverage().body {
                assert_eq!(content, Err(KeyError::NotCovered), "{name}");
            }
            let kept = delivery.to_buf();
            let copy = kept.as_verified();
            assert_eq!(copy.content_key("t"), content, "{name}");
            assert_eq!(copy.event_key("t"), delivery.event_key("t"), "{name}");
            assert_eq!(copy.event_type(), delivery.event_type(), "{name}");
            assert_eq!(copy.fingerprint(), delivery.fingerprint(), "{name}");
        }
        assert!(seen > 0, "{name}");
    }
}

#[test]
fn whatever_passes_means_the_same() {
    for scheme in composed() {
        let secrets = secrets(scheme, SECRET);
        let mut loose = false;
        for request in requests(scheme) {
            // RSA takes its time in a debug build: every fifth bit then.
            let step = if scheme.mac().is_public_key() { 5 } else { 1 };
            for changed in flips(&request).into_iter().step_by(step) {
                if accepts(&secrets, &changed) {
                    loose |= changed.body != request.body;
                    assert!(
                        means_the_same(scheme, &request, &changed),
                        "{}: {} {:?} {:?} {:?} and {} {:?} {:?}",
                        scheme.name(),
                        request.url,
                        request.headers,
                        request.body.escape_ascii().to_string(),
                        request.method,
                        changed.url,
                        changed.headers,
                        changed.body.escape_ascii().to_string(),
                    );
                }
            }
        }
        // What is said to be covered no more than it is: some byte of such a body may change.
        // A checksum lets no single bit pass: the vectors have the body that it does let pass.
        if scheme.coverage().extent != Extent::Body && !has_checksum(scheme) {
            assert!(loose, "{} covers more than it says", scheme.name());
        }
    }
}

fn has_checksum(scheme: &Scheme) -> bool {
    let checksum = |part: &Part| matches!(part, Part::Of(Transform::Crc32, _));
    scheme.contents().any(|parts| parts.iter().any(checksum))
}

/// The request with one bit of body, URL or a header changed, as far as it remains a text there.
fn flips(request: &Signed) -> Vec<Signed> {
    let mut all = Vec::new();
    for bit in 0..request.body.len() * 8 {
        let mut changed = request.clone();
        changed.body[bit / 8] ^= 1 << (bit % 8);
        all.push(changed);
    }
    for bit in 0..request.url.len() * 7 {
        let mut url = request.url.clone().into_bytes();
        url[bit / 7] ^= 1 << (bit % 7);
        let url = String::from_utf8(url).unwrap();
        all.push(Signed {
            url,
            ..request.clone()
        });
    }
    for header in 0..request.headers.len() {
        for bit in 0..request.headers[header].1.len() * 7 {
            let mut value = request.headers[header].1.clone().into_bytes();
            value[bit / 7] ^= 1 << (bit % 7);
            let mut changed = request.clone();
            changed.headers[header].1 = String::from_utf8(value).unwrap();
            all.push(changed);
        }
    }
    let mut longer = request.clone();
    longer.body.push(b' ');
    all.push(longer);
    all
}

/// Whether some content says the same in both requests, under signatures of the same bytes.
fn means_the_same(scheme: &Scheme, one: &Signed, other: &Signed) -> bool {
    let said = |request: &Signed| -> Vec<Option<Vec<Value>>> {
        let elements = elements(scheme, request);
        scheme
            .contents()
            .map(|parts| {
                let mut said = Vec::new();
                for element in &elements {
                    say(scheme, request, element, parts, &mut said)?;
                }
                Some(said)
            })
            .collect()
    };
    let mut pairs = said(one).into_iter().zip(said(other));
    pairs.any(|(one, other)| one.is_some() && one == other)
        && proof(scheme, one) == proof(scheme, other)
}

/// The JSON that pointers point into: the body, or each element of its array.
fn elements(scheme: &Scheme, request: &Signed) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    match scheme.each_element() {
        Some(pointer) => {
            let list = body.pointer(pointer).and_then(Value::as_array);
            list.cloned().unwrap_or_default()
        }
        None => vec![body],
    }
}

/// Adds what the parts say; `None` if something that they need is not there.
fn say(
    scheme: &Scheme,
    request: &Signed,
    element: &Value,
    parts: &[Part],
    said: &mut Vec<Value>,
) -> Option<()> {
    for part in parts {
        match part {
            Part::Text(_) | Part::Require(_) | Part::Secret | Part::Setting(_) => {}
            Part::Body => said.push(bytes(&request.body)),
            Part::Method => said.push(request.method.clone().into()),
            Part::Url => said.push(request.url.clone().into()),
            Part::UrlBase => said.push(request.url.split('?').next()?.into()),
            Part::Path | Part::PathAndQuery => {
                let url = match part {
                    Part::Path => request.url.split('?').next()?,
                    _ => &request.url,
                };
                let path = url.splitn(4, '/').nth(3).unwrap_or_default();
                said.push(path.into());
            }
            Part::Timestamp => {
                let Some((Stamp::Slot(slot), _)) = scheme.timestamp_source() else {
                    return None;
                };
                said.push(value(request, element, &slot)?);
            }
            Part::Header(slot) | Part::Value(slot) => said.push(value(request, element, slot)?),
            Part::JsonText(pointer) => said.push(element.pointer(pointer)?.clone()),
            Part::SortedQuery => said.push(pairs(query(request).as_bytes(), false)),
            Part::SortedForm => said.push(pairs(&request.body, true)),
            Part::HeaderList(list) => {
                let Lookup::One(names) = request.lookup(list.names.name()) else {
                    return None;
                };
                let items = list.names.items(names);
                for name in items.flat_map(|item| item.split(|byte| *byte == b' ')) {
                    let name = std::str::from_utf8(name.trim_ascii()).ok()?;
                    match request.lookup(name) {
                        Lookup::One(value) => said.push(bytes(value.trim_ascii())),
                        _ => return None,
                    }
                }
            }
            Part::Of(Transform::LowerCase, inner) => {
                let mut text = Vec::new();
                say(scheme, request, element, inner, &mut text)?;
                said.push(Value::from(text).to_string().to_lowercase().into());
            }
            Part::Of(_, inner) => say(scheme, request, element, inner, said)?,
            Part::IfPresent(inner) => {
                let mut group = Vec::new();
                let there = say(scheme, request, element, inner, &mut group);
                said.push(there.map_or(Value::Null, |()| group.into()));
            }
            other => panic!("{other:?} needs a meaning here"),
        }
    }
    Some(())
}

fn value(request: &Signed, element: &Value, slot: &Slot) -> Option<Value> {
    let text = match slot.place() {
        Place::Header => match request.lookup(slot.name()) {
            Lookup::One(value) => String::from_utf8_lossy(value).into_owned(),
            _ => return None,
        },
        Place::Json => return element.pointer(slot.name()).cloned(),
        Place::Query => field(query(request).as_bytes(), slot)?,
        Place::Form => field(&request.body, slot)?,
        Place::Param => {
            field(query(request).as_bytes(), slot).or_else(|| field(&request.body, slot))?
        }
        _ => String::from_utf8_lossy(&request.body).into_owned(),
    };
    if slot.is_header() && slot.inner_pointer().is_none() {
        // Several items may share the header; the others are not this value.
        let items: Vec<Value> = slot.items(text.as_bytes()).map(bytes).collect();
        return Some(items.into());
    }
    Some(text.into())
}

fn field(text: &[u8], slot: &Slot) -> Option<String> {
    let mut found = form_urlencoded::parse(text).filter(|(name, _)| name == slot.name());
    found.next().map(|(_, value)| value.into_owned())
}

fn query(request: &Signed) -> &str {
    request.url.split_once('?').map_or("", |(_, query)| query)
}

fn pairs(text: &[u8], once: bool) -> Value {
    let mut pairs: Vec<_> = form_urlencoded::parse(text).into_owned().collect();
    pairs.sort();
    if once {
        pairs.dedup();
    }
    // Joined as they are signed: where a name ends and its value begins is not covered.
    let joined = |(name, value): (String, String)| name + &value;
    pairs
        .into_iter()
        .map(joined)
        .collect::<Vec<_>>()
        .concat()
        .into()
}

fn bytes(bytes: &[u8]) -> Value {
    STANDARD.encode(bytes).into()
}

/// The bytes of every signature in the request, however they are spelt.
fn proof(scheme: &Scheme, request: &Signed) -> Vec<Vec<u8>> {
    let first = scheme.signature_slot();
    let slots: Vec<Slot> = first
        .into_iter()
        .chain(scheme.more_signature_slots().iter().copied())
        .collect();
    let mut all = Vec::new();
    for element in elements(scheme, request) {
        for slot in &slots {
            all.extend(texts(scheme, request, &element, slot));
        }
    }
    all
}

fn texts(scheme: &Scheme, request: &Signed, element: &Value, slot: &Slot) -> Vec<Vec<u8>> {
    let texts = match value(request, element, slot) {
        Some(Value::String(text)) if slot.inner_pointer().is_some() => vec![text.into_bytes()],
        // A key's name in front of the signature is not looked at.
        Some(Value::String(text)) => slot.items(text.as_bytes()).map(<[u8]>::to_vec).collect(),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| STANDARD.decode(item.as_str().unwrap()).unwrap())
            .collect(),
        _ => Vec::new(),
    };
    let spelt = |text: Vec<u8>| {
        let text = match slot.inner_pointer() {
            Some(pointer) => inner(&text, pointer).unwrap_or(text),
            None => text,
        };
        match scheme.encoding() {
            Encoding::Hex => text.to_ascii_lowercase(),
            Encoding::PercentBase64 => percent(&text),
            _ => text,
        }
    };
    texts.into_iter().map(spelt).collect()
}

fn inner(text: &[u8], pointer: &str) -> Option<Vec<u8>> {
    let document: Value = serde_json::from_slice(&STANDARD.decode(text).ok()?).ok()?;
    Some(document.pointer(pointer)?.as_str()?.as_bytes().to_vec())
}

fn percent(text: &[u8]) -> Vec<u8> {
    let text = percent_encoding::percent_decode(text).collect::<Vec<u8>>();
    text.iter()
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => *byte,
        })
        .filter(|byte| *byte != b'=')
        .collect()
}
