//! What the claims must say.

use hookproof::{Invalid, Malformed, RejectionKind, Secret, SecretFault, Secrets, SecretsError};

use super::*;

const fn wrong(claim: &'static str) -> Result<(), RejectionKind> {
    Err(RejectionKind::Invalid(Invalid::Claim(claim)))
}

const fn unreadable(claim: &'static str) -> Result<(), RejectionKind> {
    Err(RejectionKind::Malformed(Malformed::Claim(claim)))
}

#[test]
fn claims_are_one_object_in_which_names_occur_once() {
    let good = claims();
    for claims in [
        "[]".to_owned(),
        "null".into(),
        "7".into(),
        r#""{}""#.into(),
        format!("[{good}]"),
        format!("{good}{good}"),
        format!("{good},"),
        good.replace('}', r#","iat":1}"#),
        good.replace('}', r#","body":"00"}"#),
        good.replace('}', r#","\u0062ody":"00"}"#),
        good.replace('}', r#","other":1,"other":1}"#),
        good.replace('}', ""),
        good.replace(',', ",,"),
        format!("\u{feff}{good}"),
    ] {
        let outcome = judged(&PLAIN, &token(HEADER, &claims));
        assert!(
            matches!(outcome, Err(RejectionKind::Malformed(Malformed::Token(_)))),
            "{claims}"
        );
    }
    let bytes = encoded([good.as_bytes(), b"\xff"].concat());
    let signed = sealed(&encoded(HEADER), &bytes, SECRET.as_bytes());
    assert!(judged(&PLAIN, &signed).is_err());
    // Deep nesting is no reason to fall over.
    let deep = format!("{},\"x\":{}", &good[..good.len() - 1], "[".repeat(3000));
    assert!(judged(&PLAIN, &token(HEADER, &deep)).is_err());
    // Other members are nobody's business.
    let more = good.replace('}', r#","sub":{"a":[1,{"a":1}]},"n":1e999}"#);
    assert_eq!(judged(&PLAIN, &token(HEADER, &more)), Ok(()));
}

#[test]
fn the_bodys_hash_is_compared_as_bytes() {
    let with = |value: &str| {
        let iat = NOW.unix_timestamp();
        judged(
            &PLAIN,
            &token(HEADER, &format!(r#"{{"iat":{iat},"body":{value}}}"#)),
        )
    };
    let good = hex(BODY);
    assert_eq!(with(&format!("{good:?}")), Ok(()));
    assert_eq!(with(&format!("{:?}", good.to_uppercase())), Ok(()));
    assert_eq!(with(&format!("{:?}", hex(b"other"))), wrong("body"));
    assert_eq!(with(&format!("{:?}", "0".repeat(64))), wrong("body"));
    for value in [
        "null".to_owned(),
        "0".into(),
        "true".into(),
        r#""""#.into(),
        format!("[{good:?}]"),
        format!("{:?}", &good[..62]),
        format!("{:?}", &good[..63]),
        format!("\"{good}00\""),
        format!("\" {good}\""),
        format!("\"0x{good}\""),
        format!("\"{}g\"", &good[..63]),
    ] {
        assert_eq!(with(&value), unreadable("body"), "{value}");
    }
    let none = format!(r#"{{"iat":{}}}"#, NOW.unix_timestamp());
    assert_eq!(judged(&PLAIN, &token(HEADER, &none)), unreadable("body"));
}

#[test]
fn a_hash_in_base64_is_padded_and_canonical() {
    const BASE64: Scheme = in_header(
        &Jwt::new().claims(&[ClaimRule::BodyHash("body", Encoding::Base64)]),
        &[Part::Body],
    );
    let with = |value: &str| judged(&BASE64, &token(HEADER, &format!(r#"{{"body":{value:?}}}"#)));
    let good = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(BODY));
    assert_eq!(with(&good), Ok(()));
    assert_eq!(with(&good[..43]), unreadable("body"));
    assert_eq!(with(&format!("{good}=")), unreadable("body"));
    assert_eq!(with(&hex(BODY)), unreadable("body"));
    let other = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(b""));
    assert_eq!(with(&other), wrong("body"));
}

#[test]
fn only_an_empty_body_may_lack_its_hash() {
    const UNLESS: Scheme = in_header(
        &Jwt::new().claims(&[ClaimRule::BodyHashUnlessEmpty("body", Encoding::Hex)]),
        &[Part::Body],
    );
    let secrets = secrets(&UNLESS);
    let with = |claims: &str, body: &[u8]| {
        let token = token(HEADER, claims);
        verified(&secrets, body, &[("X-Token", &token)], NOW)
    };
    let named = |body: &[u8]| format!(r#"{{"body":"{}"}}"#, hex(body));
    assert_eq!(with("{}", b""), Ok(()));
    assert_eq!(with(&named(b""), b""), Ok(()));
    assert_eq!(with(&named(b"x"), b"x"), Ok(()));
    assert_eq!(with("{}", b"x"), unreadable("body"));
    assert_eq!(with(&named(b""), b"x"), wrong("body"));
    assert_eq!(with(&named(b"x"), b""), wrong("body"));
    assert_eq!(with(r#"{"body":null}"#, b""), unreadable("body"));
}

#[test]
fn the_url_is_the_callers_and_must_be_known() {
    const HASHED: Scheme = in_header(
        &Jwt::new().claims(&[
            ClaimRule::UrlHash("url"),
            ClaimRule::BodyHash("body", Encoding::Hex),
        ]),
        &[Part::Url, Part::Body],
    );
    const NAMED: Scheme = in_header(&Jwt::new().claims(&[ClaimRule::Url("aud")]), &[]);
    let hashed = |url: &str| {
        let claims = format!(
            r#"{{"url":"{}","body":"{}"}}"#,
            hex(url.as_bytes()),
            hex(BODY)
        );
        token(HEADER, &claims)
    };
    let named = |url: &str| token(HEADER, &format!(r#"{{"aud":{url}}}"#));
    assert_eq!(judged(&HASHED, &hashed(URL)), Ok(()));
    assert_eq!(judged(&NAMED, &named(&format!("{URL:?}"))), Ok(()));
    for other in [
        "https://hooks.example.com/in",
        "https://hooks.example.com/in?a=1&",
        "http://hooks.example.com/in?a=1",
        "",
    ] {
        assert_eq!(judged(&HASHED, &hashed(other)), wrong("url"), "{other}");
        assert_eq!(
            judged(&NAMED, &named(&format!("{other:?}"))),
            wrong("aud"),
            "{other}"
        );
    }
    for value in [format!("[{URL:?}]"), "null".into(), "1".into()] {
        assert_eq!(judged(&NAMED, &named(&value)), unreadable("aud"), "{value}");
    }
    for (scheme, token) in [(&HASHED, hashed(URL)), (&NAMED, named(&format!("{URL:?}")))] {
        let headers = [("X-Token", token.as_str())];
        assert_eq!(
            outcome(&secrets(scheme), BODY, &headers, NOW),
            Err(RejectionKind::Malformed(Malformed::NoTarget))
        );
    }
}

#[test]
fn texts_settings_and_truth_are_exact() {
    const RULES: Scheme = in_header(
        &Jwt::new().claims(&[
            ClaimRule::OneOf("iss", &["https://a.example", "a.example"]),
            ClaimRule::Setting("aud", "audience"),
            ClaimRule::Setting("email", "service_account"),
            ClaimRule::True("email_verified"),
            ClaimRule::AnyText("jti"),
        ]),
        &[],
    )
    .needs(&["audience", "service_account"]);
    let secret = || Secret::from(SECRET).setting("audience", "us");
    assert_eq!(
        Secrets::new(&RULES, [secret()]).unwrap_err(),
        SecretsError::Secret {
            index: 0,
            fault: SecretFault::MissingSetting("service_account")
        }
    );
    let secrets =
        Secrets::new(&RULES, [secret().setting("service_account", "p@b.example")]).unwrap();
    let good = [
        ("iss", r#""a.example""#),
        ("aud", r#""us""#),
        ("email", r#""p@b.example""#),
        ("email_verified", "true"),
        ("jti", r#""1""#),
    ];
    let with = |claim: &str, value: Option<&str>| {
        let members = good.iter().filter_map(|(name, good)| {
            let value = if *name == claim { value } else { Some(*good) };
            value.map(|value| format!("{name:?}:{value}"))
        });
        let claims = members.collect::<Vec<_>>().join(",");
        let token = token(HEADER, &format!("{{{claims}}}"));
        verified(&secrets, BODY, &[("X-Token", &token)], NOW)
    };
    assert_eq!(with("", None), Ok(()));
    assert_eq!(with("iss", Some(r#""https:\/\/a.example""#)), Ok(()));
    for (claim, value) in [
        ("iss", r#""A.example""#),
        ("iss", r#""a.example ""#),
        ("iss", r#""a.exampl""#),
        ("iss", r#""""#),
        ("aud", r#""US""#),
        ("aud", r#""p@b.example""#),
        ("email", r#""q@b.example""#),
        ("email", r#""P@b.example""#),
        ("email_verified", "false"),
        ("email_verified", r#""true""#),
        ("email_verified", "1"),
        ("email_verified", "null"),
        ("email_verified", "[true]"),
        ("jti", r#""""#),
    ] {
        assert_eq!(with(claim, Some(value)), wrong(claim), "{claim} {value}");
    }
    for (claim, _) in good {
        assert_eq!(with(claim, None), unreadable(claim));
    }
    for claim in ["iss", "aud", "email", "jti"] {
        for value in ["null", "1", "true", r#"["us"]"#, "{}"] {
            assert_eq!(
                with(claim, Some(value)),
                unreadable(claim),
                "{claim} {value}"
            );
        }
    }
}
