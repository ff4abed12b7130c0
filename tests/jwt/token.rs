//! The token's own form: algorithm, header, segments.

use hookproof::{
    Invalid, KeyNeeded, Malformed, Rejection, RejectionKind, Secret, Secrets,
    scheme::{
        Bearer, ClaimRule, Encoding, Jwt, KeySource, Mac, Part, Payload, Scheme, SchemeError, Slot,
    },
};

use super::*;

fn is_malformed(outcome: Result<(), RejectionKind>) -> bool {
    matches!(outcome, Err(RejectionKind::Malformed(Malformed::Token(_))))
}

const BAD_SIGNATURE: Result<(), RejectionKind> = Err(RejectionKind::Invalid(Invalid::Signature));

#[test]
fn a_token_that_is_as_it_should_be_passes() {
    assert_eq!(judged(&PLAIN, &token(HEADER, &claims())), Ok(()));
    // Neither the type nor the order of members matters.
    let header = r#" { "typ":7, "cty":null, "alg" : "HS256" } "#;
    assert_eq!(judged(&PLAIN, &token(header, &claims())), Ok(()));
}

/// Each is signed with the right key.
#[test]
fn only_the_pinned_algorithm_counts() {
    for alg in [
        r#""none""#,
        r#""None""#,
        r#""NONE""#,
        r#""nOnE""#,
        r#""""#,
        r#""hs256""#,
        r#""HS256 ""#,
        r#""HS384""#,
        r#""HS512""#,
        r#""RS256""#,
        r#""ES256""#,
        r#""EdDSA""#,
        r#"["HS256"]"#,
        "null",
        "256",
        "true",
        r#"{"alg":"HS256"}"#,
    ] {
        let header = format!(r#"{{"alg":{alg}}}"#);
        let (header, payload) = (encoded(header), encoded(claims()));
        let signed = sealed(&header, &payload, SECRET.as_bytes());
        assert!(is_malformed(judged(&PLAIN, &signed)), "{alg}");
        let unsigned = format!("{header}.{payload}.");
        assert!(is_malformed(judged(&PLAIN, &unsigned)), "{alg}");
    }
    for header in [
        "{}",
        r#"{"typ":"JWT"}"#,
        r#"{"Alg":"HS256"}"#,
        r#"{"alg":"HS256","alg":"HS256"}"#,
        r#"{"alg":"none","alg":"HS256"}"#,
        r#"{"alg":"HS256","\u0061lg":"none"}"#,
        r#"["alg","HS256"]"#,
        r#""HS256""#,
        r#"{"alg":"HS256"} {}"#,
        r#"{"alg":"HS256",}"#,
        "{\"alg\":\"HS256\",\"x\":\"\u{0}\"}",
        "",
        "\u{feff}{\"alg\":\"HS256\"}",
    ] {
        assert!(
            is_malformed(judged(&PLAIN, &token(header, &claims()))),
            "{header}"
        );
    }
    let header = encoded(b"{\"alg\":\"HS256\",\"x\":\"\xff\"}");
    let signed = sealed(&header, &encoded(claims()), SECRET.as_bytes());
    assert!(is_malformed(judged(&PLAIN, &signed)));
    assert!(is_malformed(judged(
        &PLAIN,
        &sealed_512(r#"{"alg":"HS512"}"#, &claims())
    )));
}

/// The tag must be of the algorithm that the header names, too.
#[test]
fn several_algorithms_of_one_key_are_kept_apart() {
    const SEVERAL: Scheme = in_header(
        &Jwt::new()
            .also(&[Mac::HmacSha384, Mac::HmacSha512])
            .claims(&[ClaimRule::BodyHash("body", Encoding::Hex)]),
        &[Part::Body],
    )
    .claim_timestamp("iat");
    let header = r#"{"alg":"HS512"}"#;
    assert_eq!(judged(&SEVERAL, &token(HEADER, &claims())), Ok(()));
    assert_eq!(judged(&SEVERAL, &sealed_512(header, &claims())), Ok(()));
    assert_eq!(
        judged(&SEVERAL, &sealed_512(HEADER, &claims())),
        BAD_SIGNATURE
    );
    assert_eq!(judged(&SEVERAL, &token(header, &claims())), BAD_SIGNATURE);
    assert_eq!(
        judged(&SEVERAL, &token(r#"{"alg":"HS384"}"#, &claims())),
        BAD_SIGNATURE
    );
}

/// Whoever holds the public key must not be able to sign with it.
#[cfg(feature = "ecdsa")]
#[test]
fn a_public_key_is_no_secret_of_an_hmac() {
    use hookproof::{scheme::PLAID, testing::Signer};
    let public = common::secret(&PLAID, SECRET);
    let secrets = Secrets::new(&PLAID, [public.as_str()]).unwrap();
    let claims = claims().replace("body", "request_body_sha256");
    let der = common::der(&public);
    for key in [public.as_bytes(), public.trim().as_bytes(), &der] {
        for alg in ["HS256", "ES256"] {
            let header = encoded(format!(r#"{{"alg":"{alg}"}}"#));
            let forged = sealed(&header, &encoded(&claims), key);
            let outcome = verified(&secrets, BODY, &[("Plaid-Verification", &forged)], NOW);
            assert!(outcome.is_err(), "{alg}");
        }
    }
    let honest = Signer::new(&PLAID, common::signing_secret(&PLAID, SECRET));
    let honest = honest.at(NOW).sign(BODY).unwrap();
    assert_eq!(outcome(&secrets, BODY, &honest, NOW), Ok(()));
}

#[test]
fn what_the_header_says_of_keys_is_not_believed() {
    let extra = r#""jku":"https://evil.example/k","x5u":"https://evil.example/c","jwk":{"kty":"oct","k":"c3RyYW5nZXI"},"x5c":["AA"],"kid":"../../dev/null""#;
    let header = format!(r#"{{"alg":"HS256",{extra}}}"#);
    assert_eq!(judged(&PLAIN, &token(&header, &claims())), Ok(()));
    let forged = sealed(&encoded(&header), &encoded(claims()), b"stranger");
    assert_eq!(judged(&PLAIN, &forged), BAD_SIGNATURE);
}

#[test]
fn critical_header_parameters_are_refused() {
    const KNOWS_B64: Scheme = in_header(
        &Jwt::new().payload(Payload::Detached).critical(&["b64"]),
        &[Part::Body],
    );
    for extra in [
        r#""crit":["exp"],"exp":1"#,
        r#""crit":["b64"],"b64":false"#,
        r#""b64":false"#,
        r#""b64":true"#,
        r#""crit":[]"#,
        r#""crit":"b64""#,
        r#""crit":null"#,
        r#""crit":[1]"#,
        r#""crit":["crit"]"#,
        r#""crit":[["b64"]]"#,
    ] {
        let header = format!(r#"{{"alg":"HS256",{extra}}}"#);
        assert!(
            is_malformed(judged(&PLAIN, &token(&header, &claims()))),
            "{extra}"
        );
    }
    for (extra, passes) in [
        (r#""crit":["b64"],"b64":false"#, true),
        (r#""x":1"#, true),
        (r#""b64":false"#, false),
        (r#""crit":["b64"]"#, false),
        (r#""crit":["b64","x"],"b64":false,"x":1"#, false),
    ] {
        let header = encoded(format!(r#"{{"alg":"HS256",{extra}}}"#));
        let signed = sealed(&header, &encoded(BODY), SECRET.as_bytes());
        let (input, tag) = signed.rsplit_once('.').unwrap();
        let detached = format!("{}..{tag}", input.split_once('.').unwrap().0);
        assert_eq!(judged(&KNOWS_B64, &detached).is_ok(), passes, "{extra}");
        assert!(is_malformed(judged(&KNOWS_B64, &signed)), "{extra}");
    }
}

#[test]
fn a_token_has_one_spelling() {
    let good = token(HEADER, &claims());
    let segments: Vec<&str> = good.split('.').collect();
    let [header, payload, tag] = segments[..] else {
        panic!("three segments");
    };
    for text in [
        String::new(),
        ".".into(),
        "..".into(),
        "...".into(),
        header.into(),
        format!("{header}.{payload}"),
        format!("{header}.{payload}."),
        format!("{header}..{tag}"),
        format!(".{payload}.{tag}"),
        format!("{good}."),
        format!("{good}.{tag}"),
        format!(".{good}"),
        format!("{good}="),
        format!("{header}=.{payload}.{tag}"),
        format!("{good} "),
        format!(" {good}"),
        format!("{good}\n"),
        format!("{good}\0"),
        format!("{header}.\n{payload}.{tag}"),
        format!("Bearer {good}"),
        format!("\"{good}\""),
    ] {
        assert!(judged(&PLAIN, &text).is_err(), "{text:?}");
    }
    // 32 bytes are 43 characters, of which the last one's two lowest bits are no part.
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let last = alphabet.find(&tag[42..]).unwrap();
    assert_eq!(last % 4, 0);
    for other in 1..4 {
        let text = format!(
            "{}{}",
            &good[..good.len() - 1],
            &alphabet[last + other..=last + other]
        );
        assert!(is_malformed(judged(&PLAIN, &text)), "{text}");
    }
    // What is signed, but is not base64url: with padding, with bits left over, the other alphabet.
    for claims in ["{}", r#"{"a":"??>>~~"}"#] {
        let text = encoded(claims);
        for text in [
            format!("{text}="),
            format!("{text}!"),
            text.replace(['-', '_'], "/"),
        ] {
            if text == encoded(claims) {
                continue;
            }
            let signed = sealed(&encoded(HEADER), &text, SECRET.as_bytes());
            assert!(is_malformed(judged(&PLAIN, &signed)), "{text}");
        }
    }
    let (header, payload) = (encoded(HEADER), encoded("{}"));
    assert!(
        payload.ends_with('Q') || payload.ends_with('0'),
        "{payload}"
    );
    let odd = format!("{}{}", &payload[..payload.len() - 1], 'R');
    assert!(is_malformed(judged(
        &PLAIN,
        &sealed(&header, &odd, SECRET.as_bytes())
    )));
}

#[test]
fn sizes_are_bounded_before_anything_is_decoded() {
    let long = "A".repeat(9 * 1024);
    let too_long = Err(RejectionKind::Malformed(Malformed::HeaderTooLong(
        "X-Token",
    )));
    assert_eq!(
        judged(&PLAIN, &format!("{}.{long}.AA", encoded(HEADER))),
        too_long
    );
    let tag = "A".repeat(1367);
    let text = format!("{}.{}.{tag}", encoded(HEADER), encoded(claims()));
    assert!(is_malformed(judged(&PLAIN, &text)));
    let dots = ".".repeat(8000);
    assert!(is_malformed(judged(&PLAIN, &dots)));

    // A body has the server's limit; its token's header still has ours.
    const WHOLE: Scheme = Scheme::new("custom", Mac::HmacSha256)
        .jwt(&Jwt::new().payload(Payload::WholeBody("data")))
        .content(&[Part::Body]);
    let secrets = secrets(&WHOLE);
    let pad = " ".repeat(9 * 1024);
    let header = format!("{HEADER}{pad}");
    let text = token(&header, "{}");
    assert!(is_malformed(verified(&secrets, text.as_bytes(), &[], NOW)));
    let text = token(HEADER, &format!("{{}}{pad}"));
    assert_eq!(verified(&secrets, text.as_bytes(), &[], NOW), Ok(()));
    assert!(verified(&secrets, format!("{text}\n").as_bytes(), &[], NOW).is_err());
}

#[test]
fn the_word_before_the_token_is_as_the_row_says() {
    const MUST: Scheme = in_header(&Jwt::new().bearer(Bearer::Required), &[]);
    const MAY: Scheme = in_header(&Jwt::new().bearer(Bearer::Optional), &[]);
    const NO: Scheme = in_header(&Jwt::new(), &[]);
    let token = token(HEADER, "{}");
    for (word, must, may, no) in [
        ("", false, true, true),
        ("Bearer ", true, true, false),
        ("bEARER ", true, true, false),
        ("Bearer", false, false, false),
        ("Bearer  ", false, false, false),
        ("Bearer\t", false, false, false),
        ("Basic ", false, false, false),
        ("Bearer Bearer ", false, false, false),
    ] {
        let text = format!("{word}{token}");
        for (scheme, passes) in [(&MUST, must), (&MAY, may), (&NO, no)] {
            assert_eq!(judged(scheme, &text).is_ok(), passes, "{word:?}");
        }
    }
}

#[test]
fn the_key_id_chooses_and_an_unknown_one_is_asked_for() {
    const FETCHED: Scheme = in_header(&Jwt::new(), &[]).keys(KeySource::ById("nowhere"));
    const GIVEN: Scheme = in_header(&Jwt::new(), &[]);
    let with = |kid: &str| token(&format!(r#"{{"alg":"HS256","kid":{kid}}}"#), "{}");
    let ring = || {
        let gone = Secret::from(SECRET)
            .key_id("gone")
            .not_after(NOW - std::time::Duration::from_secs(1));
        [
            Secret::from("another-secret-of-some-length").key_id("old"),
            Secret::from(SECRET).key_id("new"),
            gone,
        ]
    };
    let verify = |secrets: &Secrets, token: &str| {
        let headers = [("X-Token", token.to_owned())];
        let delivery = hookproof::verify(BODY, &headers, secrets, NOW);
        delivery.map(|delivery| delivery.key_id().map(str::to_owned))
    };
    for scheme in [&FETCHED, &GIVEN] {
        let secrets = Secrets::new(scheme, ring()).unwrap();
        assert_eq!(
            verify(&secrets, &with(r#""new""#)).unwrap().as_deref(),
            Some("new")
        );
        // Without an id every key is tried.
        assert_eq!(
            verify(&secrets, &token(HEADER, "{}")).unwrap().as_deref(),
            Some("new")
        );
        for (kid, kind) in [
            (r#""old""#, RejectionKind::Invalid(Invalid::Signature)),
            (r#""gone""#, RejectionKind::Invalid(Invalid::NoKeyInForce)),
        ] {
            assert_eq!(verify(&secrets, &with(kid)).unwrap_err().kind(), kind);
        }
        for kid in ["null", "7", r#"["new"]"#] {
            let kind = verify(&secrets, &with(kid)).unwrap_err().kind();
            assert!(is_malformed(Err(kind)), "{kid}");
        }
    }
    let awaiting = Secrets::awaiting_keys(&FETCHED).unwrap();
    let secrets = Secrets::new(&FETCHED, ring()).unwrap();
    for secrets in [&awaiting, &secrets] {
        match verify(secrets, &with(r#""next/7""#)).unwrap_err() {
            Rejection::KeyNeeded(KeyNeeded::Id(id)) => assert_eq!(id, "next/7"),
            other => panic!("{other:?}"),
        }
        // An id that cannot be printed or is too long is not passed on.
        let long = format!("\"{}\"", "k".repeat(256));
        for kid in [r#""""#, r#""a b""#, r#""a\nb""#, r#""schlüssel""#, &long] {
            let kind = verify(secrets, &with(kid)).unwrap_err().kind();
            assert_eq!(kind, RejectionKind::Invalid(Invalid::UnknownKey), "{kid}");
        }
    }
    let given = Secrets::new(&GIVEN, ring()).unwrap();
    let kind = verify(&given, &with(r#""next""#)).unwrap_err().kind();
    assert_eq!(kind, RejectionKind::Invalid(Invalid::UnknownKey));
}

#[test]
fn rules_that_contradict_the_scheme_are_refused() {
    const HASH: Jwt = Jwt::new().claims(&[ClaimRule::BodyHash("h", Encoding::Hex)]);
    let token_fault = |scheme: Scheme| matches!(scheme.check(), Err(SchemeError::Token(_)));
    assert!(in_header(&HASH, &[Part::Body]).check().is_ok());
    // What is said to be covered must be, and all of it.
    assert!(token_fault(in_header(&HASH, &[])));
    assert!(token_fault(in_header(&HASH, &[Part::Body, Part::Url])));
    assert!(token_fault(in_header(&HASH, &[Part::Url])));
    const NOTHING: Jwt = Jwt::new();
    assert!(token_fault(in_header(&NOTHING, &[Part::Body])));
    assert!(!in_header(&NOTHING, &[]).coverage().body);
    const EXPIRES: Jwt = Jwt::new().expires();
    assert!(token_fault(in_header(&EXPIRES, &[])));
    const SETTING: Jwt = Jwt::new().claims(&[ClaimRule::Setting("aud", "audience")]);
    assert!(token_fault(in_header(&SETTING, &[])));
    assert!(
        in_header(&SETTING, &[])
            .needs(&["audience"])
            .check()
            .is_ok()
    );
    const URL64: Jwt = Jwt::new().claims(&[ClaimRule::BodyHash("h", Encoding::Base64Url)]);
    assert!(token_fault(in_header(&URL64, &[Part::Body])));
    const DETACHED: Jwt = Jwt::new().payload(Payload::Detached);
    const BOTH: Jwt = HASH.payload(Payload::Detached);
    assert!(in_header(&DETACHED, &[Part::Body]).check().is_ok());
    assert!(token_fault(in_header(&BOTH, &[Part::Body])));
    assert_eq!(
        in_header(&DETACHED, &[Part::Text("x")]).check().err(),
        Some(SchemeError::NothingSigned)
    );
    const WHOLE: Jwt = Jwt::new().payload(Payload::WholeBody("data"));
    assert!(token_fault(in_header(&WHOLE, &[Part::Body])));
    let nowhere = Scheme::new("s", Mac::HmacSha256)
        .jwt(&HASH)
        .content(&[Part::Body]);
    assert_eq!(nowhere.check().err(), Some(SchemeError::NoSignature));
    // A time that no claim holds, or that is not signed.
    const TIME: Slot = Slot::header("X-Time");
    assert_eq!(
        in_header(&HASH, &[Part::Body])
            .timestamp(TIME, hookproof::scheme::Unit::Seconds)
            .check()
            .err(),
        Some(SchemeError::UnsignedTimestamp)
    );
    let plain = Scheme::new("s", Mac::HmacSha256)
        .signature(Slot::header("X"), Encoding::Hex)
        .content(&[Part::Body])
        .claim_timestamp("iat");
    assert_eq!(plain.check().err(), Some(SchemeError::UnsignedTimestamp));
    assert!(token_fault(
        Scheme::new("s", Mac::Token)
            .signature(Slot::header("X"), Encoding::Plain)
            .jwt(&NOTHING)
    ));
}
