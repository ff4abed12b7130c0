//! Public keys: signatures that another implementation made, the spellings of keys, what is
//! refused, and keys that must be fetched first.
#![cfg(all(
    feature = "json",
    feature = "testing",
    feature = "sha1",
    feature = "ed25519",
    feature = "ecdsa",
    feature = "rsa"
))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![allow(clippy::arithmetic_side_effects)]

mod faults;
mod fetched;
mod signatures;
mod spellings;

use hookproof::{
    Invalid, Malformed, RejectionKind, SecretFault, Secrets,
    scheme::{Encoding, Mac, Part, Scheme, Slot, Unit},
    testing::{SignError, public_key_of, sign, test_key},
};
use signatures::{BODY, GOOD, MESSAGE, UNREADABLE, WRONG};
use time::{OffsetDateTime, macros::datetime};

const NOW: OffsetDateTime = datetime!(2027-01-15 08:00 UTC);

/// A scheme that signs time, full stop and body.
fn scheme(mac: Mac) -> &'static Scheme {
    let scheme = Scheme::new("own", mac)
        .signature(Slot::header("X-Signature"), Encoding::Base64)
        .timestamp(Slot::header("X-Time"), Unit::Seconds)
        .content(&[Part::Timestamp, Part::Text("."), Part::Body]);
    Box::leak(Box::new(scheme))
}

fn secrets(mac: Mac) -> Secrets {
    let scheme = scheme(mac);
    let public = public_key_of(scheme, test_key(mac).unwrap()).unwrap();
    Secrets::new(scheme, [public]).unwrap()
}

fn verify(secrets: &Secrets, signature: &str, body: &[u8]) -> Result<(), RejectionKind> {
    let headers = [("X-Time", "1800000000"), ("X-Signature", signature)];
    let verified = hookproof::verify(body, &headers, secrets, NOW);
    verified.map(drop).map_err(|rejection| rejection.kind())
}

#[test]
fn signatures_of_another_implementation_verify() {
    assert_eq!([b"1800000000.", BODY].concat(), MESSAGE);
    for (mac, signature) in GOOD {
        let secrets = secrets(*mac);
        assert_eq!(verify(&secrets, signature, BODY), Ok(()), "{mac:?}");
        let wrong = Err(RejectionKind::Invalid(Invalid::Signature));
        assert_eq!(verify(&secrets, signature, b"{}"), wrong, "{mac:?}");
    }
    for mac in MACS {
        assert!(GOOD.iter().any(|(known, _)| *known == mac), "{mac:?}");
    }
}

#[test]
fn other_spellings_and_other_algorithms_are_refused() {
    for (mac, signature) in UNREADABLE {
        let unreadable = Malformed::NoSignature("X-Signature");
        let unreadable = Err(RejectionKind::Malformed(unreadable));
        let refused = verify(&secrets(*mac), signature, BODY);
        assert_eq!(refused, unreadable, "{mac:?} {signature}");
    }
    for (mac, signature) in WRONG {
        let wrong = Err(RejectionKind::Invalid(Invalid::Signature));
        let refused = verify(&secrets(*mac), signature, BODY);
        assert_eq!(refused, wrong, "{mac:?} {signature}");
    }
    for (mac, signature) in GOOD {
        for other in MACS.into_iter().filter(|other| other != mac) {
            let refused = verify(&secrets(other), signature, BODY);
            assert!(refused.is_err(), "{mac:?} under {other:?}");
        }
    }
}

/// Lengths from none to more than a header may have, of every algorithm.
#[test]
fn signatures_of_any_length_are_refused_in_order() {
    for mac in MACS {
        let secrets = secrets(mac);
        for length in (0..=1500).chain([4000, 8192, 8193, 100_000]) {
            let refused = verify(&secrets, &"A".repeat(length), BODY).unwrap_err();
            assert!(refused.label() != "stale", "{mac:?} {length}: {refused}");
        }
    }
}

/// What is signed here is what the other implementation signs; ECDSA and PSS draw numbers.
#[test]
fn signing_gives_what_verifies() {
    for mac in MACS {
        let signed = sign(scheme(mac), test_key(mac).unwrap(), BODY, NOW).unwrap();
        let signature = signed
            .headers
            .iter()
            .find(|(name, _)| name == "X-Signature");
        let signature = &signature.unwrap().1;
        assert_eq!(verify(&secrets(mac), signature, BODY), Ok(()), "{mac:?}");
        let known = GOOD
            .iter()
            .any(|(other, known)| *other == mac && known == signature);
        let draws = format!("{mac:?}").starts_with("Ecdsa") || mac == Mac::RsaPssSha512;
        assert_eq!(known, !draws, "{mac:?}");
    }
}

#[test]
fn private_keys_in_their_spellings_have_one_public_key() {
    let scheme = scheme(Mac::Ed25519);
    let public = include_str!("ed25519.pub");
    assert_eq!(
        public_key_of(scheme, test_key(Mac::Ed25519).unwrap()).unwrap(),
        public
    );
    let seed = "9f379ed44ff7010a18911f92e4c25d9be04b00cfa459abff442d7d9be2981b5e";
    let base64 = "nzee1E/3AQoYkR+S5MJdm+BLAM+kWav/RC19m+KYG14=";
    let both =
        "nzee1E/3AQoYkR+S5MJdm+BLAM+kWav/RC19m+KYG14P5epfihGaiRnKqXkE7ktl2b+iGQzvJEjB+klOIm6SGA==";
    for private in [
        seed,
        base64,
        &base64.replace('/', "_").replace('+', "-"),
        both,
    ] {
        assert_eq!(public_key_of(scheme, private).unwrap(), public, "{private}");
        let private = format!("whsk_{private}");
        assert_eq!(
            public_key_of(scheme, &private).unwrap(),
            public,
            "{private}"
        );
    }
    for other in [
        "",
        "whsk_",
        "AAAA",
        public,
        test_key(Mac::RsaSha256).unwrap(),
    ] {
        let refused = SignError::Secret(SecretFault::Undecodable);
        assert_eq!(public_key_of(scheme, other), Err(refused), "{other}");
    }
    assert_eq!(
        public_key_of(
            self::scheme(Mac::EcdsaP256Sha256Raw),
            test_key(Mac::EcdsaP256Sha256Raw).unwrap()
        )
        .unwrap(),
        include_str!("p256.pub")
    );
    assert_eq!(
        public_key_of(
            self::scheme(Mac::RsaSha512),
            test_key(Mac::RsaSha512).unwrap()
        )
        .unwrap(),
        include_str!("rsa.pub")
    );
    assert_eq!(test_key(Mac::HmacSha256), None);
}

/// Every algorithm whose keys are public.
const MACS: [Mac; 8] = [
    Mac::Ed25519,
    Mac::EcdsaP256Sha256Der,
    Mac::EcdsaP256Sha256Raw,
    Mac::EcdsaP256Sha1Der,
    Mac::RsaSha256,
    Mac::RsaSha512,
    Mac::RsaSha1,
    Mac::RsaPssSha512,
];
