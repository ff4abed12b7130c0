//! Private keys, for signing in tests, and the public keys to them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

use super::SignError;
#[cfg(any(feature = "ecdsa", feature = "rsa"))]
use crate::verify::MacKey;
use crate::{
    scheme::{Mac, Scheme},
    secrets::{SecretFault, from_base64, oid, wrap},
};

/// What belongs in [`Secrets`](crate::Secrets) for a private key that
/// [`Signer`](super::Signer) signs with: the public key in PEM.
///
/// # Errors
///
/// [`SignError::Secret`] if the text is no private key of the scheme's algorithm.
pub fn public_key_of(scheme: &Scheme, private: &str) -> Result<String, SignError> {
    let key = PrivateKey::read(scheme.mac(), private.as_bytes());
    let der = key
        .and_then(|key| key.public())
        .map_err(SignError::Secret)?;
    let mut text = vec![0; der.len().saturating_mul(2)];
    let length = STANDARD.encode_slice(&der, &mut text);
    text.truncate(length.unwrap_or_default());
    let lines: Vec<_> = text.chunks(64).map(String::from_utf8_lossy).collect();
    let lines = lines.join("\n");
    Ok(format!(
        "-----BEGIN PUBLIC KEY-----\n{lines}\n-----END PUBLIC KEY-----\n"
    ))
}

/// Signs as a provider would that has this private key.
pub(super) fn sign(
    algorithm: Mac,
    private: &[u8],
    parts: &[&[u8]],
) -> Result<Vec<u8>, SecretFault> {
    PrivateKey::read(algorithm, private)?.sign(algorithm, parts)
}

enum PrivateKey {
    #[cfg(feature = "ed25519")]
    Ed25519(ed25519_dalek::SigningKey),
    #[cfg(feature = "ecdsa")]
    P256(p256::ecdsa::SigningKey),
    #[cfg(feature = "rsa")]
    Rsa(Box<rsa::PrivateKey>),
}

impl PrivateKey {
    /// PKCS#8 in PEM (RFC 5958), or of Ed25519 the 32 bytes in hexadecimal or base64, with `whsk_`
    /// in front or without.
    fn read(algorithm: Mac, text: &[u8]) -> Result<Self, SecretFault> {
        let text = str::from_utf8(text).map_err(|_| SecretFault::Undecodable)?;
        let inside = text
            .split_once("-----BEGIN PRIVATE KEY-----")
            .and_then(|(_, text)| text.split_once("-----END PRIVATE KEY-----"));
        let der = inside.map(|(lines, _)| from_base64(lines)).transpose()?;
        let der = der.map(Zeroizing::new);
        match algorithm {
            #[cfg(feature = "ed25519")]
            Mac::Ed25519 => {
                use ed25519_dalek::{SigningKey, pkcs8::DecodePrivateKey as _};
                let key = match der {
                    Some(der) => SigningKey::from_pkcs8_der(&der).map_err(drop),
                    None => Ok(SigningKey::from_bytes(&*seed(text)?)),
                };
                key.map(PrivateKey::Ed25519)
            }
            #[cfg(feature = "rsa")]
            Mac::RsaSha256 | Mac::RsaSha512 | Mac::RsaPssSha512 => read_rsa(der.as_deref()),
            #[cfg(all(feature = "rsa", feature = "sha1"))]
            Mac::RsaSha1 => read_rsa(der.as_deref()),
            #[cfg(feature = "ecdsa")]
            _ => {
                use p256::{ecdsa::SigningKey, pkcs8::DecodePrivateKey as _};
                let key = SigningKey::from_pkcs8_der(der.as_deref().map_or(&[], Vec::as_slice));
                key.map(PrivateKey::P256).map_err(drop)
            }
            #[cfg(not(feature = "ecdsa"))]
            _ => Err(()),
        }
        .map_err(|()| SecretFault::Undecodable)
    }

    /// The public key in DER.
    fn public(&self) -> Result<Vec<u8>, SecretFault> {
        match *self {
            #[cfg(feature = "ed25519")]
            PrivateKey::Ed25519(ref key) => {
                wrap(oid::ED25519, None, key.verifying_key().as_bytes())
            }
            #[cfg(feature = "ecdsa")]
            PrivateKey::P256(ref key) => {
                let point = key.verifying_key().to_sec1_point(false);
                wrap(oid::EC, Some((&oid::P256).into()), point.as_bytes())
            }
            #[cfg(feature = "rsa")]
            PrivateKey::Rsa(ref key) => {
                use rsa::pkcs1::{EncodeRsaPublicKey as _, der::AnyRef};
                let key = key.as_public_key().to_pkcs1_der();
                let key = key.map_err(|_| SecretFault::Undecodable)?;
                wrap(oid::RSA, Some(AnyRef::NULL), key.as_bytes())
            }
        }
    }

    /// What is signed, hashed as whoever verifies does.
    #[cfg(any(feature = "ecdsa", feature = "rsa"))]
    fn hash(&self, algorithm: Mac, parts: &[&[u8]]) -> Result<Vec<u8>, SecretFault> {
        let verifier = MacKey::new(algorithm, &self.public()?)?;
        Ok(verifier.compute(parts).as_slice().to_vec())
    }

    fn sign(&self, algorithm: Mac, parts: &[&[u8]]) -> Result<Vec<u8>, SecretFault> {
        let signed: Option<Vec<u8>> = match *self {
            #[cfg(feature = "ed25519")]
            PrivateKey::Ed25519(ref key) => {
                use ed25519_dalek::Signer as _;
                let signature = key.sign(&parts.concat());
                (algorithm == Mac::Ed25519).then(|| signature.to_bytes().to_vec())
            }
            #[cfg(feature = "ecdsa")]
            PrivateKey::P256(ref key) => {
                use p256::ecdsa::{Signature, signature::hazmat::PrehashSigner as _};
                let signature: Option<Signature> =
                    key.sign_prehash(&self.hash(algorithm, parts)?).ok();
                signature.map(|signature| match algorithm {
                    Mac::EcdsaP256Sha256Raw => signature.to_bytes().to_vec(),
                    _ => signature.to_der().as_bytes().to_vec(),
                })
            }
            #[cfg(feature = "rsa")]
            PrivateKey::Rsa(ref key) => {
                use rsa::{Pkcs1v15Sign, Pss};
                let hash = &self.hash(algorithm, parts)?;
                match algorithm {
                    Mac::RsaSha256 => key.sign(Pkcs1v15Sign::new::<sha2::Sha256>(), hash),
                    Mac::RsaSha512 => key.sign(Pkcs1v15Sign::new::<sha2::Sha512>(), hash),
                    #[cfg(feature = "sha1")]
                    Mac::RsaSha1 => key.sign(Pkcs1v15Sign::new::<sha1::Sha1>(), hash),
                    _ => {
                        let mut salt = Salt(hash.to_vec());
                        key.sign_with_rng(&mut salt, Pss::<sha2::Sha512>::new(), hash)
                    }
                }
                .ok()
            }
        };
        signed.ok_or(SecretFault::Undecodable)
    }
}

/// The 32 bytes of an Ed25519 key; of 64, the second half is the public key.
#[cfg(feature = "ed25519")]
fn seed(text: &str) -> Result<Zeroizing<[u8; 32]>, SecretFault> {
    let text = text.strip_prefix("whsk_").unwrap_or(text);
    let mut seed = Zeroizing::new([0; 32]);
    if hex::decode_to_slice(text, seed.as_mut_slice()).is_err() {
        let bytes = Zeroizing::new(from_base64(text)?);
        match bytes.first_chunk() {
            Some(first) if matches!(bytes.len(), 32 | 64) => *seed = *first,
            _ => return Err(SecretFault::Undecodable),
        }
    }
    Ok(seed)
}

#[cfg(feature = "rsa")]
fn read_rsa(der: Option<&Vec<u8>>) -> Result<PrivateKey, ()> {
    use rsa::pkcs8::DecodePrivateKey as _;
    let key = rsa::PrivateKey::from_pkcs8_der(der.ok_or(())?);
    key.map(Box::new).map(PrivateKey::Rsa).map_err(drop)
}

/// Bytes that are the same in every run, so that a test's requests are, too: SHA-256 over and over.
#[cfg(feature = "rsa")]
struct Salt(Vec<u8>);

#[cfg(feature = "rsa")]
impl rsa::rand_core::TryRng for Salt {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, room: &mut [u8]) -> Result<(), Self::Error> {
        use sha2::Digest as _;
        for piece in room.chunks_mut(32) {
            self.0 = sha2::Sha256::digest(&self.0).to_vec();
            piece
                .iter_mut()
                .zip(&self.0)
                .for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }
}

#[cfg(feature = "rsa")]
impl rsa::rand_core::TryCryptoRng for Salt {}
