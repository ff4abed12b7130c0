//! Which key a token is checked with.

use hookproof::{
    Invalid, KeyNeeded, Rejection, RejectionKind, Secret, Secrets,
    scheme::{Jwt, KeySource, Scheme},
};

use super::*;

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
            (r#""gone""#, RejectionKind::Invalid(Invalid::UnknownKey)),
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
            assert!(matches!(kind, RejectionKind::Invalid(_)), "{kid} {kind}");
        }
    }
    let given = Secrets::new(&GIVEN, ring()).unwrap();
    let kind = verify(&given, &with(r#""next""#)).unwrap_err().kind();
    assert_eq!(kind, RejectionKind::Invalid(Invalid::UnknownKey));
}
