//! HTTP message signatures (RFC 9421): the rules beyond what vectors can say.
#![cfg(all(feature = "http-signatures", feature = "json", feature = "testing"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![allow(clippy::arithmetic_side_effects)]

mod common;

use std::time::Duration;

use hookproof::{
    Invalid, KeyNeeded, Malformed, Rejection, RejectionKind, Secret, Secrets,
    headers::Headers,
    scheme::{
        self, Encoding, HttpSignature, IdSource, KeySource, Mac, Part, RFC9421_HMAC_SHA256, Scheme,
        SchemeError, Slot, Unit,
    },
    testing::{SignError, Signed, Signer},
};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const SECOND: Duration = Duration::from_secs(1);
const SECRET: &str = "OI9RWTJZzyQe105mx4H8QPG43xECrnd0n0G6ukZRNpk=";
const OTHER: &str = "4lrDhF+MvhKAGi36WonUxV3EeQDztu3Jqe5ZDzwrkxI=";
const BODY: &[u8] = br#"{"id":"evt_1","type":"paid"}"#;
/// What the catalogue's rows ask for.
const ALL: &str = r#""@method" "@target-uri" "content-digest""#;

fn signer(scheme: &'static Scheme) -> Signer {
    Signer::new(scheme, SECRET).at(NOW)
}

/// Signs what `input` says, which may use `CREATED` and `ALL`.
fn says(scheme: &'static Scheme, input: &str) -> Signed {
    let created = format!("created={}", NOW.unix_timestamp());
    let input = input.replace("CREATED", &created).replace("ALL", ALL);
    let signer = signer(scheme).header("Signature-Input", input);
    signer.sign(BODY).unwrap()
}

fn secrets(scheme: &'static Scheme) -> Secrets {
    Secrets::new(scheme, [SECRET]).unwrap()
}

fn judge(request: &Signed, secrets: &Secrets) -> Result<(), RejectionKind> {
    let outcome = hookproof::verify(&request.body, request, secrets, NOW);
    outcome.map(|_| ()).map_err(|why| why.kind())
}

fn header<'r>(request: &'r mut Signed, name: &str) -> &'r mut String {
    let mut all = request.headers.iter_mut();
    let found = all.find(|(own, _)| own.eq_ignore_ascii_case(name));
    &mut found.unwrap_or_else(|| panic!("no {name}")).1
}

fn malformed(what: Malformed) -> Result<(), RejectionKind> {
    Err(RejectionKind::Malformed(what))
}

fn invalid(what: Invalid) -> Result<(), RejectionKind> {
    Err(RejectionKind::Invalid(what))
}

const BAD_INPUT: Malformed = Malformed::HeaderValue("Signature-Input");

/// The examples of RFC 9421 appendix B.2, each under a rule that asks for what it signs. The fourth
/// is of a response; the first signs nothing, so no rule can ask for it.
#[test]
fn the_examples_of_the_rfc_verify() {
    const SELECTIVE: HttpSignature = HttpSignature::new(&["@authority"])
        .tag("header-example")
        .label("sig-b22");
    const FULL: HttpSignature = HttpSignature::new(&[
        "date",
        "@method",
        "@path",
        "@query",
        "@authority",
        "content-type",
    ])
    .parameters(&["keyid"]);
    const NO_BODY: HttpSignature =
        HttpSignature::new(&["date", "@authority", "content-type"]).danger_body_not_covered();
    #[cfg(feature = "rsa")]
    const B22: Scheme = scheme::RFC9421_RSA_PSS_SHA512.http_signature(&SELECTIVE);
    #[cfg(feature = "rsa")]
    const B23: Scheme = scheme::RFC9421_RSA_PSS_SHA512.http_signature(&FULL);
    const B25: Scheme = RFC9421_HMAC_SHA256.http_signature(&NO_BODY);
    #[cfg(feature = "ed25519")]
    const B26: Scheme = scheme::RFC9421_ED25519.http_signature(&NO_BODY);
    let rules: &[(&str, &Scheme)] = &[
        #[cfg(feature = "rsa")]
        ("rfc-b22-selective", &B22),
        #[cfg(feature = "rsa")]
        ("rfc-b23-full", &B23),
        ("rfc-b25-hmac", &B25),
        #[cfg(feature = "ed25519")]
        ("rfc-b26-ed25519", &B26),
    ];
    let _ = (&SELECTIVE, &FULL);
    let text = include_str!("vectors/rfc9421-appendix-b.json");
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    for &(name, scheme) in rules {
        let vectors = file["vectors"].as_array().unwrap();
        let vector = vectors.iter().find(|vector| vector["name"] == name);
        let vector = vector.unwrap();
        let secrets = Secrets::new(scheme, [vector["secret"].as_str().unwrap()]).unwrap();
        let mut request = common::Request::from_json(vector);
        assert_eq!(request.verify(&secrets), Ok(()), "{name}");
        assert_eq!(
            scheme.coverage().body,
            scheme.http_signature_rule().unwrap().covers_body()
        );
        request.headers.iter_mut().for_each(|(name, value)| {
            if name == "Date" {
                value[0] ^= 1;
            }
        });
        let covers_date = name != "rfc-b22-selective";
        assert_eq!(request.verify(&secrets).is_err(), covers_date, "{name}");
        request.url = request.url.replace("example.com", "example.org");
        assert!(request.verify(&secrets).is_err(), "{name}");
    }
}

/// HMAC signs alike every time, so what we sign is what the RFC printed (B.2.5).
#[test]
fn signing_gives_what_the_rfc_printed() {
    const RULE: HttpSignature = HttpSignature::new(&["@authority"]).danger_body_not_covered();
    const ROW: Scheme = RFC9421_HMAC_SHA256.http_signature(&RULE);
    let key =
        "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==";
    let mut signed = Signer::new(&ROW, key)
        .target("POST", "https://example.com/foo?param=Value&Pet=dog")
        .header("Date", "Tue, 20 Apr 2021 02:07:55 GMT")
        .header("Content-Type", "application/json")
        .header(
            "Signature-Input",
            r#"sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#,
        )
        .sign(br#"{"hello": "world"}"#)
        .unwrap();
    assert_eq!(
        header(&mut signed, "Signature"),
        "sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:"
    );
}

/// Authentic signatures that do not say enough, or say it in a way that cannot be judged.
#[test]
fn what_the_rule_asks_for_must_be_signed() {
    let secrets = secrets(&RFC9421_HMAC_SHA256);
    let missing_stamp = malformed(Malformed::Timestamp);
    let uncovered = invalid(Invalid::Coverage);
    for (input, expected) in [
        ("a=(ALL);CREATED", Ok(())),
        (
            r#"a=(ALL);nonce="n";CREATED;alg="hmac-sha256";other=?0;tag="t""#,
            Ok(()),
        ),
        (
            r#"a=("@method" "@authority" "@path" "@query" "content-digest");CREATED"#,
            Ok(()),
        ),
        (
            r#"a=("@method" "@request-target" "@authority" "content-digest");CREATED"#,
            Ok(()),
        ),
        ("a=(ALL)", missing_stamp),
        (r#"a=(ALL);created="1800000000""#, missing_stamp),
        ("a=(ALL);created=1800000000.0", missing_stamp),
        ("a=(ALL);created=-1800000000", missing_stamp),
        ("a=(ALL);created", missing_stamp),
        ("a=(ALL);created=253402300800", missing_stamp),
        ("a=(ALL);CREATED;expires=soon", missing_stamp),
        ("a=(ALL);CREATED;keyid=token", malformed(BAD_INPUT)),
        ("a=(ALL);CREATED;nonce=5", malformed(BAD_INPUT)),
        (r#"a=("@method" "@target-uri");CREATED"#, uncovered),
        (r#"a=("@method" "content-digest");CREATED"#, uncovered),
        (r#"a=("@target-uri" "content-digest");CREATED"#, uncovered),
        (
            r#"a=("@method" "@authority" "@path" "content-digest");CREATED"#,
            uncovered,
        ),
        ("a=();CREATED", uncovered),
        (
            r#"a=(ALL "@method");CREATED"#,
            malformed(Malformed::Component),
        ),
        (
            r#"a=(ALL);CREATED;alg="ed25519""#,
            invalid(Invalid::Algorithm),
        ),
        (
            r#"a=(ALL);CREATED;alg="HMAC-SHA256""#,
            invalid(Invalid::Algorithm),
        ),
        ("a=(ALL);CREATED;alg=hmac-sha256", malformed(BAD_INPUT)),
    ] {
        let signed = says(&RFC9421_HMAC_SHA256, input);
        assert_eq!(judge(&signed, &secrets), expected, "{input}");
    }
}

/// Whatever is changed behind the signature's back is found, or refused for what it is.
#[test]
fn any_tampering_is_rejected() {
    let secrets = secrets(&RFC9421_HMAC_SHA256);
    let input = format!(
        "sig1=({ALL} \"x-one\");created={};keyid=\"k\"",
        NOW.unix_timestamp()
    );
    let signer = signer(&RFC9421_HMAC_SHA256).header("X-One", "first");
    let honest = signer.header("Signature-Input", input).sign(BODY).unwrap();
    assert_eq!(judge(&honest, &secrets), Ok(()));
    let forged = invalid(Invalid::Signature);
    let component = malformed(Malformed::Component);
    let input = malformed(BAD_INPUT);
    let created = format!("created={}", NOW.unix_timestamp());
    let swaps: &[(&str, &str, &str, Result<(), RejectionKind>)] = &[
        // Components and parameters in another order, added, taken away.
        (
            "Signature-Input",
            r#""@method" "@target-uri""#,
            r#""@target-uri" "@method""#,
            forged,
        ),
        ("Signature-Input", r#" "x-one""#, "", forged),
        (
            "Signature-Input",
            r#""x-one""#,
            r#""x-one" "content-length""#,
            invalid(Invalid::MissingComponent),
        ),
        ("Signature-Input", &created, "created=1799999999", forged),
        ("Signature-Input", r#";keyid="k""#, "", forged),
        (
            "Signature-Input",
            r#"keyid="k""#,
            r#"keyid="k";expires=1800000001"#,
            forged,
        ),
        (
            "Signature-Input",
            r#"keyid="k""#,
            r#"keyid="k";nonce="""#,
            forged,
        ),
        ("Signature-Input", r#"keyid="k""#, r#"keyid="K""#, forged),
        // Names in another case, unknown ones, and parameters of components.
        ("Signature-Input", r#""x-one""#, r#""X-One""#, component),
        ("Signature-Input", r#""@method""#, r#""@METHOD""#, component),
        ("Signature-Input", r#""x-one""#, r#""x one""#, component),
        ("Signature-Input", r#""x-one""#, r#""""#, component),
        ("Signature-Input", r#""x-one""#, "x-one", component),
        ("Signature-Input", r#""x-one""#, r#""x-one";sf"#, component),
        ("Signature-Input", r#""x-one""#, r#""x-one";bs"#, component),
        (
            "Signature-Input",
            r#""x-one""#,
            r#""x-one";key="a""#,
            component,
        ),
        ("Signature-Input", r#""x-one""#, r#""x-one";req"#, component),
        ("Signature-Input", r#""x-one""#, r#""x-one";tr"#, component),
        (
            "Signature-Input",
            r#""content-digest""#,
            r#""content-digest";req"#,
            component,
        ),
        ("Signature-Input", r#""x-one""#, r#""@status""#, component),
        (
            "Signature-Input",
            r#""x-one""#,
            r#""@signature-params""#,
            component,
        ),
        (
            "Signature-Input",
            r#""x-one""#,
            r#""@query-param""#,
            component,
        ),
        (
            "Signature-Input",
            r#""x-one""#,
            r#""@query-param";name="a""#,
            invalid(Invalid::MissingComponent),
        ),
        ("Signature-Input", r#""x-one""#, r#""@path""#, forged),
        // The text itself.
        ("Signature-Input", "sig1=(", "sig1=( ", input),
        ("Signature-Input", r#"" ""#, "\"  \"", input),
        ("Signature-Input", "created=", "created=0", input),
        ("Signature-Input", ";created", "; created", input),
        (
            "Signature-Input",
            r#"keyid="k""#,
            r#"keyid="k";keyid="k""#,
            input,
        ),
        ("Signature-Input", r#"keyid="k""#, r#"keyid="k" x"#, input),
        ("Signature-Input", r#"keyid="k""#, r#"keyid="k","#, input),
        (
            "Signature-Input",
            r#"keyid="k""#,
            "keyid=\"k\u{e9}\"",
            input,
        ),
        ("Signature-Input", r#"keyid="k""#, "keyid=\"k", input),
        (
            "Signature-Input",
            r#"keyid="k""#,
            r#"keyid="k", sig1=()"#,
            input,
        ),
        (
            "Signature-Input",
            "sig1",
            "sig2",
            malformed(Malformed::NoSignature("Signature")),
        ),
        (
            "Signature",
            "sig1=:",
            "sig2=:",
            malformed(Malformed::NoSignature("Signature")),
        ),
        (
            "Signature",
            "sig1=:",
            "sig1=:AA==:, sig1=:",
            malformed(Malformed::HeaderValue("Signature")),
        ),
        (
            "Signature",
            "sig1=:",
            "sig1=:AAAA",
            malformed(Malformed::NoSignature("Signature")),
        ),
        // The message.
        ("X-One", "first", "first\n\"x-two\": b", component),
        ("X-One", "first", "first\u{e9}", component),
        ("X-One", "first", "First", forged),
        ("Content-Digest", "sha-256", "sha-512", forged),
    ];
    for (name, from, to, expected) in swaps {
        let mut changed = honest.clone();
        let value = header(&mut changed, name);
        assert!(value.contains(from), "{name}: {from} is not in {value}");
        *value = value.replacen(from, to, 1);
        assert_eq!(
            judge(&changed, &secrets),
            *expected,
            "{name}: {from} to {to}"
        );
    }
    // White space around a value is no part of it; blanks around members are none of theirs.
    for (name, from, to) in [
        ("X-One", "first", " \tfirst \t"),
        ("Signature", "sig1", " sig1"),
    ] {
        let mut same = honest.clone();
        let value = header(&mut same, name);
        *value = value.replacen(from, to, 1);
        assert_eq!(judge(&same, &secrets), Ok(()), "{name}");
    }
    // A field on two lines, covered or one of the two that are read first.
    for (name, expected) in [
        ("X-One", component),
        (
            "Signature",
            malformed(Malformed::RepeatedHeader("Signature")),
        ),
        (
            "Signature-Input",
            malformed(Malformed::RepeatedHeader("Signature-Input")),
        ),
        ("Content-Digest", component),
    ] {
        let mut twice = honest.clone();
        let value = header(&mut twice, name).clone();
        twice.headers.push((name.to_ascii_lowercase(), value));
        assert_eq!(judge(&twice, &secrets), expected, "{name}");
        let mut gone = honest.clone();
        gone.headers
            .retain(|(own, _)| !own.eq_ignore_ascii_case(name));
        let missing = match name {
            "Signature" | "Signature-Input" => malformed(Malformed::MissingHeader(name)),
            _ => invalid(Invalid::MissingComponent),
        };
        assert_eq!(judge(&gone, &secrets), missing, "{name}");
    }
    // Method and URL, which a caller may also have forgotten.
    for (method, url) in [
        ("PUT", &*honest.url),
        ("post", &honest.url),
        ("POST", "https://hooks.example.com/in?"),
    ] {
        let changed = Signed {
            method: method.into(),
            url: url.into(),
            ..honest.clone()
        };
        assert_eq!(judge(&changed, &secrets), forged, "{method} {url}");
    }
    let untold = hookproof::verify(BODY, &honest.headers, &secrets, NOW);
    assert_eq!(
        untold.unwrap_err().kind(),
        RejectionKind::Malformed(Malformed::NoTarget)
    );
}

/// The body is held against the digest only after the signature, and must match all of it.
#[test]
fn the_body_must_match_its_signed_digest() {
    let secrets = secrets(&RFC9421_HMAC_SHA256);
    let honest = signer(&RFC9421_HMAC_SHA256).sign(BODY).unwrap();
    let other = Signed {
        body: b"{}".to_vec(),
        ..honest.clone()
    };
    assert_eq!(judge(&other, &secrets), invalid(Invalid::Digest));
    let sha256 = "sha-256=:uAvbf6rOIGUIjh1wgtHK2Lzh0VVP6RYcrbQExuAAaJs=:";
    let own = header(&mut honest.clone(), "Content-Digest").clone();
    let unreadable = malformed(Malformed::HeaderValue("Content-Digest"));
    for (digest, expected) in [
        (own.clone(), Ok(())),
        (format!("md5=:AAAA:, {own}"), Ok(())),
        (sha256.to_owned(), invalid(Invalid::Digest)),
        (
            format!("{own}, sha-512=:{}==:", "A".repeat(86)),
            invalid(Invalid::Digest),
        ),
        ("md5=:fe2C3M6iY+80ig50nwr4gA==:".to_owned(), unreadable),
        (format!("{own}, {own}"), unreadable),
        (own.replace(':', "\""), unreadable),
        ("sha-256=:AAAA:".to_owned(), unreadable),
        (String::new(), unreadable),
    ] {
        let signer = signer(&RFC9421_HMAC_SHA256).header("Content-Digest", digest.as_str());
        assert_eq!(
            judge(&signer.sign(BODY).unwrap(), &secrets),
            expected,
            "{digest}"
        );
    }
}

#[test]
fn age_is_judged_last_and_in_both_directions() {
    let secrets = secrets(&RFC9421_HMAC_SHA256);
    let at = |request: &Signed, now| {
        hookproof::verify(&request.body, request, &secrets, now).map(|found| found.timestamp())
    };
    let honest = signer(&RFC9421_HMAC_SHA256).sign(BODY).unwrap();
    for edge in [NOW - 300 * SECOND, NOW + 300 * SECOND] {
        assert_eq!(at(&honest, edge).unwrap(), Some(NOW));
    }
    for beyond in [NOW - 301 * SECOND, NOW + 301 * SECOND] {
        let stale = at(&honest, beyond).unwrap_err().into_stale().unwrap();
        assert_eq!(stale.danger_accept_late().body(), BODY);
        // Stale means authentic: a forgery or another body never is.
        let forged = Signed {
            body: b"{}".to_vec(),
            ..honest.clone()
        };
        let why = at(&forged, beyond).unwrap_err().kind();
        assert_eq!(why, RejectionKind::Invalid(Invalid::Digest));
        let mut forged = honest.clone();
        *header(&mut forged, "Signature") = format!("sig1=:{}=:", "A".repeat(43));
        let why = at(&forged, beyond).unwrap_err().kind();
        assert_eq!(why, RejectionKind::Invalid(Invalid::Signature));
    }
    let expires = NOW + 10 * SECOND;
    let input = format!("a=(ALL);CREATED;expires={}", expires.unix_timestamp());
    let brief = says(&RFC9421_HMAC_SHA256, &input);
    assert!(at(&brief, expires + Duration::from_millis(999)).is_ok());
    assert!(matches!(
        at(&brief, expires + SECOND),
        Err(Rejection::Stale(_))
    ));
    let any_age = Secrets::new(&RFC9421_HMAC_SHA256, [SECRET]).unwrap();
    let any_age = any_age.danger_accept_any_age();
    assert!(hookproof::verify(BODY, &brief, &any_age, expires + 9999 * SECOND).is_ok());
}

#[test]
fn any_label_that_verifies_counts_and_at_most_four_are_tried() {
    let secrets = secrets(&RFC9421_HMAC_SHA256);
    let ours = says(&RFC9421_HMAC_SHA256, "ours=(ALL);CREATED");
    let with = |input: &str, signature: &str| {
        let mut request = ours.clone();
        header(&mut request, "Signature-Input").push_str(input);
        header(&mut request, "Signature").push_str(signature);
        judge(&request, &secrets)
    };
    let zeros = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    assert_eq!(with("", ""), Ok(()));
    // Of others: another algorithm, a response's, one that cannot be read, a forgery.
    let response = r#", proxy=("@status");created=1;keyid="proxy""#;
    assert_eq!(with(response, ", proxy=:AAAA:"), Ok(()));
    assert_eq!(with(r#", x=("date";sf)"#, ""), Ok(()));
    assert_eq!(with("", ", other=5"), Ok(()));
    let late = says(
        &RFC9421_HMAC_SHA256,
        &format!("late=(ALL);created={}", 1_700_000_000),
    );
    let stale_first = |first: &Signed, second: &Signed| {
        let (mut both, mut second) = (first.clone(), second.clone());
        for name in ["Signature-Input", "Signature"] {
            let value = format!(", {}", header(&mut second, name));
            header(&mut both, name).push_str(&value);
        }
        judge(&both, &secrets)
    };
    assert!(matches!(
        judge(&late, &secrets),
        Err(RejectionKind::Stale { .. })
    ));
    assert_eq!(stale_first(&late, &ours), Ok(()));
    assert_eq!(stale_first(&ours, &late), Ok(()));
    // Labels that fit the rule are counted before anything is hashed.
    let forged = |count: usize| {
        let own = header(&mut ours.clone(), "Signature-Input").clone();
        let list = own.strip_prefix("ours=").unwrap().to_owned();
        let inputs: String = (0..count).map(|n| format!(", f{n}={list}")).collect();
        let signatures: String = (0..count).map(|n| format!(", f{n}=:{zeros}:")).collect();
        with(&inputs, &signatures)
    };
    assert_eq!(forged(scheme::MAX_LABELS - 1), Ok(()));
    let many = malformed(Malformed::TooManySignatures("Signature-Input"));
    assert_eq!(forged(scheme::MAX_LABELS), many);
    assert_eq!(
        forged(1000),
        malformed(Malformed::HeaderTooLong("Signature-Input"))
    );
    let huge = says(&RFC9421_HMAC_SHA256, "a=(ALL);CREATED");
    let mut huge = huge;
    *header(&mut huge, "Signature-Input") = format!("a=({})", r#""a" "#.repeat(1000).trim());
    assert_eq!(judge(&huge, &secrets), malformed(BAD_INPUT));
    *header(&mut huge, "Signature-Input") = (0..500).map(|n| format!("l{n}=(), ")).collect();
    assert_eq!(judge(&huge, &secrets), malformed(BAD_INPUT));
}

#[test]
fn a_rule_may_want_one_label_a_tag_and_parameters() {
    const RULE: HttpSignature = HttpSignature::new(&["@method", "x-kind"])
        .label("hook")
        .tag("acme-webhook")
        .parameters(&["keyid", "nonce", "expires", "alg"]);
    const ROW: Scheme = RFC9421_HMAC_SHA256.named("acme").http_signature(&RULE);
    let secrets = secrets(&ROW);
    let mut signed = signer(&ROW).sign(BODY).unwrap();
    assert_eq!(judge(&signed, &secrets), Ok(()));
    assert_eq!(
        header(&mut signed, "Signature-Input"),
        &format!(
            "hook=(\"@method\" \"x-kind\" \"content-digest\");created={now};expires={later};\
             nonce=\"test-nonce-1\";keyid=\"test-key\";alg=\"hmac-sha256\";tag=\"acme-webhook\"",
            now = NOW.unix_timestamp(),
            later = NOW.unix_timestamp() + 300,
        )
    );
    let input = header(&mut signed, "Signature-Input").clone();
    let again = |input: &str| {
        let signer = signer(&ROW).header("X-Kind", "k");
        judge(
            &signer.header("Signature-Input", input).sign(BODY).unwrap(),
            &secrets,
        )
    };
    assert_eq!(again(&input), Ok(()));
    let none = malformed(Malformed::NoSignature("Signature"));
    assert_eq!(again(&input.replace("hook=", "other=")), none);
    let uncovered = invalid(Invalid::Coverage);
    assert_eq!(
        again(&input.replace("acme-webhook", "acme-login")),
        uncovered
    );
    for parameter in [
        "nonce=\"test-nonce-1\"",
        "keyid=\"test-key\"",
        "alg=\"hmac-sha256\"",
        "tag=\"acme-webhook\"",
    ] {
        let without = input.replace(&format!(";{parameter}"), "");
        assert_ne!(without, input);
        assert_eq!(again(&without), uncovered, "{parameter}");
    }
}

#[test]
fn keyid_chooses_among_keys_with_ids() {
    let ring = [
        Secret::from(OTHER).key_id("old"),
        Secret::from(SECRET).key_id("new"),
        Secret::from(OTHER).key_id("over").not_after(NOW - SECOND),
    ];
    let secrets = Secrets::new(&RFC9421_HMAC_SHA256, ring).unwrap();
    let named = |id: &str| {
        says(
            &RFC9421_HMAC_SHA256,
            &format!("a=(ALL);CREATED;keyid=\"{id}\""),
        )
    };
    let request = named("new");
    let found = hookproof::verify(BODY, &request, &secrets, NOW).unwrap();
    assert_eq!((found.key_id(), found.key_index()), (Some("new"), 1));
    assert_eq!(judge(&named("old"), &secrets), invalid(Invalid::Signature));
    assert_eq!(
        judge(&named("none"), &secrets),
        invalid(Invalid::UnknownKey)
    );
    assert_eq!(
        judge(&named("over"), &secrets),
        invalid(Invalid::UnknownKey)
    );
    // A request that names none is tried under all; a key without an id stays a candidate.
    assert_eq!(
        judge(&says(&RFC9421_HMAC_SHA256, "a=(ALL);CREATED"), &secrets),
        Ok(())
    );
    let unnamed = Secrets::new(&RFC9421_HMAC_SHA256, [SECRET]).unwrap();
    assert_eq!(judge(&named("any"), &unnamed), Ok(()));
}

#[test]
fn unknown_keys_of_a_published_list_are_asked_for() {
    const RULE: HttpSignature = HttpSignature::new(&["@method"]).parameters(&["keyid"]);
    const ROW: Scheme = RFC9421_HMAC_SHA256
        .http_signature(&RULE)
        .keys(KeySource::ById("https://acme.example/keys"));
    let mut secrets = Secrets::awaiting_keys(&ROW).unwrap();
    let request = Signer::new(&ROW, Secret::from(SECRET).key_id("2027"))
        .at(NOW)
        .sign(BODY)
        .unwrap();
    let needed = |secrets: &Secrets, request: &Signed| match hookproof::verify(
        BODY, request, secrets, NOW,
    ) {
        Err(Rejection::KeyNeeded(KeyNeeded::Id(id))) => Some(id),
        _ => None,
    };
    assert_eq!(needed(&secrets, &request).as_deref(), Some("2027"));
    secrets.add(Secret::from(OTHER).key_id("2026")).unwrap();
    assert_eq!(needed(&secrets, &request).as_deref(), Some("2027"));
    secrets.add(Secret::from(SECRET).key_id("2027")).unwrap();
    assert_eq!(judge(&request, &secrets), Ok(()));
    // A key that is known is not asked for again, whatever it is named under or however old it is.
    let mut forged = request.clone();
    *header(&mut forged, "Signature") = format!("sig1=:{}=:", "A".repeat(43));
    assert_eq!(judge(&forged, &secrets), invalid(Invalid::Signature));
    let over = Secret::from(SECRET).key_id("2027").not_after(NOW - SECOND);
    secrets.add(over).unwrap();
    assert_eq!(judge(&request, &secrets), invalid(Invalid::UnknownKey));
    // What is not even a name is not asked for.
    for id in ["two words", &"x".repeat(256)] {
        let input = format!("a=(\"@method\" \"content-digest\");CREATED;keyid=\"{id}\"");
        let request = says(&ROW, &input);
        assert_eq!(needed(&secrets, &request), None);
        assert_eq!(judge(&request, &secrets), invalid(Invalid::UnknownKey));
    }
}

/// A header id names the event if the rule makes every sender sign it, and else it does not.
#[test]
fn ids_in_required_fields_are_covered() {
    const RULE: HttpSignature =
        HttpSignature::new(&["@method", "@target-uri", "x-event-id", "date"]);
    const SIGNED: Scheme = RFC9421_HMAC_SHA256
        .named("acme")
        .http_signature(&RULE)
        .id(IdSource::Header("X-Event-Id"));
    const UNSIGNED: Scheme = RFC9421_HMAC_SHA256
        .named("acme")
        .id(IdSource::Header("X-Event-Id"));
    assert!(SIGNED.coverage().id && SIGNED.coverage().body && SIGNED.coverage().timestamp);
    assert!(!UNSIGNED.coverage().id && UNSIGNED.coverage().body);
    let key = |scheme: &'static Scheme, id: &str, at: OffsetDateTime, url: &str| {
        let request = Signer::new(scheme, SECRET)
            .at(at)
            .target("POST", url)
            .header("X-Event-Id", id)
            .header("Date", at.to_string())
            .sign(BODY)
            .unwrap();
        let secrets = secrets(scheme);
        let found = hookproof::verify(BODY, &request, &secrets, at).unwrap();
        let key = found.event_key("t").unwrap();
        let kept = found.to_buf();
        assert_eq!(kept.as_verified().event_key("t").unwrap(), key);
        let content = found.content_key("t").unwrap();
        assert_eq!(kept.as_verified().content_key("t").unwrap(), content);
        (key, content)
    };
    let url = "https://hooks.example.com/in";
    let (first, content) = key(&SIGNED, "evt_7", NOW, url);
    assert_eq!(first.id(), "evt_7");
    // Of another attempt: created and date are others, the event is not.
    assert_eq!(
        key(&SIGNED, "evt_7", NOW + SECOND, url),
        (first, content.clone())
    );
    assert_ne!(key(&SIGNED, "evt_8", NOW, url).1, content);
    assert_ne!(
        key(&SIGNED, "evt_7", NOW, "https://hooks.example.com/other").1,
        content
    );
    let (unsigned, _) = key(&UNSIGNED, "evt_7", NOW, url);
    assert!(unsigned.id().starts_with("content:"));
    assert_eq!(key(&UNSIGNED, "evt_8", NOW + SECOND, url).0, unsigned);
}

#[test]
fn rules_that_cannot_be_kept_are_refused() {
    macro_rules! fault {
        ($rule:expr, $($builder:tt)*) => {{
            const RULE: HttpSignature = $rule;
            const ROW: Scheme = Scheme::new("x", Mac::HmacSha256).http_signature(&RULE)$($builder)*;
            match ROW.check() {
                Err(SchemeError::HttpSignature(_)) => true,
                Err(other) => panic!("{other}"),
                Ok(_) => false,
            }
        }};
    }
    assert!(!fault!(HttpSignature::new(&[]),));
    assert!(!fault!(
        HttpSignature::new(&["@method", "content-digest"]).parameters(&["created"]),
    ));
    assert!(fault!(HttpSignature::new(&[]).danger_body_not_covered(),));
    assert!(fault!(HttpSignature::new(&["Date"]),));
    assert!(fault!(HttpSignature::new(&[""]),));
    assert!(fault!(HttpSignature::new(&["@status"]),));
    assert!(fault!(HttpSignature::new(&["@query-param"]),));
    assert!(fault!(HttpSignature::new(&["a"; 32]),));
    assert!(fault!(HttpSignature::new(&[]).parameters(&["key"]),));
    assert!(fault!(HttpSignature::new(&[]).label(""),));
    assert!(fault!(HttpSignature::new(&[]).tag("a b"),));
    assert!(fault!(HttpSignature::new(&[]), .content(&[Part::Body])));
    assert!(fault!(HttpSignature::new(&[]), .timestamp(Slot::header("T"), Unit::Seconds)));
    assert!(fault!(HttpSignature::new(&[]), .signature(Slot::header("S"), Encoding::Base64)));
    assert!(fault!(HttpSignature::new(&[]), .key_id("K")));
    assert!(fault!(HttpSignature::new(&[]), .key(&[Part::Secret])));
    assert!(fault!(HttpSignature::new(&[]), .or_content(&[&[Part::Body]])));
    assert!(fault!(HttpSignature::new(&[]), .each("/a")));
    assert!(fault!(HttpSignature::new(&[]), .json_in_form("payload")));
    assert!(fault!(HttpSignature::new(&[]), .earliest(1)));
    assert!(fault!(HttpSignature::new(&[]), .header_family("a-", "b-")));
    assert!(fault!(HttpSignature::new(&[]), .more_signatures(&[Slot::header("S")])));
    assert!(fault!(HttpSignature::new(&[]), .keys(KeySource::ById("list"))));
    const SHA512: Scheme =
        Scheme::new("x", Mac::HmacSha512).http_signature(&HttpSignature::new(&[]));
    assert!(matches!(SHA512.check(), Err(SchemeError::HttpSignature(_))));
}

#[test]
fn what_cannot_be_read_cannot_be_signed() {
    for input in [
        "a=(\"x-none\")",
        "a=(\"date\";sf)",
        "a=( \"@method\")",
        "a=5",
        "",
    ] {
        let signer = signer(&RFC9421_HMAC_SHA256).header("Signature-Input", input);
        assert_eq!(
            signer.sign(BODY).unwrap_err(),
            SignError::HttpSignature,
            "{input}"
        );
    }
    let early = Signer::new(&RFC9421_HMAC_SHA256, SECRET).at(datetime!(1969-12-31 23:59 UTC));
    assert_eq!(early.sign(BODY).unwrap_err(), SignError::Time);
    let request = signer(&RFC9421_HMAC_SHA256).sign(BODY).unwrap();
    assert_eq!(request.method(), Some("POST"));
}
