//! Tokens: whatever is not exactly what the row says is refused, however well it is signed.
#![cfg(all(feature = "jwt", feature = "testing"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]
#![allow(clippy::arithmetic_side_effects)]

#[path = "../common/mod.rs"]
mod common;

mod claims;
mod keys;
mod rows;
mod rules;
mod spelling;
mod times;
mod token;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac as _};
use hookproof::{
    Malformed, RejectionKind, Secrets,
    headers::{Headers, RequestTarget},
    scheme::{ClaimRule, Encoding, Jwt, Mac, Part, Scheme, Slot},
};
use sha2::{Digest, Sha256, Sha512};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const SECRET: &str = "a-secret-of-sufficient-length";
const URL: &str = "https://hooks.example.com/in?a=1";
const BODY: &[u8] = br#"{"id":"evt_1"}"#;
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

/// The body's hash and a time, under HMAC: what most rows have.
const PLAIN: Scheme = in_header(
    &Jwt::new().claims(&[ClaimRule::BodyHash("body", Encoding::Hex)]),
    &[Part::Body],
)
.claim_timestamp("iat");

const fn in_header(rules: &'static Jwt, content: &'static [Part]) -> Scheme {
    Scheme::new("custom", Mac::HmacSha256)
        .signature(Slot::header("X-Token"), Encoding::Base64Url)
        .jwt(rules)
        .content(content)
}

/// The claims that [`PLAIN`] asks for.
fn claims() -> String {
    format!(
        r#"{{"iat":{},"body":"{}"}}"#,
        NOW.unix_timestamp(),
        hex(BODY)
    )
}

fn hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A token with these segments, signed as HS256 asks.
fn sealed(header: &str, payload: &str, key: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(format!("{header}.{payload}").as_bytes());
    let tag = encoded(mac.finalize().into_bytes());
    format!("{header}.{payload}.{tag}")
}

/// A token under [`SECRET`].
fn token(header: &str, claims: &str) -> String {
    sealed(&encoded(header), &encoded(claims), SECRET.as_bytes())
}

fn sealed_512(header: &str, claims: &str) -> String {
    let input = format!("{}.{}", encoded(header), encoded(claims));
    let mut mac = Hmac::<Sha512>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(input.as_bytes());
    format!("{input}.{}", encoded(mac.finalize().into_bytes()))
}

fn secrets(scheme: &'static Scheme) -> Secrets {
    Secrets::new(scheme, [SECRET]).unwrap()
}

/// What becomes of [`BODY`] under a custom scheme with this token.
fn judged(scheme: &'static Scheme, token: &str) -> Result<(), RejectionKind> {
    judged_at(scheme, token, NOW)
}

fn judged_at(
    scheme: &'static Scheme,
    token: &str,
    now: OffsetDateTime,
) -> Result<(), RejectionKind> {
    verified(&secrets(scheme), BODY, &[("X-Token", token)], now)
}

fn verified(
    secrets: &Secrets,
    body: &[u8],
    headers: &[(&str, &str)],
    now: OffsetDateTime,
) -> Result<(), RejectionKind> {
    let target = RequestTarget::new(headers, "POST", URL);
    outcome(secrets, body, &target, now)
}

fn outcome(
    secrets: &Secrets,
    body: &[u8],
    headers: &impl Headers,
    now: OffsetDateTime,
) -> Result<(), RejectionKind> {
    hookproof::verify(body, headers, secrets, now)
        .map(drop)
        .map_err(|rejection| rejection.kind())
}

/// Refused for its form, before or after its signature was checked.
fn is_malformed(outcome: Result<(), RejectionKind>) -> bool {
    matches!(outcome, Err(RejectionKind::Malformed(Malformed::Token(_))))
}
