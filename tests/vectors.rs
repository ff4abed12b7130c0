//! Every provider's vectors, judged by its own SDK or a second implementation (see `oracle` in
//! each file), against the catalogue.
//!
//! `HOOKPROOF_VECTORS=DIR cargo test --all-features vectors` runs every `*.json` of another folder
//! in the same format instead. A provider that the catalogue lacks is skipped, by name and with the
//! reason where it proves nothing (`scheme::UNVERIFIED`); so are unsigned handshakes
//! (`handshake-*`). The last line reads `N passed, N failed, N skipped`.
//!
//! `valid` and `stale` must be met exactly; `malformed` and `invalid` both mean refused, and so does
//! asking for a key of another name than the one key that the vector has (`kid`). The rule
//! that tells those two apart here: *malformed* cannot be read as the scheme says, *invalid* can,
//! but verifies under no key in force.
#![cfg(feature = "json")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

mod common;

use std::{env, fs, path::PathBuf, time::Duration};

use common::{Request, Tally, label};
use hookproof::{
    Secrets,
    scheme::{self, Mac, Scheme},
};
use serde_json::Value;

/// Whether every row is there.
const COMPLETE: bool = cfg!(all(
    feature = "form",
    feature = "sha1",
    feature = "ed25519",
    feature = "ecdsa",
    feature = "rsa",
    feature = "keyed-hash",
    feature = "crc32",
    feature = "unicode",
    feature = "http-signatures",
    feature = "jwt"
));

/// Providers with several rows, of which fewer features may leave one.
const SEVERAL: &[&str] = &[
    "hubspot",
    "twilio",
    "midtrans",
    "flutterwave",
    "mailgun",
    "github",
];

fn own_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

#[test]
fn vectors() {
    let folder = env::var_os("HOOKPROOF_VECTORS").map_or_else(own_folder, PathBuf::from);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no vectors in {}", folder.display());
    let mut tally = Tally::default();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        run_file(&file, &mut tally);
    }
    tally.report("vectors");
    assert!(tally.failed.is_empty(), "{:#?}", tally.failed);
}

/// A scheme nobody has checked fails here.
#[test]
fn every_scheme_has_vectors() {
    for scheme in scheme::ALL {
        let file = own_folder().join(format!("{}.json", scheme.provider()));
        let text = fs::read_to_string(&file)
            .unwrap_or_else(|_| panic!("{} has no vectors", scheme.name()));
        let file: Value = serde_json::from_str(&text).unwrap();
        // What else is known of the same provider.
        let more: Vec<Value> = ["appendix-b", "shared-keys"]
            .iter()
            .filter_map(|part| file_of(&format!("{}-{part}", scheme.provider())))
            .collect();
        let mut accepted = 0;
        for vector in requests(&file).chain(more.iter().flat_map(requests)) {
            if vector["expect"] == "valid"
                && row(scheme.provider(), vector).map(Scheme::name) == Some(scheme.name())
            {
                accepted += 1;
            }
        }
        assert!(
            accepted > 0,
            "{} has no vector that it must accept",
            scheme.name()
        );
    }
}

/// A file is either tested by a row, or its sender is listed among those who prove nothing.
#[cfg(all(
    feature = "form",
    feature = "sha1",
    feature = "ed25519",
    feature = "ecdsa",
    feature = "rsa",
    feature = "keyed-hash",
    feature = "crc32",
    feature = "unicode",
    feature = "http-signatures",
    feature = "jwt"
))]
#[test]
fn every_file_has_a_row_or_a_reason() {
    let mut seen = Vec::new();
    for entry in fs::read_dir(own_folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let provider = name.strip_suffix(".json").expect("a file of vectors");
        let file = file_of(provider).unwrap();
        let provider = file.get("provider").and_then(Value::as_str).unwrap();
        let row = scheme::ALL.iter().any(|row| row.provider() == provider);
        let listed = scheme::UNVERIFIED
            .iter()
            .any(|sender| sender.provider == provider);
        assert!(row != listed, "{provider}: row {row}, listed {listed}");
        seen.extend(listed.then(|| provider.to_owned()));
    }
    for sender in scheme::UNVERIFIED {
        let provider = sender.provider;
        assert!(seen.iter().any(|seen| seen == provider), "{provider}");
    }
}

fn file_of(name: &str) -> Option<Value> {
    let text = fs::read_to_string(own_folder().join(format!("{name}.json"))).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

fn requests(file: &Value) -> impl Iterator<Item = &Value> {
    [
        "vectors",
        "policy_vectors",
        "sdk_disagreements",
        "resplit_traps",
    ]
    .iter()
    .filter_map(|list| file[list].as_array())
    .flatten()
    .filter(|vector| vector["headers"].is_object() || vector["headers"].is_array())
}

fn run_file(file: &Value, tally: &mut Tally) {
    let provider = file["provider"].as_str().expect("provider");
    if !scheme::ALL.iter().any(|row| row.provider() == provider) {
        let unverified = scheme::UNVERIFIED
            .iter()
            .find(|sender| sender.provider == provider);
        let why = unverified.map_or("not in the catalogue", |_| "nothing to verify");
        tally.skipped.push(format!("{provider} ({why})"));
        return;
    }
    for vector in requests(file) {
        let name = format!("{provider}/{}", vector["name"].as_str().unwrap_or("?"));
        let Some(row) = row(provider, vector) else {
            tally.skipped.push(name);
            continue;
        };
        let expected: &[&str] = match vector["expect"].as_str() {
            Some("valid") => &["valid"],
            Some("stale") => &["stale"],
            Some("malformed" | "invalid") => {
                &["malformed", "invalid", "key-needed", "refused at start-up"]
            }
            _ => {
                tally.skipped.push(format!("{name} (expects nothing)"));
                continue;
            }
        };
        let request = Request::from_json(vector);
        match Secrets::new(row, common::ring(row, vector, &secrets(vector))) {
            Err(_) => tally.check(&name, expected, "refused at start-up"),
            Ok(mut secrets) => {
                if let Some(seconds) = vector["tolerance_s"].as_u64() {
                    secrets = secrets.tolerance(Duration::from_secs(seconds));
                }
                tally.check(&name, expected, label(&request.verify(&secrets)));
            }
        }
    }
}

fn secrets(vector: &Value) -> Vec<&str> {
    match vector["secrets"].as_array() {
        Some(several) => several.iter().filter_map(Value::as_str).collect(),
        None => vector["secret"].as_str().into_iter().collect(),
    }
}

/// Which row of the provider a vector is for: the algorithm that it names, or else the first whose
/// signature header is there, or else the first. A weaker algorithm is never taken unnamed, and a
/// public key (`whpk_`) never becomes a shared secret where the provider has both.
fn row(provider: &str, vector: &Value) -> Option<&'static Scheme> {
    let request = Request::from_json(vector);
    let name = vector["name"].as_str().unwrap_or_default();
    if name.starts_with("handshake") && !carries_any_signature(provider, &request) {
        return None;
    }
    #[cfg(feature = "http-signatures")]
    if let Some(name) = vector["alg"].as_str() {
        let named = |row: &&Scheme| {
            row.provider() == provider && row.mac().http_signature_name() == Some(name)
        };
        return scheme::ALL.iter().copied().find(named);
    }
    let public_key = secrets(vector)
        .iter()
        .any(|secret| secret.starts_with("whpk_"));
    let rows = || {
        let of_provider = |row: &&Scheme| row.provider() == provider;
        let rows = scheme::ALL.iter().copied().filter(of_provider);
        let both = rows.clone().any(|row| !row.mac().is_public_key());
        rows.filter(move |row| !both || row.mac().is_public_key() == public_key)
    };
    let algorithm = |row: &&Scheme| match vector["algorithm"].as_str() {
        Some(name) => name == algorithm_name(row.mac()),
        None => algorithm_name(row.mac()) != "hmac-sha1" || rows().count() == 1,
    };
    let signed = |row: &&Scheme| {
        // A token that is the whole body has no header.
        let Some(slot) = row.signature_slot() else {
            return true;
        };
        if !slot.is_header() {
            return common::carries(&request, &slot);
        }
        let name = slot.name();
        let second = row
            .header_families()
            .map(|(ours, other)| name.replacen(ours, other, 1));
        request.has(name) || second.is_some_and(|name| request.has(&name))
    };
    let meant = |row: &&Scheme| signed(row) && common::is_meant(&request, row);
    let several = scheme::ALL
        .iter()
        .any(|row| row.provider() == provider && row.name() != provider);
    if !COMPLETE && (several || SEVERAL.contains(&provider)) {
        // The row that it is for may need a feature that is not on.
        return rows().filter(algorithm).find(meant);
    }
    rows()
        .filter(algorithm)
        .find(meant)
        // A stronger row that asks for a header that is not there is configured for others.
        .or_else(|| {
            rows()
                .filter(algorithm)
                .find(signed)
                .and_then(|_| rows().find(meant))
        })
        .or_else(|| rows().filter(algorithm).find(signed))
        .or_else(|| rows().find(algorithm))
}

/// Whether anything stands where one of the provider's rows has its signature.
fn carries_any_signature(provider: &str, request: &Request) -> bool {
    let rows = scheme::ALL.iter().filter(|row| row.provider() == provider);
    rows.filter_map(|row| row.signature_slot())
        .any(|slot| common::carries(request, &slot))
}

fn algorithm_name(mac: Mac) -> &'static str {
    match mac {
        Mac::HmacSha256 => "hmac-sha256",
        Mac::HmacSha512 => "hmac-sha512",
        #[cfg(feature = "sha1")]
        Mac::HmacSha1 => "hmac-sha1",
        Mac::Token => "shared-token",
        _ => "another",
    }
}
