//! What can be no key is refused when the secrets are built, by a fault that names what is wrong.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hookproof::{
    SecretFault, Secrets, SecretsError,
    scheme::{Encoding, Mac, Part, Scheme, SecretFormat, Slot},
    testing::test_key,
};

#[track_caller]
fn refused(mac: Mac, text: &str, fault: SecretFault) {
    let error = Secrets::new(super::scheme(mac), [text]).unwrap_err();
    assert_eq!(error, SecretsError::Secret { index: 0, fault }, "{text}");
    // Nothing of the key is in the words.
    let words = format!("{error} {error:?}");
    let shown = text
        .split(['"', '\n', ':', ' '])
        .any(|piece| piece.len() > 12 && words.contains(piece));
    assert!(!shown, "{words}");
}

#[test]
fn no_key_at_all() {
    use SecretFault::{BarePrefix, Blank, Edges, Empty, Undecodable};
    for mac in super::MACS {
        refused(mac, "", Empty);
        refused(mac, " \n", Blank);
        refused(mac, "whpk_", BarePrefix);
        for text in [
            "client-public-key-here",
            "AAAA",
            "{}",
            "{\"kty\":\"OKP\"",
            r#"{"kty":"RSA"}"#,
            r#"{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}"#,
            r#"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#,
            "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----",
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2Vw",
            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2Vw\n-----END CERTIFICATE-----",
            "-----BEGIN OPENSSH PUBLIC KEY-----\nAAAA\n-----END OPENSSH PUBLIC KEY-----",
            "-----BEGIN ",
        ] {
            refused(mac, text, Undecodable);
        }
        // A point that is on no curve, and a key of 31 bytes.
        refused(Mac::Ed25519, &"02".repeat(31), Undecodable);
        refused(Mac::Ed25519, &format!("02{}", "00".repeat(31)), Undecodable);
    }
    let key = "0fe5ea5f8a119a8919caa97904ee4b65d9bfa2190cef2448c1fa494e226e9218";
    for text in [format!("{key}\n"), format!(" {key}"), format!("{key}\t")] {
        refused(Mac::Ed25519, &text, Edges);
    }
    let long = format!("-----BEGIN PUBLIC KEY-----{}", "A".repeat(1 << 20));
    refused(Mac::RsaSha256, &long, Undecodable);
}

#[test]
fn bytes_that_are_no_text() {
    let secret = hookproof::Secret::new(vec![0xff; 32]);
    let error = Secrets::new(super::scheme(Mac::Ed25519), [secret]).unwrap_err();
    let fault = SecretFault::Undecodable;
    assert_eq!(error, SecretsError::Secret { index: 0, fault });
}

#[test]
fn private_keys() {
    for mac in super::MACS {
        let pem = test_key(mac).unwrap();
        refused(mac, pem, SecretFault::PrivateKey);
        let sec1 = pem.replace("PRIVATE KEY", "EC PRIVATE KEY");
        refused(mac, &sec1, SecretFault::PrivateKey);
        refused(
            mac,
            &pem.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"),
            SecretFault::PrivateKey,
        );
        let bare: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        refused(mac, &bare, SecretFault::PrivateKey);
        // Under the wrong label.
        refused(
            mac,
            &pem.replace("PRIVATE", "PUBLIC"),
            SecretFault::PrivateKey,
        );
        refused(
            mac,
            "whsk_nzee1E/3AQoYkR+S5MJdm+BLAM+kWav/RC19m+KYG14=",
            SecretFault::PrivateKey,
        );
        let jwk = r#"{"kty":"OKP","crv":"Ed25519","x":"AAAA","d":"nzee1E_3AQoYkR-S5MJdm"}"#;
        refused(mac, jwk, SecretFault::PrivateKey);
    }
}

#[test]
fn several_keys() {
    for pem in [include_str!("rsa.crt"), include_str!("rsa.pub")] {
        refused(Mac::RsaSha256, &pem.repeat(2), SecretFault::SeveralKeys);
    }
    let set = r#"{"keys":[{"kty":"OKP"}]}"#;
    refused(Mac::Ed25519, set, SecretFault::SeveralKeys);
}

/// P-384, which nothing here verifies with.
const P384: &str = "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEwTUIp4UmfOLiDkmcbPTJ46aOBdVIiOwcs+2yfDyVaglU6SInw//0OJ7sXyKoJ9t7gHejEyn/dEctVTwIQrlV2xuK8k+e/Vrf/sq06DKANdXQ/ZtWwH0uw2U9eSBE/w7I";

#[test]
fn keys_of_other_algorithms() {
    let keys = [
        ("Ed25519", include_str!("ed25519.pub")),
        ("Ed25519", include_str!("ed25519.crt")),
        (
            "Ed25519",
            "0fe5ea5f8a119a8919caa97904ee4b65d9bfa2190cef2448c1fa494e226e9218",
        ),
        ("Ecdsa", include_str!("p256.pub")),
        ("Ecdsa", include_str!("p256.crt")),
        ("Rsa", include_str!("rsa.pub")),
        ("Rsa", include_str!("rsa.pkcs1.pub")),
        ("none", P384),
        (
            "none",
            r#"{"kty":"EC","crv":"P-384","x":"AAAA","y":"AAAA"}"#,
        ),
        ("none", r#"{"kty":"OKP","crv":"X25519","x":"AAAA"}"#),
        ("none", r#"{"kty":"oct","k":"AAAA"}"#),
    ];
    for (kind, key) in keys {
        for mac in super::MACS {
            if !format!("{mac:?}").starts_with(kind) {
                refused(mac, key, SecretFault::OtherAlgorithm);
            }
        }
    }
}

/// A MAC under a key that everyone knows proves nothing.
#[test]
fn a_public_key_is_never_a_shared_secret() {
    let confused = Scheme::new("own", Mac::HmacSha256)
        .signature(Slot::header("X-Signature"), Encoding::Hex)
        .content(&[Part::Body])
        .secret(SecretFormat::PublicKey);
    let confused = Box::leak(Box::new(confused));
    let error = Secrets::new(confused, [include_str!("ed25519.pub").trim()]).unwrap_err();
    let fault = SecretFault::OtherAlgorithm;
    assert_eq!(error, SecretsError::Secret { index: 0, fault });
}

#[test]
fn jwks_for_something_else() {
    let key = r#""kty":"OKP","crv":"Ed25519","x":"D-XqX4oRmokZyql5BO5LZdm_ohkM7yRIwfpJTiJukhg""#;
    assert!(Secrets::new(super::scheme(Mac::Ed25519), [format!("{{{key}}}")]).is_ok());
    for more in [
        r#""use":"enc""#,
        r#""use":7"#,
        r#""key_ops":["sign"]"#,
        r#""key_ops":"verify""#,
        r#""alg":"ES256""#,
        r#""alg":"none""#,
        r#""alg":null"#,
    ] {
        refused(
            Mac::Ed25519,
            &format!("{{{key},{more}}}"),
            SecretFault::OtherUse,
        );
    }
    let rsa = |alg: &str| format!(r#"{{"kty":"RSA","alg":"{alg}","n":"AAAA","e":"AQAB"}}"#);
    refused(Mac::RsaSha256, &rsa("RS512"), SecretFault::OtherUse);
    refused(Mac::RsaSha512, &rsa("PS512"), SecretFault::OtherUse);
    refused(Mac::RsaPssSha512, &rsa("RS512"), SecretFault::OtherUse);
    refused(Mac::RsaSha1, &rsa("RS256"), SecretFault::OtherUse);
    refused(
        Mac::EcdsaP256Sha1Der,
        r#"{"kty":"EC","alg":"ES256"}"#,
        SecretFault::OtherUse,
    );
}

/// Keys with one byte changed are keys or are refused, and never a panic.
#[test]
fn keys_with_a_byte_changed() {
    use base64::engine::general_purpose::STANDARD;
    let keys = [
        (Mac::Ed25519, include_str!("ed25519.crt")),
        (Mac::Ed25519, include_str!("ed25519.pub")),
        (Mac::EcdsaP256Sha256Der, include_str!("p256.crt")),
        (Mac::EcdsaP256Sha256Der, include_str!("p256.pub")),
        (Mac::RsaSha256, include_str!("rsa.crt")),
        (Mac::RsaSha256, include_str!("rsa.pkcs1.pub")),
    ];
    let (mut accepted, mut refused) = (0, 0);
    for (mac, pem) in keys {
        let bare: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        let der = STANDARD.decode(bare).unwrap();
        let scheme = super::scheme(mac);
        for place in 0..der.len() {
            for value in [0, 0x80, 0xff, der[place] ^ 1] {
                let mut bent = der.clone();
                bent[place] = value;
                match Secrets::new(scheme, [STANDARD.encode(bent)]) {
                    Ok(_) => accepted += 1,
                    Err(_) => refused += 1,
                }
            }
        }
        // 32 bytes of anything may be a point.
        for length in (0..der.len()).filter(|length| *length != 32) {
            let cut = STANDARD.encode(&der[..length]);
            assert!(Secrets::new(scheme, [cut]).is_err(), "{length}");
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} {refused}");
}

fn rsa(bytes: usize, first: u8, exponent: &str) -> String {
    let mut modulus = vec![0xff; bytes];
    modulus[0] = first;
    let modulus = URL_SAFE_NO_PAD.encode(modulus);
    format!(r#"{{"kty":"RSA","n":"{modulus}","e":"{exponent}"}}"#)
}

#[test]
fn rsa_keys_have_a_bearable_length_and_an_odd_exponent() {
    use SecretFault::{RsaTooLong, RsaTooShort, Undecodable, WeakKey};
    let accepted = |text: String| Secrets::new(super::scheme(Mac::RsaSha256), [text]).is_ok();
    assert!(accepted(rsa(256, 0x80, "AQAB")));
    assert!(accepted(rsa(256, 0x80, "Aw")));
    assert!(accepted(rsa(1024, 0xff, "AQAB")));
    refused(Mac::RsaSha256, &rsa(256, 0x7f, "AQAB"), RsaTooShort);
    refused(Mac::RsaSha256, &rsa(128, 0xff, "AQAB"), RsaTooShort);
    refused(Mac::RsaSha256, &rsa(1, 0xff, "AQAB"), RsaTooShort);
    refused(Mac::RsaSha256, &rsa(1025, 0x01, "AQAB"), RsaTooLong);
    refused(Mac::RsaSha256, &rsa(5000, 0xff, "AQAB"), RsaTooLong);
    for exponent in ["AQ", "AAE", "Ag", "AQAA", "AA"] {
        refused(Mac::RsaSha256, &rsa(256, 0x80, exponent), WeakKey);
    }
    // An exponent that would cost more than a signature is worth, and a modulus that is even.
    refused(
        Mac::RsaSha256,
        &rsa(256, 0x80, &"_".repeat(171)),
        Undecodable,
    );
    let even = rsa(256, 0x80, "AQAB").replace("_w\"", "_g\"");
    refused(Mac::RsaSha256, &even, Undecodable);
}

#[test]
fn points_of_small_order() {
    for point in [
        format!("01{}", "00".repeat(31)),
        format!("ec{}7f", "ff".repeat(30)),
        "00".repeat(32),
        format!("{}80", "00".repeat(31)),
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05".into(),
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a".into(),
    ] {
        refused(Mac::Ed25519, &point, SecretFault::WeakKey);
    }
}
