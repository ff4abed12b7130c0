//! Rules that contradict the rest of their scheme.

use hookproof::scheme::{ClaimRule, Encoding, Jwt, Mac, Part, Scheme, SchemeError, Slot};

use super::*;

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
    const DETACHED: Jwt = Jwt::new().detached();
    const BOTH: Jwt = HASH.detached();
    assert!(in_header(&DETACHED, &[Part::Body]).check().is_ok());
    assert!(token_fault(in_header(&BOTH, &[Part::Body])));
    assert_eq!(
        in_header(&DETACHED, &[Part::Text("x")]).check().err(),
        Some(SchemeError::NothingSigned)
    );
    const WHOLE: Jwt = Jwt::new().data("data");
    let body = |rules| in_header(rules, &[Part::Body]).signature(Slot::body(), Encoding::Base64Url);
    assert!(body(&WHOLE).check().is_ok());
    assert!(token_fault(body(&NOTHING)));
    assert!(token_fault(in_header(&WHOLE, &[Part::Body])));
    let query = in_header(&NOTHING, &[]).signature(Slot::query("t"), Encoding::Base64Url);
    assert!(token_fault(query));
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

/// One key is for one algorithm, unless all of them are HMAC.
#[test]
fn algorithms_of_two_families_are_refused() {
    const HMAC: Jwt = Jwt::new().also(&[Mac::HmacSha384, Mac::HmacSha512]);
    const TOKEN: Jwt = Jwt::new().also(&[Mac::Token]);
    let also = |rules| in_header(rules, &[]).check().err();
    assert_eq!(also(&HMAC), None);
    assert!(matches!(also(&TOKEN), Some(SchemeError::Token(_))));
    #[cfg(feature = "ecdsa")]
    {
        const MIXED: Jwt = Jwt::new().also(&[Mac::EcdsaP256Sha256Raw]);
        assert!(matches!(also(&MIXED), Some(SchemeError::Token(_))));
        const DER: Scheme = Scheme::new("s", Mac::EcdsaP256Sha256Der)
            .signature(Slot::header("X"), Encoding::Base64Url)
            .jwt(&Jwt::new());
        assert!(matches!(DER.check(), Err(SchemeError::Token(_))));
    }
    const MORE: &[Slot] = &[Slot::header("Y")];
    let twice = in_header(&HMAC, &[]).more_signatures(MORE);
    assert!(matches!(twice.check(), Err(SchemeError::Token(_))));
    let hex = in_header(&HMAC, &[]).signature(Slot::header("X"), Encoding::Hex);
    assert!(matches!(hex.check(), Err(SchemeError::Token(_))));
}
