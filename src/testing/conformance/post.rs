//! Deliveries as a sender signs them, for the scenarios that begin with one.

use time::OffsetDateTime;

use crate::{
    Secrets,
    scheme::{
        Encoding, GITHUB, IdSource, Mac, PLAIN, Part, STANDARD_WEBHOOKS, Scheme, SecretFormat,
        Slot, Unit,
    },
    testing::{Signed, Signer},
};

/// Standard Webhooks with an id per attempt beside the signed id of the event.
pub(super) const ATTEMPTS: Scheme = STANDARD_WEBHOOKS
    .named("attempts")
    .delivery_id("x-attempt-id");

/// A signed token and time, and content that is not signed.
pub(super) const ONE_TIME: Scheme = Scheme::new("one-time", Mac::HmacSha256)
    .signature(Slot::header("x-signature"), Encoding::Hex)
    .timestamp(Slot::header("x-timestamp"), Unit::Seconds)
    .content(&[
        Part::Timestamp,
        Part::Text("."),
        Part::Header(Slot::header("x-token")),
    ])
    .id(IdSource::Header("x-token"));

/// One secret for all, as the scheme's secrets are written.
fn secret(scheme: &Scheme) -> &'static str {
    match scheme.secret_format() {
        SecretFormat::Base64 { .. } => "whsec_Y29uZm9ybWFuY2Utc3VpdGUtc2VjcmV0",
        _ => "conformance-suite-secret",
    }
}

/// The receiver's side of it.
pub(super) fn secrets(scheme: &'static Scheme) -> Secrets {
    Secrets::new(scheme, [secret(scheme)]).unwrap()
}

fn post(
    scheme: &'static Scheme,
    at: OffsetDateTime,
    headers: &[(&str, &str)],
    body: &str,
) -> Signed {
    let mut signer = Signer::new(scheme, secret(scheme)).at(at);
    for (name, value) in headers {
        signer = signer.header(name, *value);
    }
    signer.sign(body.as_bytes()).unwrap()
}

/// A MAC over the body alone, and an id that nobody signed.
pub(super) fn github(id: &str, body: &str) -> Signed {
    let unsigned_time = OffsetDateTime::UNIX_EPOCH;
    post(&GITHUB, unsigned_time, &[("X-GitHub-Delivery", id)], body)
}

/// A signed time and body, and an id that nobody signed.
pub(super) fn plain(at: OffsetDateTime, id: &str, body: &str) -> Signed {
    post(&PLAIN, at, &[("X-Webhook-Id", id)], body)
}

/// A signed event id, time and body, and an attempt's id that nobody signed ([`ATTEMPTS`]).
pub(super) fn attempt(at: OffsetDateTime, event: &str, attempt: &str, body: &str) -> Signed {
    let ids = [("webhook-id", event), ("x-attempt-id", attempt)];
    post(&ATTEMPTS, at, &ids, body)
}

/// A signed time and token ([`ONE_TIME`]).
pub(super) fn one_time(at: OffsetDateTime, token: &str, body: &str) -> Signed {
    post(&ONE_TIME, at, &[("x-token", token)], body)
}

/// The same delivery without one of its headers.
pub(super) fn without(name: &str, mut post: Signed) -> Signed {
    let before = post.headers.len();
    post.headers
        .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    assert!(post.headers.len() < before, "it has no {name} to remove");
    post
}
