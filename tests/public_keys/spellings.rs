//! One key, written in every way that providers have.

use hookproof::{
    Secrets,
    scheme::{Encoding, Mac, Scheme},
    testing::{sign, test_key},
};

use super::{BODY, NOW};

const ED25519: &str = "0fe5ea5f8a119a8919caa97904ee4b65d9bfa2190cef2448c1fa494e226e9218";
const ED25519_BASE64: &str = "D+XqX4oRmokZyql5BO5LZdm/ohkM7yRIwfpJTiJukhg=";

/// Whether the key verifies what the test key signed.
#[track_caller]
fn is_the_key(mac: Mac, text: &str) {
    let scheme = super::scheme(mac);
    let signed = sign(scheme, test_key(mac).unwrap(), BODY, NOW).unwrap();
    let secrets = Secrets::new(scheme, [text]).unwrap_or_else(|error| panic!("{error}: {text}"));
    let verified = hookproof::verify(BODY, &signed, &secrets, NOW);
    assert!(verified.is_ok(), "{text}");
}

fn bare(pem: &str) -> String {
    pem.lines().filter(|line| !line.starts_with('-')).collect()
}

/// A JWK's spelling of base64.
fn url_safe(base64: &str) -> String {
    base64
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_")
}

fn jwk(members: &str, more: &str) -> String {
    format!("{{{members}{more}}}")
}

fn p256_jwk() -> String {
    r#""kty":"EC","crv":"P-256","x":"Cxh-3adhB4CniANzNF4vLFlbDoqK9dk6q4dwqqCFaJw","y":"9v_71pjbhIFHb54vIkgCkVeYQJCnsGdxHKDWipGNXWM""#
        .to_owned()
}

/// The numbers of the RSA key, out of the DER around them: the modulus begins after 33 bytes.
fn rsa_jwk() -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let der = STANDARD.decode(bare(include_str!("rsa.pub"))).unwrap();
    let modulus = STANDARD.encode(&der[33..33 + 256]);
    format!(r#""kty":"RSA","n":"{}","e":"AQAB""#, url_safe(&modulus))
}

#[test]
fn pem_der_and_certificates() {
    let keys = [
        (
            Mac::Ed25519,
            include_str!("ed25519.pub"),
            include_str!("ed25519.crt"),
        ),
        (
            Mac::EcdsaP256Sha256Der,
            include_str!("p256.pub"),
            include_str!("p256.crt"),
        ),
        (
            Mac::EcdsaP256Sha256Raw,
            include_str!("p256.pub"),
            include_str!("p256.crt"),
        ),
        (
            Mac::RsaSha256,
            include_str!("rsa.pub"),
            include_str!("rsa.crt"),
        ),
        (
            Mac::RsaPssSha512,
            include_str!("rsa.pub"),
            include_str!("rsa.crt"),
        ),
        (
            Mac::RsaSha1,
            include_str!("rsa.pkcs1.pub"),
            include_str!("rsa.crt"),
        ),
    ];
    for (mac, key, certificate) in keys {
        // The certificates were good for one day in 2020, which is not judged.
        for pem in [key, certificate] {
            is_the_key(mac, pem);
            is_the_key(mac, pem.trim());
            is_the_key(mac, &format!("\r\n {}\n\n", pem.replace('\n', "\r\n")));
            is_the_key(mac, &pem.replace('\n', "\\n"));
            is_the_key(mac, &pem.replace('\n', " "));
            is_the_key(mac, &format!("subject=CN = test.example\n{pem}"));
            is_the_key(mac, &bare(pem));
            is_the_key(mac, &url_safe(&bare(pem)));
        }
    }
}

#[test]
fn the_bytes_of_an_ed25519_key() {
    let spellings = [
        ED25519.to_owned(),
        ED25519.to_uppercase(),
        ED25519_BASE64.to_owned(),
        ED25519_BASE64.trim_end_matches('=').to_owned(),
        url_safe(ED25519_BASE64),
        format!("{}=", url_safe(ED25519_BASE64)),
    ];
    for text in spellings {
        is_the_key(Mac::Ed25519, &text);
        is_the_key(Mac::Ed25519, &format!("whpk_{text}"));
    }
}

#[test]
fn jwks() {
    let okp = format!(
        r#""kty":"OKP","crv":"Ed25519","x":"{}""#,
        url_safe(ED25519_BASE64)
    );
    let keys = [
        (Mac::Ed25519, okp, "EdDSA"),
        (Mac::EcdsaP256Sha256Der, p256_jwk(), "ES256"),
        (Mac::EcdsaP256Sha256Raw, p256_jwk(), "ES256"),
        (Mac::RsaSha256, rsa_jwk(), "RS256"),
        (Mac::RsaSha512, rsa_jwk(), "RS512"),
        (Mac::RsaPssSha512, rsa_jwk(), "PS512"),
    ];
    for (mac, members, alg) in keys {
        is_the_key(mac, &jwk(&members, ""));
        let more = format!(r#","kid":"1","use":"sig","key_ops":["verify"],"alg":"{alg}""#);
        is_the_key(mac, &jwk(&members, &more));
    }
}

/// A public key is one whatever the scheme says of its secret's format.
#[test]
fn the_spelling_counts_and_not_the_format() {
    use hookproof::scheme::{Part, SecretFormat, Slot};
    let scheme = Scheme::new("own", Mac::Ed25519)
        .signature(Slot::header("X-Signature"), Encoding::Hex)
        .content(&[Part::Body]);
    assert_eq!(scheme.secret_format(), SecretFormat::PublicKey);
    for format in [
        SecretFormat::Text,
        SecretFormat::Hex,
        SecretFormat::PublicKey,
    ] {
        let scheme = Box::leak(Box::new(scheme.secret(format)));
        let secrets = Secrets::new(scheme, [ED25519]).unwrap();
        let signed = sign(scheme, test_key(Mac::Ed25519).unwrap(), BODY, NOW).unwrap();
        assert!(hookproof::verify(BODY, &signed, &secrets, NOW).is_ok());
    }
}
