//! A public key in any of the usual spellings, brought into one: DER `SubjectPublicKeyInfo`.

use base64::{
    Engine as _,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use spki::{
    AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef,
    der::{AnyRef, Decode as _, Encode as _, asn1::BitStringRef},
};
use x509_cert::Certificate;

use super::SecretFault;
use crate::scheme::Mac;

const ANY_PADDING: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// The kinds of key (RFC 8410 §3, RFC 5480 §2.1, RFC 8017 appendix C).
#[allow(dead_code, reason = "each algorithm's feature uses its own")]
pub(crate) mod oid {
    use spki::ObjectIdentifier;

    pub(crate) const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
    pub(crate) const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
    pub(crate) const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
    pub(crate) const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
}

/// Longest text that is looked at, in bytes: several times an RSA certificate of 8192 bits.
const MAX_TEXT: usize = 64 * 1024;

/// Tells the spelling by what it looks like. `text` is neither empty nor blank.
pub(super) fn to_spki(algorithm: Mac, text: &[u8]) -> Result<Vec<u8>, SecretFault> {
    let text = str::from_utf8(text).map_err(|_| SecretFault::Undecodable)?;
    if text.len() > MAX_TEXT {
        return Err(SecretFault::Undecodable);
    }
    if text.contains("-----BEGIN ") {
        // Files end in a line end, so here it is no slip of copy and paste.
        return pem(text);
    }
    if text.trim().len() != text.len() {
        return Err(SecretFault::Edges);
    }
    if text.starts_with('{') {
        return jwk(algorithm, text);
    }
    if text.starts_with("whsk_") {
        return Err(SecretFault::PrivateKey);
    }
    let text = text.strip_prefix("whpk_").unwrap_or(text);
    if text.is_empty() {
        return Err(SecretFault::BarePrefix);
    }
    let mut raw = [0; 32];
    if hex::decode_to_slice(text, &mut raw).is_ok() {
        return ed25519(&raw);
    }
    let der = from_base64(text)?;
    match der.len() {
        32 => ed25519(&der),
        _ => from_der(&der),
    }
}

/// PEM (RFC 7468), and nothing but one key in it.
fn pem(text: &str) -> Result<Vec<u8>, SecretFault> {
    if text.contains("PRIVATE KEY-----") {
        return Err(SecretFault::PrivateKey);
    }
    let (_, inside) = text
        .split_once("-----BEGIN ")
        .ok_or(SecretFault::Undecodable)?;
    if inside.contains("-----BEGIN ") {
        return Err(SecretFault::SeveralKeys);
    }
    let parts = inside.split_once("-----");
    let (label, inside) = parts.ok_or(SecretFault::Undecodable)?;
    let parts = inside.split_once("-----END ");
    let (lines, end) = parts.ok_or(SecretFault::Undecodable)?;
    if end
        .strip_prefix(label)
        .is_none_or(|end| !end.starts_with("-----"))
    {
        return Err(SecretFault::Undecodable);
    }
    // Line ends that an environment variable could not hold are often written out.
    let der = from_base64(&lines.replace("\\n", "\n").replace("\\r", "\r"))?;
    match label {
        "PUBLIC KEY" | "RSA PUBLIC KEY" | "CERTIFICATE" => from_der(&der),
        _ => Err(SecretFault::Undecodable),
    }
}

/// Base64 of either alphabet, with or without padding and lines.
pub(crate) fn from_base64(text: &str) -> Result<Vec<u8>, SecretFault> {
    let mut text = text.to_owned();
    text.retain(|c| !c.is_ascii_whitespace());
    let alphabet = match text.contains(['-', '_']) {
        true => &URL_SAFE,
        false => &STANDARD,
    };
    let mut bytes = vec![0; text.len()];
    let length = GeneralPurpose::new(alphabet, ANY_PADDING)
        .decode_slice(text, &mut bytes)
        .map_err(|_| SecretFault::Undecodable)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// `SubjectPublicKeyInfo`, `RSAPublicKey` (RFC 8017) or a certificate, told by what is in it.
fn from_der(der: &[u8]) -> Result<Vec<u8>, SecretFault> {
    if SubjectPublicKeyInfoRef::from_der(der).is_ok() {
        return Ok(der.to_vec());
    }
    if let Ok(certificate) = Certificate::from_der(der) {
        let key = certificate.tbs_certificate().subject_public_key_info();
        return key.to_der().map_err(|_| SecretFault::Undecodable);
    }
    let outer = AnyRef::from_der(der).map_err(|_| SecretFault::Undecodable)?;
    match outer.value() {
        // Private keys begin with a version, a number of one byte; public ones with the modulus.
        [2, 1, ..] => Err(SecretFault::PrivateKey),
        [2, ..] => rsa(der),
        _ => Err(SecretFault::Undecodable),
    }
}

fn ed25519(point: &[u8]) -> Result<Vec<u8>, SecretFault> {
    wrap(oid::ED25519, None, point)
}

fn rsa(key: &[u8]) -> Result<Vec<u8>, SecretFault> {
    wrap(oid::RSA, Some(AnyRef::NULL), key)
}

pub(crate) fn wrap(
    oid: ObjectIdentifier,
    parameters: Option<AnyRef<'_>>,
    key: &[u8],
) -> Result<Vec<u8>, SecretFault> {
    let algorithm = AlgorithmIdentifierRef { oid, parameters };
    let key = BitStringRef::from_bytes(key).map_err(|_| SecretFault::Undecodable)?;
    let spki = SubjectPublicKeyInfoRef {
        algorithm,
        subject_public_key: key,
    };
    spki.to_der().map_err(|_| SecretFault::Undecodable)
}

#[cfg(not(feature = "json"))]
fn jwk(_: Mac, _: &str) -> Result<Vec<u8>, SecretFault> {
    Err(SecretFault::NeedsJson)
}

/// A JSON Web Key (RFC 7517, RFC 7518 §6, RFC 8037).
#[cfg(feature = "json")]
fn jwk(algorithm: Mac, text: &str) -> Result<Vec<u8>, SecretFault> {
    use serde_json::Value;
    use spki::der::asn1::UintRef;

    let jwk: Value = serde_json::from_str(text).map_err(|_| SecretFault::Undecodable)?;
    if jwk.get("keys").is_some() {
        return Err(SecretFault::SeveralKeys);
    }
    if jwk.get("d").is_some() {
        return Err(SecretFault::PrivateKey);
    }
    let member = |name: &str| jwk.get(name).and_then(Value::as_str);
    let bytes = |name: &str| from_base64(member(name).ok_or(SecretFault::Undecodable)?);
    let verifies = |operations: &Value| match operations.as_array() {
        Some(operations) => operations.iter().any(|operation| operation == "verify"),
        None => false,
    };
    let fits = jwk.get("use").is_none_or(|purpose| purpose == "sig")
        && jwk.get("key_ops").is_none_or(verifies)
        && jwk.get("alg").is_none_or(|alg| is(algorithm, alg.as_str()));
    if !fits {
        return Err(SecretFault::OtherUse);
    }
    match (member("kty"), member("crv")) {
        (Some("OKP"), Some("Ed25519")) => match bytes("x")? {
            point if point.len() == 32 => ed25519(&point),
            _ => Err(SecretFault::Undecodable),
        },
        (Some("EC"), Some("P-256")) => match (bytes("x")?, bytes("y")?) {
            (x, y) if x.len() == 32 && y.len() == 32 => wrap(
                oid::EC,
                Some((&oid::P256).into()),
                &[&[4][..], &x, &y].concat(),
            ),
            _ => Err(SecretFault::Undecodable),
        },
        (Some("RSA"), _) => {
            let (n, e) = (bytes("n")?, bytes("e")?);
            let number = |bytes| UintRef::new(bytes).map_err(|_| SecretFault::Undecodable);
            let key = [number(&n)?, number(&e)?].to_der();
            rsa(&key.map_err(|_| SecretFault::Undecodable)?)
        }
        (Some("OKP" | "EC" | "oct"), _) => Err(SecretFault::OtherAlgorithm),
        _ => Err(SecretFault::Undecodable),
    }
}

/// Whether a JWK's `alg` (RFC 7518 §3.1, RFC 8037, RFC 9864) is the scheme's algorithm.
#[cfg(feature = "json")]
fn is(algorithm: Mac, name: Option<&str>) -> bool {
    let names: &[&str] = match algorithm {
        #[cfg(feature = "ed25519")]
        Mac::Ed25519 => &["EdDSA", "Ed25519"],
        #[cfg(feature = "ecdsa")]
        Mac::EcdsaP256Sha256Der | Mac::EcdsaP256Sha256Raw => &["ES256"],
        #[cfg(feature = "rsa")]
        Mac::RsaSha256 => &["RS256"],
        #[cfg(feature = "rsa")]
        Mac::RsaSha512 => &["RS512"],
        #[cfg(feature = "rsa")]
        Mac::RsaPssSha512 => &["PS512"],
        #[cfg(all(feature = "rsa", feature = "sha1"))]
        Mac::RsaSha1 => &["RS1"],
        _ => &[],
    };
    name.is_some_and(|name| names.contains(&name))
}
