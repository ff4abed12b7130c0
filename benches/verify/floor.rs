//! What is measured against: the bare MAC, and the same check written out by hand.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac as _};
use http::HeaderMap;
use sha2::Sha256;
use time::OffsetDateTime;

use crate::request::{Kind, Request};

/// MAC, decoding and comparison, of inputs that are at hand.
pub fn floor(key: &Hmac<Sha256>, request: &Request) -> bool {
    let mut mac = key.clone();
    for piece in &request.pieces {
        mac.update(piece.as_bytes());
    }
    mac.update(&request.body);
    matches(mac, request.kind, request.signature.as_bytes())
}

fn matches(mac: Hmac<Sha256>, kind: Kind, signature: &[u8]) -> bool {
    let mut room = [0; 33]; // For all that its decoder knows, 44 digits of base64 may need it.
    let length = if kind.is_hex() {
        hex::decode_to_slice(signature, &mut room[..32])
            .map(|()| 32)
            .ok()
    } else {
        STANDARD.decode_slice(signature, &mut room).ok()
    };
    length.is_some_and(|length| mac.verify_slice(&room[..length]).is_ok())
}

/// The floor and what a service cannot leave out either: finding the headers, cutting the
/// signature out, reading the time and judging it. It takes the first of repeated headers and
/// the last of several signatures, so it is no example to follow.
pub fn by_hand(
    key: &Hmac<Sha256>,
    kind: Kind,
    headers: &HeaderMap,
    body: &[u8],
    now: OffsetDateTime,
) -> Option<()> {
    let value = |name: &str| headers.get(name)?.to_str().ok();
    let fresh = |stamp: &str| {
        let age = now.unix_timestamp().checked_sub(stamp.parse().ok()?)?;
        (age.unsigned_abs() <= 300).then_some(())
    };
    let mut mac = key.clone();
    let signature = match kind {
        Kind::GitHub => value("x-hub-signature-256")?.strip_prefix("sha256=")?,
        Kind::Stripe => {
            let (mut stamp, mut signature) = (None, None);
            for item in value("stripe-signature")?.split(',') {
                match item.split_once('=')? {
                    ("t", text) => stamp = Some(text),
                    ("v1", text) => signature = Some(text),
                    _ => {}
                }
            }
            fresh(stamp?)?;
            mac.update(stamp?.as_bytes());
            mac.update(b".");
            signature?
        }
        Kind::StandardWebhooks => {
            let stamp = value("webhook-timestamp")?;
            fresh(stamp)?;
            for piece in [value("webhook-id")?, ".", stamp, "."] {
                mac.update(piece.as_bytes());
            }
            let list = value("webhook-signature")?.split(' ');
            list.filter_map(|item| item.strip_prefix("v1,"))
                .next_back()?
        }
    };
    mac.update(body);
    matches(mac, kind, signature.as_bytes()).then_some(())
}
