//! Reading vector files and cases, and the one rule that judges an outcome.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![allow(clippy::arithmetic_side_effects)]

#[cfg(all(feature = "testing", feature = "public-key"))]
mod keys;

use std::io::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookproof::{
    Rejection, RejectionKind, Secret, Secrets,
    headers::{Headers, Lookup, RequestTarget},
    scheme::{Condition, KeySource, Part, Place, Scheme, SecretFormat, Slot, Stamp, Unit},
};
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// One request out of a file.
pub struct Request {
    pub headers: Vec<(String, Vec<u8>)>,
    pub method: String,
    pub url: String,
    pub body: Vec<u8>,
    pub now: OffsetDateTime,
}

impl Request {
    /// Headers are an object or a list of pairs; bodies are base64.
    pub fn from_json(value: &Value) -> Self {
        let pairs: Vec<(String, Vec<u8>)> = match &value["headers"] {
            Value::Object(map) => map
                .iter()
                .map(|(name, value)| (name.clone(), octets(value)))
                .collect(),
            Value::Array(list) => list
                .iter()
                .map(|pair| {
                    (
                        pair[0].as_str().expect("a name").to_owned(),
                        octets(&pair[1]),
                    )
                })
                .collect(),
            other => panic!("headers: {other}"),
        };
        let now = value["now"].as_f64().expect("now") * 1e9;
        Self {
            headers: pairs,
            method: value["method"].as_str().unwrap_or("POST").to_owned(),
            url: value["url"].as_str().unwrap_or_default().to_owned(),
            body: STANDARD
                .decode(value["body_b64"].as_str().expect("body_b64"))
                .expect("base64"),
            now: OffsetDateTime::from_unix_timestamp_nanos(now as i128).expect("now"),
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.headers.lookup(name) != Lookup::Absent
    }

    pub fn verify(&self, secrets: &Secrets) -> Result<(), RejectionKind> {
        let target = RequestTarget::new(&self.headers, &self.method, &self.url);
        hookproof::verify(&self.body, &target, secrets, self.now)
            .map(|_| ())
            .map_err(|rejection: Rejection| rejection.kind())
    }
}

/// Header octets: the files write each octet as one character where that is possible.
fn octets(value: &Value) -> Vec<u8> {
    let text = value.as_str().expect("a header value");
    let bytes: Option<Vec<u8>> = text
        .chars()
        .map(|c| u8::try_from(u32::from(c)).ok())
        .collect();
    bytes.unwrap_or_else(|| text.as_bytes().to_vec())
}

/// Whether a scheme signs anything but bytes of the request in a row, or is signed elsewhere than
/// in a header: what is put together in memory.
pub fn is_composed(scheme: &Scheme) -> bool {
    let plain = |part: &Part| {
        matches!(
            part,
            Part::Text(_)
                | Part::Timestamp
                | Part::Header(_)
                | Part::Body
                | Part::Method
                | Part::Url
        )
    };
    let header =
        |slot: Slot| slot.is_header() && slot.inner_pointer().is_none() && !slot.may_repeat();
    !scheme.contents().all(|parts| parts.iter().all(plain))
        || scheme.contents().count() > 1
        || !scheme.signature_slot().is_none_or(header)
        || !scheme.key_id_slot().is_none_or(header)
        || matches!(scheme.key_source(), KeySource::Url(..))
        || scheme.each_element().is_some()
        || scheme.json_field().is_some()
}

/// Whether the request carries something in a slot.
pub fn carries(request: &Request, slot: &Slot) -> bool {
    let within = |text: &[u8], name: &str| {
        text.windows(name.len())
            .any(|window| window == name.as_bytes())
    };
    let url = request.url.as_bytes();
    match slot.place() {
        Place::Header => request.has(slot.name()),
        Place::Query => within(url, &format!("{}=", slot.name())),
        Place::Form => is_form(request) && within(&request.body, slot.name()),
        Place::Param => within(url, slot.name()) || within(&request.body, slot.name()),
        Place::Json => {
            !is_form(request) && within(&request.body, slot.name().rsplit('/').next().unwrap())
        }
        _ => true,
    }
}

/// Whether the request says that its body is a form.
fn is_form(request: &Request) -> bool {
    match request.headers.lookup("Content-Type") {
        Lookup::One(value) => value.windows(4).any(|window| window == b"form"),
        _ => false,
    }
}

/// Whether the request meets what one of the scheme's contents requires: how a row
/// is chosen among those of one provider, as an application does by its configuration.
pub fn is_meant(request: &Request, scheme: &Scheme) -> bool {
    scheme.contents().any(|parts| {
        parts.iter().all(|part| match part {
            Part::Require(Condition::Equals(slot, value)) if slot.place() == Place::Json => {
                let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
                body.pointer(slot.name()).and_then(Value::as_str) == Some(value)
            }
            Part::Require(Condition::Equals(slot, value)) if slot.is_header() => {
                match request.headers.lookup(slot.name()) {
                    Lookup::One(own) => slot.single(own) == Some(value.as_bytes()),
                    _ => false,
                }
            }
            _ => true,
        })
    })
}

pub fn label(outcome: &Result<(), RejectionKind>) -> &'static str {
    match outcome {
        Ok(()) => "valid",
        Err(kind) => kind.label(),
    }
}

/// A secret whose key is the bytes of `text`, written as the scheme's provider would show it; of a
/// scheme with public keys a public key, chosen by `text`.
pub fn secret(scheme: &Scheme, text: &str) -> String {
    match scheme.secret_format() {
        #[cfg(all(feature = "testing", feature = "public-key"))]
        SecretFormat::PublicKey => {
            hookproof::testing::public_key_of(scheme, keys::private(scheme, text)).unwrap()
        }
        _ => signing_secret(scheme, text),
    }
}

/// What whoever signs has in place of [`secret`]; mostly the same.
pub fn signing_secret(scheme: &Scheme, text: &str) -> String {
    match scheme.secret_format() {
        #[cfg(all(feature = "testing", feature = "public-key"))]
        SecretFormat::PublicKey => keys::private(scheme, text).to_owned(),
        SecretFormat::Base64 { prefix } => format!("{prefix}{}", STANDARD.encode(text)),
        SecretFormat::Hex => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        _ => text.to_owned(),
    }
}

/// What is inside a PEM.
pub fn der(pem: &str) -> Vec<u8> {
    let lines = pem.lines().filter(|line| !line.starts_with("-----"));
    STANDARD.decode(lines.collect::<String>()).unwrap()
}

/// Which member of a vector is which setting of its scheme.
const SETTINGS: &[(&str, &str)] = &[("audience", "audience"), ("email", "service_account")];

/// The key ring of a vector: its secrets, with the settings that the scheme needs and, of a single
/// key, the name.
pub fn ring(scheme: &Scheme, vector: &Value, secrets: &[&str]) -> Vec<Secret> {
    let make = |text: &&str| {
        let mut secret = Secret::from(*text);
        for needed in scheme.settings() {
            let member = SETTINGS.iter().find(|(_, setting)| setting == needed);
            let member = member.map_or(*needed, |(member, _)| member);
            if let Some(value) = vector[member].as_str() {
                secret = secret.setting(needed, value);
            }
        }
        match vector["kid"].as_str() {
            Some(id) if secrets.len() == 1 => secret.key_id(id),
            _ => secret,
        }
    };
    secrets.iter().map(make).collect()
}

/// A secret with some text for every setting that the scheme needs.
pub fn with_settings(scheme: &Scheme, text: String) -> Secret {
    let needed = scheme.settings().iter();
    needed.fold(Secret::from(text), |secret, name| {
        secret.setting(name, "of-the-test")
    })
}

/// Whether the signature covers what a JSON body means, and not its white space.
pub fn covers_meaning(scheme: &Scheme) -> bool {
    #[cfg(feature = "jwt")]
    if let Some(rules) = scheme.token_rules() {
        use hookproof::scheme::ClaimRule;
        let meaning = |rule: &ClaimRule| matches!(rule, ClaimRule::RequestJson(_));
        return rules.claim_rules().iter().any(meaning);
    }
    let _ = scheme;
    false
}

/// A JSON body, with the time of sending where the scheme looks for it.
pub fn body(scheme: &Scheme, now: OffsetDateTime) -> Vec<u8> {
    let mut body = json!({"id": "evt_1", "type": "paid", "list": [1, {}]});
    if let Some((Stamp::Json(pointer), unit)) = scheme.timestamp_source() {
        put(&mut body, pointer, time_value(now, unit));
    }
    body.to_string().into_bytes()
}

fn time_value(now: OffsetDateTime, unit: Unit) -> Value {
    match unit {
        Unit::Seconds => now.unix_timestamp().into(),
        Unit::Millis => (now.unix_timestamp() * 1000).into(),
        Unit::Rfc3339 => now.format(&Rfc3339).unwrap().into(),
        _ => panic!("a new unit needs a value here"),
    }
}

/// Sets the member at `pointer`, with the objects on the way to it.
pub fn put(mut place: &mut Value, pointer: &str, value: Value) {
    for name in pointer.split('/').skip(1) {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[name];
    }
    *place = value;
}

/// Counts what was run, and prints it past the test harness's capture.
#[derive(Default)]
pub struct Tally {
    pub passed: usize,
    pub failed: Vec<String>,
    pub skipped: Vec<String>,
}

impl Tally {
    pub fn check(&mut self, name: &str, expected: &[&str], got: &str) {
        if expected.contains(&got) {
            self.passed += 1;
        } else {
            self.failed.push(format!(
                "{name}: expected {}, got {got}",
                expected.join(" or ")
            ));
        }
    }

    pub fn report(&self, what: &str) {
        let mut out = std::io::stdout().lock();
        for name in &self.skipped {
            writeln!(out, "{what}: skipped {name}").unwrap();
        }
        for name in &self.failed {
            writeln!(out, "{what}: FAILED {name}").unwrap();
        }
        let (passed, failed, skipped) = (self.passed, self.failed.len(), self.skipped.len());
        writeln!(
            out,
            "{what}: {passed} passed, {failed} failed, {skipped} skipped"
        )
        .unwrap();
    }
}
