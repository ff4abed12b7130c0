//! The provider guide is made from the rows. `HOOKPROOF_WRITE_GUIDE=1 cargo test --all-features
//! --test guide` writes it anew.
#![cfg(all(
    feature = "json",
    feature = "sha1",
    feature = "keyed-hash",
    feature = "ed25519",
    feature = "ecdsa",
    feature = "rsa",
    feature = "form",
    feature = "http-signatures",
    feature = "jwt"
))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::arithmetic_side_effects)]

mod facts;
#[cfg(feature = "handshake")]
#[allow(
    clippy::indexing_slicing,
    reason = "rows that `check` accepts name their settings"
)]
mod handshakes;
mod token;
mod words;

use std::fmt::Write as _;

use words::{parts, place};

use hookproof::scheme::{
    self, Encoding, Evidence, Hash, IdSource, KeySource, Mac, Scheme, SecretFormat, Source,
    Stability, Stamp, Unit,
};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/schemes.md");

#[test]
fn the_guide_matches_the_rows() {
    let made = guide();
    if std::env::var_os("HOOKPROOF_WRITE_GUIDE").is_some() {
        std::fs::write(FILE, &made).unwrap();
    }
    let stored = std::fs::read_to_string(FILE).unwrap();
    assert!(
        stored == made,
        "src/guide/schemes.md is out of date; see this test's documentation"
    );
}

fn guide() -> String {
    let mut out = String::from(
        "# Schemes\n\nMade from the catalogue's rows by `tests/guide`; edit those.\n\n\
         *Covered* is what a valid signature says: **b**ody, **t**ime, **i**d, event t**y**pe. Anything else could have been\n\
         written by whoever held one captured request. Facts marked *unverified* are from memory of the documentation.\n\n\
         | name | algorithm | covered | event named by | window | evidence |\n|---|---|---|---|---|---|\n",
    );
    for scheme in scheme::ALL {
        let name = scheme.name();
        let (mac, id) = (mac(scheme.mac()), id(scheme));
        let (window, covered) = (window(scheme), covered(scheme));
        let evidence = evidence(scheme.evidence());
        writeln!(
            out,
            "| [`{name}`](#{name}) | {mac} | {covered} | {id} | {window} | {evidence} |"
        )
        .unwrap();
    }
    for scheme in scheme::ALL {
        section(&mut out, scheme);
    }
    unverified(&mut out);
    out
}

fn unverified(out: &mut String) {
    out.push_str(
        "\n## Nothing to verify\n\nDeliveries of these carry nothing that proves who sent them, so there is no row. \
         Whoever knows the\naddress can write such a request: take it as a hint, and ask the sender's API.\n\n\
         | sender | why | instead | source |\n|---|---|---|---|\n",
    );
    for sender in scheme::UNVERIFIED {
        let (provider, why, instead) = (sender.provider, sender.why, sender.instead);
        let docs = match sender.docs {
            "" => String::new(),
            docs => format!("<{docs}>"),
        };
        writeln!(out, "| `{provider}` | {why} | {instead} | {docs} |").unwrap();
    }
}

/// What needs a row is no longer without one.
#[test]
fn nobody_has_both_a_row_and_a_reason_for_none() {
    assert!(!scheme::UNVERIFIED.is_empty());
    for sender in scheme::UNVERIFIED {
        let provider = sender.provider;
        let known = |row: &&Scheme| row.name() == provider || row.provider() == provider;
        assert!(!scheme::ALL.iter().any(known), "{provider}");
        assert!(!sender.why.is_empty() && !sender.instead.is_empty());
    }
}

fn section(out: &mut String, scheme: &Scheme) {
    writeln!(out, "\n## {}\n", scheme.name()).unwrap();
    let slot = scheme.signature_slot().unwrap();
    let mut line = |what: &str, text: String| writeln!(out, "* {what}: {text}").unwrap();
    line(
        "signature",
        format!(
            "{}, {} in {}",
            mac(scheme.mac()),
            encoding(scheme.encoding()),
            place(slot)
        ),
    );
    let more = scheme.more_signature_slots();
    match more {
        [] => {}
        [first, between @ .., last] if between.len() > 2 => line(
            "further signatures",
            format!("{}, and so on to {}", place(*first), place(*last)),
        ),
        _ => {
            let places: Vec<_> = more.iter().copied().map(place).collect();
            line("further signatures", places.join(", "));
        }
    }
    if let Some((ours, other)) = scheme.header_families() {
        line("second header family", format!("`{other}…` for `{ours}…`"));
    }
    if let Some(field) = scheme.json_field() {
        line(
            "the body's JSON",
            format!("form field `{field}`, or the body itself"),
        );
    }
    if let Some(pointer) = scheme.each_element() {
        line(
            "signed one by one",
            format!("the elements of `{pointer}`; what follows is of each"),
        );
    }
    let content = parts(scheme.parts());
    line(
        "signed",
        if let Some(covered) = http_signature(scheme) {
            covered
        } else if content.is_empty() {
            "nothing".into()
        } else {
            content
        },
    );
    for other in scheme.alternative_contents() {
        line("or signed", parts(other));
    }
    for (what, words) in token::lines(scheme) {
        line(what, words);
    }
    line("secret", secret(scheme.secret_format()));
    for (what, words) in facts::lines(scheme) {
        line(what, words);
    }
    if !scheme.key_content().is_empty() {
        line("key", parts(scheme.key_content()));
    }
    for setting in scheme.settings() {
        line("needs the setting", format!("`{setting}`"));
    }
    if let Some(slot) = scheme.key_id_slot() {
        line("key named by", format!("{}, unsigned", place(slot)));
    }
    if let KeySource::Url(slot, _) = scheme.key_source() {
        line(
            "certificate",
            format!("from the address in {}, if a rule admits it", place(slot)),
        );
    }
    if let KeySource::ById(place) = scheme.key_source() {
        let link = place.starts_with("https://");
        line(
            "keys",
            if link {
                format!("<{place}>")
            } else {
                place.into()
            },
        );
    }
    if let Some((stamp, unit)) = scheme.timestamp_source() {
        let at = match stamp {
            Stamp::Slot(slot) => place(slot),
            Stamp::Json(pointer) => format!("`{pointer}` in the body"),
            Stamp::Claim(name) => format!("claim `{name}`"),
            Stamp::Created => "parameter `created` of `Signature-Input`".into(),
            _ => "?".into(),
        };
        line(
            "time",
            format!("{} in {at}; window {}", self::unit(unit), window(scheme)),
        );
    }
    line("event named by", id(scheme));
    if let Some(source) = scheme.event_type_source() {
        let signed = if scheme.coverage().event_type {
            "signed"
        } else {
            "unsigned"
        };
        let at = match source {
            Source::Header(name) => format!("header `{name}`"),
            Source::Json(pointer) => format!("`{pointer}` in the body"),
            Source::Value(slot) => place(slot),
            Source::Claims(pointers) => {
                format!("`{}` in the claims", pointers.join("`, in that `"))
            }
            _ => panic!("a new source needs a name here"),
        };
        line("event type", format!("{at}, {signed}"));
    }
    line(
        "same over all attempts",
        stability(scheme.content_stability()),
    );
    if let Some(horizon) = scheme.known_retry_horizon() {
        let (hours, minutes) = (horizon.as_secs() / 3600, horizon.as_secs() / 60);
        let time = match hours {
            0 => format!("{minutes} min"),
            _ => format!("{hours} h"),
        };
        line(
            "retention",
            format!("retries end after about {time}: keep receipts for longer; 30 days by default"),
        );
    } else {
        line(
            "retention",
            "how long retries go on is not known: 30 days by default".into(),
        );
    }
    if let Some(why) = scheme.ambiguity() {
        line("ambiguous content", why.into());
    }
    if !scheme.docs_url().is_empty() {
        line("source", format!("<{}>", scheme.docs_url()));
    }
    for note in scheme.traps() {
        writeln!(out, "* {note}").unwrap();
    }
}

fn mac(mac: Mac) -> &'static str {
    match mac {
        Mac::HmacSha256 => "HMAC-SHA-256",
        Mac::HmacSha384 => "HMAC-SHA-384",
        Mac::HmacSha512 => "HMAC-SHA-512",
        Mac::HmacSha1 => "HMAC-SHA-1",
        Mac::Hash(Hash::Sha256) => "SHA-256 with the secret",
        Mac::Hash(Hash::Sha384) => "SHA-384 with the secret",
        Mac::Hash(Hash::Sha512) => "SHA-512 with the secret",
        Mac::Hash(Hash::Sha1) => "SHA-1 with the secret",
        Mac::Hash(Hash::Md5) => "MD5 with the secret",
        Mac::Hash(Hash::Keccak256) => "Keccak-256 with the secret",
        Mac::Ed25519 => "Ed25519",
        Mac::EcdsaP256Sha256Der => "ECDSA P-256, SHA-256, DER",
        Mac::EcdsaP256Sha256Raw => "ECDSA P-256, SHA-256, `r`, `s`",
        Mac::EcdsaP256Sha1Der => "ECDSA P-256, SHA-1, DER",
        Mac::RsaSha256 => "RSA PKCS #1 v1.5, SHA-256",
        Mac::RsaSha512 => "RSA PKCS #1 v1.5, SHA-512",
        Mac::RsaSha1 => "RSA PKCS #1 v1.5, SHA-1",
        Mac::RsaPssSha512 => "RSA PSS, SHA-512",
        Mac::Token => "token",
        _ => panic!("a new algorithm needs a name here"),
    }
}

fn encoding(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Hex => "hex",
        Encoding::Base64 => "base64",
        Encoding::Base64Url => "URL-safe base64",
        Encoding::Plain => "as it is",
        Encoding::LowerHex => "lower-case hex",
        Encoding::HexInBase64 => "hex in base64",
        Encoding::PercentBase64 => "base64 in either alphabet, percent-encoded or not",
        _ => panic!("a new encoding needs a name here"),
    }
}

/// What an HTTP message signature must cover.
fn http_signature(scheme: &Scheme) -> Option<String> {
    let rule = scheme.http_signature_rule()?;
    let body = if rule.covers_body() {
        ", and `content-digest` with the body that it is of"
    } else {
        "; not the body"
    };
    Some(format!(
        "what `Signature-Input` says, at least `{}`{body}",
        rule.components().join("`, `")
    ))
}

fn secret(format: SecretFormat) -> String {
    match format {
        SecretFormat::Text => "the text as it is shown".into(),
        SecretFormat::Base64 { prefix: "" } => "base64".into(),
        SecretFormat::Base64 { prefix } => format!("base64 after an optional `{prefix}`"),
        SecretFormat::Hex => "hex".into(),
        SecretFormat::TextWithout(starts) => {
            format!("the text, without `{}` in front", starts.join("` or `"))
        }
        SecretFormat::PublicKey => "a public key, in any spelling".into(),
        _ => panic!("a new format needs a name here"),
    }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "seconds",
        Unit::Millis => "milliseconds",
        Unit::Rfc3339 => "RFC 3339",
        Unit::DateTimeUtc => "RFC 3339 without a zone",
        Unit::SecondsOrMillis => "seconds or milliseconds",
        _ => panic!("a new unit needs a name here"),
    }
}

fn window(scheme: &Scheme) -> String {
    match scheme.timestamp_source() {
        Some(_) => format!("{} s", scheme.default_tolerance().as_secs()),
        None => "none".into(),
    }
}

fn covered(scheme: &Scheme) -> String {
    let coverage = scheme.coverage();
    let all = [
        (coverage.body, 'b'),
        (coverage.timestamp, 't'),
        (coverage.id, 'i'),
        (coverage.event_type, 'y'),
    ];
    all.iter()
        .map(|(yes, letter)| if *yes { *letter } else { '–' })
        .collect()
}

fn id(scheme: &Scheme) -> String {
    match scheme.id_source() {
        IdSource::None => "nothing: choose with `Gate::key_by`".into(),
        IdSource::Header(name) if scheme.coverage().id => format!("signed header `{name}`"),
        IdSource::Header(name) if scheme.coverage().body => {
            format!("content; header `{name}` is unsigned")
        }
        IdSource::Header(name) => format!("nothing signed; header `{name}` by choice"),
        IdSource::Json(pointer) if !scheme.coverage().id => {
            format!("nothing signed; `{pointer}` in the body by choice")
        }
        IdSource::Json(pointer) => format!("`{pointer}` in the body"),
        IdSource::JsonOrContent(pointer) => format!("`{pointer}` in the body, or content"),
        IdSource::Composite(pointers) => format!("`{}` in the body", pointers.join("`, `")),
        IdSource::Content => "content".into(),
        IdSource::Values(slots) => {
            let places: Vec<_> = slots.iter().copied().map(place).collect();
            places.join(", ")
        }
        _ => panic!("a new id source needs a name here"),
    }
}

fn stability(stability: Stability) -> String {
    match stability {
        Stability::Body => "the body's bytes".into(),
        Stability::JsonExcept([]) => "the JSON body's meaning".into(),
        Stability::JsonExcept(pointers) => {
            format!("the JSON body but for `{}`", pointers.join("`, `"))
        }
        Stability::None => "nothing is compared".into(),
        _ => panic!("a new stability needs a name here"),
    }
}

fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::OfficialSdk => "official SDK ran",
        Evidence::OfficialDocs => "official document",
        Evidence::ThirdParty => "third party only",
        Evidence::Own => "own",
        _ => panic!("new evidence needs a name here"),
    }
}
