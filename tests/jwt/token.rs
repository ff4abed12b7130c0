//! The token's header: algorithm, key, critical parameters.

use hookproof::{
    Invalid, RejectionKind,
    scheme::{ClaimRule, Encoding, Jwt, Mac, Part, Scheme},
};

use super::*;

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
    use hookproof::{Secrets, scheme::PLAID, testing::Signer};
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
    const KNOWS_B64: Scheme = in_header(&Jwt::new().detached().critical(&["b64"]), &[Part::Body]);
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
        (r#""crit":["b64","b64"],"b64":false"#, false),
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
