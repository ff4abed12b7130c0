//! The provider guide is made from the rows. `HOOKPROOF_WRITE_GUIDE=1 cargo test --all-features
//! --test guide` writes it anew.
#![cfg(all(
    feature = "json",
    feature = "sha1",
    feature = "keyed-hash",
    feature = "ed25519",
    feature = "ecdsa",
    feature = "rsa",
    feature = "http-signatures",
    feature = "jwt"
))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::arithmetic_side_effects)]

#[cfg(feature = "handshake")]
#[allow(
    clippy::indexing_slicing,
    reason = "rows that `check` accepts name their settings"
)]
#[path = "guide/handshakes.rs"]
mod handshakes;
#[path = "guide/token.rs"]
mod token;

use std::fmt::Write as _;

use hookproof::scheme::{
    self, Encoding, Evidence, Hash, IdSource, KeySource, Mac, Part, Place, Scheme, SecretFormat,
    Slot, Source, Stability, Stamp, Transform, Unit,
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
        "# Schemes\n\nMade from the catalogue's rows by `tests/guide.rs`; edit those.\n\n\
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
    out
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
    let content: Vec<String> = scheme.parts().iter().map(part).collect();
    line(
        "signed",
        if let Some(covered) = http_signature(scheme) {
            covered
        } else if content.is_empty() {
            "nothing".into()
        } else {
            content.join(" ")
        },
    );
    for (what, words) in token::lines(scheme) {
        line(what, words);
    }
    line("secret", secret(scheme.secret_format()));
    if let Some(header) = scheme.key_id_header() {
        line("key named by", format!("header `{header}`, unsigned"));
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
            Source::Claims(pointers) => {
                format!("`{}` in the claims", pointers.join("`, in that `"))
            }
            _ => "?".into(),
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
            "retries end after",
            format!("about {time}; receipts are kept 30 days by default"),
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
        _ => panic!("a new encoding needs a name here"),
    }
}

fn place(slot: Slot) -> String {
    if slot.place() == Place::Body {
        return "the whole body".into();
    }
    match (slot.separator(), slot.fixed_prefix()) {
        (None, "") => format!("header `{}`", slot.name()),
        (None, prefix) => format!("header `{}` after `{prefix}`", slot.name()),
        (Some(b' '), prefix) => {
            format!("header `{}`, items `{prefix}…` between blanks", slot.name())
        }
        (Some(separator), prefix) => {
            format!(
                "header `{}`, items `{prefix}…` between `{}`",
                slot.name(),
                char::from(separator)
            )
        }
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("`{text:?}`"),
        Part::Timestamp => "time".into(),
        Part::Header(slot) => format!("`{}`", slot.name()),
        Part::Body => "body".into(),
        Part::Method => "method".into(),
        Part::Url => "URL".into(),
        Part::Of(Transform::Base64Url, parts) => {
            let inner: Vec<_> = parts.iter().map(self::part).collect();
            format!("base64url({})", inner.join(" "))
        }
        _ => panic!("a new part needs a name here"),
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
        SecretFormat::PublicKey => "a public key, in any spelling".into(),
        _ => panic!("a new format needs a name here"),
    }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "seconds",
        Unit::Millis => "milliseconds",
        Unit::Rfc3339 => "RFC 3339",
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
