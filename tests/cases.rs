//! Inputs behind real bug reports of other libraries (`source_url` in each case).
//!
//! `HOOKPROOF_CASES=FILE cargo test --all-features cases` runs another file in the same format. A
//! case of a provider that the catalogue lacks is skipped, by name. The last line reads `N passed,
//! N failed, N skipped`.
//!
//! An outcome must be the one expected, or one of `also_ok`. A case with `stage: config` must be
//! refused when the secrets are built, before there is any delivery.
#![cfg(feature = "json")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

mod common;

use std::{env, fs, time::Duration};

use common::{Request, Tally, label};
use hookproof::{
    Secrets,
    scheme::{Encoding, Mac, Part, Scheme, Slot, Unit},
};
use serde_json::Value;

#[test]
fn cases() {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases.json");
    let file = env::var("HOOKPROOF_CASES").unwrap_or_else(|_| own.to_owned());
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(!cases.is_empty());
    let mut tally = Tally::default();
    for case in &cases {
        let name = case["id"].as_str().expect("id");
        match scheme(case) {
            None => tally
                .skipped
                .push(format!("{name} ({})", case["scheme_hint"])),
            Some(scheme) => tally.check(name, &expected(case), outcome(case, scheme)),
        }
    }
    tally.report("cases");
    assert!(tally.failed.is_empty(), "{:#?}", tally.failed);
}

fn expected(case: &Value) -> Vec<&str> {
    if case["stage"] == "config" {
        return vec!["config"];
    }
    let also = case["also_ok"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    case["expect"].as_str().into_iter().chain(also).collect()
}

fn outcome(case: &Value, scheme: &'static Scheme) -> &'static str {
    let secrets = case["secrets"].as_array().expect("secrets").iter();
    let Ok(mut secrets) = Secrets::new(scheme, secrets.map(|secret| secret.as_str().unwrap()))
    else {
        return "config";
    };
    if let Some(seconds) = case["tolerance"].as_i64() {
        // A negative window has no type to be written in.
        let Ok(seconds) = u64::try_from(seconds) else {
            return "config";
        };
        secrets = secrets.tolerance(Duration::from_secs(seconds));
    }
    label(&Request::from_json(case).verify(&secrets))
}

fn scheme(case: &Value) -> Option<&'static Scheme> {
    match case["scheme_hint"].as_str()? {
        "custom" => Some(custom(&case["scheme"])),
        "standard" => Scheme::by_name("standard-webhooks"),
        name => Scheme::by_name(name),
    }
}

/// Builds a scheme from a description, through the public builders alone. Schemes are constants in
/// a program; here they are leaked.
fn custom(text: &Value) -> &'static Scheme {
    fn keep(text: &Value) -> &'static str {
        Box::leak(
            text.as_str()
                .unwrap_or_default()
                .to_owned()
                .into_boxed_str(),
        )
    }
    let mac = match text["alg"].as_str().unwrap() {
        "sha256" => Mac::HmacSha256,
        "sha512" => Mac::HmacSha512,
        other => panic!("alg {other}"),
    };
    let encoding = match text["encoding"].as_str().unwrap() {
        "hex" => Encoding::Hex,
        "base64" => Encoding::Base64,
        "base64url" => Encoding::Base64Url,
        other => panic!("encoding {other}"),
    };
    let mut slot = Slot::header(keep(&text["sig_header"])).prefix(keep(&text["prefix"]));
    if let Some(separator) = text["list_sep"].as_str() {
        slot = slot.list(separator.bytes().next().unwrap());
    }
    let time_header = keep(&text["timestamp_header"]);
    let mut content = Vec::new();
    let mut rest = keep(&text["signed"]);
    while let Some((before, after)) = rest.split_once('{') {
        if !before.is_empty() {
            content.push(Part::Text(before));
        }
        let (field, after) = after.split_once('}').expect("a closed field");
        content.push(match field.split_once(':') {
            Some(("header", name)) if name.eq_ignore_ascii_case(time_header) => Part::Timestamp,
            Some(("header", name)) => Part::Header(Slot::header(name)),
            _ if field == "body" => Part::Body,
            _ if field == "url" => Part::Url,
            _ if field == "method" => Part::Method,
            _ => panic!("field {field}"),
        });
        rest = after;
    }
    if !rest.is_empty() {
        content.push(Part::Text(rest));
    }
    let mut scheme = Scheme::new("custom", mac)
        .signature(slot, encoding)
        .content(Vec::leak(content));
    if !time_header.is_empty() {
        let unit = match text["timestamp_unit"].as_str().unwrap_or("s") {
            "s" => Unit::Seconds,
            "ms" => Unit::Millis,
            "rfc3339" => Unit::Rfc3339,
            other => panic!("unit {other}"),
        };
        scheme = scheme.timestamp(Slot::header(time_header), unit);
    }
    Box::leak(Box::new(scheme))
}
