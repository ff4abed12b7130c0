//! Deliveries as a sender signs them, for the scenarios that begin with one.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac as _};
use sha2::Sha256;
use time::OffsetDateTime;

use crate::{
    Secrets,
    scheme::{Encoding, IdSource, Mac, Part, STANDARD_WEBHOOKS, Scheme, SecretFormat, Slot, Unit},
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

const SECRET: &[u8] = b"conformance-suite-secret";

/// One delivery.
#[derive(Clone)]
pub(super) struct Post {
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

/// The receiver's side of the secret that all of these are signed with.
pub(super) fn secrets(scheme: &'static Scheme) -> Secrets {
    let secret = match scheme.secret_format() {
        SecretFormat::Base64 { prefix } => format!("{prefix}{}", base64(SECRET)).into_bytes(),
        _ => SECRET.to_vec(),
    };
    Secrets::new(scheme, [crate::Secret::new(secret)]).unwrap()
}

fn base64(bytes: &[u8]) -> String {
    let mut text = [0; 64];
    let length = STANDARD.encode_slice(bytes, &mut text).unwrap();
    String::from_utf8_lossy(&text[..length]).into_owned()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sign(content: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).unwrap();
    mac.update(content.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn post<const N: usize>(headers: [(&'static str, String); N], body: &str) -> Post {
    Post {
        headers: headers.into(),
        body: body.into(),
    }
}

/// A MAC over the body alone, and an id that nobody signed.
pub(super) fn github(id: Option<&str>, body: &str) -> Post {
    let signature = format!("sha256={}", hex(&sign(body)));
    let mut post = post([("X-Hub-Signature-256", signature)], body);
    post.headers
        .extend(id.map(|id| ("X-GitHub-Delivery", id.into())));
    post
}

/// A signed time and body, and an id that nobody signed.
pub(super) fn plain(at: OffsetDateTime, id: &str, body: &str) -> Post {
    let at = at.unix_timestamp().to_string();
    let signature = hex(&sign(&format!("{at}.{body}")));
    let headers = [
        ("X-Webhook-Signature", signature),
        ("X-Webhook-Timestamp", at),
        ("X-Webhook-Id", id.into()),
    ];
    post(headers, body)
}

/// A signed event id, time and body, and an attempt's id that nobody signed ([`ATTEMPTS`]).
pub(super) fn attempt(at: OffsetDateTime, event: &str, attempt: &str, body: &str) -> Post {
    let at = at.unix_timestamp().to_string();
    let signature = base64(&sign(&format!("{event}.{at}.{body}")));
    let headers = [
        ("webhook-signature", format!("v1,{signature}")),
        ("webhook-timestamp", at),
        ("webhook-id", event.into()),
        ("x-attempt-id", attempt.into()),
    ];
    post(headers, body)
}

/// A signed time and token ([`ONE_TIME`]).
pub(super) fn one_time(at: OffsetDateTime, token: &str, body: &str) -> Post {
    let at = at.unix_timestamp().to_string();
    let signature = hex(&sign(&format!("{at}.{token}")));
    let headers = [
        ("x-signature", signature),
        ("x-timestamp", at),
        ("x-token", token.into()),
    ];
    post(headers, body)
}
