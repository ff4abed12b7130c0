//! The first statement: this request is authentic.

mod compose;
mod composed;
#[cfg(feature = "form")]
mod form;
#[cfg(feature = "http-signatures")]
mod http_signature;
mod identity;
#[cfg(feature = "jwt")]
mod jwt;
mod mac;
mod owned;
mod read;
mod rejection;
mod request;
mod ring;
mod signatures;
mod stamp;
mod transform;
mod verified;

use time::OffsetDateTime;

#[cfg(all(feature = "http-signatures", feature = "testing"))]
pub(crate) use http_signature::base_to_sign;
#[cfg(feature = "http-signatures")]
pub(crate) use http_signature::fields;
pub(crate) use mac::MacKey;
pub use owned::{StaleDelivery, VerifiedBuf};
pub(crate) use read::Reader;
pub use rejection::{Invalid, KeyNeeded, Malformed, Rejection, RejectionKind};
pub(crate) use request::Request;
pub(crate) use transform::apply as transformed;
#[cfg(any(feature = "testing", feature = "handshake"))]
pub(crate) use transform::encode;
pub use verified::Verified;
pub(crate) use verified::printable;
#[cfg(feature = "testing")]
pub(crate) use {
    compose::{Composer, Purpose},
    transform::lower_hex,
};

use ring::Tried;
use signatures::Signatures;

use crate::{
    headers::Headers,
    scheme::{MAX_PARTS, Stamp},
    secrets::{Key, Secrets},
};

/// Verifies one delivery.
///
/// Finds and reads the headers (bounded), computes the MAC over the exact bytes, lets it compare
/// every candidate in constant time, and judges the age last, so that [`Rejection::Stale`] always
/// means *authentic but late*. Reads no clock, does no I/O, and allocates nothing when an HMAC
/// delivery is accepted (a time inside a JSON body costs the parser's stack of open brackets). At
/// most one MAC per key in the ring is computed, whatever the header holds. (HTTP message
/// signatures allocate the text that was signed, and cost one MAC per key and label, of at most 4;
/// tokens allocate what they hold. Schemes that sign values from elsewhere than bytes of the request
/// in a row are put together in memory, and cost one MAC per key and content that the request may
/// be meant for: one of most, up to two of Twilio.)
///
/// A public key checks each signature by itself, so there a request may hold no more than
/// [`MAX_PUBLIC_KEY_SIGNATURES`](crate::scheme::MAX_PUBLIC_KEY_SIGNATURES), and each key in force
/// that the request may be from looks at each of them: keep such rings short, or name the keys.
/// RSA puts its numbers on the heap.
///
/// `raw_body` are the bytes as they came over the wire, before any decoding or parsing. `now` is
/// the caller's clock.
///
/// ```
/// use hookproof::{Secrets, scheme};
/// use time::macros::datetime;
///
/// let secrets = Secrets::new(&scheme::STRIPE, ["whsec_T3st0nlyAlphaKey4711xyz"])?;
/// let now = datetime!(2027-01-15 08:00 UTC);
/// let body = br#"{"id":"evt_lib_lambda"}"#;
/// let headers = [(
///     "Stripe-Signature",
///     "t=1800000000,v1=047cdc5376e973546d359a472bac3648a16e17841be25527da2e7616f527fa82",
/// )];
///
/// let delivery = hookproof::verify(body, &headers, &secrets, now)?;
/// assert_eq!(delivery.body(), body);
/// assert!(hookproof::verify(b"{}", &headers, &secrets, now).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Rejection`]: answer all of them alike, with 401 and [`Rejection::WIRE_TEXT`].
pub fn verify<'a>(
    raw_body: &'a [u8],
    headers: &'a impl Headers,
    secrets: &'a Secrets,
    now: OffsetDateTime,
) -> Result<Verified<'a>, Rejection> {
    verify_any(raw_body, headers, secrets, now)
}

/// Compiled once, here, whatever the type of the headers.
fn verify_any<'a>(
    raw_body: &'a [u8],
    headers: &'a dyn Headers,
    secrets: &'a Secrets,
    now: OffsetDateTime,
) -> Result<Verified<'a>, Rejection> {
    let scheme = secrets.scheme();
    let reader = Reader::new(scheme, headers);
    #[cfg(feature = "jwt")]
    if let Some(rules) = scheme.token_rules() {
        return jwt::verify(reader, rules, raw_body, secrets, now);
    }
    #[cfg(feature = "http-signatures")]
    if let Some(rule) = scheme.http_signature_rule() {
        return http_signature::verify(reader, rule, raw_body, secrets, now);
    }
    if !secrets.is_plain() {
        return composed::verify(raw_body, reader, secrets, now);
    }

    // Everything that can be read is read, and bounded, before anything is hashed.
    let signatures = Signatures::read(reader)?;
    let mut parts: [&[u8]; MAX_PARTS] = [&[]; MAX_PARTS];
    let header_stamp = reader.parts(&mut parts, raw_body, signatures.first())?;
    let parts = parts.get(..scheme.parts().len()).unwrap_or_default();
    let named = match &scheme.key_id {
        Some(slot) => reader.optional(slot.name())?,
        None => None,
    };

    let (key_index, key) = matching_key(secrets, named, parts, &signatures, now)?;

    // The body counts as authentic from here on, so a time inside it may be read.
    let stamp = match &scheme.timestamp {
        Some((Stamp::Json(pointer), unit)) => {
            Some(read::body_stamp(raw_body, pointer, *unit).ok_or(Malformed::Timestamp)?)
        }
        _ => header_stamp,
    };
    Verified::judge(reader, raw_body, stamp, now, (key_index, key), secrets)
}

/// Computes one MAC per key and compares it with every signature, until a key matches.
fn matching_key<'s>(
    secrets: &'s Secrets,
    named: Option<&[u8]>,
    parts: &[&[u8]],
    signatures: &Signatures<'_>,
    now: OffsetDateTime,
) -> Result<(usize, &'s Key), Rejection> {
    let scheme = secrets.scheme();
    ring::matching(secrets, named, now, signatures.header_name(), |key| {
        let tag = key.mac.compute(parts);
        let mut outcome = Tried::Unreadable;
        for text in signatures.iter() {
            match key.mac.compare(&tag, scheme.encoding(), text) {
                Some(true) => outcome = Tried::Matched,
                Some(false) if outcome == Tried::Unreadable => outcome = Tried::Unlike,
                _ => {}
            }
        }
        Ok(outcome)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::time::Duration;

    use time::OffsetDateTime;

    use crate::{Secret, Secrets, scheme};

    /// However many signatures a stranger lists, each key in force costs one MAC, and a header
    /// that cannot be read costs none.
    #[test]
    fn macs_computed_are_at_most_the_keys_in_force() {
        let now = OffsetDateTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let gone = Secret::from("a-secret-that-is-over").not_after(now - Duration::from_secs(1));
        let ring = ["the-first-secret", "the-second-secret", "the-third-secret"];
        let ring = ring.map(Secret::from).into_iter().chain([gone]);
        let secrets = Secrets::new(&scheme::STRIPE, ring).unwrap();
        let computed = |signatures: &str| {
            let headers = [("Stripe-Signature", format!("t=1800000000{signatures}"))];
            super::mac::COMPUTED.set(0);
            assert!(super::verify(b"{}", &headers, &secrets, now).is_err());
            super::mac::COMPUTED.get()
        };
        let forged = format!(",v1={}", "0".repeat(64));
        assert_eq!(computed(&forged), 3);
        assert_eq!(computed(&forged.repeat(16)), 3);
        assert_eq!(computed(&forged.repeat(17)), 0);
        assert_eq!(computed(&forged.repeat(1000)), 0);
        assert_eq!(computed(",v1=00"), 0);
        assert_eq!(computed(""), 0);
    }

    /// A public key checks signature by signature, so there may be few of them.
    #[cfg(all(feature = "ed25519", feature = "testing"))]
    #[test]
    fn signatures_checked_are_at_most_keys_times_the_limit() {
        use crate::testing::public_key_of;
        let now = OffsetDateTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let scheme = &scheme::STANDARD_WEBHOOKS_ED25519;
        let ring = ["01", "02", "03"]
            .map(|seed| Secret::from(public_key_of(scheme, &seed.repeat(32)).unwrap()));
        let gone = Secret::from(public_key_of(scheme, &"04".repeat(32)).unwrap());
        let gone = gone.not_after(now - Duration::from_secs(1));
        let secrets = Secrets::new(scheme, ring.into_iter().chain([gone])).unwrap();
        let checked = |signatures: &str| {
            let headers = [
                ("webhook-id", "msg_1"),
                ("webhook-timestamp", "1800000000"),
                ("webhook-signature", signatures),
            ];
            super::mac::CHECKED.set(0);
            assert!(super::verify(b"{}", &headers, &secrets, now).is_err());
            super::mac::CHECKED.get()
        };
        let forged = format!("v1a,{}== ", "A".repeat(86));
        assert_eq!(checked(&forged), 3);
        assert_eq!(checked(&forged.repeat(4)), 12);
        assert_eq!(checked(&forged.repeat(5)), 0);
        assert_eq!(checked(&forged.repeat(1000)), 0);
        assert_eq!(checked("v1a,AAAA"), 0);
        // Of other versions there may be more, which nobody looks at.
        let other = "v1,AAAA ".repeat(9);
        assert_eq!(checked(&format!("{other}{forged}")), 3);
        assert_eq!(checked(&other), 0);
    }

    /// A scheme with several contents costs one MAC for each that fits the request, and a request
    /// that fits none costs none.
    #[cfg(all(feature = "form", feature = "sha1"))]
    #[test]
    fn macs_computed_are_at_most_the_keys_times_the_contents_that_fit() {
        use crate::headers::RequestTarget;
        let now = OffsetDateTime::UNIX_EPOCH;
        let secrets =
            Secrets::new(&scheme::TWILIO, ["the-first-token", "the-second-token"]).unwrap();
        let forged = "A".repeat(27) + "=";
        let computed = |kind: &str, body: &[u8]| {
            let headers = [
                ("X-Twilio-Signature", forged.as_str()),
                ("Content-Type", kind),
            ];
            let url = "https://hooks.example.com/in";
            let request = RequestTarget::new(&headers, "POST", url);
            super::mac::COMPUTED.set(0);
            assert!(super::verify(body, &request, &secrets, now).is_err());
            super::mac::COMPUTED.get()
        };
        // With and without the port.
        assert_eq!(computed("application/x-www-form-urlencoded", b"a=1"), 4);
        assert_eq!(computed("application/json", b"{}"), 0);
    }
}
