//! The order and the bounds of `verify`, beyond what vectors can say.
#![cfg(all(feature = "json", feature = "testing"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![allow(clippy::arithmetic_side_effects)]

use std::{collections::HashMap, time::Duration};

use hookproof::{
    Invalid, Malformed, Rejection, RejectionKind, Secret, SecretFault, Secrets, SecretsError,
    headers::{Headers, Lookup},
    scheme::{self, Encoding, Mac, Part, Scheme, SchemeError, Shape, Slot, Unit},
    testing::{Signed, Signer, sign},
};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);
const OLD: &str = "the-old-secret-of-the-two";
const NEW: &str = "the-new-secret-of-the-two";

fn plain(secret: &str, body: &[u8]) -> Signed {
    sign(&scheme::PLAIN, secret, body, NOW).unwrap()
}

fn kind(body: &[u8], headers: &impl Headers, secrets: &Secrets) -> RejectionKind {
    hookproof::verify(body, headers, secrets, NOW)
        .unwrap_err()
        .kind()
}

#[test]
fn every_header_type_gives_the_same_answer() {
    let request = plain(NEW, b"{}");
    let secrets = Secrets::new(&scheme::PLAIN, [NEW]).unwrap();
    let slice: &[(String, String)] = &request.headers;
    let map: HashMap<String, String> = request.headers.iter().cloned().collect();
    let array: [(&str, &[u8]); 2] = [
        ("x-webhook-timestamp", request.headers[0].1.as_bytes()),
        ("X-WEBHOOK-SIGNATURE", request.headers[1].1.as_bytes()),
    ];
    assert!(hookproof::verify(b"{}", &slice, &secrets, NOW).is_ok());
    assert!(hookproof::verify(b"{}", &request.headers, &secrets, NOW).is_ok());
    assert!(hookproof::verify(b"{}", &map, &secrets, NOW).is_ok());
    assert!(hookproof::verify(b"{}", &array, &secrets, NOW).is_ok());
    #[cfg(feature = "http")]
    {
        let mut map = http::HeaderMap::new();
        map.insert("x-webhook-timestamp", request.headers[0].1.parse().unwrap());
        map.insert("x-webhook-signature", request.headers[1].1.parse().unwrap());
        assert!(hookproof::verify(b"{}", &map, &secrets, NOW).is_ok());
        map.append("x-webhook-timestamp", request.headers[0].1.parse().unwrap());
        let repeated = Malformed::RepeatedHeader("X-Webhook-Timestamp");
        assert_eq!(
            kind(b"{}", &map, &secrets),
            RejectionKind::Malformed(repeated)
        );
    }
}

#[test]
fn a_repeated_header_is_malformed_in_any_spelling() {
    let request = plain(NEW, b"{}");
    let secrets = Secrets::new(&scheme::PLAIN, [NEW]).unwrap();
    for (name, value) in request.headers.clone() {
        let mut headers = request.headers.clone();
        headers.push((name.to_uppercase(), value));
        assert!(matches!(
            kind(b"{}", &headers, &secrets),
            RejectionKind::Malformed(Malformed::RepeatedHeader(_))
        ));
    }
    assert_eq!([("a", "1"), ("A", "2")].lookup("a"), Lookup::Many);
}

#[test]
fn both_secrets_of_a_rotation_pass_and_the_matching_one_is_named() {
    let secrets = Secrets::new(
        &scheme::PLAIN,
        [
            Secret::from(NEW).key_id("2027"),
            Secret::from(OLD).key_id("2026"),
        ],
    )
    .unwrap();
    for (secret, index, id) in [(NEW, 0, "2027"), (OLD, 1, "2026")] {
        let request = plain(secret, b"{}");
        let delivery = hookproof::verify(b"{}", &request, &secrets, NOW).unwrap();
        assert_eq!((delivery.key_index(), delivery.key_id()), (index, Some(id)));
    }
}

#[test]
fn a_key_id_narrows_the_choice_and_never_widens_it() {
    let secrets = Secrets::new(
        &scheme::PLAIN,
        [
            Secret::from(NEW).key_id("2027"),
            Secret::from(OLD).key_id("2026"),
        ],
    )
    .unwrap();
    let with_id = |secret, id: &str| {
        Signer::new(&scheme::PLAIN, secret)
            .at(NOW)
            .header("X-Webhook-Key-Id", id)
            .sign(b"{}")
            .unwrap()
    };
    assert!(hookproof::verify(b"{}", &with_id(OLD, "2026"), &secrets, NOW).is_ok());
    let wrong = kind(b"{}", &with_id(OLD, "2027"), &secrets);
    assert_eq!(wrong, RejectionKind::Invalid(Invalid::Signature));
    let unknown = kind(b"{}", &with_id(OLD, "1999"), &secrets);
    assert_eq!(unknown, RejectionKind::Invalid(Invalid::UnknownKey));
    // Keys without an id stay candidates whatever the header says.
    let unnamed = Secrets::new(&scheme::PLAIN, [OLD]).unwrap();
    assert!(hookproof::verify(b"{}", &with_id(OLD, "1999"), &unnamed, NOW).is_ok());
}

#[test]
fn keys_count_only_in_their_time_edges_included() {
    let second = Duration::from_secs(1);
    let cases = [
        (NOW - second, NOW + second, true),
        (NOW, NOW, true),
        (NOW + second, NOW + second, false),
        (NOW - second, NOW - second, false),
    ];
    for (from, until, passes) in cases {
        let secret = Secret::from(NEW).not_before(from).not_after(until);
        let secrets = Secrets::new(&scheme::PLAIN, [secret]).unwrap();
        let request = plain(NEW, b"{}");
        let result = hookproof::verify(b"{}", &request, &secrets, NOW);
        assert_eq!(result.is_ok(), passes, "{from} {until}");
        if let Err(rejection) = result {
            assert_eq!(
                rejection.kind(),
                RejectionKind::Invalid(Invalid::NoKeyInForce)
            );
        };
    }
}

#[test]
fn headers_are_bounded_before_anything_is_hashed() {
    let secrets = Secrets::new(&scheme::STRIPE, [NEW]).unwrap();
    let good = sign(&scheme::STRIPE, NEW, b"{}", NOW).unwrap().headers[0]
        .1
        .clone();
    let bad = format!(",v1={}", "0".repeat(64));
    // 16 signatures are compared, the good one last; 17 are refused, the good one first.
    let (stamp, tag) = good.split_once(",v1=").unwrap();
    let sixteen = format!("{stamp}{},v1={tag}", bad.repeat(15));
    assert!(hookproof::verify(b"{}", &[("Stripe-Signature", sixteen)], &secrets, NOW).is_ok());
    let seventeen = [("Stripe-Signature", format!("{good}{}", bad.repeat(16)))];
    let many = Malformed::TooManySignatures("Stripe-Signature");
    assert_eq!(
        kind(b"{}", &seventeen, &secrets),
        RejectionKind::Malformed(many)
    );
    let long = [("Stripe-Signature", format!("{good},x={}", "y".repeat(9000)))];
    let too_long = Malformed::HeaderTooLong("Stripe-Signature");
    assert_eq!(
        kind(b"{}", &long, &secrets),
        RejectionKind::Malformed(too_long)
    );
}

#[test]
fn the_window_is_inclusive_on_both_sides_and_zero_is_not_off() {
    let request = plain(NEW, b"{}");
    let at = |window: u64, offset: i64, nanos: i64| {
        let secrets = Secrets::new(&scheme::PLAIN, [NEW])
            .unwrap()
            .tolerance(Duration::from_secs(window));
        let now = NOW + time::Duration::new(offset, i32::try_from(nanos).unwrap());
        hookproof::verify(b"{}", &request, &secrets, now).is_ok()
    };
    assert!(at(300, 300, 0) && at(300, -300, 0));
    // A fraction of a second on our side does not narrow a window counted in seconds.
    assert!(at(300, 300, 999_999_999));
    assert!(!at(300, 301, 0) && !at(300, -301, 0));
    assert!(at(0, 0, 0) && at(0, 0, 1) && !at(0, 1, 0) && !at(0, -1, 0));
    assert!(at(u64::MAX, 250_000_000_000, 0));
    let any = Secrets::new(&scheme::PLAIN, [NEW])
        .unwrap()
        .danger_accept_any_age();
    let late = NOW + time::Duration::days(3650);
    let delivery = hookproof::verify(b"{}", &request, &any, late).unwrap();
    assert_eq!(delivery.age(), Some(time::Duration::days(3650)));
    assert_eq!(any.window(), None);
}

#[test]
fn stale_means_authentic_and_can_be_reviewed() {
    let secrets = Secrets::new(&scheme::TWITCH, [NEW]).unwrap();
    let request = Signer::new(&scheme::TWITCH, NEW)
        .at(NOW)
        .header("Twitch-Eventsub-Message-Id", "msg-7")
        .sign(b"{\"subscription\":{\"type\":\"follow\"}}")
        .unwrap();
    let late = NOW + time::Duration::hours(1);
    let rejection = hookproof::verify(&request.body, &request, &secrets, late).unwrap_err();
    assert_eq!(
        rejection.kind(),
        RejectionKind::Stale {
            age: time::Duration::hours(1)
        }
    );
    assert_eq!(
        rejection.kind().to_string(),
        "stale: authentic, but 3600 s old"
    );
    let stale = rejection.into_stale().unwrap();
    assert_eq!(stale.body(), &request.body[..]);
    // Accepting it by hand gives the same event as a punctual delivery would have.
    let punctual = hookproof::verify(&request.body, &request, &secrets, NOW).unwrap();
    let accepted = stale.danger_accept_late();
    assert_eq!(
        accepted.event_key("t").unwrap(),
        punctual.event_key("t").unwrap()
    );
    assert_eq!(
        accepted.content_key("t").unwrap(),
        punctual.content_key("t").unwrap()
    );
    assert_eq!(accepted.event_type().as_deref(), Some("follow"));
    // Late and forged is not stale.
    let forged = hookproof::verify(b"{}", &request, &secrets, late).unwrap_err();
    assert_eq!(forged.kind(), RejectionKind::Invalid(Invalid::Signature));
}

#[test]
fn the_wire_text_is_one_and_nothing_prints_a_secret_or_body() {
    let secrets = Secrets::new(&scheme::PLAIN, [Secret::from(NEW).key_id("k")]).unwrap();
    let request = plain(NEW, b"a private body");
    let tag = &request.headers[1].1;
    let delivery = hookproof::verify(&request.body, &request, &secrets, NOW).unwrap();
    let rejections = [
        hookproof::verify(b"", &request, &secrets, NOW).unwrap_err(),
        hookproof::verify(b"", &[("a", "b")], &secrets, NOW).unwrap_err(),
        hookproof::verify(&request.body, &request, &secrets, NOW + time::Duration::DAY)
            .unwrap_err(),
    ];
    let mut printed = format!("{secrets:?} {delivery:?} {:?}", Secret::from(NEW));
    for rejection in rejections {
        assert_eq!(rejection.to_string(), Rejection::WIRE_TEXT);
        printed += &format!("{rejection:?} {}", rejection.kind());
        printed += &format!("{:?}", rejection.into_stale());
    }
    for hidden in [NEW, "a private body", tag.as_str()] {
        assert!(!printed.contains(hidden), "{printed}");
    }
}

#[test]
fn bad_secrets_are_refused_when_built() {
    use SecretFault::{BarePrefix, Blank, Edges, Empty, TooShort, Undecodable};
    let fault = |scheme, text: &str| match Secrets::new(scheme, [OLD_BASE64, text]) {
        Err(SecretsError::Secret { index: 1, fault }) => fault,
        other => panic!("{text:?}: {other:?}"),
    };
    let text = &scheme::STRIPE;
    let base64 = &scheme::STANDARD_WEBHOOKS;
    for (scheme, secret, expected) in [
        (text, "", Empty),
        (text, " \t\n", Blank),
        (text, "whsec_abcdef\n", Edges),
        (text, "\u{a0}whsec_abcdef", Edges),
        (text, "whsec_", BarePrefix),
        (text, "x", TooShort),
        (base64, "whsec_", BarePrefix),
        (base64, "whsec_eA==", TooShort),
        (base64, "whsec_not!base64", Undecodable),
        (
            base64,
            "whsec_c3RhbmRhcmQtd2ViaG9va3Mtc2VjcmV0LW9uZS0zMmI",
            Undecodable,
        ),
        (
            base64,
            "whpk_O8zYkkw/9K4kuKmL4w5i14ilqbKiv2s880PU63lP9Pc=",
            Undecodable,
        ),
    ] {
        assert_eq!(fault(scheme, secret), expected, "{secret:?}");
    }
    let none: [&str; 0] = [];
    assert_eq!(
        Secrets::new(text, none).unwrap_err(),
        SecretsError::NoSecrets
    );
    assert_eq!(
        Secrets::new(text, [NEW; 17]).unwrap_err(),
        SecretsError::TooMany
    );
    let twice = [Secret::from(NEW).key_id("k"), Secret::from(OLD).key_id("k")];
    let error = Secrets::new(text, twice).unwrap_err();
    assert_eq!(error, SecretsError::DuplicateKeyId { index: 1 });
}

const OLD_BASE64: &str = "whsec_c3RhbmRhcmQtd2ViaG9va3Mtc2VjcmV0LW9uZS0zMmI=";

#[test]
fn unsound_schemes_are_refused() {
    const SLOT: Slot = Slot::header("X-Sig");
    const TIME: Slot = Slot::header("X-Time");
    const ID: Slot = Slot::header("X-Id");
    const BASE: Scheme = Scheme::new("s", Mac::HmacSha256).signature(SLOT, Encoding::Hex);
    const TIMED: Scheme = BASE.timestamp(TIME, Unit::Seconds);
    let cases = [
        (BASE.content(&[Part::Body]), None),
        (BASE, Some(SchemeError::NothingSigned)),
        (
            BASE.content(&[Part::Text("v1")]),
            Some(SchemeError::NothingSigned),
        ),
        (
            Scheme::new("s", Mac::HmacSha256).content(&[Part::Body]),
            Some(SchemeError::NoSignature),
        ),
        (
            Scheme::new("", Mac::HmacSha256).signature(SLOT, Encoding::Hex),
            Some(SchemeError::Name),
        ),
        (
            TIMED.content(&[Part::Body]),
            Some(SchemeError::UnsignedTimestamp),
        ),
        (
            BASE.content(&[Part::Timestamp, Part::Text("."), Part::Body]),
            Some(SchemeError::NoTimestamp),
        ),
        (
            TIMED.content(&[Part::Timestamp, Part::Text("."), Part::Body]),
            None,
        ),
        (
            TIMED.content(&[Part::Timestamp, Part::Body]),
            Some(SchemeError::AmbiguousBoundary(0)),
        ),
        (
            TIMED.content(&[Part::Timestamp, Part::Text("0"), Part::Body]),
            Some(SchemeError::AmbiguousBoundary(0)),
        ),
        (
            BASE.content(&[Part::Header(ID), Part::Body]),
            Some(SchemeError::AmbiguousBoundary(0)),
        ),
        (
            BASE.content(&[Part::Header(ID), Part::Body])
                .ambiguous_boundary("shown in a test"),
            None,
        ),
        (
            BASE.body_timestamp("/t", Unit::Seconds)
                .content(&[Part::Body]),
            None,
        ),
        (
            BASE.body_timestamp("t", Unit::Seconds)
                .content(&[Part::Body]),
            Some(SchemeError::Pointer),
        ),
        (
            BASE.body_timestamp("/t", Unit::Seconds)
                .content(&[Part::Header(ID)]),
            Some(SchemeError::UnsignedTimestamp),
        ),
        (
            Scheme::new("s", Mac::Token).signature(SLOT, Encoding::Hex),
            Some(SchemeError::TokenContent),
        ),
        (
            Scheme::new("s", Mac::Token)
                .signature(SLOT, Encoding::Plain)
                .content(&[Part::Body]),
            Some(SchemeError::TokenContent),
        ),
    ];
    for (index, (scheme, expected)) in cases.iter().enumerate() {
        assert_eq!(scheme.check().err(), *expected, "case {index}");
    }
    for scheme in scheme::ALL {
        assert!(scheme.check().is_ok(), "{}", scheme.name());
        assert_eq!(
            Scheme::by_name(scheme.name()).map(Scheme::name),
            Some(scheme.name())
        );
        let window = scheme.default_tolerance();
        // Cloudinary's two hours are the widest window that a provider documents.
        assert!(window > Duration::ZERO && window <= Duration::from_secs(2 * 60 * 60));
    }
}

/// An id that holds the separator could be cut at another place under the same signature.
#[test]
fn an_id_that_holds_the_separator_is_refused() {
    let secrets = Secrets::new(&scheme::STANDARD_WEBHOOKS, [OLD_BASE64]).unwrap();
    let second = NOW.unix_timestamp();
    let body = format!("{second}.{{\"x\":1}}");
    let honest = Signer::new(&scheme::STANDARD_WEBHOOKS, OLD_BASE64)
        .at(NOW)
        .header("webhook-id", "msg_a")
        .sign(body.as_bytes())
        .unwrap();
    assert!(hookproof::verify(&honest.body, &honest, &secrets, NOW).is_ok());
    let mut moved = honest.clone();
    moved.headers[0].1 = format!("msg_a.{second}");
    let bad = RejectionKind::Malformed(Malformed::HeaderValue("webhook-id"));
    assert_eq!(kind(b"{\"x\":1}", &moved, &secrets), bad);

    // Twitch joins without separators: only a token may be an id.
    const ID: Slot = Slot::header("I").shape(Shape::Token);
    assert!(ID.items(b"a:b").next().is_some());
    let secrets = Secrets::new(&scheme::TWITCH, [NEW]).unwrap();
    let request = Signer::new(&scheme::TWITCH, NEW)
        .at(NOW)
        .header("Twitch-Eventsub-Message-Id", "a:b")
        .sign(b"{}")
        .unwrap();
    let bad = RejectionKind::Malformed(Malformed::HeaderValue("Twitch-Eventsub-Message-Id"));
    assert_eq!(kind(b"{}", &request, &secrets), bad);
}

/// Both header families of a provider are read, each whole.
#[test]
fn headers_are_taken_from_one_family() {
    let secrets = Secrets::new(&scheme::SVIX, [OLD_BASE64]).unwrap();
    let request = sign(&scheme::SVIX, OLD_BASE64, b"{}", NOW).unwrap();
    let renamed = |wanted: &str| -> Vec<(String, String)> {
        let rename = |name: &String| name.replace("svix-", wanted);
        request
            .headers
            .iter()
            .map(|(name, value)| (rename(name), value.clone()))
            .collect()
    };
    let delivery_key = |headers: &Vec<(String, String)>| {
        hookproof::verify(b"{}", headers, &secrets, NOW).map(|d| d.event_key("").unwrap())
    };
    let ours = delivery_key(&request.headers).unwrap();
    assert_eq!(delivery_key(&renamed("webhook-")).unwrap(), ours);
    assert_eq!(delivery_key(&renamed("Webhook-")).unwrap(), ours);
    let mut mixed = request.headers.clone();
    mixed[0].0 = mixed[0].0.replace("svix-", "webhook-");
    assert!(delivery_key(&mixed).is_err());
}

/// One header for each active key: any match is enough, and the bounds hold over all of them.
#[test]
fn signatures_may_be_in_several_headers() {
    const SECOND: Slot = Slot::header("X-Sig-2").list(b',');
    const THIRD: Slot = Slot::header("X-Sig-3").list(b',');
    const SEVERAL: Scheme = Scheme::new("several", Mac::HmacSha256)
        .signature(Slot::header("X-Sig-1").list(b','), Encoding::Hex)
        .more_signatures(&[SECOND, THIRD])
        .content(&[Part::Body]);
    let secrets = Secrets::new(&SEVERAL, [NEW]).unwrap();
    let tag = |secret| {
        sign(&SEVERAL, secret, b"{}", NOW).unwrap().headers[0]
            .1
            .clone()
    };
    let (good, bad) = (tag(NEW), tag(OLD));
    let accepts =
        |headers: &[(&str, &String)]| hookproof::verify(b"{}", &headers, &secrets, NOW).map(|_| ());
    assert!(accepts(&[("X-Sig-1", &good)]).is_ok());
    assert!(accepts(&[("X-Sig-1", &bad), ("X-Sig-3", &good)]).is_ok());
    assert!(accepts(&[("X-Sig-2", &good), ("X-Sig-1", &"zz".into())]).is_ok());
    assert!(accepts(&[("X-Sig-2", &good)]).is_ok());
    let invalid = accepts(&[("X-Sig-1", &bad), ("X-Sig-2", &bad)])
        .unwrap_err()
        .kind();
    assert_eq!(invalid, RejectionKind::Invalid(Invalid::Signature));
    let missing = accepts(&[]).unwrap_err().kind();
    assert_eq!(
        missing,
        RejectionKind::Malformed(Malformed::MissingHeader("X-Sig-1"))
    );
    let repeated = accepts(&[("X-Sig-1", &good), ("X-Sig-2", &bad), ("x-sig-2", &bad)]);
    let repeated = repeated.unwrap_err().kind();
    assert_eq!(
        repeated,
        RejectionKind::Malformed(Malformed::RepeatedHeader("X-Sig-2"))
    );
    let many = vec![bad.clone(); 8].join(",");
    assert!(accepts(&[("X-Sig-1", &many), ("X-Sig-2", &many)]).is_err());
    let too_many = accepts(&[("X-Sig-1", &good), ("X-Sig-2", &many), ("X-Sig-3", &many)]);
    let too_many = too_many.unwrap_err().kind();
    assert_eq!(
        too_many,
        RejectionKind::Malformed(Malformed::TooManySignatures("X-Sig-1"))
    );
}

/// As ids do, a method or URL must end where only one reader can think it ends.
#[test]
fn a_target_that_holds_the_separator_is_refused() {
    const JOINED: Scheme = Scheme::new("joined", Mac::HmacSha256)
        .signature(Slot::header("X-Sig"), Encoding::Hex)
        .content(&[
            Part::Method,
            Part::Text(" "),
            Part::Url,
            Part::Text("\n"),
            Part::Body,
        ]);
    let secrets = Secrets::new(&JOINED, [NEW]).unwrap();
    let signed = |method: &str, url: &str| {
        Signer::new(&JOINED, NEW)
            .target(method, url)
            .sign(b"{}")
            .unwrap()
    };
    let good = signed("POST", "https://hooks.example.com/?a=b");
    assert!(hookproof::verify(b"{}", &good, &secrets, NOW).is_ok());
    for bad in [
        signed("POST x", "https://hooks.example.com/"),
        signed("POST", "https://a/\nb"),
    ] {
        let malformed = RejectionKind::Malformed(Malformed::Target);
        assert_eq!(kind(b"{}", &bad, &secrets), malformed);
    }
}

/// Box may sign the body with slashes and all but ASCII escaped; that is one more way to be right
/// and no way to change what is said.
#[test]
fn an_alternative_content_counts_only_where_its_conditions_are_met() {
    let secrets = Secrets::new(&scheme::BOX, ["boxPrimaryKey0123456789"]).unwrap();
    let sent = "{\"path\":\"a/\u{e9}\u{1f600}\"}".as_bytes();
    let escaped = br#"{"path":"a\/\u00e9\ud83d\ude00"}"#;
    let signer = Signer::new(&scheme::BOX, "boxPrimaryKey0123456789").at(NOW);
    let signed = signer.sign(escaped).unwrap();
    let accepts =
        |body: &[u8], signed: &Signed| hookproof::verify(body, signed, &secrets, NOW).is_ok();
    assert!(accepts(escaped, &signed) && accepts(sent, &signed));
    assert!(!accepts(
        "{\"path\":\"a/\u{e8}\u{1f600}\"}".as_bytes(),
        &signed
    ));
    for header in ["Box-Signature-Version", "Box-Signature-Algorithm"] {
        let mut other = signed.clone();
        let mut headers = other.headers.iter_mut();
        headers.find(|(name, _)| name == header).unwrap().1 = "2".into();
        assert!(
            !accepts(escaped, &other) && !accepts(sent, &other),
            "{header}"
        );
    }
    // What cannot be escaped, not being text, was not signed so; as it is, it may have been.
    let bytes = b"\xff is no text";
    assert!(accepts(bytes, &signer.sign(bytes).unwrap()));
}

/// Mollie writes one signature to a line while a secret is rotated. Of any other scheme a second
/// line is refused.
#[test]
fn a_signature_may_stand_on_a_line_of_its_own_where_the_scheme_says_so() {
    let secrets = Secrets::new(&scheme::MOLLIE, [NEW]).unwrap();
    let signed = sign(&scheme::MOLLIE, NEW, b"{}", NOW).unwrap();
    let (name, good) = signed.headers[0].clone();
    let other = format!("sha256={}", "0".repeat(64));
    let request = |lines: &[&str]| -> Vec<(String, String)> {
        let line = |line: &&str| (name.clone(), (*line).to_owned());
        lines.iter().map(line).collect()
    };
    for lines in [
        &[good.as_str()][..],
        &[&other, &good],
        &[&good, &other],
        &[&format!("{other}, {good}")],
    ] {
        let pairs = request(lines);
        assert!(hookproof::verify(b"{}", &pairs, &secrets, NOW).is_ok());
        assert!(hookproof::verify(b"{} ", &pairs, &secrets, NOW).is_err());
        #[cfg(feature = "http")]
        {
            let mut map = http::HeaderMap::new();
            for (name, value) in &pairs {
                let name: http::HeaderName = name.parse().unwrap();
                map.append(name, value.parse().unwrap());
            }
            assert!(hookproof::verify(b"{}", &map, &secrets, NOW).is_ok());
        }
    }
    let many = vec![good.as_str(); 17];
    let error = hookproof::verify(b"{}", &request(&many), &secrets, NOW).unwrap_err();
    let too_long = Malformed::HeaderTooLong("X-Mollie-Signature");
    assert_eq!(error.kind(), RejectionKind::Malformed(too_long));

    let secrets = Secrets::new(&scheme::GITHUB, [NEW]).unwrap();
    let mut signed = sign(&scheme::GITHUB, NEW, b"{}", NOW).unwrap();
    signed.headers.push(signed.headers[0].clone());
    let error = hookproof::verify(b"{}", &signed, &secrets, NOW).unwrap_err();
    let repeated = Malformed::RepeatedHeader("X-Hub-Signature-256");
    assert_eq!(error.kind(), RejectionKind::Malformed(repeated));
}
