//! Sign, then flip any one bit of anything signed: it must be rejected. For every scheme.
//!
//! The signatures are flipped as bytes, since a scheme may spell the same byte in two ways (`a` and
//! `A` in hex); that such spellings are all that passes is checked on the text as well.
#![cfg(all(feature = "json", feature = "testing"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![allow(clippy::arithmetic_side_effects)]

mod common;

use hookproof::{
    Malformed, RejectionKind, Secret, Secrets,
    headers::Headers,
    scheme::{self, Encoding, Mac, Part, Scheme, Slot, Stamp, Unit},
    testing::{Signed, Signer},
};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);

const SECRET: &str = "a-secret-of-sufficient-length";

/// The rows that sign bytes of the request in a row; `tests/composed.rs` has the others.
fn rows() -> impl Iterator<Item = &'static Scheme> {
    let rows = scheme::ALL.iter().copied();
    rows.filter(|scheme| !common::is_composed(scheme))
}

fn secret(scheme: &Scheme) -> Secret {
    common::with_settings(scheme, common::secret(scheme, SECRET))
}

fn body(scheme: &Scheme) -> Vec<u8> {
    common::body(scheme, NOW)
}

fn signed(scheme: &'static Scheme, body: &[u8]) -> Signed {
    let secret = common::with_settings(scheme, common::signing_secret(scheme, SECRET));
    Signer::new(scheme, secret).at(NOW).sign(body).unwrap()
}

fn accepts(secrets: &Secrets, body: &[u8], headers: &impl Headers) -> bool {
    hookproof::verify(body, headers, secrets, NOW).is_ok()
}

#[test]
fn what_is_signed_verifies() {
    for scheme in rows() {
        let secrets = Secrets::new(scheme, [secret(scheme)]).unwrap();
        let bodies: [&[u8]; 2] = [&body(scheme), b"\xff\x00 not JSON"];
        for body in bodies {
            // A time inside the body needs a body that has one, and a meaning one that means
            // something.
            let json = matches!(scheme.timestamp_source(), Some((Stamp::Json(_), _)))
                || common::covers_meaning(scheme);
            if json && body[0] == 0xff {
                continue;
            }
            let request = signed(scheme, body);
            assert!(
                accepts(&secrets, &request.body, &request),
                "{}",
                scheme.name()
            );
        }
    }
}

#[test]
fn any_flipped_bit_of_the_body_is_rejected() {
    for scheme in rows() {
        let secrets = Secrets::new(scheme, [secret(scheme)]).unwrap();
        let request = signed(scheme, &body(scheme));
        let covered = scheme.coverage().body;
        for bit in 0..request.body.len() * 8 {
            let mut body = request.body.clone();
            body[bit / 8] ^= 1 << (bit % 8);
            // A token covers nothing, and its coverage says so.
            assert_eq!(
                accepts(&secrets, &body, &request),
                !covered,
                "{} {bit}",
                scheme.name()
            );
        }
        let longer = [&request.body[..], b" "].concat();
        let white = common::covers_meaning(scheme);
        assert_eq!(
            accepts(&secrets, &longer, &request),
            !covered || white,
            "{}",
            scheme.name()
        );
        if white {
            // It passes, but makes no other event of it.
            let key = |body| {
                let delivery = hookproof::verify(body, &request, &secrets, NOW).unwrap();
                delivery.content_key("").unwrap()
            };
            assert_eq!(key(&longer), key(&request.body));
        }
    }
}

/// Where a time in digits touches the body, no other cut may pass under the same signature. The
/// rows that tolerate such a content say why; this is the proof.
#[test]
fn digits_moved_between_time_and_body_are_rejected() {
    let mut seen = 0;
    for scheme in rows() {
        let first = match scheme.parts() {
            [Part::Timestamp, Part::Body] => true,
            [Part::Body, Part::Timestamp] => false,
            _ => continue,
        };
        let Some((Stamp::Slot(slot), Unit::Seconds | Unit::Millis)) = scheme.timestamp_source()
        else {
            continue;
        };
        seen += 1;
        let secrets = Secrets::new(scheme, [secret(scheme)]).unwrap();
        let request = signed(scheme, &body(scheme));
        let place = request
            .headers
            .iter()
            .position(|(name, _)| name == slot.name())
            .unwrap();
        let text = request.headers[place].1.clone();
        let stamp = std::str::from_utf8(slot.single(text.as_bytes()).unwrap()).unwrap();
        for at in 1..stamp.len() {
            let (kept, body) = if first {
                let (kept, moved) = stamp.split_at(at);
                (kept, [moved.as_bytes(), &request.body].concat())
            } else {
                let (moved, kept) = stamp.split_at(at);
                (kept, [&request.body, moved.as_bytes()].concat())
            };
            let mut cut = request.clone();
            cut.headers[place].1 = text.replacen(stamp, kept, 1);
            let refused = hookproof::verify(&body, &cut, &secrets, NOW).unwrap_err();
            // A kept part with a leading zero cannot be read; any other is authentic, but old.
            let unreadable = kept.starts_with('0') && kept.len() > 1;
            let as_expected = match refused.kind() {
                RejectionKind::Stale { .. } => !unreadable,
                kind => unreadable && kind == RejectionKind::Malformed(Malformed::Timestamp),
            };
            assert!(as_expected, "{} {at}: {refused}", scheme.name());
        }
    }
    assert!(seen > 0);
}

/// The headers that a signature covers, with the signature's own.
fn protected(scheme: &Scheme) -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    names.extend(scheme.signature_slot().and_then(|slot| slot.header_name()));
    if let Some((Stamp::Slot(slot), _)) = scheme.timestamp_source() {
        names.push(slot.name());
    }
    names.extend(scheme.parts().iter().filter_map(|part| match part {
        Part::Header(slot) => Some(slot.name()),
        _ => None,
    }));
    #[cfg(feature = "http-signatures")]
    if let Some(rule) = scheme.http_signature_rule() {
        names.extend(["Signature-Input", "Content-Digest"]);
        let fields = rule
            .components()
            .iter()
            .filter(|name| !name.starts_with('@'));
        names.extend(fields);
    }
    names.dedup();
    names
}

#[test]
fn any_flipped_bit_of_a_protected_header_is_rejected() {
    for scheme in rows() {
        let secrets = Secrets::new(scheme, [secret(scheme)]).unwrap();
        let request = signed(scheme, &body(scheme));
        for name in protected(scheme) {
            let place = request.headers.iter().position(|(n, _)| n == name).unwrap();
            let text = request.headers[place].1.as_bytes();
            for bit in 0..text.len() * 8 {
                let mut headers: Vec<(String, Vec<u8>)> = request
                    .headers
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone().into_bytes()))
                    .collect();
                headers[place].1[bit / 8] ^= 1 << (bit % 8);
                let same = same_signature(scheme, text, &headers[place].1);
                let passes = accepts(&secrets, &request.body, &headers);
                assert!(!passes || same, "{}: bit {bit} of {name}", scheme.name());
            }
        }
    }
}

/// A signature counts wherever the scheme says that one may be, and nowhere else.
#[test]
fn signatures_in_further_headers_count() {
    let mut seen = 0;
    for scheme in rows() {
        let secrets = Secrets::new(scheme, [secret(scheme)]).unwrap();
        let request = signed(scheme, &body(scheme));
        let Some(first) = scheme.signature_slot().filter(Slot::is_header) else {
            continue;
        };
        let place = request
            .headers
            .iter()
            .position(|(name, _)| name == first.name())
            .unwrap();
        for slot in scheme.more_signature_slots() {
            let mut moved = request.clone();
            let bare = moved.headers[place].1.split_off(first.fixed_prefix().len());
            moved.headers[place] = (slot.name().into(), [slot.fixed_prefix(), &bare].concat());
            assert!(accepts(&secrets, &moved.body, &moved), "{slot:?}");
            moved.body.push(b' ');
            let covered = scheme.coverage().body;
            assert_eq!(accepts(&secrets, &moved.body, &moved), !covered, "{slot:?}");
            moved.body.pop();
            moved.headers[place].0.push_str("-else");
            assert!(!accepts(&secrets, &moved.body, &moved), "{slot:?}");
            seen += 1;
        }
    }
    assert!(seen > 0);
}

/// Whether two header values spell the same signature bytes and agree in everything else.
fn same_signature(scheme: &Scheme, one: &[u8], other: &[u8]) -> bool {
    // `Basic` and `Bearer` may be written in any case; what stands behind them may not.
    let slot = scheme.signature_slot().unwrap();
    let cut = items(slot, one);
    if one.eq_ignore_ascii_case(other) && !cut.is_empty() && cut == items(slot, other) {
        return true;
    }
    scheme.encoding() == Encoding::Hex
        && scheme.mac() != Mac::Token
        && one.eq_ignore_ascii_case(other)
        && items(scheme.signature_slot().unwrap(), one).len()
            == items(scheme.signature_slot().unwrap(), other).len()
}

fn items(slot: Slot, text: &[u8]) -> Vec<&[u8]> {
    slot.items(text).collect()
}

#[test]
fn any_flipped_bit_of_the_method_or_url_is_rejected() {
    const SIGNS_TARGET: Scheme = Scheme::new("target", Mac::HmacSha512)
        .signature(Slot::header("X-Signature"), Encoding::Base64Url)
        .content(&[Part::Method, Part::Text(" "), Part::Url, Part::Body])
        .ambiguous_boundary("the URL comes from configuration, so nobody can move its end");
    let secrets = Secrets::new(&SIGNS_TARGET, [secret(&SIGNS_TARGET)]).unwrap();
    let request = signed(&SIGNS_TARGET, b"{}");
    assert!(accepts(&secrets, b"{}", &request));
    for bit in 0..request.url.len() * 7 {
        let mut url = request.url.clone().into_bytes();
        url[bit / 7] ^= 1 << (bit % 7);
        let changed = Signed {
            url: String::from_utf8(url).unwrap(),
            ..request.clone()
        };
        assert!(!accepts(&secrets, b"{}", &changed), "bit {bit}");
    }
    let changed = Signed {
        method: "PUT".into(),
        ..request.clone()
    };
    assert!(!accepts(&secrets, b"{}", &changed));
    // Without a target nothing can be verified, whatever the signature.
    assert!(!accepts(&secrets, b"{}", &request.headers));
}

/// A signature under one key never passes under another, nor one scheme's under another scheme.
#[test]
fn wrong_key_and_wrong_scheme_are_rejected() {
    for scheme in rows() {
        let other = common::secret(scheme, "another-secret-of-some-length");
        let other = common::with_settings(scheme, other);
        let secrets = Secrets::new(scheme, [other]).unwrap();
        let request = signed(scheme, &body(scheme));
        assert!(
            !accepts(&secrets, &request.body, &request),
            "{}",
            scheme.name()
        );
    }
}
