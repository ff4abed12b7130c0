//! Requests that no vector has: the target signs them by itself, so that a fuzzer can change them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof::scheme::{Encoding, MAX_HEADER_BYTES, MAX_SIGNATURES, Part, Slot, Stamp, Unit};
use hookproof_fuzz::{
    input::{
        ALL_KEYS, CUT_SHORT, ENDORSE, IN_FRONT, LAST_HEADER, Request, TOO_LONG, UPPER_CASE,
        json_body,
    },
    senders::Sender,
};
use serde_json::Value;
use time::{Duration, OffsetDateTime};

use crate::NOW;

/// A request with this id and this time, or a usual one.
fn request(sender: &Sender, flags: u8, id: &str, stamp: Option<&str>) -> Request {
    let now = OffsetDateTime::from_unix_timestamp(NOW).expect("a date");
    let mut request = Request {
        sender: sender.tag,
        flags: ALL_KEYS | ENDORSE | flags,
        now,
        headers: Vec::new(),
        body: json_body(sender.scheme, now, Value::Null),
    };
    let mut put = |name: &str, value: String| {
        let index = sender
            .names
            .iter()
            .position(|known| known == name)
            .expect("a known name");
        request
            .headers
            .push((u8::try_from(index).expect("few names"), value.into_bytes()));
    };
    for part in sender.scheme.parts() {
        match (part, sender.scheme.timestamp_source()) {
            (Part::Header(slot), _) => put(slot.name(), format!("{}{id}", slot.fixed_prefix())),
            (Part::Timestamp, Some((Stamp::Slot(slot), unit))) => {
                let usual = usual_time(unit);
                let stamp = stamp.unwrap_or(&usual);
                put(slot.name(), format!("{}{stamp}", slot.fixed_prefix()));
            }
            _ => {}
        }
    }
    request
}

fn usual_time(unit: Unit) -> String {
    match unit {
        Unit::Rfc3339 => "2027-01-15T08:00:00Z".into(),
        Unit::Millis => format!("{NOW}000"),
        _ => NOW.to_string(),
    }
}

/// What one of the senders might be asked to sign, by name.
pub fn all(sender: &Sender) -> Vec<(&'static str, Request)> {
    let scheme = sender.scheme;
    let usual = |flags| request(sender, flags, "msg_1", None);
    let mut requests = vec![
        ("usual", usual(0)),
        ("upper-case", usual(UPPER_CASE)),
        ("cut-short", usual(CUT_SHORT)),
        ("too-long", usual(TOO_LONG)),
    ];
    if !scheme.more_signature_slots().is_empty() {
        requests.extend([
            ("in-last-header", usual(LAST_HEADER)),
            ("cut-short-in-last-header", usual(LAST_HEADER | CUT_SHORT)),
        ]);
    }
    if scheme
        .parts()
        .iter()
        .any(|part| matches!(part, Part::Header(_)))
    {
        requests.extend([
            ("id-with-stop", request(sender, 0, "msg.1", None)),
            ("id-with-blank", request(sender, 0, "msg 1", None)),
            ("no-id", request(sender, 0, "", None)),
        ]);
    }
    match scheme.timestamp_source() {
        Some((Stamp::Slot(_), Unit::Rfc3339)) => requests.extend([
            (
                "blank-for-t",
                request(sender, 0, "msg_1", Some("2027-01-15 08:00:00Z")),
            ),
            (
                "with-offset",
                request(sender, 0, "msg_1", Some("2027-01-15T09:00:00+01:00")),
            ),
            (
                "no-zone",
                request(sender, 0, "msg_1", Some("2027-01-15T08:00:00")),
            ),
        ]),
        Some((Stamp::Slot(_), unit)) => {
            let usual = usual_time(unit);
            let at = |stamp: String| request(sender, 0, "msg_1", Some(&stamp));
            requests.extend([
                ("leading-zero", at(format!("0{usual}"))),
                ("plus-sign", at(format!("+{usual}"))),
                ("fraction", at(format!("{usual}.0"))),
                ("more-than-fits", at("36893488149219103232".into())),
            ]);
        }
        Some((Stamp::Json(pointer), _)) => {
            let body = |text: &str| Request {
                body: text.replace("/t", &pointer[1..]).into(),
                ..usual(0)
            };
            requests.extend([
                ("time-as-text", body(r#"{"/t":"1800000000000"}"#)),
                (
                    "time-twice",
                    body(r#"{"/t":1800000000000,"/t":1800000000000}"#),
                ),
                ("time-in-array", body("[1800000000000]")),
                ("time-with-fraction", body(r#"{"/t":1800000000000.0}"#)),
            ]);
        }
        _ => {}
    }
    if let Some((_, unit)) = scheme.timestamp_source() {
        // The receiver's clock is cut down to the unit before the age is judged.
        let step = match unit {
            Unit::Seconds => Duration::SECOND,
            Unit::Millis => Duration::MILLISECOND,
            _ => Duration::MICROSECOND,
        };
        let window = scheme.default_tolerance();
        let at = |now: OffsetDateTime| Request { now, ..usual(0) };
        let now = usual(0).now;
        requests.extend([
            ("oldest", at(now + window + step - Duration::MICROSECOND)),
            ("too-old", at(now + window + step)),
            ("furthest-ahead", at(now - window)),
            ("too-far-ahead", at(now - window - Duration::MICROSECOND)),
        ]);
    }
    if let Some(name) = scheme.key_id_header() {
        for (seed, id) in [
            ("right-key-id", "old"),
            ("other-key-id", "new"),
            ("unknown-key-id", "x"),
        ] {
            let mut request = usual(0);
            *value(&mut request, Slot::header(name)) = id.into();
            requests.push((seed, request));
        }
    }
    if let Some((slot, separator)) = scheme
        .signature_slot()
        .and_then(|slot| Some((slot, slot.separator()?)))
    {
        let zeros = vec![0; scheme.mac().tag_len().unwrap_or(1)];
        let text = match scheme.encoding() {
            Encoding::Hex => "00".repeat(zeros.len()),
            _ => STANDARD.encode(zeros),
        };
        let wrong = format!("{}{text}", slot.fixed_prefix());
        let among = |request: Request, items: &[&str]| add(request, slot, separator, items);
        let most = vec![&wrong[..]; MAX_SIGNATURES];
        requests.extend([
            ("last-of-most", among(usual(0), &most[1..])),
            ("one-too-many", among(usual(0), &most)),
            ("first-of-most", among(usual(IN_FRONT), &most[1..])),
            ("cut-short-among-others", among(usual(CUT_SHORT), &[&wrong])),
            ("too-long-among-others", among(usual(TOO_LONG), &[&wrong])),
        ]);
        // One is enough: these are long.
        if scheme.name() == "stripe" {
            // The time is there, the target adds the signature, and a separator stands between.
            let room = MAX_HEADER_BYTES - value(&mut usual(0), slot).len() - wrong.len() - 2;
            requests.extend([
                ("longest-header", among(usual(0), &[&"-".repeat(room)])),
                ("header-too-long", among(usual(0), &[&"-".repeat(room + 1)])),
            ]);
        }
    }
    requests
}

/// The value of a slot's header, which is added if it is not there.
fn value(request: &mut Request, slot: Slot) -> &mut Vec<u8> {
    let names = &request.sender().names;
    let index = names
        .iter()
        .position(|name| name == slot.name())
        .expect("a known name");
    let index = u8::try_from(index).expect("few names");
    let place = request
        .headers
        .iter()
        .position(|(known, _)| *known == index);
    let place = place.unwrap_or_else(|| {
        request.headers.push((index, Vec::new()));
        request.headers.len() - 1
    });
    &mut request.headers[place].1
}

fn add(mut request: Request, slot: Slot, separator: u8, items: &[&str]) -> Request {
    let value = value(&mut request, slot);
    for item in items {
        if !value.is_empty() {
            value.push(separator);
        }
        value.extend(item.as_bytes());
    }
    request
}
