//! What a sender signs is accepted, and nothing else is.

use arbitrary::{Arbitrary as _, Result, Unstructured};
use hookproof::{
    headers::RequestTarget,
    scheme::{IdSource, Part, Scheme, Slot, Stamp},
    testing::Signer,
};
use time::OffsetDateTime;

use crate::{
    input::{bytes, json_body},
    oracle::{self, Answer, Fields},
    senders::{Sender, sender},
    tamper,
    verify::Facts,
};

/// What is sent, and how it is spoilt.
pub(crate) struct Case<'a> {
    pub(crate) sender: &'static Sender,
    pub(crate) key: usize,
    pub(crate) at: OffsetDateTime,
    pub(crate) now: OffsetDateTime,
    pub(crate) ids: Vec<String>,
    pub(crate) unsigned: &'a [u8],
    pub(crate) bit: usize,
    pub(crate) cut: usize,
    pub(crate) body: Vec<u8>,
}

fn read(data: &[u8]) -> Result<Case<'_>> {
    let mut input = Unstructured::new(data);
    let sender = sender(u32::arbitrary(&mut input)?);
    let key = u8::arbitrary(&mut input)?;
    // Up to the year 9999, less a day for the window.
    let seconds = u64::arbitrary(&mut input)? % (253_402_300_799 - 86_400);
    let nanos = u32::arbitrary(&mut input)? % 1_000_000_000;
    let seconds = seconds.max(sender.scheme.earliest_second());
    let at = OffsetDateTime::from_unix_timestamp(seconds as i64).expect("a date")
        + time::Duration::nanoseconds(nanos.into());
    let window = sender.scheme.default_tolerance().as_secs() as i64;
    let age = i64::from(i16::arbitrary(&mut input)?) % (window + 1);
    let bit = u32::arbitrary(&mut input)? as usize;
    let cut = usize::from(u16::arbitrary(&mut input)?);
    let ids = (0..2)
        .map(|_| Ok(id(bytes(&mut input)?)))
        .collect::<Result<_>>()?;
    let unsigned = bytes(&mut input)?;
    let now = at.checked_add(time::Duration::seconds(age)).unwrap_or(at);
    let body = body(sender, at, input.take_rest());
    let key = usize::from(key) % sender.keys.len();
    Ok(Case {
        sender,
        key,
        at,
        now,
        ids,
        unsigned,
        bit,
        cut,
        body,
    })
}

/// An id that every scheme takes.
fn id(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    let letters = bytes.iter().chain([&b'1'][..].iter().copied()).take(64);
    letters
        .map(|byte| char::from(LETTERS[usize::from(byte % 64)]))
        .collect()
}

/// The bytes as they are, or inside JSON where the time of sending has to be there too.
fn body(sender: &Sender, at: OffsetDateTime, bytes: &[u8]) -> Vec<u8> {
    match sender.scheme.timestamp_source() {
        Some((Stamp::Json(_), _)) => {
            json_body(sender.scheme, at, String::from_utf8_lossy(bytes).into())
        }
        _ => bytes.to_vec(),
    }
}

/// The input that reads as a sender, a time of sending and a body.
pub fn seed(sender: &Sender, seconds: u64, body: &[u8]) -> Vec<u8> {
    let mut data = sender.tag.to_le_bytes().to_vec();
    data.push(0);
    data.extend(seconds.to_le_bytes());
    // No fraction of a second and no age; then which bit is flipped, and where to cut.
    data.extend([0; 6]);
    data.extend(1000_u32.to_le_bytes());
    data.extend(7_u16.to_le_bytes());
    for text in [&b"msg_1"[..], b"msg_2", b"unsigned"] {
        data.extend(u16::try_from(text.len()).expect("short").to_le_bytes());
        data.extend(text);
    }
    data.extend(body);
    data
}

/// Target: [`Signer`] and `verify` are inverse, and whatever is changed is refused.
pub fn sign_then_verify(data: &[u8]) {
    let Ok(case) = read(data) else { return };
    let fields = sign(&case);
    if case.sender.keys[case.key].in_force(case.now) {
        let facts = accept(&case, &fields);
        add_unsigned(&case, &fields, &facts);
        tamper::flip(&case, &fields);
        tamper::repeat(&case, &fields);
        tamper::recut(&case, &fields, &facts);
    } else {
        refuse(&case, &fields, &case.body, "a key past its time");
    }
}

fn sign(case: &Case<'_>) -> Fields {
    let scheme = case.sender.scheme;
    let mut signer = Signer::new(scheme, case.sender.keys[case.key].secret())
        .at(case.at)
        .target(oracle::METHOD, oracle::URL);
    for (slot, id) in signed_headers(scheme).zip(&case.ids) {
        signer = signer.header(slot.name(), format!("{}{id}", slot.fixed_prefix()));
    }
    let headers = signer.sign(&case.body).expect("can be signed").headers;
    headers
        .into_iter()
        .map(|(name, value)| (name, value.into_bytes()))
        .collect()
}

/// Must be accepted, by us and by the oracle.
pub(crate) fn accept(case: &Case<'_>, fields: &Fields) -> Facts {
    let Case {
        sender, now, body, ..
    } = case;
    let request = RequestTarget::new(fields, oracle::METHOD, oracle::URL);
    let delivery = hookproof::verify(body, &request, &sender.ring(true).secrets, *now);
    let delivery = delivery.expect("what was signed is accepted");
    assert_eq!(delivery.key_index(), case.key);
    assert_eq!(
        delivery.timestamp().is_some(),
        sender.scheme.timestamp_source().is_some()
    );
    let sent = delivery.timestamp().unwrap_or(case.at);
    assert!((case.at - time::Duration::SECOND..=case.at).contains(&sent));
    for (slot, id) in signed_headers(sender.scheme).zip(&case.ids) {
        let named = sender.scheme.id_source() == IdSource::Header(slot.name());
        if named && sender.scheme.ambiguity().is_none() {
            let event = delivery.event_key("").expect("a signed id");
            assert_eq!(event.id(), id);
        }
    }
    let answer = oracle::judge(sender.scheme, &sender.keys, fields, body, *now);
    assert_eq!(answer, Answer::Accepted);
    Facts::of(&delivery)
}

/// Must be refused, and not as if it were authentic.
pub(crate) fn refuse(case: &Case<'_>, fields: &Fields, body: &[u8], why: &str) {
    let secrets = &case.sender.ring(true).secrets;
    let request = RequestTarget::new(fields, oracle::METHOD, oracle::URL);
    let refused = match hookproof::verify(body, &request, secrets, case.now) {
        Ok(_) => false,
        Err(rejection) => rejection.into_stale().is_none(),
    };
    assert!(refused, "{}: {why}: {fields:?}", case.sender.scheme.name());
}

fn signed_headers(scheme: &Scheme) -> impl Iterator<Item = Slot> {
    scheme.parts().iter().filter_map(|part| match part {
        Part::Header(slot) => Some(*slot),
        _ => None,
    })
}

/// Every header that the signature stands in or covers.
fn covered(scheme: &Scheme) -> impl Iterator<Item = Slot> {
    let stamp = scheme
        .timestamp_source()
        .and_then(|(stamp, _)| match stamp {
            Stamp::Slot(slot) => Some(slot),
            _ => None,
        });
    let more = scheme.more_signature_slots().iter().copied();
    signed_headers(scheme)
        .chain(stamp)
        .chain(scheme.signature_slot())
        .chain(more)
}

/// What nobody signed says nothing about which event it is.
fn add_unsigned(case: &Case<'_>, fields: &Fields, before: &Facts) {
    let scheme = case.sender.scheme;
    let mut fields = fields.clone();
    let signed: Vec<&str> = covered(scheme).map(|slot| slot.name()).collect();
    for name in &case.sender.names {
        if !signed.contains(&&**name) && scheme.key_id_header() != Some(name) {
            fields.push((name.clone(), case.unsigned.to_vec()));
        }
    }
    let after = accept(case, &fields);
    assert_eq!(after.event, before.event);
    assert_eq!(after.content, before.content);
    assert_eq!(after.fingerprint, before.fingerprint);
}
