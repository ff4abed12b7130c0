//! Public keys: what they hash, and how they check a signature.

use spki::{ObjectIdentifier, SubjectPublicKeyInfoRef, der::Decode as _};

use crate::{
    scheme::Mac,
    secrets::{SecretFault, oid},
};

use super::Tag;
#[cfg(any(feature = "ecdsa", feature = "rsa"))]
use super::digest::Digest;

/// A public key, bound to the algorithm of its scheme.
pub(crate) struct PublicKey {
    algorithm: Mac,
    key: Key,
}

enum Key {
    #[cfg(feature = "ed25519")]
    Ed25519(ed25519_dalek::VerifyingKey),
    #[cfg(feature = "ecdsa")]
    P256(p256::ecdsa::VerifyingKey),
    #[cfg(feature = "rsa")]
    Rsa(rsa::PublicKey),
}

impl PublicKey {
    /// Reads a DER `SubjectPublicKeyInfo` (RFC 5280 §4.1), which must be of the algorithm.
    pub(super) fn new(algorithm: Mac, der: &[u8]) -> Result<Self, SecretFault> {
        let spki = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| SecretFault::Undecodable)?;
        let key = match algorithm {
            #[cfg(feature = "ed25519")]
            Mac::Ed25519 => Key::Ed25519(ed25519(&spki)?),
            #[cfg(feature = "ecdsa")]
            Mac::EcdsaP256Sha256Der | Mac::EcdsaP256Sha256Raw => Key::P256(p256(&spki)?),
            #[cfg(all(feature = "ecdsa", feature = "sha1"))]
            Mac::EcdsaP256Sha1Der => Key::P256(p256(&spki)?),
            #[cfg(feature = "rsa")]
            Mac::RsaSha256 | Mac::RsaSha512 | Mac::RsaPssSha512 => Key::Rsa(rsa(&spki)?),
            #[cfg(all(feature = "rsa", feature = "sha1"))]
            Mac::RsaSha1 => Key::Rsa(rsa(&spki)?),
            _ => return Err(SecretFault::OtherAlgorithm),
        };
        Ok(Self { algorithm, key })
    }

    /// Hashes what a signature should be over.
    pub(super) fn hash<'p>(&self, parts: &'p [&'p [u8]]) -> Tag<'p> {
        match self.algorithm {
            #[cfg(feature = "ecdsa")]
            Mac::EcdsaP256Sha256Der | Mac::EcdsaP256Sha256Raw => {
                Tag::Digest(Digest::of::<sha2::Sha256>(parts))
            }
            #[cfg(all(feature = "ecdsa", feature = "sha1"))]
            Mac::EcdsaP256Sha1Der => Tag::Digest(Digest::of::<sha1::Sha1>(parts)),
            #[cfg(feature = "rsa")]
            Mac::RsaSha256 => Tag::Digest(Digest::of::<sha2::Sha256>(parts)),
            #[cfg(feature = "rsa")]
            Mac::RsaSha512 | Mac::RsaPssSha512 => Tag::Digest(Digest::of::<sha2::Sha512>(parts)),
            #[cfg(all(feature = "rsa", feature = "sha1"))]
            Mac::RsaSha1 => Tag::Digest(Digest::of::<sha1::Sha1>(parts)),
            _ => Tag::Parts(parts),
        }
    }

    /// Checks one signature; `None` if its bytes are not one.
    pub(super) fn check(&self, tag: &Tag<'_>, signature: &[u8]) -> Option<bool> {
        #[cfg(test)]
        super::CHECKED.set(super::CHECKED.get().saturating_add(1));
        match (&self.key, tag) {
            #[cfg(feature = "ed25519")]
            (Key::Ed25519(key), Tag::Parts(parts)) => {
                let signature = ed25519_dalek::Signature::from_slice(signature).ok()?;
                Some(strict(key, parts, &signature).is_some())
            }
            #[cfg(feature = "ecdsa")]
            (Key::P256(key), Tag::Digest(digest)) => {
                use p256::ecdsa::{
                    DerSignature, Signature, signature::hazmat::PrehashVerifier as _,
                };
                let signature = match self.algorithm {
                    Mac::EcdsaP256Sha256Raw => Signature::from_slice(signature).ok()?,
                    // DER has one spelling. The number may be `s` or `n - s`: providers send both.
                    _ => DerSignature::from_bytes(signature).ok()?.try_into().ok()?,
                };
                Some(key.verify_prehash(digest.as_slice(), &signature).is_ok())
            }
            #[cfg(feature = "rsa")]
            (Key::Rsa(key), Tag::Digest(digest)) => {
                use rsa::{Pkcs1v15Sign, Pss};
                let hash = digest.as_slice();
                let checked = match self.algorithm {
                    Mac::RsaSha256 => {
                        key.verify(Pkcs1v15Sign::new::<sha2::Sha256>(), hash, signature)
                    }
                    Mac::RsaSha512 => {
                        key.verify(Pkcs1v15Sign::new::<sha2::Sha512>(), hash, signature)
                    }
                    #[cfg(feature = "sha1")]
                    Mac::RsaSha1 => key.verify(Pkcs1v15Sign::new::<sha1::Sha1>(), hash, signature),
                    // The salt is as long as the hash.
                    _ => key.verify(Pss::<sha2::Sha512>::new(), hash, signature),
                };
                Some(checked.is_ok())
            }
            #[allow(unreachable_patterns, reason = "of two algorithms or more")]
            _ => Some(false),
        }
    }
}

/// The bits of a key, if it is of the right kind.
fn bits<'k>(
    spki: &SubjectPublicKeyInfoRef<'k>,
    kind: ObjectIdentifier,
) -> Result<&'k [u8], SecretFault> {
    if spki.algorithm.oid != kind {
        return Err(SecretFault::OtherAlgorithm);
    }
    let bits = spki.subject_public_key.as_bytes();
    bits.ok_or(SecretFault::Undecodable)
}

#[cfg(feature = "ed25519")]
fn ed25519(spki: &SubjectPublicKeyInfoRef<'_>) -> Result<ed25519_dalek::VerifyingKey, SecretFault> {
    let key = bits(spki, oid::ED25519)?;
    let key = key.try_into().map_err(|_| SecretFault::Undecodable)?;
    let key = ed25519_dalek::VerifyingKey::from_bytes(key).map_err(|_| SecretFault::Undecodable)?;
    match key.is_weak() {
        true => Err(SecretFault::WeakKey),
        false => Ok(key),
    }
}

/// `VerifyingKey::verify_strict`, but for a message in pieces: the signature's point and the key's
/// (looked at when it was read) have no small order, and the equation holds without the cofactor.
#[cfg(feature = "ed25519")]
fn strict(
    key: &ed25519_dalek::VerifyingKey,
    parts: &[&[u8]],
    signature: &ed25519_dalek::Signature,
) -> Option<()> {
    let point = ed25519_dalek::VerifyingKey::from_bytes(signature.r_bytes()).ok()?;
    if point.is_weak() {
        return None;
    }
    let mut message = key.verify_stream(signature).ok()?;
    for part in parts {
        message.update(part);
    }
    message.finalize_and_verify().ok()
}

#[cfg(feature = "ecdsa")]
fn p256(spki: &SubjectPublicKeyInfoRef<'_>) -> Result<p256::ecdsa::VerifyingKey, SecretFault> {
    let point = bits(spki, oid::EC)?;
    if spki.algorithm.parameters_oid() != Ok(oid::P256) {
        return Err(SecretFault::OtherAlgorithm);
    }
    p256::ecdsa::VerifyingKey::from_sec1_bytes(point).map_err(|_| SecretFault::Undecodable)
}

/// Shortest and longest modulus, in bits.
#[cfg(feature = "rsa")]
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

#[cfg(feature = "rsa")]
fn rsa(spki: &SubjectPublicKeyInfoRef<'_>) -> Result<rsa::PublicKey, SecretFault> {
    use rsa::{BoxedUint, Error, pkcs1::RsaPublicKeyRef};
    let key =
        RsaPublicKeyRef::from_der(bits(spki, oid::RSA)?).map_err(|_| SecretFault::Undecodable)?;
    let number = |bytes: &[u8]| {
        let bits = bytes.len().saturating_mul(8);
        // Nothing longer is worth a look.
        let bits = u32::try_from(bits).ok().filter(|bits| *bits <= 16 * 1024);
        let bits = bits.ok_or(SecretFault::RsaTooLong)?;
        BoxedUint::from_be_slice(bytes, bits).map_err(|_| SecretFault::Undecodable)
    };
    let (modulus, exponent) = (key.modulus.as_bytes(), key.public_exponent.as_bytes());
    // With an even exponent there is no private key to it, and 1 leaves a number as it is.
    if exponent == [1] || exponent.last().is_none_or(|last| last % 2 == 0) {
        return Err(SecretFault::WeakKey);
    }
    let key = rsa::PublicKey::new_with_size_limits(number(modulus)?, number(exponent)?, RSA_BITS);
    key.map_err(|error| match error {
        Error::ModulusTooSmall => SecretFault::RsaTooShort,
        Error::ModulusTooLarge => SecretFault::RsaTooLong,
        _ => SecretFault::Undecodable,
    })
}

#[cfg(all(test, feature = "ed25519"))]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]
mod tests {
    use ed25519_dalek::{Signature, Verifier as _, VerifyingKey};

    use super::strict;

    const KEY: &str = "0fe5ea5f8a119a8919caa97904ee4b65d9bfa2190cef2448c1fa494e226e9218";
    const GOOD: &str = "2e51440afd2b52615ceaf82ceba046419cd05498e35a544ed8c5f2b5d185e7f5\
                        fa30b429d283af293e73222da1e059a3deabe60f03f236ff5f18563258933f00";
    /// Its point is the neutral element, so the equation holds for this message.
    const SMALL_ORDER: &str = "0100000000000000000000000000000000000000000000000000000000000000\
                               d732226ea5f883d0045cd4362f0f337e0af5134bdf072b4d55ac6116112f2e0e";
    /// The good one with the group's order added to its number.
    const SECOND_SPELLING: &str = "2e51440afd2b52615ceaf82ceba046419cd05498e35a544ed8c5f2b5d185e7f5\
                                   e704aa86ece6c18114101ad07fda38b8deabe60f03f236ff5f18563258933f10";
    const MESSAGE: &[&[u8]] = &[b"1800000000", b".", b"", br#"{"id":"evt_1"}"#];

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        let mut bytes = [0; N];
        hex::decode_to_slice(hex, &mut bytes).unwrap();
        bytes
    }

    fn key() -> VerifyingKey {
        VerifyingKey::from_bytes(&bytes(KEY)).unwrap()
    }

    #[test]
    fn pieces_are_judged_as_strictly_as_one_whole() {
        let (key, message) = (key(), MESSAGE.concat());
        let agree = |signature: [u8; 64], parts: &[&[u8]]| {
            let signature = Signature::from_bytes(&signature);
            let whole = key.verify_strict(&parts.concat(), &signature).is_ok();
            assert_eq!(strict(&key, parts, &signature).is_some(), whole);
            whole
        };
        assert!(agree(bytes(GOOD), MESSAGE));
        assert!(agree(bytes(GOOD), &[&message]));
        assert!(!agree(bytes(GOOD), &MESSAGE[..2]));
        for bit in 0..512 {
            let mut signature: [u8; 64] = bytes(GOOD);
            signature[bit / 8] ^= 1 << (bit % 8);
            assert!(!agree(signature, MESSAGE), "{bit}");
        }
        assert!(!agree(bytes(SECOND_SPELLING), MESSAGE));
        // The library's usual way takes this one; strictness does not.
        let small: [u8; 64] = bytes(SMALL_ORDER);
        assert!(key.verify(&message, &Signature::from_bytes(&small)).is_ok());
        assert!(!agree(small, MESSAGE));
    }
}
